"""Intervals by documents beside the bootstrap of documents, whose every replicate is a refit.

A replicate draws as many articles as there are, with replacement, counts their pairs and negative
pairs anew, and is fitted from the mode of all. Standard errors over replicates are held against
those of ``uncertainty="documents"``, which cost one linear system an article:

    SKBAYESEMBED_DATA=... python benchmarks/document_bootstrap.py --words 300 --replicates 200

prints the median ratio of standard errors (by documents over bootstrap) and their rank correlation,
of logits and of cosines of 2,000 random pairs of words, and what both cost.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.stats import spearmanr
from split_halves import cosines, logits, vocabulary, wikipedia

from skbayesembed import BayesianSGNS
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.balance import balanced
from skbayesembed.sgns.counting import expected_negatives
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.documents import answers
from skbayesembed.sgns.documents.blocks import DocumentPairs
from skbayesembed.sgns.documents.deviations import spread_of
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts


def replicate(model, weights):
    """Balanced vectors at the mode of documents with these weights, from the mode of all."""
    source = model._sampling._build
    pairs = DocumentPairs(source.pairs.source, weights, source.pairs.seed)
    positive = pairs.total()
    negative = expected_negatives(positive, negative=1, ns_exponent=0.75)
    posterior = SGNSModel(
        pair_table(PairCounts(positive, negative)), source.prior.n_components, source.prior
    )
    start = posterior.pack({"rho": model.rho_, "alpha": model.alpha_})
    theta, _ = find_mode(posterior, start, max_iter=5000, tol=1e-6, warn=False)
    arrays = posterior.unpack(theta)
    return balanced([arrays["rho"], arrays["alpha"]])


def main():
    """Print ratios and correlations of standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=float, default=1e6)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--replicates", type=int, default=200)
    options = parser.parse_args()
    texts, _ = wikipedia(options.tokens)
    words, texts = vocabulary(texts, options.words)
    rng = np.random.default_rng(0)
    a, b = rng.integers(len(words), size=(2, 2000))
    a, b = a[a != b], b[a != b]
    model = BayesianSGNS(
        options.components, solver="map", min_count=1, max_iter=5000, random_state=0, n_jobs=1
    ).fit(texts)
    found, cpu = [], time.process_time()
    with OneBlasThread():
        for _ in range(options.replicates):
            weights = rng.multinomial(len(texts), np.full(len(texts), 1 / len(texts)))
            vectors = replicate(model, weights.astype(float))
            found.append([logits(vectors, a, b), cosines(vectors[0], a, b)])
    refits, cpu = time.process_time() - cpu, time.process_time()
    deviations = model._sampling.deviations
    ours = time.process_time() - cpu
    for i, (name, change) in enumerate(
        (("logits", answers.logit_change), ("cosines", answers.cosine_change))
    ):
        by_documents = spread_of(deviations, change(deviations, a, b)).sampling
        by_refits = np.std([f[i] for f in found], axis=0, ddof=1)
        print(
            f"{name:8} median ratio {np.median(by_documents / by_refits):.3f}, "
            f"rank correlation {spearmanr(by_documents, by_refits).statistic:.3f}"
        )
    print(f"CPU-seconds: {refits:.0f} of {options.replicates} refits, {ours:.1f} by documents")


if __name__ == "__main__":
    main()
