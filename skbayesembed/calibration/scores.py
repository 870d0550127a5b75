"""Differences in Monte Carlo standard errors, between a chain and what its mean must be."""

from __future__ import annotations

import numpy as np

from ..posterior.summary import mcse

# Test functions with less spread than this are constants to rounding.
_CONSTANT = 1e-12


def joint_differences(direct: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Return the scores of the joint-distribution test of Geweke (2004).

    Parameters
    ----------
    direct : ndarray of shape (n, n_functions)
        Test functions of independent draws of parameters from the prior, and of data given them.
    chain : ndarray of shape (m, n_functions)
        The same functions along a chain that alternately draws data given parameters and moves the
        parameters given data. Its distribution is the same if the moves leave the posterior
        invariant.

    Returns
    -------
    ndarray of shape (n_functions,)
        Differences of the means in standard errors, approximately standard normal; NaN for
        functions that are constant, infinite where the chain alone does not move them.

    References
    ----------
    Geweke (2004). Getting it right. Journal of the American Statistical Association 99.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.calibration import joint_differences
    >>> rng = np.random.default_rng(0)
    >>> direct, chain = rng.normal(size=(2, 1000, 1))
    >>> bool(abs(joint_differences(direct, chain)[0]) < 4)
    True
    >>> bool(abs(joint_differences(direct, chain + 1)[0]) > 10)
    True
    """
    direct, chain = np.asarray(direct), np.asarray(chain)
    out = np.full(direct.shape[1], np.nan)
    varies, moves = (x.std(axis=0) > _CONSTANT for x in (direct, chain))
    out[varies & ~moves] = np.inf
    varies &= moves
    a, b = direct[:, varies], chain[:, varies]
    error = np.sqrt(a.var(axis=0) / len(a) + mcse(b[None]) ** 2)
    out[varies] = (a.mean(axis=0) - b.mean(axis=0)) / error
    return out


def known_differences(
    draws: np.ndarray, mean: np.ndarray, error: np.ndarray | float = 0.0
) -> np.ndarray:
    """Return the scores of draws against known means.

    Parameters
    ----------
    draws : ndarray of shape (chain, draw, n_functions)
    mean : ndarray of shape (n_functions,)
    error : ndarray of shape (n_functions,) or float, default=0.0
        Standard errors of ``mean``.

    Returns
    -------
    ndarray of shape (n_functions,)
        Differences of the means in standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.calibration import known_differences
    >>> draws = np.random.default_rng(0).normal(size=(2, 500, 1))
    >>> bool(abs(known_differences(draws, np.zeros(1))[0]) < 4)
    True
    """
    return (draws.mean(axis=(0, 1)) - mean) / np.hypot(mcse(draws), error)
