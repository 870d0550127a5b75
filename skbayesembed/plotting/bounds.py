"""The path of a bound on the log evidence."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer
from ..inference.advi import WINDOW
from .canvas import COLORS, Display
from .labels import whole_ticks

_HEIGHT = 2.0


class ELBODisplay(Display):
    """Path of the bound on the log evidence, for ``solver="vi"``.

    Parameters
    ----------
    elbo : ndarray of shape (n_entries,)
    every : int, default=1
        Iterations that an entry is the mean of.

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

    # what an entry is of where it is of one
    _what = "iteration"

    def __init__(self, elbo: np.ndarray, every: int = 1) -> None:
        self.elbo, self.every = elbo, every

    @classmethod
    def from_estimator(cls, estimator: Any, *, start: int = 0, ax: Any = None) -> Self:
        """Show the path of the bound.

        Parameters
        ----------
        estimator : fitted estimator with ``elbo_``
        start : int, default=0
            Iterations at the beginning to leave out.
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
        n, n_iter = len(elbo), int(estimator.n_iter_)
        # of means over windows, of which the last may be cut short
        every = WINDOW if n < n_iter and -(-n_iter // WINDOW) == n else 1
        display = cls(np.asarray(elbo), every)
        if every == 1 and n != n_iter:
            display._what = "round"
        return display.plot(ax, start=start)

    def plot(self, ax: Any = None, *, start: int = 0) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        start : int, default=0
            Iterations at the beginning to leave out.

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
        x = self.every * np.arange(1, len(self.elbo) + 1)
        if start >= x[-1]:
            raise ValueError(f"start must be below {x[-1]} {self._what}s, got {start}.")
        (axes,) = self._open(ax, _HEIGHT)
        kept = x > start
        look = {"ms": 2.5, "lw": 1.2, "color": COLORS[0]}
        (self.line_,) = axes.plot(x[kept], np.asarray(self.elbo)[kept], "o-", **look)
        means = f" (means of {self.every})" if self.every > 1 else ""
        axes.set_xlabel(f"{self._what}{means}")
        axes.set_ylabel("bound on log evidence")
        whole_ticks(axes.xaxis)
        return self._close()
