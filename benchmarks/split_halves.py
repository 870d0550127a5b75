"""Do intervals hold on text? Random halves of real documents, and what they disagree on.

Both halves come from the same source, so that 90 % intervals of the difference of two answers
should hold zero 90 times of 100. Each half is fitted by ``BayesianSGNS(solver="map")``; its
intervals by units (``uncertainty="documents"``, their sampling part: both halves shrink alike) are
held against the difference, for the logits of random pairs of words and for similarities. Beside
them are the standard errors of Laplace's approximation, which takes every pair for an observation.

    SKBAYESEMBED_DATA=... python benchmarks/split_halves.py --rows "linear 5" "matrix, token"

prints a row for each kind of counts or text: coverage and the standard deviation of z (difference
over standard error), over 2,000 random pairs a split whose words two units of each half have; then
coverage by quarters of frequency, by burstiness, for words of few effective units, and for the ten
neighbours that the first half itself picked. ``--rest 0.1`` compares a tenth with the others.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import lzma
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.stats import t as student
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skbayesembed import BayesianSGNS
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.documents import answers
from skbayesembed.sgns.documents.deviations import spread_of
from skbayesembed.sgns.laplace.curvature import gaussian_at

csv.field_size_limit(10**9)
# Draws of Laplace's approximation; the standard errors from them are within 11 %.
LAPLACE_DRAWS = 40
DATA = Path(os.environ.get("SKBAYESEMBED_DATA", "."))
_WORD = re.compile(r"[^\W\d_]+")


# Text: lists of tokens and the unit of each document ---------------------------------------------


def wikipedia(n_tokens):
    """Articles up to so many tokens."""
    found, current, total = [], [], 0
    with lzma.open(DATA / "text" / "wikipedia_en_2015.txt.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                current += line.split()
            elif current:
                found.append(current)
                total, current = total + len(current), []
                if total >= n_tokens:
                    break
    return found, np.arange(len(found))


def debates(unit):
    """Speeches of the UN general debate, of speeches or countries."""
    with lzma.open(DATA / "text" / "un_general_debate.csv.xz", "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    texts = [_WORD.findall(row["text"].lower()) for row in rows]
    return texts, np.arange(len(rows)) if unit == "speech" else np.array(
        [row["country"] for row in rows]
    )


def addresses():
    """State of the Union addresses."""
    path = DATA / "state_of_the_union" / "state_of_the_union.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [_WORD.findall(row["text"].lower()) for row in csv.DictReader(lines)]
    return texts, np.arange(len(texts))


def inaugurals():
    """Inaugural addresses, of presidents, without stop words."""
    path = DATA / "inaugural" / "inaugural.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    texts = [[w for w in _WORD.findall(row["text"].lower()) if w not in ENGLISH_STOP_WORDS]
             for row in rows]  # fmt: skip
    return texts, np.array([row["president"] for row in rows])


def works():
    """Latin works, lemmas."""
    texts = []
    with lzma.open(DATA / "change" / "latin.tsv.xz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            sentences = line.rstrip("\n").split("\t")[-1].lower()
            texts.append([w for w in sentences.split() if w[0].isalpha()])
    return texts, np.arange(len(texts))


def planted(n_pairs=800_000, n_words=400, n_units=300):
    """Documents of two tokens, drawn independently from a model that is true."""
    rng = np.random.default_rng(0)
    rho = rng.normal(0.0, 0.5, (n_words, 8))
    frequency = 1.0 / (np.arange(n_words) + 5.0)
    p = np.outer(frequency, frequency) * np.exp(rho @ rho.T)
    p /= p.sum()
    drawn = np.flatnonzero(rng.multinomial(n_pairs, p.ravel()))
    drawn = np.repeat(drawn, rng.poisson(n_pairs * p.ravel()[drawn]))
    rng.shuffle(drawn)
    names = np.array([f"w{i}" for i in range(n_words)])
    texts = [[names[w], names[v]] for w, v in zip(*np.divmod(drawn, n_words), strict=True)]
    return texts, np.arange(len(texts)) % n_units


# What is fitted: text and parameters --------------------------------------------------------------

MILLION = (wikipedia, 1e6)
ROWS = {
    "linear 5": (MILLION, {}),
    "uniform 5": (MILLION, {"window_weights": "uniform"}),
    "uniform 10": (MILLION, {"window_weights": "uniform", "window": 10}),
    "linear 5, negative 5": (MILLION, {"negative": 5}),
    "matrix, token": (MILLION, {"matrix": True}),
    "matrix, pairs": (MILLION, {"matrix": True, "pair_weights": "pairs"}),
    "five million words": ((wikipedia, 5e6), {}),
    "debates by speech": ((debates, "speech"), {}),
    "debates by country": ((debates, "country"), {}),
    "State of the Union": ((addresses,), {}),
    "Latin by work": ((works,), {}),
    # small: 800 words and --precision 9, as the guide has them
    "inaugural addresses": ((inaugurals,), {}),
    # as many components as the planted vectors have
    "control": ((planted,), {"window": 1, "n_components": 8}),
}


def fit(texts, units, words, matrix, options, parameters):
    """The mode of some documents, in a vocabulary that all parts share."""
    parameters = {"n_components": options.components, **parameters}
    model = BayesianSGNS(
        solver="map",
        prior_precision=options.precision,
        min_count=1,
        feature_names=list(words) if matrix else None,
        max_iter=5000,
        random_state=0,
        n_jobs=options.jobs,
        **parameters,
    )
    if not matrix:
        return model.fit(texts, units=units)
    places = {word: i for i, word in enumerate(words)}
    entries = [(d, places[w]) for d, tokens in enumerate(texts) for w in tokens]
    rows, columns = np.array(entries).T
    counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(words)))
    counts.sum_duplicates()
    return model.fit(counts, units=units)


class Part:
    """A fitted half: answers, their standard errors by units, and by Laplace's approximation."""

    def __init__(self, texts, units, words, matrix, options, parameters):
        cpu = time.process_time()
        self.model = fit(texts, units, words, matrix, options, parameters)
        self.seconds = [time.process_time() - cpu]
        # a word that this half does not have stands at the end and has no unit
        self.order = np.array([self.model.vocabulary_.get(w, -1) for w in words])
        cpu = time.process_time()
        sampling = self.model._sampling
        mode, hessian, _ = sampling._at_mode
        rows = sampling._at_mode[2].unit_rows
        seen = np.asarray((rows > 0).sum(axis=0)).ravel()[self.order]
        self.units_of = np.where(self.order >= 0, seen, 0)
        self.dispersion = sampling.dispersion[self.order]
        self.deviations = sampling.deviations
        self.response = sampling.response
        self.seconds.append(time.process_time() - cpu)
        with OneBlasThread():
            draws = gaussian_at(hessian, "krylov").draw(LAPLACE_DRAWS, np.random.default_rng(1))
        self.laplace = mode.vectors + mode.orbit.project(draws.astype(float))

    def answers(self, a, b):
        """Logits and cosines, (2, n); `Spread` by units of each; standard errors by Laplace."""
        a, b = self.order[a], self.order[b]
        d = self.deviations
        values = [logits(d.vectors, a, b), cosines(d.vectors[0], a, b)]
        changes = [answers.logit_change(d, a, b), answers.cosine_change(d, a, b)]
        drawn = [
            np.std([logits(x, a, b) for x in self.laplace], axis=0),
            np.std([cosines(x[0], a, b) for x in self.laplace], axis=0),
        ]
        return np.array(values), [spread_of(d, c) for c in changes], np.array(drawn)

    def neighbours(self, words, n=10):
        """Pairs of words with the ten nearest by the mode."""
        unit = self.deviations.vectors[0][self.order]
        unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
        near = unit[words] @ unit.T
        near[np.arange(len(words)), words] = -2.0
        near[:, self.order < 0] = -2.0
        return np.repeat(words, n), np.argsort(-near, axis=1)[:, :n].ravel()


def logits(vectors, a, b):
    """Of pairs of targets and contexts."""
    return np.einsum("ij,ij->i", vectors[0][a], vectors[1][b])


def cosines(rho, a, b):
    """Of target vectors."""
    unit = rho / np.linalg.norm(rho, axis=1, keepdims=True)
    return np.einsum("ij,ij->i", unit[a], unit[b])


def compared(halves, a, b):
    """z and whether 90 % intervals hold zero, by units (2, n) and by Laplace (2, n)."""
    (x, first, mine), (y, second, theirs) = (half.answers(a, b) for half in halves)
    out = []
    for i in (0, 1):
        squares = [s[i].sampling ** 2 for s in (first, second)]
        total = squares[0] + squares[1]
        # Satterthwaite's degrees of freedom of the two together
        freedom = total**2 / sum(
            q**2 / s[i].freedom for q, s in zip(squares, (first, second), strict=True)
        )
        z = (x[i] - y[i]) / np.sqrt(total)
        rough = (x[i] - y[i]) / np.sqrt(mine[i] ** 2 + theirs[i] ** 2)
        out.append((z, np.abs(z) < student.ppf(0.95, freedom), rough, np.abs(rough) < 1.645))
    z, held, rough, roughly = (np.array(part) for part in zip(*out, strict=True))
    return z, held, rough, roughly


def run(name, options):
    """A row of figures."""
    (source, *arguments), parameters = ROWS[name]
    parameters = dict(parameters)
    matrix = parameters.pop("matrix", False)
    texts, units = source(*arguments)
    words, texts = vocabulary(texts, options.words)
    labels = np.unique(units)
    found, picked, seconds = [], [], np.zeros(2)
    for split in range(options.first, options.first + options.splits):
        rng = np.random.default_rng(split)
        share = options.rest or 0.5
        mine = rng.permutation(labels)[: round(share * labels.size)]
        side = np.isin(units, mine)
        halves = []
        for chosen in (side, ~side):
            at = np.flatnonzero(chosen)
            part = [texts[i] for i in at]
            halves.append(Part(part, units[at], words, matrix, options, parameters))
            seconds += halves[-1].seconds
        common = np.flatnonzero(np.min([h.units_of for h in halves], axis=0) >= 2)
        a, b = rng.choice(common, (2, options.pairs))
        a, b = a[a != b], b[a != b]
        few = np.min([h.deviations.n_units[h.order[x]] for h in halves for x in (a, b)], axis=0)
        bursts = np.nanmax([np.nan_to_num(h.dispersion[x]) for h in halves for x in (a, b)], axis=0)
        responses = [h.response for h in halves]
        found.append((*compared(halves, a, b), np.maximum(a, b), few, bursts, responses))
        word = rng.choice(common, min(100, common.size), replace=False)
        near = halves[0].neighbours(word)
        known = np.isin(near[1], common)
        picked.append(compared(halves, near[0][known], near[1][known])[1][1].mean())
    report(name, found, picked, seconds / (2 * options.splits), labels.size)


def vocabulary(texts, n_words):
    """The most frequent words, and the texts without others."""
    counts = Counter(w for tokens in texts for w in tokens)
    words = [w for w, n in counts.most_common(n_words) if n >= 20]
    known = set(words)
    return words, [[w for w in tokens if w in known] for tokens in texts]


def report(name, found, picked, seconds, n_units):
    """Print a row, and coverage in parts of the pairs."""
    z, held, rough, roughly = (np.hstack([f[i] for f in found]) for i in range(4))
    rank, few, bursts = (np.hstack([f[i] for f in found]) for i in (4, 5, 6))
    cells = [
        "  ".join(f"{h.mean():.3f} / {x.std():5.2f}" for h, x in zip(hs, zs, strict=True))
        for hs, zs in ((held, z), (roughly, rough))
    ]
    response = np.mean([f[7] for f in found])
    cost = f"{seconds[0]:6.1f} {seconds[1]:6.1f}"
    print(f"{name:22} {n_units:5}  {cells[0]}  {cells[1]}  {cost}", flush=True)
    edges = np.quantile(rank, [0.25, 0.5, 0.75])
    quarter = np.searchsorted(edges, rank)
    parts = {f"quarter {q + 1}": quarter == q for q in range(4)}
    parts["burstiest"] = bursts >= np.quantile(bursts, 0.75)
    parts["units < 3"] = few < 3
    shown = [
        f"{label} {held[0][at].mean():.2f} {held[1][at].mean():.2f}"
        + (f" (n={at.sum()})" if label == "units < 3" else "")
        for label, at in parts.items()
        if at.any()
    ]
    shown += [f"picked {np.mean(picked):.3f}", f"response {response:.2f}"]
    print(f"    {'; '.join(shown)}", flush=True)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--precision", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--rest", type=float, default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    options = parser.parse_args()
    if not (DATA / "text").exists():
        sys.exit(f"{DATA / 'text'} is not there: set SKBAYESEMBED_DATA")
    print("coverage of 90 % intervals / sd(z), of logits and of cosines; CPU-seconds a half")
    print(f"{'':22} {'units':>5}  {'by units':29}  {'Laplace':29}   mode  deviations")
    for name in options.rows:
        try:
            run(name, options)
        except np.linalg.LinAlgError as error:
            print(f"{name:22}  {str(error)[:80]}")


if __name__ == "__main__":
    main()
