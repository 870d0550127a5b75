"""Estimates under several draws of what they are made from: the variances that these add."""

from __future__ import annotations

import numpy as np


def between_draws(found, runs):
    """Variances of estimates between draws, with their degrees of freedom: two pairs.

    The first is between runs, such as those of draws of word vectors; the second between the draws
    of a run (nested multiple imputation, Shen 2000). Each draw may be a run of its own.

    Parameters
    ----------
    found : ndarray of shape (n_draws, ...)
    runs : ndarray of int of shape (n_draws,)
        The run of each draw.
    """
    of_run = [found[runs == run] for run in np.unique(runs)]
    n_runs, each = len(of_run), len(found) / len(of_run)
    none = np.zeros(found.shape[1:])
    outer, inner = none, none
    if n_runs > 1:
        means = [draws.mean(axis=0) for draws in of_run]
        outer = (1 + 1 / n_runs) * np.var(means, axis=0, ddof=1)
    if each > 1:
        squares = sum(len(draws) * draws.var(axis=0) for draws in of_run)
        inner = (1 - 1 / each) * squares / (len(found) - n_runs)
    return (outer, max(n_runs - 1, 1)), (inner, max(len(found) - n_runs, 1))


def freedom_of_sum(parts):
    """Satterthwaite's degrees of freedom of a sum of variances.

    Parameters
    ----------
    parts : list of (ndarray, ndarray or float)
        Variances and their degrees of freedom, which may be NaN where one unit alone tells of them.
    """
    total = sum(variance for variance, _ in parts)
    squares = sum(variance**2 / freedom for variance, freedom in parts)
    return np.divide(total**2, squares, out=squares + 1.0, where=squares > 0)
