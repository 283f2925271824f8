"""From the command line to the exit code."""

from __future__ import annotations

import os
import sys

from fasttree.cli._files import CommandError
from fasttree.cli._options import parse
from fasttree.cli._progress import Progress

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : list of str, default=None
        Those of the command line by default.

    Returns
    -------
    int
        Exit code: 0, 2 after an error the user can mend, 130 after Ctrl-C.
    """
    options = parse(arguments)
    try:
        with Progress(options.verbose) as progress:
            options.run(options, progress)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, a pager) has seen enough; nothing is left to say at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except MemoryError:
        return _complain("there is not enough memory for this")
    except OSError as error:
        reason = error.strerror or "cannot be read"
        return _complain(f"{error.filename}: {reason}" if error.filename else reason)
    except (CommandError, ValueError) as error:
        return _complain(str(error))
    return 0


def _complain(message, code=2):
    print("fasttree: error:", " ".join(message.split()), file=sys.stderr)
    return code
