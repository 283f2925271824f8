"""What the options of ``fasttree fit`` choose: criteria, weights, kinds of trees, output."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score

import fasttree
from command import by_size, fitted, run
from fasttree.export import load


def test_json_says_what_the_text_says(table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "m.json")
    arguments = [path, "--target", "target", "--save", model, "--max-depth", "3"]
    found = fitted([*arguments, "--rules", "--compare", "--test-size", "0.4"], capsys)
    assert found["data"] == path
    assert (found["n_rows"], found["n_training_rows"], found["n_held_out_rows"]) == (60, 36, 24)
    assert found["classes"] == ["large", "small"]
    assert found["estimator"] == "DecisionTreeClassifier"
    tree = load(model)
    assert found["n_leaves"] == tree.get_n_leaves() == len(found["rules"])
    assert found["importances"] == dict(zip("abc", tree.feature_importances_.tolist()))
    assert next(iter(found["comparison"])) == f"fasttree {fasttree.__version__}"
    _, out, _ = run(["fit", *arguments, "--test-size", "0.4"], capsys)
    assert f"accuracy {found['scores']['accuracy']['held_out_rows']:>18.4g}"[:8] in out
    for label, row in zip(found["classes"], found["confusion_matrix"]["n_rows"]):
        assert re.search(rf"true {label} +{row[0]} +{row[1]}\n", out)


def test_scores_are_those_of_scikit_learn(table, tmp_path, capsys):
    """Accuracy, ROC area and confusion matrix, of the rows that are held out and the baseline."""
    path, model = table(by_size), str(tmp_path / "m.json")
    arguments = [path, "--target", "target", "--save", model, "--max-depth", "2", "--test-size"]
    found = fitted([*arguments, "0.5", "--random-state", "3"], capsys)
    from sklearn.model_selection import train_test_split

    rows = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
    X = np.column_stack([rows[name] for name in "abc"]).astype(object)
    X, X_test, y, y_test = train_test_split(X, rows["target"], test_size=0.5, random_state=3)
    tree = load(model)
    del tree.feature_names_in_
    shares = tree.predict_proba(X_test)[:, 1]
    score = found["scores"]
    assert score["accuracy"]["held_out_rows"] == tree.score(X_test, y_test)
    most = max(["large", "small"], key=y.tolist().count)
    assert score["accuracy"]["baseline"] == (y_test == most).mean()
    assert score["roc_area"]["held_out_rows"] == pytest.approx(roc_auc_score(y_test, shares))
    assert score["roc_area"]["training_rows"] == pytest.approx(
        roc_auc_score(y, tree.predict_proba(X)[:, 1])
    )
    matrix = confusion_matrix(y_test, tree.predict(X_test))
    assert found["confusion_matrix"]["n_rows"] == matrix.tolist()


def test_criteria_and_splits(table, capsys):
    path = table(by_size)
    found = fitted([path, "--target", "target", "--criterion", "chi2", "--compare"], capsys)
    assert found["comparison_note"] == "scikit-learn by gini."
    arguments = [path, "--target", "a", "--categorical-split", "subset", "--drop", "b", "c"]
    found = fitted([*arguments, "--criterion", "poisson"], capsys)
    assert found["task"] == "regression"


def test_weights(table, tmp_path, capsys):
    """Rows of weight zero do not count, and the column of weights is no feature."""
    path = table(by_size)
    lines = Path(path).read_text().splitlines()
    weighted = tmp_path / "weighted.csv"
    rows = [f"{line},{i % 2}" for i, line in enumerate(lines[1:])]
    weighted.write_text("\n".join([lines[0] + ",w", *rows]))
    half = tmp_path / "half.csv"
    half.write_text("\n".join([lines[0], *lines[2::2]]))
    options = ["--target", "target", "--test-size", "0", "--rules"]
    found = fitted([str(weighted), "--weight", "w", *options], capsys)
    expected = fitted([str(half), *options], capsys)
    assert found["rules"] == expected["rules"]
    code, _, err = run(["fit", str(weighted), "--weight", "target", "--target", "w"], capsys)
    assert code == 2
    assert "the column of weights 'target' holds 'large' in place of a number" in err


def test_class_weights(table, capsys):
    path = table(by_size)
    arguments = [path, "--target", "target", "--max-depth", "1", "--test-size", "0"]
    heavy = fitted([*arguments, "--class-weight", "large=1000"], capsys)
    (large, _), (small, _) = heavy["confusion_matrix"]["n_rows"]
    assert large == sum(heavy["confusion_matrix"]["n_rows"][0])
    assert small > 0
    assert fitted([*arguments, "--class-weight", "balanced"], capsys)["n_leaves"] == 2


def test_optimal_trees(table, capsys):
    arguments = [table(by_size), "--target", "target", "--optimal"]
    found = fitted([*arguments, "--time-limit", "60"], capsys)
    assert found["estimator"] == "OptimalDecisionTreeClassifier"
    assert found["search"]["is_optimal"] is True
    assert found["depth"] <= 3
    code, out, _ = run(["fit", *arguments, "--max-depth", "2"], capsys)
    assert code == 0
    assert "proven optimal" in out


def test_forests(table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "m.json.gz")
    arguments = [path, "--target", "target", "--forest", "--n-estimators", "7"]
    found = fitted([*arguments, "--compare", "--save", model], capsys)
    assert found["n_trees"] == 7
    assert found["scores"]["accuracy"]["held_out_rows"] > 0.5
    code, out, _ = run(["fit", *arguments], capsys)
    assert code == 0
    assert "RandomForestClassifier: 7 trees" in out
    assert "Importances:" in out
    code, out, _ = run(["show", model], capsys)
    assert code == 0
    assert out.startswith("RandomForestClassifier: 7 trees")
    code, _, err = run(["show", model, "--rules"], capsys)
    assert code == 2
    assert "--rules is for single trees" in err
    answers = run(["predict", model, path], capsys)[1].split()[1:]
    assert set(answers) == {"large", "small"}
    assert run(["describe", model, path], capsys)[0] == 0


def test_pages(table, tmp_path, capsys):
    path, model, page = table(by_size), str(tmp_path / "m.json"), tmp_path / "t.html"
    arguments = ["fit", path, "--target", "target", "--html", str(page), "--save", model]
    assert run(arguments, capsys)[0] == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    report = tmp_path / "report.html"
    assert run(["describe", model, path, "-o", str(report)], capsys) == (0, "", "")
    assert "<iframe" in report.read_text(encoding="utf-8")
    code, out, err = run(["describe", model, path], capsys)
    assert (code, err) == (0, "")
    assert out.startswith("target by m.json\n")
    assert "rows of table.csv" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "target", "--class-weight", "huge=2"], "names 'huge', but classes are"),
        (["--target", "target", "--class-weight", "large=x"], "does not end in a number"),
        (["--target", "target", "--class-weight", "even"], "class_weight"),
        (["--target", "a", "--task", "regression", "--class-weight", "balanced"],
         "--class-weight is not for DecisionTreeRegressor"),
        (["--target", "target", "--criterion", "poisson"], "regression needs numbers"),
        (["--target", "a", "--criterion", "gini", "--task", "regression"],
         "--criterion gini is not for regression"),
        (["--target", "target", "--optimal", "--criterion", "gini"], "is not for Optimal"),
        (["--target", "a", "--optimal", "--task", "regression"], "--optimal is for classes"),
        (["--target", "target", "--n-estimators", "5"], "is not for DecisionTreeClassifier"),
        (["--target", "target", "--forest", "--rules"], "--rules is for single trees"),
        (["--target", "target", "--forest", "--html", "t.html"], "--html is for single trees"),
        (["--target", "target", "--weight", "w"], "has no column 'w'; it has 'a', 'b', 'c'"),
        (["--target", "a", "--weight", "a"], "--target and --weight both name 'a'"),
        (["--target", "target", "--html", "none/t.html"], "none/t.html: No such file"),
    ],
)  # fmt: skip
def test_errors_of_options(arguments, message, table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(["fit", table(by_size), *arguments], capsys)
    assert (code, out) == (2, "")
    assert err.startswith("fasttree: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_errors_name_the_columns(tmp_path, capsys):
    path = tmp_path / "table.csv"
    rows = [f"{i},text {i},{i % 2}" for i in range(200)]
    path.write_text("a,note,y\n" + "\n".join(rows))
    _, _, err = run(["fit", str(path), "--target", "y"], capsys)
    assert err.startswith("fasttree: note: Column 'note' holds 160 distinct texts")
    path.write_text("a,b,y\n" + "\n".join(["1e999,x,1", "x,1,0", "2,y,1"] * 9))
    code, _, err = run(["fit", str(path), "--target", "y"], capsys)
    assert code == 2
    assert "column 'a'" in err
    path.write_text("b,y\n" + "\n".join(["x,1.5", "z,2.5", "u,3.5"] * 9))
    options = ["--criterion", "absolute_error", "--categorical-split", "subset"]
    _, _, err = run(["fit", str(path), "--target", "y", *options], capsys)
    assert err.endswith("use --categorical-split equality.\n")
