"""How far answers are from those at the mode, by where the search for it ends.

    SKBAYESEMBED_DATA=... python benchmarks/mode_end.py --corpora inaugural "wikipedia 10000"
    SKBAYESEMBED_DATA=... python benchmarks/mode_end.py --corpora "wikipedia x 10" \
        --precision 4 --tol 1e-8

A search goes on to ``--tol`` and keeps its points; the last one is taken for the mode. For every
fifth iteration a line says what the ten before it gained, for each parameter, and how far 1,000
cosines of two words and 1,000 logits of a word and a context are from those at the mode, root mean
square and at most, in standard deviations: those that they have by the curvature at the mode where
all other vectors are held, which are at most the posterior's. Half of the words are drawn by their
frequency, half from the vocabulary.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from large_text import TEXT, in_parts, text_of
from mode import CORPORA, articles, posterior
from scipy.special import expit
from split_halves import DATA, vocabulary, wikipedia

from skbayesembed import build_vocabulary, count_pairs
from skbayesembed.inference.ascent import Ascent
from skbayesembed.inference.chains import Workers
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.starting import search_start

_ASKED, _EVERY, _WATCHED = 1000, 5, 10


def whole(n_words):
    """Wikipedia, all of it."""
    return vocabulary(wikipedia(1e9)[0], n_words)[1], 1


def copies(n_words):
    """The hundred million tokens of benchmarks/large_text.py."""
    words = sum(
        build_vocabulary(part, min_count=1, max_features=n_words)
        for part in in_parts(text_of(DATA / TEXT, 10))
    )
    return sum(count_pairs(part, words) for part in in_parts(text_of(DATA / TEXT, 10))), 1


CORPORA |= {"wikipedia x 10": (copies, 50_000, 100)}
CORPORA |= {"wikipedia 2500": (articles, 2500, 50), "wikipedia 10000": (whole, 10_000, 100)}


class Points:
    """Points of a search: iteration, CPU seconds, gain of the last ten, vectors."""

    def __init__(self):
        self.kept, self.gains, self.begun = [], [], time.process_time()
        self._advance = Ascent.advance

    def __enter__(self):
        Ascent.advance = lambda ascent, *given: self.step(ascent, *given)
        return self

    def __exit__(self, *error):
        Ascent.advance = self._advance

    def step(self, ascent, *given):
        """A step of the search."""
        accepted = self._advance(ascent, *given)
        self.gains.append(ascent.gain if accepted else 0.0)
        n = len(self.gains)
        if n >= 2 * _WATCHED and n % _EVERY == 0:
            cpu, recent = time.process_time() - self.begun, sum(self.gains[-_WATCHED:])
            self.kept.append((n, cpu, recent, ascent._model.point.astype(np.float32)))
        return accepted


class Asked:
    """Cosines and logits of pairs of words, and their standard deviations at the mode."""

    def __init__(self, model, vectors, precision):
        self._precision = precision
        n, rng = model.pairs.observations(0), np.random.default_rng(1)
        drawn = rng.choice(model.n_words, (2, _ASKED // 2), p=n / n.sum())
        self.pairs = np.hstack([drawn, rng.integers(model.n_words, size=drawn.shape)])
        self.pairs[1] += self.pairs[0] == self.pairs[1]
        self.pairs %= model.n_words
        self._n, self.at_mode = model.pairs.rows, self.of(vectors)
        self.sd = np.array([self._deviations(vectors, w, v) for w, v in self.pairs.T]).T

    def of(self, vectors):
        """Cosines, logits."""
        (rho, alpha), (w, v) = vectors, self.pairs
        unit = rho / np.linalg.norm(rho, axis=1, keepdims=True)
        return np.stack([np.sum(unit[w] * unit[v], axis=1), np.sum(rho[w] * alpha[v], axis=1)])

    def _deviations(self, vectors, w, v):
        rho, alpha = vectors
        first, second = rho[w], rho[v]
        sizes = np.linalg.norm(first), np.linalg.norm(second)
        cosine = first @ second / np.prod(sizes)
        toward = second / np.prod(sizes) - cosine * first / sizes[0] ** 2
        other = first / np.prod(sizes) - cosine * second / sizes[1] ** 2
        mine, its = self._covariance(vectors, w), self._covariance(vectors, v)
        return (
            np.sqrt(toward @ mine @ toward + other @ its @ other),
            np.sqrt(alpha[v] @ mine @ alpha[v]),
        )

    def _covariance(self, vectors, w):
        """Of the target of a word, all else held."""
        rho, alpha = vectors
        n = self._n(w, w + 1)[0][0]
        proba = expit(alpha @ rho[w])
        weighted = alpha * (n * proba * (1.0 - proba))[:, None]
        return np.linalg.inv(weighted.T @ alpha + self._precision * np.eye(alpha.shape[1]))

    def apart(self, vectors):
        """Root mean squares and maxima, of cosines and of logits."""
        found = (self.of(vectors) - self.at_mode) / self.sd
        return [f(x) for x in found for f in (lambda x: np.sqrt(np.mean(x**2)), _largest)]


def _largest(x):
    return np.abs(x).max()


def main():
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=["inaugural"])
    parser.add_argument("--precision", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-11)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for name in options.corpora:
        model = posterior(name, options.precision)
        with OneBlasThread(), Workers(options.jobs) as run, Points() as points:
            limits = {"tol": 1e-8, "max_iter": 3000}
            start = model.pack(search_start(model, np.random.default_rng(0), run, **limits))
            # not those of the search among frequent words
            points.kept, points.gains = [], []
            theta, facts = find_mode(
                model, start, tol=options.tol, max_iter=3000, warn=False, run=run
            )
        print(f"{name} (V = {model.n_words}, K = {model.n_components}): {facts}")
        asked = Asked(model, np.stack(list(model.unpack(theta).values())), options.precision)
        print("iterations  CPU s  gain a parameter  cosines: rms, max  logits: rms, max")
        for n, cpu, gain, vectors in points.kept:
            apart = "  ".join(f"{x:.4f}" for x in asked.apart(vectors.astype(float)))
            print(f"{n:10} {cpu:6.1f} {gain / model.n_parameters:17.2e}  {apart}", flush=True)


if __name__ == "__main__":
    main()
