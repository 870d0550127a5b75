"""GaussianLDA on State of the Union addresses, as the front page and the chapter show it."""

# ruff: noqa: E402, I001

# %% ask
from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import TopicWordsDisplay

addresses = fetch_state_of_the_union()
vectors = BayesianSGNS(30, solver="map", max_features=5000, random_state=0).fit(addresses.data)
model = GaussianLDA(
    8,
    embedding=vectors,
    likelihood_power=0.1,
    stop_words="english",
    min_count=50,
    warmup=300,
    draws=200,
    chains=2,
    random_state=0,
)
model.fit(addresses.data)

print(model.topic_info(6))
TopicWordsDisplay.from_estimator(model, 6, topics=[0, 1, 2, 3])

# %% documents
print(model.representative_documents(addresses.data, 0, n=4))

# %% years
effects = model.topic_effects(addresses.data, (addresses.year - 1900) / 100)
print(effects)
# %% end
