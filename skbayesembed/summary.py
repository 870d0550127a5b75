"""Summaries of draws: intervals, convergence diagnostics, the table; checks of what it labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from numbers import Integral, Real

import numpy as np
from scipy.special import log_softmax
from sklearn.utils import Bunch

# Entries are worked on in blocks of about this size, which bounds the memory of the copies.
_BLOCK_BYTES = 2**23

ESS_METHODS = ("bulk", "tail", "mean", "sd", "median", "mad")
_TAILS = (0.05, 0.95)
_FEWEST_DRAWS = 4


def check_prob(prob):
    """Raise a ValueError unless ``prob`` is a number strictly between 0 and 1."""
    if not isinstance(prob, Real) or isinstance(prob, bool) or not 0 < prob < 1:
        raise ValueError(f"prob must be a number between 0 and 1 (exclusive), got {prob!r}.")


def frame_of(columns, index=None):
    """A pandas DataFrame of named columns; an ImportError that says so where there is no pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas") from error
    return pd.DataFrame(columns, index=index)


def hdi_interval(x, prob=0.9, axis=0):
    """Highest density interval of draws: the narrowest one that holds ``prob`` of them.

    Parameters
    ----------
    x : array-like
        Draws along one axis; float32 and float64 are kept, other types become float64.
    prob : float, default=0.9
        Probability in the interval, strictly between 0 and 1.
    axis : int, default=0
        The axis of the draws.

    Returns
    -------
    ndarray of shape (*rest, 2)
        ``(low, high)`` in the last axis; ``rest`` is the shape of ``x`` without ``axis``. Both
        are NaN where a draw is NaN; both are the draw where there is only one.

    Raises
    ------
    ValueError
        If ``prob`` is not in (0, 1), ``axis`` does not exist, or there are no draws along it.

    Notes
    -----
    The window spans ``floor(prob * n) + 1`` of the ``n`` sorted draws, the convention of
    ``arviz_stats.hdi(method="nearest")``; the first of equally narrow windows is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior import hdi_interval
    >>> hdi_interval(np.array([0.0, 5.0, 1.0, 9.0, 2.0]), prob=0.5)
    array([0., 2.])
    """
    check_prob(prob)
    x = np.asarray(x)
    if not isinstance(axis, Integral) or not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must be an axis of x, which has {x.ndim}, got {axis!r}.")
    n = x.shape[axis]
    if n == 0:
        raise ValueError(f"x must have at least one draw along axis {axis}, got shape {x.shape}.")
    dtype = x.dtype if np.issubdtype(x.dtype, np.floating) else np.dtype(np.float64)
    rest = np.moveaxis(x, axis, -1)
    rows = rest.reshape(-1, n)
    out = np.empty((len(rows), 2), dtype=dtype)
    step = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, len(rows), step):
        block = np.array(rows[start : start + step], dtype=dtype, order="C")
        block.sort(axis=1)
        out[start : start + step] = _narrowest(block, prob)
    return out.reshape(*rest.shape[:-1], 2)


def _narrowest(ordered, prob):
    """Ends of the narrowest window in each row of sorted draws (rows, n)."""
    n = ordered.shape[1]
    span = min(int(np.floor(prob * n)), n - 1)
    with np.errstate(invalid="ignore"):
        width = np.subtract(ordered[:, span:], ordered[:, : n - span], dtype=np.float64)
    width[np.isnan(width)] = np.inf  # windows from infinity to infinity
    first = np.argmin(width, axis=1)[:, None]
    ends = np.take_along_axis(ordered, np.hstack([first, first + span]), axis=1)
    ends[np.isnan(ordered[:, -1])] = np.nan  # NaN sorts last
    return ends


def summarise(draws, prob, **more):
    """Bunch of mean, sd, interval and the draws themselves, over the first axis."""
    return Bunch(
        mean=draws.mean(axis=0),
        sd=draws.std(axis=0, ddof=1) if len(draws) > 1 else np.zeros(draws.shape[1:]),
        interval=hdi_interval(draws, prob, axis=0),
        draws=draws,
        **more,
    )


def rhat(draws):
    """Rank-normalised split R-hat of draws (chain, draw, ...); see `Posterior.rhat`."""
    return _by_entry(draws, _rhat)


def ess(draws, method="bulk"):
    """Effective sample size of draws (chain, draw, ...); see `Posterior.ess`."""
    from arviz_stats.base import array_stats

    if method not in ESS_METHODS:
        allowed = ", ".join(repr(m) for m in ESS_METHODS)
        raise ValueError(f"method must be one of {allowed}, got {method!r}.")
    prob = _TAILS if method == "tail" else None
    return _by_entry(draws, lambda x: array_stats.ess(x, method=method, prob=prob))


def mcse(draws):
    """Monte Carlo standard error of the mean of draws (chain, draw, ...)."""
    from arviz_stats.base import array_stats

    return _by_entry(draws, lambda x: array_stats.mcse(x, method="mean"))


def smoothed_weights(density, efficiency):
    """Log weights of leave-one-out by Pareto-smoothed importance sampling, and shapes of tails.

    Parameters
    ----------
    density : ndarray of shape (n, n_draws)
        Log densities of what is left out.
    efficiency : float
        Effective draws per draw.

    Returns
    -------
    log_weights : ndarray of shape (n, n_draws)
        Normalised. Where the fit of a tail has no positive scale, those of plain importance
        sampling.
    pareto_k : ndarray of shape (n,)
    """
    from arviz_stats.base import array_stats

    # the fit of a tail passes through infinities that it knows how to drop
    with np.errstate(all="ignore"):
        log_weights, pareto_k = array_stats.psislw(density, r_eff=efficiency)
    failed = ~np.isfinite(log_weights).all(axis=1)
    log_weights[failed] = log_softmax(-density[failed], axis=1)
    return log_weights, pareto_k


def _by_entry(draws, statistic):
    """Apply ``statistic`` ((entries, chain, draw) -> (entries,)); NaN where it is undefined."""
    n_chains, n_draws, *shape = draws.shape
    out = np.full(int(np.prod(shape)), np.nan)
    if n_draws < _FEWEST_DRAWS:
        return out.reshape(shape)
    columns = draws.reshape(n_chains * n_draws, -1)
    step = max(1, _BLOCK_BYTES // (8 * len(columns)))
    with np.errstate(all="ignore"):  # chains stuck at different values divide by zero
        for start in range(0, columns.shape[1], step):
            block = np.array(columns[:, start : start + step].T, dtype=np.float64, order="C")
            low, high = block.min(axis=1), block.max(axis=1)
            good = np.isfinite(low) & np.isfinite(high) & (low < high)
            if good.any():
                values = statistic(block[good].reshape(-1, n_chains, n_draws))
                out[start : start + step][good] = values
    return out.reshape(shape)


def _rhat(x):
    from arviz_stats.base import array_stats

    if x.shape[1] > 1:
        return array_stats.rhat(x)
    # arviz-stats wants two chains before it splits them; its formula on the halves of one
    half = x.shape[2] // 2
    halves = np.concatenate([x[:, :, :half], x[:, :, -half:]], axis=1)
    folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    bulk, tail = (array_stats.rhat(_normal_scores(h), method="identity") for h in (halves, folded))
    return np.fmax(bulk, tail)


def _normal_scores(x):
    """Normal quantiles of the ranks within each entry (Vehtari et al. 2021, eq. 14)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    rank = rankdata(x.reshape(len(x), -1), axis=1)
    return ndtri((rank - 0.375) / (rank.shape[1] + 0.25)).reshape(x.shape)


@dataclass(frozen=True, repr=False, eq=False)
class Summary:
    """A table of posterior summaries, one row for each entry of the parameters.

    Columns are attributes, and are also reached by name: ``summary["rhat"]``.

    Attributes
    ----------
    labels : ndarray of str, shape (n_rows,)
        Name of the parameter with its labels, as in ``"rho[tree, 0]"``.
    mean, sd : ndarray of shape (n_rows,)
        Posterior mean and standard deviation.
    low, high : ndarray of shape (n_rows,)
        Highest density interval with probability ``prob``.
    mcse : ndarray of shape (n_rows,)
        Monte Carlo standard error of the mean.
    ess_bulk, ess_tail : ndarray of shape (n_rows,)
        Effective sample sizes of the centre and of the 5 % and 95 % quantiles.
    rhat : ndarray of shape (n_rows,)
        Rank-normalised split R-hat.
    prob : float
        Probability in the interval.
    columns : tuple of str
        Names of the columns, in order.
    """

    labels: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mcse: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray
    rhat: np.ndarray
    prob: float

    columns = ("mean", "sd", "low", "high", "mcse", "ess_bulk", "ess_tail", "rhat")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, column):
        if column not in self.columns:
            raise KeyError(f"unknown column {column!r}; available: {', '.join(self.columns)}")
        return getattr(self, column)

    def to_frame(self):
        """Return the table as a pandas DataFrame, indexed by label.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return frame_of({c: self[c] for c in self.columns}, index=self.labels)

    def to_string(self, max_rows=20):
        """Return the table as text.

        Parameters
        ----------
        max_rows : int or None, default=20
            Of a longer table the first and last rows are shown; None shows every row.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If ``max_rows`` is not an integer >= 2 or None.
        """
        if max_rows is not None and (not isinstance(max_rows, Integral) or max_rows < 2):
            raise ValueError(f"max_rows must be an integer >= 2 or None, got {max_rows!r}.")
        n = len(self)
        cut = max_rows is not None and n > max_rows
        head = (max_rows + 1) // 2 if cut else n
        shown = [*range(head), *(range(n - max_rows // 2, n) if cut else ())]
        table = [["", *(_shorten(str(self.labels[i])) for i in shown)]]
        for column in self.columns:
            table.append([column, *_format(column, self[column][shown])])
        widths = [max(map(len, cells)) for cells in table]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in zip(*table, strict=True)
        ]
        if cut:
            lines.insert(1 + head, "...")
        return "\n".join([*lines, self._footer()])

    def _footer(self):
        text = f"{len(self)} rows; low and high bound the {self.prob:.4g} highest density interval"
        rhat = self.rhat[~np.isnan(self.rhat)]
        ess = self.ess_bulk[~np.isnan(self.ess_bulk)]
        if rhat.size and ess.size:
            text += f"\nlargest rhat {rhat.max():.3f}, smallest ess_bulk {ess.min():.0f}"
        return text

    def __repr__(self):
        return self.to_string()


def _shorten(label, length=40):
    return label if len(label) <= length else f"{label[: length - 3]}..."


def _format(column, values):
    if column.startswith("ess"):
        return [f"{v:.0f}" for v in values]
    if column == "rhat":
        return [f"{v:.3f}" for v in values]
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    # fixed point where it shows every entry, otherwise significant digits
    plain = not size.size or (size.max() < 1e6 and size.max() >= 1e-2)
    return [f"{v:.3f}" if plain else f"{v:.3g}" for v in values]


def entry_labels(name, dims, shape, coords):
    """Labels ``name[label, label]`` of the entries of an array in C order, a list of str."""
    axes = [
        [str(c) for c in coords[dim]] if dim in coords else [str(i) for i in range(size)]
        for dim, size in zip(dims, shape, strict=True)
    ]
    return [f"{name}[{', '.join(entry)}]" if entry else name for entry in product(*axes)]


def check_arrays(parameter, arrays):
    """Dict of numeric arrays (chain, draw, ...), contiguous so that chains flatten to a view."""
    out = {}
    for name, values in _items(parameter, arrays):
        try:
            values = np.ascontiguousarray(values)
        except ValueError as error:
            raise ValueError(f"{parameter}[{name!r}] must be an array: {error}") from error
        if values.dtype.kind not in "biuf":
            raise ValueError(f"{parameter}[{name!r}] must be real numbers, got {values.dtype}.")
        if values.ndim < 2 or not values.shape[0]:
            raise ValueError(
                f"{parameter}[{name!r}] must have shape (chain, draw, ...) with at least one "
                f"chain, got {np.shape(arrays[name])}."
            )
        out[name] = values
    return out


def check_lengths(draws, stats, moments):
    """Number of chains and of draws, after a look whether all arrays agree."""
    if not draws and not moments:
        raise ValueError("draws must name at least one parameter where there are no moments.")
    both = [name for name in stats if name in draws or name in moments]
    if both:
        raise ValueError(f"stats must not share names with draws or moments, got {both}.")
    for parameter, group in (("draws", draws), ("stats", stats)):
        sizes = {name: values.shape[:2] for name, values in group.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"{parameter} must share (chain, draw), got {sizes}.")
    of_draws, of_stats = (
        next((values.shape[:2] for values in group.values()), None) for group in (draws, stats)
    )
    if of_draws and of_stats and of_draws[0] != of_stats[0]:
        raise ValueError(
            f"stats must have as many chains as draws, {of_draws[0]}, got {of_stats[0]}."
        )
    n_chains, n_draws = of_draws or (of_stats[0] if of_stats else 0, 0)
    lacking = [name for name in draws if not n_draws and name not in moments]
    if lacking:
        raise ValueError(f"draws must hold at least one draw where moments do not: {lacking}.")
    return n_chains, n_draws


def check_dims(dims, shapes, coords):
    """Dict of dimension names for every shape, defaults filled in, sizes compared."""
    given = dict(_items("dims", dims))
    unknown = [name for name in given if name not in shapes]
    if unknown:
        raise ValueError(f"dims has unknown names {unknown}; available: {list(shapes)}.")
    sizes = {dim: (f"coords[{dim!r}]", len(labels)) for dim, labels in coords.items()}
    out = {}
    for name, shape in shapes.items():
        own = given.get(name, [f"{name}_dim_{i}" for i in range(len(shape))])
        if isinstance(own, str) or len(own) != len(shape) or len(set(own)) != len(own):
            raise ValueError(
                f"dims[{name!r}] must be {len(shape)} different name(s) for shape {shape}, "
                f"got {own!r}."
            )
        for dim, size in zip(own, shape, strict=True):
            if not isinstance(dim, str) or dim in ("chain", "draw"):
                raise ValueError(
                    f"dims[{name!r}] must be strings other than 'chain' and 'draw', got {dim!r}."
                )
            first, known = sizes.setdefault(dim, (f"{name!r}", size))
            if size != known:
                raise ValueError(
                    f"dims[{name!r}]: dimension {dim!r} has size {size}, but {known} in {first}."
                )
        out[name] = tuple(own)
    return out


def check_coords(coords):
    """Dict of one-dimensional arrays of labels that need no pickle."""
    out = {}
    for dim, labels in _items("coords", coords):
        labels = np.asarray(labels)
        if labels.dtype.kind in "OT" and all(isinstance(label, str) for label in labels.flat):
            labels = labels.astype(str)
        if labels.ndim != 1 or labels.dtype.kind not in "biufUM":
            raise ValueError(
                f"coords[{dim!r}] must be a one-dimensional array of strings, numbers or dates, "
                f"got {labels.ndim} dimension(s) of {labels.dtype}."
            )
        out[dim] = labels
    return out


def check_attrs(attrs):
    """Dict of plain Python values, numpy scalars converted."""
    out = {}
    for name, value in _items("attrs", attrs):
        value = value.item() if isinstance(value, np.generic) else value
        if not (value is None or isinstance(value, str | bool | int | float)):
            raise ValueError(
                f"attrs[{name!r}] must be a string, number, bool or None, got {value!r}."
            )
        out[name] = value
    return out


def _items(parameter, mapping):
    mapping = {} if mapping is None else mapping
    if not isinstance(mapping, Mapping) or not all(isinstance(name, str) for name in mapping):
        raise ValueError(
            f"{parameter} must be a mapping with names as keys, got {type(mapping).__name__}."
        )
    return mapping.items()
