"""The ``fasttree`` command, in process and as users run it."""

import bz2
import gzip
import io
import json
import lzma
import os
import pty
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score

import fasttree
from fasttree.cli import main
from fasttree.export import load, save


@pytest.fixture
def table(tmp_path):
    """A function that writes a CSV file of three columns and the given target."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50, (60, 3))

    def write(target):
        path = tmp_path / "table.csv"
        lines = ["a,b,c,target"]
        for row, value in zip(rows, target(rows), strict=True):
            lines.append(",".join(map(str, [*row, value])))
        path.write_text("\n".join(lines))
        return str(path)

    return write


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


def scores(output):
    """The two held-out scores of a comparison."""
    lines = [line for line in output.splitlines() if re.match(r"(fasttree|scikit-learn) \d", line)]
    assert len(lines) == 2
    return [float(line.split()[3]) for line in lines]


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


def test_gaps_are_fitted(tmp_path, capsys):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},,{i // 20}\nNaN,{i},1\n" for i in range(40)))
    code, out, err = run(["fit", str(path), "--target", "y"], capsys)
    assert code == 0
    assert err == ""
    assert "80 rows, 2 columns" in out


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


@pytest.mark.parametrize("extra", [[], ["--tune"], ["--max-depth", "2"]])
def test_saved_models(extra, table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "model.json.gz")
    arguments = ["fit", path, "--target", "target", "--drop", "c", "--save", model, *extra]
    assert run(arguments, capsys)[0] == 0
    code, out, err = run(["show", model], capsys)
    assert (code, err) == (0, "")
    assert "class: large" in out
    assert "|--- c " not in out
    code, out, _ = run(["show", model, "--rules"], capsys)
    assert " then large  (support" in out
    code, out, err = run(["predict", model, path, "--proba"], capsys)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "prediction,probability of large,probability of small"
    assert len(lines) == 61
    written = tmp_path / "out.csv"
    assert run(["predict", model, path, "-o", str(written)], capsys) == (0, "", "")
    assert written.read_text().split() == [line.split(",")[0] for line in lines]
    assert set(written.read_text().split()[1:]) == {"large", "small"}


def test_saved_models_of_categories(tmp_path, capsys):
    path, model = tmp_path / "table.csv", str(tmp_path / "model.json")
    rows = ["red,1,0.5", "blue,?,8", ",2,7", "red,NA,7", "blue,5,8", "green,3,8"] * 10
    path.write_text("color,size,y\n" + "\n".join(rows) + "\n")
    code, out, _ = run(["fit", str(path), "--target", "y", "--save", model, "--rules"], capsys)
    assert code == 0
    assert "if color " in out or "if size " in out
    new = tmp_path / "new.csv"
    new.write_text("size;extra;color\n1;x;red\n;;violet\nNA;;\n")
    code, out, err = run(["predict", model, str(new)], capsys)
    assert (code, err) == (0, "")
    answers = list(map(float, out.splitlines()[1:]))
    assert answers[0] == 0.5
    assert len(answers) == 3


@pytest.mark.parametrize("kind", [[], ["--forest"], ["--optimal"], ["--tune"]])
def test_models_of_every_kind_read_categories(kind, tmp_path, capsys):
    path, model = tmp_path / "table.csv", str(tmp_path / "m.json")
    path.write_text("color,size,y\n" + "red,1,no\nblue,NA,yes\nNA,x,yes\ngreen,2,no\n" * 20)
    arguments = ["fit", str(path), "--target", "y", "--save", model, *kind]
    assert run(arguments, capsys)[0] == 0
    answers = run(["predict", model, str(path)], capsys)[1].split()[1:]
    assert answers == ["no", "yes", "yes", "no"] * 20
    code, out, err = run(["describe", model, str(path)], capsys)
    assert (code, err) == (0, "")
    assert re.search(r"missing cells +25.00%", out)


def test_models_of_python(tmp_path, capsys):
    """`DecisionTree` is around the tree that has the encoder."""
    pd = pytest.importorskip("pandas")
    from fasttree.tree import DecisionTree

    frame = pd.DataFrame({"color": ["red", "blue", None, "green"], "size": [1, 2, 3, None]})
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    frame.assign(y=["a", "b", "a", "b"]).to_csv(path, index=False, na_rep="NA")
    tree = DecisionTree().fit(frame, ["a", "b", "a", "b"])
    save(tree, model)
    assert run(["predict", str(model), str(path)], capsys)[1].split()[1:] == ["a", "b", "a", "b"]
    assert re.search("accuracy +1 ", run(["describe", str(model), str(path)], capsys)[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "MODEL", "new.csv"], "new.csv: No such file"),
        (["predict", "none.json", "DATA"], "none.json: No such file"),
        (["predict", "DATA", "DATA"], "is not a model"),
        (["predict", "MODEL", "OTHER"], "has no column 'a'"),
        (["predict", "MODEL", "TEXT"], "column 'b' holds 'x' in place of a number"),
        (["show", "DATA"], "is not a model"),
        (["fit", "MODEL", "--target", "a"], "model.json is a saved model, not a table"),
        (["predict", "MODEL", "MODEL"], "model.json is a saved model, not a table"),
        (["fit", "DATA", "--target", "target", "--drop", "d"], "no column 'd' to leave out"),
        (["fit", "DATA", "--target", "target", "--save", "none/m.json"], "none/m.json: No such"),
    ],
)
def test_errors_with_models(arguments, message, table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, model = table(by_size), str(tmp_path / "model.json")
    assert run(["fit", path, "--target", "target", "--save", model], capsys)[0] == 0
    (tmp_path / "other.csv").write_text("x,b,c\n1,2,3\n")
    (tmp_path / "text.csv").write_text("a,b,c\n1,x,3\n")
    places = {"MODEL": model, "DATA": path, "OTHER": "other.csv", "TEXT": "text.csv"}
    code, _, err = run([places.get(argument, argument) for argument in arguments], capsys)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


# ---- files

TABLE = "a;b;y\n" + "".join(f"{i % 7};{'xyz'[i % 3]};{i % 2}\n" for i in range(40))


def archive(raw, names=("t.csv",)):
    """The bytes of a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("__MACOSX/._t.csv", b"\0\1")
        for name in names:
            written.writestr(name, raw)
    return file.getvalue()


def columns_of():
    """The columns of TABLE as Python has them."""
    rows = [line.split(";") for line in TABLE.splitlines()[1:]]
    a, b, y = zip(*rows)
    return {"a": list(map(float, a)), "b": list(b), "y": list(map(int, y))}


def write_arrow(kind, path, table=None):
    pa = pytest.importorskip("pyarrow")
    table = table or pa.table(columns_of())
    if kind == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)
        return
    with pa.OSFile(str(path), "wb") as sink:
        new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with new(sink, table.schema) as writer:
            writer.write_table(table)


WRITERS = {
    "csv": lambda path: path.write_text(TABLE),
    "tab": lambda path: path.write_text(TABLE.replace(";", "\t")),
    "gz": lambda path: path.write_bytes(gzip.compress(TABLE.encode())),
    "bz2": lambda path: path.write_bytes(bz2.compress(TABLE.encode())),
    "xz": lambda path: path.write_bytes(lzma.compress(TABLE.encode())),
    "zip": lambda path: path.write_bytes(archive(TABLE)),
    "parquet": lambda path: write_arrow("parquet", path),
    "arrow": lambda path: write_arrow("arrow", path),
    "stream": lambda path: write_arrow("stream", path),
}


def without_first_line(text):
    return re.sub(r"fitted in \S+ s", "", text.split("\n", 1)[1])


@pytest.mark.parametrize("is_piped", [False, True])
@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_file(kind, is_piped, tmp_path, capsys, monkeypatch):
    """The name of the file says nothing, and the report is the same."""
    path, plain = tmp_path / "table", tmp_path / "plain.csv"
    WRITERS[kind](path)
    plain.write_text(TABLE)
    expected = run(["fit", str(plain), "--target", "y"], capsys)[1]
    if is_piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    name = "-" if is_piped else str(path)
    code, out, err = run(["fit", name, "--target", "y"], capsys)
    assert (code, err) == (0, "")
    assert without_first_line(out) == without_first_line(expected)
    assert out.startswith("standard input: 40 rows, 2 columns" if is_piped else str(path))


@pytest.mark.parametrize(("option", "character"), [("#", "#"), ("tab", "\t"), ("space", " ")])
def test_delimiters(option, character, tmp_path, capsys):
    path, model = tmp_path / "table.txt", str(tmp_path / "m.json")
    path.write_text(TABLE.replace(";", character))
    arguments = [str(path), "--delimiter", option]
    code, out, _ = run(["fit", *arguments, "--target", "y", "--save", model], capsys)
    assert code == 0
    assert "40 rows, 2 columns" in out
    assert run(["predict", model, *arguments], capsys)[0] == 0


def test_files_of_arrow_without_pyarrow(tmp_path, capsys, monkeypatch):
    path = tmp_path / "table.parquet"
    write_arrow("parquet", path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, out, err = run(["fit", str(path), "--target", "y"], capsys)
    assert (code, out) == (2, "")
    assert err.endswith("is a file of Parquet, which pyarrow reads: pip install pyarrow\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"PAR1\x15nothing", "cannot be read as Parquet"),
        (b"ARROW1\0\0nothing", "cannot be read as Arrow"),
        (b"PK\x03\x04nothing", "cannot be read as CSV: File is not a zip file"),
        (archive(TABLE, ("a.csv", "b.csv")), "holds 2 files; unpack it and name one of them"),
        (b"\x1f\x8b\x07nothing at all", "cannot be decompressed: Unknown compression method"),
        (bz2.compress(TABLE.encode())[:40], "cannot be read as CSV"),
    ],
)
def test_damaged_files(raw, message, tmp_path, capsys):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table"
    path.write_bytes(raw)
    code, out, err = run(["fit", str(path), "--target", "y"], capsys)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_types_of_arrow(tmp_path, capsys):
    """Booleans and dictionaries are categories, dates are to be left out."""
    pa = pytest.importorskip("pyarrow")
    n = 60
    table = pa.table(
        {
            "code": pa.array([i % 3 for i in range(n)]).dictionary_encode(),
            "flag": pa.array([None if i % 10 == 9 else i % 2 == 0 for i in range(n)]),
            "day": pa.array([86_400_000 * i for i in range(n)], pa.date64()),
            "size": pa.array([None if i % 9 == 8 else i for i in range(n)]),
            "y": pa.array([i % 3 == 1 for i in range(n)]),
        }
    )
    path, model = str(tmp_path / "table.arrow"), str(tmp_path / "m.json")
    write_arrow("arrow", path, table)
    code, _, err = run(["fit", path, "--target", "y"], capsys)
    assert code == 2
    assert "Column 'day'" in err
    assert "--drop" in err
    arguments = ["fit", path, "--target", "y", "--drop", "day", "--save", model, "--rules"]
    code, out, err = run(arguments, capsys)
    assert (code, err) == (0, "")
    assert "if code in {1} then True" in out
    loaded = load(model)
    assert loaded.categories_ == [["0", "1", "2"], [False, True], []]
    # The same rows as texts: categories are told by how they are written.
    lines = ["size,flag,code,y"] + [
        f"{'NA' if i % 9 == 8 else i},{'' if i % 10 == 9 else str(i % 2 == 0).lower()},{i % 3},"
        f"{i % 3 == 1}"
        for i in range(n)
    ]
    texts = tmp_path / "table.csv"
    texts.write_text("\n".join(lines))
    answers = run(["predict", model, str(texts)], capsys)[1].split()[1:]
    assert answers == [str(i % 3 == 1) for i in range(n)]
    code, out, err = run(["describe", model, str(texts)], capsys)
    assert (code, err) == (0, "")
    assert re.search(r"accuracy +1 ", out)


def test_numbers_that_a_file_holds_as_texts(tmp_path, capsys):
    """Where all of a column is, for the fit as for the model."""
    pa = pytest.importorskip("pyarrow")
    n = 40
    texts = [None if i % 9 == 8 else "NA" if i % 9 == 7 else str(i % 5) for i in range(n)]
    path, model = str(tmp_path / "table.arrow"), str(tmp_path / "m.json")
    table = pa.table({"a": texts, "gap": pa.array([None] * n, pa.string()), "b": range(n),
                      "y": [f"{i % 5}.5" for i in range(n)]})  # fmt: skip
    write_arrow("arrow", path, table)
    arguments = ["fit", path, "--target", "y", "--test-size", "0", "--save", model]
    assert run(arguments, capsys)[0] == 0
    assert load(model).categories_ == [[], [], []]
    code, out, err = run(["predict", model, path], capsys)
    assert (code, err) == (0, "")
    assert out.split()[1:] == [f"{i % 5}.5" for i in range(n)]
    assert run(["describe", model, path], capsys)[0] == 0


# ---- missing values


def test_missing_values_are_those_of_the_list(tmp_path, capsys):
    """A saved model has the list, and takes the cells of new files for missing too."""
    path, model = tmp_path / "table.csv", str(tmp_path / "m.json")
    gaps = ["NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", ""]
    rows = [f"{i},red,1" for i in range(22)] + [f"{gap},{gap},2" for gap in gaps * 2]
    path.write_text("size,color,y\n" + "\n".join(rows))
    arguments = ["fit", str(path), "--target", "y", "--test-size", "0", "--save", model]
    code, out, _ = run([*arguments, "--json"], capsys)
    assert code == 0
    found = json.loads(out)
    assert found["n_leaves"] == 2
    assert found["scores"]["accuracy"] == {"training_rows": 1.0, "baseline": 0.5}
    loaded = load(model)
    assert set(loaded.missing_values) == set(gaps) - {""}
    assert loaded.categories_ == [[], ["red"]]
    new = tmp_path / "new.csv"
    new.write_text("color,size\nred,5\nNULL,n/a\n")
    assert run(["predict", model, str(new)], capsys)[1].split() == ["prediction", "1", "2"]
    # The model knows a list of its own, in Python too.
    del loaded.feature_names_in_
    assert loaded.predict([["3", "red"], ["NA", "null"], [None, "N/A"]]).tolist() == [1, 2, 2]

    rows = [f"{i},red,1" for i in range(20)] + ["-9,?,2", "-9.0,NA,2"] * 10
    path.write_text("size,color,y\n" + "\n".join(rows))
    arguments += ["--missing", "?", "-9"]
    assert run(arguments, capsys)[0] == 0
    assert load(model).categories_[1] == ["NA", "red"]
    assert load(model).missing_values == ["-9", "?", -9.0]


# ---- what is grown


def fitted(arguments, capsys):
    """The JSON of a fit."""
    code, out, err = run(["fit", *arguments, "--json"], capsys)
    assert code == 0, err
    return json.loads(out)


def test_json_says_what_the_text_says(table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "m.json")
    arguments = [path, "--target", "target", "--save", model, "--max-depth", "3"]
    found = fitted([*arguments, "--rules", "--compare", "--test-size", "0.4"], capsys)
    assert found["data"] == path
    assert (found["n_rows"], found["n_training_rows"], found["n_held_out_rows"]) == (60, 36, 24)
    assert found["classes"] == ["large", "small"]
    assert found["estimator"] == "DecisionTreeClassifier"
    tree = load(model)
    assert found["n_leaves"] == tree.get_n_leaves() == len(found["rules"])
    assert found["importances"] == dict(zip("abc", tree.feature_importances_.tolist()))
    assert next(iter(found["comparison"])) == f"fasttree {fasttree.__version__}"
    _, out, _ = run(["fit", *arguments, "--test-size", "0.4"], capsys)
    assert f"accuracy {found['scores']['accuracy']['held_out_rows']:>18.4g}"[:8] in out
    for label, row in zip(found["classes"], found["confusion_matrix"]["n_rows"]):
        assert re.search(rf"true {label} +{row[0]} +{row[1]}\n", out)


def test_scores_are_those_of_scikit_learn(table, tmp_path, capsys):
    """Accuracy, ROC area and confusion matrix, of the rows that are held out and the baseline."""
    path, model = table(by_size), str(tmp_path / "m.json")
    arguments = [path, "--target", "target", "--save", model, "--max-depth", "2", "--test-size"]
    found = fitted([*arguments, "0.5", "--random-state", "3"], capsys)
    from sklearn.model_selection import train_test_split

    rows = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
    X = np.column_stack([rows[name] for name in "abc"]).astype(object)
    X, X_test, y, y_test = train_test_split(X, rows["target"], test_size=0.5, random_state=3)
    tree = load(model)
    del tree.feature_names_in_
    shares = tree.predict_proba(X_test)[:, 1]
    score = found["scores"]
    assert score["accuracy"]["held_out_rows"] == tree.score(X_test, y_test)
    most = max(["large", "small"], key=y.tolist().count)
    assert score["accuracy"]["baseline"] == (y_test == most).mean()
    assert score["roc_area"]["held_out_rows"] == pytest.approx(roc_auc_score(y_test, shares))
    assert score["roc_area"]["training_rows"] == pytest.approx(
        roc_auc_score(y, tree.predict_proba(X)[:, 1])
    )
    matrix = confusion_matrix(y_test, tree.predict(X_test))
    assert found["confusion_matrix"]["n_rows"] == matrix.tolist()


def test_criteria_and_splits(table, capsys):
    path = table(by_size)
    found = fitted([path, "--target", "target", "--criterion", "chi2", "--compare"], capsys)
    assert found["comparison_note"] == "scikit-learn by gini."
    arguments = [path, "--target", "a", "--categorical-split", "subset", "--drop", "b", "c"]
    found = fitted([*arguments, "--criterion", "poisson"], capsys)
    assert found["task"] == "regression"


def test_weights(table, tmp_path, capsys):
    """Rows of weight zero do not count, and the column of weights is no feature."""
    path = table(by_size)
    lines = Path(path).read_text().splitlines()
    weighted = tmp_path / "weighted.csv"
    rows = [f"{line},{i % 2}" for i, line in enumerate(lines[1:])]
    weighted.write_text("\n".join([lines[0] + ",w", *rows]))
    half = tmp_path / "half.csv"
    half.write_text("\n".join([lines[0], *lines[2::2]]))
    options = ["--target", "target", "--test-size", "0", "--rules"]
    found = fitted([str(weighted), "--weight", "w", *options], capsys)
    expected = fitted([str(half), *options], capsys)
    assert found["rules"] == expected["rules"]
    code, _, err = run(["fit", str(weighted), "--weight", "target", "--target", "w"], capsys)
    assert code == 2
    assert "the column of weights 'target' holds 'large' in place of a number" in err


def test_class_weights(table, capsys):
    path = table(by_size)
    arguments = [path, "--target", "target", "--max-depth", "1", "--test-size", "0"]
    heavy = fitted([*arguments, "--class-weight", "large=1000"], capsys)
    (large, _), (small, _) = heavy["confusion_matrix"]["n_rows"]
    assert large == sum(heavy["confusion_matrix"]["n_rows"][0])
    assert small > 0
    assert fitted([*arguments, "--class-weight", "balanced"], capsys)["n_leaves"] == 2


def test_optimal_trees(table, capsys):
    arguments = [table(by_size), "--target", "target", "--optimal"]
    found = fitted([*arguments, "--time-limit", "60"], capsys)
    assert found["estimator"] == "OptimalDecisionTreeClassifier"
    assert found["search"]["is_optimal"] is True
    assert found["depth"] <= 3
    code, out, _ = run(["fit", *arguments, "--max-depth", "2"], capsys)
    assert code == 0
    assert "proven optimal" in out


def test_forests(table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "m.json.gz")
    arguments = [path, "--target", "target", "--forest", "--n-estimators", "7"]
    found = fitted([*arguments, "--compare", "--save", model], capsys)
    assert found["n_trees"] == 7
    assert found["scores"]["accuracy"]["held_out_rows"] > 0.5
    code, out, _ = run(["fit", *arguments], capsys)
    assert code == 0
    assert "RandomForestClassifier: 7 trees" in out
    assert "Importances:" in out
    code, out, _ = run(["show", model], capsys)
    assert code == 0
    assert out.startswith("RandomForestClassifier: 7 trees")
    code, _, err = run(["show", model, "--rules"], capsys)
    assert code == 2
    assert "--rules is for single trees" in err
    answers = run(["predict", model, path], capsys)[1].split()[1:]
    assert set(answers) == {"large", "small"}
    assert run(["describe", model, path], capsys)[0] == 0


def test_pages(table, tmp_path, capsys):
    path, model, page = table(by_size), str(tmp_path / "m.json"), tmp_path / "t.html"
    arguments = ["fit", path, "--target", "target", "--html", str(page), "--save", model]
    assert run(arguments, capsys)[0] == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    report = tmp_path / "report.html"
    assert run(["describe", model, path, "-o", str(report)], capsys) == (0, "", "")
    assert "<iframe" in report.read_text(encoding="utf-8")
    code, out, err = run(["describe", model, path], capsys)
    assert (code, err) == (0, "")
    assert out.startswith("target by m.json\n")
    assert "rows of table.csv" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "target", "--class-weight", "huge=2"], "names 'huge', but classes are"),
        (["--target", "target", "--class-weight", "large=x"], "does not end in a number"),
        (["--target", "target", "--class-weight", "even"], "class_weight"),
        (["--target", "a", "--task", "regression", "--class-weight", "balanced"],
         "--class-weight is not for DecisionTreeRegressor"),
        (["--target", "target", "--criterion", "poisson"], "regression needs numbers"),
        (["--target", "a", "--criterion", "gini", "--task", "regression"],
         "--criterion gini is not for regression"),
        (["--target", "target", "--optimal", "--criterion", "gini"], "is not for Optimal"),
        (["--target", "a", "--optimal", "--task", "regression"], "--optimal is for classes"),
        (["--target", "target", "--n-estimators", "5"], "is not for DecisionTreeClassifier"),
        (["--target", "target", "--forest", "--rules"], "--rules is for single trees"),
        (["--target", "target", "--forest", "--html", "t.html"], "--html is for single trees"),
        (["--target", "target", "--weight", "w"], "has no column 'w'; it has 'a', 'b', 'c'"),
        (["--target", "a", "--weight", "a"], "--target and --weight both name 'a'"),
        (["--target", "target", "--html", "none/t.html"], "none/t.html: No such file"),
    ],
)  # fmt: skip
def test_errors_of_options(arguments, message, table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(["fit", table(by_size), *arguments], capsys)
    assert (code, out) == (2, "")
    assert err.startswith("fasttree: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_errors_name_the_columns(tmp_path, capsys):
    path = tmp_path / "table.csv"
    rows = [f"{i},text {i},{i % 2}" for i in range(200)]
    path.write_text("a,note,y\n" + "\n".join(rows))
    _, _, err = run(["fit", str(path), "--target", "y"], capsys)
    assert err.startswith("fasttree: note: Column 'note' holds 160 distinct texts")
    path.write_text("a,b,y\n" + "\n".join(["1e999,x,1", "x,1,0", "2,y,1"] * 9))
    code, _, err = run(["fit", str(path), "--target", "y"], capsys)
    assert code == 2
    assert "column 'a'" in err
    path.write_text("b,y\n" + "\n".join(["x,1.5", "z,2.5", "u,3.5"] * 9))
    options = ["--criterion", "absolute_error", "--categorical-split", "subset"]
    _, _, err = run(["fit", str(path), "--target", "y", *options], capsys)
    assert err.endswith("use --categorical-split equality.\n")


# ---- what is done with models


def test_describe_must_know_the_target(table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "m.json")
    arguments = ["fit", path, "--target", "target", "--drop", "c", "--save", model]
    assert run(arguments, capsys)[0] == 0
    code, out, _ = run(["describe", model, path], capsys)
    assert code == 0
    assert "Confusion matrix" in out
    # A model of Python's that names no target.
    tree = load(model)
    del tree.target_name_
    save(tree, model)
    code, _, err = run(["describe", model, path], capsys)
    assert code == 2
    assert "must be said by --target; one of 'c', 'target'" in err
    assert run(["describe", model, path, "--target", "target"], capsys)[1] == out
    code, _, err = run(["describe", model, path, "--target", "c"], capsys)
    assert code == 2
    assert "but classes are 'large', 'small'" in err
    bare = tmp_path / "bare.csv"
    bare.write_text("a,b\n1,2\n")
    assert "none is left" in run(["describe", model, str(bare)], capsys)[2]


def test_describe_knows_the_missing_values_of_the_model(tmp_path, capsys):
    """A class may be called "NA" if that means nothing else."""
    path, model = str(tmp_path / "t.csv"), str(tmp_path / "m.json")
    Path(path).write_text("a,y\n" + "\n".join(f"{i},{['NA', 'x'][i % 2]}" for i in range(20)))
    arguments = ["fit", path, "--target", "y", "--test-size", "0"]
    assert "is missing in 10 of 20" in run(arguments, capsys)[2]
    assert run([*arguments, "--missing", "?", "--save", model], capsys)[0] == 0
    code, out, err = run(["describe", model, path], capsys)
    assert (code, err) == (0, "")
    assert re.search("accuracy +1 ", out)
    (tmp_path / "new.csv").write_text("a,y\n1,NA\n2,?\n")
    _, _, err = run(["describe", model, str(tmp_path / "new.csv")], capsys)
    assert "the target 'y' is missing in 1 of 2 rows" in err


def test_classes_that_were_all_held_out(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,u\n2,v\n")
    code, out, err = run(["fit", str(path), "--target", "y"], capsys)
    assert (code, err) == (0, "")
    assert out.split("Confusion matrix:\n")[1].split()[:2] == ["u", "v"]
    held_out = fitted([str(path), "--target", "y"], capsys)["confusion_matrix"]
    assert sorted(map(sum, held_out["n_rows"])) == [0, 1]


def test_models_of_several_outputs(tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor

    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [True, False, True, None]})
    frame["b"] = frame["b"].astype("boolean")
    labels = pd.DataFrame({"u": ["x", "y", "x", "y"], "v": ["1", "1", "2", "2"]})
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    frame.to_csv(path, index=False)
    tree = DecisionTreeClassifier().fit(frame, labels)
    save(tree, model)
    code, out, err = run(["predict", str(model), str(path), "--proba"], capsys)
    assert (code, err) == (0, "")
    lines = [line.split(",") for line in out.split("\n")]
    assert lines[0][:2] == ["prediction (0)", "prediction (1)"]
    assert lines[0][3] == "probability of y (0)"
    assert [line[:2] for line in lines[1:5]] == tree.predict(frame).astype(str).tolist()
    code, _, err = run(["describe", str(model), str(path), "--target", "a"], capsys)
    assert code == 2
    assert "m.json predicts several targets; describe takes one" in err
    save(DecisionTreeRegressor().fit(frame, [0.5, 1, 2, 3]), model)
    code, _, err = run(["predict", str(model), str(path), "--proba"], capsys)
    assert code == 2
    assert "--proba is for models of classes" in err
    save(DecisionTreeRegressor().fit([[1.0], [2.0]], [1, 2]), model)
    assert "does not name the columns" in run(["predict", str(model), str(path)], capsys)[2]


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
