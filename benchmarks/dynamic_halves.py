"""Do intervals of `DynamicSGNS` hold on text, for the units that were sampled?

Random halves of the State of the Union addresses, or of the countries that spoke in the UN general
debate (``--text debates``), each fitted on its own (``solver="map"``). Both halves shrink alike, so
zero is what the difference of their answers should lie about: reported are the coverage of 90 %
intervals of the difference, and the standard deviation of z, by the sampling part alone. Answers
are those of the mode, for random pairs of words in random periods, and for the (Euclidean)
distances that words moved.

The data are read from the folder that ``--data`` names.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import lzma
import re
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from skbayesembed import DynamicSGNS
from skbayesembed.sgns.documents import answers
from skbayesembed.sgns.documents.deviations import spread_of
from skbayesembed.sgns.questions.kinds import Distances
from skbayesembed.sgns.questions.operands import of_places, together


def addresses(folder):
    """State of the Union addresses, their years, and the unit of each: itself."""
    path = Path(folder) / "state_of_the_union" / "state_of_the_union.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = [(row["text"], int(row["year"])) for row in csv.DictReader(lines)]
    return *zip(*rows, strict=True), range(len(rows))


def debates(folder):
    """Speeches of the UN general debate, their years, and the unit of each: the country."""
    path = Path(folder) / "text" / "un_general_debate.csv.xz"
    with lzma.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = [(row["text"], int(row["year"]), row["country"]) for row in csv.DictReader(lines)]
    return zip(*rows, strict=True)


SOURCES = {"addresses": addresses, "debates": debates}


def read(source, folder, n_words):
    """Documents as lists of the most frequent words, their years, and their units by number."""
    csv.field_size_limit(sys.maxsize)
    texts, years, units = SOURCES[source](folder)
    texts = [re.findall(r"\b\w\w+\b", text.lower()) for text in texts]
    kept = {w for w, _ in Counter(w for text in texts for w in text).most_common(n_words)}
    units = np.unique(list(units), return_inverse=True)[1]
    return [[w for w in text if w in kept] for text in texts], np.array(years), units


def halves(period, units, within, rng):
    """Which documents are in the first half; ``within`` divides those of each period evenly."""
    if not within:
        return (rng.random(units.max() + 1) < 0.5)[units]
    chosen = np.zeros(period.size, dtype=bool)
    for t in np.unique(period):
        members = rng.permutation(np.flatnonzero(period == t))
        chosen[members[: members.size // 2]] = True
    return chosen


class Half:
    """The deviations of a half, for words by their names."""

    def __init__(self, texts, years, units, bins, options):
        model = DynamicSGNS(
            options.components, solver="map", bins=bins, diffusion=options.diffusion,
            min_count=1, max_iter=2000, random_state=0,
        )  # fmt: skip
        start = time.process_time()
        model.fit(texts, times=years, units=units)
        self.fit_seconds = time.process_time() - start
        self.deviations, self.response = model._sampling.deviations, model._sampling.response
        self.seconds = time.process_time() - start - self.fit_seconds
        self.vocabulary = model.vocabulary_

    def places(self, period, words):
        """Places of words in periods."""
        index = np.array([self.vocabulary[w] for w in words])
        return period * self.deviations.n_words + index


def cosine(deviations, a, b):
    """Cosines at the mode, and their change."""
    x, y = deviations.vectors[0][a], deviations.vectors[0][b]
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.sum(x * y, axis=1) / lengths, answers.cosine_change(deviations, a, b)


def logit(deviations, a, b):
    """Logits at the mode, and their change."""
    value = np.sum(deviations.vectors[0][a] * deviations.vectors[1][b], axis=1)
    return value, answers.logit_change(deviations, a, b)


def moved(deviations, start, end):
    """Distances from places to places at the mode, and their change."""
    value = np.linalg.norm(deviations.vectors[0][end] - deviations.vectors[0][start], axis=1)
    ends = (of_places(x, deviations.vectors.shape[1], unit=False) for x in (start, end))
    question = Distances(together(*ends), np.arange(2 * len(start)).reshape(2, -1).T)
    return value, answers.change_of(deviations, question)


def judged(parts):
    """z of a difference of halves, and whether its interval covers zero."""
    values, sds, freedoms = [], [], []
    for deviations, (value, change) in parts:
        spread = spread_of(deviations, change)
        units = change.shared[: deviations.n_sampling] ** 2
        known = units.sum(axis=0)
        share = spread.sampling**2 / known
        freedoms.append(np.maximum(known**2 / np.sum(units**2, axis=0), 1.0) * share**2)
        values.append(value)
        sds.append(spread.sampling)
    z = (values[0] - values[1]) / np.hypot(*sds)
    parts = [sd**4 / freedom for sd, freedom in zip(sds, freedoms, strict=True)]
    return z, np.abs(z) < stdtrit((sds[0] ** 2 + sds[1] ** 2) ** 2 / sum(parts), 0.95)


def split(texts, years, units, bins, options, rng):
    """z and coverage of each kind of answers for one split."""
    period = np.digitize(years, bins) - 1
    first = halves(period, units, options.within, rng)
    both = [
        Half(
            [t for t, one in zip(texts, chosen, strict=True) if one],
            years[chosen], units[chosen], bins, options,
        )
        for chosen in (first, ~first)
    ]  # fmt: skip
    for h in both:
        print(
            f"fit {h.fit_seconds:.1f} CPU-s, intervals {h.seconds:.1f}, response {h.response:.3f}",
            flush=True,
        )
    common = np.array(sorted(set(both[0].vocabulary) & set(both[1].vocabulary)))
    words = common[rng.integers(common.size, size=(2, options.pairs))]
    times = rng.integers(options.periods, size=(2, options.pairs))
    keep = (words[0] != words[1]) & (times[0] != times[1])
    (a, b), (start, end) = words[:, keep], times[:, keep]
    found = {"logit": [], "similarity": [], "change": [], "distance": []}
    for half in both:
        d = half.deviations
        at = [(half.places(t, a), half.places(t, b)) for t in (start, end)]
        (before, shift), (after, other) = (cosine(d, *places) for places in at)
        found["logit"].append((d, logit(d, *at[0])))
        found["similarity"].append((d, (before, shift)))
        found["change"].append((d, (after - before, other + -shift)))
        found["distance"].append((d, moved(d, at[0][0], at[1][0])))
    return {kind: judged(parts) for kind, parts in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--text", choices=sorted(SOURCES), default="addresses")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--components", type=int, default=8)
    parser.add_argument("--periods", type=int, default=5)
    parser.add_argument("--diffusion", type=float, default=1e-3)
    parser.add_argument("--pairs", type=int, default=2500)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--within", action="store_true", help="halve every period by itself")
    options = parser.parse_args()
    texts, years, units = read(options.text, options.data, options.words)
    bins = np.linspace(years.min(), years.max() + 1, options.periods + 1)
    found = [
        split(texts, years, units, bins, options, np.random.default_rng(seed))
        for seed in range(options.splits)
    ]
    for kind in found[0]:
        z, covered = (np.concatenate(x) for x in zip(*(one[kind] for one in found), strict=True))
        each = " ".join(f"{np.mean(one[kind][1]):.3f}" for one in found)
        print(f"{kind:10} coverage {covered.mean():.3f} sd(z) {z.std():.2f}  splits {each}")


if __name__ == "__main__":
    main()
