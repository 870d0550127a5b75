"""Intervals by documents worked out by hand, for `split_halves.py` and pilots to be held against.

The mode of each half of some articles, the influence of each article on it, and the standard errors
that follow (an infinitesimal jackknife, linearised at the mode by finite differences), in plain
numpy. The package's own are in ``skbayesembed/sgns/documents``.

With a weight on each document d, positive pairs are sum_d weight_d n_d and the expected negative
ones follow: r_w P'_v with row sums r and the noise distribution P' of context totals c to the
power a. The influence of d on the gradient counts both,

    s_d = sum_wv [n_dwv (1 - sigma_wv) - d(r_w P'_v) sigma_wv] grad(rho_w . alpha_v),
    d(r_w P'_v) = r_dw P'_v + r_w a P'_v (c_dv / c_v - sum_u P'_u c_du / c_u),

and moves the mode by H^+ s_d, H minus the Hessian of the log posterior there.

    SKBAYESEMBED_DATA=... python benchmarks/halves_by_hand.py --words 300 --components 10

prints a row for each kind of counts: the coverage and the standard deviation of z = difference /
its standard error, of 2,000 random pairs a split.
"""

from __future__ import annotations

import argparse
import lzma
import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit
from scipy.stats import t as student

from skbayesembed.corpus.text import build_corpus, restrict
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.counting import expected_negatives, window_pairs
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.laplace.curvature import gaussian_at, seek_mode
from skbayesembed.sgns.laplace.hessian import Hessian
from skbayesembed.sgns.laplace.orbits import canonical_frame
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts

NEGATIVE, EXPONENT = 1.0, 0.75
# Share of a deviation by which an answer is moved to either side to be linearised.
STEP = 0.01
# Draws of Laplace's approximation; the standard errors from them are within 4 %.
LAPLACE_DRAWS = 300
KINDS = ("linear 5", "uniform 5", "uniform 10", "matrix, by token", "matrix, all pairs")


def articles(n_tokens):
    """Articles of the corpus, lists of tokens, up to so many tokens."""
    path = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "text" / "wikipedia_en_2015.txt.xz"
    if not path.exists():
        sys.exit(f"{path} is not there: set SKBAYESEMBED_DATA")
    found, current, total = [], [], 0
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                current += line.split()
            elif current:
                found.append(current)
                total, current = total + len(current), []
                if total >= n_tokens:
                    break
    return found


# Pairs by document -----------------------------------------------------------------------------


def document_table(ids, offsets, n_words, kind):
    """Positive pairs of each document, csr (n_documents, n_words^2): (w, v) at w * n_words + v."""
    rows = [_document(ids[a:b], kind) for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    columns = np.concatenate([w * n_words + v for w, v, _ in rows])
    ends = np.concatenate([[0], np.cumsum([len(n) for *_, n in rows])])
    values = np.concatenate([n for *_, n in rows])
    return sparse.csr_array((values, columns, ends), shape=(len(rows), n_words**2))


def _document(ids, kind):
    words, places = np.unique(ids, return_inverse=True)
    words = words.astype(np.int64)
    if len(ids) < 2:
        return words[:0], words[:0], np.zeros(0)
    if kind.startswith("matrix"):
        amount = np.bincount(places).astype(float)
        pairs = np.outer(amount, amount) - np.diag(amount)
        if kind.endswith("token"):
            pairs /= len(ids) - 1
        found = sparse.coo_array(pairs)
    else:
        weights, window = kind.split()
        ends = np.array([0, len(ids)])
        found = window_pairs(
            places, ends, words.size, window=int(window), window_weights=weights
        ).tocoo()
    return words[found.row], words[found.col], found.data


# A half: mode, influences, deviations ----------------------------------------------------------


class Half:
    """The mode of some documents, and its deviations with them."""

    def __init__(self, table, n_words, n_components, precision):
        self.table, self.n_words = table, n_words
        positive = sparse.csr_array(self.weighted(np.ones(table.shape[0])))
        negative = expected_negatives(positive, negative=NEGATIVE, ns_exponent=EXPONENT)
        model = SGNSModel(pair_table(PairCounts(positive, negative)), n_components, precision)
        cpu = time.process_time()
        start = model.pack(model.start(np.random.default_rng(0)))
        theta, _ = find_mode(model, start, max_iter=5000, tol=1e-8, warn=False)
        found, _ = seek_mode(model, model.unpack(theta))
        self.vectors, _, self.orbit, _ = canonical_frame(model, found)
        self.mode_seconds = time.process_time() - cpu
        self.gaussian = gaussian_at(Hessian(model, self.vectors), "krylov")

    def weighted(self, weights):
        """Pairs of all documents together, with a weight each."""
        return (weights @ self.table).reshape(self.n_words, self.n_words)

    def influences(self):
        """The influence of each document on the gradient, (n_documents, 2, n_words, K)."""
        rho, alpha = self.vectors
        n, proba = self.table.shape[0], expit(rho @ alpha.T)
        total = self.weighted(np.ones(n))
        rows, columns = total.sum(axis=1), total.sum(axis=0)
        seen = columns > 0
        noise = np.where(seen, columns, 1.0) ** EXPONENT * seen
        noise /= noise.sum()
        out = []
        for one in np.eye(n):
            counts = self.weighted(one)
            share = np.divide(counts.sum(axis=0), columns, out=np.zeros_like(columns), where=seen)
            change = EXPONENT * noise * (share - noise @ share)
            negative = np.outer(counts.sum(axis=1), noise) + np.outer(rows, change)
            residual = counts - proba * (counts + NEGATIVE * negative)
            out.append(np.stack([residual @ alpha, residual.T @ rho]))
        return np.array(out)

    def deviations(self):
        """Deviations whose squares add up to the covariance by documents, one a document."""
        moved = self.influences()
        n = len(moved)
        return self._solve(np.sqrt(n / (n - 1)) * (moved - moved.mean(axis=0)))

    def laplace(self, rng):
        """Deviations whose squares add up to the covariance of Laplace's approximation."""
        draws = self.gaussian.draw(LAPLACE_DRAWS, rng).astype(float)
        self.orbit.project(draws)
        return draws / np.sqrt(LAPLACE_DRAWS)

    def _solve(self, rows, together=16):
        # once, in single precision: to a few parts in ten thousand
        for start in range(0, len(rows), together):
            part = rows[start : start + together]
            self.orbit.project(part)
            solved = self.gaussian.rough.solve(part).astype(float)
            self.orbit.project(solved)
            part[:] = solved
        return rows


# Answers -----------------------------------------------------------------------------------------


def balanced_targets(vectors):
    """Target vectors when the singular values of rho alpha' are shared out equally."""
    (q, r), (_, s) = (np.linalg.qr(side) for side in vectors)
    u, values, _ = np.linalg.svd(r @ s.T)
    return q @ (u * np.sqrt(values))


def answers(vectors, a, b):
    """Logits of pairs, and cosines of their words' balanced targets, (2, n_pairs)."""
    logits = np.einsum("ij,ij->i", vectors[0][a], vectors[1][b])
    targets = balanced_targets(vectors)
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    return np.stack([logits, np.einsum("ij,ij->i", targets[a], targets[b])])


def derivatives(vectors, deviations, a, b):
    """Derivatives of the answers along the deviations, (m, 2, n_pairs)."""
    up, down = (
        np.array([answers(vectors + step * d, a, b) for d in deviations]) for step in (STEP, -STEP)
    )
    return (up - down) / (2 * STEP)


def compare(halves, deviations, a, b, by_document):
    """Coverage of 90 % intervals of differences, and standard deviation of z, of each answer."""
    first, second = (answers(half.vectors, a, b) for half in halves)
    squares = [
        derivatives(half.vectors, moves, a, b) ** 2
        for half, moves in zip(halves, deviations, strict=True)
    ]
    variances = [s.sum(axis=0) for s in squares]
    total = sum(variances)
    freedom = np.inf
    if by_document:
        # Satterthwaite's, from the documents' squares
        freedom = total**2 / sum(np.sum(s**2, axis=0) for s in squares)
    z = (first - second) / np.sqrt(total)
    covered = np.mean(np.abs(z) < student.ppf(0.95, freedom), axis=1)
    return np.stack([covered, z.std(axis=1)])


def run(kind, corpus, options):
    """A row of figures: by documents and by Laplace, averaged over splits."""
    table = document_table(corpus.ids, corpus.offsets, corpus.words.size, kind)
    n, found, seconds = table.shape[0], [], np.zeros(2)
    for split in range(options.splits):
        rng = np.random.default_rng(split)
        order = rng.permutation(n)
        parts = [np.sort(order[: n // 2]), np.sort(order[n // 2 :])]
        halves = [
            Half(table[p], corpus.words.size, options.components, options.precision) for p in parts
        ]
        cpu = time.process_time()
        by_documents = [half.deviations() for half in halves]
        seconds += sum(half.mode_seconds for half in halves), time.process_time() - cpu
        by_model = [half.laplace(rng) for half in halves]
        # words that two documents of each half have
        common = np.flatnonzero(np.min([documents_of(half) for half in halves], axis=0) >= 2)
        a, b = rng.choice(common, (2, options.pairs))
        a, b = a[a != b], b[a != b]
        found.append(
            [
                compare(halves, moves, a, b, by_document)
                for moves, by_document in ((by_documents, True), (by_model, False))
            ]
        )
    return np.mean(found, axis=0), seconds / (2 * options.splits)


def documents_of(half):
    """Number of documents that each word is a target in."""
    rows = np.repeat(np.arange(half.table.shape[0]), np.diff(half.table.indptr))
    seen = np.unique(rows * half.n_words + half.table.indices // half.n_words) % half.n_words
    return np.bincount(seen, minlength=half.n_words)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=float, default=1e6)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--precision", type=float, default=1.0)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    corpus = restrict(
        build_corpus(articles(options.tokens)), min_count=5, max_features=options.words
    )
    print("coverage of 90 % intervals / sd(z), of logits and of cosines; CPU-seconds a half")
    print(f"{'counts':18}  {'by documents':27}  {'Laplace':27}  mode  deviations")
    for kind in options.kinds:
        try:
            with OneBlasThread():
                found, seconds = run(kind, corpus, options)
        except np.linalg.LinAlgError as error:
            print(f"{kind:18}  {str(error)[:80]}")
            continue
        cells = ["  ".join(f"{c:.3f} / {s:5.2f}" for c, s in one.T) for one in found]
        print(
            f"{kind:18}  {cells[0]}  {cells[1]}  {seconds[0]:4.1f}  {seconds[1]:5.1f}", flush=True
        )


if __name__ == "__main__":
    main()
