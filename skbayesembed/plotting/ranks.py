"""Ranks of the draws of chains among all draws."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.stats import hypergeom, rankdata

from ..common.mixing import FEW_DRAWS
from ..posterior.summary import ess
from .canvas import GREY, LIGHT, styles
from .convergence import ChainsDisplay

_BINS = 20
# Independent draws that those of a chain are worth, for the share of bins in the band to be told.
_WORTH = 50
_MIRRORED = "two chains mirror each other by construction"


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
    The gray band covers about 90 % of the bins of chains that have mixed. The chains share out the
    ranks in a bin without replacement, so that the count of one chain is hypergeometric where draws
    are independent. Autocorrelated draws scatter more, and the band is wider by the square root of
    how many of them are worth an independent one: of being in a bin, within chains, in the mean
    over bins. If the draws of a chain are worth fewer than 50 independent ones, more bins are
    outside, and the label gives no share. As counts are whole numbers, the share is not exactly
    90 %; the label has it. Where all draws of an entry are worth fewer than 100, the label says how
    many: lines inside so wide a band do not show that chains have mixed.

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
        return 1 + bool(self._on_two()) + bool(self._on_worth())

    def _worth(self):
        """Effective draws of all chains, the fewest of an entry."""
        found = [ess(x[..., None], n_runs=self.n_runs)[0] for x in self.draws.values()]
        return np.fmin.reduce(found)

    def _on_two(self):
        """A line on two chains, of which one mirrors the other; empty where there are others."""
        return _MIRRORED if all(len(draws) == 2 for draws in self.draws.values()) else ""

    def _on_worth(self):
        """A line on draws that tell little; empty for others."""
        worth = self._worth()
        if not worth < FEW_DRAWS:
            return ""
        return f"draws are worth as few as {worth:.0f} independent ones"

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
        self.steps_, self.bands_, slow = [], [], False
        for axes, (label, draws) in zip(panels, self.draws.items(), strict=True):
            shares = ranks(draws)
            edges = np.linspace(0.0, 1.0, shares.shape[1] + 1)
            n_chains, n_draws = draws.shape
            slowness = slowness_of(draws)
            slow |= n_draws < _WORTH * slowness
            low, high, outside = even_band(n_chains, n_draws, slowness=slowness)
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
        bins = "most bins" if slow else f"{100 * (1 - outside):.0f} % of bins"
        gray = f"gray: {bins} are here if chains have mixed"
        if n_chains == 1:
            gray = "gray: all bins are here, as there is one chain"
        below = "rank among the draws of all chains", gray, self._on_worth(), self._on_two()
        axes.set_xlabel("\n".join(line for line in below if line))
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
    bins, n_bins = _bins(draws, n_bins)
    counts = np.stack([np.bincount(row, minlength=n_bins) for row in bins])
    return counts * (n_bins / draws.shape[1])


def _bins(draws, n_bins):
    """The bin of each draw (chain, draw), and their number."""
    if np.isnan(draws).any():
        raise ValueError("draws must be numbers, got NaN: they have no ranks.")
    n_bins = min(n_bins, draws.shape[1])
    return _bins_of(rankdata(draws, method="average"), n_bins).reshape(draws.shape), n_bins


def _bins_of(rank, n_bins):
    """The bin of each rank, from 1 to their number."""
    place = (rank - 0.5) / rank.size
    return np.minimum((place * n_bins).astype(int), n_bins - 1)


def slowness_of(draws, n_bins=_BINS):
    """How many draws of a chain are worth an independent one, of being in a bin; 1 at least.

    The mean over bins and chains, each chain by itself: chains in different places are not taken
    for slow ones.

    Parameters
    ----------
    draws : ndarray of shape (chain, draw)
    n_bins : int
        As of `ranks`.
    """
    bins, n_bins = _bins(draws, n_bins)
    inside = (bins[..., None] == np.arange(n_bins)).astype(float)
    worth = np.stack([ess(chain[None], "mean") for chain in inside])
    # of bins that a chain is never in, nothing is known
    known = worth[np.isfinite(worth) & inside.any(axis=1)]
    return max(1.0, float(np.mean(draws.shape[1] / known))) if known.size else 1.0


def even_band(n_chains, n_draws, n_bins=_BINS, level=0.9, slowness=1.0):
    """The band that `ranks` of mixed chains are in, with a probability next to ``level``.

    Parameters
    ----------
    n_chains, n_draws, n_bins : int
        As of `ranks`.
    level : float
    slowness : float
        As of `slowness_of`; 1 for independent draws.

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
    ends = (counts[low] - 0.5) * unit, (counts[high] + 0.5) * unit
    low, high = (1.0 + (end - 1.0) * slowness**0.5 for end in ends)
    return max(low, 0.0) if slowness > 1.0 else low, high, outside
