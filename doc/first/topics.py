"""GaussianLDA on State of the Union addresses, as the front page and the chapter show it."""

# ruff: noqa: E402, I001

# %% ask
import pandas as pd

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import EffectsDisplay

addresses = fetch_state_of_the_union()
vectors = BayesianSGNS(30, solver="map", max_features=5000, random_state=0)
vectors.fit(addresses.data)

table = pd.DataFrame({"text": addresses.data, "year": addresses.year})
table["text"] = table["text"].str.split("\n")
table = table[table["year"] >= 1945].explode("text")  # one row per paragraph

model = GaussianLDA(
    8, embedding=vectors, word_model="dirichlet", stop_words="english",
    min_count=20, chains=2, warmup=4000, draws=200, thin=50, random_state=0,
)
model.fit(table["text"])
print(model.topic_info(6))

model.name_topics([  # once their words and documents have been read
    "common words", "legislation", "budget", "health and schools",
    "energy and land", "world", "address", "defense",
])
decades = ((table[["year"]] - 1980) / 10).rename(columns={"year": "decade"})
effects = model.effects(
    table["text"], decades, units=table["year"], times=table["year"]
)
print(effects)
EffectsDisplay.from_result(effects)
# %% documents
print(model.representative_documents(table["text"], "defense", n=4))
# %% words
from skbayesembed.plotting import TopicWordsDisplay

TopicWordsDisplay.from_estimator(model, 5, rank="relevant")
# %% sentence
print(effects.sentences["defense", "decade"])
# %% chains
report = model.report()
for item in ("largest R-hat", "smallest effective sample size"):
    print(item, "-", report.find(item))
# %% end
