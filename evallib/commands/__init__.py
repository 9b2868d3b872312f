"""The commands, by the names the command line looks them up by; each composes the package's functions and prints.

`running` runs, shows and reports; the other modules each hold the commands of one part of the work, and those called
`*_lines` what such a command prints.
"""

from evallib.commands.amending import rescore
from evallib.commands.auditing import agreement
from evallib.commands.authoring import calibrate, regressions, seal, validate
from evallib.commands.comparing import compare
from evallib.commands.importing import import_
from evallib.commands.keeping import verify
from evallib.commands.reviewing import adjudicate
from evallib.commands.ruling import close, criteria, lock
from evallib.commands.running import demo, gate, metrics, report, run, serve_script, show, track

__all__ = [
    "adjudicate", "agreement", "calibrate", "close", "compare", "criteria", "demo", "gate", "import_", "lock",
    "metrics", "regressions", "report", "rescore", "run", "seal", "serve_script", "show", "track", "validate", "verify",
]  # fmt: skip
