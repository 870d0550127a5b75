"""The density with topics of tokens summed out, against slow twins and finite differences."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, multigammaln
from scipy.stats import dirichlet, invwishart, multivariate_normal

from skbayesembed.inference.contracts import HamiltonianModel, LogDensity
from skbayesembed.inference.mode import find_mode
from skbayesembed.topics.data import Documents
from skbayesembed.topics.model import MarginalTopics, count_parameters
from skbayesembed.topics.priors import NIW

V, M = 8, 5


def model_of(k=3, e=2, power=1.0, fractional=False, seed=0, alpha=0.6):
    """Random documents; one is empty, and one word never occurs."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.2, size=(M, V)).astype(float)
    counts[1] = 0
    counts[:, 3] = 0
    if fractional:
        counts *= 0.7
    docs = Documents.of(sparse.csr_array(counts), rng.normal(size=(V, e)) + 2.0)
    prior = NIW.from_vectors(docs.vectors, docs.totals, kappa=0.7, nu=e + 3.5)
    alpha = alpha * np.linspace(1, 2, k)
    model = MarginalTopics(
        docs, k, prior, alpha, power=power, start={"assignment": np.arange(V) % k}
    )
    return model, 0.7 * rng.normal(size=model.n_parameters)


SHAPES = [(3, 2), (2, 1), (1, 3), (2, 4)]


def slow_log_joint(model, arrays):
    """Log density of words, theta, means and covariances by scipy."""
    docs, prior = model.documents, model.prior
    total = 0.0
    densities = np.array(
        [
            np.reshape(multivariate_normal(m, c).logpdf(docs.vectors), V)
            for m, c in zip(arrays["mean"], arrays["covariance"], strict=True)
        ]
    ).T
    for d in range(docs.n_documents):
        theta = arrays["theta"][d]
        for i in range(docs.indptr[d], docs.indptr[d + 1]):
            p = theta @ np.exp(model.power * densities[docs.words[i]])
            total += docs.counts[i] * np.log(p)
        if theta.size > 1:
            total += dirichlet(model.alpha).logpdf(theta / theta.sum())
    for m, c in zip(arrays["mean"], arrays["covariance"], strict=True):
        total += invwishart(prior.nu, prior.scale).logpdf(c)
        total += multivariate_normal(prior.mean, c / prior.kappa).logpdf(m)
    return total


def log_constant(model):
    """What turns the density into the log joint density of words and flat coordinates."""
    k, e, prior = model.n_components, model.documents.n_dims, model.prior
    _, root, inverse, mean_spread, _, spread, off_spread = model._frame
    level = gammaln(model.alpha.sum()) - gammaln(model.alpha).sum()
    total = model.documents.n_documents * level
    total += np.log(model._of_documents[2][model._free]).sum()
    half = 0.5 * prior.nu
    of_prior = 0.5 * e * np.log(prior.kappa / (2 * np.pi)) - half * e * np.log(2)
    of_prior += half * float(prior.log_determinant()) - multigammaln(half, e)
    total += k * (of_prior + e * np.log(2))
    total += np.log(np.diagonal(root, axis1=1, axis2=2)).sum()
    total += e * np.log(mean_spread).sum() + np.log(spread).sum()
    total += 0.5 * e * (e - 1) * np.log(off_spread).sum()
    # of U by B, and the powers of U_ii that the kernel takes of B_ii
    powers = (e - np.arange(e)) + (np.arange(e) + 1.0)
    return total + np.sum(powers * np.log(np.diagonal(inverse, axis1=1, axis2=2)))


def natural(model, theta):
    """Free entries of theta, means and covariances as one vector."""
    arrays = model.unpack(theta)
    rows, columns = np.tril_indices(model.documents.n_dims)
    return np.concatenate(
        [
            arrays["theta"][:, :-1].ravel(),
            arrays["mean"].ravel(),
            arrays["covariance"][:, rows, columns].ravel(),
        ]
    )


def differences(function, x, step=1e-5):
    """Central differences of fourth order, an axis for each entry of x at the end."""
    out = []
    for i in range(x.size):
        move = np.zeros_like(x)
        move[i] = step
        near = function(x + move) - function(x - move)
        far = function(x + 2 * move) - function(x - 2 * move)
        out.append((8 * near - far) / (12 * step))
    return np.stack(out, axis=-1)


@pytest.mark.parametrize(("k", "e"), SHAPES)
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_density_is_the_joint_density_with_its_jacobian(k, e, power):
    model, theta = model_of(k, e, power)
    made = model.logp_and_grad(theta, np.empty_like(theta)) + log_constant(model)
    jacobian = differences(lambda x: natural(model, x), theta, 1e-3)
    expected = slow_log_joint(model, model.unpack(theta)) + np.linalg.slogdet(jacobian)[1]
    assert made == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("k", "e"), SHAPES)
@pytest.mark.parametrize(("power", "fractional"), [(1.0, False), (0.3, True)])
def test_gradient(k, e, power, fractional):
    model, theta = model_of(k, e, power, fractional)
    gradient, room = np.empty_like(theta), np.empty_like(theta)
    model.logp_and_grad(theta, gradient)
    found = differences(lambda x: model.logp_and_grad(x, room), theta, 1e-3)
    np.testing.assert_allclose(gradient, found, rtol=1e-7, atol=1e-7)


def test_contracts_and_coordinates():
    model, theta = model_of()
    assert isinstance(model, LogDensity)
    assert isinstance(model, HamiltonianModel)
    assert model.n_parameters == theta.size == count_parameters(M, 3, 2)
    arrays = model.unpack(theta)
    np.testing.assert_allclose(arrays["theta"].sum(axis=1), 1.0)
    np.testing.assert_allclose(model.pack(arrays), theta, atol=1e-10)
    assert model.start().shape == model.init(np.random.default_rng(0)).shape == theta.shape


def test_far_logits_have_the_tails_of_the_prior():
    """An empty document: the density by a logit that falls behaves as exp(alpha logit)."""
    model, _ = model_of(alpha=0.01)
    theta, out = model.start(), np.empty(model.n_parameters)
    place = 2  # first logit of document 1, which is empty
    values = []
    for far in (-20.0, -40.0):
        theta[place] = far
        values.append(model.logp_and_grad(theta, out))
        assert np.all(np.isfinite(out))
    k = np.flatnonzero(model._free[1])[0]
    fall = model.alpha[k] * 20.0 * model._of_documents[2][1, k]
    assert values[0] - values[1] == pytest.approx(fall, rel=1e-6)
    assert model._of_documents[2][1, k] * 40 > 1000  # beyond what exp can hold


def test_observed_arrays():
    model, theta = model_of(power=0.4)
    arrays, seen = model.unpack(theta), model.expected(theta)
    docs = model.documents
    by_word = np.zeros((3, V))
    total = 0.0
    for d in range(M):
        for i in range(docs.indptr[d], docs.indptr[d + 1]):
            w, n = docs.words[i], docs.counts[i]
            p = np.array(
                [
                    multivariate_normal(m, c).logpdf(docs.vectors[w])
                    for m, c in zip(arrays["mean"], arrays["covariance"], strict=True)
                ]
            )
            p = arrays["theta"][d] * np.exp(0.4 * p)
            total += n * np.log(p.sum())
            by_word[:, w] += n * p / p.sum()
    np.testing.assert_allclose(seen["counts"], by_word, atol=1e-10)
    assert np.array_equal(seen["mean"], arrays["mean"])
    assert np.array_equal(seen["covariance"], arrays["covariance"])
    assert np.array_equal(seen["alpha"], model.alpha)
    assert model.trace(theta)["log_likelihood"] == pytest.approx(total)


def test_frame_is_near_the_mode():
    """The mode is within a few posterior standard deviations of where chains start."""
    model, _ = model_of(k=2)
    theta, facts = find_mode(model, model.start())
    assert facts["converged"]
    assert np.max(np.abs(theta)) < 5
    gradient = np.empty_like(theta)
    model.logp_and_grad(theta, gradient)
    assert np.max(np.abs(gradient)) < 1e-3


def test_one_topic_has_the_evidence_of_the_conjugate_model():
    """K = 1, E = 1: two coordinates, integrated on a grid."""
    model, _ = model_of(1, 1)
    docs, prior, out = model.documents, model.prior, np.empty(2)
    grid = np.linspace(-8, 8, 161)
    values = [[model.logp_and_grad(np.array([a, b]), out) for b in grid] for a in grid]
    values = np.array(values) + log_constant(model)
    made = values.max() + np.log(np.sum(np.exp(values - values.max()))) + 2 * np.log(0.1)
    n, x = docs.n_tokens, docs.vectors[:, 0]
    mean = docs.totals @ x / n
    scatter = docs.totals @ (x - mean) ** 2
    last = prior.update(np.array([n]), np.array([[mean]]), np.array([[[scatter]]]))
    # the smooth integrand vanishes at the ends: the error of the sum is far below this
    assert made == pytest.approx(last.log_evidence(prior, n)[0], abs=1e-6)


def test_recorded_counts_are_drawn():
    """Whole tokens, with the spread that topics of tokens have given the rest; of one draw once."""
    model, theta = model_of(power=0.4)
    np.testing.assert_array_equal(model.observe(theta)["counts"], model.observe(theta)["counts"])
    # other random numbers, of points that differ by nothing
    points = theta + 1e-13 * np.arange(1_000)[:, None]
    drawn = np.stack([model.observe(point)["counts"] for point in points])
    np.testing.assert_array_equal(drawn, np.rint(drawn))
    np.testing.assert_array_equal(drawn.sum(axis=1), np.tile(model.documents.totals, (1_000, 1)))
    proba, weights, _ = model._parts(theta)
    variance, mean = np.zeros((2, 3, V))
    docs = model.documents
    for d in range(M):
        for i in range(docs.indptr[d], docs.indptr[d + 1]):
            w = docs.words[i]
            p = proba[d] * weights[np.searchsorted(model._used, w)]
            p /= p.sum()
            mean[:, w] += docs.counts[i] * p
            variance[:, w] += docs.counts[i] * p * (1 - p)
    # five Monte Carlo errors; a variance has about sqrt(2 / n) of itself, more where it is small
    assert np.all(np.abs(drawn.mean(axis=0) - mean) <= 5 * np.sqrt(variance / 1_000) + 1e-12)
    np.testing.assert_allclose(drawn.var(axis=0).sum(), variance.sum(), rtol=0.05)
