"""What is known of a suite before any run.

`selfcheck` shows every check what it must pass and what it must fail, made by `mutations` and `variants`; `lint` reads
the suite for what cannot be meant, `spelling` for likely slips; `regressions` are answers that people read.
"""

__all__: list[str] = []  # import its modules by name
