"""The formulas, each with its source: numbers in, numbers out, no frame and no run.

`estimators` holds pass@k, pass^k and their intervals over cases, `spread` the standard errors by their question,
`paired` two runs on the same cases, `unpaired` differences over different cases, `bootstrap` cases drawn again,
`attainable` which counts a published row can come from; `agreement` kappa, alpha and AC1, `correction` rates corrected
by reading.
"""

__all__: list[str] = []  # import its modules by name
