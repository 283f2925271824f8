"""How to add a criterion: the example of the accumulators' contract is compiled, and searches by a
line of the registry."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fasttree.tree._base import CRITERIA_CLF, CRITERIA_REG

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "fasttree"
HEADER = PACKAGE / "engine/score/accumulator.hpp"
REGISTRY = PACKAGE / "engine/criteria/registry.hpp"
ENTRY = re.compile(r"^ *ENTRY\((\w+)\)( \\)?\n", re.MULTILINE)


def example():
    """The code of the example, without the marks of a comment."""
    text = re.search(r"// EXAMPLE\n(.*?)// END OF EXAMPLE", HEADER.read_text(), re.DOTALL)[1]
    return re.sub(r"^// ?", "", text, flags=re.MULTILINE)


def registry_of_the_example():
    """The registry with a line for the example instead of those whose files are not linked."""
    first, *others = ENTRY.finditer(REGISTRY.read_text())
    text = REGISTRY.read_text()
    for entry in reversed(others):
        text = text[: entry.start()] + text[entry.end() :]
    return text.replace(first[0], "    ENTRY(misclassification)\n")


COMPILER = os.environ.get("CXX", "c++")


def compile_source(source, target, compiler=COMPILER):
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"there is no {compiler}")
    target.parent.mkdir(exist_ok=True)
    source_file = target.with_suffix(".cpp")
    source_file.write_text(source)
    registry = target.parent / "engine/criteria/registry.hpp"
    registry.parent.mkdir(parents=True)
    registry.write_text(registry_of_the_example())
    command = [
        *compiler.split(),
        "-std=c++17",
        "-O1",
        f"-I{target.parent}",
        f"-I{PACKAGE}",
        str(source_file),
        "-o",
        str(target),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", params=dict.fromkeys([COMPILER, "clang++"]))
def toy(request, tmp_path_factory):
    """A program that splits by the example, whichever compiler made it."""
    target = tmp_path_factory.mktemp("toy") / "toy"
    source = (TESTS / "toy/main.cpp").read_text().replace("EXAMPLE\n", example())
    done = compile_source(source, target, request.param)
    assert done.returncode == 0, done.stderr[-4000:]
    return target


def best_split(x, y, w):
    """The specification: impurity, whether there is a split, rows on its left and its score."""
    totals = np.bincount(y, w)
    best = (0, 0, 0.0)
    for value in np.unique(x)[:-1]:
        left = x <= value
        score = np.bincount(y[left], w[left]).max() + np.bincount(y[~left], w[~left]).max()
        if score > best[2]:
            best = (1, left.sum(), score)
    return (1 - totals.max() / totals.sum(), *best)


def test_a_criterion_written_from_the_example_finds_the_best_splits(toy):
    rng = np.random.default_rng(0)
    problems, lines = [], []
    for i in range(200):
        n, n_classes, is_weighted = rng.integers(2, 40), rng.integers(2, 6), i % 2
        x, y = rng.integers(0, rng.integers(1, 20), n), rng.integers(0, n_classes, n)
        w = rng.integers(1, 5, n) if is_weighted else np.ones(n, dtype=int)
        problems.append((x, y, w))
        lines.append(f"{n} {n_classes} {is_weighted}")
        lines += [f"{c} {weight} {value}" for c, weight, value in zip(y, w, x)]
    done = subprocess.run(
        [str(toy)], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    found = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    assert len(found) == len(problems)
    for problem, line in zip(problems, found):
        assert line == pytest.approx(best_split(*problem), rel=1e-15)


def test_what_the_example_lacks_is_named(tmp_path):
    """Without one member of the contract it does not compile, and the compiler says which."""
    lacking = re.sub(r"    double sklearn_score\(\).*\n", "", example())
    assert lacking != example()
    source = (TESTS / "toy/main.cpp").read_text().replace("EXAMPLE\n", lacking)
    done = compile_source(source, tmp_path / "lacking")
    assert done.returncode != 0
    assert "sklearn_score" in done.stderr


DERIVED = """
#include "engine/score/classification.hpp"
namespace fasttree {
using Parent = Gini<UnitWeights, uint8_t, true>;
struct Derived : Parent {
    using Parent::Parent;
    void begin_node(const uint32_t* rows, uint32_t n) { Parent::begin_node(rows, n); }
    MEMBERS
};
static_assert(is_accumulator<Derived>());
}
int main() {}
"""


BESIDE_BEGIN_NODE = {
    "begin_cell": "void begin_cell(const Cell* cell) { Parent::begin_cell(cell); }",
    "begin_totals": """void begin_totals(const Totals& totals, const uint32_t* rows, uint32_t n) {
        Parent::begin_totals(totals, rows, n);
    }""",
}


def compile_derived(members, target):
    return compile_source(DERIVED.replace("MEMBERS", "\n".join(members)), target)


def test_a_begin_node_of_its_own_compiles(tmp_path):
    done = compile_derived(BESIDE_BEGIN_NODE.values(), tmp_path / "derived")
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("lacking", BESIDE_BEGIN_NODE)
def test_a_begin_node_has_others_beside_it(tmp_path, lacking):
    """Otherwise statistics would be those of the node that was begun last by its rows."""
    members = [text for name, text in BESIDE_BEGIN_NODE.items() if name != lacking]
    done = compile_derived(members, tmp_path / "derived")
    assert done.returncode != 0
    assert f"begin_node has a {lacking} beside it" in done.stderr


def test_the_registry_lists_every_criterion():
    """Each has a file of its own beside the registry and a class, and no file is left out."""
    names = [entry[1] for entry in ENTRY.finditer(REGISTRY.read_text())]
    assert names == sorted(names)
    assert names == sorted(path.stem for path in REGISTRY.parent.glob("*.cpp"))
    classes = {**CRITERIA_CLF, **CRITERIA_REG}.values()
    assert names == sorted({cls.name for cls in classes})


def test_no_other_file_lists_criteria():
    """What is compiled and found follows from the registry, the parameters of estimators from the
    classes."""
    for path in ("engine/meson.build", "engine/criteria.pxd", "engine/criteria/searchers.hpp"):
        assert "gini" not in (PACKAGE / path).read_text()
    assert set(CRITERIA_CLF) == {"gini", "entropy", "log_loss", "chi2"}
    assert set(CRITERIA_REG) == {"squared_error", "absolute_error", "poisson", "label_split"}


def test_the_example_is_short():
    assert len(example().splitlines()) <= 60
