"""The page on other libraries: its code runs where they are installed."""

import re
import shutil
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "doc" / "user_guide" / "others.rst"
PACKAGES = {"SHAP": "shap", "ONNX": "onnxruntime", "skl2onnx": "skl2onnx", "treelite": "treelite",
            "dtreeviz": "dtreeviz", "skops": "skops.io", "MLflow": "mlflow"}  # fmt: skip


def sections():
    """The code of each section by its title; what comes before the first has the title None."""
    text = PAGE.read_text(encoding="utf-8").partition("====\n")[2]
    parts = re.split(r"^(.+)\n-+$", text, flags=re.MULTILINE)
    titles = [None, *parts[1::2]]
    block = r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)"
    return {
        title: "\n".join(line[3:] for code in re.findall(block, part) for line in code.splitlines())
        for title, part in zip(titles, parts[::2])
    }


def test_every_section_is_run():
    found = sections()
    assert set(found) == {None, "What was run", *PACKAGES}
    assert all(found[title] for title in PACKAGES)


@pytest.mark.parametrize("title", PACKAGES)
def test_code_of_the_page(title, tmp_path, monkeypatch, pyplot):
    pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        pytest.importorskip(PACKAGES[title], reason=f"{title} is not installed")
        if title == "dtreeviz" and shutil.which("dot") is None:
            pytest.skip("Graphviz is not installed")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path}/runs")
        code = sections()
        names = {}
        exec(compile(code[None], str(PAGE), "exec"), names)
        exec(compile(code[title], str(PAGE), "exec"), names)
