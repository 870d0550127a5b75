"""Why no model finds the labelled senses of *harmonia*: modes, powers, works, labels.

    SKBAYESEMBED_DATA=... python benchmarks/senses_harmonia.py given about settings --out results/
    SKBAYESEMBED_DATA=... python benchmarks/senses_harmonia.py powers known --out results/
    python benchmarks/senses_harmonia.py --out results/ --table

*given*: chains that know all labels, and where they go when they are told none; what labels of some
works tell of the senses in others. *about*: how much the senses of the heaviest mode tell of
labels, authors and genres. *settings*: the heaviest mode of 12 starts, by the power of the
likelihood, with works as units and without, three senses and four. *powers*: the power that
predicts best. *known*: the heaviest mode where the labels of some snippets are given. Scores of
*given* and *settings* are over all labelled snippets, those of *known* over the ones whose labels
were not given.
"""

from __future__ import annotations

import csv
import os
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from parts import parser_of, run, table
from senses import brier, load, scored_labels
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import GroupKFold

from skbayesembed import DiSCSenseModel, spine
from skbayesembed.inference.mode_mass import Walker, mean_mass
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.senses import inputs
from skbayesembed.senses.choice import choose
from skbayesembed.senses.mode import Mode, annealed, explore, weigh
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import prior_of
from skbayesembed.senses.solvers import ROOM
from skbayesembed.senses.starts import find_modes

NAME, MODELS = "harmonia", (("disc", 0), ("edisc", 50), ("edisc", 100))
POWERS, SEEDS, KNOWN = (1.0, 0.7, 0.5, 0.3, 0.2), (0, 1, 2), (50, 100, 200)
_STARTS, _FOLDS = 12, 5


def problem(item):
    """Snippets, number of senses, prior; the labels that scores are taken over."""
    name = item.get("set", NAME)
    counts, given = load(name)
    parameters = {"model": item["model"]}
    if item["dims"]:
        path = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "senses" / name
        parameters["embedding"] = np.load(path / f"vectors_{item['dims']}.npy")
    power, works = item.get("power", 1.0), item.get("works", False)
    model = DiSCSenseModel(item.get("senses", 3), likelihood_power=power, **parameters)
    units = given["units"] if works else None
    training = inputs.training_data(model, counts, None, given["times"], given["genres"], units)
    labels = given["senses"] if name == NAME else scored_labels(counts, given)
    return (training.data, model.n_senses, prior_of(model, works)), labels


def labelled(data, labels):
    """Snippets with these labels."""
    return replace(data, labels=np.asarray(labels, dtype=np.int64))


def score(proba, labels):
    """Brier score where each label is given to a sense, or to as many as suit it best."""
    n_labels = labels.max() + 1
    if proba.shape[1] == n_labels:
        return brier(proba, labels)
    known, best = labels >= 0, np.inf
    truth = np.eye(n_labels)[labels[known]]
    for of in product(range(n_labels), repeat=proba.shape[1]):
        if len(set(of)) == n_labels:
            joined = proba[known] @ np.eye(n_labels)[list(of)]
            best = min(best, ((joined - truth) ** 2).sum(axis=1).mean())
    return float(best)


def log_masses(mode, problem, rng):
    """Log mass of an explored mode, by one run down and one up."""
    return mean_mass([weigh(mode, *problem, rng, up) for up in (False, True)])


def given(options, item):
    """From the labels: likelihoods, where chains go without them, and what works left out get."""
    of, labels = problem(item)
    data, n_senses, prior = of
    rng, free = np.random.default_rng(1), SenseModel(*of)
    with OneBlasThread():
        known = labelled(data, labels)
        told = explore(annealed(known, n_senses, prior, rng), known, n_senses, prior, rng)
        sums = [free.sums(arrays) for arrays in told.states]
        found = {
            "of_labels": float(np.mean([s.value for s in sums])),
            "brier_of_labels": brier(np.mean([s.weights for s in sums], axis=0).T, labels),
        }
        free.inform(told.means, told.information)
        walker = Walker(free, rng, free.pack(told.arrays))
        for n in (10, 390):
            for _ in range(n):
                walker.move()
            arrays = free.unpack(walker.state.theta)
            found[f"brier_after_{n}"] = brier(free.sense_proba(arrays), labels)
        mode = explore(Mode(arrays, free.sense_proba(arrays).T, 0), *of, rng)
        first = find_modes(*of, np.random.SeedSequence(0), n_starts=_STARTS, n_jobs=1)[0]
        for which, one in (("there", mode), ("first", first)):
            mass = log_masses(one, of, rng)
            found |= {
                f"mass_{which}": mass.value, f"error_{which}": mass.error,
                f"brier_{which}": brier(one.weights.T, labels),
                f"likelihood_{which}": one.log_likelihood,
            }  # fmt: skip
        found["left_out"] = _left_out(of, labels)
    return found


def _left_out(of, labels):
    """Brier score of works left out in folds, where the senses of all others are known."""
    (data, n_senses, prior), (_, about) = of, load(NAME)
    proba, full = np.zeros((labels.size, n_senses)), SenseModel(*of)
    folds = GroupKFold(_FOLDS, shuffle=True, random_state=0)
    rng = np.random.default_rng(0)
    for there, out in folds.split(labels, groups=about["units"]):
        known = labelled(data.at(there), labels[there])
        mode = explore(annealed(known, n_senses, prior, rng), known, n_senses, prior, rng)
        proba[out] = np.mean([full.sense_proba(arrays)[out] for arrays in mode.states], axis=0)
    truth = np.eye(n_senses)[labels]
    return float(((proba - truth) ** 2).sum(axis=1).mean())


def about(options, item):
    """Normalised mutual information of the heaviest mode's senses and what is known of snippets."""
    of, labels = problem(item)
    mode = find_modes(*of, np.random.SeedSequence(0), n_starts=_STARTS, n_jobs=1)[0]
    path = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "senses" / NAME / "snippets.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    senses = mode.weights.argmax(axis=0)
    given = {name: [row[name] for row in rows] for name in ("author", "source_genre")}
    given["label"] = labels
    return {name: float(normalized_mutual_info_score(x, senses)) for name, x in given.items()}


def powers(options, item):
    """The power that ``likelihood_power="auto"`` takes, and scores of all."""
    name = item.get("set", NAME)
    counts, given = load(name)
    (*_, prior), _ = problem(item)
    n_senses = item.get("senses", 3)
    model = DiSCSenseModel(n_senses, model=item["model"], likelihood_power="auto", random_state=0)
    if item["dims"]:
        path = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "senses" / name
        model.set_params(embedding=np.load(path / f"vectors_{item['dims']}.npy"))
    units = given["units"] if item["works"] else None
    training = inputs.training_data(model, counts, None, given["times"], given["genres"], units)
    found = choose(model, training, prior, spine.seeds_of(model, ROOM)["choice"])
    return {"power": found.power, "scores": found.scores, "unrejected": found.unrejected}


def settings(options, item):
    """The heaviest mode of some starts."""
    of, labels = problem(item)
    begun = time.process_time()
    seeds = np.random.SeedSequence(item["seed"])
    modes = find_modes(*of, seeds, n_starts=_STARTS, n_jobs=1)
    return {
        "cpu": time.process_time() - begun, "brier": score(modes[0].weights.T, labels),
        "largest": float(modes[0].weights.mean(axis=1).max()), "n_modes": len(modes),
    }  # fmt: skip


def known(options, item):
    """The heaviest mode where the labels of some snippets, drawn by chance, are given."""
    (data, *of), labels = problem(item)
    told = np.full_like(labels, -1)
    chosen = np.random.default_rng(item["seed"]).permutation(labels.size)[: item["known"]]
    told[chosen] = labels[chosen]
    seeds = np.random.SeedSequence(item["seed"])
    mode = find_modes(labelled(data, told), *of, seeds, n_starts=_STARTS // 2, n_jobs=1)[0]
    rest, shares = told < 0, np.bincount(labels[chosen], minlength=3) / chosen.size
    truth = np.eye(3)[labels[rest]]
    return {
        "brier": float(((mode.weights.T[rest] - truth) ** 2).sum(axis=1).mean()),
        "of_shares": float(((shares - truth) ** 2).sum(axis=1).mean()),
    }


def items(part, options):
    """Items of a part."""
    models = [{"model": model, "dims": dims} for model, dims in MODELS]
    if part in ("given", "about"):
        return models
    if part == "powers":
        return [m | {"works": works} for works in (False, True) for m in models]
    if part == "known":
        return [m | {"known": n, "seed": s} for s in SEEDS for n in KNOWN for m in models]
    three = [
        m | {"senses": 3, "works": works, "power": power, "seed": seed}
        for seed in SEEDS for works in (False, True) for power in POWERS for m in models
    ]  # fmt: skip
    four = {"senses": 4, "works": False, "power": 1.0}
    return [m | four | {"seed": seed} for seed in SEEDS for m in models] + three


def label_of(item):
    """A model and the dimension of its vectors."""
    return item["model"] + (f", M = {item['dims']}" if item["dims"] else "")


def spread(results, **wanted):
    """Scores of the seeds, for each model in turn: least and largest."""
    out = []
    for model, dims in MODELS:
        wanted |= {"model": model, "dims": dims}
        found = [r["brier"] for r in results if wanted.items() <= r["item"].items()]
        ends = sorted({f"{min(found):.2f}", f"{max(found):.2f}"}) if found else ["-"]
        out.append(" to ".join(ends) + (f" ({len(found)})" if 0 < len(found) < len(SEEDS) else ""))
    return out


def page(results):
    """Tables of all parts."""
    by_part = {part: [r for r in results if r["part"] == part] for part in PARTS}
    head = (
        "model", "log likelihood at the labels", "of the heaviest mode", "Brier at the labels",
        "10 moves on", "of the heaviest mode", "works left out, all others labelled",
    )  # fmt: skip
    rows = [
        [label_of(r["item"]), f"{r['of_labels']:.0f}", f"{r['likelihood_first']:.0f}",
         *(f"{r[n]:.2f}" for n in ("brier_of_labels", "brier_after_10", "brier_first", "left_out"))]
        for r in by_part["given"]
    ]  # fmt: skip
    text = table(head, rows)
    names = "label", "author", "source_genre"
    rows = [[label_of(r["item"]), *(f"{r[n]:.2f}" for n in names)] for r in by_part["about"]]
    text += "\n" + table(("model", *names), rows)
    rows = [
        [label_of(r["item"]), "yes" if r["item"]["works"] else "no", f"{r['power']:g}",
         f"{max(r['scores'].values()):.2f}"]
        for r in by_part["powers"]
    ]  # fmt: skip
    text += "\n" + table(("model", "works", "power", "log predictive of a snippet"), rows)
    models = [label_of({"model": model, "dims": dims}) for model, dims in MODELS]
    rows = []
    for senses, works, power in [
        *product((3,), (False, True), POWERS), (4, False, 1.0)
    ]:  # fmt: skip
        wanted = {"senses": senses, "works": works, "power": power}
        found = spread(by_part["settings"], **wanted)
        rows.append([senses, "yes" if works else "no", f"{power:g}", *found])
    text += "\n" + table(("senses", "works as units", "power", *models), rows)
    rows = [[n, *spread(by_part["known"], known=n)] for n in KNOWN]
    return text + "\n" + table(("labels given", *models), rows)


PARTS = {
    "given": given, "about": about, "settings": settings, "powers": powers, "known": known,
}  # fmt: skip


def main():
    parser = parser_of(__doc__, PARTS)
    run(parser.parse_args(), "senses_harmonia.jsonl", PARTS, items, page)


if __name__ == "__main__":
    main()
