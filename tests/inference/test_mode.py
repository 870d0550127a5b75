"""The search for the mode, and the density of the skip-gram model that it climbs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad
from scipy.special import log_expit
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import PairCounts
from skbayesembed.inference.ascent import Ascent
from skbayesembed.inference.mode import find_mode, find_mode_only
from skbayesembed.sgns.counting import RankOne
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.model import SGNSModel


class Quadratic:
    """log p = -(theta - mode)' precision (theta - mode) / 2."""

    def __init__(self, n=6, condition=100.0):
        rng = np.random.default_rng(0)
        q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        self.precision = (q * np.geomspace(1.0, condition, n)) @ q.T
        self.mode = rng.standard_normal(n)
        self.n_parameters = n
        self.scale = np.linspace(0.5, 2.0, n)

    def logp_and_grad(self, theta, out):
        out[:] = -self.precision @ (theta - self.mode)
        return 0.5 * float(out @ (theta - self.mode))

    def pack(self, arrays):
        return arrays["theta"]

    def unpack(self, theta):
        return {"theta": theta}


def test_quadratic():
    model = Quadratic()
    theta, facts = find_mode(model, np.zeros(6), tol=1e-12)
    # a gradient of size g leaves an error of at most g over the smallest precision, 1
    np.testing.assert_allclose(theta, model.mode, atol=2 * facts["max_gradient"] * np.sqrt(6))
    np.testing.assert_allclose(theta, model.mode, atol=1e-5)
    assert facts["converged"]
    assert facts["n_iter"] >= 1
    assert facts["lp"] == pytest.approx(0.0, abs=1e-9)
    out = np.empty(6)
    model.logp_and_grad(theta, out)
    assert facts["max_gradient"] == pytest.approx(
        np.abs(out * model.scale).max(), rel=1e-9, abs=1e-300
    )


def test_start_is_left_alone():
    start = np.ones(6)
    find_mode(Quadratic(), start)
    np.testing.assert_array_equal(start, 1.0)


def test_start_at_the_mode():
    model = Quadratic()
    theta, facts = find_mode(model, model.mode.copy())
    np.testing.assert_allclose(theta, model.mode, atol=1e-12)
    assert facts["converged"]


def test_too_few_iterations():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 iterations.*raise max_iter, or tol"):
        _, facts = find_mode(Quadratic(condition=1e6), np.zeros(6), max_iter=2)
    assert not facts["converged"]
    assert facts["n_iter"] == 2


def test_verbose(capsys):
    find_mode(Quadratic(), np.zeros(6), verbose=1)
    assert capsys.readouterr().out.startswith("mode: ")


def test_model_without_density_is_refused():
    with pytest.raises(TypeError, match="solver='map' needs a model that offers LogDensity"):
        find_mode(object(), np.zeros(2))


# -- the density of the skip-gram model ----------------------------------------------------------


def counts(n_words=7, fractional=False):
    rng = np.random.default_rng(1)
    positive = rng.poisson(0.8, (n_words, n_words)) * 1.0
    negative = rng.poisson(0.8, (n_words, n_words)) * 1.0
    if fractional:
        positive *= rng.random(positive.shape)
    return PairCounts(sparse.csr_array(positive), sparse.csr_array(negative))


def literal_logp(rho, alpha, pairs, precision):
    """The formula, one pair after the other; that of held vectors is a constant."""
    positive, negative = pairs.positive.toarray(), pairs.negative.toarray()
    logp = 0.0
    for w in range(len(rho)):
        for v in range(len(alpha)):
            logit = float(np.dot(rho[w], alpha[v]))
            logp += positive[w, v] * log_expit(logit) + negative[w, v] * log_expit(-logit)
    return logp - 0.5 * precision * ((rho**2).sum() + (alpha**2).sum())


def build(table, pairs, anchored, k=3, precision=1.7):
    anchors = np.array([4, 0, 2]) if anchored else None
    values = np.random.default_rng(2).standard_normal((k, k)) if anchored else None
    return SGNSModel(table(pairs), k, precision, anchors, values)


CASES = [(t, a) for t in (DensePairs, SparsePairs) for a in (False, True)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].__name__}-anchored={case[1]}")
def case(request):
    return request.param


@pytest.mark.parametrize("fractional", [False, True])
def test_density_and_gradient(case, fractional):
    table, anchored = case
    pairs = counts(fractional=fractional)
    model = build(table, pairs, anchored)
    rng = np.random.default_rng(3)
    out = np.empty(model.n_parameters)
    for scale in (0.1, 1.0, 4.0):
        theta = scale * rng.standard_normal(model.n_parameters)
        arrays = model.unpack(theta)
        expected = literal_logp(arrays["rho"], arrays["alpha"], pairs, 1.7)
        assert model.logp_and_grad(theta, out) == pytest.approx(expected, rel=1e-10)

        def value(x):
            return model.logp_and_grad(x, np.empty(model.n_parameters))

        def gradient(x):
            g = np.empty(model.n_parameters)
            model.logp_and_grad(x, g)
            return g

        # finite differences of size 1e-6 on values of size 1e3 are exact to about 1e-7
        error = check_grad(value, gradient, theta, epsilon=1e-6)
        assert error < 1e-4 * max(1.0, np.linalg.norm(out))


def test_gradient_of_expected_negatives():
    """Counts that are a product are a dense table of the same density."""
    given = counts()
    product = RankOne(np.arange(7) / 3.0, np.linspace(0.1, 2.0, 7))
    implicit = PairCounts(given.positive, product)
    explicit = PairCounts(given.positive, sparse.csr_array(product.toarray()))
    theta = np.random.default_rng(0).standard_normal(42)
    a, b = np.empty(42), np.empty(42)
    first = build(DensePairs, implicit, False).logp_and_grad(theta, a)
    assert build(SparsePairs, explicit, False).logp_and_grad(theta, b) == pytest.approx(first)
    np.testing.assert_allclose(a, b, atol=1e-10)


def test_extreme_logits(case):
    """Logits of thousands neither overflow nor turn into NaN."""
    model = build(case[0], counts(), case[1])
    out = np.empty(model.n_parameters)
    theta = 60.0 * np.random.default_rng(0).standard_normal(model.n_parameters)
    assert np.isfinite(model.logp_and_grad(theta, out))
    assert np.isfinite(out).all()


def test_pack_is_the_inverse_of_unpack(case):
    model = build(case[0], counts(), case[1])
    theta = np.random.default_rng(0).standard_normal(model.n_parameters)
    arrays = model.unpack(theta)
    assert arrays["rho"].shape == arrays["alpha"].shape == (7, 3)
    assert model.n_parameters == 3 * (14 - (3 if case[1] else 0))
    np.testing.assert_array_equal(model.pack(arrays), theta)
    again = model.unpack(model.pack(arrays))
    for name in arrays:
        np.testing.assert_array_equal(again[name], arrays[name])
    if case[1]:
        np.testing.assert_array_equal(arrays["alpha"][model.anchors], model.anchor_values)


def test_mode_of_the_model(case):
    """The gradient vanishes at the mode, anchored contexts stay, and no nearby point is higher."""
    model = build(case[0], counts(), case[1], precision=0.3)
    rng = np.random.default_rng(0)
    theta, facts = find_mode(model, model.pack(model.start(rng)), tol=1e-8)
    assert facts["converged"]
    assert facts["max_gradient"] < 1e-3
    scratch = np.empty(model.n_parameters)
    for _ in range(20):
        near = theta + 0.05 * rng.standard_normal(theta.size)
        assert model.logp_and_grad(near, scratch) < facts["lp"]
    if case[1]:
        alpha = model.unpack(theta)["alpha"]
        np.testing.assert_array_equal(alpha[model.anchors], model.anchor_values)


def test_modes_of_the_two_tables_agree():
    """The logits at the mode do not depend on the table (the vectors turn)."""
    logits = []
    for table in (DensePairs, SparsePairs):
        model = build(table, counts(), False, precision=1.0)
        theta, _ = find_mode(model, model.pack(model.start(np.random.default_rng(5))), tol=1e-10)
        arrays = model.unpack(theta)
        logits.append(arrays["rho"] @ arrays["alpha"].T)
    np.testing.assert_allclose(*logits, atol=1e-2)


@pytest.mark.parametrize("options", [{"tol": 1e-6}, {"tol": 1e-12}, {"tol": 1e-6, "max_iter": 3}])
def test_a_search_of_which_only_the_point_is_wanted(options, monkeypatch):
    """It is the same, and the density is evaluated only where that tells how to go on.

    With the second tolerance the search goes on in double precision.
    """
    model = build(DensePairs, counts(), False, precision=1.0)
    start = model.pack(model.start(np.random.default_rng(5)))
    options = {"max_iter": 500, **options}
    expected, _ = find_mode(model, start, warn=False, **options)
    calls, of_all, surfaces = [], model.logp_and_grad, model.surface
    monkeypatch.setattr(model, "logp_and_grad", lambda *a, **k: calls.append(1) or of_all(*a, **k))

    def surface(theta, dtype, run):
        if dtype is np.float64:
            monkeypatch.setattr(model, "logp_and_grad", of_all)  # that of the search itself
        return surfaces(theta, dtype, run)

    monkeypatch.setattr(model, "surface", surface)
    np.testing.assert_array_equal(find_mode_only(model, start, **options), expected)
    assert len(calls) == (2 if options["tol"] == 1e-12 else 0)
    # of a model without a surface it is SciPy's
    quadratic = Quadratic()
    given = np.zeros(6)
    expected, _ = find_mode(quadratic, given)
    found = find_mode_only(quadratic, given, max_iter=1000, tol=1e-8)
    np.testing.assert_array_equal(found, expected)


# -- interruption --------------------------------------------------------------------------------


class Interrupted(Quadratic):
    """Ctrl-C comes in evaluation number ``at``."""

    def __init__(self, at):
        super().__init__(condition=1e4)
        self.at, self.n = at, 0

    def logp_and_grad(self, theta, out):
        self.n += 1
        if self.n == self.at:
            raise KeyboardInterrupt
        return super().logp_and_grad(theta, out)


def test_an_interrupted_search_keeps_where_it_was_if_asked_to():
    with pytest.raises(KeyboardInterrupt):
        find_mode(Interrupted(9), np.zeros(6))
    with pytest.raises(KeyboardInterrupt):
        find_mode(Interrupted(2), np.zeros(6), keep=True)
    model = Interrupted(9)
    with pytest.warns(RuntimeWarning, match="Interrupted: the point is that of .* iterations"):
        theta, facts = find_mode(model, np.zeros(6), keep=True)
    assert facts["interrupted"] and not facts["converged"]
    out = np.empty(6)
    assert model.logp_and_grad(theta, out) == pytest.approx(facts["lp"])
    assert facts["lp"] > model.logp_and_grad(np.zeros(6), out)
    # where as many iterations as it had made end
    with pytest.warns(ConvergenceWarning):
        same, _ = find_mode(Quadratic(condition=1e4), np.zeros(6), max_iter=facts["n_iter"])
    np.testing.assert_array_equal(theta, same)


@pytest.mark.parametrize("at", [6, 14])
def test_an_interrupted_climb_keeps_its_last_step(monkeypatch, at):
    """In single precision, or in double."""
    rng = np.random.default_rng(0)
    n = rng.poisson(3.0, (12, 12)).astype(float)
    counts = PairCounts(sparse.csr_array(n), sparse.csr_array(n.T + 1))
    model = SGNSModel(DensePairs(counts), 2, 1.0)
    start = model.pack(model.start(rng))
    advance, made = Ascent.advance, []

    def interrupted(ascent, *first):
        made.append(ascent)
        if len(made) == at:
            raise KeyboardInterrupt
        return advance(ascent, *first)

    monkeypatch.setattr(Ascent, "advance", interrupted)
    with pytest.warns(RuntimeWarning, match="Interrupted"):
        theta, facts = find_mode(model, start, keep=True, tol=1e-12)
    out = np.empty(model.n_parameters)
    assert facts["interrupted"] and model.logp_and_grad(theta, out) == facts["lp"]
    assert facts["lp"] > model.logp_and_grad(start, out)
    made.clear()
    with pytest.raises(KeyboardInterrupt):
        find_mode(model, start, tol=1e-12)


class Approximated(Quadratic):
    """Its surface has a precision that is a tenth off, and a gradient that is corrected."""

    def logp_and_grad(self, theta, out, run=None):
        return super().logp_and_grad(theta, out)

    def surface(self, theta, dtype, run):
        return ApproximatedSurface(self, theta.astype(dtype))


class ApproximatedSurface:
    rounding = 1.0  # values say nothing

    def __init__(self, model, point):
        self.model, self.point, self.n_corrected = model, point, 0
        wrong = np.random.default_rng(1).standard_normal((len(point), len(point)))
        self.precision = model.precision * (1.0 + 0.1 * np.tanh(wrong + wrong.T))
        self.lacking = np.ones(len(point))
        model.made = self

    def value_and_gradient(self):
        apart = self.point - self.model.mode
        gradient = self.lacking - self.precision @ apart
        return 1e4 - 0.5 * float(apart @ self.precision @ apart), gradient.astype(self.point.dtype)

    def correct(self):
        apart = self.point - self.model.mode
        self.lacking = (self.precision - self.model.precision) @ apart
        self.n_corrected += 1
        return self.value_and_gradient()

    def precondition(self, x):
        x /= np.diag(self.precision)

    def refresh(self):
        pass

    def end(self):
        return self.point.astype(float)


def test_a_surface_that_is_approximated_is_climbed_to_the_mode_of_the_exact_density():
    model = Approximated(condition=10.0)
    theta, facts = find_mode(model, np.zeros(6), tol=1e-8)
    assert facts["converged"] and facts["n_iter"] > 10 * model.made.n_corrected >= 10
    # ten steps gain 1.5e-9 of 1e4 at most, from a mode whose least curvature is 1; single precision
    np.testing.assert_allclose(theta, model.mode, atol=0.01)
    # where nothing is corrected the search ends elsewhere
    uncorrected = np.linalg.solve(model.made.precision, np.ones(6))
    assert np.abs(uncorrected).max() > 0.1


class Stiff(Approximated):
    """Its surface bends nine times as much as the density along one direction."""

    def surface(self, theta, dtype, run):
        surface = super().surface(theta, dtype, run)
        softest = np.linalg.eigh(self.precision)[1][:, 0]
        along = softest @ self.precision @ softest
        surface.precision = self.precision + 8.0 * along * np.outer(softest, softest)
        return surface


def test_where_little_is_left_a_surface_is_corrected_more_often(monkeypatch):
    corrected, taken, correct, advance = [], [], ApproximatedSurface.correct, Ascent.advance

    def counted(surface):
        corrected.append(len(taken))
        return correct(surface)

    monkeypatch.setattr(ApproximatedSurface, "correct", counted)
    monkeypatch.setattr(Ascent, "advance", lambda a: taken.append(a) or advance(a))
    model = Stiff(condition=10.0)
    theta, facts = find_mode(model, np.zeros(6), tol=1e-8)
    gaps = np.diff([*corrected, facts["n_iter"]])
    assert facts["converged"] and gaps[0] > 8 and len(gaps) > 2
    np.testing.assert_array_equal(gaps[1:], 8)
    # eight steps gain 1.5e-9 of 1e4 at most, a fifth of what is left, where the curvature is 1
    np.testing.assert_allclose(theta, model.mode, atol=0.02)
