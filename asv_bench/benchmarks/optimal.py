"""Optimal trees: time and work of the search by depth, kernels and threads."""

import os
from pathlib import Path

import numpy as np

from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.optimal._engine import has_instruction_set

from . import data
from .common import sizes

INSTRUCTION_SETS = [name for name in ("avx512", "avx2", "portable") if has_instruction_set(name)]


def paper_data(name):
    """A set of the folder FASTTREE_OPTIMAL_DATA: the class, then 0/1 columns."""
    folder = os.environ.get("FASTTREE_OPTIMAL_DATA")
    if folder is None:
        raise NotImplementedError  # asv's way to skip
    table = np.loadtxt(Path(folder) / f"{name}.csv.xz", dtype=np.int8)
    return table[:, 1:].astype(np.float32), table[:, 0].astype(np.int64)


class Fit:
    params = [[2, 3, 4], INSTRUCTION_SETS]
    param_names = ["depth", "instruction_set"]

    def setup(self, depth, instruction_set):
        self.X, self.y = data.binary()
        self.estimator = OptimalDecisionTreeClassifier(
            max_depth=depth, search_options=SearchOptions(instruction_set=instruction_set)
        )

    def time_fit(self, depth, instruction_set):
        self.estimator.fit(self.X, self.y)

    def track_depth_two_calls(self, depth, instruction_set):
        self.estimator.fit(self.X, self.y)
        return self.estimator.search_statistics_["n_terminal_calls"]

    track_depth_two_calls.unit = "calls"


class Size:
    params = [sizes([500, 5_000], [50_000]), [30, 60, 120]]
    param_names = ["n_samples", "n_features"]

    def setup(self, n_samples, n_features):
        self.X, self.y = data.binary(n_samples, n_features)

    def time_fit(self, n_samples, n_features):
        OptimalDecisionTreeClassifier(max_depth=3).fit(self.X, self.y)

    def peakmem_fit(self, n_samples, n_features):
        OptimalDecisionTreeClassifier(max_depth=3).fit(self.X, self.y)


class Order:
    """Order of the features, and what each kind of bound and cache saves."""

    params = [
        [
            {},
            {"order": "gini"},
            {"order": "in-order"},
            {"order": "random"},
            {"cache": None},
            {"cache": "branch"},
            {"sibling_bound": False},
            {"cousin_bound": False},
            {"parent_bound": False},
            {"conflict_bound": False},
            {"upper_bound": False},
            {"start": None},
            {"start": "deepening"},
        ]
    ]
    param_names = ["switches"]

    def setup(self, switches):
        self.X, self.y = data.binary(500, 30)
        self.estimator = OptimalDecisionTreeClassifier(
            max_depth=5, search_options=SearchOptions(**switches)
        )

    def time_fit(self, switches):
        self.estimator.fit(self.X, self.y)

    def track_depth_two_calls(self, switches):
        self.estimator.fit(self.X, self.y)
        return self.estimator.search_statistics_["n_terminal_calls"]

    track_depth_two_calls.unit = "calls"


class Anytime:
    """Objective and proven bound when time is up, in errors."""

    params = [[0.01, 0.1, 1.0]]
    param_names = ["time_limit"]

    def setup(self, time_limit):
        self.X, self.y = data.binary(2_000, 120)
        self.estimator = OptimalDecisionTreeClassifier(max_depth=5, time_limit=time_limit)

    def track_errors(self, time_limit):
        return self.estimator.fit(self.X, self.y).objective_ * len(self.y)

    def track_lower_bound(self, time_limit):
        return self.estimator.fit(self.X, self.y).lower_bound_ * len(self.y)

    track_errors.unit = track_lower_bound.unit = "errors"


class Shape:
    """Three classes, least leaves, weights, thresholds and the whole front cost more."""

    params = [["plain", "three classes", "min leaf", "min weight", "weights", "numeric", "front"]]
    param_names = ["kind"]

    def setup(self, kind):
        self.X, self.y = data.binary()
        self.weights = None
        self.estimator = OptimalDecisionTreeClassifier(max_depth=3)
        if kind == "three classes":
            self.y = self.y + (self.X[:, 20] > 0)
        elif kind == "min leaf":
            self.estimator.set_params(min_samples_leaf=20)
        elif kind in ("weights", "min weight"):
            self.weights = np.random.default_rng(0).exponential(size=len(self.y))
            if kind == "min weight":
                self.estimator.set_params(min_weight_fraction_leaf=0.02)
        elif kind == "numeric":
            rng = np.random.default_rng(1)
            self.X = (self.X[:, ::6] + rng.standard_normal((len(self.X), 10))).astype(np.float32)
        elif kind == "front":
            self.estimator.set_params(pareto_front=True)

    def time_fit(self, kind):
        self.estimator.fit(self.X, self.y, sample_weight=self.weights)


class Threads:
    params = [[1, 2], ["root", "leaf"]]
    param_names = ["n_jobs", "sharing"]

    def setup(self, n_jobs, sharing):
        self.X, self.y = data.binary(n_features=90)
        self.estimator = OptimalDecisionTreeClassifier(
            max_depth=4, n_jobs=n_jobs, search_options=SearchOptions(sharing=sharing)
        )

    def time_fit(self, n_jobs, sharing):
        self.estimator.fit(self.X, self.y)


class Paper:
    params = [["anneal", "heart-cleveland", "german-credit", "pendigits"], [(4, 15), (5, 24)]]
    param_names = ["set", "limits"]
    timeout = 120

    def setup(self, name, limits):
        depth, n_nodes = limits
        self.X, self.y = paper_data(name)
        self.estimator = OptimalDecisionTreeClassifier(max_depth=depth, max_leaf_nodes=n_nodes + 1)

    def time_fit(self, name, limits):
        self.estimator.fit(self.X, self.y)

    def peakmem_fit(self, name, limits):
        self.estimator.fit(self.X, self.y)
