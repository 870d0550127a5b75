"""Vectors of words, centered and scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Normaliser:
    """Centering, and scaling to unit length, as learned in training.

    Attributes
    ----------
    kind : {"unit", "center"} or None
    centre : ndarray of shape (n_dims,)
        Mean vector of the training words, each counted once; zero where ``kind`` is None.
    """

    kind: str | None
    centre: np.ndarray

    @classmethod
    def learn(cls, kind, vectors):
        """From the vectors (n_words, n_dims) of the training words."""
        centre = np.zeros(vectors.shape[1]) if kind is None else vectors.mean(axis=0)
        return cls(kind, centre)

    def __call__(self, vectors):
        """Vectors in the coordinates of the topics; one at the center stays there."""
        if vectors.shape[1] != self.centre.size:
            raise ValueError(
                f"embedding must have vectors of length {self.centre.size}, as in fit, got "
                f"{vectors.shape[1]}."
            )
        out = vectors - self.centre
        if self.kind == "unit":
            length = np.linalg.norm(out, axis=1, keepdims=True)
            # rounding leaves a vector at the centre a direction of no meaning
            size = np.linalg.norm(vectors, axis=1, keepdims=True) + np.linalg.norm(self.centre)
            there = length > 1e-12 * size
            out = np.divide(out, length, out=np.zeros_like(out), where=there)
        return out
