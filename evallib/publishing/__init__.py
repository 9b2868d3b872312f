"""What is published of some runs: one folder that holds all of it and proves itself.

`contents` says which entries and stamps belong to the runs, `criteria` writes the changelog of criteria, `quoted` makes
the labelled figures, `readme` says what is what; `parts` makes all of them from what a folder holds, `proof` makes them
again and compares, `bundle` fills a folder and gives it its name once it is proven.
"""

__all__: list[str] = []  # import its modules by name
