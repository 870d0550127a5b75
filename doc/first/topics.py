"""GaussianLDA on State of the Union addresses, as the front page and the chapter show it."""

# ruff: noqa: E402, I001

# %% ask
import pandas as pd

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import ForestDisplay, TopicWordsDisplay

addresses = fetch_state_of_the_union()
vectors = BayesianSGNS(30, solver="map", max_features=5000, random_state=0)
vectors.fit(addresses.data)

table = pd.DataFrame({"text": addresses.data, "year": addresses.year})
table["text"] = table["text"].str.split("\n")
table = table[table["year"] >= 1945].explode("text")  # a row a paragraph

model = GaussianLDA(
    6, embedding=vectors, likelihood_power=0.2, stop_words="english",
    min_count=20, chains=1, warmup=1000, draws=200, thin=10, random_state=0,
)
model.fit(table["text"])

print(model.topic_info(6))
decades = ((table[["year"]] - 1980) / 10).rename(columns={"year": "decade"})
effects = model.effects(
    table["text"], decades, units=table["year"], times=table["year"]
)
ForestDisplay.from_result(effects)
# %% words
TopicWordsDisplay.from_estimator(model, 5, by="density")
# %% documents
print(model.representative_documents(table["text"], 0, n=4))
# %% end
