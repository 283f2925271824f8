"""The HTML page of a tree: what it holds, and what it does in a browser."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from browser import Browser, find_chromium
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier

from fasttree.datasets import load_wine_quality
from fasttree.export import export_html, show
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    export_text,
)

NASTY = "</script><script>alert(1)</script> & {{script}} \"'\u2028"


def content_of(page):
    """The content of a page, as the page reads it."""
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    return json.loads(found[1])


@pytest.fixture(scope="module")
def mixed():
    """A table with every kind of column, and classes."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) * 1e-3,
            "count": rng.integers(0, 50, n).astype(float),
            "color": rng.choice(["red", "green", "blue", "None", " "], n),
            "grade": rng.choice(["1", "2.5", "1e1", "poor", "n.a."], n),
            "is_new": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "color"] = None
    y = rng.choice(["a", "b", NASTY], n)
    return frame, y


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium is installed: set FASTTREE_CHROMIUM, or install chromium")
    browser = Browser(path, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def quiet(browser):
    """The browser; fails if a page complained or asked for anything from elsewhere."""
    browser.requests.clear()
    browser.complaints.clear()
    yield browser
    assert browser.requests == []
    assert browser.complaints == []


# ---- what the file holds


def test_histograms_count_the_rows_of_every_node(mixed):
    X, y = mixed
    tree = DecisionTreeClassifier(random_state=0, max_depth=6).fit(X, y)
    content = content_of(export_html(tree, X, y))
    path = tree.decision_path(X).toarray().astype(bool)
    codes = np.searchsorted(tree.classes_, y)
    for node in np.flatnonzero(tree.tree_.children_left >= 0):
        found, rows = content["histogram"][node], path[:, node]
        is_left = path[:, tree.tree_.children_left[node]][rows]
        flats = found[4:] if isinstance(found[0], float | int) else found[2:]
        counts = np.zeros(3, dtype=int)
        for flat in flats:
            np.add.at(counts, np.array(flat[::2], dtype=int) % 3, flat[1::2])
        np.testing.assert_array_equal(counts, np.bincount(codes[rows], minlength=3))
        if isinstance(found[0], float | int):
            bars = np.array(found[4][::2], dtype=int) // 3
            left = sum(n for bar, n in zip(bars, found[4][1::2]) if bar < found[2])
            left += sum(found[5][1::2]) * content["missing_left"][node]
        else:
            sides = np.array(found[1])[np.array(found[2][::2], dtype=int) // 3]
            left = (sides * found[2][1::2]).sum()
        assert left == is_left.sum()


def test_questions_are_those_of_the_text(mixed):
    X, y = mixed
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    content = content_of(export_html(tree))
    assert {column["name"] for column in content["columns"]} == set(X.columns)
    kinds = {column["name"]: column["kind"] for column in content["columns"]}
    assert kinds["size"] == kinds["count"] == "number"
    assert kinds["grade"] == "mixed"
    assert kinds["is_new"] == "category"
    text = export_text(tree, max_depth=100, decimals=9)
    for node, (left, column) in enumerate(zip(content["left"], content["feature"])):
        words = content["yes"][node]
        assert bool(words) == (left > 0)
        if words and "≤" not in words:
            assert f"{content['columns'][column]['name']} {words}\n" in text
    assert "histogram" not in content


def test_regression_shows_the_target():
    X, y = load_wine_quality(return_X_y=True)
    y = y + X[:, 10]
    tree = DecisionTreeRegressor(max_depth=4).fit(X, y)
    content = content_of(export_html(tree, X, y))
    for node, rows in enumerate(content["rows"]):
        assert sum(content["target"][node][1::2]) == rows
    np.testing.assert_allclose(np.ravel(content["value"]), tree.tree_.value.ravel(), rtol=1e-5)


def test_several_outputs():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier().fit(X, np.column_stack([y, y > 0]))
    content = content_of(export_html(tree, X, np.column_stack([y, y > 0])))
    assert [len(names) for names in content["outputs"]] == [3, 2]
    tree = DecisionTreeRegressor().fit(X, np.column_stack([y, -y]))
    assert content_of(export_html(tree))["outputs"] == [None, None]


def test_no_row_unless_asked_for(mixed):
    X, y = mixed
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert content_of(export_html(tree, X, y))["given_rows"] == []
    rows = content_of(export_html(tree, X, y, n_rows=3))["given_rows"]
    assert len(rows) == 3
    assert {len(row) for row in rows} == {X.shape[1]}


def test_where_it_is_written(tmp_path, mixed):
    X, y = mixed
    tree = DecisionTree(max_depth=2).fit(X, y)
    text = export_html(tree)
    out = io.StringIO()
    assert export_html(tree, out_file=out) is None
    assert export_html(tree, out_file=str(tmp_path / "tree.html")) is None
    assert out.getvalue() == (tmp_path / "tree.html").read_text(encoding="utf-8") == text


def test_names_and_errors():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    content = content_of(export_html(tree, feature_names=list("abcd"), class_names=["k", "l", "m"]))
    assert content["outputs"] == [["k", "l", "m"]]
    with pytest.raises(ValueError, match="feature_names must contain 4 elements, got 2"):
        export_html(tree, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="class_names must name 3 classes, got 1"):
        export_html(tree, class_names=["a"])
    with pytest.raises(ValueError, match="X is None"):
        export_html(tree, y=y)
    with pytest.raises(ValueError, match="X is None"):
        export_html(tree, n_rows=1)
    for name in ("n_rows", "max_labels"):
        for value in (-5, 2.5, None):
            with pytest.raises(ValueError, match=f"{name} must be a whole number"):
                export_html(tree, X, **{name: value})
    with pytest.raises(ValueError, match="labels that the classifier does not know"):
        export_html(tree, X, y + 1)
    with pytest.raises(TypeError, match="BaggingClassifier is no single tree"):
        export_html(BaggingClassifier().fit(X, y))
    with pytest.raises(ValueError, match="X has 150 rows and y 149"):
        export_html(tree, X, y[1:])


def test_notebooks_show_a_frame():
    X, y = load_iris(return_X_y=True)
    frame = show(DecisionTree().fit(X, y), X, y, height=400)._repr_html_()
    assert frame.startswith("<iframe")
    assert "height:400px" in frame
    assert frame.count("<") == 2  # the page is inside an attribute


# ---- what it does


def lit_path(browser):
    """Ids of the nodes whose path is lit, from the root."""
    script = "[...document.querySelectorAll('.node.on')].map((n) => +n.dataset.node)"
    return sorted(browser.run(script))


def expected_path(tree, X, i):
    return sorted(tree.decision_path(X)[[i]].indices.tolist())


def test_open_click_search_keys(quiet, tmp_path):
    wine = load_wine_quality(as_frame=True)
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(wine.data, wine.target)
    page = tmp_path / "tree.html"
    export_html(tree, wine.data, wine.target, out_file=str(page), title=NASTY)
    quiet.open(page)
    assert quiet.run("document.title").startswith("</script><script>alert(1)")
    assert quiet.run("document.querySelectorAll('script').length") == 2
    assert quiet.run("document.querySelectorAll('.node').length") == 15
    right = int(tree.tree_.children_right[0])
    quiet.click(f"#node-{right}")
    assert quiet.run("document.querySelectorAll('.node').length") == 9
    assert f"#{right}, inner" in quiet.run("document.getElementById('panel-node').textContent")
    before = quiet.run("document.getElementById('view').getAttribute('transform')")
    quiet.drag((300, 600), (360, 640))
    quiet.click("#zoom-in")
    assert quiet.run("document.getElementById('view').getAttribute('transform')") != before
    leaf = int(np.flatnonzero(tree.tree_.children_left < 0)[-1])
    quiet.type("#query", f"#{leaf}")
    quiet.run("document.getElementById('search').requestSubmit()")
    assert quiet.run(f"document.getElementById('node-{leaf}').classList.contains('selected')")
    quiet.type("#query", "sulphates")
    n_found = (tree.tree_.feature == list(wine.data.columns).index("sulphates")).sum()
    assert quiet.run("document.getElementById('panel-found').textContent").startswith(
        f"{n_found} node"
    )
    quiet.run("document.getElementById('canvas').focus()")
    for key in ("Home", "ArrowDown", "ArrowRight"):
        quiet.press(key)
    assert quiet.run(f"document.getElementById('node-{right}').classList.contains('selected')")
    assert len(quiet.screenshot()) > 10_000


@pytest.mark.parametrize("size", [(1280, 800), (390, 780)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_widths_and_schemes(quiet, tmp_path, size, scheme):
    X, y = load_iris(return_X_y=True)
    page = tmp_path / "tree.html"
    export_html(DecisionTreeClassifier().fit(X, y), X, y, out_file=str(page))
    quiet.open(page, size, scheme)
    assert quiet.run("document.documentElement.scrollWidth") <= size[0]
    background = quiet.run("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", background)[:3])
    assert (brightness < 384) == (scheme == "dark")
    quiet.click("#theme")
    assert quiet.run("getComputedStyle(document.body).backgroundColor") != background


def test_paths_of_rows_are_those_of_decision_path(quiet, tmp_path, mixed):
    X, y = mixed
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    page = tmp_path / "tree.html"
    export_html(tree, X, y, out_file=str(page), n_rows=100)
    quiet.open(page)
    quiet.click("#tab-row")
    paths = tree.decision_path(X)
    for i in range(100):
        quiet.type("#pick", str(i))
        assert lit_path(quiet) == sorted(paths[[i]].indices.tolist())


def test_typed_rows(quiet, tmp_path, mixed):
    """Fields appear along the path; what is typed is read as in the fit."""
    X, y = mixed
    X = X.astype(object).where(X.notna(), None)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    page = tmp_path / "tree.html"
    export_html(tree, out_file=str(page))
    quiet.open(page)
    quiet.click("#tab-row")
    columns = content_of(page.read_text(encoding="utf-8"))["columns"]
    rows = X[:25].copy()
    rows.loc[20:, "color"] = "never seen"
    rows.loc[22:, "grade"] = ["x" * 60, " 2.5", "+1e1"]
    for i in range(len(rows)):
        quiet.click("#panel-row button")  # clear
        done = set()
        while True:
            shown = quiet.run(
                "[...document.querySelectorAll('#steps input')].map((f) => +f.dataset.column)"
            )
            left = [j for j in shown if j not in done]
            if not left:
                break
            done.add(left[0])
            value = rows.iloc[i][columns[left[0]]["name"]]
            quiet.type(f"[data-column='{left[0]}']", "" if value is None else str(value))
        assert lit_path(quiet) == expected_path(tree, rows, i)


def test_numbers_are_rounded_to_float32(quiet, tmp_path):
    """1 + 2**-30 is 1 as float32, so it goes where 1 goes; a threshold is a double."""
    X = np.array([[1.0], [np.nextafter(np.float32(1), np.float32(2))]])
    tree = DecisionTreeClassifier().fit(X, [0, 1])
    page = tmp_path / "tree.html"
    export_html(tree, out_file=str(page))
    quiet.open(page)
    quiet.click("#tab-row")
    for text in ["1", "1.00000000093", "1.00000006", "1.000000119", "1.1", "-3e-2"]:
        quiet.type("#steps input", text)
        assert lit_path(quiet) == expected_path(tree, np.array([[float(text)]]), 0)


def odd_trees():
    """Trees that are unlike most, with the data of their pages."""
    X, y = load_iris(return_X_y=True)
    yield "one leaf", DecisionTreeClassifier().fit(X, np.zeros(150)), X, np.zeros(150)
    yield "one leaf of a quantity", DecisionTreeRegressor().fit(X, np.ones(150)), X, np.ones(150)
    both = np.column_stack([y, y % 2])
    yield "several outputs", DecisionTreeClassifier().fit(X, both), X, both
    yield "several quantities", DecisionTreeRegressor(max_depth=3).fit(X, both), X, both
    weights = np.linspace(0, 2, 150)
    yield "weights", DecisionTreeClassifier().fit(X, y, sample_weight=weights), X, y
    sparse = csr_array(np.where(X > 3, X, 0))
    yield "sparse", DecisionTreeClassifier().fit(sparse, y), sparse, y
    yield "huge numbers", DecisionTreeRegressor().fit(X * 1e37, y * 1e140), X * 1e37, y * 1e140
    many = np.arange(150) % 40
    yield "many classes", DecisionTreeClassifier().fit(X, many), X, many
    chain = np.arange(1500.0).reshape(-1, 1)
    steps = 4.0 ** np.arange(1500).clip(max=200)
    yield "deep", DecisionTreeRegressor().fit(chain, steps), chain, steps


@pytest.mark.parametrize("case", odd_trees(), ids=lambda case: case[0])
def test_odd_trees(quiet, tmp_path, case):
    _, tree, X, y = case
    page = tmp_path / "tree.html"
    export_html(tree, X, y, out_file=str(page), n_rows=2)
    quiet.open(page)
    quiet.click("#open-level")
    for node in (0, tree.tree_.node_count - 1):
        quiet.type("#query", f"#{node}")
        quiet.run("document.getElementById('search').requestSubmit()")
        assert quiet.run(f"document.getElementById('node-{node}').classList.contains('selected')")
    quiet.click("#tab-row")
    quiet.type("#pick", "1")
    assert lit_path(quiet) == sorted(tree.decision_path(X[:2])[[1]].indices.tolist())
    assert "NaN" not in quiet.run("document.body.innerHTML")
    assert "undefined" not in quiet.run("document.body.innerHTML.split('<script')[0]")


def test_scikit_learn_trees_are_drawn(quiet, tmp_path):
    X, y = load_iris(return_X_y=True)
    X[::7, 2] = np.nan
    tree = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(X, y)
    page = tmp_path / "tree.html"
    export_html(tree, X, y, out_file=str(page), n_rows=20)
    quiet.open(page)
    quiet.click("#tab-row")
    for i in range(20):
        quiet.type("#pick", str(i))
        assert lit_path(quiet) == expected_path(tree, X, i)


@pytest.mark.parametrize("regression", [False, True])
def test_large_trees(quiet, tmp_path, regression):
    """20,000 nodes open at once and stay below 3 MB."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5)).astype(np.float32)
    y = rng.normal(size=20_000) if regression else rng.permutation(20_000) % 8
    cls = DecisionTreeRegressor if regression else DecisionTreeClassifier
    tree = cls(max_leaf_nodes=10_001).fit(X, y)
    assert tree.tree_.node_count > 20_000
    page = tmp_path / "tree.html"
    export_html(tree, X, y, out_file=str(page), n_rows=100)
    assert page.stat().st_size < 3_000_000
    quiet.open(page)
    quiet.click("#tab-row")
    paths = tree.decision_path(X[:100])
    for i in range(100):
        quiet.type("#pick", str(i))
        path = sorted(paths[[i]].indices.tolist())
        assert lit_path(quiet) == path
    # The paths before have closed: three levels are open, and the last path.
    assert quiet.run("document.querySelectorAll('.node').length") == 15 + 2 * (len(path) - 4)
    quiet.click("#close-all")
    quiet.click("#open-level")
    assert quiet.run("document.querySelectorAll('.node').length") == 3
