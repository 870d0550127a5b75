"""DynamicSGNS on State of the Union addresses, as the front page and the chapter show it."""

# ruff: noqa: E402, I001

# %% ask
from skbayesembed import DynamicSGNS
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import DriftDisplay

addresses = fetch_state_of_the_union()  # 240 texts, 1790 to 2020
model = DynamicSGNS(
    10, bins=range(1790, 2031, 40), max_features=500, stop_words="english",
    random_state=0,
)
model.fit(addresses.data, times=addresses.year, units=addresses.president)

print(model.similarity_change("peace", "freedom", 1800, 2000))
DriftDisplay.from_estimator(model, "peace", "freedom", "war")
# %% neighbours
for year in (1800, 2000):
    print(model.most_similar("freedom", 5, period=year))
    print()
# %% changed
print(model.most_changed(8, start=1800, end=2000))
# %% verdicts
for word in ("peace", "economic"):
    print(model.drift(word, 1800, 2000))
    print()
# %% settings
from skbayesembed import over_settings

grid = [{"diffusion": [1e-4, 1e-2]}, {"n_components": [20]}]
print(over_settings(
    model, addresses.data, lambda fitted: fitted.similarity_change("peace", "freedom", 1800, 2000),
    grid, own="fitted", times=addresses.year, units=addresses.president,
))
# %% threshold
from sklearn.utils import Bunch


def moved(fitted):
    """Whether some words have drifted."""
    words = ["peace", "union", "energy"]
    found = [fitted.drift(word, 1800, 2000) for word in words]
    names = ("mean", "interval", "threshold", "prob_exceeds", "verdict")
    return Bunch(terms=words, prob=0.9, **{name: [one[name] for one in found] for name in names})


print(over_settings(
    model, addresses.data, moved, {"diffusion": [1e-4, 1e-2]}, own="fitted",
    times=addresses.year, units=addresses.president,
))
# %% scores
import numpy as np
from sklearn.base import clone

texts, years = np.array(addresses.data, dtype=object), np.asarray(addresses.year)
held_out = np.arange(len(texts)) % 5 == 0
for diffusion in (1e-4, 1e-3, 1e-2):
    other = clone(model).set_params(diffusion=diffusion)
    other.fit(texts[~held_out], times=years[~held_out])
    print(diffusion, round(other.score(texts[held_out], times=years[held_out]), 5))
# %% solvers
def both(fitted):
    """The same question, by units and by the model alone."""
    found = {
        called: fitted.set_params(uncertainty=sampled).similarity_change(
            "peace", "freedom", 1800, 2000
        )
        for called, sampled in (("units", "documents"), ("model", "model"))
    }
    return Bunch(
        terms=list(found),
        mean=[answer.mean for answer in found.values()],
        interval=[answer.interval for answer in found.values()],
        prob=0.9,
    )


smaller = DynamicSGNS(
    10, bins=range(1790, 2031, 40), max_features=160, stop_words="english",
    draws=200, warmup=200, chains=2, random_state=0,
)
grid = {"solver": ["vi", "map", "laplace", "gibbs"]}
table = over_settings(
    smaller, addresses.data, both, grid, times=addresses.year, units=addresses.president
)
print(table)
# %% end
