"""Texts and times in the shapes that MLflow and the databases behind it can hold."""

from __future__ import annotations

from datetime import datetime

__all__ = ["RATIONALE_BYTES", "RUN_TAG", "cut", "cut_bytes", "milliseconds", "plain"]

RUN_TAG = "evallib.run_id"
"""The tag or metadata key that everything exported from a run carries."""
RATIONALE_BYTES = 65_000
"""Some databases of MLflow's stop at 65,535 bytes a text."""


def plain(text: str) -> str:
    """The text with NULs and lone surrogates made visible: databases refuse them."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def cut(text: str, characters: int) -> str:
    """The text, or its beginning with an ellipsis."""
    return text if len(text) <= characters else f"{text[: characters - 3]}..."


def cut_bytes(text: str, note: str) -> str:
    """The text, or as much of it as fits beside `note` into RATIONALE_BYTES, cut between characters."""
    whole = plain(text).encode()
    if len(whole) <= RATIONALE_BYTES:
        return whole.decode()
    ending = f"\n[cut: {len(whole):,} bytes, MLflow holds {RATIONALE_BYTES:,}; {note}]"
    return whole[: RATIONALE_BYTES - len(ending.encode())].decode(errors="ignore") + ending


def milliseconds(time: str) -> int:
    """A time in ISO 8601 as milliseconds since 1970."""
    return round(datetime.fromisoformat(time).timestamp() * 1000)
