"""What helps when the chains of a topic model do not mix?

    SKBAYESEMBED_DATA=... python benchmarks/topics_mixing.py gaussian dirichlet paragraphs

gaussian
    One chain of the default length each, from vectors of the same texts; printed is for how many
    topics the split R-hat of the share of the tokens is above 1.2, and the largest.
dirichlet
    Chains of the default length with ``word_model="dirichlet"``, of all documents of 20 Newsgroups
    and of 500 of them; how far the chains' means of a share differ is printed, too.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from topics import load

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.posterior.summary import ess
from skbayesembed.topics.mixing import shares_of
from skbayesembed.topics.recording import share_rhat

LONG = {"warmup": 1000, "draws": 200, "thin": 10}
LONGER = {"warmup": 2000, "thin": 50}


def newsgroups(n):
    """The first documents of 20 Newsgroups, and vectors of the words of all."""
    folder = Path(os.environ["SKBAYESEMBED_DATA"]) / "topics" / "20ng"
    counts = sparse.load_npz(folder / "dtm.npz").tocsr()
    words = np.array((folder / "vocab.txt").read_text(encoding="utf-8").split())
    model = BayesianSGNS(30, feature_names=words, solver="map", max_features=5000, random_state=0)
    rows = zip(counts.indptr[:n], counts.indptr[1 : n + 1], strict=True)
    parts = [np.repeat(counts.indices[a:b], counts.data[a:b].astype(int)) for a, b in rows]
    return [words[part].tolist() for part in parts], model.fit(counts)


def addresses():
    """State of the Union addresses, and vectors of their words."""
    texts = fetch_state_of_the_union().data
    return texts, BayesianSGNS(30, solver="map", max_features=5000, random_state=0).fit(texts)


def compared(texts, vectors, n_components, **options):
    """Print a row for each setting."""
    for name, more in (
        ("likelihood_power=0.2", {}),
        ("and init='words'", {"init": "words"}),
        ("and a longer run", LONG),
        ("and n_components=5", {"n_components": 5}),
        ("likelihood_power=0.5", {"likelihood_power": 0.5}),
    ):
        settings = {"n_components": n_components, "likelihood_power": 0.2, "chains": 1, "thin": 1}
        begun = time.process_time()
        model = GaussianLDA(embedding=vectors, random_state=0, **settings | options | more)
        rhat = share_rhat(model.fit(texts).posterior_)
        print(
            f"{name:24}{(rhat > 1.2).sum()} of {model.n_components} topics, up to "
            f"{np.nanmax(rhat):.2f}; {time.process_time() - begun:.0f} s of CPU",
            flush=True,
        )


def gaussian():
    """Settings of Gaussian topics, on two corpora."""
    print("State of the Union, whole addresses")
    compared(*addresses(), 8, stop_words="english", min_count=20)
    print("20 Newsgroups, 5,000 documents")
    compared(*newsgroups(5000), 10)


def dirichlet():
    """Topics with Dirichlet priors: seeds, number of chains, of documents and of topics."""
    everything, few = {"n_documents": None}, {"n_documents": 500}
    for seed in range(3):
        of_dirichlet(seed, **everything)
        of_dirichlet(seed, **few)
    of_dirichlet(0, chains=4, **everything)
    for k in (5, 10):
        of_dirichlet(0, n_components=k, **everything)
    of_dirichlet(0, thin=10, warmup=1000, **everything)


def of_dirichlet(seed, n_documents, n_components=20, **options):
    """Print a row for one fit."""
    counts, vectors, _, _ = load("20ng")
    rows = np.flatnonzero(counts.sum(axis=1) >= 2)
    rows = np.random.default_rng(20 + seed).permutation(rows)[:n_documents]
    seen = np.flatnonzero(counts[rows].sum(axis=0))
    begun = time.process_time()
    model = GaussianLDA(
        n_components, embedding=vectors[seen], word_model="dirichlet", min_count=1,
        random_state=seed, **{"thin": 1} | options,
    ).fit(counts[rows][:, seen])  # fmt: skip
    posterior, rhat = model.posterior_, share_rhat(model.posterior_)
    sizes = posterior["counts"].sum(axis=-1)
    means = (sizes / sizes.sum(axis=-1, keepdims=True)).mean(axis=1)
    apart = np.ptp(means, axis=0) / means.mean(axis=0)
    print(
        f"seed {seed}, {rows.size} documents, {n_components} topics {options}: above 1.2 "
        f"{(rhat > 1.2).sum()}, above 1.1 {(rhat > 1.1).sum()}, median "
        f"{np.median(rhat):.2f}, up to {rhat.max():.2f}; chains apart by {np.median(apart):.1%}, "
        f"up to {apart.max():.1%}; {sizes.shape[1]} draws; {time.process_time() - begun:.0f} s "
        "of CPU",
        flush=True,
    )


def rows_of(*path):
    """Rows of a table of texts."""
    csv.field_size_limit(2**24)
    place = Path(os.environ["SKBAYESEMBED_DATA"]).joinpath(*path)
    with gzip.open(place, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def paragraphs_of_addresses():
    """4,000 paragraphs of State of the Union addresses."""
    addresses = rows_of("state_of_the_union", "state_of_the_union.csv.gz")
    parts = [p for row in addresses for p in row["text"].split("\n") if len(p.split()) >= 20]
    chosen = np.sort(np.random.default_rng(0).permutation(len(parts))[:4000])
    return [parts[i] for i in chosen]


def paragraphs():
    """Short and long documents of the size that papers have: how far the default comes."""
    releases = [row["text"] for row in rows_of("congress", "senate_press_releases.csv.gz")]
    dirichlet, weak = {"word_model": "dirichlet"}, {"likelihood_power": 0.2}
    kinds = [dirichlet | {"thin": 1}, dirichlet, weak | {"thin": 1}, weak, {"thin": 1}, {}]
    for texts, more in ((paragraphs_of_addresses(), [dirichlet | LONGER]), (releases, [])):
        options = {"stop_words": "english", "random_state": 0}
        vectors = BayesianSGNS(30, solver="map", max_features=3000, **options).fit(texts)
        for kind in kinds + more:
            begun = time.process_time()
            model = GaussianLDA(15, embedding=vectors, n_jobs=2, **options, **kind)
            of_paragraphs(model.fit(texts).posterior_, kind, begun)


def of_paragraphs(posterior, kind, begun):
    """Print a row for one fit."""
    rhat, size = share_rhat(posterior), ess(shares_of(posterior["counts"]))
    n_draws = posterior.n_chains * posterior.n_draws
    densities = ", ".join(f"{lp:.0f}" for lp in posterior.stats["lp"].mean(axis=1))
    print(
        f"{kind}: thin {posterior.attrs['thin']}; above 1.2 {(rhat > 1.2).sum()}, median "
        f"{np.nanmedian(rhat):.2f}, up to {np.nanmax(rhat):.3g}; effective draws "
        f"{np.nanmin(size):.1f} and more, median {np.nanmedian(size):.0f}, of {n_draws}; "
        f"log densities {densities}; {time.process_time() - begun:.0f} s of CPU",
        flush=True,
    )


PARTS = {"gaussian": gaussian, "dirichlet": dirichlet, "paragraphs": paragraphs}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    warnings.simplefilter("ignore")
    for part in parser.parse_args().parts:
        PARTS[part]()
