"""Which target `kind[:address]` means: the kinds by name, and the seam for one's own."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from evallib.errors import InputError
from evallib.suite import Suite
from evallib.targets.base import OpenTarget, Setting, Target, TargetOptions

__all__ = ["KINDS", "open_custom", "open_target"]

KINDS = {
    "chat": "evallib.targets.chat:open_chat",
    "custom": "evallib.targets.opening:open_custom",
    "scripted": "evallib.targets.scripted:open_scripted",
}
"""Target kind to the function that opens it, by dotted name, so that a kind is imported when it is used."""


def open_target(spec: str, suite: Suite, suite_dir: Path, options: TargetOptions | None = None) -> Target:
    """The target written as `kind[:address]`; it learns the suite's prompt, knowledge folder and tools, no more."""
    kind, _, address = spec.partition(":")
    if kind not in KINDS:
        raise InputError(f"unknown target kind {kind!r} in {spec!r}; known: {', '.join(sorted(KINDS))}")
    options = options or TargetOptions(deadlines=suite.deadlines)
    system = suite.system if options.system is None else options.system
    knowledge = suite_dir / suite.knowledge if suite.knowledge else None
    return _found(KINDS[kind])(address, Setting(system, knowledge, suite_dir, options, suite.tools))


def open_custom(address: str, setting: Setting) -> Target:
    """The target that `package.module:NAME` opens, given what follows `#`."""
    name, _, rest = address.partition("#")
    if ":" not in name:
        raise InputError(f"target 'custom:{address}' must be written custom:package.module:NAME[#ADDRESS]")
    return _found(name)(rest, setting)


def _found(name: str) -> OpenTarget:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"target {name!r} cannot be imported: {error}") from error
    if not callable(found):
        raise InputError(f"target {name!r} is no function or class; it must be callable with (address, setting)")
    opener: OpenTarget = found
    return opener
