"""Priors as operators, and the specifications that users give."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from skbayesembed import BayesianSGNS, GraphPrior, GroupedPrior, InformativePrior
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns.couplings import GraphCoupling, GroupCoupling
from skbayesembed.sgns.priors import Prior, build_prior

WORDS = [f"w{i}" for i in range(6)]
VOCABULARY = {w: i for i, w in enumerate(WORDS)}
LINKS = [("w0", "w1"), ("w1", "w2", 2.0), ("w4", "w0", 0.5)]
GROUPS = {"a": ["w0", "w3", "w5"], "b": ["w1", "w2"], "nobody": ["unknown"]}
INFORMED = {"w0": {0: 1.0}, "w2": {0: -1.0, 1: 0.5}}
SPECIFICATIONS = {
    "graph": GraphPrior(LINKS, strength=1.5),
    "grouped": GroupedPrior(GROUPS, strength=0.8),
    "informative": InformativePrior(INFORMED, precision=9.0),
    "graph of targets": GraphPrior(LINKS, side="target"),
}


def built(specification, k=3, precision=2.0, prior_precision=None, hyperprior=(2.0, 3.0)):
    value = precision if prior_precision is None else prior_precision
    model = BayesianSGNS(k, prior=specification, prior_precision=value, hyperprior=hyperprior)
    return build_prior(model, VOCABULARY)


def literal_precision(prior, side, component):
    """The precision matrix of one component, column by column."""
    basis = np.eye(prior.n_words)
    columns = []
    for unit in basis:
        x = np.zeros((prior.n_words, prior.n_components))
        x[:, component] = unit
        columns.append(prior.apply(side, x)[:, component])
    return np.array(columns).T


def log_density(prior, arrays):
    return sum(prior.add_gradient(s, x, np.zeros_like(x)) for s, x in enumerate(arrays))


@pytest.fixture(params=list(SPECIFICATIONS))
def prior(request):
    return built(SPECIFICATIONS[request.param])


def test_diagonal_is_that_of_the_operator(prior):
    for side in (0, 1):
        for k in range(3):
            matrix = literal_precision(prior, side, k)
            assert_allclose(matrix, matrix.T, atol=1e-12)
            assert np.linalg.eigvalsh(matrix).min() > 0
            assert_allclose(np.diag(matrix), prior.diagonal(side)[:, k])


def test_coupling_as_a_matrix(prior):
    for side in (0, 1):
        matrix = prior.neighbours(side)
        if matrix is None:
            continue
        x = np.random.default_rng(0).normal(size=(6, 3))
        assert_allclose(matrix @ x, prior.couplings[side].apply(x), atol=1e-12)
        _, expected = np.linalg.slogdet(np.eye(6) + matrix.toarray())
        assert prior.log_det(side) == pytest.approx(expected)


def test_graph_laplacian_from_the_formula():
    prior = built(GraphPrior(LINKS, strength=1.5))
    x = np.random.default_rng(1).normal(size=(6, 3))
    energy = 0.5 * 2.0 * (x**2).sum()
    for u, v, weight in ((0, 1, 1.0), (1, 2, 2.0), (4, 0, 0.5)):
        energy += 0.5 * 2.0 * 1.5 * weight * ((x[u] - x[v]) ** 2).sum()
    assert log_density(prior, (x, np.zeros_like(x))) == pytest.approx(-energy)


def test_groups_are_a_star_graph_with_its_centre_integrated_out():
    prior = built(GroupedPrior({"a": ["w0", "w3", "w5"]}, strength=0.8))
    star = np.zeros((7, 7))
    star[6, [0, 3, 5]] = star[[0, 3, 5], 6] = 0.8
    precision = 2.0 * (np.eye(7) + np.diag(star.sum(axis=1)) - star)
    marginal = np.linalg.inv(np.linalg.inv(precision)[:6, :6])
    assert_allclose(literal_precision(prior, 0, 1), marginal, atol=1e-10)


def test_informative_values_have_the_prior_they_ask_for():
    prior = built(InformativePrior(INFORMED, precision=9.0))
    for side in (0, 1):
        precision, linear = prior.diagonal(side), prior.linear(side)
        mean = linear / precision
        assert precision[0, 0] == precision[2, 1] == 9.0
        assert precision[0, 1] == precision[1, 0] == 2.0
        assert_allclose([mean[0, 0], mean[2, 0], mean[2, 1]], [1.0, -1.0, 0.5])
        assert np.count_nonzero(mean) == 3
    assert list(prior.free_components) == [2] and not prior.rotates


@pytest.mark.parametrize("kind", ["normal", *SPECIFICATIONS])
def test_log_density_and_gradient_are_those_of_the_operator(kind):
    prior = built(SPECIFICATIONS.get(kind, kind))
    rng = np.random.default_rng(2)
    arrays, direction = rng.normal(size=(2, 6, 3)), rng.normal(size=(2, 6, 3))
    gradient = np.array([prior.linear(s) - prior.apply(s, arrays[s]) for s in (0, 1)])
    ends = [log_density(prior, arrays + h * direction) for h in (1e-5, -1e-5)]
    assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(np.vdot(direction, gradient), rel=1e-6)
    out = np.ones_like(arrays)
    for side in (0, 1):
        prior.add_gradient(side, arrays[side], out[side])
    assert_allclose(out, 1.0 + gradient, atol=1e-12)


@pytest.mark.parametrize(
    "prior",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "graph of targets" else ())
        for name in SPECIFICATIONS
    ],
    indirect=True,
)
def test_local_priors_leave_the_prior_invariant(prior):
    """Exact draws, moved by one update of every word given new auxiliary variables.

    The largest of 36 second moments, over 6,000 draws, is allowed 4.5 of its standard errors.
    """
    rng = np.random.default_rng(3)
    side, n_draws = 0, 6_000
    factors = [np.linalg.cholesky(literal_precision(prior, side, k)) for k in range(3)]
    means = [np.linalg.solve(f @ f.T, prior.linear(side)[:, k]) for k, f in enumerate(factors)]
    component = 1
    start = np.empty((n_draws, 6, 3))
    for k, f in enumerate(factors):
        start[:, :, k] = means[k] + np.linalg.solve(f.T, rng.normal(size=(6, n_draws))).T
    noise = rng.normal(size=start.shape)
    moved = np.empty((n_draws, 6))
    for i, x in enumerate(start):
        precision, pull = prior.local(side, x, prior.tau, rng)
        x = pull / precision + noise[i] / np.sqrt(precision)
        moved[i] = x[:, component]
    f = factors[component]
    expected = np.linalg.inv(f @ f.T)
    centred = moved - means[component]
    products = np.einsum("ni,nj->nij", centred, centred)
    error = products.std(axis=0) / np.sqrt(n_draws)
    z = (products.mean(axis=0) - expected) / error
    assert np.abs(z).max() < 4.5, z
    z = centred.mean(axis=0) / (centred.std(axis=0) / np.sqrt(n_draws))
    assert np.abs(z).max() < 4.5, z


@pytest.mark.parametrize("learned", ["shared", "component"])
def test_drawn_precisions_follow_their_gamma(learned):
    coupling = GroupCoupling(np.array([0, 0, 1, 1, -1, -1]), 0.7)
    prior = Prior(6, 3, 1.0, learned=learned, hyper=(2.0, 3.0), couplings=(coupling, None))
    rng = np.random.default_rng(4)
    arrays = rng.normal(size=(2, 6, 3))
    whole = np.eye(6) + coupling.matrix().toarray()
    squares = np.array(
        [
            arrays[0][:, k] @ whole @ arrays[0][:, k] + arrays[1][:, k] @ arrays[1][:, k]
            for k in range(3)
        ]
    )
    assert_allclose(prior.squares(arrays), squares)
    if learned == "shared":
        shape, rate = np.full(3, 2.0 + 36 / 2), np.full(3, 3.0 + 0.5 * squares.sum())
    else:
        shape, rate = np.full(3, 2.0 + 6), 3.0 + 0.5 * squares
    draws = np.array([prior.draw_tau(arrays, rng) for _ in range(4_000)])
    error = np.sqrt(shape) / rate / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - shape / rate) < 4.5 * error)
    # the relative error of a variance of a near-normal over 4,000 draws is sqrt(2 / 4000) = 2.2 %
    assert_allclose(draws.var(axis=0), shape / rate**2, rtol=0.12)
    assert np.all(draws[:, 0] == draws[:, 1]) == (learned == "shared")


def test_reported_precision_is_sorted():
    prior = Prior(6, 3, 1.0, learned="component")
    assert_allclose(prior.reported(np.array([1.0, 3.0, 2.0])), [3.0, 2.0, 1.0])
    assert_allclose(Prior(6, 3, 1.0, learned="shared").reported(np.full(3, 2.0)), [2.0])


def test_a_matrix_is_a_graph_in_the_order_of_the_vocabulary():
    weights = np.zeros((6, 6))
    for u, v, a in ((0, 1, 1.0), (1, 2, 2.0), (4, 0, 0.5)):
        weights[u, v] = weights[v, u] = a
    weights[3, 3] = 7.0
    links = built(GraphPrior(LINKS)).neighbours(0).toarray()
    for matrix in (weights, sparse.csr_array(weights)):
        assert_allclose(built(GraphPrior(matrix)).neighbours(0).toarray(), links)


def test_the_graph_of_nothing_known_is_no_coupling():
    coupling = GraphCoupling(sparse.csr_array((4, 4)))
    x = np.random.default_rng(0).normal(size=(4, 2))
    assert np.all(coupling.apply(x) == 0) and coupling.log_det == 0


WRONG = {
    "graph is text": (GraphPrior("w0 w1"), "prior.graph must be a list"),
    "link of one": (GraphPrior([("w0",)]), "prior.graph must hold"),
    "link is text": (GraphPrior(["w0w1"]), "prior.graph must hold"),
    "link is a number": (GraphPrior([0, 1]), "prior.graph must hold"),
    "negative weight": (GraphPrior([("w0", "w1", -1.0)]), "weight must be a number > 0"),
    "no known link": (GraphPrior([("a", "b")]), "no link between two words"),
    "shape": (GraphPrior(np.eye(3)), r"shape of the vocabulary, \(6, 6\), got \(3, 3\)"),
    "asymmetric": (GraphPrior(np.triu(np.ones((6, 6)))), "must be symmetric"),
    "negative matrix": (GraphPrior(-np.ones((6, 6))), "finite weights >= 0"),
    "strength": (GraphPrior(LINKS, strength=0), "prior.strength must be a number > 0"),
    "side": (GraphPrior(LINKS, side="left"), "prior.side must be one of"),
    "groups": (GroupedPrior(["w0"]), "prior.groups must be a dict"),
    "group is text": (GroupedPrior({"a": "w0"}), r"prior.groups\['a'\] must be a list"),
    "two groups": (GroupedPrior({"a": ["w0"], "b": ["w0"]}), "'w0' in two groups"),
    "unknown groups": (GroupedPrior({"a": ["x"]}), "no word of the vocabulary"),
    "values": (InformativePrior({"w0": 1.0}), "prior.values must be a dict"),
    "value": (InformativePrior({"w0": {0: "high"}}), r"prior.values\['w0'\]\[0\] must be"),
    "precision": (InformativePrior(INFORMED, precision=-1), "prior.precision must be"),
    "unknown word": (InformativePrior({"x": {0: 1.0}}), "'x', which is not in the vocabulary"),
    "component": (InformativePrior({"w0": {3: 1.0}}), "names component 3; allowed are 0 to"),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_wrong_specifications_are_refused_by_name(case):
    specification, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        specification.check()
        built(specification)


@pytest.fixture(scope="module")
def pairs():
    return make_sgns(n_words=12, n_components=2, n_pairs=3_000, random_state=0).pairs


REFUSED = [
    ({"prior": "ard", "solver": "map"}, "prior='ard' is not available with solver='map'"),
    ({"prior": "ard", "solver": "laplace"}, "prior='ard' is not available with solver='laplace'"),
    (
        {"prior_precision": "learned", "solver": "map"},
        "prior_precision='learned' is not available with solver='map'",
    ),
    ({"prior_precision": "learned", "solver": "laplace"}, "has its mode at vectors of zero"),
    (
        {"prior_precision": "learned", "prior": InformativePrior({"x0": {0: 1.0}})},
        "not available with an InformativePrior",
    ),
    ({"prior": "ard", "anchors": ["x0", "x1"]}, "anchors must be 'pivot' or None"),
    ({"biases": True, "solver": "gibbs"}, "biases=True is available with solver='vi' only"),
    (
        {"learning_method": "online", "solver": "gibbs"},
        "learning_method='online' is available with solver='vi' only",
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_combinations_that_make_no_sense_are_refused(options, message, pairs):
    with pytest.raises(ValueError, match=message):
        BayesianSGNS(2, **options).fit(pairs)


def fit(pairs, **options):
    defaults = {"draws": 150, "warmup": 100, "chains": 2, "random_state": 0}
    return BayesianSGNS(2, **defaults | options).fit(pairs)


# what is tested is what is recorded
@pytest.mark.filterwarnings("ignore:The chains have not mixed", "ignore:.*worth only")
def test_learned_precisions_are_recorded(pairs):
    model = fit(pairs, prior_precision="learned")
    assert model.anchors_ is None
    assert model.posterior_["prior_precision"].shape == (2, 150, 1)
    # 12 words with 2 components drawn with precision 2; hyperprior of mean 1
    assert 0.9 < model.posterior_.mean("prior_precision")[0] < 4.0
    model = fit(pairs, prior="ard", draws=20, warmup=20)
    values = model.posterior_["prior_precision"]
    assert values.shape == (2, 20, 2) and np.all(np.diff(values, axis=-1) <= 0)


@pytest.mark.slow
def test_linked_words_come_closer(pairs):
    """Compared with the same fit without the link."""
    plain = fit(pairs, prior_precision=2.0).similarity(0, 1).mean
    linked = fit(pairs, prior_precision=2.0, prior=GraphPrior([("x0", "x1", 10.0)]))
    assert linked.similarity(0, 1).mean > plain + 0.1
    grouped = fit(pairs, prior_precision=2.0, prior=GroupedPrior({"a": ["x0", "x1"]}, 20.0))
    assert grouped.similarity(0, 1).mean > plain + 0.1


# the data may agree with two held numbers in several ways, and chains stay in one of them
@pytest.mark.filterwarnings("ignore:The chains have not mixed", "ignore:.*worth only")
@pytest.mark.parametrize("solver", ["map", "gibbs"])
def test_informative_components_keep_their_meaning(solver, pairs):
    """Held values stay where they are held, in every draw: 0.03 is the prior's sd."""
    values = {"x0": {0: 1.0}, "x3": {0: -1.0}}
    model = fit(pairs, prior=InformativePrior(values, precision=1e3, side="target"), solver=solver)
    assert model.anchors_ is None
    assert_allclose(model.rho_[[0, 3], 0], [1.0, -1.0], atol=0.15)
    draws = model.posterior_.flat("rho")[:, [0, 3], 0]
    assert np.all(draws[:, 0] > 0.5) and np.all(draws[:, 1] < -0.5)


def test_specifications_are_parameters_like_any_other(pairs):
    prior = GraphPrior([("x0", "x1")], strength=2.0)
    model = BayesianSGNS(2, prior=prior)
    again = clone(model)
    assert repr(again.prior) == repr(prior)
    assert "GraphPrior" in repr(model)
    long = GraphPrior([("x0", "x1")] * 50)
    assert repr(long) == "GraphPrior(graph=<list>, strength=1.0, side='both')"


def test_iterators_are_refused_before_they_are_used_up():
    with pytest.raises(ValueError, match=r"prior.groups\['pets'\] must be a list .*a generator"):
        GroupedPrior({"pets": (word for word in ("cat", "dog"))}).check()
    with pytest.raises(ValueError, match="prior.graph must be a list .* got a zip"):
        GraphPrior(zip(["cat"], ["dog"], strict=True)).check()
