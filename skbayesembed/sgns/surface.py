"""The skip-gram posterior as the search for its mode climbs it."""

from __future__ import annotations

import numpy as np

from ..inference.threads import gathered
from .balance import balanced
from .preconditioner import Preconditioner


class SGNSSurface:
    """`Surface` of an `SGNSModel`, in single or double precision.

    Parameters
    ----------
    model : SGNSModel
    theta : ndarray of shape (n_parameters,)
        Where to start.
    dtype : {numpy.float32, numpy.float64}
    run : callable
        Maps a function over blocks of rows.
    residuals : Residuals
        Of the model.

    Attributes
    ----------
    point : ndarray of shape (2, n_words, n_components)
        The vectors; those of anchors stay.
    """

    def __init__(self, model, theta, dtype, run, residuals):
        self._model = model
        self._residuals = residuals
        self._run = run
        self._preconditioner = Preconditioner(model.prior, self._residuals, dtype, run=run)
        self._is_single = dtype is np.float32
        self.point = np.stack(list(model.unpack(theta).values())).astype(dtype)

    def value_and_gradient(self):
        """Log density at the point, and its gradient, zero for anchors."""
        value, self._gradient = self._single() if self._is_single else self._double()
        return value, self._gradient

    def _single(self):
        gradient = np.empty_like(self.point)
        value = self._residuals.gradient(*self.point, gradient)
        sides = zip((0, 1), self.point, gradient, strict=True)
        for part in gathered(self._run, self._model.prior.add_gradient, sides):
            value += part
        self._hold(gradient)
        return value, gradient

    def _double(self):
        out, gradient = np.empty(self._model.n_parameters), np.zeros_like(self.point)
        value = self._model.logp_and_grad(self._theta(), out, run=self._run)
        size = gradient[0].size
        gradient[0] = out[:size].reshape(gradient[0].shape)
        gradient[1, self._model.movable[1]] = out[size:].reshape(-1, gradient.shape[2])
        return value, gradient

    def refresh(self):
        """Bring the preconditioner up to date with the point, which was evaluated last."""
        self._preconditioner.refresh(self.point.astype(np.float32, copy=False), self._gradient)

    def precondition(self, x):
        """Multiply by an approximate inverse of the curvature, in place."""
        self._preconditioner.multiply(x)
        self._hold(x)

    def end(self):
        """Flat parameters at the point, balanced where the prior wants that."""
        model = self._model
        if model.anchors is None and model.prior.rotates and not model.prior.coupled:
            # of all vectors with these logits the prior likes the balanced ones best
            vectors = balanced(self.point)
            if np.vdot(vectors, vectors) < np.vdot(self.point, self.point):
                self.point[:] = vectors
        return self._theta()

    def _hold(self, x):
        if self._model.anchors is not None:
            x[1, self._model.anchors] = 0.0

    def _theta(self):
        rho, alpha = self.point.astype(float, copy=False)
        return self._model.pack({"rho": rho, "alpha": alpha})
