"""Whether chains have converged: what their figures share, and traces."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer, check_list
from ..common.mixing import COORDINATE_RHAT_LIMIT, LIKELIHOOD, rhat_text
from ..posterior.naming import labels_in_words
from ..posterior.summary import ess, rhat
from ..posterior.trend import drift
from .canvas import SMALL, Display, can, styles
from .labels import called_each
from .marks import LINE
from .similarity import checked_pairs

_PANEL, _BELOW, _KEY = 1.05, 0.55, 0.2
# Chains in a line of the legend, and the width of their lines there.
_KEYS, _KEY_LINE = 4, 1.8
# What is looked at unless it is named: the first of all chains, then the entries that mix worst of
# what the models watch themselves.
_WATCHED = ("logit", "prevalence", "diffusion", "share")
# Numbers from which on axes write them out, and up to which there is room for it.
_LARGE, _LARGEST = 1e4, 1e9
# Steps between ticks of such an axis, at most.
_TICKS = 4


class ChainsDisplay(Display):
    """Base of the displays of chains.

    Parameters
    ----------
    draws : dict of str to ndarray of shape (chain, draw)
        Draws of the entries, by label.
    n_runs : int, default=1
        `Posterior.n_runs`, for R-hat.
    """

    # what vertical axes are called; by the names of the entries where None
    _quantity: str | None = None

    def __init__(self, draws: dict[str, np.ndarray], n_runs: int = 1) -> None:
        self.draws, self.n_runs = draws, n_runs

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        names: Any = None,
        n: int = 3,
        *,
        pairs: Sequence | None = None,
        ax: Any = None,
    ) -> Self:
        """Show the chains of a fit.

        Parameters
        ----------
        estimator : fitted estimator
            With ``solver="gibbs"`` or ``"hmc"``.
        names : str or list of str, optional
            Names in ``posterior_`` or ``posterior_.stats``, and ``"share"`` for shares of topics.
            By default the log density ``lp``, if it was recorded, or the log likelihood where the
            fit has warned of it; and the quantities that the model itself monitors.
        n : int, default=3
            Maximum number of entries; those with the largest R-hat are shown. Of two senses, only
            the first is shown, as the second mirrors it.
        pairs : list of (a, b), optional
            For `BayesianSGNS` and `DynamicSGNS`: show the similarities of these pairs, as in
            ``similarity``, instead of entries: all of them, in all periods, whatever ``n``. Chains
            may mix for these similarities if they do not elsewhere, and the other way round.
        ax : list of matplotlib.axes.Axes, optional
            One for each entry; new axes by default.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            For another solver, if both ``names`` and ``pairs`` are given, or if a pair is there
            twice.
        KeyError
            For an unknown name.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed.datasets import make_topics
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.plotting import RankDisplay, TraceDisplay
        >>> data = make_topics(40, 30, 2, n_dims=2, separation=4.0, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, draws=80, random_state=0)
        >>> model = model.fit(data.counts)
        >>> traces = TraceDisplay.from_estimator(model, ["mean"], n=2)
        >>> ranks = RankDisplay.from_estimator(model, ["mean"], n=2)
        >>> len(traces.axes_), len(ranks.axes_)
        (2, 2)
        """
        check_is_fitted(estimator, "posterior_")
        if pairs is None:
            return cls.from_posterior(estimator.posterior_, names, n, ax=ax)
        if names is not None:
            raise ValueError(f"names and pairs must not both be given, got names={names!r}.")
        _check_chains(estimator.posterior_, cls.__name__)
        display = cls(_answers(estimator, pairs))
        display._quantity = "cosine"
        return display.plot(ax)

    @classmethod
    def from_posterior(
        cls, posterior: Any, names: Any = None, n: int = 3, *, ax: Any = None
    ) -> Self:
        """Show the chains of a `Posterior`.

        Parameters
        ----------
        posterior : Posterior
        names, n, ax
            As in `from_estimator`.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            If the draws do not come from chains.
        KeyError
            For an unknown name.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> posterior = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100))})
        >>> from skbayesembed.plotting import RankDisplay, TraceDisplay
        >>> traces = TraceDisplay.from_posterior(posterior, ["x"])
        >>> ranks = RankDisplay.from_posterior(posterior, ["x"])
        >>> len(traces.lines_[0]), len(ranks.steps_[0])
        (2, 2)
        """
        can(posterior, "rhat", cls.__name__)
        check_integer("n", n, 1)
        _check_chains(posterior, cls.__name__)
        return cls(_entries(posterior, names, n), posterior.n_runs).plot(ax)

    def _more_lines(self):
        """Lines of the label below all panels, beyond one."""
        return 0

    def _panels(self, ax, **more):
        n = len(self.draws)
        height = _PANEL * n + _BELOW + LINE * self._more_lines() + _KEY
        return self._open(ax, height, n, 1, **more)

    def _key(self, artists):
        """The legend of chains, below all panels; in the last of axes that were given."""
        if len(artists) < 2:
            return
        look = {"frameon": False, "fontsize": SMALL, "ncols": _KEYS, "handlelength": 1.0}
        if self._owned:
            legend = self.figure_.legend(handles=artists, loc="outside lower center", **look)
        else:
            legend = self.axes_[-1].legend(handles=artists, **look)
        for line in legend.legend_handles:
            # those of many draws are too thin to tell colors apart
            line.set(linewidth=_KEY_LINE, alpha=1.0)

    def _head(self, axes, label, draws):
        value, size = (float(f(draws[..., None], n_runs=self.n_runs)[0]) for f in (rhat, ess))
        shown = "" if np.isnan(value) else f", R-hat\u00a0{rhat_text(value)}, ESS\u00a0{size:.0f}"
        axes.set_title(f"{label}{shown}", loc="left", pad=3)


def _check_chains(posterior, display):
    solver = posterior.attrs.get("solver", "gibbs")
    if solver not in ("gibbs", "hmc"):
        raise ValueError(
            f"{display} needs chains, of solver='gibbs' or 'hmc', got solver={solver!r}"
            + (", which solver='auto' chose" if "solver_reason" in posterior.attrs else "")
            + (": see ELBODisplay." if solver == "vi" else ".")
        )


def _answers(estimator, pairs):
    """Draws (chain, draw) of the similarities of pairs of words, by their labels."""
    can(estimator, "similarity", "pairs=")
    # draws of chains, whatever intervals rest on
    model = copy.copy(estimator)
    model.uncertainty = "model"
    n_chains, found = estimator.posterior_.n_chains, {}
    pairs = checked_pairs(pairs)
    for label, pair in zip(called_each(pairs), pairs, strict=True):
        draws = np.asarray(model.similarity(*pair).draws, dtype=float)
        by_period = draws.reshape(len(draws), -1).T
        labels = [label]
        if len(by_period) > 1:
            labels = [f"{label}, {period}" for period in estimator.periods_.labels]
        found |= {
            name: one.reshape(n_chains, -1) for name, one in zip(labels, by_period, strict=True)
        }
    return found


def _entries(posterior, names, n):
    """Draws (chain, draw) of the entries that mix worst, by their labels."""
    known = {**posterior, **posterior.stats}
    if "counts" in known and "prevalence" not in known:
        sizes = posterior["counts"].sum(axis=-1)
        known["share"] = sizes / sizes.sum(axis=-1, keepdims=True)
    if names is None:
        first = "log_likelihood" if _is_warned_of(posterior) else "lp"
        names = [name for name in (first, *_WATCHED) if name in known] or list(known)[:1]
    names = [names] if isinstance(names, str) else check_list("names", names, "names of draws")
    if not names:
        raise ValueError(f"names must be names of draws, or None, got {names!r}.")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise KeyError(f"names has {name!r}; available: {', '.join(known)}")
    found = []
    for name in names:
        draws = np.asarray(known[name])
        labels = labels_in_words(posterior, name, draws.shape[2:])
        flat = draws.reshape(*draws.shape[:2], -1)
        if name == "prevalence" and draws.shape[-1] == 2:
            # two senses add up to one: the second is the first mirrored
            flat, labels = flat[:, :, ::2], labels[::2]
        worst = np.nan_to_num(rhat(flat, posterior.n_runs), nan=-1.0, posinf=np.inf)
        if "drifts" in posterior.attrs:
            # of chains that drift together R-hat does not tell
            worst = np.where(worst < 0, worst, np.nan_to_num(np.abs(drift(flat)), nan=0.0))
        # what is named first, and scalars such as the log density, go first
        found += [(flat.shape[2] > 1, -w, i, label, flat[:, :, i])
                  for i, (w, label) in enumerate(zip(worst, labels, strict=True))]  # fmt: skip
    # what never changes has no R-hat, and nothing to show
    found = [entry for entry in found if entry[1] < 1.0] or found
    found.sort(key=lambda entry: entry[:2])
    return {label: draws for *_, label, draws in found[:n]}


def _is_warned_of(posterior):
    """Whether `fit` has warned of the log likelihood, so that it is to be seen."""
    attrs = posterior.attrs
    return (
        attrs.get("max_rhat_likelihood", 0.0) > COORDINATE_RHAT_LIMIT
        or attrs.get("drifts") == LIKELIHOOD
    )


def _quantity_of(label):
    """What an entry is an entry of; its title has the whole label."""
    quantity = label.partition("[")[0].partition(" P(")[0].partition(" of ")[0]
    return quantity.replace("log_likelihood", "log lik.")


def _write_out(axis, draws):
    """Write large numbers whole, without a power of ten or an offset beside the axis.

    They have as many digits as tell ticks apart, whose steps are 1, 2 or 5 times a power of ten.
    """
    if _LARGE <= np.nanmax(np.abs(draws), initial=0.0) < _LARGEST:
        least = np.ptp(draws[np.isfinite(draws)]) / _TICKS
        digits = max(0, -int(np.floor(np.log10(least)))) if least > 0 else 0
        axis.set_major_formatter(f"{{x:,.{digits}f}}")
        axis.get_major_locator().set_params(nbins=_TICKS, steps=[1, 2, 5, 10])


class TraceDisplay(ChainsDisplay):
    """Trace plots: the draws of each chain in order, for the entries that mix worst.

    Parameters
    ----------
    draws : dict of str to ndarray of shape (chain, draw)
        Draws of the entries, by label.

    Attributes
    ----------
    lines_ : list of list of matplotlib.lines.Line2D
        For each entry, one line for each chain.
    axes_ : ndarray of Axes of shape (n_entries,)
    ax_ : matplotlib.axes.Axes
        The first of the axes.
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from skbayesembed import Posterior
    >>> from skbayesembed.plotting import TraceDisplay
    >>> posterior = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100))})
    >>> display = TraceDisplay.from_posterior(posterior)
    >>> len(display.lines_[0]), display.ax_.get_title("left")[:8]
    (2, 'x, R-hat')
    """

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : list of matplotlib.axes.Axes, optional
            One for each entry.

        Returns
        -------
        TraceDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> posterior = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100))})
        >>> from skbayesembed.plotting import TraceDisplay
        >>> display = TraceDisplay.from_posterior(posterior)
        >>> len(display.plot().lines_[0])
        2
        """
        panels = self._panels(ax, sharex=True)
        self.lines_ = []
        for axes, (label, draws) in zip(panels, self.draws.items(), strict=True):
            self.lines_.append([
                axes.plot(chain, color=color, lw=0.5, alpha=0.8, label=f"chain {i}")[0]
                for i, (chain, (color, _)) in enumerate(zip(draws, styles(), strict=False))
            ])  # fmt: skip
            axes.margins(x=0.0)
            axes.set_ylabel(self._quantity or _quantity_of(label))
            _write_out(axes.yaxis, draws)
            self._head(axes, label, draws)
        axes.set_xlabel("draw")
        self._key(self.lines_[-1])
        return self._close()
