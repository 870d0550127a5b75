"""What the estimators share: attributes that ``fit`` learns, and mixins for documents and features.

After ``fit`` the learned attributes are in a dict. After ``partial_fit`` there is no such dict
until one of them is looked at, so that no draws are made between batches.
"""

from __future__ import annotations

import contextlib
import copy
import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper, wraps
from types import FunctionType, MethodType
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..corpus.units import sampling_in_use
from ..io.digest import digest
from ..io.models import SaveMixin
from ..posterior.report import Report, report_of, settings_of
from .checks import check_integer
from .interruption import undisturbed
from .memory import check_memory
from .warnings import warn_user

_Method = TypeVar("_Method", bound=Callable[..., Any])
# What modules of this package are called.
_PACKAGE = f"{__name__.partition('.')[0]}."
# Entries of a list in the print of an estimator.
_MOST_SHOWN = 6


class Learned:
    """A fitted attribute of an estimator; set on the class as ``posterior_ = Learned()``.

    The values of all of them are in the estimator's dict ``_fitted``. If that is None, as it is
    after ``partial_fit``, the estimator's ``_read_stream()`` fills it when an attribute is looked
    at.
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


def _drop_mixin(mixin):
    """Call public methods by their names alone, since Python's errors of arguments have these."""
    for name, method in vars(mixin).items():
        if isinstance(method, FunctionType) and name[0] != "_":
            method.__qualname__ = name


class FittedMixin(SaveMixin):
    """Attributes that every estimator learns, and their renewal after ``partial_fit``.

    ``fit`` passes what it leaves to `_set_fitted`. ``partial_fit`` keeps a stream, an object that
    holds what was learned so far and has two methods: ``learn(estimator, X, ...)`` takes in a
    batch, and ``fitted(estimator)`` makes a `spine.Fitted` of what was learned. The latter is
    called when a learned attribute is first looked at after a batch.

    Attributes
    ----------
    posterior_ : Posterior
        Draws, their statistics and diagnostics.
    n_iter_ : int
        Number of iterations of the solver.
    solver_ : str
        Solver used: ``solver``, or what ``"auto"`` stood for.
    approximation_ : Approximation
        Approximation from which ``"vi"`` and ``"laplace"`` drew.
    elbo_ : ndarray of shape (n_iter,)
        Bound on the log evidence after every iteration of ``"vi"``.
    """

    posterior_ = Learned()
    n_iter_ = Learned()
    solver_ = Learned()
    approximation_ = Learned()
    elbo_ = Learned()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__:
            if base.__module__.startswith(_PACKAGE) and base.__name__.endswith("Mixin"):
                _drop_mixin(base)

    def report(self) -> Report:
        """Return the facts about the fit that a paper states, with the same rows for all solvers.

        Returns
        -------
        Report
            A table: the estimator, versions, random state and settings; the solver and why it was
            chosen; numbers of documents, tokens, words, units and periods; priors and how they were
            chosen; draws, the largest R-hat and the smallest effective sample size and what they
            are of; modes; what intervals describe; and warnings. Rows that do not apply say so.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.

        Notes
        -----
        Numbers of documents and tokens are not known for pair counts and after ``partial_fit``.
        Warnings are those of the solver and its diagnostics, not those about the data.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> model.report().find("units")
        '30'
        """
        check_is_fitted(self, "posterior_")
        return report_of(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # scikit-learn's, and what "auto" stood for, once it is known
        shown = super(FittedMixin, _shortened(self))
        text: str = shown.__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        fitted = self.__dict__.get("_fitted") or {}
        known = getattr(self, "solver", None) == "auto" and "solver_" in fitted
        return f"{text} [solver_={fitted['solver_']!r}]" if known else text

    def _get_fitted_attr_html(self, doc_link=""):
        """scikit-learn's table of attributes for notebooks, of those that are there by now."""
        base: Any = super(FittedMixin, self._shown())
        return base._get_fitted_attr_html(doc_link)

    def _shown(self):
        """A copy whose attributes can all be looked at without any work."""
        shown = copy.copy(self)
        shown._stream = None
        sampling = sampling_in_use(self)
        made = {} if sampling is None else vars(sampling)
        of_model = getattr(self, "uncertainty", None) == "model"
        if not ("deviations" in made or of_model and {"n_units", "dispersion"} <= made.keys()):
            shown._sampling = None
        return shown

    def _set_fitted(self, found):
        """Keep what a fit leaves, a `spine.Fitted`, as learned attributes."""
        posterior = found.posterior
        posterior.attrs |= settings_of(self)
        approximation = posterior.approximation
        known = {"posterior_": posterior, "n_iter_": found.n_iter}
        known["solver_"] = posterior.attrs["solver"]
        if approximation is not None:
            known["approximation_"] = approximation
        elbo = getattr(approximation, "elbo", None)
        if elbo is not None:
            known["elbo_"] = elbo
        # what the room works out from the posterior may need the attributes above
        self._fitted = known | found.learned
        self._fitted |= self._learned_from(posterior)

    def _learned_from(self, posterior):
        """Further learned attributes that a room works out from the posterior, as a dict."""
        return {}

    def _read_stream(self):
        """Fill the learned attributes from what ``partial_fit`` has learned."""
        self._set_fitted(self._stream.fitted(self))

    def _learn_stream(self, begin, *batch):
        """Let the stream learn from a batch; ``begin()`` makes the stream before the first one.

        Returns the estimator.
        """
        stream = self.__dict__.get("_stream")
        if stream is None:
            if self.__dict__.get("_fitted") is not None:
                warn_user(
                    "partial_fit does not go on from fit: it begins anew, with the words and the "
                    "documents of its own batches. To go on learning, begin with partial_fit.",
                    UserWarning,
                )
            with _all_or_nothing(self):
                stream = begin()
                stream.learn(self, *batch)
                self._take_in(stream)
        else:
            # streams of earlier versions know of none
            check_fixed(self, getattr(stream, "fixed", {}))
            before = stream.n_taken
            try:
                stream.learn(self, *batch)
                self._take_in(stream)
            except BaseException:
                # where warnings are errors it is still the error before that is raised
                with contextlib.suppress(Warning):
                    self._tell_of_part(stream, stream.n_taken - before, batch[0])
                raise
        return self

    def _take_in(self, stream):
        """Let all that is read be of what a stream has learned; Ctrl-C waits until it is."""
        with undisturbed():
            self._stream, self._fitted = stream, None
            self._note_batch(stream)

    def _note_batch(self, stream):
        """Set what else follows a batch."""

    def _tell_of_part(self, stream, n, X):
        """Warn of ``n`` minibatches that a call has taken in which did not come to its end."""
        if n:
            self._take_in(stream)
            if stream.takes_whole(X):
                text = "partial_fit was interrupted when it had taken in all of X: go on behind it."
            else:
                text = (
                    f"partial_fit did not come to its end, and has taken in {n} minibatch"
                    f"{'es' * (n > 1)} of X, the first ones, of batch_size={self.batch_size} "  # type: ignore[attr-defined]
                    "documents each. Documents that are passed again count twice: go on behind "
                    "them."
                )
            warn_user(text, UserWarning)


@contextlib.contextmanager
def _all_or_nothing(estimator):
    """Context after which, if it fails, the estimator is as it was before.

    Not if the new fit is there already: what comes after it are warnings.
    """
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        if estimator.__dict__.get("_fitted") is before.get("_fitted"):
            estimator.__dict__.clear()
            estimator.__dict__.update(before)
        raise


def all_or_nothing(method: _Method) -> _Method:
    """Make a method of an estimator one that, if it fails, leaves it as it was.

    A fit notes what it reads on the way, as the names of columns, which would else stand beside
    the posterior of the fit before.
    """

    @wraps(method)
    def whole(estimator, *args, **kwargs):
        with _all_or_nothing(estimator):
            return method(estimator, *args, **kwargs)

    return cast(_Method, whole)


def fixed_of(estimator: Any, names: Sequence[str]) -> dict[str, Any]:
    """Parameters that what ``partial_fit`` has learned belongs to; of objects a digest."""
    return {name: _kept(getattr(estimator, name)) for name in names}


def _kept(value):
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str | float | int | np.number | np.ndarray | list | None):
        return copy.copy(value)
    return f"{type(value).__name__} {digest(value)[:16]}"


def check_fixed(estimator: Any, fixed: Mapping[str, Any]) -> None:
    """Raise a ValueError where one of these parameters is another by now."""
    for name, value in fixed.items():
        now = _kept(getattr(estimator, name))
        several = isinstance(now, np.ndarray | list) or isinstance(value, np.ndarray | list)
        if not (np.array_equal(now, value) if several else now == value):
            raise ValueError(
                f"{name} must stay {value!r}, which partial_fit has begun with, got {now!r}."
            )


class _Shown:
    """Stands for a value in print."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _shortened(estimator):
    """The estimator with few entries of long lists, arrays, sets (sorted) and dicts, for print."""
    given = estimator.get_params(deep=False)
    return type(estimator)(**{name: _short(value) for name, value in given.items()})


def _short(value):
    if isinstance(value, set | frozenset) or (
        isinstance(value, list | tuple | dict) and len(value) > _MOST_SHOWN
    ):
        # sorts sets
        return _Shown(reprlib.repr(value))
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size > _MOST_SHOWN:
        return _Shown(f"array({reprlib.repr(value.tolist())})")
    return value


def learns_online(estimator: Any) -> bool:
    """Whether an estimator has ``partial_fit``.

    Raises
    ------
    AttributeError
        If its solver is not ``"vi"``.
    """
    if estimator.solver != "vi":
        raise AttributeError(
            f"This {type(estimator).__name__!r} has no attribute 'partial_fit', which is available "
            f"with solver='vi' only, got solver={estimator.solver!r}: use fit, or solver='vi'."
        )
    return True


def online(method: _Method) -> _Method:
    """Make a method one that only estimators whose solver learns online have.

    As by scikit-learn's ``available_if``, whose error does not tell what `learns_online` says.
    """
    return cast(_Method, _Online(method))


class _Online:
    def __init__(self, method):
        self.method = method
        update_wrapper(self, method)

    def __get__(self, estimator, owner=None):
        if estimator is not None:
            learns_online(estimator)
            return MethodType(self.method, estimator)

        @wraps(self.method)
        def checked(estimator, *args, **kwargs):
            learns_online(estimator)
            return self.method(estimator, *args, **kwargs)

        return checked


# Of estimators that have a __repr__ of their own scikit-learn prints long lists and dicts whole, in
# searches and pipelines too: its printer tells estimators by that method.
with contextlib.suppress(ImportError, AttributeError):
    from sklearn.utils._pprint import _EstimatorPrettyPrinter

    def _print_shortened(printer, estimator, *given):
        printer._pprint_estimator(_shortened(estimator), *given)

    _EstimatorPrettyPrinter._dispatch[FittedMixin.__repr__] = _print_shortened


class DocumentTransformerMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Estimators that transform documents, given as text or as counts.

    ``transform`` gives the posterior means of features. ``sample_transform(X, n_draws)`` gives
    draws of them, (n_draws, n_documents, n_means): a draw is joint over documents, has no
    standard deviations among its features, and is the same whenever it is asked for. The mean over
    draws is ``transform`` up to Monte Carlo error.
    """

    def sample_transform(self, X: Any, n_draws: int = 100, **covariates: Any) -> np.ndarray:
        """Draw features of documents jointly, as they vary under posterior uncertainty.

        Parameters
        ----------
        X : documents or counts, as in ``transform``
        n_draws : int, default=100
            Number of draws.
        **covariates
            Other arguments of ``transform``: times, genres, vectors.

        Returns
        -------
        ndarray of shape (n_draws, n_documents, n_means)
            Their means over draws are those of ``transform``, up to Monte Carlo error (but see
            ``transform`` of `GaussianLDA` with a small ``likelihood_power``). In each draw
            all documents are read with the same parameters. Draws are the same whenever they are
            asked for, and those of two calls with the same ``n_draws`` belong together.

        Raises
        ------
        ValueError
            If ``n_draws`` is not an integer of at least 1, or nothing can be drawn: a point
            estimate (``solver="map"``) of a model whose features are functions of parameters.
        MemoryError
            If the draws would not fit in memory.

        Notes
        -----
        With ``uncertainty="documents"``, features of vectors vary with the sampling of the training
        documents (normal draws, with the standard deviations that ``features="mean_std"`` gives).
        Otherwise they are functions of evenly spaced draws of the posterior; if fewer than
        ``n_draws`` were recorded, each is used more than once. Shares of topics are uncertain even
        if the topics are known, and are drawn given each draw of the topics.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.sample_transform(data.counts, 10).shape
        (10, 40, 2)
        """
        check_is_fitted(self, "posterior_")
        check_integer("n_draws", n_draws, 1)
        return self._sampled_features(X, n_draws, **covariates)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        return tags


def spaced(posterior: Any, n_draws: int) -> np.ndarray:
    """Places of ``n_draws`` draws among those recorded, evenly spaced, of all runs in turn.

    Where fewer are recorded each is taken as often as the others, give or take one.

    Parameters
    ----------
    posterior : Posterior
    n_draws : int

    Returns
    -------
    ndarray of shape (n_draws,)
        Places in `Posterior.flat`.
    """
    n_runs = posterior.n_runs
    # rounds have a draw of each run: of evenly spaced draws all might be of one
    n_rounds = posterior.n_chains * posterior.n_draws // n_runs
    turns = np.arange(n_draws)
    return (turns * n_rounds) // n_draws * n_runs + turns % n_runs


def recorded_draws(estimator: Any, n_draws: int) -> np.ndarray:
    """`spaced` places of draws of the parameters, from which alone features are drawn.

    Raises
    ------
    ValueError
        If there is one point and no posterior.
    """
    posterior = estimator.posterior_
    if posterior.attrs["solver"] == "map":
        raise ValueError(
            "sample_transform and sample_vectors need draws of the posterior, and solver='map' has "
            "one point alone: "
            "use another solver"
            + (
                " or uncertainty='documents', fitted on documents."
                if hasattr(estimator, "uncertainty")
                else "."
            )
        )
    return spaced(posterior, n_draws)


def check_room(n_draws: int, n_documents: int, n_features: int) -> None:
    """Raise a MemoryError if draws of features would not fit in memory."""
    needed = 8 * int(n_draws) * n_documents * n_features
    what = f"{n_draws} draws of {n_features} features of {n_documents} documents"
    check_memory(needed, what, "Use fewer draws, or fewer documents at a time.")


class DocumentFeaturesMixin(DocumentTransformerMixin):
    """Estimators that turn documents into features: posterior means, and their spread if asked.

    Such an estimator has the parameter ``features``, ``"mean"`` or ``"mean_std"``, and once fitted
    the attribute ``_n_means``, the number of means.
    """

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of ``transform``.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str, shape (n_features_out,)
            Standard deviations are named after their means, with ``_std`` appended.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.

        Examples
        --------
        Names begin with that of the class, here of `BayesianSGNS`:

        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> model.get_feature_names_out().tolist()
        ['bayesiansgns0', 'bayesiansgns1']
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
