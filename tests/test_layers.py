"""Includes and cimports go one way, downwards: a folder uses what stands below it.

The order is that of the map (`fasttree/tree/README.rst`). Two files of one folder may include each
other as long as there is no cycle.
"""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "fasttree"

# From the top to the bottom.
STAGES = (
    "prune",
    "predict",
    "criteria",
    "grow",
    "search",
    "scan",
    "score",
    "order",
    "columns",
    "core",
    "simd",
)
LAYERS = (
    "cli",
    "ensemble",
    "tree",
    "export",
    "table",
    "optimal",
    *(f"engine/{stage}" for stage in STAGES),
    "utils",
)
SOURCES = sorted(
    path
    for path in PACKAGE.rglob("*")
    if path.suffix in {".hpp", ".cpp", ".pyx", ".pxd"} and "build" not in path.parts
)
USES = re.compile(
    r'^\s*#include "([^"]+)"|^cdef extern from "([^"]+)"|^from fasttree\.(\S+) cimport', re.M
)


def layer_of(file):
    """The position of a file's folder in LAYERS."""
    path = str(file).removeprefix("./")
    found = [i for i, layer in enumerate(LAYERS) if path.startswith((layer + "/", layer + ".pxd"))]
    assert len(found) == 1, path
    return found[0]


def used_by(text, folder):
    """Files that a source includes or cimports, relative to the package."""
    for include, extern, module in USES.findall(text):
        name = include or extern
        if module:
            yield module.replace(".", "/") + ".pxd"
        elif name.startswith("<") or name == "Python.h":
            continue
        else:
            beside = folder / name  # the optimal trees' sources name each other so
            yield str(beside if (PACKAGE / beside).exists() else name)


def breaches(file, text):
    file = Path(file)
    return [used for used in used_by(text, file.parent) if layer_of(used) < layer_of(file)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_folder_uses_what_stands_below_it(path):
    assert breaches(path.relative_to(PACKAGE), path.read_text()) == []


def test_the_test_sees_an_include_upwards():
    assert breaches("engine/core/grid.hpp", '#include "engine/scan/scan.hpp"\n')
    assert breaches("engine/core.pxd", "from fasttree.engine.grow cimport NodeStore\n")
    assert breaches("utils/_std.pxd", 'cdef extern from "engine/core/grid.hpp":\n')
    assert not breaches("engine/scan/scan.hpp", '#include "engine/core/grid.hpp"\n')


def test_no_file_includes_itself_by_way_of_others():
    uses = {
        str(path.relative_to(PACKAGE)): set(
            used_by(path.read_text(), path.relative_to(PACKAGE).parent)
        )
        for path in SOURCES
    }
    done = set()

    def visit(file, trail):
        assert file not in trail, [*trail, file]
        if file not in done:
            for used in uses.get(file, ()):
                visit(used, [*trail, file])
            done.add(file)

    for file in uses:
        visit(file, [])


def test_every_named_file_is_there():
    for path in SOURCES:
        for used in used_by(path.read_text(), path.relative_to(PACKAGE).parent):
            assert (PACKAGE / used).exists(), (path, used)


def test_cimports_name_the_package():
    for path in SOURCES:
        assert not re.search(r"^(from \.|cimport \.)", path.read_text(), re.M), path


def test_nothing_imports_the_command():
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "cli":
            assert "fasttree.cli" not in path.read_text(), path


def test_no_folder_is_crowded():
    for folder in {path.parent for path in PACKAGE.rglob("*") if path.is_file()}:
        files = [f for f in folder.iterdir() if f.suffix in {".hpp", ".cpp", ".pyx", ".pxd", ".py"}]
        assert len(files) <= 25, folder
