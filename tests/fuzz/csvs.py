"""CSV files, sound and damaged, for the reader and for the command."""

import bz2
import contextlib
import gzip
import io
import lzma
import tempfile
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fasttree._csv import read_csv, to_numbers
from fasttree.cli import main
from fuzz.draws import Draw, Finding, check_error

__all__ = ["draw_csv"]

_CELLS = [
    "1", "2", "-3.5", "1e3", "1e400", "-1e-400", "nan", "NA", "", "inf", "0x1", "1_0", "a", "b",
    "\u00e9", '"quoted"', '"a,b"', '"a\nb"', '"', "'", " 7 ", "\t", "1,5", "=1+1", "9" * 400, "\0",
    "True", "NaN", "long " * 20, "\U0001f333", "1e", ".", "+.5", "\u0661",
]  # fmt: skip
_NAMES = ["a", "b", "c", "y", "", " ", "a ", "\u00e9", '"q"', "y,y", "1", "-"]
_ENDS = ["\n", "\r\n", "\r", "\n\n"]
_COMPRESS = {".csv": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
_ARGUMENTS = {
    "--max-depth": ["1", "3", "0", "-1", "1e30", "1" + "0" * 30, "9" * 5000, "nan", "a", ""],
    "--max-leaf-nodes": ["2", "1", "1" + "0" * 30, "x"],
    "--min-samples-leaf": ["1", "5", "0", "1" + "0" * 30, "0.5"],
    "--test-size": ["0.2", "0.9", "0", "1", "1e-300", "nan", "inf", "-1", "a", "1e400"],
    "--random-state": ["0", "4294967295", "4294967296", "-1", "1" + "0" * 30],
    "--task": ["auto", "classification", "regression", "both"],
    "--n-jobs": ["1", "2", "0", "-1", "1" + "0" * 30],
    "--criterion": ["gini", "chi2", "squared_error", "absolute_error", "none"],
    "--class-weight": ["balanced", "0=2", "x=-1", "y", "="],
    "--categorical-split": ["equality", "subset"],
    "--weight": ["c0", "c1", "no such column"],
    "--drop": ["c0", "c1", "no such column"],
    "--missing": ["a", "1", ""],
    "--delimiter": [",", ";", "tab", "x", "ab"],
    "--n-estimators": ["3", "0"],
}
_FLAGS = ["--tune", "--forest", "--optimal", "--compare", "--json", "--rules", "--verbose"]


def draw_csv(seed, without=frozenset()):
    """Draw a file, and arguments of the command for some."""
    draw = Draw(seed, without)
    n_columns, n_rows = draw.int(1, 6), draw.one([0, 1, 2, 5, 30, 80])
    delimiter = draw.one([",", ",", ";", "\t", "|"])
    names = [f"c{j}" for j in range(n_columns)]
    if draw.chance(0.2):
        names[draw.int(0, n_columns - 1)] = draw.one(_NAMES)
    rows = [names]
    columns = [_draw_column(draw, n_rows) for _ in range(n_columns)]
    rows += [list(row) for row in zip(*columns)]
    if draw.chance(0.1):
        draw.one(rows).append("1")
    raw = draw.one(_ENDS).join(delimiter.join(row) for row in rows).encode("utf-8")
    if draw.chance(0.5):
        raw += b"\n"
    if draw.chance(0.1):
        raw = b"\xef\xbb\xbf" + raw
    if raw and draw.chance(0.3):
        damaged = bytearray(raw)
        for _ in range(draw.int(1, 5)):
            damaged[draw.int(0, len(raw) - 1)] = draw.one([0, 10, 13, 34, 44, 59, 200, 255])
        raw = bytes(damaged)
    suffix = draw.one([".csv"] * 6 + list(_COMPRESS))
    raw = _COMPRESS[suffix](raw)
    if suffix != ".csv" and draw.chance(0.3):
        raw = raw[: draw.int(0, len(raw))] + draw.one([b"", b"\0\1"])
    arguments = None
    if draw.chance(0.15):
        arguments = ["--target", draw.one([names[-1], names[0], "no such column", ""])]
        for name, values in _ARGUMENTS.items():
            if draw.chance(0.05):
                arguments.append(f"{name}={draw.one(values)}")
        arguments += [flag for flag in _FLAGS if draw.chance(0.1)]
    return File(raw, suffix, arguments)


def _draw_column(draw, n_rows):
    if draw.chance(0.5):
        column = draw.rng.integers(0, draw.one([2, 3, 50]), n_rows).astype(str).tolist()
    else:
        column = [draw.one(["x", "y", "z"]) for _ in range(n_rows)]
    if column and draw.chance(0.15):
        column[draw.int(0, n_rows - 1)] = draw.one(_CELLS)
    return column


@dataclass
class File:
    """A file, and what follows its name on the command line, if it is read by the command."""

    raw: bytes
    suffix: str
    arguments: list | None
    outcomes: dict = field(default_factory=dict)

    def check(self):
        """Raise a Finding if reading it, or the command, does what it must not."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table{self.suffix}"
            path.write_bytes(self.raw)
            if self.arguments is None:
                self._read(path)
            else:
                self._command(path)
        return 1

    def _read(self, path):
        try:
            columns = read_csv(path)
        except OSError:
            self.outcomes["OSError"] = 1
            return
        except Exception as error:
            check_error(error, "read_csv")
            if "Error" not in type(error).__name__ or str(path) not in str(error):
                raise Finding(f"read_csv does not name the file: {error!r}") from error
            self.outcomes[type(error).__name__] = 1
            return
        self.outcomes["read"] = 1
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1 or 0 in lengths:
            raise Finding(f"columns of lengths {lengths}")
        for column in columns.values():
            with contextlib.suppress(ValueError):
                if len(to_numbers(column)) != len(column):
                    raise Finding("not every cell has become a number")

    def _command(self, path):
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            try:
                status = main(["fit", str(path), *self.arguments])
            except SystemExit as end:
                status = end.code
            except Exception as error:
                raise Finding(f"the command raises {type(error).__name__}: {error}") from error
        self.outcomes[f"exit status {status}"] = 1
        if status == 0 and out.getvalue():
            return
        last = err.getvalue().strip().splitlines()[-1:]
        if status != 2 or not last or ": error:" not in last[0]:
            raise Finding(f"exit status {status} with {last}")

    def smaller(self):
        lines = self.raw.splitlines(keepends=True)
        if self.suffix == ".csv":
            for i in range(len(lines)):
                yield replace(self, raw=b"".join(lines[:i] + lines[i + 1 :]))
        for i in range(2, len(self.arguments or ())):
            yield replace(self, arguments=self.arguments[:i] + self.arguments[i + 1 :])

    def script(self, finding):
        lines = ["from pathlib import Path", f"path = Path('table{self.suffix}')"]
        lines.append(f"path.write_bytes({self.raw!r})")
        if self.arguments is None:
            lines += ["from fasttree._csv import read_csv", "read_csv(path)"]
        else:
            lines += [
                "from fasttree.cli import main",
                f"main(['fit', str(path), *{self.arguments}])",
            ]
        return "\n".join(lines)
