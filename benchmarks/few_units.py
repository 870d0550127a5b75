"""Do intervals over time hold where a period has few units of unequal size?

    python benchmarks/few_units.py --units 5 --corpora 90

Corpora of three periods: 30 units, then a few, then a few; a unit has from one to eight times as
much text as the smallest, topics of its own and words of its own within them. The truth is what
`DynamicSGNS` finds, with the same settings, in a corpus of 700 such units a period. `similarity`,
`similarity_change` and `drift` of pairs of words are asked for in each corpus; answers with too
little text (``"no data"``) are left out.

Beside the package's intervals ("package") are those whose degrees of freedom do not exceed the
effective units of the answer less one ("capped").
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from dataclasses import replace

import numpy as np

from skbayesembed import DynamicSGNS
from skbayesembed.sgns.documents import answers
from skbayesembed.sgns.documents.deviations import spread_of

WORDS = [f"w{i:02}" for i in range(24)]
TOPICS = np.random.default_rng(1).dirichlet(np.ones(len(WORDS)), 3)
# Shares of topics in each period; how alike units are in them, and in the words of a topic.
SHARES = np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.3, 0.3, 0.4]])
ALIKE, ALIKE_WORDS = 3.0, 40.0
LENGTH, LARGE = 25, 700
PAIRS = [("w00", "w01"), ("w02", "w05"), ("w03", "w09"), ("w04", "w11")]


def corpus(rng, n_units, documents):
    """Documents, their periods and units: so many units in each period."""
    found = []
    for period, n in enumerate(n_units):
        size = rng.permutation(np.geomspace(1, 8, n))
        size = np.maximum(1, np.round(documents * size / size.mean())).astype(int)
        for unit in range(n):
            share = rng.dirichlet(ALIKE * SHARES[period])
            own = [rng.dirichlet(ALIKE_WORDS * topic + 0.02) for topic in TOPICS]
            for _ in range(size[unit]):
                topic = rng.choice(len(TOPICS), p=rng.dirichlet(2.0 * share + 1e-3))
                text = " ".join(rng.choice(WORDS, LENGTH, p=own[topic]))
                found.append((text, period, f"{period}-{unit}"))
    return zip(*found, strict=True)


def fitted(options, rng, n_units):
    """The estimator of a corpus."""
    texts, times, units = map(list, corpus(rng, n_units, options.documents))
    model = DynamicSGNS(
        3, solver="map", min_count=1, random_state=0, diffusion=options.diffusion,
        prior_precision=options.precision,
    )  # fmt: skip
    return model.fit(texts, times=times, units=units)


def asked(model):
    """Answers with their kind and pair, a list."""
    found = []
    for a, b in PAIRS:
        found += [
            ("similarity, 30 units", model.similarity(a, b, periods=[0])),
            ("similarity, few units", model.similarity(a, b, periods=[2])),
            ("change, from 30 units to few", model.similarity_change(a, b, 0, 2)),
            ("change, from few units to few", model.similarity_change(a, b, 1, 2)),
            ("drift, from few units to few", model.drift(a, 1, 2)),
        ]
    return found


def capped(deviations, change):
    """The package's spread, with no more degrees of freedom than effective units less one."""
    found = spread_of(deviations, change)
    known = np.sum(change.shared[: deviations.n_sampling] ** 2, axis=0)
    own = np.sum(change.shared[: deviations.n_sampling] ** 4, axis=0)
    ratio = np.divide(known**2, own, out=np.ones_like(known), where=own > 0)
    freedom = np.minimum(3.0 * ratio - 2.0, np.maximum(change.fewest - 1.0, 1.0))
    drawn = max(1, len(change.shared) - deviations.n_sampling)
    varied = known**2 / np.maximum(freedom, 1.0) + found.prior**4 / drawn
    return replace(found, freedom=np.minimum(found.freedom, found.total**4 / varied))


def main():
    """Print the coverage of 90 % intervals by question."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=5, help="of a period with few")
    parser.add_argument("--corpora", type=int, default=90)
    parser.add_argument("--documents", type=float, default=6.0, help="of a unit, on average")
    parser.add_argument("--diffusion", type=float, default=0.03)
    parser.add_argument("--precision", type=float, default=1.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n_units = 30, options.units, options.units
    whole = fitted(options, np.random.default_rng(99), (LARGE,) * 3)
    truth = [float(np.ravel(x.mean)[0]) for _, x in asked(whole.set_params(uncertainty="model"))]
    found = defaultdict(list)
    for seed in range(options.corpora):
        model = fitted(options, np.random.default_rng(1000 + seed), n_units)
        if model.words_.size < len(WORDS):
            continue
        for rule, spread in (("package", spread_of), ("capped", capped)):
            answers.spread_of = spread
            for true, (kind, answer) in zip(truth, asked(model), strict=True):
                (low, high), units = np.reshape(answer.interval, 2), np.ravel(answer.n_units)[0]
                if np.isfinite(units):
                    found[kind, rule].append((low <= true <= high, high - low, units))
        answers.spread_of = spread_of
    print("question; degrees of freedom; answers; coverage; mean width; effective units")
    for (kind, rule), rows in found.items():
        cover, width, units = np.mean(rows, axis=0)
        print(f"{kind}; {rule}; {len(rows)}; {cover:.3f}; {width:.2f}; {units:.1f}")


if __name__ == "__main__":
    main()
