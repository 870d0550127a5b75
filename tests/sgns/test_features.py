"""Features of documents drawn: the means and standard deviations of ``transform``, jointly."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed import BayesianSGNS

_RNG = np.random.default_rng(5)
_TOPICS = _RNG.dirichlet(np.full(18, 0.4), 4)
TEXTS = [
    [f"w{i:02}" for i in _RNG.choice(18, 60, p=_RNG.dirichlet(np.full(4, 0.3)) @ _TOPICS)]
    for _ in range(30)
]
# a word of one document has deviations of its own
TEXTS[3] = [*TEXTS[3], "once", "once"]
READ = [["w00", "w01"], ["w01", "w00"], ["w00"], ["w01"], ["once", "w02"], ["nothing"]]
N = 4000
pytestmark = [
    pytest.mark.usefixtures("first_mode"),
    pytest.mark.filterwarnings("ignore:.* vary more than 2 times as much"),
    # there is such a document on purpose
    pytest.mark.filterwarnings("ignore:.* no known word"),
]


def cosine_gradient(vectors, a, b):
    """Of the cosine of ``a`` and ``b`` by the vector of ``a``."""
    lengths = np.linalg.norm(vectors, axis=1)
    x, y = vectors[a] / lengths[a][:, None], vectors[b] / lengths[b][:, None]
    return (y - np.sum(x * y, axis=1, keepdims=True) * x) / lengths[a][:, None]


def make(**parameters):
    return BayesianSGNS(
        3, min_count=1, prior_precision=1.0, random_state=0, features="mean_std", **parameters
    ).fit(TEXTS)


@pytest.fixture(scope="module")
def by_documents():
    return make(solver="map")


@pytest.fixture(scope="module")
def by_model():
    return make(solver="vi", draws=400, uncertainty="model")


@pytest.mark.parametrize("name", ["by_documents", "by_model"])
def test_moments_are_those_of_transform(name, request):
    model = request.getfixturevalue(name)
    draws = model.sample_transform(READ, N)
    mean, sd = np.split(model.transform(READ), 2, axis=1)
    assert draws.shape == (N, 6, 3)
    # five standard errors of 4,000 normal draws; the model's 400 are used ten times each
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=5 * sd.max() / np.sqrt(N))
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=5 / np.sqrt(2 * N), atol=1e-12)
    assert not draws[:, 5].any()


@pytest.mark.parametrize("name", ["by_documents", "by_model"])
def test_draws_are_joint_over_documents_and_calls(name, request):
    model = request.getfixturevalue(name)
    draws = model.sample_transform(READ, 50)
    np.testing.assert_allclose(draws[:, 0], draws[:, 1])
    np.testing.assert_allclose(draws[:, 0], (draws[:, 2] + draws[:, 3]) / 2)
    np.testing.assert_allclose(draws[:, 4], model.sample_transform(READ[4:5], 50)[:, 0])


def test_draws_by_documents_are_joint_with_other_answers(by_documents):
    """The change of a cosine along drawn vectors is that of the draws of ``similarity``."""
    names = ["w00", "w01", "once"]
    draws = by_documents.sample_transform([[name] for name in names], 1000)
    index = np.array([by_documents.vocabulary_[name] for name in names])
    moved = draws - by_documents.rho_[index]
    for b in (1, 2):
        ends = index[[0]], index[[b]]
        vectors = by_documents._sampling.deviations.vectors[0]
        pulls = [cosine_gradient(vectors, *e) for e in (ends, ends[::-1])]
        change = moved[:, 0] @ pulls[0][0] + moved[:, b] @ pulls[1][0]
        answer = by_documents.similarity(names[0], names[b]).draws
        # the order is the same, though draws of answers have the tails of Student's t
        np.testing.assert_array_equal(np.argsort(change)[::100], np.argsort(answer)[::100])
