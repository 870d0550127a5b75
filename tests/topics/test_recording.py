"""The order of topics, and what is warned of."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import GaussianLDA, Posterior, load
from skbayesembed.common.trial import two_digits
from skbayesembed.datasets import make_topics
from skbayesembed.topics import labels, mixing, recording

pytestmark = pytest.mark.usefixtures("few_simulated")


def test_an_empty_topic_is_worth_a_warning():
    counts = np.full((1, 2, 3, 4), 5.0)
    counts[:, :, 1] = 0.2
    draws = {
        "mean": np.zeros((1, 2, 3, 1)),
        "covariance": np.ones((1, 2, 3, 1, 1)),
        "counts": counts,
        "alpha": np.ones((1, 2, 3)),
    }
    posterior = Posterior(draws, attrs={"solver": "vi"})
    with pytest.warns(ConvergenceWarning, match="1 of 3 topics holds less than one token"):
        recording.diagnose(None, None, posterior)


def test_chains_in_different_modes_are_worth_a_warning():
    counts = np.zeros((2, 2, 2, 4))
    counts[0, :, 0, :2] = counts[0, :, 1, 2:] = counts[1, :, 0, ::2] = counts[1, :, 1, 1::2] = 9
    posterior = Posterior({"counts": counts}, attrs={"solver": "gibbs", "converged": None})
    with pytest.warns(ConvergenceWarning, match="chains are in different modes of the posterior"):
        recording.diagnose(None, None, posterior)
    assert posterior.attrs["chain_similarity"] == pytest.approx(np.sqrt(0.25))
    assert posterior.attrs["converged"] is False


def test_chains_in_different_modes_are_told_of_once():
    """What their shares do is no second matter, with other advice."""
    rng = np.random.default_rng(0)
    words = np.zeros((2, 2, 4))
    words[0, 0, :2] = words[0, 1, 2:] = words[1, 0, ::2] = words[1, 1, 1::2] = 9
    sizes = np.array([[1.0, 3.0], [3.0, 1.0]])[:, None] + 0.1 * rng.random((2, 30, 2))
    counts = words[:, None] * sizes[..., None]
    posterior = Posterior({"counts": counts}, attrs={"solver": "gibbs", "converged": None})
    with pytest.warns(ConvergenceWarning) as caught:
        recording.diagnose(None, None, posterior)
    (message,) = (str(one.message) for one in caught)
    assert "different modes" in message and "same words" not in message
    assert posterior.attrs["max_rhat"] > 1.2 and posterior.attrs["converged"] is False


@pytest.mark.parametrize(
    ("n_chains", "says", "power"), [(1, "The chain has", 0.2), (2, "The chains have", 1.0)]
)
def test_topics_that_have_not_mixed_are_named(n_chains, says, power):
    """One topic gives its tokens to another, from draw to draw; the third keeps what it has."""
    rng = np.random.default_rng(0)
    moved = np.linspace(0, 40, 400) + rng.random((n_chains, 400))
    kept = 100 + rng.random((n_chains, 400))
    counts = np.stack([10 + moved, kept, 90 - moved], axis=-1)[..., None] * [0.7, 0.3]
    posterior = Posterior(
        {"counts": counts},
        dims={"counts": ("topic", "word")},
        coords={"word": ["ant", "bee"]},
        attrs={"solver": "gibbs", "converged": None, "likelihood_power": power},
    )
    assert recording.unmixed_topics(posterior).tolist() == [0, 2]
    with pytest.warns(ConvergenceWarning) as caught:
        recording.diagnose(None, None, posterior)
    (message,) = (str(one.message) for one in caught if "mixed" in str(one.message))
    assert message.startswith(says) and "for 2 of 3 topics" in message
    assert "0 (ant bee;" in message and "2 (ant bee;" in message and "1 (" not in message
    assert ("raise likelihood_power" in message) == (power < 0.5) and "n_components" in message
    assert posterior.attrs["converged"] is False
    posterior.attrs["solver"] = "vi"
    assert recording.unmixed_topics(posterior).size == 0


def scattered(steps):
    """Noise (2, 200) without a seed: 0 to 99 in each half of a chain, in the order of a step."""
    return np.concatenate([np.arange(100) * step % 100 for step in steps]).reshape(2, 200)


@pytest.mark.parametrize(
    ("apart", "unmixed", "rough"),
    [
        (0, [], []),
        (2.05, [], ["(topics 0 and 2: R-hat 1.09 and 1.09, above 1.05; intervals are rough)",
                 "(topics 0 and 2: 20 and 20 effective draws of the share, below 100; intervals "
                 "are rough)"]),
        *(
            (apart, ["(topics 0 and 2: chains not mixed (R-hat above 1.1, or still drifting); read "
                     "as points without intervals)"], [])
            for apart in (2.85, 7)
        ),
    ],
)  # fmt: skip
def test_lines_below_tables_tell_topics_that_mix_badly(apart, unmixed, rough):
    moved = apart * np.array([[-0.5], [0.5]]) + 0.1 * scattered((37, 41, 43, 47))
    kept = 100 + 1e-4 * scattered((57, 63, 67, 73))
    counts = np.stack([10 + moved, kept, 90 - moved], axis=-1)[..., None] * [0.7, 0.3]
    dims, coords = {"counts": ("topic", "word")}, {"word": ["ant", "bee"], "topic": np.arange(3)}
    posterior = Posterior({"counts": counts}, dims=dims, coords=coords, attrs={"solver": "gibbs"})
    assert labels.notes_on_rough(posterior) == rough
    assert labels.notes_on_mixing(posterior) == unmixed + rough
    assert labels.notes_on_mixing(posterior, [1]) == []
    posterior.coords["topic"] = np.array(["law", "trade", "war"])
    lines = labels.notes_on_mixing(posterior)
    assert all(line.startswith("(topics law and war: ") for line in lines)
    posterior.attrs["solver"] = "vi"
    assert labels.notes_on_mixing(posterior) == []


def test_tables_figures_and_sentences_call_the_same_topics_rough(monkeypatch):
    """Not those that have not mixed, though theirs are the fewest effective draws."""
    found = np.array([1.15, 1.0, 1.0, 1.0, 1.0, 1.0, 1.5])
    size = np.array([99.8, 20.0, 30.0, 60.0, 80.0, 400.0, 3.0])
    monkeypatch.setattr(labels, "rhat_of_shares", lambda posterior: found)
    monkeypatch.setattr(labels, "ess_of_shares", lambda posterior: size)
    monkeypatch.setattr(labels, "unmixed_topics", lambda posterior: np.array([6]))
    dims, coords = {"counts": ("topic", "word")}, {"word": ["ant"], "topic": np.arange(7)}
    draws = {"counts": np.ones((1, 2, 7, 1))}
    posterior = Posterior(draws, dims=dims, coords=coords, attrs={"solver": "gibbs"})
    of_rhat, of_size = labels.notes_on_rough(posterior)
    assert of_rhat == "(topic 0: R-hat 1.15, above 1.05; intervals are rough)"
    assert of_size == (
        "(topics 0, 1, 2, 3, and 4: 20 to 99 effective draws of the share, below 100; intervals "
        "are rough)"
    )
    why = labels.rough_topics(posterior)
    assert list(why) == [0, 1, 2, 3, 4]
    assert why[0] == "R-hat 1.15 and 99 effective draws" and why[1] == "20 effective draws"
    (unmixed, *_) = labels.notes_on_mixing(posterior)
    assert unmixed.startswith("(topic 6: ") and "read as a point without" in unmixed


def test_chains_that_do_not_move_have_no_digits_of_r_hat(monkeypatch):
    made = {"chain_similarity": 1.0, "thin": 1, "warmup": 9, "draws_made": 8}
    posterior = Posterior({"counts": np.random.default_rng(0).random((2, 8, 2, 1))}, attrs=made)
    monkeypatch.setattr(recording, "share_rhat", lambda posterior: np.array([9.81e15, 1.0]))
    said = recording._not_mixed(posterior)
    assert "; more than 100)" in said
    assert "The share of this topic has no interval, and effects on it only where chains" in said
    # chains that longer ones help go on by themselves, unless their thin is given
    monkeypatch.setattr(recording, "apart", lambda found: False)
    assert "thin='auto'" not in recording._not_mixed(posterior)
    assert "thin='auto'" in recording._not_mixed(posterior, 2)


def test_chains_that_drift_together_are_warned_of():
    """All shares have an R-hat below the limit of those that have not mixed."""
    moved = 4 * np.linspace(0, 1, 200) + 0.1 * scattered((37, 41, 43, 47))
    counts = np.stack([10 + moved, 90 - moved], axis=-1)[..., None] * [0.7, 0.3]
    coords = {"word": ["ant", "bee"], "topic": np.arange(2)}
    dims = {"counts": ("topic", "word")}
    attrs = {"solver": "gibbs", "converged": None, "warmup": 30, "thin": 1}
    posterior = Posterior({"counts": counts}, dims=dims, coords=coords, attrs=attrs)
    assert np.all(recording.share_rhat(posterior) < 1.1)
    with pytest.warns(ConvergenceWarning, match=r"drift together.*share of topic .*\(it is 30\)"):
        recording.diagnose(None, None, posterior)
    assert posterior.attrs["converged"] is False and posterior.attrs["max_drift"] > 5
    # effects on them, and tables, have no intervals either
    assert posterior.attrs["drifts"].startswith("the share of topic ")
    assert recording.unmixed_topics(posterior).tolist() == [0, 1]
    assert [line[:40] for line in labels.notes_on_mixing(posterior)] == [
        "(topics 0 and 1: chains not mixed (R-hat"
    ]
    # to be told of in the same number as in a report
    size = recording.ess_of_shares(posterior).min()
    assert f"has {two_digits(size)} effective draws" in mixing.longer(
        Posterior(dict(posterior), attrs=attrs | {"draws_made": 200}), np.array([0])
    )


def test_few_effective_draws_are_told_of_with_what_would_do(capsys):
    rng = np.random.default_rng(0)
    slow = np.cumsum(rng.normal(size=(2, 100)), axis=1)
    slow -= np.linspace(0, 1, 100) * slow[:, -1:]
    counts = np.stack([50 + slow, 50 - slow], axis=-1)[..., None] * [0.7, 0.3]
    dims, coords = {"counts": ("topic", "word")}, {"word": ["ant", "bee"], "topic": np.arange(2)}
    attrs = {"solver": "gibbs", "converged": True, "warmup": 100, "thin": 4}
    posterior = Posterior({"counts": counts}, dims=dims, coords=coords, attrs=attrs)
    size, found = recording.ess_of_shares(posterior), recording.share_rhat(posterior)
    assert size.min() < 50
    mixing.note_on_few(posterior, size, found)
    said = capsys.readouterr().err
    assert f"the 200 draws are worth only {size.min():.0f} independent ones" in said
    thin, warmup = map(
        int, re.search(r"thin=(\d+), warmup=(\d+) \(it is 4 and 100\)", said).groups()
    )
    assert 1.0 <= thin / (4 * 100 / size.min()) < 1.3
    assert 1.0 <= warmup / (100 * 100 / size.min()) < 1.3
    # chains that have not mixed are warned of, and of many draws there is a warning
    posterior.attrs["converged"] = False
    mixing.note_on_few(posterior, size, found)
    posterior.attrs["converged"] = True
    mixing.note_on_few(posterior, np.full(2, 100.0), found)
    few = Posterior({"counts": counts[:, :99]}, dims=dims, coords=coords, attrs=attrs)
    mixing.note_on_few(few, size, found)
    assert not capsys.readouterr().err


def test_fewer_draws_have_the_diagnostics_of_all(tmp_path):
    data = make_topics(60, 50, 3, n_dims=3, mean_length=30, separation=0.5, random_state=0)
    options = {"solver": "gibbs", "draws": 100, "warmup": 20, "thin": 1, "random_state": 0}
    model = GaussianLDA(3, embedding=data.vectors, likelihood_power=0.2, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.counts)
    model.save(tmp_path / "few", draws=100)
    few = load(tmp_path / "few")
    assert few.posterior_.n_draws == 50
    for of in (recording.share_rhat, recording.ess_of_shares, recording.unmixed_topics):
        np.testing.assert_array_equal(of(few.posterior_), of(model.posterior_))
    tables = [m.effects(data.counts, np.arange(60.0)) for m in (model, few)]
    assert tables[0].rough == tables[1].rough
    lines = [labels.notes_on_mixing(m.posterior_) for m in (model, few)]
    assert lines[0] == lines[1] and lines[0]


def test_tables_say_which_topics_mix_badly(monkeypatch):
    data = make_topics(n_documents=20, n_words=40, n_topics=2, n_dims=3, random_state=0)
    options = {"solver": "gibbs", "draws": 20, "warmup": 5, "chains": 2, "random_state": 0}
    model = GaussianLDA(2, embedding=data.vectors, **options).fit(data.counts)
    monkeypatch.setattr(labels, "rhat_of_shares", lambda posterior: np.array([1.01, 1.12]))
    monkeypatch.setattr(labels, "unmixed_topics", lambda posterior: np.zeros(0, int))
    tables = [
        model.topic_info(2), model.top_words(2), model.document_topics(data.counts[:2]),
        model.representative_documents(data.counts, 1, n=2),
        model.effects(data.counts, np.arange(20.0)),
    ]  # fmt: skip
    line = "(topic 1: R-hat 1.12, above 1.05; intervals are rough)"
    assert all(repr(table).splitlines().count(line) == 1 for table in tables)
    assert line not in repr(model.representative_documents(data.counts, 0, n=2))
    # sentences are copied without the lines below a table
    monkeypatch.setattr(labels, "ess_of_shares", lambda posterior: np.array([101.0, 62.4]))
    said = model.effects(data.counts, np.arange(20.0)).sentences
    caution = "the interval is rough (share of the topic: R-hat 1.12 and 62 effective draws)"
    assert caution in said[1, "x0"] and "rough" not in said[0, "x0"]
    monkeypatch.setattr(labels, "unmixed_topics", lambda posterior: np.array([1]))
    assert labels.rough_topics(model.posterior_) == {}


COLLAPSED = np.array([[20.0, 5], [80, 110], [30, 30], [5, 5], [10, 5]])
VECTORS = np.arange(5.0)[:, None]


@pytest.mark.parametrize(
    ("order", "draws", "options", "message"),
    [
        (None, {}, {}, r"Topic 1 \(bee ant\) .* 63 % of the tokens: .* take another likelih"),
        (None, {}, {"learn_doc_topic_prior": "symmetric"}, "take learn_doc_topic_prior=False, ano"),
        (None, {"topic_vector": VECTORS + 1}, {}, "63 % of the tokens: .* take another n_com"),
        (None, {"topic_vector": VECTORS}, {}, r"Topic 1 .* 69 % of the tokens outside the backgr"),
        ([1, 0, 3, 3, 4], {"topic_vector": VECTORS}, {}, r"Topic 0 .* 76 % .* or background=False"),
    ],
)  # fmt: skip
def test_a_topic_with_most_tokens_is_worth_a_warning(order, draws, options, message):
    counts = COLLAPSED if order is None else COLLAPSED[order]
    draws = {"counts": counts} | draws
    draws = {name: np.tile(value, (1, 2, 1, 1)) for name, value in draws.items()}
    posterior = Posterior(draws, coords={"word": np.array(["ant", "bee"])}, attrs={"solver": "vi"})
    with pytest.warns(ConvergenceWarning, match=message):
        recording.diagnose(GaussianLDA(5, **options), None, posterior)
    share = counts.sum(axis=1).max() / counts.sum()
    assert posterior.attrs["largest_share"] == pytest.approx(share)


def test_a_background_may_be_large():
    """It has 69 % of the tokens, and of the others no topic more than 45 %."""
    counts = np.array([[300.0, 140], [40, 50], [30, 30], [20, 10], [10, 10]])
    draws = {"counts": counts, "topic_vector": VECTORS}
    draws = {name: np.tile(value, (1, 2, 1, 1)) for name, value in draws.items()}
    recording.diagnose(None, None, Posterior(draws, attrs={"solver": "vi"}))


def test_labels_are_aligned():
    """Permuted topics of noisy draws are put in one order, the largest first."""
    rng = np.random.default_rng(0)
    truth = np.array([[1.0, 0, 0, 9], [0, 30, 0, 1], [0, 0, 20, 2]])
    shape = (2, 5)
    draws = {"counts": np.empty((*shape, 3, 4)), "mean": np.empty((*shape, 3, 1))}
    for place in np.ndindex(shape):
        order = rng.permutation(3)
        draws["counts"][place] = truth[order] + 0.1 * rng.random((3, 4))
        draws["mean"][place] = order[:, None]
    recording.align_topics(draws)
    np.testing.assert_array_equal(draws["mean"][..., 0], np.broadcast_to([1, 2, 0], (*shape, 3)))
    np.testing.assert_allclose(draws["counts"], np.broadcast_to(truth[[1, 2, 0]], (*shape, 3, 4)),
                               atol=0.1)  # fmt: skip


@pytest.mark.parametrize("method", ["batch", "online", "stream", "laplace"])
def test_the_approximation_has_the_topics_in_the_order_of_the_posterior(method, monkeypatch):
    """k-means numbers the topics in another order for some of the seeds."""
    data = make_topics(60, 40, 3, n_dims=3, random_state=0)
    orders, sort = [], recording.sort_topics

    def noted(draws, n_fixed=0):
        orders.append(sort(draws, n_fixed))
        return orders[-1]

    monkeypatch.setattr(recording, "sort_topics", noted)
    for seed in range(6):
        model = GaussianLDA(3, embedding=data.vectors, solver="vi", draws=50, random_state=seed)
        if method == "laplace":
            model.set_params(solver="laplace")
        elif method != "batch":
            model.set_params(learning_method="online")
        stream = method == "stream"
        model = model.partial_fit(data.counts) if stream else model.fit(data.counts)
        found = model.approximation_
        # errors of 50 draws are some 0.01, topics are 1 apart
        np.testing.assert_allclose(found.mean["mean"], model.topic_means_, atol=0.1)
        sizes = model.posterior_["counts"].sum(axis=-1).mean(axis=(0, 1))
        counts = found.mean["counts"] if method == "laplace" else found.counts
        np.testing.assert_allclose(counts.sum(axis=1), sizes, rtol=0.05)
        assert np.all(np.diff(sizes) < 0)
        again = found.sample(50, np.random.default_rng(0))["mean"].mean(axis=0)
        np.testing.assert_allclose(again, model.topic_means_, atol=0.1)
        if orders[-1].tolist() != [0, 1, 2]:
            break
    assert orders[-1].tolist() != [0, 1, 2]


def test_draws_of_an_approximation_keep_their_labels():
    """Two topics with the same words are told apart by their means, which matching would mix."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(20.0, size=(1, 30, 2, 4)).astype(float)
    counts[:, :, 1] += 4.0
    mean = np.broadcast_to([[0.0], [1.0]], (1, 30, 2, 1)).copy()
    order = recording.sort_topics({"counts": counts, "mean": mean})
    np.testing.assert_array_equal(order, [1, 0])
    np.testing.assert_array_equal(mean[..., 0], np.broadcast_to([1.0, 0.0], (1, 30, 2)))


def test_chains_in_different_modes_have_no_intervals():
    """However alike the shares of topics are that are others in each."""
    counts = np.random.default_rng(0).integers(400, 600, (2, 50, 2, 4)).astype(float)
    attrs = {"solver": "gibbs", "chain_similarity": 0.5}
    posterior = Posterior({"counts": counts, "alpha": np.ones((2, 50, 2))}, attrs=attrs)
    assert recording.unmixed_topics(posterior).tolist() == [0, 1]
    posterior.attrs["chain_similarity"] = 0.95
    assert recording.unmixed_topics(posterior).size == 0
