"""A report is a list of small parts, each of which can be written as text and as HTML.

Parts hold plain values and know nothing of trees: any report can be put together from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path

__all__ = ["Bars", "Curves", "Frame", "Report", "Table", "Text"]

_PAGES, _TEXTS = (".html", ".htm"), ("", ".txt", ".md", ".rst")  # names that `save` takes
_WIDTH = 24  # characters of the longest bar of a text
_SIZE, _PAD = (360, 260), 34  # of a chart in pixels; its axes' labels


def _word(value):
    """A cell as text: numbers of four digits, large whole ones with separators."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True)
class Table:
    """A part of a report: rows of cells below a header.

    Attributes
    ----------
    title : str
        Title of the part.
    header : sequence of str
        Names of the columns; empty for none.
    rows : sequence of sequences of str, int or float
        The cells. The first column names the rows.
    note : str
        A sentence below the table.

    Examples
    --------
    >>> from fasttree.export import Table
    >>> print(Table("Size", ["", "leaves"], [["small", 4], ["large", 1024]]).to_text())
           leaves
    small       4
    large   1,024
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | int | float]]
    note: str = ""

    def to_text(self) -> str:
        """Return the table as lines with aligned columns."""
        cells = [list(map(_word, row)) for row in self.rows]
        lines = [list(self.header), *cells] if self.header else cells
        widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
        text = [
            "  ".join(
                [line[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(line[1:], widths[1:])]
            ).rstrip()
            for line in lines
        ]
        return "\n".join(text + [self.note] * bool(self.note))

    def to_html(self) -> str:
        """Return the table as HTML."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.header)
        body = "".join(
            f'<tr><th scope="row">{escape(_word(row[0]))}</th>'
            + "".join(f"<td>{escape(_word(cell))}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        )
        head = f"<thead><tr>{head}</tr></thead>" if head else ""
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f'<div class="wide"><table>{head}<tbody>{body}</tbody></table></div>{note}'


@dataclass(frozen=True)
class Text:
    """A part of a report: text that is shown as it is.

    Attributes
    ----------
    title : str
        Title of the part.
    text : str
        The lines.

    Examples
    --------
    >>> from fasttree.export import Text
    >>> Text("Remark", "Measured twice.").to_html()
    '<pre>Measured twice.</pre>'
    """

    title: str
    text: str

    def to_text(self) -> str:
        """Return the lines."""
        return self.text.rstrip("\n")

    def to_html(self) -> str:
        """Return the lines as a block of code."""
        return f"<pre>{escape(self.text)}</pre>"


@dataclass(frozen=True)
class Bars:
    """A part of a report: a bar chart.

    Attributes
    ----------
    title : str
        Title of the part.
    names : sequence of str
        What the bars stand for.
    values : sequence of float
        Their lengths, not negative.
    note : str
        A sentence below the bars.

    Examples
    --------
    >>> from fasttree.export import Bars
    >>> print(Bars("Accuracy", ["small", "large"], [0.5, 0.75]).to_text())
    small        0.5  ################
    large       0.75  ########################
    """

    title: str
    names: Sequence[str]
    values: Sequence[float]
    note: str = ""

    def to_text(self) -> str:
        """Return the bars as lines."""
        most, width = max(self.values) or 1, max(map(len, self.names))
        lines = [
            f"{name:<{width}}  {_word(value):>9}  {'#' * round(_WIDTH * value / most)}".rstrip()
            for name, value in zip(self.names, self.values)
        ]
        return "\n".join(lines + [self.note] * bool(self.note))

    def to_html(self) -> str:
        """Return the bars as a table."""
        most = max(self.values) or 1
        lines = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td>{_word(value)}</td>'
            f'<td class="bar"><i style="width:{100 * value / most:.1f}%"></i></td></tr>'
            for name, value in zip(self.names, self.values)
        )
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f'<div class="wide"><table class="bars">{lines}</table></div>{note}'


@dataclass(frozen=True)
class Curves:
    """A part of a report: a chart of curves.

    Attributes
    ----------
    title : str
        Title of the part.
    labels : tuple of (str, str)
        Labels of the two axes.
    curves : mapping of str to (sequence of float, sequence of float)
        The points of each curve by its name.
    limits : tuple of (float, float, float, float)
        Lowest and highest x, lowest and highest y.
    diagonal : bool
        Whether to draw the line of equal x and y.

    Examples
    --------
    >>> from fasttree.export import Curves
    >>> points = {"tree": ([0.0, 0.5, 1.0], [0.1, 0.4, 1.0])}
    >>> chart = Curves("Calibration", ("predicted", "observed"), points, diagonal=True)
    >>> chart.to_html().startswith("<svg")
    True
    """

    title: str
    labels: tuple[str, str]
    curves: dict[str, tuple[Sequence[float], Sequence[float]]]
    limits: tuple[float, float, float, float] = (0.0, 1.0, 0.0, 1.0)
    diagonal: bool = False

    def to_text(self) -> str:
        """Return nothing: a chart cannot be shown as text."""
        return ""

    def to_html(self) -> str:
        """Return the chart as SVG."""
        (width, height), pad = _SIZE, _PAD
        low_x, high_x, low_y, high_y = self.limits

        def at(x, y):
            share_x = (x - low_x) / ((high_x - low_x) or 1)
            share_y = (y - low_y) / ((high_y - low_y) or 1)
            left, top = pad + share_x * (width - pad - 8), 8 + (1 - share_y) * (height - pad - 8)
            return f"{left:.1f},{top:.1f}"

        lines = [
            f'<path class="axis" d="M{at(low_x, high_y)}L{at(low_x, low_y)}L{at(high_x, low_y)}"/>'
        ]
        if self.diagonal:
            lines.append(f'<path class="diagonal" d="M{at(low_x, low_y)}L{at(high_x, high_y)}"/>')
        for i, (x, y) in enumerate(self.curves.values()):
            points = "L".join(at(a, b) for a, b in zip(x, y))
            lines.append(f'<path class="curve c{i % 8}" d="M{points}"/>')
        texts = [
            (pad, height - 18, "start", _word(float(low_x))),
            (width - 8, height - 18, "end", _word(float(high_x))),
            (pad - 4, height - pad, "end", _word(float(low_y))),
            (pad - 4, 18, "end", _word(float(high_y))),
            ((width + pad) / 2, height - 4, "middle", self.labels[0]),
        ]
        lines += [
            f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
            for x, y, anchor, text in texts
        ]
        lines.append(
            f'<text transform="translate(10,{(height - pad) / 2}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.labels[1])}</text>'
        )
        legend = "".join(
            f'<li><i class="c{i % 8}"></i>{escape(name)}</li>' for i, name in enumerate(self.curves)
        )
        return (
            f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(self.title)}">'
            f'{"".join(lines)}</svg><ul class="legend">{legend}</ul>'
        )


@dataclass(frozen=True)
class Frame:
    """A part of a report: an HTML page in a frame, which text reports leave out.

    Attributes
    ----------
    title : str
        Title of the part.
    html : str
        A complete page.
    height : int
        Height in pixels.

    Examples
    --------
    >>> from fasttree.export import Frame, export_html
    >>> from fasttree.tree import DecisionTree
    >>> tree = DecisionTree().fit([[1], [2]], ["a", "b"])
    >>> Frame("The tree", export_html(tree), height=400).to_html().startswith("<iframe")
    True
    """

    title: str
    html: str
    height: int = 560

    def to_text(self) -> str:
        """Return nothing: a page cannot be shown as text."""
        return ""

    def to_html(self) -> str:
        """Return a frame: the page's styles and scripts are kept apart."""
        return (
            f'<iframe title="{escape(self.title)}" style="height:{int(self.height)}px" '
            f'sandbox="allow-scripts" srcdoc="{escape(self.html)}"></iframe>'
        )


class Report:
    """A report: parts in order, which can be written as text or as one HTML page.

    Parameters
    ----------
    title : str
        Title of the report.
    parts : list
        Parts such as :class:`Table`: whatever has a `title`, `to_text` and `to_html`.

    Examples
    --------
    >>> from fasttree.export import Bars, Report, Table
    >>> report = Report("Two trees", [
    ...     Table("Size", ["", "leaves"], [["small", 4], ["large", 1024]]),
    ...     Bars("Accuracy", ["small", "large"], [0.5, 0.75]),
    ... ])
    >>> print(report)
    Two trees
    =========
    <BLANKLINE>
    Size
    ----
           leaves
    small       4
    large   1,024
    <BLANKLINE>
    Accuracy
    --------
    small        0.5  ################
    large       0.75  ########################
    """

    def __init__(self, title: str, parts: list) -> None:
        self.title, self.parts = title, parts

    def __getitem__(self, title: str) -> Table | Text | Bars | Curves | Frame:
        for part in self.parts:
            if part.title == title:
                return part
        raise KeyError(title)

    def to_text(self) -> str:
        """Return the report as text.

        Returns
        -------
        str
            The titles and texts of the parts.
        """
        blocks = [f"{self.title}\n{'=' * len(self.title)}"]
        for part in self.parts:
            text = part.to_text()
            if text:
                blocks.append(f"{part.title}\n{'-' * len(part.title)}\n{text}")
        return "\n\n".join(blocks)

    def to_html(self) -> str:
        """Return the report as one HTML page that needs nothing else.

        Returns
        -------
        str
            The page.
        """
        folder = resources.files("fasttree.export") / "page"
        sections = "\n".join(
            f"<section><h2>{escape(part.title)}</h2>{part.to_html()}</section>"
            for part in self.parts
        )
        parts = {
            "title": escape(self.title),
            "style": (folder / "report.css").read_text(encoding="utf-8"),
            "sections": sections,
        }
        template = (folder / "report.html").read_text(encoding="utf-8")
        return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)

    def save(self, path: str | Path) -> None:
        """Write the report to a file, as HTML or as text.

        Parameters
        ----------
        path : str or Path
            Where to write. A name that ends in ``.html`` or ``.htm`` asks for a page, one in
            ``.txt``, ``.md`` or ``.rst`` or without a dot for text.

        Raises
        ------
        ValueError
            If the name ends in anything else.
        """
        suffix = Path(path).suffix.lower()
        is_page = suffix in _PAGES
        if not is_page and suffix not in _TEXTS:
            raise ValueError(
                f"A report is written as HTML or as text, not as {suffix!r}: give a name that ends "
                "in .html or .txt."
            )
        text = self.to_html() if is_page else self.to_text() + "\n"
        Path(path).write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {[part.title for part in self.parts]})"

    def _repr_html_(self):
        return (
            Frame(self.title, self.to_html(), 700)
            .to_html()
            .replace('style="', 'style="width:100%;border:1px solid #8884;border-radius:6px;', 1)
        )
