"""Tables with labels, fitted as they are, beside encoders in front of scikit-learn's tree."""

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from . import data
from .common import make_estimator

ENCODERS = {
    "one-hot dense": OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    "one-hot sparse": OneHotEncoder(handle_unknown="ignore"),
    "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
}
METHODS = ("fasttree", *ENCODERS)


def make_method(method, frame, task):
    """fasttree's tree, or an encoder of the columns of labels and scikit-learn's tree."""
    if method == "fasttree":
        return make_estimator("fasttree", task)
    labels = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    encode = make_column_transformer(
        (ENCODERS[method], labels),
        remainder="passthrough",
        sparse_threshold=1.0 if method == "one-hot sparse" else 0.0,
    )
    return make_pipeline(encode, make_estimator("scikit-learn", task))


class Labels:
    """Encoding included; the tables of the folder FASTTREE_DATA, else one that is made up."""

    params = [METHODS, data.label_table_names(data.data_folder())]
    param_names = ["method", "table"]

    def setup(self, method, table):
        self.frame, self.y, task = data.read_frame(data.data_folder(), table)
        self.estimator = make_method(method, self.frame, task)

    def time_fit(self, method, table):
        self.estimator.fit(self.frame, self.y)

    def peakmem_fit(self, method, table):
        self.estimator.fit(self.frame, self.y)

    def track_accuracy(self, method, table):
        """Of half of the rows, by the tree of the others."""
        half = len(self.y) // 2
        self.estimator.fit(self.frame[:half], self.y[:half])
        return self.estimator.score(self.frame[half:], self.y[half:])
