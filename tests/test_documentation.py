"""What the documentation shows works as shown."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "doc" / "quick_start.rst", *sorted((ROOT / "doc" / "user_guide").glob("*.rst"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_the_guides(page):
    failed, _ = doctest.testfile(
        str(page),
        module_relative=False,
        encoding="utf-8",
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert failed == 0


def test_example_of_the_readme(capsys):
    readme = (ROOT / "README.rst").read_text(encoding="utf-8")
    block = re.search(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", readme).group(1)
    code = "\n".join(line[3:] for line in block.splitlines())
    assert code.startswith("from fasttree.tree import DecisionTree")
    exec(compile(code, "README.rst", "exec"), {})
    assert "accuracy 0." in capsys.readouterr().out
