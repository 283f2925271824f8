"""A Sphinx extension that draws the charts of the benchmark page from its CSV files.

``.. chart:: NAME`` shows one, light or dark as the page is. Nothing is measured here.
"""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes
from docutils.parsers.rst import Directive, directives

FOLDER = Path(__file__).parent / "benchmarks"
DRAWN = FOLDER / "charts"  # generated
SCHEMES = {"light": "#1b2430", "dark": "#e4e8ee"}
OURS, THEIRS, OTHER = "#3b7dd8", "#e08a1e", "#2a9d6f"


def read(name):
    """The rows of a CSV file: a name and numbers."""
    with open(FOLDER / f"{name}.csv", newline="") as file:
        return [(row[0], *map(float, row[1:])) for row in csv.reader(file)]


def draw_ratios():
    """Time of scikit-learn over that of fasttree, all cases of one thread."""
    names = ("dense", "tables", "criteria", "max_features", "sparse_text", "small", "predict")
    cases = {row[0]: row[3] for name in names for row in read(name) if "two threads" not in row[0]}
    return _bars(cases, "times faster than scikit-learn (1 is equal)")


def draw_losses():
    """The cases where little or nothing is gained over scikit-learn: the lowest ratios of times on
    one thread, and of peak memory."""
    cases = {}
    speeds = ["dense", "tables", "criteria", "max_features", "small", "outputs"]
    for name in [*speeds, "random", "forests", "memory"]:
        cases |= {row[0]: row[3] for row in read(name)}
    lowest = sorted(cases, key=cases.get)[:10]
    return _bars({name: cases[name] for name in lowest}, "ratio (below 1 is worse)", log=False)


def _bars(cases, label, log=True):
    names = sorted(cases, key=cases.get)
    figure, ax = plt.subplots(figsize=(8, 0.6 + 0.27 * len(names)), layout="constrained")
    values = [cases[name] for name in names]
    bars = ax.barh(names, values, color=[OURS if value >= 1 else THEIRS for value in values])
    ax.bar_label(bars, fmt="%.3g", padding=3, fontsize=9)
    if log:
        ax.set_xscale("log")
        ax.set_xlim(left=0.9, right=1.4 * max(values))
        ax.xaxis.set_major_formatter("{x:g}")
    else:
        ax.set_xlim(right=1.1 * max(values))
    ax.margins(y=0.02)
    ax.axvline(1, color="gray", lw=1)
    ax.set_xlabel(label)
    return figure


def draw_growth():
    """Time against rows, both libraries."""
    rows = read("growth")
    sizes = [int(name.split(",", 1)[1].removesuffix(" rows").replace(",", "")) for name, *_ in rows]
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    ax.loglog(sizes, [row[1] for row in rows], "o-", color=THEIRS, label="scikit-learn")
    ax.loglog(sizes, [row[2] for row in rows], "o-", color=OURS, label="fasttree")
    ax.set(xlabel="rows", ylabel="time of a fit, s")
    ax.legend()
    return figure


def draw_sparse():
    """Time against depth on adult with a column per category, sparse and dense."""
    rows = read("sparse_figure4")
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    depths = [row[0] for row in rows]
    for column, (label, color, style) in enumerate(
        [
            ("fasttree, sparse", OURS, "o-"),
            ("fasttree, dense", OURS, "o--"),
            ("scikit-learn, sparse", THEIRS, "o-"),
            ("scikit-learn, dense", THEIRS, "o--"),
        ],
        start=1,
    ):
        ax.semilogy(depths, [row[column] for row in rows], style, color=color, label=label)
    ax.set(xlabel="max_depth", ylabel="time of a fit, ms")
    ax.legend()
    return figure


def draw_labels():
    """Tables with categories: as they are, and behind encoders."""
    rows = read("labels")
    ways = list(dict.fromkeys(row[0].split(", ")[1] for row in rows))
    tables = list(dict.fromkeys(row[0].split(", ")[0] for row in rows))
    times = {tuple(row[0].split(", ")): row[1] for row in rows}
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    width = 0.8 / len(ways)
    for i, (way, color) in enumerate(zip(ways, (OURS, THEIRS, OTHER, "#8b6fd0"))):
        shown = [j for j, table in enumerate(tables) if (table, way) in times]
        heights = [times[tables[j], way] for j in shown]
        ax.bar([j + i * width for j in shown], heights, width, color=color, label=way)
    ax.set_yscale("log")
    ax.set_xticks([j + 1.5 * width for j in range(len(tables))], tables)
    ax.set_ylabel("time of encoding and fit, ms")
    ax.legend()
    return figure


CHARTS = {
    "ratios": draw_ratios,
    "losses": draw_losses,
    "growth": draw_growth,
    "sparse": draw_sparse,
    "labels": draw_labels,
}


def draw_all(app):
    """Draw every chart in both schemes."""
    DRAWN.mkdir(exist_ok=True)
    for scheme, color in SCHEMES.items():
        names = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
        style = dict.fromkeys(names, color) | {"axes.facecolor": "none", "legend.frameon": False}
        with plt.rc_context({**style, "svg.hashsalt": "fasttree"}):
            for name, draw in CHARTS.items():
                figure = draw()
                path = DRAWN / f"{name}_{scheme}.svg"
                figure.savefig(path, transparent=True, metadata={"Date": None})
                plt.close(figure)


class Chart(Directive):
    """``.. chart:: NAME`` with an ``:alt:`` text."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}

    def run(self):
        name = self.arguments[0]
        if name not in CHARTS or "alt" not in self.options:
            raise self.error("a chart needs a name that charts.py knows, and an alt text")
        return [
            nodes.image(
                uri=f"benchmarks/charts/{name}_{scheme}.svg",
                alt=self.options["alt"],
                classes=[f"only-{scheme}"],
            )
            for scheme in SCHEMES
        ]


def setup(app):
    app.add_directive("chart", Chart)
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True}
