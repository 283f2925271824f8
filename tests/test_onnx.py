"""Trees as ONNX models, run by onnxruntime."""

import numpy as np
import pytest

from fasttree.export import to_onnx
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from reference.handed_on import Problem, cell_parts

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")


def inputs_of(problem, session):
    """The new rows as the model wants them; what the fit was told to take for missing stays."""
    wanted = session.get_inputs()
    if [given.name for given in wanted] == ["X"]:
        kinds = problem.kinds
        parts = [[cell_parts(*pair, [])[0] for pair in zip(row, kinds)] for row in problem.rows]
        return {"X": np.array(parts, dtype=np.float64).astype(np.float32)}
    feeds = {}
    for given in wanted:
        j = problem.names.index(given.name)
        parts = [cell_parts(row[j], problem.kinds[j], []) for row in problem.rows]
        if given.type == "tensor(string)":
            texts = [category or "" for _, category in parts]
            listed = problem.missing_values  # blanks around these are not taken off by the model
            texts = [text.strip() if text.strip() in listed else text for text in texts]
            cells = np.array(texts, dtype=object)[:, None]
        else:
            cells = np.array([[number] for number, _ in parts], dtype=np.float64)
            cells = cells.astype(np.float32)
        feeds[given.name] = cells
    return feeds


def asks_for_both(estimator, j):
    """Whether a tree asks of a column for numbers and for categories."""
    tree = estimator.tree_
    return {0, 1} <= set(tree.split_kind[tree.feature == j].tolist())


@pytest.mark.cases(420)  # of which 200 can be written
def test_predictions(seed):
    problem = Problem(seed)
    estimator = problem.estimator
    mixed = any(
        kind in ("boolean", "number category", "hybrid")
        and (kind != "hybrid" or asks_for_both(estimator, j))
        for j, kind in enumerate(problem.kinds)
        if j in estimator.tree_.feature
    )
    if mixed or problem.task == "constant":  # its labels are floats
        with pytest.raises(ValueError, match="ONNX"):
            to_onnx(estimator, feature_names=problem.names)
        return
    model = to_onnx(estimator, feature_names=problem.names)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feeds = inputs_of(problem, session)
    # A number in a column of texts is no category, but ONNX cannot know.
    hybrid = [j for j, kind in enumerate(problem.kinds) if kind == "hybrid"]
    keep = [all(problem.parts(j, row[j])[0] is None for j in hybrid) for row in problem.rows]
    answers = dict(zip([out.name for out in session.get_outputs()], session.run(None, feeds)))
    X = problem.table()
    expected = estimator.predict(X).reshape(len(X), -1)
    if "variable" in answers:
        assert np.array_equal(answers["variable"][keep], expected.astype(np.float32)[keep])
        return
    fractions = estimator.predict_proba(X)
    fractions = fractions if isinstance(fractions, list) else [fractions]
    for k, of_output in enumerate(fractions):
        suffix = "" if len(fractions) == 1 else f"_{k}"
        found = answers[f"probabilities{suffix}"]
        assert np.array_equal(found[keep], of_output.astype(np.float32)[keep])
        assert answers[f"label{suffix}"][keep].tolist() == expected[:, k][keep].tolist()


def test_columns_without_a_type():
    rows = [["a"], ["b"], ["1"], ["2"]]
    with pytest.raises(ValueError, match="ONNX has no type"):
        to_onnx(DecisionTreeRegressor().fit(rows, [0, 1, 2, 3]))
    booleans = DecisionTreeClassifier(categorical_features=[0]).fit([[True], [False]], [0, 1])
    with pytest.raises(ValueError, match="ONNX has no type"):
        to_onnx(booleans)
    with pytest.raises(ValueError, match="class labels"):
        to_onnx(DecisionTreeClassifier().fit([[1.0], [2.0]], [0.0, 1.0]))


@pytest.mark.parametrize("names", [["label", "n"], ["/cells", "n"], ["", "n"], ["n", "n"]])
def test_names_that_a_model_cannot_have(names):
    rows = [["a", 1], ["b", 1], ["a", 2], ["b", 2]]
    tree = DecisionTreeClassifier().fit(rows, [0, 1, 2, 3])
    with pytest.raises(ValueError, match="feature_names"):
        to_onnx(tree, feature_names=names)
    to_onnx(tree, feature_names=["labels", "line\nbreak"])


def test_missing_values_are_those_of_the_fit():
    X, y = np.array([[1.0, 5], [2, 5], [3, 6], [-1, -9], [-1, 5]]), [0, 0, 1, 2, 2]
    tree = DecisionTreeClassifier(missing_values=[-1, -9]).fit(X, y)
    session = onnxruntime.InferenceSession(to_onnx(tree).SerializeToString())
    rows = np.array([[-1, 5], [0, 5], [3, -9], [np.nan, 5]], dtype=np.float32)
    assert session.run(["label"], {"X": rows})[0].tolist() == tree.predict(rows).tolist()
