r"""Gaussian priors of word vectors, as precision operators that every solver shares.

Component k of the vectors of one side has the log density, up to a constant,

    - tau_k / 2 x_k' (I + G) x_k - 1/2 x_k' diag(e_k) x_k + h_k' x_k,

with a precision ``tau_k`` (fixed, or learned under a Gamma hyperprior), a coupling ``G`` of words
(graph Laplacian or groups) and entries ``e``, ``h`` that hold named words near given values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..common.checks import check_choice, check_not_iterator, check_real, is_whole
from .couplings import GraphCoupling, GroupCoupling
from .density_kernels import add_normal_gradient

LEARNED = "learned"
# A precision that is chosen by held-out units, or a solver by the size of the data.
AUTO = "auto"
HYPER_ARD = (1e-3, 1e-3)
HYPER_SHARED = (1.0, 1.0)
SIDES = {"both": (0, 1), "target": (0,), "context": (1,)}


class _Specification:
    """What the public priors share: a repr by their parameters."""

    def __repr__(self) -> str:
        inside = ", ".join(f"{n}={_short(v)}" for n, v in vars(self).items())
        return f"{type(self).__name__}({inside})"


def _short(value):
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"<{type(value).__name__}>"


class GraphPrior(_Specification):
    """Prior by which words linked in a graph have similar vectors.

    The precision of each component of the vectors is ``prior_precision * (I + strength * L)``, with
    L the Laplacian of the weighted graph (Yrjänäinen & Magnusson 2022): a link of weight a between
    u and v costs ``prior_precision * strength * a / 2 * |x_u - x_v|^2``.

    Parameters
    ----------
    graph : list of (word, word) or (word, word, weight), or sparse (n_words, n_words)
        Links between words, in any order, with positive weights, 1 by default; weights of a link
        that is there more than once, in either direction, add up. Those with a word outside the
        vocabulary are left out. Or a symmetric matrix of weights in the order of the
        vocabulary, whose diagonal is ignored.
    strength : float, default=1.0
        Factor of all weights, in units of ``prior_precision``.
    side : {"both", "target", "context"}, default="both"
        Vectors that are linked: target vectors, context vectors or both.

    Raises
    ------
    ValueError
        In ``fit``, for links that are not pairs of words, or if none is in the vocabulary.

    Examples
    --------
    >>> from skbayesembed import GraphPrior
    >>> GraphPrior([("cat", "dog"), ("cat", "kitten", 2.0)], strength=0.5)
    GraphPrior(graph=[('cat', 'dog'), ('cat', 'kitten', 2.0)], strength=0.5, side='both')
    """

    def __init__(self, graph: Any, strength: float = 1.0, side: str = "both") -> None:
        self.graph = graph
        self.strength = strength
        self.side = side

    def check(self) -> None:
        """Raise a ValueError for what is wrong whatever the vocabulary.

        Examples
        --------
        >>> from skbayesembed import GraphPrior
        >>> GraphPrior([("cat", "dog")], strength=-1.0).check()
        Traceback (most recent call last):
        ValueError: prior.strength must be a number > 0, got -1.0.
        """
        check_real("prior.strength", self.strength, 0)
        check_choice("prior.side", self.side, tuple(SIDES))
        if _is_matrix(self.graph):
            return
        check_not_iterator("prior.graph", self.graph)
        if isinstance(self.graph, str) or not isinstance(self.graph, Iterable):
            raise ValueError(
                "prior.graph must be a list of (word, word) or (word, word, weight), or a matrix, "
                f"got {self.graph!r}."
            )
        for link in self.graph:
            if isinstance(link, str) or not hasattr(link, "__len__") or len(link) not in (2, 3):
                raise ValueError(
                    f"prior.graph must hold (word, word) or (word, word, weight), got {link!r}."
                )
            if len(link) == 3:
                check_real("prior.graph's weight", link[2], 0)

    def options(self, vocabulary, n_components, precision):
        """Keywords of `Prior`.

        Examples
        --------
        >>> from skbayesembed import GraphPrior
        >>> prior = GraphPrior([("cat", "dog")])
        >>> list(prior.options({"cat": 0, "dog": 1}, 2, 1.0))
        ['couplings']
        """
        weights = _weights(self.graph, vocabulary)
        if weights.nnz == 0:
            raise ValueError(
                f"prior.graph has no link between two words of the vocabulary of {len(vocabulary)}."
            )
        return _on_sides("couplings", self.side, GraphCoupling(self.strength * weights))


class GroupedPrior(_Specification):
    """Prior by which the vectors of each group's words lie around a latent vector.

    Every word of a group is linked, with weight ``strength``, to a vector of the group, which has
    the same prior as a word (the star graph of Yrjänäinen & Magnusson 2022; Rudolph et al. 2017).
    That vector is integrated out.

    Parameters
    ----------
    groups : dict of label to list of words
        A word may be in one group only; words outside the vocabulary are left out.
    strength : float, default=1.0
        Weight of the links, in units of ``prior_precision``.
    side : {"both", "target", "context"}, default="both"
        Vectors that share the latent vectors: target vectors, context vectors or both.

    Raises
    ------
    ValueError
        In ``fit``, for a word in two groups, or if no group has a word of the vocabulary.

    Examples
    --------
    >>> from skbayesembed import GroupedPrior
    >>> GroupedPrior({"pets": ["cat", "dog"]}, strength=2.0)
    GroupedPrior(groups={'pets': ['cat', 'dog']}, strength=2.0, side='both')
    """

    def __init__(
        self, groups: Mapping[Any, Iterable[str]], strength: float = 1.0, side: str = "both"
    ) -> None:
        self.groups = groups
        self.strength = strength
        self.side = side

    def check(self) -> None:
        """Raise a ValueError for what is wrong whatever the vocabulary.

        Examples
        --------
        >>> from skbayesembed import GroupedPrior
        >>> GroupedPrior({"pets": "cat"}).check()
        Traceback (most recent call last):
        ValueError: prior.groups['pets'] must be a list of words, got 'cat'.
        """
        check_real("prior.strength", self.strength, 0)
        check_choice("prior.side", self.side, tuple(SIDES))
        if not isinstance(self.groups, Mapping) or not self.groups:
            raise ValueError(
                f"prior.groups must be a dict of label to list of words, got {self.groups!r}."
            )
        seen: dict[str, str] = {}
        for label, words in self.groups.items():
            if isinstance(words, str) or not isinstance(words, Iterable):
                raise ValueError(f"prior.groups[{label!r}] must be a list of words, got {words!r}.")
            check_not_iterator(f"prior.groups[{label!r}]", words)
            for word in words:
                if seen.setdefault(word, label) != label:
                    raise ValueError(
                        f"prior.groups has {word!r} in two groups, {seen[word]!r} and {label!r}."
                    )

    def options(self, vocabulary, n_components, precision):
        """Keywords of `Prior`.

        Examples
        --------
        >>> from skbayesembed import GroupedPrior
        >>> prior = GroupedPrior({"pets": ["cat", "dog"]})
        >>> list(prior.options({"cat": 0, "dog": 1}, 2, 1.0))
        ['couplings']
        """
        group = np.full(len(vocabulary), -1)
        for number, words in enumerate(self.groups.values()):
            for word in words:
                place = _place(word, vocabulary)
                if place is not None:
                    group[place] = number
        if group.max() < 0:
            raise ValueError(
                f"prior.groups has no word of the vocabulary of {len(vocabulary)} words."
            )
        _, group[group >= 0] = np.unique(group[group >= 0], return_inverse=True)
        return _on_sides("couplings", self.side, GroupCoupling(group, float(self.strength)))


class InformativePrior(_Specification):
    """Prior that holds named words near given values on chosen components (Bodell et al. 2019).

    It gives a component a meaning: seed words have values of opposite sign at its ends. Where a
    value is given, the prior is normal around it with ``precision``; elsewhere it is unchanged.

    Parameters
    ----------
    values : dict of word to dict of component to value
        ``{"good": {0: 1.0}, "bad": {0: -1.0}}``.
    precision : float, default=100.0
        Precision of the prior around the values; 100 is a standard deviation of 0.1.
    side : {"both", "target", "context"}, default="both"
        Vectors that are held: target vectors, context vectors or both.

    Raises
    ------
    ValueError
        In ``fit``, for a word outside the vocabulary or a component that does not exist.

    Examples
    --------
    >>> from skbayesembed import InformativePrior
    >>> InformativePrior({"good": {0: 1.0}, "bad": {0: -1.0}})
    InformativePrior(values={'good': {0: 1.0}, 'bad': {0: -1.0}}, precision=100.0, side='both')
    """

    def __init__(
        self,
        values: Mapping[str, Mapping[int, float]],
        precision: float = 100.0,
        side: str = "both",
    ) -> None:
        self.values = values
        self.precision = precision
        self.side = side

    def check(self) -> None:
        """Raise a ValueError for what is wrong whatever the vocabulary.

        Examples
        --------
        >>> from skbayesembed import InformativePrior
        >>> InformativePrior({"good": {0: 1.0}}, precision=-1.0).check()
        Traceback (most recent call last):
        ValueError: prior.precision must be a number > 0, got -1.0.
        """
        check_real("prior.precision", self.precision, 0)
        check_choice("prior.side", self.side, tuple(SIDES))
        good = isinstance(self.values, Mapping) and self.values
        if not good or not all(isinstance(v, Mapping) and v for v in self.values.values()):
            raise ValueError(
                "prior.values must be a dict of word to a dict of component to value, got "
                f"{self.values!r}."
            )
        for word, entries in self.values.items():
            for component, value in entries.items():
                name = f"prior.values[{word!r}][{component!r}]"
                check_real(name, value, -np.inf)

    def options(self, vocabulary, n_components, precision):
        """Keywords of `Prior`.

        Examples
        --------
        >>> from skbayesembed import InformativePrior
        >>> prior = InformativePrior({"cat": {0: 1.0}})
        >>> list(prior.options({"cat": 0, "dog": 1}, 2, 1.0))
        ['held']
        """
        extra = np.zeros((len(vocabulary), n_components))
        pull = np.zeros_like(extra)
        for word, entries in self.values.items():
            place = _place(word, vocabulary)
            if place is None:
                raise ValueError(
                    f"prior.values names {word!r}, which is not in the vocabulary of "
                    f"{len(vocabulary)} words."
                )
            for component, value in entries.items():
                if not is_whole(component) or not 0 <= component < n_components:
                    raise ValueError(
                        f"prior.values[{word!r}] names component {component!r}; allowed are 0 to "
                        f"n_components - 1 = {n_components - 1}."
                    )
                extra[place, component] = self.precision - precision
                pull[place, component] = self.precision * value
        return _on_sides("held", self.side, (extra, pull))


SPECIFICATIONS = (GraphPrior, GroupedPrior, InformativePrior)


def _on_sides(name, side, value):
    return {name: tuple(value if s in SIDES[side] else None for s in (0, 1))}


def _is_matrix(graph):
    return sparse.issparse(graph) or (isinstance(graph, np.ndarray) and graph.dtype.kind in "fiub")


def _place(word, vocabulary):
    """Row of a word, or of an index; None where there is none.

    Columns of a data frame may be named by integers, which name words then, and not rows.
    """
    if is_whole(word):
        named = vocabulary.get(str(word), word)
        if named != word:
            raise ValueError(
                f"prior names {word!r}, which may be the word {str(word)!r}, at index {named} of "
                "the vocabulary, or an index: pass words, each as a str."
            )
        return int(word) if 0 <= word < len(vocabulary) else None
    return vocabulary.get(word)


def _weights(graph, vocabulary):
    """Symmetric weights of a graph as a csr array without diagonal."""
    n = len(vocabulary)
    if _is_matrix(graph):
        weights = sparse.csr_array(graph, dtype=float)
        if weights.shape != (n, n):
            raise ValueError(
                f"prior.graph must have the shape of the vocabulary, {(n, n)}, got {weights.shape}."
            )
        if weights.nnz and not (np.isfinite(weights.data).all() and weights.data.min() >= 0):
            raise ValueError("prior.graph must hold finite weights >= 0.")
        if abs(weights - weights.T).max() > 1e-12 * max(abs(weights).max(), 1e-300):
            raise ValueError("prior.graph must be symmetric.")
    else:
        entries = []
        for link in graph:
            ends = [_place(word, vocabulary) for word in link[:2]]
            if None not in ends:
                entries.append((*ends, float(link[2]) if len(link) == 3 else 1.0))
        u, v, a = (np.array(c) for c in zip(*entries, strict=True)) if entries else ([], [], [])
        weights = sparse.csr_array((a, (u, v)), shape=(n, n), dtype=float)
        weights = weights + weights.T
    weights = sparse.csr_array(weights - sparse.diags_array(weights.diagonal()))
    weights.eliminate_zeros()
    return weights


class Prior:
    """The prior of both sides' vectors.

    Parameters
    ----------
    n_words, n_components : int
    precision : float
        ``tau``: its value where fixed, where it starts where learned.
    learned : {None, "shared", "component"}, default=None
        Whether ``tau`` is one unknown, or one for each component (automatic relevance
        determination), of both sides together.
    hyper : tuple of float, default=(1.0, 1.0)
        Shape and rate of the Gamma hyperprior of a learned ``tau``.
    couplings : tuple of two, default=(None, None)
        `GraphCoupling`, `GroupCoupling` or None for targets and contexts.
    held : tuple of two, default=(None, None)
        Pairs (e, h) of arrays (n_words, n_components), or None, for targets and contexts.

    Attributes
    ----------
    tau : ndarray of shape (n_components,)
    free_components : ndarray of int
        Components that may be rotated into each other without changing the prior.
    """

    def __init__(
        self, n_words, n_components, precision, *, learned=None, hyper=(1.0, 1.0),
        couplings=(None, None), held=(None, None),
    ):  # fmt: skip
        self.n_words = n_words
        self.n_components = n_components
        self.tau = np.full(n_components, float(precision))
        self.learned = learned
        self.hyper = tuple(float(h) for h in hyper)
        self.couplings = tuple(couplings)
        self.held = tuple(held)
        informed = np.zeros(n_components, bool)
        for pair in self.held:
            if pair is not None:
                informed |= np.any(pair[0] != 0, axis=0) | np.any(pair[1] != 0, axis=0)
        self.free_components = np.flatnonzero(~informed)

    @property
    def rotates(self):
        """Whether every rotation of the components leaves the prior as it is."""
        return self.free_components.size == self.n_components

    @property
    def coupled(self):
        """Whether words of one side depend on each other."""
        return any(c is not None for c in self.couplings)

    @property
    def changing(self):
        """Whether the prior of a word given the rest changes from sweep to sweep."""
        return self.coupled or self.learned is not None

    def _tau(self, tau):
        return self.tau if tau is None else tau

    def word_diagonal(self, side):
        """Diagonal of ``I + G``, shape (n_words,)."""
        coupling = self.couplings[side]
        return np.ones(self.n_words) if coupling is None else 1.0 + coupling.diagonal

    def diagonal(self, side, tau=None):
        """Diagonal of the precision, shape (n_words, n_components)."""
        held = self.held[side]
        out = np.outer(self.word_diagonal(side), self._tau(tau))
        return out if held is None else out + held[0]

    def linear(self, side):
        """Precision times prior mean, shape (n_words, n_components)."""
        held = self.held[side]
        return np.zeros((self.n_words, self.n_components)) if held is None else held[1].copy()

    def apply(self, side, x, tau=None):
        """Precision times ``x``, both of shape (n_words, n_components)."""
        coupling, held = self.couplings[side], self.held[side]
        out = self._tau(tau) * (x if coupling is None else x + coupling.apply(x))
        return out if held is None else out + held[0] * x

    def add_gradient(self, side, x, gradient, tau=None):
        """Log prior density of a side up to what depends on tau alone; its gradient is added."""
        coupling, held = self.couplings[side], self.held[side]
        if coupling is None and held is None:
            return add_normal_gradient(x, self._tau(tau), gradient)
        product = self.apply(side, x, tau)
        linear = 0.0 if held is None else held[1]
        gradient += linear - product
        return float(np.sum((linear - 0.5 * product) * x))

    def neighbours(self, side):
        """The coupling G as a csr array, or None."""
        coupling = self.couplings[side]
        return None if coupling is None else coupling.matrix()

    def log_det(self, side):
        """Log determinant of ``I + G``."""
        coupling = self.couplings[side]
        return 0.0 if coupling is None else coupling.log_det

    def local(self, side, x, tau, rng):
        """Independent Gaussian priors of the words of a side, by auxiliary variables where coupled.

        Parameters
        ----------
        side : int
        x : ndarray of shape (n_words, n_components)
            Current vectors.
        tau : ndarray of shape (n_components,)
        rng : numpy.random.Generator

        Returns
        -------
        precision, pull : ndarray of shape (n_words, n_components)
            Each word is N(pull / precision, 1 / precision); leaves the prior invariant.
        """
        coupling, held = self.couplings[side], self.held[side]
        pull = self.linear(side)
        if coupling is None:
            return self.diagonal(side, tau), pull
        precision = np.outer(1.0 + coupling.local_diagonal, tau)
        if held is not None:
            precision += held[0]
        return precision, pull + coupling.draw_pull(x, tau, rng)

    def squares(self, arrays):
        """``x_k' (I + G) x_k`` of each component, summed over both sides: (n_components,)."""
        total = np.zeros(self.n_components)
        for x, coupling in zip(arrays, self.couplings, strict=True):
            total += np.einsum("wk,wk->k", x, x if coupling is None else x + coupling.apply(x))
        return total

    def reported(self, tau):
        """A learned ``tau`` as it is recorded: one number, or one a component, largest first.

        Components are exchangeable, and draws are turned to a common frame: only their order by
        size means the same in every draw.
        """
        return tau[:1].copy() if self.learned == "shared" else np.sort(tau)[::-1]

    def draw_tau(self, arrays, rng):
        """A draw of a learned ``tau`` given the vectors, from its Gamma conditional."""
        shape, rate = self.hyper
        squares = self.squares(arrays)
        if self.learned == "shared":
            count = 2 * self.n_words * self.n_components
            value = rng.gamma(shape + 0.5 * count) / (rate + 0.5 * squares.sum())
            return np.full(self.n_components, value)
        return rng.gamma(shape + self.n_words, size=squares.size) / (rate + 0.5 * squares)


def as_prior(prior, n_words, n_components):
    """``prior`` itself, or the spherical one with that precision."""
    return prior if isinstance(prior, Prior) else Prior(n_words, n_components, prior)


def build_prior(estimator, vocabulary):
    """The `Prior` of an estimator's ``prior``, ``prior_precision`` and ``hyperprior``."""
    e, k = estimator, estimator.n_components
    learned = "shared" if e.prior_precision == LEARNED else None
    if isinstance(e.prior, str) and e.prior == "ard":
        learned = "component"
    hyper = e.hyperprior
    if hyper is None:
        hyper = HYPER_ARD if learned == "component" else HYPER_SHARED
    # where learned, the search for a start takes the mean of the hyperprior
    start = 1.0
    if learned:
        start = hyper[0] / hyper[1]
    elif e.prior_precision != AUTO:
        # batches that come one after the other have nothing to choose one by
        start = float(e.prior_precision)
    options = {}
    if isinstance(e.prior, SPECIFICATIONS):
        options = e.prior.options(vocabulary, k, start)
    return Prior(len(vocabulary), k, start, learned=learned, hyper=hyper, **options)
