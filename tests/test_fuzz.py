"""A share of the fuzzing, see `fuzz`: a thousandth of a whole run, a tenth of it with --full."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import runner

# Of 1,000,000 fits, 100,000 tampered pickles and 10,000 files.
GOALS = {"fits": 1_000_000, "mutations": 100_000, "csvs": 10_000}


def test_nothing_is_found(request):
    share = 10 if request.config.getoption("--full") else 1000
    done = run(*(word for kind in GOALS for word in (f"--{kind}", str(GOALS[kind] // share))))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings" in done.stdout
    for kind in GOALS:
        assert re.search(rf"^[\d,]+ {kind}, seed 0: ", done.stdout, re.MULTILINE), done.stdout


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
    )


def test_cases_follow_from_their_number(capsys):
    """In this process and in another."""
    arguments = ["--case", "fits:7", "--seed", "3"]
    runner.main(arguments)
    here = capsys.readouterr().out
    assert here == run(*arguments).stdout
    assert "tree = " in here


@pytest.mark.parametrize(
    ("fault", "words", "limits"),
    [
        # No fault of memory, which a sanitizer would report as its own finding.
        ("os.kill(os.getpid(), 9)", "crashes with exit status -9", (60, 0.3)),
        ("time.sleep(30)", "hangs", (1, 0)),
        ("[][0]", "fit raises IndexError", (60, 0.3)),
        ("X.flat[:1] += 1", "has changed its input|nodes instead of", (60, 0.3)),
    ],
)
def test_faults_are_found_and_made_small(fault, words, limits):
    """A fit that goes wrong on more than five rows is told by its kind, with a script."""
    script = f"""
import os, sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
from fuzz import runner
from fasttree.tree import DecisionTreeClassifier
grow = DecisionTreeClassifier.fit
def fit(self, X, y, **others):
    if type(X) is np.ndarray and X.dtype == np.float32 and X.flags.writeable and len(X) > 5:
        {fault}
    return grow(self, X, y, **others)
DecisionTreeClassifier.fit = fit
runner.SECONDS_PER_CASE, runner.SECONDS_OF_SHRINKING = {limits}
sys.exit(runner.main(["--fits", "60"]))
"""
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(words, done.stdout), done.stdout
    assert "# ---- reproduction" in done.stdout
