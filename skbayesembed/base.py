"""What the estimators share: parameter checks, choice of solver, length and memory of chains."""

from __future__ import annotations

import os
from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .alerts import warn_user
from .inference.chains import Settings

# Whole draws are recorded up to this many bytes unless all are asked for.
DRAW_BUDGET = 2**30

RHAT_LIMIT = 1.05
# Coordinates mix later than what does not depend on the frame, and are read through averages.
COORDINATE_RHAT_LIMIT = 1.2
ACCEPTANCE_LIMIT = 0.2


def check_integer(name, value, low):
    """Raise a ValueError unless ``value`` is an integer of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
        raise ValueError(f"{name} must be an integer >= {low}, got {value!r}.")


def check_real(name, value, low, *, strict=True, high=np.inf):
    """Raise a ValueError unless ``value`` is a finite number above ``low`` (or at it)."""
    good = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)
    if not (good and (value > low if strict else value >= low) and value <= high):
        sign = ">" if strict else ">="
        upper = f" and <= {high}" if np.isfinite(high) else ""
        raise ValueError(f"{name} must be a number {sign} {low}{upper}, got {value!r}.")


def check_choice(name, value, choices):
    """Raise a ValueError unless ``value`` is one of the strings ``choices``."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")


def check_bool(name, value):
    """Raise a ValueError unless ``value`` is a bool."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


def check_verbose(verbose):
    """Raise a ValueError unless ``verbose`` is a bool or an integer of at least 0."""
    if not isinstance(verbose, bool | np.bool_):
        check_integer("verbose", verbose, 0)


def check_jobs(n_jobs):
    """Raise a ValueError unless ``n_jobs`` is None or an integer other than 0."""
    good = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and n_jobs != 0
    if n_jobs is not None and not good:
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}.")


def check_solver(estimator, solver, supported):
    """Raise a ValueError that names estimator and solver unless the pair is supported."""
    if solver not in supported:
        instead = " or ".join(f"solver={s!r}" for s in supported)
        raise ValueError(
            f"solver={solver!r} is not available for {type(estimator).__name__}: use {instead}."
        )


def check_word_filters(estimator):
    """Check ``lowercase``, ``min_count`` and ``max_features`` of an estimator."""
    check_bool("lowercase", estimator.lowercase)
    check_integer("min_count", estimator.min_count, 1)
    if estimator.max_features is not None:
        check_integer("max_features", estimator.max_features, 1)


def check_chain_length(estimator):
    """Check ``draws``, ``warmup``, ``chains`` and ``thin`` of an estimator."""
    check_integer("draws", estimator.draws, 1)
    check_integer("warmup", estimator.warmup, 0)
    check_integer("chains", estimator.chains, 1)
    check_integer("thin", estimator.thin, 1)


def check_keep_draws(keep_draws):
    """Raise a ValueError unless ``keep_draws`` is ``"auto"`` or ``"all"``."""
    if not isinstance(keep_draws, str) or keep_draws not in ("auto", "all"):
        raise ValueError(f"keep_draws must be 'auto' or 'all', got {keep_draws!r}.")


def check_iterations(estimator):
    """Check ``max_iter``, ``tol``, ``verbose`` and ``n_jobs`` of an estimator."""
    check_integer("max_iter", estimator.max_iter, 1)
    check_real("tol", estimator.tol, 0)
    check_verbose(estimator.verbose)
    check_jobs(estimator.n_jobs)


def check_learning(estimator):
    """Check ``learning_method``, ``batch_size`` and ``n_passes`` of an estimator."""
    check_learning_method(estimator)
    check_integer("batch_size", estimator.batch_size, 1)
    check_integer("n_passes", estimator.n_passes, 1)


def check_learning_method(estimator):
    """Raise a ValueError unless ``learning_method`` is known and the solver offers it."""
    method, solver = estimator.learning_method, estimator.solver
    check_choice("learning_method", method, ("batch", "online"))
    if method == "online" and solver != "vi":
        raise ValueError(
            f"learning_method='online' is available with solver='vi' only, got {solver!r}."
        )


def readable(n_bytes):
    """A number of bytes for people: ``"3.2 GiB"``."""
    size = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"


def physical_memory():
    """Bytes of memory of this machine; infinity where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return np.inf


def check_memory(n_bytes, what, advice):
    """Raise a MemoryError before any work if ``n_bytes`` is more than this machine has."""
    limit = 0.8 * physical_memory()
    if n_bytes > limit:
        raise MemoryError(
            f"{what} would take about {readable(n_bytes)}; this machine allows "
            f"{readable(limit)} (80 % of its memory). {advice}"
        )


def chain_settings(
    estimator, draw_bytes, moment_bytes, trace_bytes, rows=None, chains=None, budget=None,
    covariance=True,
):  # fmt: skip
    """Length of the chains, and how many draws are recorded whole.

    Parameters
    ----------
    estimator : estimator with ``draws``, ``warmup``, ``chains``, ``thin`` and ``keep_draws``
    draw_bytes : int
        Bytes of one draw.
    moment_bytes : int
        Bytes of the running moments of one chain, kept where not all draws are.
    trace_bytes : int
        Bytes recorded at every draw besides.
    rows : dict of str to NumPy index, optional
        Rows recorded at every draw where whole draws are not.
    chains : int, optional
        Number of chains, where it is not the estimator's.
    budget : int, optional
        Bytes of draws recorded whole unless all are asked for; ``DRAW_BUDGET`` by default.
    covariance : bool, default=True
        Whether running moments keep covariances.

    Returns
    -------
    Settings

    Raises
    ------
    MemoryError
        If what is asked for does not fit.
    """
    # counted in Python integers: NumPy's would wrap around
    chains = int(estimator.chains if chains is None else chains)
    budget = DRAW_BUDGET if budget is None else budget
    every = int(draw_bytes) * int(estimator.draws) * chains
    keep_all = isinstance(estimator.keep_draws, str) and estimator.keep_draws == "all"
    stride = 1
    if not keep_all and every > budget:
        # at least one whole draw a chain, so that predictions stay possible
        stride = min(-(-every // budget), estimator.draws)
    moments = stride > 1
    needed = every // stride + trace_bytes * estimator.draws * chains
    needed += moment_bytes * chains if moments else 0
    check_memory(needed, "The draws", "Ask for fewer draws, or keep_draws='auto'.")
    return Settings(
        draws=estimator.draws,
        warmup=estimator.warmup,
        thin=estimator.thin,
        stride=int(stride),
        moments=moments,
        rows=rows if moments else None,
        covariance=covariance,
    )


def warn_unless_mixed(rhat, what, limit=RHAT_LIMIT):
    """ConvergenceWarning when the largest R-hat exceeds the limit; returns that R-hat.

    An infinite R-hat (chains that each stay at a value of their own) warns; NaN (no diagnosis)
    does not.
    """
    rhat = np.asarray(rhat, dtype=float)
    known = rhat[~np.isnan(rhat)]
    largest = float(known.max()) if known.size else float("nan")
    if largest > limit:
        warn_user(
            f"The chains have not mixed: the largest split R-hat of {what} is {largest:.3g}, "
            f"above {limit}. Raise warmup and draws.",
            ConvergenceWarning,
        )
    return largest


def warn_if_stuck(acceptance, advice="use kernel='polya-gamma'"):
    """ConvergenceWarning when moves of the sampler were hardly ever accepted."""
    if acceptance < ACCEPTANCE_LIMIT:
        warn_user(
            f"The sampler hardly moved: {100 * acceptance:.1f} % of its moves were accepted. Raise "
            f"warmup, or {advice}.",
            ConvergenceWarning,
        )


class Learned:
    """A fitted attribute, worked out anew when it is looked at after ``partial_fit``.

    The estimator keeps all of them in the dict ``_fitted``, which ``_read_stream()`` fills from
    ``_stream`` where there is none.
    """

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, estimator, owner=None):
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

    def __set__(self, estimator, value):
        raise AttributeError(f"{self.name} is learned by fit and cannot be set")


def learns_online(estimator):
    """Whether there is a ``partial_fit``; scikit-learn asks before it looks for the method."""
    if estimator.solver != "vi":
        raise AttributeError(
            f"partial_fit is available with solver='vi' only, got solver={estimator.solver!r}: "
            "use fit."
        )
    return True


class DocumentTransformerMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Estimators that transform documents, given as text or as counts."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        return tags


class DocumentFeaturesMixin(DocumentTransformerMixin):
    """Estimators that turn documents into features: posterior means, or also their spread.

    They have the parameter ``features`` and, once fitted, ``_n_means``, the number of means.
    """

    def get_feature_names_out(self, input_features=None):
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
