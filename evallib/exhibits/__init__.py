"""What a notebook's cell shows: a chart with its caption and a static table, every text escaped.

`run` shows a run, `readings` the log of readings, `rescoring` a criteria session, `comparison` two runs, `calibration`
a check against human labels; `rows` makes the rows of the tables.
"""

__all__: list[str] = []  # import its modules by name
