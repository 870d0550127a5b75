"""Fitted estimators in files, without pickle."""

from __future__ import annotations

import os
import sys
import types
import zipfile
from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer
from ..common.files import FORMATS, npz_path, stored_path
from ..common.memory import note_size
from ..common.warnings import note_user, warn_user
from ..corpus.units import is_unasked, sampling_in_use
from ..posterior.sources import draws_afresh
from ..posterior.worst import facts_on_worst
from .archive import header_of, package_version, write_archive
from .graph import Reader, Writer
from .word_vectors import WordVectors, is_frame_of_words

# Arrays may be compressed from version 2 on; all else is as in version 1.
_FORMAT, _VERSION = "skbayesembed.model", 2
# Intervals of fewer draws than this are not worth their name.
_FEWEST_DRAWS = 100
# As many are enough for intervals.
_USUAL_DRAWS = 200
_PACKAGE = __name__.split(".")[0]
# Entries of the vectors from which on intervals by units take more than a moment.
_WORTH_STORING = 5_000


def save(estimator: Any, path: str | os.PathLike[str], draws: int | None = None) -> None:
    """Write a fitted estimator to a file; see `SaveMixin.save`."""
    check_is_fitted(estimator, "posterior_")
    if draws is not None:
        check_integer("draws", draws, 0)
        if 0 < draws < _FEWEST_DRAWS:
            raise ValueError(f"draws must be None, 0 or at least {_FEWEST_DRAWS}, got {draws}.")
    instead: dict[int, Any] = {}
    fewer = False
    if draws is not None and estimator.posterior_.attrs["solver"] != "map":
        thinned = estimator.posterior_.thinned(draws)
        fewer = thinned is not estimator.posterior_
        if fewer:
            thinned.attrs |= facts_on_worst(estimator.posterior_)
        instead[id(estimator.posterior_)] = thinned
    writer = Writer(instead, fewer)
    parameters, left_out = _parameters(estimator)
    # requests of metadata are for the clones of meta-estimators
    passed = {*parameters, "_metadata_request"}
    state = {name: value for name, value in vars(estimator).items() if name not in passed}
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "package": package_version(),
        "class": type(estimator).__name__,
        "parameters": {k: writer.write(v, k) for k, v in parameters.items() if k not in left_out},
        "left_out": {name: repr(parameters[name]) for name in left_out},
        "state": {name: writer.write(value, name) for name, value in state.items()},
        "nodes": writer.nodes,
    }
    file = npz_path(path)
    write_archive(file, header, dict(writer.named_arrays()), compress=True)
    advice = "fewer words or n_components make it smaller"
    if draws is None and _has_draws(estimator.posterior_):
        advice = _on_draws(estimator)
    elif getattr(estimator, "_sampling", None) is not None:
        advice = "most of it is what intervals by units need"
    note_size(file.stat().st_size, f"{file.name} takes", advice)
    _note_unasked(estimator, file)


def _note_unasked(estimator, file):
    """Tell that intervals by units are not in the file, where they take a while.

    Of models whose answers are worked out one by one they never are.
    """
    if not is_unasked(estimator) or sampling_in_use(estimator).by_answer:
        return
    if estimator.rho_.size >= _WORTH_STORING:
        note_user(
            f"{file.name} has no intervals by units yet, and each process that loads it computes "
            "them again: ask one question, such as similarity, before save() to store them."
        )


def _on_draws(estimator):
    """How a file has fewer draws or none, and what a model does without."""
    posterior = estimator.posterior_
    none = "save(path, draws=0) keeps none of the draws, which take most of it"
    if draws_afresh(posterior):
        return f"{none}: answers draw afresh from the approximation, which is kept"
    if few := _fewer_draws(posterior):
        none = (
            f"save(path, draws={few}) keeps some of the draws, which take most of it, and draws=0 "
            "none"
        )
    return (
        f"{none}: posterior means stay, and what needs draws is refused (intervals of the "
        f"posterior, score{_of_new(estimator)})"
    )


def _of_new(estimator):
    """What a model without draws does not tell of new documents, to be named behind the score."""
    found = {"topic_info": ", topics of new documents", "sense_info": ", senses of new snippets"}
    return next((text for method, text in found.items() if hasattr(estimator, method)), "")


def _has_draws(posterior):
    return posterior.attrs["solver"] != "map" and posterior.n_draws > 0


def _fewer_draws(posterior):
    """Draws that are worth keeping in place of all; 0 where all or none are."""
    recorded = posterior.n_chains * posterior.n_draws
    if posterior.attrs["solver"] == "map" or recorded <= _FEWEST_DRAWS:
        return 0
    return min(_USUAL_DRAWS, max(_FEWEST_DRAWS, recorded // 2))


def load(path: str | os.PathLike[str], **parameters: Any) -> Any:
    """Read a fitted estimator that was written by its ``save``.

    Nothing in the file is executed, whoever wrote it: it holds numbers, text and the names of
    classes of this package, and no other classes are accepted.

    Parameters
    ----------
    path : str or path-like
        Path of the file, with or without ``.npz``.
    **parameters
        Parameters of the estimator that are not stored, that is, functions such as ``analyzer=``.
        Other parameters replace the stored ones.

    Returns
    -------
    estimator
        The estimator; its answers equal those of the saved one to the last bit.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file, or it is a folder.
    ValueError
        If the file is not a saved model or is damaged, contains a class that models do not consist
        of, has a newer format, or needs a parameter that is not given.

    Warns
    -----
    UserWarning
        If the model was saved by a different version of the package.

    See Also
    --------
    Posterior.load : Reads a single posterior.

    Examples
    --------
    >>> import tempfile
    >>> import skbayesembed
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 5
    >>> model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=0.1, random_state=0)
    >>> path = f"{tempfile.mkdtemp()}/model.npz"
    >>> model.fit(texts).save(path)
    >>> again = skbayesembed.load(path)
    >>> bool((again.transform(texts) == model.transform(texts)).all())
    True
    """
    path = stored_path(path)
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                header = header_of(archive)
                _check_format(header["format"], path)
                version = {_FORMAT: header["version"]}[header["format"]]
                if version in (1, _VERSION):
                    return _made(header, archive, parameters, path)
        except _UserError as error:
            raise ValueError(str(error)) from None
        except MemoryError:
            raise
        except Exception as error:
            raise ValueError(f"path {str(path)!r} is not a saved model, or is damaged.") from error
    raise ValueError(
        f"path {str(path)!r} has format version {version!r}; this version of skbayesembed reads "
        f"versions 1 to {_VERSION}: upgrade it."
    )


class _UserError(Exception):
    """What a user can do something about."""


def _check_format(found, path):
    """Raise a `_UserError` where a file is another one of this package."""
    name = next((name for name, known in FORMATS.items() if known == found), None)
    if name is not None:
        raise _UserError(
            f"path {str(path)!r} is a saved {name}, no model: read it with {name}.load."
        )


class SaveMixin:
    """``save``, of every estimator."""

    def save(self, path: str | os.PathLike[str], *, draws: int | None = None) -> None:
        """Write the fitted estimator to one file, for `skbayesembed.load`, without pickle.

        Parameters
        ----------
        path : str or path-like
            ``.npz`` is appended if it is missing. An existing file is replaced only when the new
            one is complete.
        draws : int, optional
            Keep about this many draws of the posterior, evenly spaced, at least 100; all by
            default. Posterior means and standard deviations still cover all draws; intervals and
            changes are of the draws that are kept, and differ a little, as a line below tables
            says. R-hat and effective sample sizes in ``report()``, and in what tables of topics say
            of chains, are those of all draws. With 0, none are kept, and everything that needs
            draws (intervals of the posterior, ``score``, words of senses, topics and senses of new
            documents) raises a KeyError that says so; a `DynamicSGNS` with ``solver="vi"`` draws
            afresh from its approximation instead. A point estimate (``solver="map"``) is kept as it
            is.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If a parameter is an object that cannot be stored.
        OSError
            If the file cannot be written.

        Notes
        -----
        Parameters that are functions (``analyzer=``) are code and are not stored: pass them to
        `skbayesembed.load`. Vectors of an ``embedding`` are stored; if it is a path, only the path,
        and vectors of the words of the vocabulary. Without the file, words that are new to the
        model are left out of documents, with a warning.
        A model whose intervals account for the sampling of documents, and that was not asked for
        any yet, is stored with the word indices of its documents, from which it computes them
        later. Arrays that shrink by it are compressed, without loss. For a file of more than 50
        MiB, a note on the standard error stream gives the size.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import skbayesembed
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> path = Path(tempfile.mkdtemp()) / "model.skb"
        >>> model.save(path)
        >>> skbayesembed.load(path).words_.tolist() == model.words_.tolist()
        True
        """
        save(self, path, draws)


def _parameters(estimator):
    """Parameters as they are stored, and the names of those that are not."""
    parameters = estimator.get_params(deep=False)
    left_out = [name for name, value in parameters.items() if _is_code(value)]
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            parameters[name] = os.fspath(value)
    embedding = parameters.get("embedding")
    if _is_foreign(embedding):
        # of the type that its vectors have, so that look-ups find the same numbers
        parameters["embedding"] = WordVectors.of(embedding)
    return parameters, left_out


def _is_code(value):
    kinds = types.FunctionType, types.BuiltinFunctionType, types.MethodType
    known = callable(value) and type(value).__module__.split(".")[0] == _PACKAGE
    return isinstance(value, kinds) or (
        callable(value) and not known and not isinstance(value, BaseEstimator)
    )


def _is_foreign(embedding):
    """Whether an embedding is a mapping, a DataFrame or gensim's, rather than ours or an array."""
    if is_frame_of_words(embedding):
        return True
    keyed = getattr(embedding, "wv", embedding)
    if hasattr(keyed, "index_to_key"):
        return True
    return isinstance(embedding, Mapping) and not isinstance(embedding, WordVectors)


def _made(header, archive, parameters, path):
    """The estimator of a file."""
    cls = getattr(sys.modules[_PACKAGE], header["class"])
    if not (issubclass(cls, SaveMixin) and issubclass(cls, BaseEstimator)):
        raise ValueError("not an estimator")
    reader = Reader.of(header["nodes"], archive)
    stored = {name: reader.read(value) for name, value in header["parameters"].items()}
    missing = [name for name in header["left_out"] if name not in parameters]
    if missing:
        raise _UserError(
            f"{missing[0]} must be given: it was {header['left_out'][missing[0]]}, and code is "
            f"not stored. Pass it: load({str(path)!r}, {missing[0]}=...)."
        )
    known = set(cls._get_param_names())
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise _UserError(f"{unknown[0]} is no parameter of {cls.__name__}.")
    if header["package"] != package_version():
        warn_user(
            f"{str(path)!r} was saved by skbayesembed {header['package']}, this is "
            f"{package_version()}: answers may differ.",
            UserWarning,
        )
    estimator = cls(**(stored | parameters))
    vars(estimator).update({name: reader.read(v) for name, v in header["state"].items()})
    check_is_fitted(estimator, "posterior_")
    return estimator
