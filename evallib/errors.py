"""The errors evallib raises on purpose, each with the exit status the command line gives it."""

from __future__ import annotations

__all__ = ["EvallibError", "IncompleteError", "InfrastructureError", "InputError"]


class EvallibError(Exception):
    """One clear sentence for the user: what, which value, where, what would be right."""

    status = 2


class InputError(EvallibError):
    """The input is wrong or refused; nothing was written (exit status 2)."""

    status = 2


class InfrastructureError(EvallibError):
    """Something outside the evaluation failed: a server, the network, the disk (exit status 3)."""

    status = 3


class IncompleteError(EvallibError):
    """The run stopped before its end and can be resumed (exit status 4)."""

    status = 4
