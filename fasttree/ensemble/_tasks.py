"""What forests of classifiers and of regressors predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import assert_all_finite

from fasttree.ensemble._base import Forest
from fasttree.ensemble._oob import OutOfBagMixin

if TYPE_CHECKING:
    from fasttree._typing import Array, FloatArray, MatrixLike

__all__ = ["ClassifierForest", "RegressorForest"]


class ClassifierForest(OutOfBagMixin, Forest):
    """Prediction of classes."""

    def predict_proba(self, X: MatrixLike) -> FloatArray | list[FloatArray]:
        """Return the mean over the trees of the fractions of the classes in a row's leaves.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or list of n_outputs such arrays
            Probabilities in the order of `classes_`.
        """
        means = self._means(X)
        if self.n_outputs_ == 1:
            return means[:, 0]
        return [np.ascontiguousarray(means[:, k, :n]) for k, n in enumerate(self.n_classes_)]

    def predict(self, X: MatrixLike) -> Array:
        """Return the class of the largest mean probability.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels; of several equally probable ones the first in `classes_`.
        """
        return super().predict(X)

    def _target_numbers(self, y):
        classes = [self.classes_] if self.n_outputs_ == 1 else self.classes_
        codes = []
        for own, labels in zip(classes, y.T, strict=True):
            if not np.isin(labels, own).all():
                raise ValueError("y holds classes that fit did not see.")
            codes.append(np.searchsorted(own, labels))
        return np.array(codes, dtype=np.float64).T

    @staticmethod
    def _loss(y, values):
        return np.mean(np.argmax(values, axis=2) != y)

    def _score_oob(self, y, means):
        # Every output has as many classes as the first: others are refused above.
        decision = means.transpose(0, 2, 1)
        self.oob_decision_function_ = decision[:, :, 0] if self.n_outputs_ == 1 else decision
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        self.oob_score_ = score(y, np.argmax(self.oob_decision_function_, axis=1))


class RegressorForest(OutOfBagMixin, Forest):
    """Prediction of numbers."""

    def predict(self, X: MatrixLike) -> FloatArray:
        """Return the mean of the trees' predictions.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets.
        """
        means = self._means(X)[:, :, 0]
        return means[:, 0] if self.n_outputs_ == 1 else means

    def _target_numbers(self, y):
        numbers = y.astype(np.float64)
        assert_all_finite(numbers, input_name="y")
        return numbers

    @staticmethod
    def _loss(y, values):
        return np.mean((values[:, :, 0] - y) ** 2)

    def _score_oob(self, y, means):
        self.oob_prediction_ = means[:, 0, 0] if self.n_outputs_ == 1 else means[:, :, 0]
        score = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = score(y, self.oob_prediction_)
