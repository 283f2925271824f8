"""Reading CSV files as columns."""

import gzip
import lzma

import numpy as np
import pytest

from fasttree._csv import CSVError, read_csv, to_numbers


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write_file


def test_columns_in_file_order(write):
    path = write('b,a\n1,x\n\n 2 ,"y, z"\n')
    assert read_csv(path) == {"b": ["1", "2"], "a": ["x", "y, z"]}
    assert list(read_csv(path)) == ["b", "a"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(write, delimiter):
    path = write(delimiter.join("abc") + "\n" + delimiter.join("123") + "\n")
    assert read_csv(path) == {"a": ["1"], "b": ["2"], "c": ["3"]}


def test_quotes_in_the_header(write):
    """They may hold delimiters and line ends, which separate nothing there."""
    path = write('"a;b;c","two\nlines" ,"say ""x"""\n1,2,3\n')
    assert read_csv(path) == {"a;b;c": ["1"], "two\nlines": ["2"], 'say "x"': ["3"]}
    assert list(read_csv(write('"a,b";c\n1;2\n'))) == ["a,b", "c"]


def test_byte_order_mark_and_windows_line_ends(write):
    path = write("a,b\r\n1,2\r\n", encoding="utf-8-sig")
    assert read_csv(path) == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".xz", lzma)])
def test_compressed(tmp_path, suffix, module):
    path = tmp_path / f"table.csv{suffix}"
    path.write_bytes(module.compress(b"a,b\n1,2\n"))
    assert read_csv(path) == {"a": ["1"], "b": ["2"]}


def test_more_rows_than_one_block(write):
    n_rows = 40_000
    path = write("i\n" + "\n".join(map(str, range(n_rows))))
    np.testing.assert_array_equal(to_numbers(read_csv(path)["i"]), np.arange(n_rows))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b,a\n1,2,3\n", "more than one column named 'a'"),
        ("a,b\n1,2\n1,2,3\n", "2 columns but a row of 3 cells, 2 rows below the header"),
        ("a,b\n1\n", "2 columns but a row of 1 cells, 1 rows below the header"),
    ],
)
def test_not_a_table(write, text, message):
    with pytest.raises(CSVError, match=message):
        read_csv(write(text))


def test_not_text(write):
    path = write("a,b\n1,é\n", encoding="latin-1")
    with pytest.raises(CSVError, match="is not UTF-8 text"):
        read_csv(path)


def test_damaged_archive(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:-20])
    with pytest.raises(CSVError, match="cannot be read"):
        read_csv(path)


def test_numbers():
    values = to_numbers(["1", "-2.5", "+.5", "3.", "1e3", "2E-1", "", "NA", "NaN"])
    np.testing.assert_array_equal(values, [1, -2.5, 0.5, 3, 1000, 0.2, np.nan, np.nan, np.nan])
    assert values.dtype == np.float64


@pytest.mark.parametrize("label", ["x", "?", "inf", "0x1F", "1_000", "1,5", "--1", "\u0661", "e5"])
def test_labels_are_not_numbers(label):
    with pytest.raises(ValueError, match="^" + label.replace("?", r"\?") + "$"):
        to_numbers(["1", label])


def test_wide_header(write):
    """The check of names does not compare each with each: that would take minutes here."""
    n = 100_000
    path = write(",".join(f"c{j}" for j in range(n)) + "\n" + ",".join("1" * n) + "\n")
    assert len(read_csv(path)) == n
