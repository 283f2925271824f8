"""The command run in this process, and a target for the fixture ``table``."""

import json

import numpy as np

from fasttree.cli import main


def by_size(rows):
    return np.where(rows[:, 0] + rows[:, 1] > 50, "large", "small")


def run(arguments, capsys):
    """Exit code, output and error output of the command."""
    try:
        code = main(arguments)
    except SystemExit as stop:  # argparse
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def fitted(arguments, capsys):
    """The JSON of a fit."""
    code, out, err = run(["fit", *arguments, "--json"], capsys)
    assert code == 0, err
    return json.loads(out)
