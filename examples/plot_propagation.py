"""
Topic shares in a regression
============================

Regressions of votes, sales or grades on the topics of texts treat the shares of topics as known.
In fact they are estimates from the limited number of words in each text. Here outcomes are
simulated, so that the truth is known: the outcome is twice the share of one topic, plus noise.
Three regressions are compared:

- on the posterior means from ``transform``;
- on draws from ``sample_transform``, pooled by Rubin's rules;
- the same, with the slope corrected for error in variables.

The draws do not depend on the outcome, so pooling them is not multiple imputation. It is a
regression on a variable measured with error, and its slope shrinks. The page "Regressions with
documents" of the user guide has the results for 200 data sets.
"""

# %%
# Texts and outcomes
# ------------------
#
# There are three topics, and texts have ten words on average. The outcome depends on the true share
# of the first topic, which is not observed.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics

SLOPE, N_DRAWS, N_DATA_SETS = 2.0, 40, 30


def simulate(seed):
    """Texts, and an outcome for each."""
    data = make_topics(150, 200, 3, mean_length=10, alpha=0.5, separation=3.0, random_state=seed)
    noise = np.random.default_rng(seed).standard_normal(150)
    return data, SLOPE * data.theta[:, 0] + 0.5 * noise


def fit(data):
    """A fitted model, and which of its topics is the first true one."""
    model = GaussianLDA(
        3, embedding=data.vectors, normalize=None, min_count=1, doc_topic_prior=0.5, chains=1,
        draws=60, warmup=60, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        # one short chain, of which many are needed here
        warnings.simplefilter("ignore")
        model.fit(data.counts)
    proba = data.word_proba[0, [int(word[1:]) for word in model.words_]]
    cosines = model.components_ @ proba / np.linalg.norm(model.components_, axis=1)
    return model, int(cosines.argmax())


# %%
# Three regressions
# -----------------
#
# A draw of ``sample_transform`` takes one draw of the topics for all texts, and draws the shares of
# each text given these topics. The variance of a text's draws, divided by the variance of all
# draws, is the share of error in the variable that the regression uses.


def regress(x, y):
    """Slope and its variance, by ordinary least squares."""
    x = x - x.mean()
    slope = x @ y / (x @ x)
    rest = y - y.mean() - slope * x
    return slope, rest @ rest / (len(y) - 2) / (x @ x)


def three_ways(seed):
    """Slopes and standard errors, (3, 2)."""
    data, y = simulate(seed)
    model, topic = fit(data)
    means = model.transform(data.counts)[:, topic]
    draws = model.sample_transform(data.counts, N_DRAWS)[:, :, topic]
    slopes, variances = np.transpose([regress(x, y) for x in draws])
    pooled = slopes.mean(), variances.mean() + (1 + 1 / N_DRAWS) * slopes.var(ddof=1)
    reliability = 1 - draws.var(axis=0, ddof=1).mean() / draws.var(axis=1).mean()
    corrected = pooled[0] / reliability, pooled[1] / reliability**2
    found = np.array([regress(means, y), pooled, corrected])
    return np.column_stack([found[:, 0], np.sqrt(found[:, 1])])


NAMES = ["posterior means", "pooled draws", "pooled, corrected"]
found = np.array([three_ways(seed) for seed in range(N_DATA_SETS)])
reach = 1.655 * found[:, :, 1]  # the 95 % point of Student's t with 148 degrees of freedom
held = np.abs(found[:, :, 0] - SLOPE) < reach

print(f"{N_DATA_SETS} data sets of 150 texts of 10 words, slope {SLOPE:g}\n")
print(f"{'':24}  mean slope  mean s.e.  90 % intervals that cover")
for i, name in enumerate(NAMES):
    slope, error = found[:, i].mean(axis=0)
    print(f"{name:24}  {slope:10.2f}  {error:9.2f}  {held[:, i].mean():24.2f}")

# %%
# The intervals
# -------------
#
# Posterior means give correct results here because the model is correct: given the words, a share
# is its posterior mean plus an error unrelated to that mean. Pooled draws have wider intervals
# *and* are biased. Intervals that cover the true slope (the black line) are blue, and those that
# miss it are red.

figure, axes = plt.subplots(1, 3, figsize=(10, 4.5), sharex=True, sharey=True)
for i, (name, axis) in enumerate(zip(NAMES, axes, strict=True)):
    order = np.argsort(found[:, i, 0])
    color = np.where(held[order, i], "tab:blue", "tab:red")
    axis.hlines(
        np.arange(N_DATA_SETS), found[order, i, 0] - reach[order, i],
        found[order, i, 0] + reach[order, i], color=color,
    )  # fmt: skip
    axis.axvline(SLOPE, color="black", lw=1)
    axis.set(title=name, xlabel="slope", yticks=[])
axes[0].set_ylabel("data sets")
figure.legend(
    handles=[
        Line2D([], [], color="tab:blue", label="90 % interval covers the true slope"),
        Line2D([], [], color="tab:red", label="misses it"),
        Line2D([], [], color="black", lw=1, label="true slope"),
    ],
    loc="lower center", ncols=3, frameon=False,
)  # fmt: skip
figure.tight_layout(rect=(0, 0.06, 1, 1))
plt.show()
