"""Stochastic against batch variational inference: held-out score after every pass.

Run ``python benchmarks/online.py`` with the environment variable SKBAYESEMBED_DATA naming a folder
that holds ``text/wikipedia_en_2015.txt.xz``. Some articles are learned from, others are scored:
mean log posterior predictive probability of their pairs (window 5, linear weights, expected
negatives), less log 1/2. Batch coordinate ascent runs until its bound settles to 1e-6. Online
reads the same articles in batches, in a new order in every pass, with

- ``seen``: this package's steps, by how often a word was seen (`skbayesembed.sgns.vi.online`);
- ``sakaya``: steps (delay + total / batch count of the word) ** -rate with statistics scaled
  up by total / batch count (Sakaya 2015, Algorithm 3).

``--sampled`` draws negatives afresh in every pass; batch keeps the ones it has drawn.
"""

from __future__ import annotations

import argparse
import lzma
import os
import sys
from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np
from scipy.special import expit

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.batches import CorpusBatches
from skbayesembed.sgns.counting import expected_negatives, sampled_negatives, window_pairs
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.vi.online import OnlineVI
from skbayesembed.sgns.vi.variational import SGNSVariational

NEGATIVES = {"negative": 1.0, "ns_exponent": 0.75}


class SakayaSteps(OnlineVI):
    """Algorithm 3's steps: lambda <- (1 - eps) lambda + eps * (total / n) * batch's sums."""

    delay, rate = 1.0, 0.7
    corpus = None

    def _weights(self, model, side):
        n = model.pairs.observations(side)
        super()._weights(model, side)
        here = n > 0
        scale = np.where(here, self.corpus[side] / np.where(here, n, 1.0), 1.0)
        step = (self.delay + scale) ** -self.rate
        if self.n_batches == 0:
            self.last = [np.ones(n.size), np.ones(n.size)]
        # what is remembered is lambda / (eps * scale) at its last step
        factor = step * scale
        keep = (1.0 - step) * self.last[side] / factor
        self.last[side] = np.where(here, factor, self.last[side])
        return keep, np.where(here, factor, 0.0)


def run(function, tasks):
    for task in tasks:
        function(*task)


def read(options):
    """Word ids and offsets of the articles to learn from and of those to score."""
    path = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "text" / "wikipedia_en_2015.txt.xz"
    if not path.exists():
        sys.exit(f"{path} is not there: set SKBAYESEMBED_DATA")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        articles = [a.split() for a in lines.read().split("\n\n") if a.strip()]
    order = np.random.default_rng(0).permutation(len(articles))
    chosen = [articles[i] for i in order[: options.articles + options.held_out]]
    train, test = chosen[: options.articles], chosen[options.articles :]
    words = [w for w, _ in Counter(w for a in train for w in a).most_common(options.words)]
    place = {w: i for i, w in enumerate(words)}

    def encoded(documents):
        ids = [np.array([place.get(w, -1) for w in d]) for d in documents]
        return np.concatenate(ids), np.concatenate([[0], np.cumsum([len(i) for i in ids])])

    return encoded(train), encoded(test)


class Score:
    """Mean log predictive probability of the held-out pairs, above that of guessing."""

    def __init__(self, positive):
        negative = expected_negatives(positive, **NEGATIVES)
        self.positive, self.negative = positive.toarray(), negative.toarray()
        self.total = self.positive.sum() + self.negative.sum()

    def __call__(self, variational, q):
        draws = variational.sample_q(q, 20, np.random.default_rng(1))
        p = sum(expit(r @ a.T) for r, a in zip(draws["rho"], draws["alpha"], strict=True)) / 20
        value = np.sum(self.positive * np.log(p) + self.negative * np.log1p(-p)) / self.total
        return value - np.log(0.5)


def batch(options, positive, score):
    """Scores after each of the first sweeps of coordinate ascent and after the last."""
    rng = np.random.default_rng(0)
    if options.sampled:
        negative = sampled_negatives(positive, **NEGATIVES, rng=rng)
    else:
        negative = expected_negatives(positive, **NEGATIVES)
    pairs = pair_table(PairCounts(positive, negative))
    model = SGNSModel(pairs, options.components, options.precision)
    variational = SGNSVariational(model, options.covariance)
    q = variational.init_q(model.start(rng))
    scores, bounds, seconds = [], [], 0.0
    while len(bounds) < 2 or bounds[-1] - bounds[-2] > 1e-6 * abs(bounds[-1]):
        start = process_time()
        bounds.append(variational.update(q, run))
        seconds += process_time() - start
        if len(bounds) <= 8:
            scores.append(score(variational, q))
    scores.append(score(variational, q))
    corpus = [pairs.observations(side) for side in (0, 1)]
    return scores, len(bounds), seconds, corpus


def online(options, source, score, steps, corpus, n_words):
    """Scores after every pass."""
    kind = SakayaSteps if steps == "sakaya" else OnlineVI
    learner = kind(
        n_words, options.components, Prior(n_words, options.components, options.precision),
        np.random.SeedSequence(0), covariance=options.covariance,
        negative_sampling="sampled" if options.sampled else "expected",
    )  # fmt: skip
    learner.corpus = corpus
    rng, scores, seconds = np.random.default_rng(0), [], 0.0
    for _ in range(options.passes):
        start = process_time()
        for positive in source.batches(options.batch_size, rng):
            learner.learn(positive, run)
        learner.end_pass()
        seconds += process_time() - start
        # the factors as they stand: the memory of Sakaya's steps is scaled otherwise
        scores.append(score(learner.variational, learner.q))
    return scores, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--articles", type=int, default=400)
    parser.add_argument("--held-out", type=int, default=150)
    parser.add_argument("--words", type=int, default=2000)
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--precision", type=float, default=1.0)
    parser.add_argument("--covariance", default="full", choices=("full", "diag"))
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--sampled", action="store_true")
    options = parser.parse_args()
    (ids, offsets), (test_ids, test_offsets) = read(options)
    window = {"n_words": options.words, "window": 5, "window_weights": "linear"}
    score = Score(window_pairs(test_ids, test_offsets, **window))
    print(f"{ids.size:,} tokens, {options.words} words, {options.components} components")
    with OneBlasThread():
        scores, sweeps, seconds, corpus = batch(
            options, window_pairs(ids, offsets, **window), score
        )
        last = scores[-1]
        print(f"\nbatch: {sweeps} sweeps, {seconds:.0f} CPU s, score {last:.5f}")
        print("share of it after sweep 1, 2, ...:", *(f"{s / last:.3f}" for s in scores[:-1]))
        source = CorpusBatches(BayesianSGNS(), ids, offsets, options.words, None)
        for steps in ("seen", "sakaya"):
            found, seconds = online(options, source, score, steps, corpus, options.words)
            reached = [i + 1 for i, s in enumerate(found) if s >= 0.98 * last]
            print(f"\nonline, steps {steps!r}: {seconds:.0f} CPU s for {options.passes} passes")
            print("share after pass 1, 2, ...:", *(f"{s / last:.3f}" for s in found))
            print(f"98 % reached after pass {reached[0] if reached else 'none'}")


if __name__ == "__main__":
    main()
