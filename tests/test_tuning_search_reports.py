"""What TrainOnceSearchCV tells: times, prints, callbacks, fits that fail and errors."""

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold

from fasttree.model_selection import TrainOnceRandomizedSearchCV, TrainOnceSearchCV
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from reference.searches import DIABETES, IRIS, assert_same_results, fit_with_warnings

# ---- progress


def test_time_of_a_fit_is_shared():
    search = TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2, 3, 4]}, cv=3).fit(
        *IRIS
    )
    times = search.cv_results_["mean_fit_time"]
    assert (times > 0).all()
    assert (times == times[0]).all()


@pytest.mark.parametrize("verbose", [0, 1, 2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", ["accuracy", "f1_macro"]])
def test_what_is_printed(capsys, verbose, scoring):
    """A line per fit, however many settings are cut from it."""
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    options = dict(verbose=verbose, scoring=scoring, refit="accuracy", cv=2)
    search = TrainOnceSearchCV(DecisionTreeClassifier(), grid, **options).fit(*IRIS)
    lines = capsys.readouterr().out.splitlines()
    header = "Scoring 6 candidates on 2 folds each, totalling 4 fits"
    assert lines[:1] == [header][:verbose]
    lines = [line.rpartition(", total time=")[0] for line in lines[1:]]
    names = ["score"] if scoring == "accuracy" else scoring
    expected = []
    for criterion in grid["criterion"]:
        of_fit = search.cv_results_["param_criterion"] == criterion
        for k in range(2):
            line = f"[CV {k + 1}/2] END criterion={criterion}; 3 settings"
            if verbose > 2:
                scores = (search.cv_results_[f"split{k}_test_{name}"][of_fit] for name in names)
                best = (f"{name}={max(of):.3f}" for name, of in zip(names, scores))
                line += f", best {', '.join(best)}"
            expected.append(line)
    assert lines == (expected if verbose > 1 else [])


class Recorder:
    """A callback of scikit-learn's kind that writes down what it is called for."""

    def __init__(self):
        self.seen, self.n_subtasks = [], {}

    def setup(self, estimator, context):
        self.seen.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(("begin", context.task_name))
        self.n_subtasks[context.task_name] = context.max_subtasks

    def on_fit_task_end(self, estimator, context):
        self.seen.append(("end", context.task_name))

    def teardown(self, estimator, context):
        self.seen.append(("teardown", context.task_name))


@pytest.mark.parametrize("fails", [False, True])
def test_callbacks_see_a_task_per_fold(fails):
    """As GridSearchCV's, with a task per fit of a fold instead of one per setting."""
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    if fails:
        grid["max_leaf_nodes"] = [-1]
    recorders = Recorder(), Recorder()
    for search, recorder in zip((GridSearchCV, TrainOnceSearchCV), recorders):
        one = search(DecisionTreeClassifier(), grid, cv=2, error_score="raise")
        one.set_callbacks(recorder)
        if fails:
            with pytest.raises(ValueError, match="max_leaf_nodes"):
                one.fit(*IRIS)
        else:
            one.fit(*IRIS)
    (theirs, of_theirs), (ours, of_ours) = ((one.seen, one.n_subtasks) for one in recorders)
    if fails:
        assert ours[-2:] == [("end", "fold-evaluation"), ("teardown", "fit")]
        return
    assert of_ours["search"] == 4
    assert of_ours["fit"] == of_theirs["fit"]
    assert ours.count(("begin", "fold-evaluation")) == ours.count(("end", "fold-evaluation")) == 4
    others = [
        [entry for entry in seen if not entry[1].endswith("-evaluation")] for seen in (ours, theirs)
    ]
    assert others[0] == others[1]


# ---- fits that fail


def test_a_setting_that_is_not_allowed_fails_alone():
    grid = {"max_depth": [2, -1], "min_samples_split": [2, 1.5, "many"]}
    expected, actual = (
        fit_with_warnings(search(DecisionTreeClassifier(), grid, error_score=-1.0), *IRIS)
        for search in (GridSearchCV, TrainOnceSearchCV)
    )
    for _, caught in (expected, actual):
        ((category, text),) = caught
        assert category is FitFailedWarning
        assert "25 fits failed out of a total of 30" in text
    assert_same_results(actual[0].cv_results_, expected[0].cv_results_)
    assert actual[0].best_params_ == {"max_depth": 2, "min_samples_split": 2}
    with pytest.raises(ValueError, match="min_samples_split"):
        TrainOnceSearchCV(DecisionTreeClassifier(), grid, error_score="raise").fit(*IRIS)
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [0]}).fit(*IRIS)


def test_a_fit_that_fails_fails_all_its_settings():
    """One fold has negative targets, which poisson does not take."""
    X, y = np.arange(30.0)[:, None], np.arange(30.0)
    y[3] = -1.0
    grid = {"criterion": ["poisson", "squared_error"], "max_depth": [1, 2, 3]}
    expected, actual = (
        fit_with_warnings(search(DecisionTreeRegressor(), grid, cv=3), X, y)
        for search in (GridSearchCV, TrainOnceSearchCV)
    )
    assert [category for category, _ in actual[1]] == [category for category, _ in expected[1]]
    assert "6 fits failed out of a total of 18" in actual[1][0][1]
    assert_same_results(actual[0].cv_results_, expected[0].cv_results_)
    assert actual[0].best_params_["criterion"] == "squared_error"


def test_a_last_fit_that_fails_leaves_the_earlier_search():
    """A target that poisson does not take is in the training rows of one fold of two."""
    X, y = np.arange(30.0)[:, None], np.arange(30.0)
    grid = {"criterion": ["poisson"], "max_depth": [1, 2]}
    search = TrainOnceSearchCV(DecisionTreeRegressor(), grid, cv=2, error_score=-9.0).fit(X, y)
    before = vars(search).copy()
    with (
        pytest.warns(FitFailedWarning, match="2 fits failed out of a total of 4"),
        pytest.raises(ValueError, match="negative"),
    ):
        search.fit(X, np.where(y == 3.0, -1.0, y))
    assert vars(search) == before


# ---- errors


def test_grids_that_are_no_grids_are_an_error():
    with pytest.raises(ValueError, match="empty"):
        TrainOnceSearchCV(DecisionTreeClassifier(), []).fit(*IRIS)
    with pytest.raises(ValueError, match="max_depth"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": []}).fit(*IRIS)
    with pytest.raises(TypeError, match=r"named by strings, got \[1, 'max_depth'\]"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {1: [2], "max_depth": [3]}).fit(*IRIS)
    with pytest.raises(TypeError, match=r"named by strings, got \[1\]"):
        TrainOnceRandomizedSearchCV(DecisionTreeClassifier(), {1: [2]}).fit(*IRIS)
    one = TrainOnceSearchCV(DecisionTreeClassifier(max_depth=2), {}).fit(*IRIS)
    assert one.best_params_ == {}
    assert one.best_estimator_.get_depth() == 2


@pytest.mark.parametrize("scoring", ["neg_log_loss", ["r2", "roc_auc"]])
def test_probabilities_of_a_regressor_are_an_error(scoring):
    search = TrainOnceSearchCV(
        DecisionTreeRegressor(), {"max_depth": [1]}, scoring=scoring, refit="r2"
    )
    with pytest.raises(ValueError, match="DecisionTreeRegressor does not have"):
        search.fit(*DIABETES)


def test_parameters_that_do_not_exist_are_an_error():
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"depth": [1]}).fit(*IRIS)
    with pytest.raises(ValueError, match="'error_score' parameter"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, error_score="no").fit(*IRIS)


def test_splitters_that_contradict_themselves_are_an_error():
    class Liar(KFold):
        def get_n_splits(self, X=None, y=None, groups=None):
            return 7

    with pytest.raises(ValueError, match="disagree"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=Liar(3)).fit(*IRIS)
    with pytest.raises(ValueError, match="no splits"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=[]).fit(*IRIS)
