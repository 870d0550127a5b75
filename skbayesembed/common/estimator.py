"""What the estimators share: mixins for documents and features, and attributes learned by fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted


class Learned:
    """A fitted attribute, worked out anew when it is looked at after ``partial_fit``.

    The estimator keeps all of them in the dict ``_fitted``, which ``_read_stream()`` fills from
    ``_stream`` where there is none.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        state = estimator.__dict__
        if state.get("_fitted") is None and state.get("_stream") is not None:
            estimator._read_stream()
        found = state.get("_fitted") or {}
        if self.name not in found:
            kind = type(estimator).__name__
            raise AttributeError(f"{kind!r} object has no attribute {self.name!r}")
        return found[self.name]

    def __set__(self, estimator: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} is learned by fit and cannot be set")


class FittedMixin:
    """Attributes that every estimator learns, and their renewal after ``partial_fit``.

    What ``fit`` leaves goes through `_set_fitted`. A stream, what ``partial_fit`` has learned, has
    ``learn(estimator, X, ...)`` and ``fitted(estimator) -> Fitted``; draws and means are made when
    they are first looked at after a call.
    """

    posterior_ = Learned()
    n_iter_ = Learned()
    approximation_ = Learned()
    elbo_ = Learned()

    def _set_fitted(self, found):
        """Keep what a fit leaves, a `Fitted`, as fitted attributes."""
        posterior = found.posterior
        approximation = posterior.approximation
        known = {"posterior_": posterior, "n_iter_": found.n_iter}
        if approximation is not None:
            known["approximation_"] = approximation
        elbo = getattr(approximation, "elbo", None)
        if elbo is not None:
            known["elbo_"] = elbo
        # what the room works out may look at the others
        self._fitted = known | found.learned
        self._fitted |= self._learned_from(posterior)

    def _learned_from(self, posterior):
        """Fitted attributes of the room that follow from the posterior, a dict."""
        return {}

    def _read_stream(self):
        self._set_fitted(self._stream.fitted(self))

    def _learn_stream(self, begin, *batch):
        """Take in a batch, in a stream that ``begin()`` makes where there is none; returns self."""
        stream = self.__dict__.get("_stream")
        if stream is None:
            stream = begin()
        stream.learn(self, *batch)
        self._stream, self._fitted = stream, None
        return self


def learns_online(estimator: Any) -> bool:
    """Whether there is a ``partial_fit``; scikit-learn asks before it looks for the method."""
    if estimator.solver != "vi":
        raise AttributeError(
            f"partial_fit is available with solver='vi' only, got solver={estimator.solver!r}: "
            "use fit."
        )
    return True


class DocumentTransformerMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Estimators that transform documents, given as text or as counts."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        return tags


class DocumentFeaturesMixin(DocumentTransformerMixin):
    """Estimators that turn documents into features: posterior means, or also their spread.

    They have the parameter ``features`` and, once fitted, ``_n_means``, the number of means.
    """

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of ``transform``.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "posterior_")
        names = super().get_feature_names_out(input_features)
        k = self._n_means
        if len(names) > k:
            names = np.array([*names[:k], *(f"{name}_std" for name in names[:k])], dtype=object)
        return names

    @property
    def _n_features_out(self):
        return self._n_means * (2 if self.features == "mean_std" else 1)
