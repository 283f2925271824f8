"""The command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import fasttree
from fasttree._csv import MISSING
from fasttree.cli._estimators import CRITERIA
from fasttree.cli._fit import fit
from fasttree.cli._models import describe, predict, show
from fasttree.cli._table import load_demo, load_file

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["parse"]

_DATA = """\
DATA is a table with a header line: CSV of any delimiter, also compressed by gzip, bzip2, xz or
zip, a Parquet or an Arrow file; - is the standard input. Columns may hold numbers, categories or
both."""


class Parser(argparse.ArgumentParser):
    """Its errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"fasttree: error: {message}; see {self.prog} --help\n")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options; `run` is the function of the command."""
    parser = Parser(prog="fasttree", description=fasttree.__doc__)
    parser.add_argument("--version", action="version", version=fasttree.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="fit a tree on the bundled wine quality table")
    demo.set_defaults(run=fit, load=load_demo, compare=True, task="auto")

    own = commands.add_parser("fit", help="fit a tree or a forest on a file")
    own.epilog = f"{_DATA} Missing are empty cells and {', '.join(MISSING)}."
    own.set_defaults(run=fit, load=load_file)
    _add_data(own)
    _add_columns(own)
    own.add_argument("--compare", action="store_true", help="fit scikit-learn's estimator too")

    for command in (demo, own):
        _add_kinds(command)
        _add_limits(command)
        _add_outputs(command)
    _add_readers_of_models(commands)
    return parser.parse_args(arguments)


def _add_data(command):
    command.add_argument("file", metavar="DATA", help="a table, see below; - for standard input")
    command.add_argument(
        "--delimiter", type=_delimiter, metavar="CHAR", help="of a CSV file; else it is found"
    )


def _add_columns(command):
    """What the columns are."""
    command.add_argument("--target", required=True, metavar="COL", help="column to predict")
    command.add_argument("--task", default="auto", choices=["auto", "classification", "regression"])
    command.add_argument("--weight", metavar="COL", help="column of weights of the rows in the fit")
    command.add_argument(
        "--drop", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out"
    )
    command.add_argument(
        "--missing", nargs="+", metavar="TEXT", help="missing values, in place of those below"
    )


def _add_kinds(command):
    """What is grown."""
    kind = command.add_mutually_exclusive_group()
    kind.add_argument(
        "--tune",
        action="store_true",
        help="choose max_depth and min_samples_split by cross-validation",
    )
    for name, help in (
        ("optimal", "the tree with the least training error of its depth, 3 unless --max-depth"),
        ("forest", "a random forest in place of a tree"),
    ):
        kind.add_argument(
            f"--{name}", action="store_const", dest="kind", const=name, default="tree", help=help
        )
    command.add_argument("--n-estimators", type=_limit, metavar="N", help="trees of --forest")
    command.add_argument("--time-limit", type=float, metavar="SECONDS", help="of --optimal")
    command.add_argument(
        "--criterion", choices=sorted({name for names in CRITERIA.values() for name in names})
    )
    command.add_argument(
        "--class-weight", nargs="+", metavar="CLASS=WEIGHT", help="or one word: balanced"
    )
    command.add_argument("--categorical-split", choices=["equality", "subset"])


def _add_limits(command):
    command.add_argument(
        "--test-size", type=float, default=0.2, metavar="SHARE", help="rows to hold out; 0 for none"
    )
    command.add_argument("--random-state", type=int, default=0, metavar="SEED", help="of draws")
    command.add_argument("--max-depth", type=_limit, metavar="N")
    command.add_argument("--max-leaf-nodes", type=_limit, metavar="N")
    command.add_argument("--min-samples-leaf", type=_limit, metavar="N")
    command.add_argument("--n-jobs", type=int, metavar="N", help="threads, -1 for all")


def _add_outputs(command):
    command.add_argument("--save", metavar="M.json", help="where to save it; .json.gz is smaller")
    command.add_argument("--html", metavar="T.html", help="where to write the tree as a page")
    command.add_argument("--rules", action="store_true", help="print the tree as rules")
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    _add_verbose(command)


def _add_verbose(command):
    command.add_argument(
        "--verbose", action="store_true", help="say what is done even if stderr is no terminal"
    )


def _add_readers_of_models(commands):
    """The commands that read what `fit` saved."""
    data = f"{_DATA} Missing is what the model was told; --help of fit lists it."
    predict_ = commands.add_parser("predict", help="predict the rows of a file", epilog=data)
    predict_.set_defaults(run=predict)
    show_ = commands.add_parser("show", help="print a saved tree or forest")
    show_.set_defaults(run=show)
    describe_ = commands.add_parser(
        "describe", help="say how good a saved model is on a file", epilog=data
    )
    describe_.set_defaults(run=describe)
    for command in (predict_, show_, describe_):
        command.add_argument("model", metavar="M.json", help="what fit --save wrote")
        _add_verbose(command)
    for command in (predict_, describe_):
        _add_data(command)

    predict_.add_argument("-o", "--output", metavar="OUT.csv", help="where to write; else printed")
    predict_.add_argument("--proba", action="store_true", help="write probabilities of classes too")
    show_.add_argument("--max-depth", type=_limit, default=10, metavar="N")
    show_.add_argument("--rules", action="store_true", help="print it as rules")
    describe_.add_argument("--target", metavar="COL", help="if the model does not name it")
    describe_.add_argument(
        "-o",
        "--output",
        metavar="OUT.html",
        help="where to write a page, or a text; else printed",
    )


def _limit(text: str) -> int:
    """An int; beyond any number of rows, one that scikit-learn's trees can take."""
    return min(int(text), 2**31 - 1)


_limit.__name__ = "int"  # as argparse calls it in its messages


def _delimiter(text: str) -> str:
    """One character, or its name."""
    character = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if len(character) != 1 or character in '"\r\n':
        raise ValueError(text)
    return character


_delimiter.__name__ = "delimiter"
