"""The reviewer's desk, without a widget: what is to be read, one answer at a time, and what is said of it.

`plans` draws what will be read; `queue` asks the log for it; `sheet` is one answer as its reader may see it, with
`answer_key`, `word_diff` and `history` beside it; `sitting` keeps the place, `session` the decisions, `logbook` the log
by answer, `looks` what was shown and not spoken of. `terminal` and `sheet_lines` are its face in a terminal, `tables`
in a notebook, `keyboard` the keys of both.
"""

__all__: list[str] = []  # import its modules by name
