"""Do intervals of questions about lists of words hold on text, and tests over words?

Random halves of documents are fitted as in ``split_halves.py`` and asked the same random questions:
cosines of two lists of words, projections of a word on an axis, differences of two similarities,
effect sizes of association tests. Both halves come from the same source, so that 90 % intervals
(of their sampling part) of the difference of the halves should hold zero 90 times of 100.

Then lists of target words are dealt out at random, and tested: 5 % of the p-values should be below
.05. Last, the example of the guide: is *freedom* nearer to *god* than to *law*?

    SKBAYESEMBED_DATA=... python benchmarks/questions.py --row "State of the Union"
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import t as student
from split_halves import ROWS, fit, vocabulary

from skbayesembed.sgns.documents.answers import change_of
from skbayesembed.sgns.documents.deviations import spread_of

KINDS = ("lists", "projections", "differences", "effect sizes")


def asked(model, kind, words):
    """The answer to a question about 16 words."""
    w = list(words)
    if kind == "lists":
        return model.similarity(w[:5], w[5:10])
    if kind == "projections":
        return model.similarity(w[0], model.axis(w[1:4], w[4:7]))
    if kind == "differences":
        return model.contrast(model.similarity(w[0], w[1]), model.similarity(w[0], w[2]))
    return model.weat(w[:4], w[4:8], w[8:12], w[12:16])


def known(model, kind, words):
    """The mode's answer, its standard error by units, and degrees of freedom."""
    question, _ = asked(model, kind, words)._asked
    deviations = model._sampling.deviations
    x = question.draws(model._vectors(question.operands, question.invariant))
    spread = spread_of(deviations, change_of(deviations, question, x))
    return question.value(x)[0, 0], spread.sampling[0], spread.freedom[0]


def compared(halves, kind, words):
    """z of the difference of two halves, and whether its 90 % interval holds zero."""
    (x, a, m), (y, b, n) = (known(half, kind, words) for half in halves)
    total = a**2 + b**2
    freedom = total**2 / (a**4 / m + b**4 / n)
    z = (x - y) / np.sqrt(total)
    return z, abs(z) < student.ppf(0.95, freedom)


def halves_of(texts, units, words, split, options):
    """Fits of two random halves, and the words that both have in two units at least."""
    rng = np.random.default_rng(split)
    labels = np.unique(units)
    side = np.isin(units, rng.permutation(labels)[: labels.size // 2])
    models = []
    for chosen in (side, ~side):
        at = np.flatnonzero(chosen)
        part = [texts[i] for i in at]
        models.append(fit(part, units[at], words, False, options, {}))
    common = [
        w
        for w in words
        if all(w in m.vocabulary_ and m.n_units_[m.vocabulary_[w]] >= 3 for m in models)
    ]
    return models, np.array(common), rng


def main():
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", default="State of the Union", choices=list(ROWS))
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--precision", type=float, default=1.0)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--questions", type=int, default=250, help="of each kind, a split")
    parser.add_argument("--lists", type=int, default=400, help="shuffled lists that are tested")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    (source, *arguments), _ = ROWS[options.row]
    texts, units = source(*arguments)
    words, texts = vocabulary(texts, options.words)

    found = {kind: [] for kind in KINDS}
    for split in range(options.splits):
        models, common, rng = halves_of(texts, units, words, split, options)
        for kind in KINDS:
            for _ in range(options.questions):
                chosen = rng.choice(common, 16, replace=False)
                found[kind].append(compared(models, kind, chosen))
    print(f"{options.row}: coverage of 90 % intervals, sd of z")
    for kind, results in found.items():
        z, held = np.transpose(results)
        print(f"  {kind:13} {held.mean():.3f} {z.std():.2f}")

    model = fit(texts, units, words, False, options, {}).set_params(uncertainty="model")
    rng = np.random.default_rng(options.splits)
    p = []
    for _ in range(options.lists):
        chosen = rng.choice(model.words_, 32, replace=False).tolist()
        lists = chosen[:8], chosen[8:16], chosen[16:24], chosen[24:]
        p.append(model.weat(*lists).p_value)
    below = np.mean(np.array(p) < 0.05)
    print(f"shuffled lists: {100 * below:.1f} % of {len(p)} p-values below .05")


if __name__ == "__main__":
    main()
