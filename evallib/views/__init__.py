"""The three views of a run and the figures taken from them.

`load` opens a view (strict, rescored, read), `folding` folds a sample's verdicts into its outcome, `triples` lays the
three side by side, `coverage` says how much of a view was read, `readings` is the log as a table, `origin` is where a
figure comes from, `figures` what every command, page and file prints of a view.
"""

__all__: list[str] = []  # import its modules by name
