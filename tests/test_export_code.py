"""Trees as code: whoever runs it gets what `predict` returns, whatever the cells hold."""

import ctypes
import itertools
import json
import math
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from fasttree.ensemble import RandomForestClassifier
from fasttree.export import export_c, export_dict, export_python, export_rules, export_sql
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from reference.handed_on import Problem, cell_parts


def compiler():
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        pytest.skip("no C compiler is installed")
    return found


def outputs_of(predicted):
    """Predictions as lists of Python's objects, one per row with an item per output."""
    return predicted.reshape(len(predicted), -1).tolist()


def fractions_of(estimator, X):
    """Fractions of the classes, output after output; None in regression."""
    if not hasattr(estimator, "classes_") or not hasattr(estimator, "predict_proba"):
        return None
    fractions = estimator.predict_proba(X)
    return np.concatenate(fractions, axis=1) if isinstance(fractions, list) else fractions


# ---- Python


@pytest.mark.cases(200)
def test_python(seed):
    problem = Problem(seed)
    X = problem.table()
    module = {}
    exec(export_python(problem.estimator), module)
    expected = problem.estimator.predict(X).tolist()
    assert [module["predict"](row) for row in problem.rows] == expected
    fractions = fractions_of(problem.estimator, X)
    assert ("predict_proba" in module) == (fractions is not None)
    if fractions is not None:
        found = [np.hstack(module["predict_proba"](row)) for row in problem.rows]
        assert np.array_equal(found, fractions)


def test_python_imports_nothing():
    source = export_python(Problem(1).estimator)
    assert "import" not in source
    compile(source, "tree.py", "exec")


def test_deep_trees_nest_little():
    """A compiler of Python allows 100 levels of blocks, SQLite about 20 of expressions."""
    X = np.arange(3000.0)[:, None]
    y = 2.0 ** -np.arange(3000)
    tree = DecisionTreeRegressor(criterion="squared_error").fit(X, y)
    assert tree.get_depth() > 100
    module = {}
    exec(export_python(tree), module)
    assert [module["predict"](row) for row in X[::50]] == tree.predict(X[::50]).tolist()
    assert run_sqlite(export_sql(tree, "t", feature_names=["a"]), ["a"], X[:500].tolist()) == [
        (x,) for x in tree.predict(X[:500]).tolist()
    ]


# ---- C


class Library:
    """The functions of a C file."""

    def __init__(self, source, folder):
        path = folder / "tree.c"
        path.write_text(source)
        flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC"]
        subprocess.run([compiler(), *flags, "-o", folder / "tree.so", path], check=True)
        self.functions = ctypes.CDLL(str(folder / "tree.so"))

    def call(self, name, rows, codes, n_values, dtype):
        function = getattr(self.functions, name)
        out = np.empty((len(rows), n_values), dtype=dtype)
        for i in range(len(rows)):
            cells = [rows[i]] if codes is None else [rows[i], codes[i]]
            function(*(ctypes.c_void_p(a.ctypes.data) for a in [*cells, out[i]]))
        return out


@pytest.mark.cases(200)
def test_c(seed, tmp_path):
    problem = Problem(seed)
    X, estimator = problem.table(), problem.estimator
    source = export_c(estimator, name="my")
    library = Library(source, tmp_path)
    categories = [[]] * len(problem.kinds) if problem.is_matrix else estimator.categories_
    x = np.full((len(problem.rows), len(problem.kinds)), np.nan)
    c = np.full(x.shape, -1, dtype=np.intc)
    for i, row in enumerate(problem.rows):
        for j, cell in enumerate(row):
            number, category = cell_parts(cell, problem.kinds[j], [])
            if number is not None:
                x[i, j] = number
            if category is not None and any(categories):
                text = ctypes.c_char_p(str(category).encode())
                c[i, j] = library.functions.my_category(j, text)
                known = list(map(str, categories[j]))
                is_missing = problem.parts(j, cell)[1] is None
                if str(category) in known:
                    assert c[i, j] == known.index(str(category))
                elif known:
                    assert c[i, j] == (-1 if is_missing else len(known))
    c = c if any(categories) else None
    expected = np.array(outputs_of(estimator.predict(X)))
    fractions = fractions_of(estimator, X)
    kind = np.float64 if fractions is None else np.intc
    found = library.call("my_predict", x, c, expected.shape[1], kind)
    if fractions is None:
        assert np.array_equal(found, expected)
        return
    classes = [estimator.classes_] if expected.shape[1] == 1 else estimator.classes_
    labels = [[classes[k][code] for k, code in enumerate(row)] for row in found]
    assert labels == outputs_of(estimator.predict(X))
    proba = library.call("my_predict_proba", x, c, fractions.shape[1], np.float64)
    assert np.array_equal(proba, fractions)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "while", "größe"])
def test_names_that_c_does_not_know(name):
    with pytest.raises(ValueError, match="identifier"):
        export_c(DecisionTreeClassifier().fit([[1.0], [2]], [0, 1]), name=name)


def test_c_with_comments_in_names(tmp_path):
    rows = [["*/ #error", 1], ["b", 2], ["c", 3]]
    tree = DecisionTreeClassifier().fit(rows, ["*/", "/*", "??/"])
    Library(export_c(tree, feature_names=["*/ #error no", "\\"]), tmp_path)


def test_c_knows_missing_values(tmp_path):
    rows = [["a", 1], ["b", 2], ["?", 3], ["c", -9], ["?", 5]]
    tree = DecisionTreeClassifier(missing_values=[-9, "?"]).fit(rows, [0, 1, 2, 3, 2])
    library = Library(export_c(tree), tmp_path)
    codes = {text: library.functions.tree_category(0, text.encode()) for text in
             ("a", "b", "c", "d", "?", " ?\t", "", " ", "??")}  # fmt: skip
    assert codes == {"a": 0, "b": 1, "c": 2, "d": 3, "?": -1, " ?\t": -1, "": -1, " ": 3, "??": 3}
    numbers = DecisionTreeRegressor(missing_values=-9).fit([[1.0], [2.0], [-9.0]], [1, 2, 3])
    (tmp_path / "numbers").mkdir()
    library = Library(export_c(numbers, name="n"), tmp_path / "numbers")
    x = np.array([[-9.0], [1.0], [np.nan], [-8.0]])
    found = library.call("n_predict", x, None, 1, np.float64)
    assert found[:, 0].tolist() == numbers.predict(x).tolist()


def test_c_tells_no_categories_of_equal_text():
    tree = DecisionTreeClassifier(categorical_features=[0]).fit([[1], ["1"], [2]], [0, 1, 0])
    with pytest.raises(ValueError, match="cannot tell apart"):
        export_c(tree)


# ---- SQL


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def run_sqlite(query, names, rows, types=None):
    connection = sqlite3.connect(":memory:")
    types = types or [""] * len(names)
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(names, types))
    connection.execute(f"CREATE TABLE t ({columns})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
    return connection.execute(query).fetchall()


SQLITE_TYPES = {
    "number": ["REAL", "", "NUMERIC"],
    "neighbours": ["REAL", ""],
    "hybrid": ["TEXT", "", "TEXT COLLATE NOCASE"],
    "category": ["TEXT", "", "TEXT COLLATE NOCASE"],
    "boolean": ["BOOLEAN", "INTEGER"],
    "number category": ["REAL", "NUMERIC"],
}


def check_answers(problem, answers):
    """Compare rows (key, predictions, fractions) with what the estimator predicts."""
    X = problem.table()
    answers = [list(row) for row in sorted(answers)]
    assert [row[0] for row in answers] == list(range(len(problem.rows)))
    expected = outputs_of(problem.estimator.predict(X))
    n_outputs = len(expected[0])
    assert [row[1 : 1 + n_outputs] for row in answers] == expected
    fractions = fractions_of(problem.estimator, X)
    if fractions is not None:
        assert np.array_equal([row[1 + n_outputs :] for row in answers], fractions)


@pytest.mark.cases(200)
def test_sqlite(seed):
    problem = Problem(seed)
    with_probabilities = fractions_of(problem.estimator, problem.X) is not None
    query = export_sql(
        problem.estimator, "t", keep=["Number_7"], with_probabilities=with_probabilities,
        feature_names=problem.names,
    )  # fmt: skip
    types = [SQLITE_TYPES[kind][seed % len(SQLITE_TYPES[kind])] for kind in problem.kinds]
    rows = [[i, *row] for i, row in enumerate(problem.rows)]
    answers = run_sqlite(query, ["Number_7", *problem.names], rows, ["INTEGER", *types])
    check_answers(problem, answers)


DUCKDB_TYPES = {"boolean": "BOOLEAN", "hybrid": "VARCHAR", "category": "VARCHAR"}


@pytest.mark.cases(200)
def test_duckdb(seed):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    problem = Problem(seed)
    with_probabilities = fractions_of(problem.estimator, problem.X) is not None
    query = export_sql(
        problem.estimator, ["main", "t"], dialect="duckdb", keep=["key"],
        with_probabilities=with_probabilities, feature_names=problem.names,
    )  # fmt: skip
    with duckdb.connect() as connection:
        columns = ", ".join(
            f"{quoted(name)} {DUCKDB_TYPES.get(kind, 'DOUBLE')}"
            for name, kind in zip(problem.names, problem.kinds)
        )
        connection.execute(f"CREATE TABLE t (key INTEGER, {columns})")
        places = ", ".join("?" * (1 + len(problem.names)))
        rows = [
            [i, *(float("nan") if cell is None and i % 2 and kind == "number" else cell
                  for kind, cell in zip(problem.kinds, row))]
            for i, row in enumerate(problem.rows)
        ]  # fmt: skip
        connection.executemany(f"INSERT INTO t VALUES ({places})", rows)
        check_answers(problem, connection.execute(query).fetchall())


@pytest.fixture(scope="module")
def postgresql():
    """A connection to a PostgreSQL server of this test's own, on a socket in a folder."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), None]
    found = [shutil.which("initdb", path=path) for path in programs]
    initdb = next(filter(None, found), None)
    if initdb is None:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp())
    user = {}
    if os.geteuid() == 0:  # for whom it does not run
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, "nobody", "nogroup")
    data = folder / "data"
    options = ["--auth=trust", "--username=tester", "--encoding=UTF8", "--locale=C", "--no-sync"]
    server = None
    try:
        subprocess.run(
            [initdb, *options, data], check=True, stdout=subprocess.DEVNULL, cwd=folder, **user
        )
        command = [Path(initdb).resolve().parent / "postgres", "-D", data, "-k", folder]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = subprocess.Popen(
            [*command, "-c", "listen_addresses=", "-c", "fsync=off"], cwd=folder, **quiet, **user
        )
        with connect(psycopg, folder, server) as connection:
            yield connection
    finally:
        if server is not None:
            server.terminate()
            server.wait()
        shutil.rmtree(folder)


def connect(psycopg, folder, server):
    """Connect as soon as the server answers."""
    for _ in range(600):
        assert server.poll() is None, "the server has ended"
        try:
            return psycopg.connect(host=str(folder), user="tester", dbname="postgres")
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise TimeoutError("the server does not answer")


POSTGRESQL_TYPES = {
    "number": ["DOUBLE PRECISION"],
    "neighbours": ["DOUBLE PRECISION"],
    "hybrid": ["TEXT", "VARCHAR(20)"],
    "category": ["TEXT", "VARCHAR(20)"],
    "boolean": ["BOOLEAN", "INTEGER"],
    "number category": ["DOUBLE PRECISION", "NUMERIC", "REAL"],
}


@pytest.mark.cases(200)
def test_postgresql(seed, postgresql):
    problem = Problem(seed)
    with_probabilities = fractions_of(problem.estimator, problem.X) is not None
    query = export_sql(
        problem.estimator, ["pg_temp", "t"], dialect="postgresql", keep=["Number_7"],
        with_probabilities=with_probabilities, feature_names=problem.names,
    )  # fmt: skip
    types = [POSTGRESQL_TYPES[kind][seed % len(POSTGRESQL_TYPES[kind])] for kind in problem.kinds]
    columns = [f"{quoted(name)} {kind}" for name, kind in zip(problem.names, types)]
    rows = [[i, *map(postgresql_cell, itertools.repeat(i), types, row)]
            for i, row in enumerate(problem.rows)]  # fmt: skip
    with postgresql.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE t ({', '.join(['key INTEGER', *columns])})")
        cursor.execute('ALTER TABLE t RENAME COLUMN key TO "Number_7"')
        places = ", ".join(["%s"] * (1 + len(types)))
        cursor.executemany(f"INSERT INTO t VALUES ({places})", rows)
        check_answers(problem, cursor.execute(query).fetchall())
    postgresql.rollback()


def postgresql_cell(i, kind, cell):
    """A cell of a column of some type; missing numbers are NaN in every other row."""
    if kind == "DOUBLE PRECISION" and cell is None and i % 2:
        return math.nan
    return int(cell) if kind == "INTEGER" and cell is not None else cell


def test_sqlite_casts_no_word_to_a_number():
    """It turns 'abc' into 0 where it is asked for a number."""
    rows = [["abc"], ["-1"], ["5"], ["2 apples"]]
    tree = DecisionTreeRegressor(max_depth=2).fit(rows, [1.0, 2.0, 3.0, 1.0])
    query = export_sql(tree, "t", feature_names=["a"])
    found = run_sqlite(query, ["a"], [["abc"], ["-1"], [5], ["5.0"], ["2 apples"], ["0x9"]])
    assert [row[0] for row in found] == tree.predict(
        [["abc"], ["-1"], ["5"], ["5.0"], ["2 apples"], ["0x9"]]
    ).tolist()


def test_postgresql_reads():
    """What is PostgreSQL's own; the rest of the query is that of the other databases."""
    tree = DecisionTreeClassifier().fit([["a", 1.5], ["7", 2.5], ["b", 3]], ["x", "y", "z'"])
    query = export_sql(tree, ("public", "t"), dialect="postgresql", feature_names=["a", 'b"'])
    assert 'FROM "public"."t"' in query
    assert "'z'''" in query
    assert "DOUBLE PRECISION" in query


def test_one_column_to_keep():
    tree = DecisionTreeRegressor().fit([[1.0], [2.0]], [0, 1])
    queries = [export_sql(tree, "t", keep=keep, feature_names=["a"]) for keep in ("id", ["id"])]
    assert queries[0] == queries[1]
    assert run_sqlite(queries[0], ["id", "a"], [["u", 1.0], ["v", 3.0]]) == [("u", 0), ("v", 1)]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgresql"])
def test_every_column_of_the_answer_has_a_name_of_its_own(dialect):
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    answers = {"dialect": dialect, "with_probabilities": True}
    for keep in ("prediction", ["id", "probability_1"]):
        with pytest.raises(ValueError, match="the query has a column of that name. A view"):
            export_sql(tree, "t", keep=keep, **answers)
    with pytest.raises(ValueError, match="cannot name the column 'id': it is kept already"):
        export_sql(tree, "t", keep=["id", "id"], **answers)
    if dialect == "postgresql":  # which tells the case of quoted names
        assert '"Prediction"' in export_sql(tree, "t", keep=["Prediction", "id", "ID"], **answers)
    else:
        with pytest.raises(ValueError, match="'Prediction': the query has"):
            export_sql(tree, "t", keep="Prediction", **answers)
    if dialect == "sqlite":  # of letters of ASCII
        assert '"É"' in export_sql(tree, "t", keep=["É", "é"], **answers)
    assert '"prediction"' in export_sql(tree, "t", keep="probability_0", dialect=dialect)


def test_classes_that_are_dates():
    """They are texts in code and data, which have no common type for dates."""
    days = np.array(["2020-01-31", "2021-02-01"], dtype="datetime64[D]")
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], days)
    expected = ["2020-01-31", "2021-02-01"]
    module = {}
    exec(export_python(tree), module)
    assert [module["predict"](row) for row in ([1.0], [2.0])] == expected
    query = export_sql(tree, "t", feature_names=["a"])
    assert run_sqlite(query, ["a"], [[1.0], [2.0]]) == [(text,) for text in expected]
    assert [rule.prediction for rule in export_rules(tree)] == expected
    root = json.loads(json.dumps(export_dict(tree)))
    assert [root[side]["prediction"] for side in ("left", "right")] == expected


def test_sqlite_takes_a_tree_of_one_leaf():
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    for options in ({}, {"keep": "a"}):
        query = export_sql(tree, "t", feature_names=["a"], **options)
        assert [row[-1] for row in run_sqlite(query, ["a"], [[1.0], [3.0]])] == ["a", "a"]


def test_refusals_of_sql():
    tree = DecisionTreeRegressor().fit([[1.0], [2]], [0, 1])
    with pytest.raises(ValueError, match="dialect"):
        export_sql(tree, "t", dialect="oracle")
    with pytest.raises(ValueError, match="classification"):
        export_sql(tree, "t", with_probabilities=True)
    mixed = DecisionTreeClassifier().fit([[True], ["a"], ["b"]], [0, 1, 1])
    with pytest.raises(ValueError, match="several types"):
        export_sql(mixed, "t")
    with pytest.raises(ValueError, match="feature_names"):
        export_sql(tree, "t", feature_names=["a", "b"])
    with pytest.raises(TypeError, match="fitted tree"):
        export_sql("tree", "t")
    with pytest.raises(TypeError, match=r"keep must be a name or a list of names, got \[3\]"):
        export_sql(tree, "t", keep=[3])
    with pytest.raises(TypeError, match="table must be a name or a list of names, got None"):
        export_sql(tree, None)
    forest = RandomForestClassifier(2).fit([[1.0], [2]], [0, 1])
    with pytest.raises(TypeError, match="A forest holds trees in estimators_"):
        export_sql(forest, "t")


# ---- rules


def fulfils(condition, number, category):
    if number is not None:
        return condition.above is not None and condition.above < np.float32(number) <= (
            condition.at_most
        )
    if category is None:
        return condition.missing
    named = condition.categories
    if named is None:
        return category not in condition.not_categories
    return category in named


@pytest.mark.cases(200)
def test_rules(seed):
    problem = Problem(seed)
    X, tree = problem.table(), problem.estimator.tree_
    rules = export_rules(problem.estimator)
    leaves = problem.estimator.apply(X)
    expected = problem.estimator.predict(X).tolist()
    for row, leaf, answer in zip(problem.rows, leaves, expected):
        parts = [problem.parts(j, cell) for j, cell in enumerate(row)]
        found = [
            rule for rule in rules if all(fulfils(c, *parts[c.feature]) for c in rule.conditions)
        ]
        assert [rule.leaf for rule in found] == [leaf]
        prediction = found[0].prediction
        assert (list(prediction) if isinstance(prediction, tuple) else prediction) == answer
    assert sum(rule.n_node_samples for rule in rules) == tree.n_node_samples[0]
    assert np.isclose(sum(rule.support for rule in rules), 1)
    for rule in rules:
        asked = [condition.feature for condition in rule.conditions]
        assert len(asked) == len(set(asked))
    assert list(map(str, rules)) == list(map(str, export_rules(problem.estimator)))


def test_texts_of_rules():
    rows = [["red", 1, 5], ["blue", 2, 5], ["red", 3, None], ["green", 4, 7], [None, 3, 6]]
    y = [1, 2, 3, 4, 5]
    tree = DecisionTreeClassifier().fit(rows, y)
    texts = [str(rule) for rule in export_rules(tree, feature_names=["colour", "n", "m"])]
    assert len(texts) == 5
    assert texts == sorted(set(texts), key=texts.index)
    numbers = DecisionTreeRegressor().fit([[1.0], [2.0], [3.0]], [1, 2, 3])
    assert [str(rule) for rule in export_rules(numbers, feature_names=["a"])] == [
        "if a <= 1.5 then 1  (support 33.3%)",
        "if 1.5 < a <= 2.5 then 2  (support 33.3%)",
        "if (a > 2.5 or missing) then 3  (support 33.3%)",
    ]


def test_names_of_classes_in_rules():
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1])
    assert [rule.prediction for rule in export_rules(tree, class_names=["no", "yes"])] == [
        "no",
        "yes",
    ]
    with pytest.raises(ValueError, match="class_names"):
        export_rules(tree, class_names=["no"])
    with pytest.raises(ValueError, match="class_names"):
        export_rules(DecisionTreeRegressor().fit([[1.0], [2.0]], [0, 1]), class_names=["no"])


def test_every_kind_of_problem_is_drawn():
    problems = [Problem(seed) for seed in range(0, 200, 10)]
    assert len({problem.task for problem in problems}) > 6
    assert len(set(itertools.chain(*(problem.kinds for problem in problems)))) == 6
