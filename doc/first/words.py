"""BayesianSGNS on inaugural addresses, as the front page and the chapter show it."""

# ruff: noqa: E402, I001

# %% ask
from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_inaugural
from skbayesembed.plotting import NeighborsDisplay

addresses = fetch_inaugural()  # 59 texts, 1789 to 2021
model = BayesianSGNS(
    15, solver="map", max_features=800, stop_words="english", random_state=0
)
model.fit(addresses.data)

print(model.most_similar("freedom", 6))
NeighborsDisplay.from_estimator(model, "freedom", 6)
# %% compare
print(model.similarity_difference(("freedom", "god"), ("freedom", "law")))
print()
print(model.nearer("freedom", ["god", "law", ["people", "nation"]]))
# %% units
model.fit(addresses.data, units=addresses.president)
print(model.similarity("freedom", "god"))
# %% end
