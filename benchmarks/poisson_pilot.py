"""Is a Poisson likelihood worth an option? Its intervals and similarities beside the logistic one.

The logistic likelihood of the package compares positive pairs with expected negative ones, which
nobody saw. A Poisson likelihood takes the same expectations as an offset instead: positive pairs
n+ have the rate n- exp(eta), eta = rho_w . alpha_v and n- = negative * r_w P'_v, with

    log likelihood    sum n+ eta - n- exp(eta),
    influence of d    sum_wv [n_dwv - d(n-_wv) exp(eta_wv)] grad(eta_wv),
    slope, residual   n- exp(eta) and n+ - n- exp(eta),

where the first order change d(n-) that document d makes is that of `halves_by_hand`. The prior is
the same, and eta estimates log(n+ / n-) under both.

    SKBAYESEMBED_DATA=... python benchmarks/poisson_pilot.py check halves similarity

- ``check``: influences and Hessian beside finite differences of the gradient, counted anew.
- ``halves``: as `halves_by_hand`, with the width of intervals at equal honesty: the median standard
  error, times the standard deviation of z, over the spread of true answers (the square root of the
  covariance of the two halves' answers over pairs). ``gain`` is the log likelihood of the other
  half above that of zero vectors, in nats a positive pair, by which to choose a precision.
- ``similarity``: Spearman correlations of people's scores with cosines of balanced targets.

``--negative`` changes both: with many negative pairs the logistic likelihood comes near the other.
"""

from __future__ import annotations

import argparse
import sys
import time

import halves_by_hand
import numpy as np
from halves_by_hand import (
    EXPONENT,
    Half,
    answers,
    articles,
    balanced_targets,
    derivatives,
    document_table,
    documents_of,
)
from scipy import sparse
from scipy.stats import spearmanr
from scipy.stats import t as student
from similarity import data_folder, read_sets

from skbayesembed.corpus.text import build_corpus, restrict
from skbayesembed.inference.laplace import apply_blocks, newton_mode, whitening
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.counting import expected_negatives, window_pairs
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.laplace.curvature import gaussian_at
from skbayesembed.sgns.laplace.hessian import Hessian
from skbayesembed.sgns.laplace.orbits import canonical_frame
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts

KIND = "linear 5"
# Rows of rates at a time, few enough for the cache.
ROWS = 128
# Sets of similarities of which a few thousand words hold many pairs; those with fewer are left out.
SETS, LEAST = ("ws353_similarity", "ws353_relatedness", "simlex999", "mturk287"), 10
# Samples of the pairs with replacement, for the error of a difference.
RESAMPLES = 1000


# The likelihood ----------------------------------------------------------------------------------


def poisson_terms(model, rho, alpha, rows):
    """Log likelihood, slopes and residuals of pairs of some rows."""
    n, kappa = model.pairs.n[0][rows], model.pairs.kappa[0][rows]
    positive, eta = kappa + 0.5 * n, rho[rows] @ alpha.T
    rate = (0.5 * n - kappa) * np.exp(eta)
    return float(np.vdot(positive, eta) - rate.sum()), rate, positive - rate


class PoissonModel(SGNSModel):
    """The posterior of the same parameters under the Poisson likelihood, of a dense table."""

    # that of the logistic likelihood would be wrong
    surface = None

    def logp_and_grad(self, theta, out, tau=None):
        vectors = np.stack(list(self.unpack(theta).values()))
        gradient, logp = np.zeros_like(vectors), 0.0
        # a trial step of L-BFGS may be far too long; it is then refused
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, self.n_words, ROWS):
                rows = slice(start, start + ROWS)
                value, _, residual = poisson_terms(self, *vectors, rows)
                logp += value
                gradient[0, rows] = residual @ vectors[1]
                gradient[1] += residual.T @ vectors[0, rows]
        for side in (0, 1):
            logp += self.prior.add_gradient(side, vectors[side], gradient[side], tau)
        out[:] = gradient.ravel()
        return logp


class PoissonHessian(Hessian):
    """Minus the Hessian of a `PoissonModel`, observed."""

    def _tabulate(self):
        _, slope, residual = poisson_terms(self.model, *self.x, slice(None))
        self._slope, self._residual = [slope], [residual]


class PoissonHalf(Half):
    """The mode of some documents under the Poisson likelihood, and deviations with them."""

    def __init__(self, table, n_words, n_components, precision):
        self.table, self.n_words = table, n_words
        self.model = posterior(
            PoissonModel, self.weighted(np.ones(table.shape[0])), n_components, precision
        )
        theta, _ = search(self.model, max_iter=5000, tol=1e-8)
        found = newton(self.model, np.stack(list(self.model.unpack(theta).values())))
        self.vectors, _, self.orbit, _ = canonical_frame(self.model, found)
        self.gaussian = gaussian_at(PoissonHessian(self.model, self.vectors), "krylov")

    def influences(self):
        """The influence of each document on the gradient, (n_documents, 2, n_words, K)."""
        rho, alpha = self.vectors
        n, ratio = self.table.shape[0], np.exp(rho @ alpha.T)
        total = self.weighted(np.ones(n))
        rows, columns = total.sum(axis=1), total.sum(axis=0)
        noise = columns**EXPONENT / np.sum(columns**EXPONENT)
        out = []
        for one in np.eye(n):
            counts = self.weighted(one)
            share = np.divide(counts.sum(axis=0), columns, where=columns > 0, out=0 * columns)
            change = EXPONENT * noise * (share - noise @ share)
            negative = np.outer(counts.sum(axis=1), noise) + np.outer(rows, change)
            residual = counts - halves_by_hand.NEGATIVE * negative * ratio
            out.append(np.stack([residual @ alpha, residual.T @ rho]))
        return np.array(out)


LIKELIHOODS = {"logistic": (SGNSModel, Half), "Poisson": (PoissonModel, PoissonHalf)}


def posterior(kind, positive, n_components, precision):
    """The posterior of positive pairs and the negative ones that are expected with them."""
    positive = sparse.csr_array(positive)
    negative = expected_negatives(positive, negative=halves_by_hand.NEGATIVE, ns_exponent=EXPONENT)
    return kind(pair_table(PairCounts(positive, negative)), n_components, precision)


def search(model, **options):
    """The mode by L-BFGS from a random start of small logits, flat, and facts."""
    start = model.pack(model.start(np.random.default_rng(0)))
    return find_mode(model, start, warn=False, **options)


def newton(model, vectors):
    """The mode by Newton's method with conjugate gradients, from nearby."""
    inverse = []

    def objective(x):
        gradient = np.empty_like(x)
        return model.logp_and_grad(x.ravel(), gradient.reshape(-1)), gradient

    def precondition(g):
        return np.stack([apply_blocks(b, d) for b, d in zip(inverse, g, strict=True)])

    def curvature(x):
        hessian = PoissonHessian(model, x)
        if not inverse:
            roots = [whitening(hessian.blocks(side)) for side in (0, 1)]
            inverse.extend(np.swapaxes(w, 1, 2) @ w for w in roots)
        return hessian.product, precondition

    found, facts = newton_mode(objective, curvature, vectors)
    if not facts["converged"]:
        raise np.linalg.LinAlgError("Newton's method did not reach the mode")
    return found


# Studies -----------------------------------------------------------------------------------------


def check(corpus, options):
    """Print how far influences and products with the Hessian are from finite differences."""
    table = document_table(corpus.ids, corpus.offsets, corpus.words.size, KIND)
    n, step = table.shape[0], 1e-5
    for name, (kind, half_of) in LIKELIHOODS.items():
        half = half_of(table, corpus.words.size, options.components, 1.0)

        def change(weights, vectors, half=half, kind=kind):
            # of the gradient, along documents' weights and vectors, counted anew
            out = np.empty((2, vectors.size))
            for sign, row in zip((step, -step), out, strict=True):
                positive = half.weighted(1.0 + sign * weights)
                model = posterior(kind, positive, options.components, 1.0)
                model.logp_and_grad((half.vectors + sign * vectors).ravel(), row)
            return ((out[0] - out[1]) / (2 * step)).reshape(vectors.shape)

        errors, influences = [], half.influences()
        for d in range(0, n, 50):
            found = change(np.eye(n)[d], np.zeros_like(half.vectors))
            errors.append(np.abs(found - influences[d]).max() / np.abs(influences[d]).max())
        model = posterior(kind, half.weighted(np.ones(n)), options.components, 1.0)
        direction = np.random.default_rng(1).standard_normal(half.vectors.shape)
        hessian = (PoissonHessian if kind is PoissonModel else Hessian)(model, half.vectors)
        product = hessian.product(direction)
        off = np.abs(change(np.zeros(n), direction) + product).max() / np.abs(product).max()
        print(f"{name}: largest relative error of influences {max(errors):.1e}, of H d {off:.1e}")


def halves(corpus, options):
    """Print figures of random halves of the articles, averaged over splits, and their ratio."""
    table = document_table(corpus.ids, corpus.offsets, corpus.words.size, KIND)
    print(
        "coverage of 90 % / sd(z) / width over spread / correlation of halves; CPU-seconds a half"
    )
    print(f"{'likelihood':10} precision  {'logits':29}  {'cosines':29}   gain  seconds")
    best = {}
    for precision in options.precisions:
        for name in options.likelihoods:
            kind, half_of = LIKELIHOODS[name]
            cpu, found = time.process_time(), []
            for split in range(options.splits):
                rng = np.random.default_rng(split)
                order = rng.permutation(table.shape[0])
                parts = [np.sort(part) for part in np.array_split(order, 2)]
                pair = [
                    half_of(table[part], corpus.words.size, options.components, precision)
                    for part in parts
                ]
                common = np.flatnonzero(np.min([documents_of(h) for h in pair], axis=0) >= 2)
                a, b = rng.choice(common, (2, options.pairs))
                found.append(measured(kind, pair, a[a != b], b[a != b]))
            cpu = (time.process_time() - cpu) / (2 * options.splits)
            mean = np.mean(found, axis=0)
            best[name] = max(
                best.get(name, (-1.0,)), (mean[8], precision, found), key=lambda x: x[0]
            )
            cells = [" / ".join(f"{x:6.3f}" for x in mean[i : i + 4]) for i in (0, 4)]
            print(
                f"{name:10} {precision:9g}  {'  '.join(cells)}  {mean[8]:6.4f}  {cpu:5.1f}",
                flush=True,
            )
    if len(best) < 2:
        return
    widths = [np.array(best[name][2])[:, [2, 6]] for name in ("Poisson", "logistic")]
    ratio = widths[0] / widths[1]
    error = ratio.std(axis=0, ddof=1) / np.sqrt(options.splits)
    print(
        "at the precisions of the largest gain the width of Poisson over logistic is "
        + " and ".join(
            f"{r:.3f} +- {e:.3f}" for r, e in zip(ratio.mean(axis=0), error, strict=True)
        )
    )


def measured(kind, pair, a, b):
    """Figures of two halves: for both answers coverage, sd(z), width, correlation; and the gain."""
    first, second = (answers(half.vectors, a, b) for half in pair)
    squares = [derivatives(half.vectors, half.deviations(), a, b) ** 2 for half in pair]
    total = sum(s.sum(axis=0) for s in squares)
    # Satterthwaite's, from the documents' squares
    freedom = total**2 / sum(np.sum(s**2, axis=0) for s in squares)
    z = (first - second) / np.sqrt(total)
    covered = np.mean(np.abs(z) < student.ppf(0.95, freedom), axis=1)
    width = np.median(np.sqrt(total / 2), axis=1) * z.std(axis=1)
    shared = np.array([np.cov(one, two) for one, two in zip(first, second, strict=True)])
    correlation = shared[:, 0, 1] / np.sqrt(shared[:, 0, 0] * shared[:, 1, 1])
    width /= np.sqrt(shared[:, 0, 1])
    figures = np.stack([covered, z.std(axis=1), width, correlation], axis=1)
    return np.append(figures, np.mean([gain(kind, *pair), gain(kind, *pair[::-1])]))


def gain(kind, half, other):
    """Log likelihood of the other half above that of zero vectors, a positive pair."""
    positive = other.weighted(np.ones(other.table.shape[0]))
    model = posterior(kind, positive, half.vectors.shape[-1], 1.0)
    theta, out = half.vectors.ravel(), np.empty(half.vectors.size)
    # without the prior, of precision 1
    values = [model.logp_and_grad(x, out) + 0.5 * x @ x for x in (theta, 0 * theta)]
    return (values[0] - values[1]) / positive.sum()


def similarity(corpus, options):
    """Print Spearman correlations of each fit, and the difference of the two best."""
    sets = known_pairs({word: i for i, word in enumerate(corpus.words)})
    positive = window_pairs(
        corpus.ids, corpus.offsets, corpus.words.size, window=5, window_weights="linear"
    )
    print("pairs: " + ", ".join(f"{name} {len(scores)}" for name, (_, scores) in sets.items()))
    best = {}
    for precision in options.precisions:
        for name in options.likelihoods:
            kind, _ = LIKELIHOODS[name]
            cpu = time.process_time()
            model = posterior(kind, positive, options.components, precision)
            theta, facts = search(model, max_iter=options.iterations, tol=1e-6)
            targets = balanced_targets(np.stack(list(model.unpack(theta).values())))
            targets /= np.linalg.norm(targets, axis=1, keepdims=True)
            table = [(np.sum(targets[a] * targets[b], axis=1), s) for (a, b), s in sets.values()]
            found = [spearmanr(*both)[0] for both in table]
            fit = np.mean(found), precision, table
            best[name] = max(best.get(name, (-1.0,)), fit, key=lambda x: x[0])
            cells = "  ".join(f"{x:.3f}" for x in found)
            seconds = time.process_time() - cpu
            print(
                f"{name:10} {precision:6g}  {cells}  mean {fit[0]:.3f}  "
                f"{facts['n_iter']} iterations, {seconds:.0f} s",
                flush=True,
            )
    if len(best) < 2:
        return
    rng, differences = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        rows = [rng.integers(len(s), size=len(s)) for _, s in sets.values()]
        values = [
            np.mean([spearmanr(c[i], s[i])[0] for (c, s), i in zip(best[k][2], rows, strict=True)])
            for k in ("Poisson", "logistic")
        ]
        differences.append(values[0] - values[1])
    (one, p, _), (two, q, _) = best["Poisson"], best["logistic"]
    print(
        f"best: Poisson {one:.3f} (precision {p:g}), logistic {two:.3f} ({q:g}), difference "
        f"{one - two:.3f} +- {np.std(differences):.3f} over pairs"
    )


def known_pairs(numbers):
    """Pairs of words of each set, (2, n) numbers of words, and people's scores."""
    sets = {}
    for name, (pairs, scores) in read_sets(data_folder() / "evaluation").items():
        known = [i for i, pair in enumerate(pairs) if numbers.keys() >= set(pair)]
        if name in SETS and len(known) >= LEAST:
            sets[name] = np.array([[numbers[w] for w in pairs[i]] for i in known]).T, scores[known]
    if not sets:
        sys.exit(f"no set has {LEAST} pairs of these words: raise --words")
    return sets


PARTS = {"check": check, "halves": halves, "similarity": similarity}


def main():
    """Run the parts named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    parser.add_argument("--tokens", type=float, default=1e6)
    parser.add_argument("--words", type=int, help="300; 3,000 for similarity")
    parser.add_argument("--components", type=int, help="10; 50 for similarity")
    parser.add_argument("--precisions", type=float, nargs="+", default=[0.3, 1, 3, 10, 30])
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--negative", type=float, default=1.0, help="negative pairs a positive one")
    parser.add_argument(
        "--likelihoods", nargs="+", choices=list(LIKELIHOODS), default=[*LIKELIHOODS]
    )
    given = parser.parse_args()
    halves_by_hand.NEGATIVE = given.negative
    text = build_corpus(articles(given.tokens))
    for part in given.parts:
        large = part == "similarity"
        options = argparse.Namespace(**vars(given))
        options.components = given.components or (50 if large else 10)
        corpus = restrict(text, min_count=5, max_features=given.words or (3000 if large else 300))
        with OneBlasThread():
            PARTS[part](corpus, options)


if __name__ == "__main__":
    main()
