"""The folder of articles a target may read: two read-only tools, answered from memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from evallib.errors import InputError
from evallib.records import digest

__all__ = ["Knowledge", "Looked"]


def _tool(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


class Looked(NamedTuple):
    """What a tool call gave: a result, or an error."""

    result: str | None = None
    error: str | None = None
    pending: bool = False
    """The call is left open until a person decides."""


class Knowledge:
    """The articles `*.md` of one folder, read once; nothing outside it can be named."""

    TOOLS = (
        _tool("list_articles", "List the articles of the knowledge base: id and title of each.", {}),
        _tool("read_article", "Read one article of the knowledge base.", {"id": {"type": "string"}}),
    )

    NAMES = frozenset({"list_articles", "read_article"})

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; `knowledge` names a folder of *.md beside the suite's file")
        root = folder.resolve()
        self._texts: dict[str, str] = {}
        for path in sorted(folder.glob("*.md")):
            if not path.resolve().is_relative_to(root):
                raise InputError(f"{path}: leads out of the knowledge folder; put a copy of the article there")
            try:
                self._texts[path.stem] = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(f"{path}: cannot be read as UTF-8 text ({error})") from error
        if not self._texts:
            raise InputError(f"{folder}: holds no *.md file, so there is no knowledge to offer")

    @property
    def digest(self) -> str:
        """Digest (16 hex) of all articles."""
        return digest(self._texts, 16)

    def call(self, name: str, arguments: dict[str, Any]) -> Looked:
        """What the tool `name` gives for `arguments`."""
        if name == "list_articles":
            titles = [{"id": key, "title": _title(text)} for key, text in self._texts.items()]
            return Looked(json.dumps(titles, ensure_ascii=False))
        if name != "read_article":
            return Looked(error=f"unknown tool {name!r}; known: list_articles, read_article")
        wanted = arguments.get("id")
        if not isinstance(wanted, str) or wanted not in self._texts:
            return Looked(error=f"there is no article {wanted!r}; list_articles names all")
        return Looked(self._texts[wanted])


def _title(text: str) -> str:
    return next((line.lstrip("# ").strip() for line in text.splitlines() if line.strip()), "")
