"""Public functions say the types of what they take and give, as py.typed promises."""

import inspect

import pytest

import fasttree
import fasttree.cli
import fasttree.datasets
import fasttree.model_selection
import fasttree.optimal
import fasttree.tree
from fasttree.tree.pruning._tunable import TuningResult

MODULES = [
    fasttree,
    fasttree.datasets,
    fasttree.model_selection,
    fasttree.optimal,
    fasttree.tree,
]


def own_functions(cls):
    """Public methods and the constructor that fasttree defines, by name."""
    for owner in cls.__mro__:
        if owner.__module__.startswith("fasttree"):
            for name, member in vars(owner).items():
                if isinstance(member, property):
                    member = member.fget
                member = getattr(member, "fn", getattr(member, "__func__", member))
                if inspect.isfunction(member) and (name == "__init__" or name[0] != "_"):
                    yield f"{owner.__name__}.{name}", member


def public_functions():
    """Every public function and method by its dotted name."""
    found = {"fasttree.cli.main": fasttree.cli.main}
    for module in MODULES:
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isclass(member):
                found.update(own_functions(member))
            elif callable(member):
                found[f"{module.__name__}.{name}"] = member
    found.update(own_functions(TuningResult))
    return found


FUNCTIONS = public_functions()


def test_public_functions_are_found():
    assert len(FUNCTIONS) > 50
    assert "fasttree.config_context" in FUNCTIONS
    assert "DecisionTree.predict_proba" in FUNCTIONS  # behind available_if
    assert "TunableMixin.tune" in FUNCTIONS
    assert "TuningCurveDisplay.from_estimator" in FUNCTIONS
    assert "BaseDecisionTree.categories_" in FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_are_annotated(name):
    signature = inspect.signature(FUNCTIONS[name])
    bare = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
    ]
    assert bare == []
    assert signature.return_annotation is not signature.empty


def test_constructors_are_annotated():
    """Also where scikit-learn's would do: that one has no types."""
    for module in MODULES:
        for name in module.__all__:
            cls = getattr(module, name)
            if inspect.isclass(cls) and not inspect.isabstract(cls):
                assert cls.__init__.__module__.startswith("fasttree"), cls
