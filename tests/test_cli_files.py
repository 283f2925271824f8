"""What the command reads: every kind of file, and which cells are missing."""

import bz2
import gzip
import io
import json
import lzma
import re
import sys
import zipfile

import pytest

from command import run
from fasttree.export import load

# ---- kinds of files

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


@pytest.mark.parametrize("labels", [(2**60, 2**60 + 1), (10**25, 10**25 + 1)])
def test_long_integers_are_told_apart(labels, tmp_path, capsys):
    path, model = str(tmp_path / "ids.csv"), str(tmp_path / "ids.json")
    rows = [f"{i},{labels[i > 9]}" for i in range(20)]
    (tmp_path / "ids.csv").write_text("\n".join(["a,t", *rows]))
    code, out, _ = run(["fit", path, "--target", "t", "--save", model], capsys)
    assert code == 0
    assert "2 classes" in out
    assert run(["predict", model, path], capsys)[1].split()[1:] == [
        row.split(",")[1] for row in rows
    ]
