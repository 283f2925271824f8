"""The ``fasttree`` command, in process and as users run it: the demo, fits, errors, progress."""

import os
import pty
import re
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import fasttree
from command import by_size, fitted, run
from fasttree.cli import main


def scores(output):
    """The two held-out scores of a comparison."""
    lines = [line for line in output.splitlines() if re.match(r"(fasttree|scikit-learn) \d", line)]
    assert len(lines) == 2
    return [float(line.split()[3]) for line in lines]


# ---- the demo, and the command as installed


def test_demo(capsys):
    code, out, err = run(["demo"], capsys)
    assert code == 0
    assert err == ""
    assert "6,497 rows, 12 columns" in out
    assert "7 classes" in out
    ours, theirs = scores(out)
    assert abs(ours - theirs) < 0.05
    assert ours > 0.5
    assert "|--- alcohol <= " in out


def test_demo_as_installed(tmp_path):
    command = shutil.which("fasttree", path=sysconfig.get_path("scripts"))
    done = subprocess.run(
        [command, "demo", "--max-depth", "3"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout


def test_error_as_installed(tmp_path):
    command = shutil.which("fasttree", path=sysconfig.get_path("scripts"))
    done = subprocess.run(
        [command, "fit", "none.csv", "--target", "y"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "fasttree: error: none.csv: No such file or directory\n"


def test_reader_that_stops_early():
    """As in ``fasttree demo | head -1``: no complaint."""
    command = shutil.which("fasttree", path=sysconfig.get_path("scripts"))
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        done = subprocess.run(
            [command, "demo", "--max-depth", "3"], stdout=closed, stderr=subprocess.PIPE
        )
    assert done.returncode == 0
    assert done.stderr == b""


# ---- fits


def test_fit_columns_of_labels_and_gaps(tmp_path, capsys):
    path = tmp_path / "table.csv"
    rows = ["red,1,7", "blue,?,8", ",2,7", "red,NA,7", "blue,5,8", "green,3,8"] * 10
    path.write_text("color,size,y\n" + "\n".join(rows) + "\n")
    code, out, err = run(["fit", str(path), "--target", "y"], capsys)
    assert (code, err) == (0, "")
    assert "scikit-learn" not in out
    assert "size is a number" in out or "color in {" in out
    code, out, err = run(["fit", str(path), "--target", "y", "--compare"], capsys)
    assert (code, err) == (0, "")
    assert len(scores(out)) == 2
    assert "scikit-learn with categories as ordinal codes." in out


def test_fit_labels(table, capsys):
    code, out, _ = run(["fit", table(by_size), "--target", "target"], capsys)
    assert code == 0
    assert "60 rows, 3 columns" in out
    assert "target target: 2 classes" in out
    assert "48 rows to fit, 12 held out" in out
    assert "class: large" in out


def test_fit_limits(table, capsys):
    path = table(by_size)
    _, out, _ = run(["fit", path, "--target", "target", "--max-depth", "1"], capsys)
    assert "2 leaves, depth 1" in out
    _, out, _ = run(["fit", path, "--target", "target", "--test-size", "0.5"], capsys)
    assert "30 rows to fit, 30 held out" in out


def test_task_follows_the_target(table, capsys):
    def fraction(rows):
        return rows[:, 0] + 0.5

    def counts(rows):
        return np.random.default_rng(0).poisson(2.0, len(rows))

    _, out, err = run(["fit", table(fraction), "--target", "target"], capsys)
    assert "regression" in out
    assert "R2" in out
    assert err == ""
    path = table(counts)
    _, out, err = run(["fit", path, "--target", "target"], capsys)
    assert "classes" in out
    assert err.startswith("fasttree: note:")
    assert "pass --task classification or --task regression to settle it" in err
    assert err.count("\n") == 1
    _, out, err = run(["fit", path, "--target", "target", "--task", "regression"], capsys)
    assert "regression" in out
    assert err == ""
    _, out, err = run(
        ["fit", table(fraction), "--target", "target", "--task", "classification"], capsys
    )
    assert "classes" in out


@pytest.mark.parametrize(
    "option", [["--task", "classification"], ["--criterion", "gini"], ["--optimal"]]
)
def test_numbers_and_a_text_are_classes_if_that_is_said(option, tmp_path, capsys):
    path = tmp_path / "grades.csv"
    path.write_text("a,y\n" + "1,1\n2,2\n3,3+\n" * 10)
    code, out, err = run(["fit", str(path), "--target", "y", *option], capsys)
    assert (code, err) == (0, "")
    assert "3 classes" in out
    path.write_text("a,y\n" + "1,1\n2,b\n3,c\n" * 10)
    assert run(["fit", str(path), "--target", "y"], capsys)[0] == 0


def test_gaps_are_fitted(tmp_path, capsys):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},,{i // 20}\nNaN,{i},1\n" for i in range(40)))
    code, out, err = run(["fit", str(path), "--target", "y"], capsys)
    assert code == 0
    assert err == ""
    assert "80 rows, 2 columns" in out


@pytest.mark.parametrize("option", ["--max-depth", "--max-leaf-nodes", "--min-samples-leaf"])
def test_limits_beyond_any_data(option, table, capsys):
    code, out, err = run(["fit", table(by_size), "--target", "target", option, "1" * 30], capsys)
    assert (code, err) == (0, "")
    if option != "--min-samples-leaf":
        assert (
            out.splitlines()[-3:]
            == run(["fit", table(by_size), "--target", "target"], capsys)[1].splitlines()[-3:]
        )
    code, out, err = run(["fit", table(by_size), "--target", "target", option, "1e30"], capsys)
    assert code == 2
    assert "invalid int value: '1e30'" in err


def test_classes_that_were_all_held_out(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,u\n2,v\n")
    code, out, err = run(["fit", str(path), "--target", "y"], capsys)
    assert (code, err) == (0, "")
    assert out.split("Confusion matrix:\n")[1].split()[:2] == ["u", "v"]
    held_out = fitted([str(path), "--target", "y"], capsys)["confusion_matrix"]
    assert sorted(map(sum, held_out["n_rows"])) == [0, 1]


# ---- tuning


def tuned(output):
    """The lines about tuning: chosen limits, score and score without limits, settings, fits."""
    chosen = re.search(r"^tuned: max_depth=(\w+), min_samples_split=(\d+)$", output, re.MULTILINE)
    score = re.search(r"^  (\w+) (\S+) on 5 folds, (\S+) without limits$", output, re.MULTILINE)
    count = re.search(r"^  best of ([\d,]+) settings, cut from (\d+) fits in", output, re.MULTILINE)
    return [*chosen.groups(), *score.groups(), *count.groups()]


def test_demo_tunes(capsys):
    code, out, err = run(["demo", "--tune"], capsys)
    assert (code, err) == (0, "")
    depth, rows, name, best, whole, n_settings, n_fits = tuned(out)
    assert name == "accuracy"
    assert float(best) >= float(whole) > 0.5
    assert int(n_settings.replace(",", "")) % 200 == 0
    assert n_fits == "5"
    limited = ["demo"] if depth == "None" else ["demo", "--max-depth", depth]
    if rows == "2":  # the tree that the report is about has these limits
        assert scores(run(limited, capsys)[1]) == scores(out)


def test_fit_tunes(table, capsys):
    path = table(lambda rows: rows[:, 0] + 0.5 + rows[:, 1] % 3)
    arguments = ["fit", path, "--target", "target", "--tune", "--max-depth", "3", "--compare"]
    code, out, err = run(arguments, capsys)
    assert (code, err) == (0, "")
    depth, _, name, best, whole, _, _ = tuned(out)
    assert 1 <= int(depth) <= 3
    assert name == "R2"
    assert float(best) >= float(whole)
    leaves = [line.split()[-2:] for line in out.splitlines() if re.match("(fast|scikit)", line)]
    assert leaves[0] == leaves[1]


def test_too_few_rows_to_tune(tmp_path, capsys):
    path = tmp_path / "small.csv"
    path.write_text("a,y\n1,0.5\n2,1.5\n3,0.5\n4,2.5\n")
    code, _, err = run(["fit", str(path), "--target", "y", "--tune"], capsys)
    assert code == 2
    assert err.startswith("fasttree: error: Cannot have number of splits")


# ---- errors


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,y\n1,0\n2,1\n", ["--target", "z"], "has no column 'z'; it has 'a', 'y'"),
        ("y\n1\n2\n", ["--target", "y"], "has no column beside 'y'"),
        ("a,y\n1,\n2,\n", ["--target", "y"], "the target 'y' is empty"),
        ("a,y\n1,\n2,1\n", ["--target", "y"], "the target 'y' is missing in 1 of 2 rows"),
        ("a,y\n1,7\n2,7\n", ["--target", "y"], "the target 'y' is constant: every row holds '7'"),
        (
            "a,y\n1,u\n2,v\n",
            ["--target", "y", "--task", "regression"],
            "the target 'y' holds labels such as 'u'; regression needs numbers",
        ),
        (
            "a,y\n1,0.5\n2,12.-\n3,1\n4,n.a.\n5,2\n",
            ["--target", "y"],
            "no number in 2 of 5 rows, the first of which is '12.-'; mend the rows, or pass --task",
        ),
        ("", ["--target", "y"], "is empty"),
        ("a,y\n1,2,3\n", ["--target", "y"], "row of 3 cells"),
        ("a,y\n1e999,0\n2,1\n3,1\n", ["--target", "y"], "infinity"),
        ("a,y\n1,0\n2,1\n", ["--target", "y", "--max-depth", "0"], "max_depth"),
        ("a,y\n1,0\n2,1\n", ["--target", "y", "--test-size", "2"], "test_size"),
    ],
)
def test_errors_are_one_line(tmp_path, capsys, text, arguments, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    code, out, err = run(["fit", str(path), *arguments], capsys)
    assert code == 2
    assert out == ""
    assert err.startswith("fasttree: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_folder_instead_of_file(tmp_path, capsys):
    code, _, err = run(["fit", str(tmp_path), "--target", "y"], capsys)
    assert code == 2
    assert err.count("\n") == 1
    assert str(tmp_path) in err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fit"],
        ["fit", "x.csv"],
        ["grow"],
        ["fit", "x.csv", "--target", "y", "--tune", "--forest"],
        ["fit", "x.csv", "--target", "y", "--delimiter", ",,"],
        ["fit", "x.csv", "--target", "y", "--criterion", "best"],
        ["predict", "m.json"],
    ],
)
def test_wrong_usage(capsys, arguments):
    code, out, err = run(arguments, capsys)
    assert (code, out) == (2, "")
    assert err.startswith("fasttree: error: ")
    assert err.endswith("--help\n")
    assert err.count("\n") == 1


def test_version(capsys):
    code, out, _ = run(["--version"], capsys)
    assert code == 0
    assert out.strip() == fasttree.__version__


def test_source_folder_says_what_to_do(tmp_path):
    """Imported from the root of the sources, the package tells the user to leave it."""
    shutil.copytree(Path(__file__).parents[1] / "fasttree", tmp_path / "fasttree")
    # -S: without the installed package, which an editable installation puts first.
    folders = [path for path in sys.path if path.endswith("-packages")]
    code = f"import sys; sys.path[1:1] = {folders}; import fasttree"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "source folder" in last


# ---- progress


def test_progress_on_request(table, capsys):
    code, _, err = run(["fit", table(by_size), "--target", "target", "--verbose"], capsys)
    assert code == 0
    assert [line.split(" ")[1] for line in err.splitlines()] == ["reading", "growing"]


def everything(terminal):
    """What was written to a terminal whose other end is closed."""
    parts = []
    with os.fdopen(terminal, "rb", buffering=0) as file, suppress(OSError):  # which is its end
        while part := file.read(4096):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    "extra", [["--optimal"], ["--forest", "--n-estimators", "300"], ["--tune"]]
)
def test_progress_on_a_terminal(extra, table, monkeypatch, capsys):
    """A line that is written over and wiped away, on stderr only."""
    path = table(by_size)
    mine, its = pty.openpty()
    with os.fdopen(its, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert main(["fit", path, "--target", "target", *extra]) == 0
    said = everything(mine).decode()
    assert "reading" in said
    assert "growing" in said
    assert said.endswith("\r\x1b[K")
    assert "\n" not in said
    assert "\x1b" not in capsys.readouterr().out


def test_interrupt(table, monkeypatch, capsys):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("fasttree.cli._fit.grow", stop)
    code, out, err = run(["fit", table(by_size), "--target", "target"], capsys)
    assert (code, out, err) == (130, "", "fasttree: error: interrupted\n")
