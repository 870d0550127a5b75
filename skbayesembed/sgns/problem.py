"""What every solver of the room is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .model import SGNSModel
from .priors import Prior


@dataclass(frozen=True)
class Problem:
    """Data, model and prior of a fit.

    Attributes
    ----------
    words : ndarray of str of shape (n_words,)
    vocabulary : dict of str to int
        Place of each word.
    prior : Prior
    model : SGNSModel or None
        The posterior of all counts, without anchors; None where learned from minibatches.
    source : object or None
        Batches of counts where learned from minibatches.
    mode_seed : numpy.random.SeedSequence
        For the start of the search for the mode.
    """

    words: np.ndarray
    vocabulary: dict[str, int]
    prior: Prior
    model: SGNSModel | None
    source: object
    mode_seed: np.random.SeedSequence
