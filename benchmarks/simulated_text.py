"""Do intervals hold on text whose truth is known?

    python benchmarks/simulated_text.py coverage --out RESULTS
    python benchmarks/simulated_text.py --out RESULTS --table

Corpora of `make_text`, each of a source of its own: documents with bursty words, topics that last,
overlapping windows. The truth is the vectors at the limit of infinite text from the source, by
pairs that are counted as the fit counts them. Fits of each corpus are asked for P(w, v), for
similarities, and for the difference between a word's similarities to two others:

- the mode with ``uncertainty="documents"``. Its *sampling part* is the interval that would be
  without the prior's share: the interval's own, narrowed by ``sd_sampling / sd`` on the scale where
  it is symmetric (logits, inverse hyperbolic tangents), about the mode;
- ``uncertainty="model"``, for which every pair is an observation of its own, by Laplace's
  approximation and by Gibbs sampling. The two agree unless ``prior_precision`` is small, where
  draws along directions that only the prior decides leave the Gaussian behind.

Pairs are told apart by how many of them are expected in a corpus. The bias is the mean deviation of
the mode from the truth in standard deviations of the sampling part, negative toward zero. What of
it is the prior's shows beside another ``--precision``.

Settings: "linear 5" and "uniform 10" are windows, "matrix" is a count matrix in which each token
counts once, "speakers" are units of four documents that share words and topics.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from parts import parser_of, run, table
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.utils import Bunch

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_text

WINDOWS = {
    "linear 5": {"window": 5},
    "uniform 10": {"window": 10, "window_weights": "uniform"},
    "matrix": {"window": None},
    "speakers": {"window": 5},
}
SPEAKER = 4  # documents of a speaker
CLASSES = {"100 and more": (100, np.inf), "10 to 100": (10, 100), "below 10": (0, 10)}
FITS = {
    "documents": {"solver": "map", "uncertainty": "documents"},
    "laplace": {"solver": "laplace", "uncertainty": "model", "anchors": None, "chains": 1},
    "gibbs": {
        "solver": "gibbs", "uncertainty": "model", "anchors": None,
        "chains": 1, "draws": 400, "warmup": 150,
    },
}  # fmt: skip
QUESTIONS = ("P(w, v)", "similarity", "difference")
MOST = 200  # pairs of a class and a corpus
# Seeds of corpora: those of studies in which settings were tried out are others.
FIRST_SEED = 20_000


def fit(options, simulation, counts, units, **more):
    """A fitted model of one corpus."""
    settings = WINDOWS[options.setting]
    data = simulation.texts
    if settings["window"] is None:
        settings, data = {}, counts
    model = BayesianSGNS(
        options.components,
        prior_precision=options.precision,
        min_count=1,
        random_state=0,
        **settings,
        **more,
    )
    return model.fit(data, units=units)


def count_matrix(simulation):
    """How often each word of the source occurs in each document."""
    place = {word: i for i, word in enumerate(simulation.words)}
    words = [place[token] for text in simulation.texts for token in text]
    documents = np.repeat(np.arange(len(simulation.texts)), [len(t) for t in simulation.texts])
    shape = len(simulation.texts), simulation.words.size
    return csr_array((np.ones(len(words)), (documents, words)), shape)


def choose_pairs(expected, seen, rng):
    """Pairs of different words that the corpus has, by how many are expected; (n, 2) each."""
    w, v = np.nonzero(np.triu(np.outer(seen, seen), 1))
    number, found = expected[w, v], {}
    for name, (low, high) in CLASSES.items():
        chosen = np.flatnonzero((number >= low) & (number < high))
        # sorted, so that pairs that follow each other mostly share a word
        chosen = np.sort(rng.permutation(chosen)[:MOST])
        if chosen.size > 2:
            found[name] = np.stack([w[chosen], v[chosen]], axis=1)
    return found


# Answers: means and intervals, (n,) and (n, 2), on scales without ends ----------------------------


def inverse_tangent(cosines):
    return np.arctanh(np.clip(cosines, 1e-9 - 1, 1 - 1e-9))


def log_odds(proba):
    return logit(np.clip(proba, 1e-12, 1 - 1e-12))


def ask(model, names, pairs):
    """Means, intervals and share of the sampling part, for each of the `QUESTIONS`."""
    pairs = [(names[w], names[v]) for w, v in pairs]
    proba = model.cooccurrence_proba(pairs)
    cosines = [model.similarity(*pair) for pair in pairs]
    first = [pairs.index(p) for p in pairs]
    other = first[1:] + first[:1]
    differences = [
        model.similarity_difference(pair, pairs[i]) for pair, i in zip(pairs, other, strict=True)
    ]
    found = []
    for answers, scale in (
        (proba, log_odds), (stacked(cosines), inverse_tangent), (stacked(differences), np.asarray)
    ):  # fmt: skip
        share = np.divide(answers.get("sd_sampling", answers.sd), answers.sd)
        found.append((scale(answers.mean), scale(answers.interval), share))
    return found


def stacked(answers):
    """Answers to one question each, as those to many."""
    names = [n for n in ("mean", "interval", "sd", "sd_sampling") if n in answers[0]]
    return Bunch(**{n: np.array([a[n] for a in answers]) for n in names})


def true_answers(simulation, pairs):
    """The truth on the scales of `ask`, (3, n)."""
    a, b = pairs.T
    logits = np.einsum("ij,ij->i", simulation.rho[a], simulation.alpha[b])
    units = simulation.rho / np.linalg.norm(simulation.rho, axis=1, keepdims=True)
    cosines = np.einsum("ij,ij->i", units[a], units[b])
    return logits, inverse_tangent(cosines), cosines - np.roll(cosines, -1)


def judge(answers, truth):
    """Coverage of the sampling part and of the whole, bias and spread of z, for one question."""
    mean, interval, share = answers
    middle, half = interval.mean(axis=1), np.diff(interval, axis=1)[:, 0] / 2
    error = mean - truth
    # as if the interval were a normal's: what z is divided by only scales bias and spread
    z = error / (half * share / 1.645)
    return {
        "sampling": float(np.mean(np.abs(error) <= half * share)),
        "whole": float(np.mean(np.abs(middle - truth) <= half)),
        "bias": float(np.mean(z * np.sign(truth))),
        "square": float(np.mean(z**2)),
    }


# Cells and table ---------------------------------------------------------------------------------


def coverage(options, item):
    """Figures of one corpus."""
    options.setting = item["setting"]
    settings, seed, documents = WINDOWS[options.setting], FIRST_SEED + item["corpus"], item["D"]
    speakers = documents // SPEAKER if options.setting == "speakers" else None
    simulation = make_text(
        documents,
        n_words=options.words,
        n_components=options.components,
        n_units=speakers,
        random_state=seed,
        **settings,
    )
    counts = count_matrix(simulation)
    seen = counts.sum(axis=0) > 0
    pairs = choose_pairs(documents * simulation.positive, seen, np.random.default_rng(seed))
    units = None if speakers is None else simulation.units
    names = simulation.words
    if settings["window"] is None:
        # names of the columns of a matrix
        names = [f"x{i}" for i in range(options.words)]
    found, times = [], [time.process_time()]
    for name in options.fits:
        with warnings.catch_warnings():
            # that the model's intervals are too narrow is what is measured here; and short chains
            warnings.simplefilter("ignore", UserWarning)
            model = fit(options, simulation, counts, units, **FITS[name])
            for kind, chosen in pairs.items():
                answers, truths = ask(model, names, chosen), true_answers(simulation, chosen)
                for question, *both in zip(QUESTIONS, answers, truths, strict=True):
                    figures = judge(*both)
                    found.append({"fit": name, "pairs": kind, "answer": question} | figures)
        times.append(time.process_time())
    return {"found": found, "seconds": np.diff(times).tolist()}


def items(part, options):
    return [
        {"setting": setting, "D": documents, "corpus": corpus}
        for setting in options.settings
        for documents in options.documents
        for corpus in range(options.corpora)
    ]


def percent(values):
    """Mean over corpora and its standard error, in per cent."""
    if len(values) < 2:
        return ""
    values = 100 * np.asarray(values)
    return f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def rows(results):
    """A row for each setting, number of documents, class of pairs and question."""
    cells = dict.fromkeys((r["item"]["setting"], r["item"]["D"]) for r in results)
    for setting, documents in cells:
        of_cell = [r["found"] for r in results if r["item"].items() >= cell(setting, documents)]
        for kind in CLASSES:
            for question in QUESTIONS:
                found = {name: select(of_cell, name, kind, question) for name in FITS}
                by = found["documents"]
                if len(by) > 1:
                    yield [
                        setting, f"{documents:,}", kind, question, len(by),
                        percent([x["sampling"] for x in by]),
                        *(percent([x["whole"] for x in found[name]]) for name in FITS),
                        f"{np.mean([x['bias'] for x in by]):+.2f}",
                        f"{np.sqrt(np.mean([x['square'] for x in by])):.2f}",
                    ]  # fmt: skip


def select(of_cell, name, kind, question):
    """Figures of all corpora of one fit, class of pairs and question."""
    wanted = {"fit": name, "pairs": kind, "answer": question}.items()
    return [figures for found in of_cell for figures in found if figures.items() >= wanted]


def cell(setting, documents):
    """What the items of a row have in common."""
    return {"setting": setting, "D": documents}.items()


def page(results):
    """The table."""
    head = ["counts", "documents", "pairs expected", "answer", "corpora", "sampling part", "whole"]
    return table(
        [*head, "model, Laplace", "model, Gibbs", "bias", "root mean square z"], rows(results)
    )


def main():
    """Measure or print."""
    parser = parser_of(__doc__, {"coverage": coverage})
    parser.add_argument("--settings", nargs="+", choices=WINDOWS, default=["linear 5"])
    parser.add_argument("--documents", nargs="+", type=int, default=[100, 300, 1000])
    parser.add_argument("--corpora", type=int, default=100)
    parser.add_argument("--fits", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--components", type=int, default=8)
    parser.add_argument(
        "--precision", type=lambda x: x if x == "auto" else float(x), default=1.0, help="or auto"
    )
    options = parser.parse_args()
    run(options, "simulated_text.jsonl", {"coverage": coverage}, items, page)


if __name__ == "__main__":
    main()
