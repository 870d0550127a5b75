"""How chains learn the Dirichlet prior of documents in warm-up."""

from __future__ import annotations

import numpy as np

from ..alpha import learn_alpha

# Fixed-point steps of alpha for each warm-up sweep.
_STEPS = 5


def learn_in_warmup(model, state, step, warmup):
    """Learn ``state.alpha`` after a sweep of warm-up, where ``model.learn_alpha`` asks for it.

    At the end it is frozen at the geometric mean of the estimates in the second half of warm-up.
    """
    if model.learn_alpha is None:
        return
    estimate = learn_alpha(
        model.document_counts(state),
        state.alpha,
        symmetric=model.learn_alpha == "symmetric",
        max_iter=_STEPS,
    )
    last = step + 1 >= warmup
    if 2 * step >= warmup or last:
        state.log_alpha.append(np.log(estimate))
    state.alpha = np.exp(np.mean(state.log_alpha, axis=0)) if last else estimate
