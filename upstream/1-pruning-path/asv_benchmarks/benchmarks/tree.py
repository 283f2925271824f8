from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from .common import Benchmark
from .datasets import _synth_classification_dataset, _synth_regression_dataset


class PruningPathBenchmark(Benchmark):
    """
    Cost-complexity pruning path of a full tree, without its fit.
    """

    param_names = ["criterion", "n_samples"]
    params = (["gini", "squared_error"], [1_000, 10_000])

    def setup(self, criterion, n_samples):
        if criterion == "gini":
            X, _, y, _ = _synth_classification_dataset(n_samples, n_features=20)
            estimator = DecisionTreeClassifier(random_state=0)
        else:
            X, _, y, _ = _synth_regression_dataset(n_samples, n_features=20)
            estimator = DecisionTreeRegressor(random_state=0)
        self.tree = estimator.fit(X, y).tree_

    def time_pruning_path(self, criterion, n_samples):
        from sklearn.tree._tree import ccp_pruning_path

        ccp_pruning_path(self.tree)
