"""Pass rate, pass@k and pass^k with intervals over cases: frame in, frame out.

The unit is the case: every headline figure is a mean over cases of a per-case value, and samples are nested in
cases. Errors are no third kind of fail: the headline counts them as fails over the planned samples, and the same
figures without them, their count and the bounds stand beside it.

`planned` checks and counts the samples, `summary` puts all figures of some runs together; `cases`, `slices` and
`checks` hold them by case, by tag and split, and by check; `repeats` finds samples that are copies, `policies` says
when the order of two runs hangs on their errors. The formulas stand in `evallib.statistics`.
"""

from evallib.metrics.cases import curves, flaky_cases, passes_histogram, per_case, usual_ks
from evallib.metrics.checks import CheckSummary, per_case_check
from evallib.metrics.policies import order_words
from evallib.metrics.repeats import Repeats
from evallib.metrics.slices import Slice, per_split, per_tag
from evallib.metrics.summary import Bootstrapped, Rerun, Summary, WithoutErrors, summarise
from evallib.statistics.attainable import attainable
from evallib.statistics.estimators import over_cases, pass_at_k, pass_hat_k, wilson_interval

__all__ = [
    "Bootstrapped",
    "CheckSummary",
    "Repeats",
    "Rerun",
    "Slice",
    "Summary",
    "WithoutErrors",
    "attainable",
    "curves",
    "flaky_cases",
    "order_words",
    "over_cases",
    "pass_at_k",
    "pass_hat_k",
    "passes_histogram",
    "per_case",
    "per_case_check",
    "per_split",
    "per_tag",
    "summarise",
    "usual_ks",
    "wilson_interval",
]
