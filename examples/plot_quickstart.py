"""
Nearest neighbors with intervals
================================

A list of a word's nearest neighbors usually has no error bars. Here the list comes from the
posterior of the embedding. Each neighbor has the posterior mean of its cosine, a 90 % interval,
and the probability of being among the ten nearest. The text is the Python language reference
that comes with CPython, so nothing is downloaded.
"""

# %%
# The text
# --------
# Each topic of ``help()`` is a document. Fifteen are held out, to compare the posterior with the
# usual point estimate on text that neither has seen.

import os
import sys
import time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import load_python_reference
from skbayesembed.plotting import NeighborsDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

documents = np.array(load_python_reference().data, dtype=object)
order = np.random.default_rng(0).permutation(len(documents))
train, test = documents[order[15:]], documents[order[:15]]

# %%
# The fit
# -------
# Two chains of the Gibbs sampler, and the mode of the same posterior. Cosines do not change when
# the embedding is rotated, so no context needs to be held fixed: ``anchors=None``.

options: dict[str, Any] = {
    "n_components": 10,
    "random_state": 0,
    "max_features": 700 if FAST else None,
}
length: dict[str, Any] = {"draws": 100, "warmup": 100} if FAST else {"draws": 400, "warmup": 200}

start = time.perf_counter()
posterior = BayesianSGNS(solver="gibbs", anchors=None, chains=2, n_jobs=2, **length, **options)
posterior.fit(train)
print(
    f"{len(posterior.words_)} words, {posterior.posterior_.n_chains} chains of "
    f"{posterior.posterior_.n_draws} draws in {time.perf_counter() - start:.0f} s; "
    f"largest R-hat {posterior.posterior_.attrs['max_rhat']:.3f}"
)
mode = BayesianSGNS(solver="map", max_iter=5000, **options).fit(train)

# %%
# Neighbors
# ---------

words = ["class", "float", "import"]
tables = {word: posterior.most_similar(word, n=10) for word in words}
for table in tables.values():
    print(f"\n{table}")

# %%
# Held-out text
# -------------
# The score is the mean log predictive probability per pair of words, under the same protocol for
# every model. Tossing a coin scores -0.693. Averaging over the posterior guards against the
# overconfidence of a single estimate.

print("\nheld-out log probability per pair")
print(f"  posterior  {posterior.score(test):.4f}")
print(f"  MAP        {mode.score(test):.4f}")

# %%
# The picture
# -----------
# Whether two intervals overlap does not settle the order of two neighbors, since their errors are
# related: ``nearer`` and ``contrast`` compare them. The column on the right gives the probability
# that a word is among the ten nearest.

for word in words:
    NeighborsDisplay.from_estimator(posterior, word)

if len(sys.argv) > 1:
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for axis, word in zip(axes, words, strict=True):
        NeighborsDisplay.from_estimator(posterior, word, ax=axis)
    figure.savefig(sys.argv[1], dpi=150)
    print(f"\nfigure written to {sys.argv[1]}")
