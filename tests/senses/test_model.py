from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax, logsumexp, softmax

from skbayesembed.numeric.tridiagonal import Tridiagonal
from skbayesembed.senses.coordinates.path_kernels import narrowed_levels
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior

N_SENSES, N_GENRES, N_PERIODS, N_WORDS, N_DIMS = 3, 2, 4, 7, 2
KINDS = ["disc", "gasc", "interaction", "edisc", "learned"]


def prior_of(kind, **options):
    """Of a model; "learned" is DiSC that learns the variance of the steps of prevalences."""
    if kind == "learned":
        return ModelPrior(kind="disc", kappa_phi=(1.5, 0.4), **options)
    return ModelPrior(kind=kind, **options)


def snippets(seed=0, n=40, labelled=False):
    """Random snippets; some are empty, period 1 has none, and one cell has none."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, size=(n, N_WORDS))
    counts[:3] = 0
    periods = rng.choice([0, 2, 3], n)
    genres = np.where(periods == 3, 0, rng.integers(N_GENRES, size=n))
    labels = np.where(rng.random(n) < 0.3, rng.integers(N_SENSES, size=n), -1)
    return Snippets.of(
        sparse.csr_array(counts),
        periods,
        genres,
        labels if labelled else None,
        n_periods=N_PERIODS,
        n_genres=N_GENRES,
        vectors=rng.normal(size=(N_WORDS, N_DIMS)),
    )


def model_of(kind, seed=0, labelled=False, power=1.0):
    model = SenseModel(snippets(seed, labelled=labelled), N_SENSES, prior_of(kind), power=power)
    rng = np.random.default_rng(seed + 1)
    return model, model.pack(model.draw_prior(rng)) + 0.3 * rng.normal(size=model.n_parameters)


def slow_logits(model, arrays):
    """Logits of words (K, T, V)."""
    if "psi" in arrays:
        return arrays["psi"]
    logits = arrays["chi"][:, None] + arrays["theta"]
    if "sigma" in arrays:
        return np.einsum("vm,ktm->ktv", model.data.vectors, logits) + arrays["sigma"]
    if "deviation" in arrays:
        precision = np.exp(-2 * (arrays["log_tau"] + arrays["log_lambda"]))
        logits = logits + arrays["deviation"] / np.sqrt(precision + 1 / model.prior.kappa_chi)
    return logits


def slow_log_likelihood(model, arrays):
    """Equation 9, a snippet at a time, by a sum over senses."""
    data = model.data
    words = log_softmax(slow_logits(model, arrays), axis=2)
    prevalence = log_softmax(arrays["phi"], axis=2)
    total, chances = 0.0, []
    for d in range(data.n_snippets):
        t, g = data.periods[d], data.genres[d]
        entries = slice(data.indptr[d], data.indptr[d + 1])
        by_sense = prevalence[g, t] + words[:, t][:, data.words[entries]] @ data.counts[entries]
        if data.labels[d] >= 0:
            chances.append(np.eye(N_SENSES)[data.labels[d]])
            total += by_sense[data.labels[d]]
        else:
            chances.append(softmax(by_sense))
            total += logsumexp(by_sense)
    return total, np.array(chances)


# Axis of the softmax of each array of logits.
SOFTMAX_AXES = {"chi": 1, "theta": 1, "phi": 2, "psi": 2}


def softmax_axes(model):
    return {"sigma": 0, "phi": 2} if model.prior.kind == "edisc" else SOFTMAX_AXES


def take_out_levels(model, arrays):
    for name, axis in softmax_axes(model).items():
        if name in arrays:
            arrays[name] -= arrays[name].mean(axis=axis, keepdims=True)


def single(variance):
    """Precision of one number."""
    return Tridiagonal(np.full(1, 1 / variance), np.empty(0))


def slow_log_prior(model, arrays):
    """Up to a constant, from dense precisions."""
    prior, total = model.prior, 0.0
    # two words at the median distance of one differ by as much as two independent logits
    twice = 2.0 if prior.kind == "edisc" else 1.0
    alpha, kappa_theta = prior.alpha_theta, twice * prior.kappa_theta
    precisions = {
        "chi": lambda n, _: single(twice * prior.kappa_chi),
        "sigma": lambda n, _: single(prior.kappa_sigma),
        "theta": lambda n, _: Tridiagonal.autoregression(n, alpha, kappa_theta),
        "phi": prior.phi_precision,
        "psi": lambda n, _: prior.psi_precision(n),
        "deviation": lambda n, _: prior.deviation_precision(n),
    }
    for name in precisions.keys() & arrays.keys():
        x = arrays[name]
        # periods first, all else behind
        x = {"theta": x}.get(name, x[None]) if x.ndim < 3 else np.moveaxis(x, 1, 0)
        kappa = np.exp(arrays["log_kappa_phi"]) if name == "phi" and prior.learns else None
        precision = precisions[name](x.shape[0], kappa)
        flat = x.reshape(x.shape[0], -1)
        total -= 0.5 * np.einsum("tm,ts,sm->", flat, precision.dense(), flat)
        if kappa is not None:
            shape, rate = prior.of_kappa_phi
            n = flat[1:].size if prior.walks else flat.size
            total -= 0.5 * n * np.log(kappa)
            # inverse Gamma, with the Jacobian of the logarithm
            total -= shape * np.log(kappa) + rate / kappa
    if prior.kind == "interaction":
        tau, size = np.exp(arrays["log_tau"]), np.exp(arrays["log_lambda"])
        # half-Cauchy, with the Jacobian of the logarithm
        total += np.log(tau) - np.log1p((tau / prior.interaction_scale) ** 2)
        total += np.sum(np.log(size) - np.log1p(size**2))
    return total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labelled", [False, True])
def test_likelihood_and_probabilities_against_slow_sums(kind, labelled):
    model, theta = model_of(kind, labelled=labelled)
    arrays = model.unpack(theta)
    expected, chances = slow_log_likelihood(model, arrays)
    np.testing.assert_allclose(model.log_likelihood(theta), expected, rtol=1e-11)
    np.testing.assert_allclose(model.sense_proba(arrays), chances, atol=1e-12)


def scalars(model):
    """Shapes of the parameters beside the logits."""
    if model.prior.learns:
        return {"log_kappa_phi": ()}
    return {"log_tau": (), "log_lambda": N_WORDS} if model.prior.kind == "interaction" else {}


def slow_log_levels(model, arrays):
    """Where kappa_phi is learned: minus the log integral of the narrowed levels of prevalence, and
    the log volume of coordinates that depend on it, from dense matrices.
    """  # noqa: D205
    if not model.prior.learns:
        return 0.0
    phi, kappa = model.coordinates[-1], np.exp(arrays["log_kappa_phi"])
    path = model.prior.phi_precision(N_PERIODS, kappa).dense()
    narrowed = [path + np.diag(n) for n in phi.narrowing[:, 0].T]
    levels = 0.5 * sum(np.linalg.slogdet(p)[1] - np.linalg.slogdet(path)[1] for p in narrowed)
    return levels - 0.5 * sum(np.linalg.slogdet(path + np.diag(n))[1] for n in phi._told.T)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_density_against_slow_sums(kind, power):
    """Differences of log densities, between points whose softmax levels are zero."""
    model, _ = model_of(kind, power=power)
    rng = np.random.default_rng(3)
    gradient, values, expected = np.empty(model.n_parameters), [], []
    for _ in range(4):
        arrays = model.draw_prior(rng)
        take_out_levels(model, arrays)
        for name, shape in scalars(model).items():
            arrays[name] = rng.normal(size=shape)
        values.append(model.logp_and_grad(model.pack(arrays), gradient))
        likelihood, _ = slow_log_likelihood(model, arrays)
        known = slow_log_prior(model, arrays) + slow_log_levels(model, arrays)
        expected.append(power * likelihood + known)
    np.testing.assert_allclose(np.diff(values), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("framed", [False, True])
def test_gradient_against_finite_differences(kind, framed):
    model, theta = model_of(kind, labelled=True, power=0.7)
    if framed:
        arrays = model.unpack(theta)
        model.inform(arrays, model.information_at(arrays))
    gradient, room = np.empty((2, theta.size))
    model.logp_and_grad(theta, gradient)
    step = 1e-5
    for i in range(theta.size):
        values = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[i] += sign * step
            values.append(model.logp_and_grad(moved, room))
        # the error of the quotient is of the order of step squared
        assert abs((values[0] - values[1]) / (2 * step) - gradient[i]) < 1e-6 * (
            1 + abs(gradient[i])
        )


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_and_arrays_are_inverse(kind):
    model, theta = model_of(kind)
    arrays = model.unpack(theta)
    np.testing.assert_allclose(model.pack(arrays), theta, atol=1e-12)
    model.inform(arrays, model.information_at(arrays))
    again = model.unpack(model.pack(arrays))
    for name, value in arrays.items():
        np.testing.assert_allclose(again[name], value, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_change_the_density_of_levels_only(kind):
    """The frame is a choice of coordinates: identified parameters have the same posterior."""
    model, theta = model_of(kind)
    other, _ = model_of(kind)
    reference = model.unpack(theta)
    other.inform(reference, model.information_at(reference))
    rng, gradient = np.random.default_rng(5), np.empty(model.n_parameters)
    gaps = []
    for _ in range(3):
        arrays = model.draw_prior(rng)
        take_out_levels(model, arrays)
        for name, shape in scalars(model).items():
            arrays[name] = rng.normal(size=shape)
        values = [
            m.logp_and_grad(m.pack(arrays), gradient) - slow_log_levels(m, arrays)
            for m in (model, other)
        ]
        gaps.append(values[1] - values[0])
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-8)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("disc", "chi"), ("disc", "theta"), ("disc", "phi"), ("edisc", "sigma"), ("edisc", "phi")],
)
def test_levels_are_independent_of_what_a_softmax_sees(kind, name):
    """In the posterior's Hessian: no cross terms between levels and what is left without them."""
    model, theta = model_of(kind)
    base, room = np.empty(theta.size), np.empty(theta.size)
    model.logp_and_grad(theta, base)
    arrays = model.unpack(theta)
    arrays[name] = arrays[name] + 0.5
    model.logp_and_grad(model.pack(arrays), room)
    change = room - base
    # moves that leave every level where it is: the gradient along them must not change
    rng, origin = np.random.default_rng(1), model.unpack(np.zeros_like(theta))
    for _ in range(5):
        moved = {key: value + rng.normal(size=value.shape) for key, value in origin.items()}
        for key, axis in softmax_axes(model).items():
            if key in moved:
                shift = moved[key] - origin[key]
                moved[key] = moved[key] - shift.mean(axis=axis, keepdims=True)
        direction = model.pack(moved)
        assert abs(change @ direction) < 1e-9 * np.linalg.norm(direction) * np.abs(base).max()


def test_the_frame_of_effects_is_the_cholesky_factor_of_each_word():
    """Dense precisions of chi and theta together, of prior and information."""
    model, theta = model_of("disc")
    arrays = model.unpack(theta)
    information = model.information_at(arrays)
    model.inform(arrays, information)
    n, n_periods = information["psi"], model.data.n_periods
    rng, effects = np.random.default_rng(2), model.coordinates[0]
    y = rng.normal(size=effects.size)
    here, origin = effects.logits(y), effects.logits(np.zeros_like(y))
    x = np.concatenate([here["theta"] - origin["theta"], here["chi"] - origin["chi"]])
    y = y.reshape(-1, model.data.n_words)
    y = np.concatenate([y[N_SENSES:], y[:N_SENSES]])
    for v in range(model.data.n_words):
        dense = np.zeros((n_periods + N_SENSES,) * 2)
        dense[:n_periods, :n_periods] = model.prior.theta_precision(n_periods).dense()
        dense[n_periods:, n_periods:] = np.eye(N_SENSES) / model.prior.kappa_chi
        for t, k in product(range(n_periods), range(N_SENSES)):
            seen = np.zeros(n_periods + N_SENSES)
            seen[[t, n_periods + k]] = 1
            dense += n[k, t, v] * np.outer(seen, seen)
        np.testing.assert_allclose(np.linalg.cholesky(dense).T @ x[:, v], y[:, v], atol=1e-10)


def test_the_frame_of_embedded_effects_is_the_inverse_root_of_their_precision():
    """Dense precision of chi, theta and sigma, of prior and information.

    Given sigma, two dimensions have whatever makes them independent once it is summed out.
    """
    model, theta = model_of("edisc", power=0.7)
    arrays = model.unpack(theta)
    information = model.information_at(arrays)
    model.inform(arrays, information)
    n, rho, prior = 0.7 * information["psi"], model.data.vectors, model.prior
    rows = N_SENSES + N_PERIODS
    of_prior = np.zeros((rows, rows))
    of_prior[:N_SENSES, :N_SENSES] = np.eye(N_SENSES) / (2 * prior.kappa_chi)
    of_prior[N_SENSES:, N_SENSES:] = prior.theta_precision(N_PERIODS).dense()
    size = rows * N_DIMS
    dense = np.zeros((size + N_WORDS, size + N_WORDS))
    of_vectors = np.einsum("rs,mn->rmsn", of_prior, np.eye(N_DIMS))
    for v in range(N_WORDS):
        about = np.zeros((rows, rows))
        for k, t in product(range(N_SENSES), range(N_PERIODS)):
            seen = np.zeros(rows)
            seen[[k, N_SENSES + t]] = 1
            about += n[k, t, v] * np.outer(seen, seen)
        w, own = np.diag(about), 1 / prior.kappa_sigma + n[:, :, v].sum()
        dense[size + v, size + v] = own
        dense[size + v, :size] = dense[:size, size + v] = np.outer(w, rho[v]).ravel()
        for m, o in product(range(N_DIMS), repeat=2):
            block = about if m == o else np.outer(w, w) / own
            of_vectors[:, m, :, o] += block * rho[v, m] * rho[v, o]
    dense[:size, :size] = of_vectors.reshape(size, size)
    effects = model.coordinates[0]

    def flat(y):
        out = effects.logits(y)
        return np.concatenate([out["chi"].ravel(), out["theta"].ravel(), out["sigma"]])

    origin = flat(np.zeros(effects.size))
    moves = np.array([flat(row) - origin for row in np.eye(effects.size)]).T
    np.testing.assert_allclose(moves.T @ dense @ moves, np.eye(effects.size), atol=1e-10)
    _, volume = np.linalg.slogdet(moves)
    level = 0.5 * np.log(1 / prior.kappa_sigma + n.sum() / N_WORDS)
    np.testing.assert_allclose(effects.log_volume(), volume + level, atol=1e-10)


def test_the_frame_of_sizes_is_the_inverse_root_of_their_precision():
    """Dense precision of log tau and log lambda, of prior and information."""
    model, theta = model_of("interaction")
    arrays = model.unpack(theta)
    information = model.information_at(arrays)
    model.inform(arrays, information)
    deviations = model.coordinates[0]
    # sizes' coordinates come last
    origin, moves = np.zeros(deviations.size), np.empty((N_WORDS + 1,) * 2)
    places = deviations.logits(origin)
    for j in range(N_WORDS + 1):
        y = origin.copy()
        y[j - N_WORDS - 1] = 1.0
        here = deviations.logits(y)
        moves[0, j] = here["log_tau"] - places["log_tau"]
        moves[1:, j] = here["log_lambda"] - places["log_lambda"]
    about = information["log_size"]
    dense = 0.5 * np.eye(N_WORDS + 1) + np.diag(np.concatenate([[about.sum()], about]))
    dense[0, 1:] = dense[1:, 0] = about
    np.testing.assert_allclose(moves.T @ dense @ moves, np.eye(N_WORDS + 1), atol=1e-10)


def test_information_about_deviations_and_their_sizes():
    """Of psi, times the squares of its derivatives, by differences."""
    model, theta = model_of("interaction")
    arrays = model.unpack(theta)
    information = model.information_at(arrays)
    step = 1e-5
    for name, found in (("deviation", "deviation"), ("log_lambda", "log_size")):
        up, down = (arrays | {name: arrays[name] + sign * step} for sign in (1, -1))
        slopes = (model.word_logits(up) - model.word_logits(down)) / (2 * step)
        expected = information["psi"] * slopes**2
        if name == "log_lambda":
            expected = expected.sum(axis=(0, 1))
        np.testing.assert_allclose(information[found], expected, rtol=1e-6)


def test_information_is_that_of_complete_data():
    """Minus the mean Hessian of the complete-data log likelihood, its part on the diagonal."""
    model, theta = model_of("disc")
    arrays = model.unpack(theta)
    information = model.information_at(arrays)
    _, chances = slow_log_likelihood(model, arrays)
    data = model.data
    words = softmax(slow_logits(model, arrays), axis=2)
    prevalence = softmax(arrays["phi"], axis=2)
    expected = {"phi": np.zeros_like(arrays["phi"]), "psi": np.zeros_like(words)}
    for d, k in product(range(data.n_snippets), range(N_SENSES)):
        t, g = data.periods[d], data.genres[d]
        p = words[k, t]
        seen = chances[d, k] * data.lengths[d]
        expected["psi"][k, t] += seen * p
        q = prevalence[g, t, k]
        expected["phi"][g, t, k] += q * (1 - q)
    for name, value in expected.items():
        np.testing.assert_allclose(information[name], value, atol=1e-10)


def test_long_snippets_do_not_underflow():
    counts = sparse.csr_array(np.full((2, N_WORDS), 500))
    data = Snippets.of(counts, [0, 0])
    model = SenseModel(data, 2, ModelPrior())
    rng = np.random.default_rng(0)
    theta, gradient = rng.normal(size=model.n_parameters), np.empty(model.n_parameters)
    assert np.isfinite(model.logp_and_grad(theta, gradient))
    assert np.isfinite(gradient).all()
    expected, _ = slow_log_likelihood_small(model, theta)
    np.testing.assert_allclose(model.log_likelihood(theta), expected, rtol=1e-11)


def slow_log_likelihood_small(model, theta):
    arrays = model.unpack(theta)
    words = log_softmax(arrays["chi"] + arrays["theta"], axis=1)
    prevalence = log_softmax(arrays["phi"], axis=2)[0, 0]
    by_sense = prevalence + 500 * words.sum(axis=1)
    return 2 * logsumexp(by_sense), by_sense


@pytest.mark.parametrize(
    "sizes", [{"n_senses": 1}, {"n_periods": 1}, {"n_words": 1}, {"n_snippets": 1}]
)
def test_smallest_sizes(sizes):
    sizes = {"n_senses": 2, "n_periods": 2, "n_words": 3, "n_snippets": 4} | sizes
    n = sizes["n_snippets"]
    counts = sparse.csr_array(np.ones((n, sizes["n_words"])))
    data = Snippets.of(
        counts,
        np.arange(n) % sizes["n_periods"],
        n_periods=sizes["n_periods"],
        vectors=np.random.default_rng(1).normal(size=(sizes["n_words"], N_DIMS)),
    )
    for kind in KINDS:
        model = SenseModel(data, sizes["n_senses"], prior_of(kind))
        theta = model.init(np.random.default_rng(0))
        gradient = np.empty(model.n_parameters)
        assert np.isfinite(model.logp_and_grad(theta, gradient))
        arrays = model.unpack(theta)
        np.testing.assert_allclose(model.sense_proba(arrays).sum(axis=1), 1)
        np.testing.assert_allclose(model.prevalence(arrays).sum(axis=-1), 1)


@pytest.mark.parametrize(
    ("alpha", "first"), [(1.0, 1.3), (1.0, np.inf), (0.9, 0.0), (-0.4, 0.0), (0.0, 0.0)]
)
def test_the_integral_of_narrowed_levels_at_all_sizes_of_steps(alpha, first):
    """Against dense determinants; far out it is finite, and beyond no chain is drawn there."""
    process, n_steps = (alpha, first, 1.0), N_PERIODS - (first > 0)
    rng = np.random.default_rng(6)
    narrowing = rng.gamma(2.0, 3.0, (N_PERIODS, 1, N_GENRES))
    narrowing[1] = 0.0
    narrowing[:, :, 1] = 0.0
    narrowing[2, :, 1] = 1.0
    log_variances = np.array([-3.0, 0.0, 2.5])
    values, slopes, expected = [], [], []
    for x in log_variances:
        value, slope = narrowed_levels(narrowing, process, x)
        if first:
            path = Tridiagonal.walk(N_PERIODS, np.exp(x), first)
        else:
            path = Tridiagonal.autoregression(N_PERIODS, alpha, np.exp(x))
        narrowed = sum(np.linalg.slogdet(path.dense() + np.diag(n))[1] for n in narrowing[:, 0].T)
        values.append(value)
        slopes.append(slope)
        expected.append(0.5 * (narrowed + N_GENRES * n_steps * x))
        step = 1e-5
        far = [narrowed_levels(narrowing, process, x + s)[0] for s in (step, -step)]
        np.testing.assert_allclose(slope, (far[0] - far[1]) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(values, expected, rtol=1e-10)
    for x in (-600.0, 600.0):
        assert np.isfinite(narrowed_levels(narrowing, process, x)).all()
    for x in (-2000.0, 2000.0):
        assert not narrowed_levels(narrowing, process, x)[0] >= 1e4
    assert narrowed_levels(0 * narrowing, process, 0.0) == (0.0, 0.0)
