"""The posterior that every solver returns: named draws, running moments, diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..common.checks import check_integer, check_list, check_prob
from . import summary as summaries
from .datatree import data_tree
from .entries import SummaryMixin
from .running_moments import RunningMoments, check_moments
from .storing import StoringMixin
from .summary import hdi_interval
from .thinning import places_kept, thinned_once_more
from .validation import check_arrays, check_attrs, check_coords, check_dims, check_lengths

if TYPE_CHECKING:
    import xarray as xr

# What the names of rows that were recorded at every draw end in.
ROWS = "_rows"


class Posterior(SummaryMixin, StoringMixin, Mapping[str, np.ndarray]):
    """Named draws from a posterior, with tools to check and summarize them.

    A mapping from names to arrays of shape ``(chain, draw, ...)``.

    Parameters
    ----------
    draws : mapping of str to array-like of shape (chain, draw, ...)
        Draws of each parameter, numbers or booleans, kept in their dtype (float32 stays float32).
        All have the same ``chain`` and ``draw``. May be empty if ``moments`` are given.
    stats : mapping of str to array-like of shape (chain, draw, ...), optional
        Statistics of the draws, such as the log density. They have as many chains as the draws, and
        may have more draws if not every draw was recorded in full.
    moments : mapping of str to RunningMoments, optional
        Moments over every draw made, recorded or not, for all chains together.
    dims : mapping of str to tuple of str, optional
        Names of the dimensions after ``(chain, draw)``; by default ``<name>_dim_0`` and so on.
    coords : mapping of str to array-like of shape (size of the dimension,), optional
        Labels along named dimensions: strings, numbers, booleans or dates.
    attrs : mapping of str to str, int, float, bool or None, optional
        Facts about the run.

    Attributes
    ----------
    stats, moments, dims, coords, attrs : dict
        As given, completed and checked.
    n_chains, n_draws : int
        Number of chains, and of fully recorded draws in each.
    approximation : Approximation or None
        The approximation that the draws came from, if the solver found one. It is not saved.

    Raises
    ------
    ValueError
        If shapes, names, labels or facts do not fit together; the message names the parameter.

    Notes
    -----
    `mean`, `std` and `covariance` use ``moments`` if they are present, since these include every
    draw. Intervals and diagnostics use the recorded draws.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed import Posterior
    >>> rng = np.random.default_rng(0)
    >>> posterior = Posterior(
    ...     {"rho": rng.normal(size=(4, 250, 2, 3))},
    ...     dims={"rho": ("word", "component")},
    ...     coords={"word": ["tree", "forest"]},
    ... )
    >>> posterior
    Posterior: 4 chains of 250 draws
      rho (word: 2, component: 3) float64
    >>> posterior.mean("rho").shape
    (2, 3)
    >>> bool((posterior.rhat()["rho"] < 1.05).all())
    True
    >>> posterior.hdi(prob=0.9)["rho"].shape
    (2, 3, 2)
    """

    def __init__(
        self,
        draws: Mapping[str, ArrayLike],
        *,
        stats: Mapping[str, ArrayLike] | None = None,
        moments: Mapping[str, RunningMoments] | None = None,
        dims: Mapping[str, Sequence[str]] | None = None,
        coords: Mapping[str, ArrayLike] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self._draws = check_arrays("draws", draws)
        self.stats = check_arrays("stats", stats)
        self.moments = check_moments(moments, self._draws)
        self.n_chains, self.n_draws = check_lengths(self._draws, self.stats, self.moments)
        self._shapes = {name: m.shape for name, m in self.moments.items()}
        self._shapes |= {n: a.shape[2:] for n, a in {**self._draws, **self.stats}.items()}
        self.coords = check_coords(coords)
        self.dims = check_dims(dims, self._shapes, self.coords)
        self.attrs = check_attrs(attrs)
        self.approximation: Any = None

    def __getitem__(self, name: str) -> np.ndarray:
        self._require(name, self._draws)
        return self._draws[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._draws)

    def __len__(self) -> int:
        return len(self._draws)

    # equality of mappings would compare arrays, and that has no single truth value
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def mean(self, name: str) -> np.ndarray:
        """Return the posterior mean.

        Parameters
        ----------
        name : str

        Returns
        -------
        ndarray of shape (...), float64

        Raises
        ------
        KeyError
            If there are neither draws nor moments of that name.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> bool((posterior.mean("x") == draws.mean(axis=(0, 1))).all())
        True
        """
        moments = self._moments_of(name)
        if moments is not None:
            return moments.mean
        return self._draws[name].mean(axis=(0, 1), dtype=np.float64)

    def std(self, name: str) -> np.ndarray:
        """Return the posterior standard deviation, the square root of the unbiased variance.

        Parameters
        ----------
        name : str

        Returns
        -------
        ndarray of shape (...), float64
            NaN if there is a single draw.

        Raises
        ------
        KeyError
            If there are neither draws nor moments of that name.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> posterior.std("x").round().tolist()
        [1.0, 1.0, 1.0]
        """
        moments = self._moments_of(name) or self._moments_from_draws(name, covariance=False)
        return np.sqrt(moments.variance)

    def covariance(self, name: str) -> np.ndarray:
        """Return the unbiased posterior covariance along the last axis.

        For word vectors, (n_words, n_components), this is the covariance matrix of each vector.

        Parameters
        ----------
        name : str

        Returns
        -------
        ndarray of shape (..., k, k), float64
            For a parameter of shape (..., k). NaN if there is a single draw.

        Raises
        ------
        KeyError
            If there are neither draws nor moments of that name.
        ValueError
            If the parameter is a scalar, or if only its variances were kept.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> posterior = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100, 3))})
        >>> posterior.covariance("x").shape
        (3, 3)
        """
        moments = self._moments_of(name)
        if moments is None or not moments.keeps_covariance:
            if moments is not None and not (name in self._draws and self.n_draws):
                raise ValueError(f"Only the variances of {name!r} are kept: use std({name!r}).")
            moments = self._moments_from_draws(name, covariance=True)
        return moments.covariance

    def flat(self, name: str) -> np.ndarray:
        """Return the draws of all chains, one chain after the other.

        Parameters
        ----------
        name : str

        Returns
        -------
        ndarray of shape (chain * draw, ...)
            A view of the draws.

        Raises
        ------
        KeyError
            If there are no draws of that name.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> posterior.flat("x").shape
        (800, 3)
        """
        draws = self[name]
        return draws.reshape(self.n_chains * self.n_draws, *draws.shape[2:])

    @property
    def n_runs(self) -> int:
        """Number of runs whose draws alternate: draw ``i`` of a chain is of run ``i % n_runs``.

        More than one if word vectors were drawn (``embedding_draws`` of an estimator). R-hat then
        compares the chains of all runs, each run centered at its mean, and effective sample sizes
        combine the runs and the draws within them.
        """
        return int(self.attrs.get("embedding_draws", 1))

    def runs_of(self, places: ArrayLike) -> Any:
        """Return the runs (see `n_runs`) of draws at some places in `flat`.

        Parameters
        ----------
        places : int or array-like of int

        Returns
        -------
        int or ndarray of int, of the shape of ``places``

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = {"x": np.zeros((2, 4))}
        >>> Posterior(draws, attrs={"embedding_draws": 2}).runs_of([0, 1, 2, 4, 7]).tolist()
        [0, 1, 0, 0, 1]
        """
        return np.asarray(places) % self.n_draws % self.n_runs

    def rhat(self, names: str | Iterable[str] | None = None) -> dict[str, np.ndarray]:
        """Return rank-normalized split R-hat; values near 1 are consistent with convergence.

        The larger of two values: for the ranks, and for the ranks of absolute deviations from the
        median (Vehtari et al. 2021). Each chain is split into halves, even a single one.

        Parameters
        ----------
        names : str or list of str, optional
            Parameters, all by default, or statistics in ``stats`` such as ``"acceptance"``.

        Returns
        -------
        dict of str to ndarray of shape (...)
            NaN with fewer than 4 draws in a chain, for entries that never change (such as those of
            anchored words), and for entries with draws that are not finite. Infinite if every chain
            stays at its own value.

        Raises
        ------
        KeyError
            If there are no draws of a name.

        Notes
        -----
        Takes about 0.5 ms for an entry with 4 chains of 1000 draws; `ess` takes half of that.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> bool((posterior.rhat("x")["x"] < 1.05).all())
        True
        """
        names, n_runs = self._names(names), self.n_runs
        return {name: summaries.rhat(self._recorded(name), n_runs) for name in names}

    def ess(
        self, names: str | Iterable[str] | None = None, method: str = "bulk"
    ) -> dict[str, np.ndarray]:
        """Return the effective sample size: the number of equally informative independent draws.

        Parameters
        ----------
        names : str or list of str, optional
            Parameters, all by default, or statistics in ``stats`` such as ``"acceptance"``.
        method : {"bulk", "tail", "mean", "sd", "median", "mad"}, default="bulk"
            What the draws are used to estimate: ``"bulk"`` is the center of the distribution,
            ``"tail"`` its 5 % and 95 % quantiles (the smaller size of the two); the others are the
            statistics that they name.

        Returns
        -------
        dict of str to ndarray of shape (...)
            NaN for the same entries as in `rhat`; finite if chains stay at their own values.

        Raises
        ------
        KeyError
            If there are no draws of a name.
        ValueError
            If ``method`` is unknown.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> bool((posterior.ess("x")["x"] > 400).all())
        True
        """
        names, n_runs = self._names(names), self.n_runs
        return {name: summaries.ess(self._recorded(name), method, n_runs) for name in names}

    def hdi(
        self, names: str | Iterable[str] | None = None, *, prob: float = 0.9
    ) -> dict[str, np.ndarray]:
        """Return highest density intervals over all chains.

        Parameters
        ----------
        names : str or list of str, optional
            Parameters, all by default, or statistics in ``stats`` such as ``"acceptance"``.
        prob : float, default=0.9
            Probability in the interval, strictly between 0 and 1.

        Returns
        -------
        dict of str to ndarray of shape (..., 2)
            ``(low, high)`` in the last axis; NaN if no draws are recorded.

        Raises
        ------
        KeyError
            If there are no draws of a name.
        ValueError
            If ``prob`` is not in (0, 1).

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> posterior.hdi("x", prob=0.5)["x"].shape
        (3, 2)
        """
        check_prob(prob)
        out = {}
        for name in self._names(names):
            draws, shape = self._recorded(name), self._shapes[name]
            flat = draws.reshape(-1, *shape)
            nothing = np.full((*shape, 2), np.nan)
            out[name] = hdi_interval(flat, prob=prob) if draws.shape[1] else nothing
        return out

    def thinned(self, n_draws: int) -> Self:
        """Return the posterior with fewer draws, but means and standard deviations over all.

        Parameters
        ----------
        n_draws : int
            Number of draws to keep, over all chains together, equally many from each chain and
            evenly spaced. At least one of each chain (and of each run, see `n_runs`) is kept,
            except that 0 keeps none.

        Returns
        -------
        Posterior
            The same object if it has no more draws than that. Statistics of draws are kept, except
            for rows that were recorded by name. ``attrs["thinned_from"]`` is the number of draws
            in each chain before, and tables say that there are fewer.

        Raises
        ------
        ValueError
            If ``n_draws`` is not an integer of at least 0.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 250))
        >>> posterior = Posterior({"rho": draws})
        >>> few = posterior.thinned(100)
        >>> few
        Posterior: 4 chains of 25 draws
          rho () float64
          moments rho of 1000 draws
        >>> bool(np.isclose(few.mean("rho"), draws.mean()))
        True
        """
        check_integer("n_draws", n_draws, 0)
        if self.n_chains * self.n_draws <= n_draws:
            return self
        kept = places_kept(self.n_draws, self.n_chains, self.n_runs, n_draws)
        moments = {
            name: self._moments_of(name) or self._moments_from_draws(name, covariance=False)
            for name in self
        }
        stats = {name: x for name, x in self.stats.items() if not name.endswith(ROWS)}
        found = type(self)(
            {name: draws[:, kept] for name, draws in self.items()} if n_draws else {},
            stats=stats,
            moments=self.moments | moments,
            dims={name: dims for name, dims in self.dims.items() if name in {*self, *stats}},
            coords=self.coords,
            attrs=thinned_once_more(self),
        )
        found.approximation = self.approximation
        return found

    def to_datatree(self) -> xr.DataTree:
        """Convert to an ArviZ data tree, for its plots.

        To compare models, use the method ``to_datatree`` of an estimator, which adds log
        likelihoods and log priors.

        Returns
        -------
        xarray.DataTree
            With the groups ``posterior`` and, if there are statistics, ``sample_stats``; the
            running moments are left out. ``attrs`` become those of the group ``posterior``. As
            netCDF has no booleans and no None, booleans become 0 and 1, and None is left out.

        Raises
        ------
        ImportError
            If arviz-base, in the extra ``arviz``, is not installed.
        """
        return data_tree(self)

    def __repr__(self) -> str:
        counts = ((self.n_chains, "chain"), (self.n_draws, "draw"))
        lines = ["Posterior: " + " of ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts)]
        for group, members in (("", self._draws), ("stats ", self.stats)):
            for name, values in members.items():
                sizes = zip(self.dims[name], values.shape[2:], strict=True)
                inside = ", ".join(f"{dim}: {size}" for dim, size in sizes)
                lines.append(f"  {group}{name} ({inside}) {values.dtype}")
        for name, moments in self.moments.items():
            lines.append(f"  moments {name} of {moments.count} draws")
        return "\n".join(lines)

    def _require(self, name, available):
        """Raise a KeyError unless the name is among those available."""
        if not isinstance(name, str) or name not in available:
            known = ", ".join(repr(n) for n in available) or "nothing"
            alone = (
                "; its mean and standard deviation were kept without draws, which this needs"
                if isinstance(name, str) and name in self.moments
                else ""
            )
            if alone and not self.n_draws:
                raise KeyError(
                    f"{name!r} is asked for its draws, and there are none: save(path, draws=0) and "
                    "thinned(0) keep none, means and standard deviations were kept without draws, "
                    "which this needs. Save the fitted model again with draws=None, all of them, "
                    "or draws=100 or more where there are as many, or fit it again. What is a mean "
                    "of the posterior needs none: mean, std and summary of posterior_, and "
                    "attributes such as rho_, prevalence_ and components_; words of senses need "
                    "draws, as their probabilities are means over draws."
                )
            raise KeyError(f"no draws named {name!r}; available: {known}{alone}")

    def _names(self, names, moments=False):
        """List of the names asked for, of statistics as well; of all parameters where None."""
        available = {**self._draws, **self.moments} if moments else self._draws
        if names is None:
            return list(available)
        available = {**available, **self.stats}
        names = [names] if isinstance(names, str) else check_list("names", names, "names of draws")
        for name in names:
            self._require(name, available)
        return names

    def _recorded(self, name):
        """Draws of a parameter, or a statistic of the draws, (chain, draw, ...)."""
        return self._draws[name] if name in self._draws else self.stats[name]

    def _moments_of(self, name):
        """Moments of a parameter, or None if only the recorded draws can tell."""
        self._require(name, {**self._draws, **self.moments})
        moments = self.moments.get(name)
        return moments if moments is not None and (moments.count or not self.n_draws) else None

    def _moments_from_draws(self, name, covariance):
        draws = self.flat(name)
        if covariance and draws.ndim == 1:
            raise ValueError(f"{name!r} is a scalar and has no covariance matrix: use std.")
        moments = RunningMoments(draws.shape[1:], covariance=covariance)
        moments.update_many(draws)
        return moments
