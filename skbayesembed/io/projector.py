"""Word vectors for TensorBoard's embedding projector, with what is known of each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from ..common.checks import check_path, check_prob, listed
from ..common.files import complete_file
from .word_vectors import SIDES, WordVectors

_CONFIG = """\
embeddings {
  tensor_name: "vectors"
  tensor_path: "vectors.tsv"
  metadata_path: "metadata.tsv"
}
"""


def to_projector(
    source: Any,
    folder: str | os.PathLike[str],
    *,
    words: Iterable[str] | None = None,
    side: str = "target",
    period: Any = None,
    prob: float = 0.9,
) -> Path:
    """Write word vectors for TensorBoard's embedding projector.

    View them with ``tensorboard --logdir folder``, or load the two tables on
    projector.tensorflow.org with the button *Load*. Words can be colored by the columns of
    ``metadata.tsv``.

    Parameters
    ----------
    source : fitted estimator, WordVectors, KeyedVectors or mapping
        As in `WordVectors.of`.
    folder : str or path-like
        Created if it is missing. Files of these names in it are replaced.
    words : iterable of str, optional
        Write only these words, in this order.
    side : {"target", "context"}, default="target"
        For an estimator: ``rho_`` or ``alpha_``.
    period : number, date or str, optional
        For a `DynamicSGNS`: a time in the period, or its label.
    prob : float, default=0.9
        Probability of the intervals whose widths are written.

    Returns
    -------
    Path
        The folder. It contains ``vectors.tsv``, a row of numbers for each word; ``metadata.tsv``;
        and ``projector_config.pbtxt``, which names both.

    Raises
    ------
    TypeError, ValueError
        As in `WordVectors.of`.
    KeyError
        If a word in ``words`` has no vector.

    Notes
    -----
    The columns of ``metadata.tsv`` are ``word`` and ``length``, the length of the vector. For
    target vectors of an estimator with a posterior there are also ``sd``, the root of the summed
    variances of the entries, which is the typical distance of the vector from its mean, and
    ``interval_width``, the mean width, over entries, of normal intervals of probability ``prob``.
    Variances are those of ``uncertainty``; both columns are left out where they need draws and none
    were kept. If the estimator knows them, there are ``n_units``, the effective number of units of
    sampling in which the word was seen, or ``pairs``, the number of pairs with the word as target
    in the period.

    Examples
    --------
    >>> import tempfile
    >>> from skbayesembed.io import WordVectors, to_projector
    >>> vectors = WordVectors(["tree", "forest"], [[3.0, 4.0], [0.6, 0.8]])
    >>> folder = to_projector(vectors, tempfile.mkdtemp())
    >>> sorted(path.name for path in folder.iterdir())
    ['metadata.tsv', 'projector_config.pbtxt', 'vectors.tsv']
    >>> print((folder / "metadata.tsv").read_text().replace(chr(9), " "))
    word length
    tree 5
    forest 1
    """
    check_prob(prob)
    vectors = WordVectors.of(source, side=side, period=period)
    columns = {"length": np.linalg.norm(vectors.vectors, axis=1)}
    if hasattr(source, "_word_facts") and SIDES[side] == "rho_":
        columns |= _of_posterior(source._word_facts(period), prob)
    rows = _places(vectors, words)
    folder = check_path("folder", folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = [" ".join(word.split()) or "(blank)" for word in vectors.words[rows].tolist()]
    numbers = np.column_stack(list(columns.values()))[rows]
    table = ["\t".join(["word", *columns])]
    for name, row in zip(names, numbers, strict=True):
        table.append("\t".join([name, *(f"{x:.6g}" for x in row)]))
    texts = {
        "vectors.tsv": _lines("\t".join(f"{x:.7g}" for x in v) for v in vectors.vectors[rows]),
        "metadata.tsv": _lines(table),
        "projector_config.pbtxt": _CONFIG,
    }
    for name, text in texts.items():
        with complete_file(folder / name) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    return folder


def _of_posterior(facts, prob):
    """Columns of the spread of entries, (n_words, n_components), and of what else is known."""
    spread = facts.pop("spread", None)
    columns = {}
    if spread is not None:
        columns["sd"] = np.linalg.norm(spread, axis=1)
        columns["interval_width"] = 2 * norm.ppf((1 + prob) / 2) * spread.mean(axis=1)
    return columns | facts


def _places(vectors, words):
    """Places of the words asked for; a KeyError for one that there is none of."""
    if words is None:
        return np.arange(len(vectors))
    words = listed(words)
    if not words:
        raise ValueError(f"words must be a list of str or None, got {words!r}.")
    place = {word: i for i, word in enumerate(vectors.words.tolist())}
    missing = [word for word in words if word not in place]
    if missing:
        raise KeyError(f"words: {len(missing)} of {len(words)} have no vector: {missing[:5]}.")
    return np.array([place[word] for word in words])


def _lines(lines):
    return "".join(f"{line}\n" for line in lines)
