"""Every command line of the README and of the guides runs and prints what they show, on five real
tables: the bundled one and four of scikit-learn's."""

import doctest
import lzma
import os
import re
import shlex
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

from fasttree.cli import main
from fasttree.datasets import load_wine_quality

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "doc" / "user_guide"
COMMAND = r"fasttree (?:demo\b|(?:fit|predict|show|describe) +\S)"
LINE = re.compile(
    rf"^ +(?:\$ )?((?:\S.* \| )?{COMMAND}.*|fasttree demo)$|``({COMMAND}[^`]*)``", re.M
)
# What a page that names no table may call one.
PLACEHOLDERS = {"DATA.csv": "wine.csv", "NEW.csv": "wine.csv", "COLUMN": "quality"}


def command_lines(text):
    """The command lines of a page, in order, each with the output that is shown below it."""
    for found in LINE.finditer(text):
        line = " ".join((found[1] or found[2]).split())
        for name, table in PLACEHOLDERS.items():
            line = line.replace(name, table)
        below = re.match(r"\n((?:   (?!\$ ).*\n|\n)*)", text[found.end() :])
        shown = ""
        if found[1] and below and "$ " in text[found.start() : found.end()]:
            shown = "\n".join(row[3:] for row in below[1].rstrip().split("\n"))
        yield line, shown


def write_csv(path, columns, delimiter=","):
    rows = zip(*columns.values())
    lines = [delimiter.join(columns), *(delimiter.join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with the tables of the guides."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("tables")
    wine = load_wine_quality()
    columns = dict(zip(wine.feature_names, wine.data.T.tolist()))
    columns["color"] = [wine.categories["color"][int(code)] for code in columns["color"]]
    write_csv(folder / "wine.csv", columns | {"quality": wine.target.tolist()})

    cancer = datasets.load_breast_cancer()
    columns = dict(zip(cancer.feature_names.tolist(), cancer.data.T.tolist()))
    columns["diagnosis"] = cancer.target_names[cancer.target].tolist()
    import gzip

    write_csv(folder / "cancer.tsv", columns, "\t")
    (folder / "cancer.tsv.gz").write_bytes(gzip.compress((folder / "cancer.tsv").read_bytes()))

    diabetes = datasets.load_diabetes(scaled=False)
    table = dict(zip(diabetes.feature_names, diabetes.data.T)) | {"progression": diabetes.target}
    pyarrow.parquet.write_table(pa.table(table), folder / "diabetes.parquet")

    iris = datasets.load_iris()
    columns = dict(zip(iris.feature_names, iris.data.T.tolist()))
    columns["species"] = iris.target_names[iris.target].tolist()
    write_csv(folder / "iris.csv", columns, "|")
    with zipfile.ZipFile(folder / "iris.zip", "w") as archive:
        archive.write(folder / "iris.csv", "iris.csv")

    digits = datasets.load_digits()
    columns = dict(zip(digits.feature_names, digits.data.T.tolist())) | {"digit": digits.target}
    write_csv(folder / "digits.csv", columns, ";")
    (folder / "digits.csv.xz").write_bytes(lzma.compress((folder / "digits.csv").read_bytes()))

    rng = np.random.default_rng(0)
    people = {name: rng.integers(0, 9, 80).tolist() for name in ("id", "age", "churn")}
    write_csv(folder / "people.csv", people | {"churn": rng.choice(["yes", "no"], 80)})
    write_csv(folder / "new.csv", people)
    return folder


def run(line, folder, capfd):
    """The output of a command line: in this process unless it takes a shell."""
    if not re.search(r"[|<>]", line):
        try:
            code = main(shlex.split(line)[1:])
        except SystemExit as end:  # of --help
            code = end.code
        said = capfd.readouterr()
        assert code == 0, said.err
        return said.out
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    done = subprocess.run(
        line,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PAGES = [
    ROOT / "README.rst",
    ROOT / "doc" / "install.rst",
    ROOT / "doc" / "quick_start.rst",
    *(GUIDE / f"{name}.rst" for name in ("tuning", "hand_on", "command")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_command_lines(page, tables, capfd, monkeypatch):
    monkeypatch.chdir(tables)
    checker = doctest.OutputChecker()
    for line, shown in command_lines(page.read_text(encoding="utf-8")):
        out = run(line, tables, capfd)
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert checker.check_output(shown, out, options) or not shown, (line, out)


def test_all_command_lines_are_found():
    lines = {page.stem: list(command_lines(page.read_text(encoding="utf-8"))) for page in PAGES}
    assert all(lines.values())
    assert len(lines["command"]) >= 25
    assert any(shown for _, shown in lines["command"])
    others = [
        path
        for path in [ROOT / "CONTRIBUTING.rst", *(ROOT / "doc").rglob("*.rst")]
        if path not in PAGES and LINE.search(path.read_text(encoding="utf-8"))
    ]
    assert others == []


def test_the_reader_of_pages():
    page = """Run ``fasttree fit DATA.csv --target
COLUMN --save m.json``, or

   $ fasttree show m.json
   a tree

   of two leaves
   $ head -1 a | fasttree predict m.json -

``fasttree fit`` does not count.
"""
    assert list(command_lines(page)) == [
        ("fasttree fit wine.csv --target quality --save m.json", ""),
        ("fasttree show m.json", "a tree\n\nof two leaves"),
        ("head -1 a | fasttree predict m.json -", ""),
    ]
