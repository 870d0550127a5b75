"""
Do the intervals have the stated coverage?
==========================================

With simulated word pairs the truth is known, so the coverage of intervals can be checked: of all
90 % intervals for the probability that two words co-occur, nine in ten should contain the truth.
"""

# %%
# Data with a known truth
# -----------------------
# Target and context vectors are drawn from their prior, then pairs of words are drawn at random
# and labeled positive with probability ``sigma(rho_w . alpha_v)``.

import os

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.posterior.posterior import hdi_interval

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

n_words, n_components = (40, 3) if FAST else (100, 5)
simulated = make_sgns(n_words, n_components, 3_000 if FAST else 50_000, random_state=0)
truth = expit(simulated.rho @ simulated.alpha.T)

# %%
# The posterior, with and without anchors
# ---------------------------------------
# ``anchors="pivot"`` holds as many context vectors as there are components at their MAP values;
# ``anchors=None`` holds none. The prior precision is that of the simulation.

draws = 200 if FAST else 500
fits = {}
for anchors in ("pivot", None):
    model = BayesianSGNS(
        n_components,
        prior_precision=n_components,
        anchors=anchors,
        draws=draws,
        warmup=200,
        chains=2,
        n_jobs=2,
        random_state=1,
    )
    fits[anchors] = model.fit(simulated.pairs)

# %%
# Coverage at every level
# -----------------------
# Coverage is computed over all pairs of words, for intervals from 10 % to 95 %.

levels = np.array([0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
coverage = {}
for anchors, model in fits.items():
    posterior = model.posterior_
    rho, alpha = posterior.flat("rho"), posterior.flat("alpha")
    p = expit(np.einsum("swk,svk->swv", rho, alpha)).reshape(len(rho), -1)
    inside = []
    for level in levels:
        low, high = hdi_interval(p, prob=level, axis=0).T
        inside.append(np.mean((low <= truth.ravel()) & (truth.ravel() <= high)))
    coverage[anchors] = inside
    print(
        f"anchors={anchors!r}: 90 % intervals contain the truth for "
        f"{100 * inside[list(levels).index(0.9)]:.1f} % of {truth.size} pairs"
    )

# %%
# The picture
# -----------
# Left: the intervals of some pairs, ordered by true probability. Right: coverage against its
# nominal value; on the diagonal the two are equal.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
p = fits[None].cooccurrence_proba([(i, j) for i in range(8) for j in range(8)])
true_p = truth[:8, :8].ravel()
order = np.argsort(true_p)
rank = np.arange(order.size)
left.vlines(rank, *p.interval[order].T, color="0.75", lw=3, label="90 % interval")
left.plot(rank, p.mean[order], ".", color="C0", label="posterior mean")
left.plot(rank, true_p[order], color="C3", lw=1.5, label="truth")
left.set(xlabel="pair of words, by true probability", ylabel="P(co-occur)")
left.legend()
right.plot([0, 1], [0, 1], color="0.7", lw=1)
for (anchors, inside), marker in zip(coverage.items(), "os", strict=True):
    right.plot(levels, inside, marker, label=f"anchors={anchors!r}", fillstyle="none")
right.set(xlabel="nominal", ylabel="covered", xlim=(0, 1), ylim=(0, 1))
right.legend()
