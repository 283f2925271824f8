"""The series of patches for scikit-learn: how places are found, and what is refused.

Tests on scikit-learn's own source need its source archive in the environment variable
SCIKIT_LEARN_SDIST; upstream/try.sh builds and tests what comes out.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UPSTREAM = Path(__file__).resolve().parent.parent / "upstream"
SDIST = os.environ.get("SCIKIT_LEARN_SDIST")
MAX_CODE = 250  # lines a piece may change, for review
PROTOTYPES = ("6-", "7-", "8-")

needs_sdist = pytest.mark.skipif(not SDIST, reason="SCIKIT_LEARN_SDIST names no source archive")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def series():
    spec = importlib.util.spec_from_file_location("series", UPSTREAM / "series.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["series"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["series"]


SOURCE = '''\
import a


@final
cdef class A(B):
    """Of text with a bracket ( and
    def f(): in it."""
    cdef int f(
        self,
        int x,
    ) noexcept nogil:
        """What f does."""
        cdef int y = g(")", x)  # a bracket (

        # a comment
        while y > 0:
            y -= 1
        if y:
            return 1
        else:
            return 2

    def g(self):
        for i in "ab": pass
        for j in "cd":
            pass

def f(): return 3
'''


def lines_of(series, place, source=SOURCE):
    found = series.find(source, place)
    return source[found.start : found.end]


@pytest.mark.parametrize(
    ("place", "first", "last"),
    [
        ("class A", "cdef class A(B):", "            pass"),
        ("class A > def f", "    cdef int f(", "            return 2"),
        ("class A > def f > while", "        while y > 0:", "            y -= 1"),
        ("class A > def f > else", "        else:", "            return 2"),
        ("class A > def f > int x", "        int x,", "        int x,"),
        ("class A > def g > for #2", '        for j in "cd":', "            pass"),
        ("def f", "def f(): return 3", "def f(): return 3"),
        ("import a", "import a", "import a"),
    ],
)
def test_places_are_found(series, place, first, last):
    lines = lines_of(series, place).splitlines()
    assert (lines[0], lines[-1]) == (first, last)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("class C", "no places 'class C'"),
        ("class A > def h", "no places 'def h'"),
        ("class A > def g > for", "2 places 'for'"),
        ("class A > def g > for #3", "2 places 'for #3'"),
        ("class A > def g > if", "no places 'if'"),
        ("imp", "no places 'imp'"),
    ],
)
def test_places_that_are_missing_or_not_unique_are_refused(series, place, message):
    with pytest.raises(series.SeriesError, match=message):
        series.find(SOURCE, place)


def edited(series, verb, place, lines="x = 1\n\ny = 2\n"):
    return series.apply_section(SOURCE, verb, place, None, lines)


def test_body_keeps_header_and_docstring(series):
    assert lines_of(series, "class A > def f", edited(series, "body", "class A > def f")) == (
        "    cdef int f(\n        self,\n        int x,\n    ) noexcept nogil:\n"
        '        """What f does."""\n        x = 1\n\n        y = 2\n'
    )


def test_header_keeps_the_block(series):
    text = edited(series, "header", "class A > def f > while", "while y > 1:\n")
    assert text == SOURCE.replace("y > 0", "y > 1")


def test_replace_takes_the_indent_of_the_place(series):
    text = edited(series, "replace", "class A > def f > while")
    assert text == SOURCE.replace(
        "        while y > 0:\n            y -= 1\n", "        x = 1\n\n        y = 2\n"
    )


@pytest.mark.parametrize(
    ("verb", "place", "follows"),
    [
        ("before", "class A", "import a\n\n\n"),  # above the decorator
        ("before", "class A > def f > else", "return 1\n"),
        ("after", "class A > def f > int x", "int x,\n"),
        ("after", "import a", "import a\n"),
        ("end", "class A > def g", "pass\n"),
        ("end", "class A > def f > if", "return 1\n"),
    ],
)
def test_lines_are_added_where_they_belong(series, verb, place, follows):
    text = edited(series, verb, place, "x = 1\n")
    added = re.search(r" *x = 1\n", text)
    assert text[: added.start()].endswith(follows)
    assert text[: added.start()] + text[added.end() :] == SOURCE


def test_end_of_a_file(series):
    assert edited(series, "end", None) == SOURCE + "\n\nx = 1\n\ny = 2\n"


def test_places_that_have_changed_are_refused(series):
    place = "class A > def f"
    good = series.digest(SOURCE, place)
    edit = f"#@ before: {place} = {good}\nx = 1\n"
    assert "x = 1" in series.apply_edit(SOURCE, edit)
    with pytest.raises(series.SeriesError, match=f"has changed: digest .*, not {good}"):
        series.apply_edit(SOURCE.replace("return 2", "return 3"), edit)


@pytest.mark.parametrize("edit", ["", "x = 1\n", "#@ beside: import a\nx = 1\n"])
def test_edits_must_be_made_of_sections(series, edit):
    with pytest.raises(series.SeriesError, match="start with a section"):
        series.apply_edit(SOURCE, edit)


def test_files_must_exist_to_be_edited_and_not_to_be_new(series, tmp_path):
    for name, message in (("f.py", "exists already"), ("g.py.edit", "is missing")):
        piece = tmp_path / name
        piece.mkdir()
        (piece / "message.txt").write_text("A piece\n")
        (piece / name).write_text("#@ end\nx = 1\n")
        with pytest.raises(series.SeriesError, match=message):
            series.changed_files(piece, {"f.py": SOURCE}.get)


def test_pieces_build_on_each_other(series, tmp_path):
    for number in (1, 2):
        piece = tmp_path / f"{number}-piece"
        piece.mkdir()
        (piece / "message.txt").write_text(f"Piece {number}\n")
        (piece / "f.py.edit").write_text(f"#@ after: {'import a' if number == 1 else 'x'}\nx = 1\n")
    (first, _), (second, changed) = series.apply_series({"f.py": SOURCE}.get, tmp_path)
    assert (first, second) == ("Piece 1\n", "Piece 2\n")
    assert changed["f.py"].startswith("import a\nx = 1\nx = 1\n")


def tree_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no source of scikit-learn"),
        ({"sklearn/__init__.py": '__version__ = "1.8.0"\n'}, "scikit-learn 1.8.0, the pieces are"),
        ({"sklearn/__init__.py": '__version__ = "1.9.1"\n'}, "_tree.pyx: is missing"),
        (
            {"sklearn/__init__.py": '__version__ = "1.9.1"\n', "sklearn/tree/_tree.pyx": SOURCE},
            "_tree.pyx: no places",
        ),
    ],
)
def test_unknown_source_is_refused_with_one_line_and_left_alone(tmp_path, files, message):
    source = tmp_path / "source"
    source.mkdir()
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    before = tree_of(tmp_path)
    command = [sys.executable, UPSTREAM / "series.py", source, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(rf"\S+/source: .*{re.escape(message)}.*\n", done.stderr)
    assert tree_of(tmp_path) == before


def test_something_else_than_an_archive_is_refused(tmp_path):
    source = tmp_path / "source.tar.gz"
    source.write_text("no archive")
    command = [sys.executable, UPSTREAM / "series.py", source, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == f"{source}: neither a folder nor a source archive\n"
    assert not (tmp_path / "out").exists()


def is_code(path):
    return path.startswith("sklearn/") and "/tests/" not in path


def code_lines(piece):
    """Lines of ours that go into scikit-learn's code."""
    files = [path for path in piece.rglob("*") if path.is_file()]
    return sum(
        not line.startswith("#@")
        for path in files
        if is_code(path.relative_to(piece).as_posix())
        for line in path.read_text().splitlines()
    )


def test_pieces_are_small_and_complete(series):
    pieces = series.pieces()
    assert [piece.name.split("-")[0] for piece in pieces] == [
        str(number) for number in range(1, len(pieces) + 1)
    ]
    for piece in pieces:
        files = [path.relative_to(piece).as_posix() for path in piece.rglob("*")]
        assert any("/tests/" in path for path in files)
        subject, empty, *_ = piece.joinpath("message.txt").read_text().splitlines()
        assert len(subject) <= 72
        assert empty == ""
        if not piece.name.startswith(PROTOTYPES):
            assert code_lines(piece) <= MAX_CODE
            assert any(path.endswith(".efficiency.rst") for path in files)
            assert any(path.startswith("asv_benchmarks/") for path in files)


@needs_sdist
@needs_git
def test_series_applies_to_scikit_learn(series, tmp_path):
    series.main([SDIST, str(tmp_path / "out")])
    pieces = series.pieces()
    patches = sorted((tmp_path / "out" / "patches").glob("*.patch"))
    assert len(patches) == len(pieces)

    repository = tmp_path / "out" / "scikit-learn"
    for number, piece in enumerate(pieces, 1):
        command = ["git", "show", "--numstat", "--format=", f"piece-{number}"]
        shown = subprocess.run(
            command, cwd=repository, capture_output=True, text=True, check=True
        ).stdout
        changed = [line.split("\t") for line in shown.splitlines()]
        n_lines = sum(int(more) + int(less) for more, less, path in changed if is_code(path))
        assert n_lines > 0
        if not piece.name.startswith(PROTOTYPES):
            assert n_lines <= MAX_CODE


@needs_sdist
@needs_git
def test_patches_apply_to_the_source_with_git(series, tmp_path):
    series.main([SDIST, str(tmp_path / "out")])
    series.copy_source(Path(SDIST), tmp_path / "source")
    for patch in sorted((tmp_path / "out" / "patches").glob("*.patch")):
        command = ["git", "apply", "--whitespace=error-all", str(patch)]
        subprocess.run(command, cwd=tmp_path / "source", check=True)
    patched = tmp_path / "out" / "scikit-learn" / "sklearn" / "tree"
    for path in patched.glob("*.pyx"):
        assert (tmp_path / "source/sklearn/tree" / path.name).read_bytes() == path.read_bytes()
