"""What is said of regressions with few units for their terms."""

from __future__ import annotations

import numpy as np

from ..common.warnings import warn_user

# Degrees of freedom below which t-tests of clusters reject too often (Pustejovsky & Tipton 2018),
# and units a term below which least squares is not to be trusted (Austin & Steyerberg 2015).
_FEWEST_FREE, _FEWEST_UNITS = 4.0, 2


def enough_units(freedom: np.ndarray, n_units: int) -> bool:
    """Whether intervals of all terms can be relied on, or their degrees of freedom are not known.

    Parameters
    ----------
    freedom : ndarray of shape (n_terms, ...)
        Degrees of freedom; NaN where they are not known.
    n_units : int

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.few_units import enough_units
    >>> enough_units(np.array([12.0, 9.0]), 20), enough_units(np.array([12.0, 3.1]), 20)
    (True, False)
    """
    if not freedom.size or np.isnan(freedom).all():
        return True
    return bool(np.nanmin(freedom) >= _FEWEST_FREE and n_units >= _FEWEST_UNITS * len(freedom))


def note_on_few_terms(freedom: np.ndarray, n_units: int, what: str) -> list[str]:
    """Line below a table whose terms have few units, or none; ``what`` is "slope" or "term"."""
    if enough_units(freedom, n_units):
        return []
    return [
        f"(fewer than {_FEWEST_FREE:g} df or {_FEWEST_UNITS} units per {what}: do not rely on "
        "intervals and p-values)"
    ]


def warn_of_few(
    freedom: np.ndarray, n_units: int, terms: np.ndarray, what: str, about: str, units: str
) -> None:
    """Warn where terms have few units.

    Parameters
    ----------
    freedom, n_units, what
        As of `note_on_few_terms`.
    terms : ndarray of str of shape (n_terms,)
    about : str
        Documents and units in words.
    units : str
        What units are called.
    """
    if enough_units(freedom, n_units):
        return
    least = np.nanmin(freedom.reshape(len(freedom), -1), axis=1, initial=np.inf)
    j = int(np.argmin(least))
    advice = f"take fewer {'features' if what == 'slope' else 'terms'}"
    if len(terms) == 1:
        advice = f"more {units} are needed"
    warn_user(
        f"{about} are few for {len(terms)} {what}{'' if len(terms) == 1 else 's'}: there are "
        f"{n_units / len(terms):.1f} {units} per {what}, and that of {str(terms[j])!r} has "
        f"{least[j]:.1f} degrees of freedom (column df). Below {_FEWEST_UNITS} {units} per {what}, "
        f"and below {_FEWEST_FREE:g} degrees of freedom, do not rely on intervals and p-values: "
        f"{advice}.",
        UserWarning,
    )
