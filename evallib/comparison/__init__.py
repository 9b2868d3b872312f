"""Two runs of the same cases under the same criteria, held side by side.

`refusals` says what cannot be compared, `rows` holds the paired figures and what would settle them, `flips` the cases
that moved, `contexts` what else differs between the runs, `cost` tokens and cost, `judged` what a judge's errors do to
a difference; `compare` puts them together.
"""

__all__: list[str] = []  # import its modules by name
