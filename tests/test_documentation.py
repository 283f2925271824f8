"""What the documentation shows works as shown."""

import doctest
import importlib
import inspect
import pydoc
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
API = sorted((ROOT / "doc" / "api").glob("*.rst"))
PAGES = [ROOT / "doc" / "quick_start.rst", *sorted((ROOT / "doc" / "user_guide").glob("*.rst"))]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def listed():
    """The full names of what the API pages list."""
    for page in API:
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule::"):
                module = line.split()[-1]
            elif module and (entry := re.fullmatch(r"   ~?([\w.]+)", line)):
                yield f"{module}.{entry[1]}"


def docstrings():
    """The docstrings of what is listed and of its methods, each once, by name."""
    texts = {}
    for name in listed():
        found = pydoc.locate(name)
        texts.setdefault(inspect.getdoc(found), name)
        for member, method in inspect.getmembers(found, inspect.isroutine):
            is_ours = (getattr(method, "__module__", None) or "").startswith("fasttree")
            if inspect.isclass(found) and is_ours and not member.startswith("_"):
                texts.setdefault(inspect.getdoc(method), f"{name}.{member}")
    return {name: text for text, name in texts.items()}


DOCSTRINGS = docstrings()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Examples write their files into a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_the_guides(page):
    failed, _ = doctest.testfile(
        str(page), module_relative=False, encoding="utf-8", optionflags=OPTIONS
    )
    assert failed == 0


@pytest.mark.parametrize("module", ["", ".datasets", ".ensemble", ".export", ".model_selection",
                                    ".optimal", ".tree"])  # fmt: skip
def test_all_that_is_public_is_listed(module):
    public = importlib.import_module(f"fasttree{module}").__all__
    names = {name.rpartition(".")[2] for name in listed()}
    assert set(public) - names <= {"BaseDecisionTree", "__version__"}


@pytest.mark.parametrize("name", sorted(set(listed())))
def test_all_that_is_listed_has_an_example(name):
    assert "\nExamples\n--------\n" in inspect.getdoc(pydoc.locate(name))


@pytest.mark.parametrize("name", [name for name, text in DOCSTRINGS.items() if ">>>" in text])
def test_examples_of_docstrings(name, pyplot):
    if name.endswith("to_onnx"):
        pytest.importorskip("onnx")
    test = doctest.DocTestParser().get_doctest(DOCSTRINGS[name], {}, name, None, None)
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0


def run_first_block(path):
    """Run the first block of Python code of a page."""
    text = path.read_text(encoding="utf-8")
    block = re.search(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text).group(1)
    code = "\n".join(line[3:] for line in block.splitlines())
    exec(compile(code, path.name, "exec"), {})


def test_example_of_the_readme(capsys):
    run_first_block(ROOT / "README.rst")
    assert "accuracy 0." in capsys.readouterr().out


@pytest.mark.parametrize("package", ["lightgbm", "pystreed", "ydf"])
def test_trees_of_other_libraries(package):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        pytest.importorskip(package, reason=f"{package} is not installed")
        run_first_block(ROOT / "doc" / "coming_from" / f"{package}.rst")
