"""Readings held against each other and against strict scoring.

`concord` says how readers agree, `disputes` where they do not, `audit` what strict scoring got wrong by their reading,
`review` holds the three; `selection` says which items a census or a random draw chose.
"""

__all__: list[str] = []  # import its modules by name
