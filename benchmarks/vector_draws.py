"""What the uncertainty of word vectors adds to intervals of senses.

Word vectors of a text by `BayesianSGNS`, then senses of a word of the same text by
``DiSCSenseModel(model="edisc")``: given the posterior means of the vectors, and averaged over joint
draws of them (``embedding_draws``), whose uncertainty is that of the sampling of documents.

    SKBAYESEMBED_DATA=... python benchmarks/vector_draws.py

prints for each text and word: snippets; the standard deviation of a word's vector relative to the
distance between two words; standard deviations of prevalences, averaged over periods, both ways;
the largest share of their variance that is between draws of the vectors; the mean and the most that
probabilities of senses of snippets change; CPU-seconds of both fits; R-hat, and the least effective
number of draws. ``--topics`` prints the same of shares of topics in documents by both word models
of `GaussianLDA`, whose standard deviations are those of ``features="mean_std"``.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.spatial.distance import pdist

from skbayesembed import BayesianSGNS, DiSCSenseModel, GaussianLDA
from skbayesembed.datasets import extract_snippets, fetch_inaugural, fetch_state_of_the_union

# text, word, most words, components, periods
CASES = {
    "State of the Union": (fetch_state_of_the_union, "interest", 1200, 15, 8),
    "inaugural": (fetch_inaugural, "power", 600, 10, 4),
}
PAIRS = 500


def fitted(vectors, snippets, n_periods, n_draws, options):
    """A model of senses, and what it cost."""
    begun = time.process_time()
    model = DiSCSenseModel(
        2, model="edisc", embedding=vectors, embedding_draws=n_draws, n_periods=n_periods,
        stop_words="english", min_count=3, draws=options.draws, random_state=options.seed, n_jobs=2,
    )  # fmt: skip
    model.fit(snippets.snippets, times=snippets.times)
    return model, time.process_time() - begun


def compare(name, options):
    """Print what one case gives."""
    fetch, word, n_words, n_components, n_periods = CASES[name]
    text = fetch()
    vectors = BayesianSGNS(n_components, max_features=n_words, random_state=options.seed)
    vectors.fit(text.data)
    snippets = extract_snippets(text.data, word, times=text.year)
    drawn = vectors.sample_vectors(range(PAIRS), options.vectors)
    blur = np.sqrt(drawn.var(axis=0).sum(axis=1).mean()) / np.median(pdist(vectors.rho_[:PAIRS]))
    plain, seconds = fitted(vectors, snippets, n_periods, None, options)
    known = plain.posterior_["prevalence"].std(axis=(0, 1))
    pooled, more = fitted(vectors, snippets, n_periods, options.vectors, options)
    wide = pooled.posterior_["prevalence"].std(axis=(0, 1))
    moved = [m.predict_proba(snippets.snippets, times=snippets.times) for m in (plain, pooled)]
    moved = np.abs(moved[0] - moved[1])
    least = [float(m.posterior_.ess("prevalence")["prevalence"].min()) for m in (plain, pooled)]
    print(
        f"{name}, {word!r}: {len(snippets.snippets)} snippets, vectors' sd {blur:.2f} of the "
        f"distance between words; sd of prevalences {known.mean():.4f} -> {wide.mean():.4f} "
        f"(x {np.mean(wide / known):.3f}), between draws at most "
        f"{pooled.posterior_.attrs['embedding_share']:.3f}; probabilities of "
        f"senses move {moved.mean():.4f}, at most {moved.max():.3f}; {seconds:.1f} and {more:.1f} "
        f"CPU-s; R-hat {plain.posterior_.attrs['max_rhat']:.3f}, "
        f"{pooled.posterior_.attrs['max_rhat']:.3f}; ESS {least[0]:.0f}, {least[1]:.0f}",
        flush=True,
    )


def compare_topics(name, word_model, options):
    """Print what it adds to the shares of topics in the documents of a text."""
    fetch, _, n_words, n_components, _ = CASES[name]
    text = fetch()
    vectors = BayesianSGNS(n_components, max_features=n_words, random_state=options.seed)
    vectors.fit(text.data)
    found = []
    for n_draws in (None, options.vectors):
        begun = time.process_time()
        model = GaussianLDA(
            10, embedding=vectors, embedding_draws=n_draws, word_model=word_model, draws=100,
            likelihood_power=0.5 if word_model == "gaussian" else 1.0, features="mean_std",
            stop_words="english", random_state=options.seed, n_jobs=2,
        ).fit(text.data)  # fmt: skip
        attrs = model.posterior_.attrs
        found.append((model.transform(text.data), attrs, time.process_time() - begun))
    (plain, a, seconds), (pooled, b, more) = found
    k = plain.shape[1] // 2
    print(
        f"{name}, topics ({word_model}): sd of shares {plain[:, k:].mean():.4f} -> "
        f"{pooled[:, k:].mean():.4f} (x {np.mean(pooled[:, k:] / plain[:, k:]):.3f}), sizes of "
        f"topics between draws at most {b['embedding_share']:.3f}; shares move "
        f"{np.abs(plain - pooled)[:, :k].mean():.4f}; {seconds:.1f} and {more:.1f} CPU-s; R-hat "
        f"{a['max_rhat']:.3f}, {b['max_rhat']:.3f}",
        flush=True,
    )


def main():
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--vectors", type=int, default=50, help="draws of the vectors")
    parser.add_argument("--topics", action="store_true")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.cases:
        if options.topics:
            for word_model in ("gaussian", "dirichlet"):
                compare_topics(name, word_model, options)
        else:
            compare(name, options)


if __name__ == "__main__":
    main()
