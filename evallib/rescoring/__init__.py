"""Changed criteria on the same answers: `entry` is what its author writes, `apply` does it, `rejudging` asks judges.

`lessons` makes regressions of what people read.
"""

__all__: list[str] = []  # import its modules by name
