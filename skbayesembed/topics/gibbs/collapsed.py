"""Gibbs sampling of Gaussian topics with their means and covariances summed out, too.

Tokens are drawn one after the other, and topics follow every token that moves: Cholesky factors are
updated and downdated by rank one. In warm-up all but the last tenth of the sweeps are those of
`conditionals.TopicGibbs`, which is many times faster and has the same target.
"""

from __future__ import annotations

import numpy as np

from ..priors import lower_inverses
from . import collapsed_kernels
from .conditionals import TopicGibbs

# How often a sweep is taken up again at the same document with fresh sums.
_TRIES = 20


class CollapsedTopics(TopicGibbs):
    """``kernel="reference"``: each token from its full conditional, all K predictives computed.

    They are multivariate t at tau = 1, else ratios of NIW normalizers. Parameters, and what is
    recorded and traced, are those of `TopicGibbs`.
    """

    kernel = "reference"

    def state_of(self, z):
        """The state with these assignments, which become its own."""
        state = super().state_of(z)
        state.levels = np.full(self.documents.n_tokens + 1, np.nan)
        return state

    def sweep(self, state, rngs, run):
        """Draw all assignments anew, then mu and Sigma; in most of warm-up the other way round."""
        if not state.collapsed:
            super().sweep(state, rngs, run)
            return
        self._after(state, self._step(state, rngs, run), run)
        state.gaussians = state.posterior.sample(rngs[0])

    def tune(self, state, step, warmup):
        """Learn alpha, and choose the kind of the next sweep."""
        super().tune(state, step, warmup)
        state.collapsed = step + 1 >= warmup - warmup // 10

    def _step(self, state, rngs, run):
        """A sweep of this sampler's own; returns how many tokens moved."""
        kernel = collapsed_kernels.draw_collapsed
        return self._collapsed(kernel, state, self._all, state.alpha, rngs[1])[0]

    def _topics(self, state):
        """The topics that the kernels carry along."""
        root = state.posterior.cholesky()
        diagonal = np.diagonal(root, axis1=1, axis2=2)
        return collapsed_kernels.Topics(
            state.counts.sum(axis=0).astype(np.int64),
            state.posterior.mean.copy(),
            lower_inverses(root),
            2 * np.log(diagonal).sum(axis=1),
        )

    def _collapsed(self, kernel, state, documents, by, rng):
        """Run a kernel, which draws ``by`` alpha or proposals, over ``documents``.

        Returns the sums of what it counts.
        """
        kappa, nu = float(self.prior.kappa), float(self.prior.nu)
        prior = collapsed_kernels.TopicPrior(self.power, kappa, nu, state.levels)
        topics = self._topics(state)
        total, done, tries = 0, 0, 0
        while True:
            reached, *numbers = kernel(
                documents[done:], self.entries, self.documents.vectors, prior, topics, by, rng,
                state.z,
            )  # fmt: skip
            total = total + np.array(numbers)
            done += reached
            if done == documents.size:
                return total
            # rounding errors have piled up: sum anew and go on from that document
            tries = tries + 1 if reached == 0 else 0
            if numbers[-1] == 0 or tries > _TRIES:  # the sums were fresh, or of no help
                raise np.linalg.LinAlgError(
                    "A topic's covariance is not positive definite without one of its tokens: the "
                    "scale of the prior is too small beside the vectors."
                )
            self._refresh(state)
            topics = self._topics(state)
