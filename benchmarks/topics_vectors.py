"""Do word vectors make better topics? 20 Newsgroups, beside plain LDA from the same start.

    SKBAYESEMBED_DATA=... python benchmarks/topics_vectors.py quality withheld --out results/
    python benchmarks/topics_vectors.py --out results/ --table

The data are those of `topics.py`, which has the measures, too. A seed is one of the split into
documents to fit (70 %), to tune the regression (15 %) and to report (15 %), of the start and of
draws.

quality
    Log probability of the second halves of report documents, accuracy of a logistic regression on
    shares of topics, NPMI and diversity of the ten first words of topics.
withheld
    A tenth of the words, at random, is taken from the documents to fit; log probability of second
    halves, and of the tokens of these words in them alone. Plain LDA smooths its counts by 1e-4 to
    1 tokens a word, whichever is best in the report itself.
nips
    40 topics of NIPS: score, PMI and NPMI of the ten first words of topics among the papers to fit,
    diversity, and the mean share of papers that have such a word; PMI and NPMI of the ten most
    relevant words, too.
rarer
    The same without words that are in more than 30 % of the papers.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from parts import parser_of, run, table
from topics import accuracy, load
from topics_lda import fit_from_documents, fit_sklearn, fit_tomotopy, shares, tomotopy

from skbayesembed import GaussianLDA
from skbayesembed.metrics import coherence
from skbayesembed.numeric.relevance import RANKS, first_words
from skbayesembed.topics.dirichlet.draws import OpenFoldIn
from skbayesembed.topics.draws import draws_of
from skbayesembed.topics.inputs import Reading, halves, reading
from skbayesembed.topics.predict import completion
from skbayesembed.topics.vectors import Normaliser

GAUSSIAN = "gibbs, gaussian, tau=0.2"
OURS = {
    "gibbs, dirichlet": {"word_model": "dirichlet"},
    "gibbs, dirichlet, no background": {"word_model": "dirichlet", "background": False},
    "vi, dirichlet": {"word_model": "dirichlet", "solver": "vi"},
    "vi, dirichlet, online": {
        "word_model": "dirichlet",
        "solver": "vi",
        "learning_method": "online",
    },
    "vi, dirichlet, stream": {"word_model": "dirichlet", "solver": "vi"},
    "vi, gaussian, tau=0.2": {"solver": "vi", "likelihood_power": 0.2, "init": "documents"},
    GAUSSIAN: {"likelihood_power": 0.2},
}
SAME_START, TOMOTOPY, SKLEARN = "LDA, same start", "LDA, tomotopy, 400 sweeps", "LDA, scikit-learn"
# Done with the first seed alone.
ONCE = ("gibbs, dirichlet, no background", "vi, gaussian, tau=0.2", TOMOTOPY, SKLEARN)
NAMES = (*OURS, SAME_START, TOMOTOPY, SKLEARN)
# Models of each part.
COMPARED = {
    "quality": tuple(n for n in NAMES if n != GAUSSIAN),
    "withheld": ("gibbs, dirichlet", SAME_START),
    "nips": ("gibbs, dirichlet", GAUSSIAN, SAME_START),
    "rarer": ("gibbs, dirichlet", GAUSSIAN, SAME_START),
}
# Documents of each call of partial_fit.
STREAM, CALL = "vi, dirichlet, stream", 1000
SMOOTHING = 0.01
SMOOTHINGS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
WITHHELD = 0.1
# Share of papers above which words are left out in "rarer".
COMMON = 0.3


def parts_of(seed, n_documents, data="20ng", common=1.0):
    """Counts and labels to fit, tune and report, and the vectors of the words seen in the first.

    Words in more than a share ``common`` of all documents are left out.
    """
    counts, vectors, labels, _ = load(data)
    kept = (counts > 0).sum(axis=0) <= common * counts.shape[0]
    counts, vectors = counts[:, kept], vectors[kept]
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    rows = np.random.default_rng(20 + seed).permutation(np.flatnonzero(lengths >= 2))
    rows = np.split(rows, [int(0.7 * rows.size), int(0.85 * rows.size)])
    rows[0] = rows[0][:n_documents]
    seen = np.flatnonzero(counts[rows[0]].sum(axis=0))
    return [(counts[part][:, seen], labels[part]) for part in rows], vectors[seen]


def fitted(name, counts, vectors, k, seed, options):
    """`GaussianLDA` with the settings of a name."""
    model = GaussianLDA(
        k, embedding=vectors, min_count=1, random_state=seed, chains=options.chains,
        draws=options.draws, warmup=options.warmup, **OURS[name],
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name != STREAM:
            return model.fit(counts)
        for first in range(0, counts.shape[0], CALL):
            model.partial_fit(counts[first : first + CALL], total_samples=counts.shape[0])
        return model


def peer(name, counts, vectors, k, seed):
    """Word probabilities (K, V) and the prior of documents (K,) of a plain LDA."""
    if name == SAME_START:
        tokens, alpha = same_start(counts, vectors, k, seed)
        return smoothed(tokens, SMOOTHING), alpha
    found = fit_tomotopy(counts, k, 400) if name == TOMOTOPY else fit_sklearn(counts, k, seed)
    return found[:2]


def same_start(counts, vectors, k, seed):
    """Expected tokens (K, V) of a plain LDA, and the prior of documents (K,).

    Its k-means is of the vectors that `GaussianLDA` has: those of words that occur, normalised.
    """
    seen = np.asarray(counts.sum(axis=0)).ravel() > 0
    unit = Normaliser.learn("unit", vectors[seen])(vectors)
    tokens, alpha, _ = fit_from_documents(counts, unit, k, seed)
    return tokens, alpha


def smoothed(tokens, amount):
    """Probabilities of words from tokens (K, V) of topics, with additive smoothing."""
    tokens = tokens + amount
    return tokens / tokens.sum(axis=1, keepdims=True)


def log_probability(proba, alpha, counts):
    """Mean log probability of second halves under a plain LDA, and that of each entry of them."""
    first, second = halves(counts)
    theta, entries = shares(first, proba, alpha), second.tocoo()
    logs = np.log(np.einsum("ik,ki->i", theta[entries.row], proba[:, entries.col]))
    return logs, entries.col, entries.data


def quality(options, item):
    """Part "quality": one model."""
    name, k, seed = item["name"], item["K"], item["seed"]
    parts, vectors = parts_of(seed, item["documents"])
    fit, _, report = (part for part, _ in parts)
    if name == TOMOTOPY and tomotopy is None:
        return {"error": "tomotopy is not installed"}
    cpu = time.process_time()
    if name in OURS:
        model = fitted(name, fit, vectors, k, seed, options)
        # what a stream has learned is made when it is looked at
        proba = model.components_
        cpu = time.process_time() - cpu
        score = model.score(report)
        theta = [model.transform(part) for part, _ in parts]
    else:
        proba, alpha = peer(name, fit, vectors, k, seed)
        cpu = time.process_time() - cpu
        logs, _, tokens = log_probability(proba, alpha, report)
        score = float(np.average(logs, weights=tokens))
        theta = [shares(part, proba, alpha) for part, _ in parts]
    found = {"cpu": cpu, "score": score} | of_words(proba, fit)
    return found | accuracy(theta, [y for _, y in parts])


def withheld(options, item):
    """Part "withheld": one model."""
    name, k, seed = item["name"], item["K"], item["seed"]
    parts, vectors = parts_of(seed, item["documents"])
    fit, report = parts[0][0], parts[2][0]
    rng = np.random.default_rng(seed)
    gone = rng.random(fit.shape[1]) < WITHHELD
    fit = fit.multiply(~gone).tocsr()
    fit.eliminate_zeros()
    if name in OURS:
        model = fitted(name, fit, vectors, k, seed, options)
        return {"score": model.score(report, new_words=True), "new": of_new(model, report, gone)}
    tokens, alpha = same_start(fit, vectors, k, seed)
    found = []
    for amount in SMOOTHINGS:
        logs, words, weights = log_probability(smoothed(tokens, amount), alpha, report)
        new = gone[words]
        found.append([
            float(np.average(logs, weights=weights)),
            float(np.average(logs[new], weights=weights[new])),
        ])  # fmt: skip
    best = np.max(found, axis=0)
    return {"score": best[0], "new": best[1], "grid": found}


def of_new(model, counts, gone):
    """Mean log probability of the tokens of withheld words in second halves."""
    whole = reading(model, counts)
    first, second = halves(whole.counts)
    second = second.multiply(whole.places < 0).tocsr()
    own = Reading(first, whole.vectors, whole.places)
    fold = OpenFoldIn(own, draws_of(model), model.word_proba)
    return completion(fold, second, fold.proba)


def nips(options, item, common=1.0):
    """Part "nips": one model."""
    name, k, seed = item["name"], item["K"], item["seed"]
    parts, vectors = parts_of(seed, None, "nips", common)
    fit, report = parts[0][0], parts[2][0]
    cpu = time.process_time()
    if name in OURS:
        model = fitted(name, fit, vectors, k, seed, options)
        proba = model.components_
        cpu = time.process_time() - cpu
        score, theta = model.score(report), model.transform(fit)
    else:
        proba, alpha = peer(name, fit, vectors, k, seed)
        cpu = time.process_time() - cpu
        logs, _, tokens = log_probability(proba, alpha, report)
        score, theta = float(np.average(logs, weights=tokens)), shares(fit, proba, alpha)
    found = {"cpu": cpu, "score": score} | of_words(proba, fit)
    sizes, papers = fit.sum(axis=1) @ theta, (fit > 0).sum(axis=0) / fit.shape[0]
    for rank in RANKS:
        top, after = first_words(proba, sizes, 10, rank), AFTER[rank]
        found |= {
            "npmi" + after: float(coherence(top, fit).mean()),
            "pmi" + after: float(coherence(top, fit, measure="pmi").mean()),
        }
        if rank == "probable":
            found["papers"] = float(papers[top].mean())
    return found


def rarer(options, item):
    """Part "rarer": one model."""
    return nips(options, item, COMMON)


def of_words(proba, counts):
    """NPMI and diversity of the ten first words of topics (K, V)."""
    top = np.argsort(-proba, axis=1)[:, :10]
    return {
        "npmi": float(coherence(top, counts).mean()),
        "diversity": np.unique(top).size / top.size,
    }


PARTS = {"quality": quality, "withheld": withheld, "nips": nips, "rarer": rarer}
AFTER = {"probable": "", "relevant": ", relevant"}
MEASURES = {
    "score": 3, "accuracy": 3, "npmi": 3, "diversity": 2, "new": 3, "pmi": 3, "papers": 2,
    "npmi, relevant": 3, "pmi, relevant": 3, "cpu": 0,
}  # fmt: skip


def items(part, options):
    """The items of a part, in the order in which they are to be done."""
    names, sizes = options.names, options.documents
    names = [name for name in names if name in COMPARED[part]]
    if part != "quality":
        sizes = [None]
    topics = [40] if part in ("nips", "rarer") else options.topics
    return [
        {"name": name, "K": k, "documents": n or None, "seed": seed}
        for n in sizes
        for k in topics
        for seed in range(options.seeds)
        for name in names
        if seed == 0 or name not in ONCE
    ]


def page(results):
    """Tables of all parts: means over seeds, and standard errors of differences to plain LDA."""
    text = ""
    for part in PARTS:
        found = [r for r in results if r["part"] == part and "error" not in r]
        cases = sorted({(r["item"]["documents"] or 10**9, r["item"]["K"]) for r in found})
        for n, k in reversed(cases):
            here = [r for r in found if (r["item"]["documents"] or 10**9, r["item"]["K"]) == (n, k)]
            title = f"{part}, K = {k}" + ("" if n == 10**9 else f", {n} documents")
            text += f"\n{title}\n\n" + rows_of(here)
    return text


def rows_of(found):
    """A table of the models."""
    by_name = {}
    for r in found:
        by_name.setdefault(r["item"]["name"], {})[r["item"]["seed"]] = r
    measures = [m for m in MEASURES if m in found[0]]
    rows = []
    for name, runs in by_name.items():
        row = [name, str(len(runs))]
        for m in measures:
            values = np.array([r[m] for r in runs.values()])
            text = f"{values.mean():.{MEASURES[m]}f}"
            base = by_name.get(SAME_START, {})
            both = sorted(set(runs) & set(base))
            if name != SAME_START and m != "cpu" and len(both) > 1:
                gap = np.array([runs[s][m] - base[s][m] for s in both])
                error = gap.std(ddof=1) / np.sqrt(gap.size)
                text += f" ({gap.mean():+.{MEASURES[m]}f} +- {error:.{MEASURES[m]}f})"
            row.append(text)
        rows.append(row)
    return table(["model", "seeds", *measures], rows)


def main():
    parser = parser_of(__doc__, PARTS)
    parser.add_argument("--topics", nargs="+", type=int, default=[20, 40])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--names", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--documents", nargs="+", type=int, default=[0, 500], help="0 is all")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=50)
    parser.add_argument("--chains", type=int, default=1)
    run(parser.parse_args(), "topics_vectors.jsonl", PARTS, items, page)


if __name__ == "__main__":
    main()
