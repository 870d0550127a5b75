"""Scales of components under a prior that can switch them off."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_prob
from ..posterior.results import About, Result
from ..posterior.sources import interval_label, source_of_posterior
from ..posterior.summary import summarise
from .canvas import COLORS, Display

_HEIGHT = 2.0


class ComponentScaleDisplay(Display):
    """Scales of components with ``prior="ard"``: the standard deviations of their prior.

    Components near zero are switched off: the data did not need them.

    Parameters
    ----------
    result : Result
        ``mean`` (n_components,) and ``interval`` (n_components, 2), made by `from_estimator`.

    Attributes
    ----------
    bars_ : matplotlib.container.BarContainer
        Posterior means, largest first.
    intervals_ : matplotlib.collections.LineCollection or None
        None for a point estimate.
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.plotting import ComponentScaleDisplay
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(4, solver="vi", prior="ard", min_count=1, random_state=0).fit(texts)
    >>> display = ComponentScaleDisplay.from_estimator(model)
    >>> len(display.bars_)
    4
    """

    def __init__(self, result: Any) -> None:
        self.result = result

    @classmethod
    def from_estimator(cls, estimator: Any, *, prob: float = 0.9, ax: Any = None) -> Self:
        """Show the scales of components.

        Parameters
        ----------
        estimator : BayesianSGNS
            Fitted with ``prior="ard"``.
        prob : float, default=0.9
            Probability of the intervals.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ComponentScaleDisplay

        Raises
        ------
        ValueError
            If components do not have precisions of their own.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(4, solver="vi", prior="ard", min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> from skbayesembed.plotting import ComponentScaleDisplay
        >>> len(ComponentScaleDisplay.from_estimator(model).bars_)
        4
        """
        check_is_fitted(estimator, "posterior_")
        check_prob(prob)
        posterior = estimator.posterior_
        draws = posterior.flat("prior_precision") if "prior_precision" in posterior else None
        if draws is None or draws.ndim != 2:
            raise ValueError(
                f"{cls.__name__} needs precisions of components: fit with prior='ard', got "
                f"prior={getattr(estimator, 'prior', None)!r}."
            )
        found = summarise(1.0 / np.sqrt(draws), prob)
        axes = {"component": range(draws.shape[1])}
        about = About("scales of components", axes, prob, source_of_posterior(posterior))
        return cls(Result(found, about)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        ComponentScaleDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(4, solver="vi", prior="ard", min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> from skbayesembed.plotting import ComponentScaleDisplay
        >>> display = ComponentScaleDisplay.from_estimator(model)
        >>> len(display.plot().bars_)
        4
        """
        found = self.result
        (axes,) = self._open(ax, _HEIGHT)
        order = np.argsort(-found.mean, kind="stable")
        rank = np.arange(1, order.size + 1)
        self.bars_ = axes.bar(rank, found.mean[order], 0.7, color=COLORS[5])
        self.intervals_ = None
        if found.source != "point":
            low, high = found.interval[order].T
            self.intervals_ = axes.vlines(rank, low, high, color="black", lw=1.0)
        axes.set_xlim(0.3, order.size + 0.7)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel(f"component, by scale\n{interval_label(found.prob, found.source)}")
        axes.set_ylabel("scale (prior sd)")
        return self._close()
