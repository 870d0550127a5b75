"""How much of a classifier's accuracy is the authors', whom plain folds have on both sides?

    SKBAYESEMBED_DATA=... python benchmarks/grouped_folds.py

The party of a senator from a press release (independents count as Democrats), by TF-IDF and
logistic regression, with folds of press releases and with folds of senators.
"""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

REPUBLICANS = """Alexander Allard Allen Barrasso Bennett Bond Brownback Bunning Burns Burr Chafee
Chambliss Coburn Cochran Coleman Collins Corker Cornyn Craig Crapo Demint Dewine Dole Domenici
Ensign Enzi Frist Graham Grassley Gregg Hagel Hatch Hutchison Inhofe Isakson Kyl Lott Lugar
Martinez McCain McConnell Murkowski Roberts Santorum Sessions Shelby Smith Snowe Specter Stevens
Sununu Talent Thomas Thune Vitter Voinovich Warner""".split()


if __name__ == "__main__":
    csv.field_size_limit(2**24)
    place = Path(os.environ["SKBAYESEMBED_DATA"], "congress", "senate_press_releases.csv.gz")
    with gzip.open(place, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    texts = np.array([row["text"] for row in rows], dtype=object)
    senators = np.array([row["senator"] for row in rows])
    republican = np.isin(senators, REPUBLICANS)
    words = TfidfVectorizer(stop_words="english", min_df=5)
    models = {
        "TF-IDF": make_pipeline(words, LogisticRegression(max_iter=1000)),
        "the larger party": DummyClassifier(),
    }
    for name, model in models.items():
        plain = cross_val_score(model, texts, republican, cv=3)
        apart = cross_val_score(
            model, texts, republican, groups=senators, cv=StratifiedGroupKFold(3)
        )
        print(f"{name}: {plain.mean():.2f} by press releases, {apart.mean():.2f} by senators")
