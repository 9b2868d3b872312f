"""What is known of a suite before any run.

`selfcheck` shows every check what it must pass and what it must fail, made by `mutations` and `variants`; `lint` reads
the suite for what cannot be meant, with `spelling` for likely slips, `showing` for what nothing else says, `declared`
for names and patterns that fit nothing; `regressions` are answers that people read.
"""

__all__: list[str] = []  # import its modules by name
