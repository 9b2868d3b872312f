"""Which target `kind[:address]` means: the kinds by name, and the seam for one's own."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from evallib.errors import EvallibError, InputError
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
    opener = _found(name)
    try:
        target = opener(rest, setting)
    except EvallibError:
        raise
    except Exception as error:
        raise InputError(f"target {name!r} cannot be opened: {type(error).__name__}: {error}") from error
    missing = [method for method in _METHODS if not callable(getattr(target, method, None))]
    if missing:
        raise InputError(f"target {name!r} gave an object without {missing[0]!r}; it must be an evallib.targets.Target")
    return target


_METHODS = ("identity", "preflight", "run", "close", "__enter__", "__exit__")


def _found(name: str) -> OpenTarget:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:  # whatever a module of someone else raises while it is imported
        raise InputError(f"target {name!r} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise InputError(f"target {name!r} is no function or class; it must be callable with (address, setting)")
    opener: OpenTarget = found
    return opener
