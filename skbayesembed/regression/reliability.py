"""What is said of features of `regress` that are too uncertain, or too much alike."""

from __future__ import annotations

import numpy as np

from ..common.warnings import warn_user
from .in_time import LEAST_RELIABLE

# Less of a combination than this is warned of, and of a feature that the others leave less of.
_HARDLY_RELIABLE, _HARDLY_OWN = 0.5, 0.05
# Where a feature has less than this that is no error, it matters what the error is taken to be.
_MATTERS = 0.9


def warn_of_guess(names, reliability):
    """Warn where an array does not tell what its error is, and it matters."""
    j = int(np.argmin(reliability))
    if reliability[j] < _MATTERS:
        warn_user(
            "features were given as an array, and regress cannot tell from it whether slopes must "
            "be corrected for the error in the features. Here this matters: given the other terms, "
            f"{100 * (1 - reliability[j]):.0f} % of the variance of {names[j]!r} is error (column "
            f"beside: {reliability[j]:.2f}). Slopes were not corrected. That is right for draws of "
            "GaussianLDA.sample_transform and DiSCSenseModel.sample_transform: pass "
            "error='berkson' to confirm it. It is wrong for draws of sample_transform of "
            "BayesianSGNS or DynamicSGNS fitted with uncertainty='documents', whose slopes come "
            "out too small: pass error='classical', which corrects them.",
            UserWarning,
        )


def check_reliable(fit, names, error):
    """Raise a ValueError where a combination of features is mostly error; warn of nearly so."""
    (share, j), seen = fit.plain.most_wrong(), fit.plain.seen
    if fit.wrong_share > share:
        share, j = fit.wrong_share, fit.wrong_feature
    if error == "classical" and share > 1.0 - LEAST_RELIABLE:
        alone, beside = (
            ", ".join(f"{max(r, 0.0):.2f}" for r in of) for of in fit.plain.reliabilities
        )
        raise ValueError(
            f"features are too uncertain for error='classical': {100 * min(share, 1.0):.0f} % of "
            f"the variance of a combination of them, of {names[j]!r} above all, is error "
            f"(reliabilities, each by itself: {alone}; beside the others: "
            f"{beside}{_most_alike(seen, names)}). Leave "
            f"{_to_leave_out(seen, names, fit.plain.reliabilities[1], j)}, or take "
            "error='berkson', whose slopes are then drawn toward zero."
        )
    found, worst = [], None
    if error == "classical" and share > 1.0 - _HARDLY_RELIABLE:
        if fit.plain.reliabilities[0][j] < _HARDLY_RELIABLE:
            _warn_of_uncertain(names, j, share)
        else:
            worst = j
            found.append(
                f"{100 * share:.0f} % of the variance of a combination of features, of "
                f"{names[j]!r} above all, is error"
            )
    own = 1.0 / (np.diag(seen) * np.diag(np.linalg.inv(seen)))
    j = int(np.argmin(own))
    if own[j] < _HARDLY_OWN:
        worst = j if worst is None else worst
        found.append(f"the other features leave {100 * own[j]:.1g} % of {names[j]!r}")
    if found:
        warn_user(
            f"Slopes of features that are nearly alike are hardly told apart: "
            f"{'; '.join(found)}{_most_alike(seen, names)}. Leave "
            f"{_to_leave_out(seen, names, fit.plain.reliabilities[1], worst)}, or put features "
            "together.",
            UserWarning,
        )


def _warn_of_uncertain(names, j, share):
    """Warn of a feature that is mostly error by itself, like no other."""
    of = repr(names[j])
    if len(names) > 1:
        of = f"a combination of features, of {of} above all,"
    warn_user(
        f"Features are nearly too uncertain for error='classical': {100 * share:.0f} % of the "
        f"variance of {of} is error, and the factor that corrects slopes is hardly known. Leave "
        f"{names[j]!r} out, or take error='berkson', whose slopes are then drawn toward zero.",
        UserWarning,
    )


def _most_alike(seen, names):
    """The two features that are most alike, and their correlation beside covariates, in words."""
    if len(names) < 2:
        return ""
    i, j, found = _alike(seen)
    return f"; {names[i]!r} and {names[j]!r} correlate at {found:.2f}"


def _alike(seen):
    """Places of the two features that are most alike, and their correlation."""
    sd = np.sqrt(np.diag(seen))
    alike = np.abs(seen / np.outer(sd, sd)) - np.eye(len(seen)) * 2
    i, j = map(int, np.unravel_index(int(np.argmax(alike)), alike.shape))
    return i, j, seen[i, j] / (sd[i] * sd[j])


def _to_leave_out(seen, names, reliability, j):
    """The feature to leave out, in words, where ``j`` is mostly error, or told by the others.

    Of the two that are most alike, the less reliable one beside the others, if ``j`` is one.
    """
    if len(names) < 2:
        return "features out"
    pair = _alike(seen)[:2]
    if j not in pair:
        return f"{names[j]!r} out first"
    worst = min(pair, key=lambda j: reliability[j])
    return f"{names[worst]!r} out first (of these two it is the less reliable beside the others)"
