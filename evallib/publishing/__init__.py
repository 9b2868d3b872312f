"""What is published of some runs: one folder that holds all of it and proves itself.

`contents` says which entries and stamps belong to the runs, `criteria` writes the changelog of criteria, `quoted` makes
the labelled figures, `readme` says what is what; `bundle` puts them into a folder, `proof` makes them again from what
the folder holds and compares.
"""

__all__: list[str] = []  # import its modules by name
