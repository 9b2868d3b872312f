"""The only place that touches `data/` and `adjudications/`.

`files` writes without ever overwriting; `tables` turns rows into declared columns and back; `journal` keeps a run in
flight; `runs` holds begun, finished and rescored runs, whose JSON files `plans` reads, `staged` a rescoring on its way;
`log` holds entries, `arrivals` finds those that came since, `drafts` holds what is half said; `replies` keeps what
judges replied; `verify` hashes all of it again, `guard` holds entries against one another and `history` against what
git had.
"""

from evallib.store.arrivals import Arrivals
from evallib.store.drafts import Drafts
from evallib.store.files import locked
from evallib.store.history import dated_back
from evallib.store.journal import Journal
from evallib.store.log import LoggedEntry, append_entry, by_time, publish_rescoring, read_log, standing_rescorings
from evallib.store.replies import ReplyStore
from evallib.store.runs import (
    Run,
    StoredRescoring,
    begin_run,
    finish_run,
    import_run,
    list_runs,
    open_run,
    readable_runs,
    refuse_repeated,
)
from evallib.store.sharing import part_of, share_suite, some_of
from evallib.store.verify import Verification, leftovers, verify_log, verify_run

__all__ = [
    "Arrivals",
    "Drafts",
    "Journal",
    "LoggedEntry",
    "ReplyStore",
    "Run",
    "StoredRescoring",
    "Verification",
    "append_entry",
    "begin_run",
    "by_time",
    "dated_back",
    "finish_run",
    "import_run",
    "leftovers",
    "list_runs",
    "locked",
    "open_run",
    "part_of",
    "publish_rescoring",
    "read_log",
    "readable_runs",
    "refuse_repeated",
    "share_suite",
    "some_of",
    "standing_rescorings",
    "verify_log",
    "verify_run",
]
