"""Replies of judges, kept by the digest of what was asked: one immutable file each; may be deleted at any time."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from evallib.endpoint import Reply
from evallib.errors import InputError
from evallib.records import Usage, digest
from evallib.store.files import write_new

__all__ = ["ReplyStore"]


class ReplyStore:
    """`data/judge-replies/<first two hex>/<sha256>.json`; it holds no question, only what came back."""

    def __init__(self, data: Path) -> None:
        self._folder = data / "judge-replies"

    def find(self, key: str) -> Reply | None:
        """The reply kept under `key` (64 hex), or None; InputError when its file is damaged."""
        path = self._path(key)
        try:
            kept = json.loads(path.read_bytes())
            said, whole = kept["reply"], kept["sha256"] == digest(kept["reply"])
            reply = Reply(said["text"], usage=Usage(**said["usage"]), **{name: said[name] for name in _PLAIN})
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is damaged ({error}); remove it, and the judge is asked again") from error
        if not whole:
            raise InputError(f"{path}: is not what was written; remove it, and the judge is asked again")
        return reply

    def keep(self, key: str, reply: Reply) -> None:
        """Keep a reply; where one stands already, that one stays."""
        said = {"text": reply.text, "usage": asdict(reply.usage), **{name: getattr(reply, name) for name in _PLAIN}}
        content = json.dumps({"reply": said, "sha256": digest(said)}, indent=1).encode() + b"\n"
        path = self._path(key)
        try:
            write_new(path, content)
        except InputError:
            if not path.exists():
                raise

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


_PLAIN = ("finish_reason", "model", "latency_s")
