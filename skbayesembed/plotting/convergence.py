"""Whether a fit has converged: bounds, traces of chains, and ranks of their draws."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.stats import hypergeom, rankdata
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer, check_list
from ..posterior.naming import given_names, shares_called
from ..posterior.summary import rhat
from ..posterior.tables import entry_labels
from .canvas import COLORS, GREY, LIGHT, SMALL, Display, can, names_for, styles
from .labels import called
from .marks import LINE
from .similarity import checked_pairs

_HEIGHT, _PANEL, _BELOW, _KEY = 2.0, 1.05, 0.55, 0.2
# Chains in a line of the legend.
_KEYS = 4
# What is looked at unless it is named: the first of all chains, then the entries that mix worst of
# what the models watch themselves.
_WATCHED = ("logit", "prevalence", "diffusion", "share")
# Dimensions that labels leave out where they have one entry.
_PLACES = ("genre", "period")
_BINS = 20
_MIRRORED = "two chains mirror each other by construction"


class ELBODisplay(Display):
    """Path of the bound on the log evidence, for ``solver="vi"``.

    Parameters
    ----------
    elbo : ndarray of shape (n_iter,)

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import ELBODisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="vi", min_count=1, random_state=0).fit(texts)
    >>> display = ELBODisplay.from_estimator(model)
    >>> len(display.line_.get_xdata()) == len(model.elbo_)
    True
    """

    def __init__(self, elbo: np.ndarray) -> None:
        self.elbo = elbo

    @classmethod
    def from_estimator(cls, estimator: Any, *, start: int = 0, ax: Any = None) -> Self:
        """Show the path of the bound.

        Parameters
        ----------
        estimator : fitted estimator with ``elbo_``
        start : int, default=0
            First iteration to show.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ELBODisplay

        Raises
        ------
        ValueError
            For another solver, and if no path is kept, as with online learning.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="vi", min_count=1, random_state=0).fit(texts)
        >>> from skbayesembed.plotting import ELBODisplay
        >>> ELBODisplay.from_estimator(model).ax_.get_xlabel()
        'iteration'
        """
        check_is_fitted(estimator, "posterior_")
        elbo = getattr(estimator, "elbo_", None)
        if elbo is None or not len(elbo):
            solver = estimator.posterior_.attrs["solver"]
            raise ValueError(
                f"{cls.__name__} needs the path of the bound, which solver='vi' keeps where all "
                f"data are read in every iteration, got solver={solver!r}"
                + (": see TraceDisplay." if solver in ("gibbs", "hmc") else ".")
            )
        return cls(np.asarray(elbo)).plot(ax, start=start)

    def plot(self, ax: Any = None, *, start: int = 0) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        start : int, default=0
            First iteration to show.

        Returns
        -------
        ELBODisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed.plotting import ELBODisplay
        >>> ELBODisplay([-3.0, -2.0, -1.9]).plot().line_.get_ydata().tolist()
        [-3.0, -2.0, -1.9]
        """
        check_integer("start", start, 0)
        if start >= len(self.elbo):
            raise ValueError(f"start must be below {len(self.elbo)} iterations, got {start}.")
        (axes,) = self._open(ax, _HEIGHT)
        x = np.arange(start + 1, len(self.elbo) + 1)
        (self.line_,) = axes.plot(x, self.elbo[start:], "o-", ms=2.5, lw=1.2, color=COLORS[0])
        axes.set_xlabel("iteration")
        axes.set_ylabel("bound on log evidence")
        axes.xaxis.get_major_locator().set_params(integer=True)
        return self._close()


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
            By default the log density ``lp``, if
            it was recorded, and the quantities that the model itself monitors.
        n : int, default=3
            Maximum number of entries; those with the largest R-hat are shown. Of two senses, only
            the first is shown, as the second mirrors it.
        pairs : list of (a, b), optional
            For `BayesianSGNS` and `DynamicSGNS`: show the similarities of these pairs, as in
            ``similarity``, instead of entries. Chains may mix for these similarities if they do not
            elsewhere, and the other way round.
        ax : list of matplotlib.axes.Axes, optional
            One for each entry; new axes by default.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            For another solver, or if both ``names`` and ``pairs`` are given.
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
            self.figure_.legend(handles=artists, loc="outside lower center", **look)
        else:
            self.axes_[-1].legend(handles=artists, **look)

    def _head(self, axes, label, draws):
        value = float(rhat(draws[..., None], self.n_runs)[0])
        shown = "" if np.isnan(value) else f", R-hat {value:.3f}"
        axes.set_title(f"{label}{shown}", loc="left", pad=2)


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
    for pair in checked_pairs(pairs):
        draws = np.asarray(model.similarity(*pair).draws, dtype=float)
        label = ", ".join(map(called, pair))
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
        names = [name for name in ("lp", *_WATCHED) if name in known] or list(known)[:1]
    names = [names] if isinstance(names, str) else check_list("names", names, "names of draws")
    if not names:
        raise ValueError(f"names must be names of draws, or None, got {names!r}.")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise KeyError(f"names has {name!r}; available: {', '.join(known)}")
    found = []
    for name in names:
        draws = np.asarray(known[name])
        labels = _labels_of(name, draws, posterior)
        flat = draws.reshape(*draws.shape[:2], -1)
        if name == "prevalence" and draws.shape[-1] == 2:
            # two senses add up to one: the second is the first mirrored
            flat, labels = flat[:, :, ::2], labels[::2]
        worst = np.nan_to_num(rhat(flat, posterior.n_runs), nan=-1.0, posinf=np.inf)
        # what is named first, and scalars such as the log density, go first
        found += [(flat.shape[2] > 1, -w, i, label, flat[:, :, i])
                  for i, (w, label) in enumerate(zip(worst, labels, strict=True))]  # fmt: skip
    # what never changes has no R-hat, and nothing to show
    found = [entry for entry in found if entry[1] < 1.0] or found
    found.sort(key=lambda entry: entry[:2])
    return {label: draws for *_, label, draws in found[:n]}


def _labels_of(name, draws, posterior):
    """Labels of the entries of an array, without genres and periods of which there is one alone."""
    if name == "share":
        return shares_called(posterior)
    dims, shape = posterior.dims[name], draws.shape[2:]
    kept = [i for i, dim in enumerate(dims) if dim not in _PLACES or shape[i] > 1]
    dims, shape = [dims[i] for i in kept], [shape[i] for i in kept]
    coords = posterior.coords
    if name == "prevalence" and "sense" in coords:
        n = len(coords["sense"])
        known = given_names(posterior, "sense")
        coords = {**coords, "sense": names_for(None, n, "sense", known)}
    return entry_labels(name, dims, shape, coords)


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
        panels = self._panels(ax)
        self.lines_ = []
        for axes, (label, draws) in zip(panels, self.draws.items(), strict=True):
            self.lines_.append([
                axes.plot(chain, color=color, lw=0.5, alpha=0.8, label=f"chain {i}")[0]
                for i, (chain, (color, _)) in enumerate(zip(draws, styles(), strict=False))
            ])  # fmt: skip
            axes.margins(x=0.0)
            axes.set_ylabel(self._quantity or label.partition("[")[0])
            self._head(axes, label, draws)
        axes.set_xlabel("draw")
        self._key(self.lines_[-1])
        return self._close()


class RankDisplay(ChainsDisplay):
    """Rank plots: ranks of the draws of each chain among all draws, uniform if chains have mixed.

    Parameters
    ----------
    draws : dict of str to ndarray of shape (chain, draw)
        Draws of the entries, by label.

    Attributes
    ----------
    steps_ : list of list of matplotlib.patches.StepPatch
        For each entry and chain, the shares of draws in bins of the ranks, relative to uniform
        ranks.
    bands_ : list of (float, float)
        For each entry, the ends of the gray band.
    axes_ : ndarray of Axes of shape (n_entries,)
    ax_ : matplotlib.axes.Axes
        The first of the axes.
    figure_ : matplotlib.figure.Figure

    Notes
    -----
    The gray band covers about 90 % of the bins of chains that have mixed and whose draws are
    independent. As counts are whole numbers, it is not exactly 90 %; the label has the share. The
    chains share out the ranks in a bin without replacement, so the count of one chain is
    hypergeometric. Autocorrelated draws scatter more, so that more bins are outside.

    The shares of all chains in a bin have the mean 1. So with two chains each line is the mirror
    image of the other by construction, which says nothing about mixing; a line below the figure
    says so.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021). Rank-normalization, folding, and
    localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from skbayesembed import Posterior
    >>> from skbayesembed.plotting import RankDisplay
    >>> posterior = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100))})
    >>> display = RankDisplay.from_posterior(posterior)
    >>> heights = [step.get_data().values for step in display.steps_[0]]
    >>> [round(float(height.mean()), 6) for height in heights]
    [1.0, 1.0]
    """

    def _more_lines(self):
        return 2 + self._of_two()

    def _of_two(self):
        """Whether there are two chains, so that one line mirrors the other."""
        return all(len(draws) == 2 for draws in self.draws.values())

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : list of matplotlib.axes.Axes, optional
            One for each entry.

        Returns
        -------
        RankDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> posterior = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100))})
        >>> from skbayesembed.plotting import RankDisplay
        >>> display = RankDisplay.from_posterior(posterior)
        >>> len(display.plot().steps_[0])
        2
        """
        panels = self._panels(ax, sharex=True, sharey=True)
        self.steps_, self.bands_ = [], []
        for axes, (label, draws) in zip(panels, self.draws.items(), strict=True):
            shares = ranks(draws)
            edges = np.linspace(0.0, 1.0, shares.shape[1] + 1)
            low, high, outside = even_band(*draws.shape)
            self.bands_.append((low, high))
            axes.axhspan(low, high, color=LIGHT, lw=0, zorder=0)
            axes.axhline(1.0, color=GREY, lw=0.6, zorder=0)
            self.steps_.append([
                axes.stairs(
                    share, edges, baseline=None, color=color, lw=1.0, label=f"chain {i}"
                )
                for i, (share, (color, _)) in enumerate(zip(shares, styles(), strict=False))
            ])  # fmt: skip
            axes.margins(x=0.0)
            self._head(axes, label, draws)
        few = f"about 1 in {1 / outside:.0f} outside is expected" if outside else "none is outside"
        axes.set_xlabel(
            "rank among the draws of all chains\n"
            f"gray: {100 * (1 - outside):.0f} % of bins of independent draws;\n{few}"
            + (f"\n{_MIRRORED}" if self._of_two() else "")
        )
        self._key(self.steps_[-1])
        panels[len(panels) // 2].set_ylabel("draws in bin / expected")
        return self._close()


def ranks(draws, n_bins=_BINS):
    """Shares of a chain's draws in bins of the ranks of all, over even shares: (chain, n_bins).

    Parameters
    ----------
    draws : ndarray of shape (chain, draw)
    n_bins : int
        As many as there are draws in a chain, if these are fewer.
    """
    n_bins = min(n_bins, draws.shape[1])
    bins = _bins_of(rankdata(draws, method="average"), n_bins).reshape(draws.shape)
    counts = np.stack([np.bincount(row, minlength=n_bins) for row in bins])
    return counts * (n_bins / draws.shape[1])


def _bins_of(rank, n_bins):
    """The bin of each rank, from 1 to their number."""
    place = (rank - 0.5) / rank.size
    return np.minimum((place * n_bins).astype(int), n_bins - 1)


def even_band(n_chains, n_draws, n_bins=_BINS, level=0.9):
    """The band that `ranks` of independent draws are in, with a probability next to ``level``.

    Parameters
    ----------
    n_chains, n_draws, n_bins : int
        As of `ranks`.
    level : float

    Returns
    -------
    low, high : float
        Between possible values, half a count beyond the last inside.
    outside : float
        Probability of a bin outside.
    """
    n_bins = min(n_bins, n_draws)
    total = n_chains * n_draws
    # ranks in a bin: one more in some where bins do not divide them
    sizes = np.bincount(_bins_of(np.arange(1, total + 1), n_bins), minlength=n_bins)
    counts = np.arange(-1, min(n_draws, sizes.max()) + 1)
    below = hypergeom(total, sizes[:, None], n_draws).cdf(counts).mean(axis=0)
    tail = 0.5 * (1.0 - level)
    # of the two counts about either quantile, those whose tails add up to nearest the level
    firsts, lasts = (int(np.searchsorted(below, q)) for q in (tail, 1.0 - tail))
    outside, low, high = min(
        ((below[i - 1] + 1.0 - below[j], i, j)
         for i in (firsts, firsts + 1) for j in (lasts - 1, lasts) if 0 < i <= j),
        key=lambda band: (round(abs(band[0] - 1.0 + level), 9), band[2] - band[1]),
    )  # fmt: skip
    unit = n_bins / n_draws
    outside = float(outside) if outside > 1e-12 else 0.0
    return (counts[low] - 0.5) * unit, (counts[high] + 0.5) * unit, outside
