"""Do intervals of regressions with documents hold, and how often is a permuted covariate found?

    python benchmarks/effects.py [topics] [length] [time] [predictors] [meaning] [meaning-time]
        [--data-sets 200] [--setting units ...]

Topics as outcomes, `GaussianLDA.effects`. Topics and the probabilities of their words are those of
`make_topics`. A covariate moves the mean shares of the first two topics by .15, up and down.
Speakers have shares of their own about these means, documents about their speaker's, so that
documents of a speaker resemble each other. The topics are fitted without the covariate; the truth
is the effect on the mean of theta. A row for each setting and kind of shares, over all data sets
and topics: mean effect on the first topic; bias of the first two, in standard errors; standard
error by the spread over data sets, and as reported; coverage of 90 % intervals; and the share of
p-values below .05 when the covariate is permuted over speakers.

Real documents cut short (needs SKBAYESEMBED_DATA): 4,000 posts of 20 Newsgroups with 60 tokens or
more, 20 topics by ``word_model="dirichlet"``, and whether a post is about computers. For the posts
as they are, and for so many of their tokens by chance: the slope of the 20 effects on those of the
whole posts by the same kind of shares, which is one where length does not matter; the smallest mean
share of a topic in either group; the mean standard error.

The same in time: a covariate that has nothing to do with the shares, both as alike from speaker to
speaker as the setting says, without and with `times=`: how often 90 % intervals hold zero.

Topics as predictors, `sample_transform`. An outcome is 2 theta_1 + noise of standard deviation .5
in 150 documents, and is regressed on the share of that topic: true; posterior means
(``transform``); draws, pooled by Rubin's rules; and the latter divided by the reliability of the
shares, one less the variance of draws of a document over that of all draws.

A word's meaning, `BayesianSGNS.effects`. Contexts of a word come from mixtures of four topics; a
covariate of speakers moves the mean shares of the first two by .15; and where it moves nothing, but
goes with how often speakers use the word. Vectors and the matrix from
contexts to vectors are those of a corpus of its own, and the truth follows from them.

The same in time: shares of speakers, and a covariate between 0 and 1, are as alike from speaker to
speaker as the setting says. How often a covariate without an effect is found at the level of one in
ten and intervals of projections hold zero, and how often intervals hold an effect of .15 on the
first two topics; each without and with `times=`.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr, stdtrit
from topics import load

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.sgns.effects import _directions, _tokens, contexts_to_vectors

N_TOPICS, N_WORDS = 4, 300
EFFECT = np.array([0.15, -0.15, 0.0, 0.0])
# How much alike shares are within a speaker, and within a covariate's value.
WITHIN, BETWEEN = 3.0, 10.0
# Speakers, documents of each, expected tokens of each, whether the covariate is the speaker's.
SETTINGS = {
    "units": (40, 5, 60, True),
    "few units": (16, 12, 60, True),
    "short": (40, 5, 15, True),
    "documents": (200, 1, 60, True),
    "number": (40, 5, 60, False),
}
# Speakers in the order of time in the part "time", and how alike each is to the one before.
IN_TIME = {"independent": 0.0, "autocorrelated": 0.8, "random walk": 1.0}


def simulate(rng, setting):
    """Vectors, true word probabilities, counts, theta, covariate and speakers."""
    n_units, n_each, length, of_unit = SETTINGS[setting]
    seed = int(rng.integers(2**31))
    topics = make_topics(2, N_WORDS, N_TOPICS, separation=3.0, random_state=seed)
    units = np.repeat(np.arange(n_units), n_each)
    if of_unit:
        x = rng.permutation(np.arange(n_units) % 2)[units].astype(float)
    else:
        x = rng.random(units.size)
    speakers = rng.dirichlet(np.full(N_TOPICS, BETWEEN / N_TOPICS), n_units)
    theta = np.empty((units.size, N_TOPICS))
    for d, unit in enumerate(units):
        mean = 1 / N_TOPICS + x[d] * EFFECT
        if of_unit:
            if d % n_each == 0:
                own = rng.dirichlet(BETWEEN * mean)
        else:  # a mixture of what the speaker and what the covariate has, with its mean
            own = mean + 0.4 * (speakers[unit] - 1 / N_TOPICS)
        theta[d] = rng.dirichlet(WITHIN * np.maximum(own, 1e-3))
    lengths = rng.poisson(length, units.size)
    counts = [
        rng.multinomial(n, t @ topics.word_proba) for n, t in zip(lengths, theta, strict=True)
    ]
    return topics, sparse.csr_array(np.array(counts, dtype=float)), theta, x, units


def permuted(rng, x, units):
    """The covariate of another speaker; of another document where it is the document's."""
    first = np.unique(units, return_index=True)[1]
    if np.all(x == x[first][units]):
        return rng.permutation(x[first])[units]
    return rng.permutation(x)


def true_topics(model, word_proba):
    """For each true topic the fitted one that is most like it, and the least cosine."""
    proba = word_proba[:, model._columns]
    unit = [p / np.linalg.norm(p, axis=1, keepdims=True) for p in (proba, model.components_)]
    cosines = unit[0] @ unit[1].T
    chosen = linear_sum_assignment(-cosines)[1]
    return chosen, cosines[np.arange(len(chosen)), chosen].min()


def one(seed, setting):
    """Effects of one data set by kind of shares: mean, standard error, held, and p permuted."""
    rng = np.random.default_rng(seed)
    topics, counts, theta, x, units = simulate(rng, setting)
    model = GaussianLDA(
        N_TOPICS, embedding=topics.vectors, normalize=None, min_count=1, chains=1, draws=50,
        warmup=60, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(counts)
    chosen, cosine = true_topics(model, topics.word_proba)
    found = {}
    for shares in ("unbiased", "posterior"):
        effects = model.effects(counts, x, units, shares=shares)
        low, high = effects.interval[1, chosen].T
        held = (low < EFFECT) & (EFFECT < high)
        wrong = model.effects(counts, permuted(rng, x, units), units, shares=shares)
        found[shares] = (
            effects.mean[1, chosen],
            effects.sd[1, chosen],
            held,
            wrong.p_value[1, chosen],
        )
    return found, cosine


def topics(options):
    """Print the table of topic shares."""
    print(
        "setting, shares: effect (.15)  bias/se  se, reported  90 % holds  p < .05  cosine  CPU-s"
    )
    for setting in options.setting or SETTINGS:
        runs = [one(options.seed + i, setting) for i in range(options.data_sets)]
        cosine = np.mean([least for _, least in runs])
        for shares in runs[0][0]:
            mean, sd, held, p = (np.array([run[shares][i] for run, _ in runs]) for i in range(4))
            spread = mean.std(axis=0)
            bias = np.abs(mean.mean(axis=0) - EFFECT) / spread
            print(
                f"{setting}, {shares}: {mean[:, 0].mean():.3f}  {bias[:2].mean():.2f}  "
                f"{spread.mean():.4f}, {sd.mean():.4f}  {held.mean():.3f}  "
                f"{(p < 0.05).mean():.3f}  {cosine:.2f}"
            )


def length(options):
    """Print how effects hang on the lengths of the documents of 20 Newsgroups."""
    counts, vectors, labels, _ = load("20ng")
    rng = np.random.default_rng(options.seed)
    tokens = np.asarray(counts.sum(axis=1)).ravel()
    rows = rng.permutation(np.flatnonzero(tokens >= 60))[:4000]
    counts, computers = counts[rows], (labels[rows] >= 1) & (labels[rows] <= 5)
    model = GaussianLDA(
        20, embedding=vectors, word_model="dirichlet", solver="vi", random_state=options.seed
    ).fit(counts)
    print("tokens, shares: slope on effects in whole posts  least mean share  se")
    whole = {}
    for n in (None, 40, 15):
        cut = counts if n is None else shortened(counts, n, rng)
        for shares in ("unbiased", "posterior"):
            found = model.effects(cut, computers, shares=shares)
            effect = found.mean[1]
            there = whole.setdefault(shares, effect)
            least = min(found.mean[0].min(), found.mean.sum(axis=0).min())
            print(
                f"{n or 'all'}, {shares}: {effect @ there / (there @ there):.3f}  {least:.4f}  "
                f"{found.sd[1].mean():.4f}"
            )


def shortened(counts, n, rng):
    """Documents of ``n`` of their tokens by chance."""
    out = sparse.lil_array(counts.shape)
    for row in range(counts.shape[0]):
        here = slice(counts.indptr[row], counts.indptr[row + 1])
        drawn = rng.multivariate_hypergeometric(counts.data[here].astype(int), n)
        out[row, counts.indices[here]] = drawn
    return out.tocsr().astype(float)


def series(rng, memory, n):
    """A number a speaker, in the order of time: of variance one, or of memory 1 a random walk."""
    values = rng.normal(size=n)
    for i in range(1, n):
        step = values[i] * np.sqrt(1 - memory**2) if memory < 1 else values[i]
        values[i] = memory * values[i - 1] + step
    return values


def time(options):
    """Print how often intervals hold zero where the covariate has nothing to do with the shares."""
    print("setting: holds zero, without times, with  length, without times, with  (3 topics)")
    n_units, n_each, length = 40, 3, 60
    units = np.repeat(np.arange(n_units), n_each)
    for name, memory in IN_TIME.items():
        held, sizes = [], []
        for i in range(options.data_sets):
            rng = np.random.default_rng([options.seed, i])
            topics = make_topics(2, N_WORDS, 3, separation=3.0, random_state=i)
            shares = np.exp(0.5 * np.stack([series(rng, memory, n_units) for _ in range(3)], 1))
            theta = np.array([rng.dirichlet(10 * s / s.sum()) for s in shares[units]])
            x = series(rng, memory, n_units)[units]
            counts = sparse.csr_array(
                [rng.multinomial(length, t @ topics.word_proba) for t in theta]
            )
            model = GaussianLDA(3, embedding=topics.vectors, normalize=None, min_count=1,
                                solver="vi", draws=30, random_state=0).fit(counts)  # fmt: skip
            tables = [model.effects(counts, x, units, times=t) for t in (None, units)]
            ends = np.array([table.interval[1] for table in tables])
            held.append(np.mean((ends[..., 0] < 0) & (ends[..., 1] > 0), axis=1))
            sizes.append(np.median(np.diff(ends), axis=(1, 2)))
        (apart, timed), (long, longer) = np.mean(held, axis=0), np.median(sizes, axis=0)
        print(f"{name:14} {apart:.3f} {timed:.3f}  {long:.3f} {longer:.3f}", flush=True)


def slope(x, y):
    """Slope of a simple regression, and its variance."""
    design = np.column_stack([np.ones(len(x)), x])
    coefficients, rest = np.linalg.lstsq(design, y, rcond=None)[:2]
    variance = rest[0] / (len(y) - 2) * np.linalg.inv(design.T @ design)[1, 1]
    return coefficients[1], variance


def regressions(seed, length, n_draws=40):
    """Slopes and variances of one data set, by what the shares are, and their reliability."""
    data = make_topics(
        150, 200, 3, mean_length=length, alpha=0.5, separation=3.0, random_state=seed
    )
    outcome = 2 * data.theta[:, 0] + 0.5 * np.random.default_rng(seed).standard_normal(150)
    model = GaussianLDA(
        3, embedding=data.vectors, normalize=None, min_count=1, doc_topic_prior=0.5, chains=1,
        draws=60, warmup=60, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data.counts)
    first = true_topics(model, data.word_proba)[0][0]
    draws = model.sample_transform(data.counts, n_draws)[:, :, first]
    slopes, variances = np.transpose([slope(x, outcome) for x in draws])
    pooled = slopes.mean(), variances.mean() + (1 + 1 / n_draws) * slopes.var(ddof=1)
    reliability = 1 - draws.var(axis=0, ddof=1).mean() / draws.var(axis=1).mean()
    return {
        "true shares": slope(data.theta[:, 0], outcome),
        "posterior means": slope(model.transform(data.counts)[:, first], outcome),
        "pooled draws": pooled,
        "pooled draws / reliability": (pooled[0] / reliability, pooled[1] / reliability**2),
    }, reliability


def predictors(options):
    """Print the table of regressions on topic shares."""
    print("tokens, shares: slope (2)  se, reported  90 % holds  reliability")
    for length in (10, 30, 100):
        runs = [regressions(options.seed + i, length) for i in range(options.data_sets)]
        reliability = np.mean([found for _, found in runs])
        for name in runs[0][0]:
            found, variance = np.transpose([run[name] for run, _ in runs])
            held = np.abs(found - 2) < stdtrit(148, 0.95) * np.sqrt(variance)
            print(
                f"{length}, {name}: {found.mean():.2f}  {found.std():.3f}, "
                f"{np.sqrt(variance).mean():.3f}  {held.mean():.3f}  {reliability:.2f}"
            )


# Words, and their probabilities in four topics.
WORDS = np.array([f"w{i:02d}" for i in range(60)])
TOPICS = np.random.default_rng(0).dirichlet(np.full(60, 0.25), 4)


def contexts(rng, shares, n):
    """Words from a mixture of the topics, a list."""
    return list(rng.choice(WORDS, n, p=shares @ TOPICS))


def embeddings():
    """A fitted model, and the corpus it was fitted to, in which the word is everywhere alike."""
    rng, texts = np.random.default_rng(1), []
    for _ in range(400):
        text = contexts(rng, rng.dirichlet(np.full(4, 0.3)), 40)
        for _ in range(2):
            text.insert(rng.integers(len(text) + 1), "word")
        texts.append(text)
    options = {"solver": "map", "min_count": 1, "prior_precision": 1.0, "random_state": 0}
    return BayesianSGNS(8, **options).fit(texts), texts


def speeches(rng, n_units, n_each=(4, 4), effect=EFFECT):
    """Documents with a word in the middle, covariate and speakers.

    Speakers have ``n_each`` documents where the covariate is 0 and 1.
    """
    x = rng.permutation(np.arange(n_units) % 2).astype(float)
    texts, units = [], []
    for unit in range(n_units):
        own = rng.dirichlet(8 * (0.25 + x[unit] * effect))
        for _ in range(n_each[int(x[unit])]):
            shares = rng.dirichlet(6 * own + 1e-3)
            for _ in range(max(1, rng.poisson(1.5))):
                text = contexts(rng, shares, 10)
                texts.append([*text[:5], "word", *text[5:]])
                units.append(unit)
    return texts, x[units], np.array(units)


def axes():
    """From the first words of a topic to those of another."""
    ends = [list(WORDS[np.argsort(-topic)[:3]]) for topic in TOPICS]
    return {"moved": (ends[1], ends[0]), "other": (ends[2], ends[3])}


def true_effects(model, texts, shares=1.0):
    """Length and projections of the expected change of the word's embedding, of so much of it."""
    ids, offsets = _tokens(model, texts)
    matrix = contexts_to_vectors(model.rho_, ids, offsets, 5)
    rho = model.rho_[[model.vocabulary_[word] for word in WORDS]]
    change = shares * EFFECT @ TOPICS @ rho @ matrix
    along = [change @ direction for direction in _directions(model, axes()).values()]
    return np.array([np.linalg.norm(change), *along])


def meaning(options):
    """Print the table of a word's meaning."""
    model, texts = embeddings()
    asked = {"word": "word", "axes": axes(), "window": 5, "reference": texts}
    # shares of documents have the mean of their speaker's, up to what keeps them off zero
    truth = true_effects(model, texts, 6 / 6.004)
    print("speakers, effect: truth  mean  se, reported  90 % holds  p < .05")
    for n_units in (16, 40, 100):
        runs = []
        for i in range(options.data_sets):
            rng = np.random.default_rng(options.seed + i)
            data = speeches(rng, n_units)
            found = model.effects(*data, n_permutations=1, **asked)
            wrong = model.effects(
                data[0], permuted(rng, *data[1:]), data[2], n_permutations=199, **asked
            )
            low, high = found.interval[0].T
            held = (low < truth) & (truth < high)
            runs.append((found.mean[0], found.sd[0], held, wrong.p_value[0] < 0.05))
        mean, sd, held, wrong = (np.array(x) for x in zip(*runs, strict=True))
        for j, name in enumerate(found.axes):
            print(
                f"{n_units}, {name}: {truth[j]:.2f}  {mean[:, j].mean():.2f}  "
                f"{mean[:, j].std():.2f}, {sd[:, j].mean():.2f}  {held[:, j].mean():.3f}  "
                f"{wrong[:, j].mean():.3f}"
            )
    print("40 speakers, those of one group with a tenth of the documents; no effect: p < .05")
    for n_each in ((10, 1), (1, 10)):
        found = []
        for i in range(options.data_sets):
            rng = np.random.default_rng(options.seed + i)
            data = speeches(rng, 40, n_each, np.zeros(4))
            found.append(model.effects(*data, n_permutations=199, **asked).p_value[0] < 0.05)
        shares = ", ".join(f"{share:.3f}" for share in np.mean(found, axis=0))
        print(f"{n_each}: {shares}")


# How alike shares are to those of the speaker before, and what the covariate is.
MEANING_IN_TIME = {
    "independent": (0.0, 0.8),
    "autocorrelated": (0.8, 0.8),
    "random walk": (1.0, 1.0),
    "autocorrelated, on time": (0.8, None),
}


def speeches_in_time(rng, n_units, memory, of_covariate, effect):
    """Documents with a word in the middle, covariate and speakers in the order of time."""
    if of_covariate is None:
        x = np.linspace(0, 1, n_units)
    else:
        x = ndtr(scaled(series(rng, of_covariate, n_units)))
    own = np.stack([scaled(series(rng, memory, n_units)) for _ in range(4)], axis=1)
    own = np.clip(0.08 * own, -0.1, 0.1)
    shares = np.maximum(0.25 + own - own.mean(axis=1, keepdims=True) + effect * x[:, None], 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    units = np.repeat(np.arange(n_units), rng.integers(4, 16, n_units))
    texts = []
    for unit in units:
        text = contexts(rng, shares[unit], 10)
        texts.append([*text[:5], "word", *text[5:]])
    return texts, x[units], units


def scaled(values):
    """With mean zero and variance one."""
    return (values - values.mean()) / values.std()


def meaning_in_time(options):
    """Print the table of a word's meaning in time."""
    model, texts = embeddings()
    asked = {"word": "word", "axes": axes(), "window": 5, "reference": texts}
    truth = true_effects(model, texts)
    print("speakers, setting: found, projections hold zero  with an effect: found, length, "
          "projections hold; se of projections  (without times, with)")  # fmt: skip
    for n_units in (40, 20):
        for name, of in MEANING_IN_TIME.items():
            rows = []
            for i in range(options.data_sets):
                rng, row = np.random.default_rng([options.seed, i]), []
                for effect, true in ((0.0 * EFFECT, 0.0 * truth), (EFFECT, truth)):
                    texts, x, units = speeches_in_time(rng, n_units, *of, effect)
                    for times in (None, units):
                        table = model.effects(
                            texts, x, units, times=times, n_permutations=199, **asked
                        )
                        low, high = table.interval[0].T
                        held = (low <= true) & (true <= high)
                        row.append([table.p_value[0, 0] <= 0.1, held[0], held[1:].mean(),
                                    np.median(table.sd[0, 1:])])  # fmt: skip
                rows.append(row)
            apart, timed, moved, moved_timed = np.mean(rows, axis=0)
            pairs = ((apart, timed, 0), (apart, timed, 2), *((moved, moved_timed, j)
                     for j in range(4)))  # fmt: skip
            print(f"{n_units}, {name}: " + "  ".join(
                f"{a[j]:.3f} {b[j]:.3f}" for a, b, j in pairs), flush=True)  # fmt: skip


def main():
    """Run the parts that are asked for."""
    parts = {
        "topics": topics,
        "length": length,
        "time": time,
        "predictors": predictors,
        "meaning": meaning,
        "meaning-time": meaning_in_time,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="all by default")
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--setting", nargs="*", choices=SETTINGS)
    options = parser.parse_args()
    for part in options.parts or parts:
        parts[part](options)


if __name__ == "__main__":
    main()
