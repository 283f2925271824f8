"""The ``fasttree`` command: fit a tree or a forest to a file, predict with it, look at it.

`_options` reads the command line, `_files` a file as columns, and `_table` makes X and y of them.
`_fit` grows and `_summary` says what came of it; `_models` has the commands that read what was
saved. What the user can mend (a file, a column, a number) is one line on stderr and exit code 2,
never a traceback.
"""

from fasttree.cli._main import main

__all__ = ["main"]
