"""What balancing takes from the posterior's intervals: cosines of vectors as drawn, and balanced.

    SKBAYESEMBED_DATA=... python benchmarks/balance.py

Gibbs draws without anchors, of a million words of Wikipedia. A row for each size: the median
posterior standard deviation of cosines among the most frequent 5 % of words and among all, as drawn
and balanced, and of logits, which balancing leaves alone.
"""

from __future__ import annotations

import time

import numpy as np
from split_halves import vocabulary, wikipedia

from skbayesembed import BayesianSGNS


def cosine_deviations(model, index):
    """Posterior standard deviations of all cosines among some words."""
    draws = np.array([rho[index] for rho in model.posterior_.flat("rho")])
    if model.balance:
        draws = model._balanced.of("rho", index)
    unit = draws / np.linalg.norm(draws, axis=2, keepdims=True)
    cosines = unit @ unit.mT
    return cosines.std(axis=0)[np.triu_indices(index.size, 1)]


def main():
    """Print the table."""
    texts, _ = wikipedia(1e6)
    print("words  K  frequent: as drawn, balanced  all: as drawn, balanced  CPU-s")
    for n_words, k in ((100, 10), (300, 10), (1000, 20)):
        _, known = vocabulary(texts, n_words)
        start = time.process_time()
        model = BayesianSGNS(
            k, anchors=None, min_count=1, chains=2, draws=300, warmup=200, random_state=0
        )
        model.fit(known)
        frequent = np.arange(max(5, n_words // 20))
        everyone = np.arange(0, n_words, max(1, n_words // 100))
        cells = []
        for index in (frequent, everyone):
            for balance in (False, True):
                model.set_params(balance=balance)
                cells.append(f"{np.median(cosine_deviations(model, index)):.3f}")
        seconds = time.process_time() - start
        print(f"{n_words:5} {k:2}  {cells[0]} {cells[1]}  {cells[2]} {cells[3]}  {seconds:.0f}")


if __name__ == "__main__":
    main()
