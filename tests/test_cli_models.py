"""Models that the command saves, shows, describes and predicts with."""

import re
from pathlib import Path

import pytest

from command import by_size, run
from fasttree.export import load, save


@pytest.mark.parametrize("extra", [[], ["--tune"], ["--max-depth", "2"]])
def test_saved_models(extra, table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "model.json.gz")
    arguments = ["fit", path, "--target", "target", "--drop", "c", "--save", model, *extra]
    assert run(arguments, capsys)[0] == 0
    code, out, err = run(["show", model], capsys)
    assert (code, err) == (0, "")
    assert "class: large" in out
    assert "|--- c " not in out
    code, out, _ = run(["show", model, "--rules"], capsys)
    assert " then large  (support" in out
    code, out, err = run(["predict", model, path, "--proba"], capsys)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "prediction,probability of large,probability of small"
    assert len(lines) == 61
    written = tmp_path / "out.csv"
    assert run(["predict", model, path, "-o", str(written)], capsys) == (0, "", "")
    assert written.read_text().split() == [line.split(",")[0] for line in lines]
    assert set(written.read_text().split()[1:]) == {"large", "small"}


def test_saved_models_of_categories(tmp_path, capsys):
    path, model = tmp_path / "table.csv", str(tmp_path / "model.json")
    rows = ["red,1,0.5", "blue,?,8", ",2,7", "red,NA,7", "blue,5,8", "green,3,8"] * 10
    path.write_text("color,size,y\n" + "\n".join(rows) + "\n")
    code, out, _ = run(["fit", str(path), "--target", "y", "--save", model, "--rules"], capsys)
    assert code == 0
    assert "if color " in out or "if size " in out
    new = tmp_path / "new.csv"
    new.write_text("size;extra;color\n1;x;red\n;;violet\nNA;;\n")
    code, out, err = run(["predict", model, str(new)], capsys)
    assert (code, err) == (0, "")
    answers = list(map(float, out.splitlines()[1:]))
    assert answers[0] == 0.5
    assert len(answers) == 3


@pytest.mark.parametrize("kind", [[], ["--forest"], ["--optimal"], ["--tune"]])
def test_models_of_every_kind_read_categories(kind, tmp_path, capsys):
    path, model = tmp_path / "table.csv", str(tmp_path / "m.json")
    path.write_text("color,size,y\n" + "red,1,no\nblue,NA,yes\nNA,x,yes\ngreen,2,no\n" * 20)
    arguments = ["fit", str(path), "--target", "y", "--save", model, *kind]
    assert run(arguments, capsys)[0] == 0
    answers = run(["predict", model, str(path)], capsys)[1].split()[1:]
    assert answers == ["no", "yes", "yes", "no"] * 20
    code, out, err = run(["describe", model, str(path)], capsys)
    assert (code, err) == (0, "")
    assert re.search(r"missing cells +25.00%", out)


def test_models_of_python(tmp_path, capsys):
    """`DecisionTree` is around the tree that has the encoder."""
    pd = pytest.importorskip("pandas")
    from fasttree.tree import DecisionTree

    frame = pd.DataFrame({"color": ["red", "blue", None, "green"], "size": [1, 2, 3, None]})
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    frame.assign(y=["a", "b", "a", "b"]).to_csv(path, index=False, na_rep="NA")
    tree = DecisionTree().fit(frame, ["a", "b", "a", "b"])
    save(tree, model)
    assert run(["predict", str(model), str(path)], capsys)[1].split()[1:] == ["a", "b", "a", "b"]
    assert re.search("accuracy +1 ", run(["describe", str(model), str(path)], capsys)[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "MODEL", "new.csv"], "new.csv: No such file"),
        (["predict", "none.json", "DATA"], "none.json: No such file"),
        (["predict", "DATA", "DATA"], "is not a model"),
        (["predict", "MODEL", "OTHER"], "has no column 'a'"),
        (["predict", "MODEL", "TEXT"], "column 'b' holds 'x' in place of a number"),
        (["show", "DATA"], "is not a model"),
        (["fit", "MODEL", "--target", "a"], "model.json is a saved model, not a table"),
        (["predict", "MODEL", "MODEL"], "model.json is a saved model, not a table"),
        (["fit", "DATA", "--target", "target", "--drop", "d"], "no column 'd' to leave out"),
        (["fit", "DATA", "--target", "target", "--drop", "target"], "as --target or --weight"),
        (["fit", "DATA", "--target", "target", "--save", "none/m.json"], "none/m.json: No such"),
    ],
)
def test_errors_with_models(arguments, message, table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, model = table(by_size), str(tmp_path / "model.json")
    assert run(["fit", path, "--target", "target", "--save", model], capsys)[0] == 0
    (tmp_path / "other.csv").write_text("x,b,c\n1,2,3\n")
    (tmp_path / "text.csv").write_text("a,b,c\n1,x,3\n")
    places = {"MODEL": model, "DATA": path, "OTHER": "other.csv", "TEXT": "text.csv"}
    code, _, err = run([places.get(argument, argument) for argument in arguments], capsys)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


def test_describe_must_know_the_target(table, tmp_path, capsys):
    path, model = table(by_size), str(tmp_path / "m.json")
    arguments = ["fit", path, "--target", "target", "--drop", "c", "--save", model]
    assert run(arguments, capsys)[0] == 0
    code, out, _ = run(["describe", model, path], capsys)
    assert code == 0
    assert "Confusion matrix" in out
    # A model of Python's that names no target.
    tree = load(model)
    del tree.target_name_
    save(tree, model)
    code, _, err = run(["describe", model, path], capsys)
    assert code == 2
    assert "must be said by --target; one of 'c', 'target'" in err
    assert run(["describe", model, path, "--target", "target"], capsys)[1] == out
    code, _, err = run(["describe", model, path, "--target", "c"], capsys)
    assert code == 2
    assert "but classes are 'large', 'small'" in err
    bare = tmp_path / "bare.csv"
    bare.write_text("a,b\n1,2\n")
    assert "none is left" in run(["describe", model, str(bare)], capsys)[2]


def test_describe_knows_the_missing_values_of_the_model(tmp_path, capsys):
    """A class may be called "NA" if that means nothing else."""
    path, model = str(tmp_path / "t.csv"), str(tmp_path / "m.json")
    Path(path).write_text("a,y\n" + "\n".join(f"{i},{['NA', 'x'][i % 2]}" for i in range(20)))
    arguments = ["fit", path, "--target", "y", "--test-size", "0"]
    assert "is missing in 10 of 20" in run(arguments, capsys)[2]
    assert run([*arguments, "--missing", "?", "--save", model], capsys)[0] == 0
    code, out, err = run(["describe", model, path], capsys)
    assert (code, err) == (0, "")
    assert re.search("accuracy +1 ", out)
    (tmp_path / "new.csv").write_text("a,y\n1,NA\n2,?\n")
    _, _, err = run(["describe", model, str(tmp_path / "new.csv")], capsys)
    assert "the target 'y' is missing in 1 of 2 rows" in err


def test_models_of_several_outputs(tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor

    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [True, False, True, None]})
    frame["b"] = frame["b"].astype("boolean")
    labels = pd.DataFrame({"u": ["x", "y", "x", "y"], "v": ["1", "1", "2", "2"]})
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    frame.to_csv(path, index=False)
    tree = DecisionTreeClassifier().fit(frame, labels)
    save(tree, model)
    code, out, err = run(["predict", str(model), str(path), "--proba"], capsys)
    assert (code, err) == (0, "")
    lines = [line.split(",") for line in out.split("\n")]
    assert lines[0][:2] == ["prediction (0)", "prediction (1)"]
    assert lines[0][3] == "probability of y (0)"
    assert [line[:2] for line in lines[1:5]] == tree.predict(frame).astype(str).tolist()
    code, _, err = run(["describe", str(model), str(path), "--target", "a"], capsys)
    assert code == 2
    assert "m.json predicts several targets; describe takes one" in err
    save(DecisionTreeRegressor().fit(frame, [0.5, 1, 2, 3]), model)
    code, _, err = run(["predict", str(model), str(path), "--proba"], capsys)
    assert code == 2
    assert "--proba is for models of classes" in err
    save(DecisionTreeRegressor().fit([[1.0], [2.0]], [1, 2]), model)
    assert "does not name the columns" in run(["predict", str(model), str(path)], capsys)[2]
