"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

# with the separator: a folder beside it may begin with the same name
_PACKAGE = str(Path(__file__).parent.parent) + os.sep

RHAT_LIMIT = 1.05
# Single coordinates depend on the rotation and converge later than invariant quantities, so their
# limit is looser.
COORDINATE_RHAT_LIMIT = 1.2
# Share of accepted moves below which a sampler hardly moves.
ACCEPTANCE_LIMIT = 0.2


def warn_user(message: str, category: type[Warning]) -> None:
    """``warnings.warn`` at the first caller outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_unless_mixed(rhat: ArrayLike, what: str, limit: float = RHAT_LIMIT) -> float:
    """ConvergenceWarning when the largest R-hat exceeds the limit; returns that R-hat.

    An infinite R-hat (chains that each stay at a value of their own) warns; NaN (no diagnosis)
    does not.
    """
    rhat = np.asarray(rhat, dtype=float)
    known = rhat[~np.isnan(rhat)]
    largest = float(known.max()) if known.size else float("nan")
    if largest > limit:
        warn_user(
            f"The chains have not mixed: the largest split R-hat of {what} is {largest:.3g}, "
            f"above {limit}. Raise warmup and draws.",
            ConvergenceWarning,
        )
    return largest


def note_mixing(
    attrs: dict[str, Any],
    rhat: ArrayLike,
    what: str,
    *,
    name: str = "max_rhat",
    limit: float = RHAT_LIMIT,
) -> None:
    """`warn_unless_mixed`; the R-hat goes into ``attrs[name]``, the verdict into ``converged``.

    ``attrs["converged"]`` is None where nothing could be diagnosed, and stays False once a part has
    not mixed.
    """
    largest = warn_unless_mixed(rhat, what, limit)
    attrs[name] = largest
    if not np.isnan(largest):
        attrs["converged"] = bool(largest <= limit and attrs["converged"] is not False)


def warn_if_stuck(acceptance: float, advice: str = "use kernel='polya-gamma'") -> None:
    """ConvergenceWarning when moves of the sampler were hardly ever accepted."""
    if acceptance < ACCEPTANCE_LIMIT:
        warn_user(
            f"The sampler hardly moved: {100 * acceptance:.1f} % of its moves were accepted. Raise "
            f"warmup, or {advice}.",
            ConvergenceWarning,
        )
