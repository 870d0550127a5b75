"""
One similarity, five solvers
============================

How close are two words? Five solvers answer this for the same model of the same text. Two sample
the posterior, and two approximate it by Gaussians. The fifth, the MAP, gives a single number, shown
as a dot.
"""

# %%
# The text and the question
# -------------------------
# The most frequent words of the Python language reference. A cosine does not change when the
# embedding is rotated, so no context is held fixed: ``anchors=None``.

import os
import time
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import load_python_reference
from skbayesembed.plotting import SimilarityDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

documents = load_python_reference().data
pair = ("dictionary", "mapping")
options: dict[str, Any] = {
    "n_components": 5 if FAST else 10,
    "prior_precision": 10,
    "max_features": 140 if FAST else 160,
    "anchors": None,
    "random_state": 0,
    "n_jobs": 2,
}
short, long = ((50, 50), (100, 100)) if FAST else ((150, 250), (300, 1000))
solvers: dict[str, dict[str, Any]] = {
    "gibbs": {"warmup": long[0], "draws": long[1], "chains": 2},
    "hmc": {"warmup": short[0], "draws": short[1], "chains": 2},
    "vi": {"covariance": "full", "draws": 2000},
    "laplace": {"draws": 2000},
    "map": {},
}

# %%
# Five fits
# ---------
# A first round of tiny fits makes numba compile the kernels, so that the times are those of the
# solvers alone. ``"vi"`` and ``"laplace"`` have no chains: their draws are independent draws from
# the approximation.

tiny = options | {"max_features": 40, "n_components": 2, "warmup": 20, "draws": 20, "chains": 1}
fits, seconds = {}, {}
for solver, length in solvers.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chains of 20 draws have not mixed, as fit would say
        BayesianSGNS(solver=solver, **tiny).fit(documents)
    start = time.perf_counter()
    fits[solver] = BayesianSGNS(solver=solver, **options, **length).fit(documents)
    seconds[solver] = time.perf_counter() - start
    # posteriors are to be compared, and not the samples of text that they were learned from
    fits[solver].set_params(uncertainty="model")

answers = {solver: model.similarity(*pair) for solver, model in fits.items()}
print(f"cosine of {pair[0]!r} and {pair[1]!r}\n")
print("solver    mean     sd     90 % interval  seconds")
for solver, answer in answers.items():
    low, high = answer.interval
    print(
        f"{solver:8} {answer.mean:5.3f}  {answer.sd:5.3f}  [{low:6.3f}, {high:6.3f}]"
        f"  {seconds[solver]:7.1f}"
    )

# %%
# All pairs of words
# ------------------
# One pair proves little. Over all pairs of words, how far is a solver's mean from that of
# ``"gibbs"``, in posterior standard deviations, and how do the widths of its posteriors compare?
# The differences of ``"hmc"`` are Monte Carlo error.


def moments(model):
    """Means and standard deviations of the cosines of all pairs of words."""
    rho = model.posterior_.flat("rho")
    unit = rho / np.linalg.norm(rho, axis=-1, keepdims=True)
    mean = square = 0.0
    for draw in unit:
        cosine = (draw @ draw.T)[np.triu_indices(len(draw), 1)]
        mean, square = mean + cosine / len(unit), square + cosine**2 / len(unit)
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


means, sds = {}, {}
for solver, model in fits.items():
    means[solver], sds[solver] = moments(model)
print(f"\nall {means['gibbs'].size} pairs of words, beside 'gibbs'\n")
print("solver   difference of means (root mean square, sds)  ratio of sds (median)")
for solver in ("hmc", "vi", "laplace", "map"):
    away = np.sqrt(np.mean(((means[solver] - means["gibbs"]) / sds["gibbs"]) ** 2))
    print(f"{solver:8} {away:44.2f} {np.median(sds[solver] / sds['gibbs']):22.2f}")

# %%
# The pictures
# ------------
# The posteriors of the single cosine, and the standard deviations for all pairs.

SimilarityDisplay.from_answers(answers)

figure, right = plt.subplots(figsize=(5, 4), layout="constrained")
top = 1.1 * max(sds[s].max() for s in ("gibbs", "hmc", "vi", "laplace"))
right.plot([0, top], [0, top], color="0.7", lw=1)
for solver in ("hmc", "laplace", "vi"):
    right.plot(sds["gibbs"], sds[solver], ".", ms=1, alpha=0.3, label=solver, rasterized=True)
right.set(xlabel="sd of a cosine by gibbs", ylabel="by another solver")
right.legend(markerscale=8)
