"""scikit-learn's own tests of trees and ensembles, retargeted at fasttree and collected into our
run.

The test modules are read from the installed scikit-learn, never shipped. Each import from
``sklearn.tree`` becomes one from ``fasttree.tree``; a private name that fasttree has no use for
keeps scikit-learn's object so that the module can be imported, and every test that touches it
must be named in ``PRIVATE``. Tests that take long and grow no trees are in ``GROW_NO_TREES``. Of
``sklearn.ensemble`` what fasttree has becomes ours. One copy is collected per mode; other
ensembles grow fasttree's trees.

The modules of ``SUITES`` name sources, modes and exceptions; an exception that passes is a failure.
"""

import ast
import os
import re
from importlib import import_module
from pathlib import Path

import pytest
import sklearn
from sklearn.ensemble import _bagging, _forest, _weight_boosting

import fasttree
import fasttree.ensemble
import fasttree.tree

SUITES = ("test_sklearn_ensembles.py", "test_sklearn_suite.py")
OURS = "fasttree.tree"


class Suite(pytest.Module):
    """One of ``SUITES``: its own tests, then scikit-learn's modules in each mode."""

    def collect(self):
        folder = self.config.cache.mkdir(self.path.stem)
        self.modules = [
            Retargeted.of(self, mode, source, folder / mode)
            for mode in self.obj.MODES
            for pattern in self.obj.SOURCES[mode]
            for source in sorted(Path(sklearn.__file__).parent.glob(pattern))
        ]
        return [*super().collect(), *self.modules]


class Retargeted(pytest.Module):
    """One of scikit-learn's modules in one mode."""

    @classmethod
    def of(cls, suite, mode, source, folder):
        text, strangers = retarget(source.read_text())
        folder.mkdir(exist_ok=True)
        path = folder / source.name
        if not path.exists() or path.read_text() != text:
            # In one step, for another process of the run may be reading it.
            draft = path.with_suffix(f".{os.getpid()}")
            draft.write_text(text)
            draft.replace(path)
        name = f"{mode}/{source.stem}"
        module = cls.from_parent(suite, path=path, name=name, nodeid=f"{suite.nodeid}::{name}")
        module.suite, module.mode, module.strangers = suite.obj, mode, strangers
        module.items = None
        # As in scikit-learn's own run.
        for category in suite.obj.IGNORED_WARNINGS:
            module.add_marker(pytest.mark.filterwarnings(f"ignore::{category}"))
        return module

    def collect(self):
        # Once: some of the modules pass iterators to parametrize.
        if self.items is None:
            self.items = [self.marked(item) for item in super().collect()]
        return self.items

    def marked(self, item):
        private = self.suite.PRIVATE.get(item.originalname)
        reason = self.suite.exception(self.mode, item.name)
        if item.originalname in self.suite.GROW_NO_TREES:
            item.add_marker(pytest.mark.skip(reason="grows no trees"))
        elif private:
            item.add_marker(pytest.mark.skip(reason=f"private helper: {private}"))
        elif item.originalname in self.strangers:
            names = ", ".join(self.strangers[item.originalname])
            raise self.CollectError(f"{item.name} uses {names}: name it in PRIVATE")
        elif reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        return item


@pytest.fixture(autouse=True)
def retargeted(request, monkeypatch):
    """Runs a retargeted test in its mode, with ensembles of our trees."""
    module = request.node.getparent(Retargeted)
    if module is None:
        yield
        return
    for ensembles in (_bagging, _forest, _weight_boosting):
        for name in fasttree.tree.__all__:
            if hasattr(ensembles, name):
                monkeypatch.setattr(ensembles, name, getattr(fasttree.tree, name))
    with fasttree.config_context(**module.suite.MODES[module.mode]):
        yield


def retarget(source):
    """Returns the module's text with our imports, and the tests that use names we do not have.

    The latter as a dictionary from test to names. Lines keep their numbers.
    """
    lines = source.splitlines()
    module = ast.parse(source)
    missing = set()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (statements := _our_imports(node, missing)):
            indent = " " * node.col_offset
            blank = [""] * (node.end_lineno - node.lineno)
            lines[node.lineno - 1 : node.end_lineno] = [indent + "; ".join(statements), *blank]
    uses = {
        test.name: names
        for test in module.body
        if isinstance(test, ast.FunctionDef)
        and (names := {n.id for n in ast.walk(test) if isinstance(n, ast.Name)} & missing)
    }
    return "\n".join(lines) + "\n", uses


def _our_imports(node, missing):
    """The statements that replace an import; none if it has nothing to do with trees."""
    if node.module == "sklearn" and any(alias.name == "tree" for alias in node.names):
        others = [ast.unparse(alias) for alias in node.names if alias.name != "tree"]
        return [f"from sklearn import {', '.join(others)}", f"import {OURS} as tree"]
    if node.module == "sklearn.ensemble":
        ours = fasttree.ensemble.__all__
        return [
            f"from {'fasttree' if alias.name in ours else 'sklearn'}.ensemble "
            f"import {ast.unparse(alias)}"
            for alias in node.names
        ]
    if not re.match(r"sklearn\.tree\b", node.module or ""):
        return []
    home = node.module.replace("sklearn.tree", OURS)
    statements = []
    for alias in node.names:
        found = _has(home, alias.name)
        if not found:
            missing.add(alias.asname or alias.name)
        statements.append(f"from {home if found else node.module} import {ast.unparse(alias)}")
    return statements


def _has(module, name):
    try:
        return hasattr(import_module(module), name)
    except ModuleNotFoundError:
        return False
