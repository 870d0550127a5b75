"""A posterior in one file, without pickle."""

from __future__ import annotations

import json
import os
from typing import Self

import numpy as np

from ..common.files import FORMATS, HEADERS, complete_file, npz_path, stored_path, write_arrays
from .running_moments import RunningMoments
from .validation import check_arrays, check_attrs, check_coords

_FORMAT, _VERSION = FORMATS["Posterior"], 1


class StoringMixin:
    """Saving and loading of a `Posterior`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one ``.npz`` file that `load` reads back exactly, without pickle.

        Parameters
        ----------
        path : str or path-like
            ``.npz`` is appended if it is missing. An existing file is replaced only when the new
            one is complete.

        Raises
        ------
        ValueError
            If ``attrs``, ``stats`` or ``coords`` were changed to something that cannot be stored.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     posterior.save(Path(folder) / "draws.npz")
        ...     again = Posterior.load(Path(folder) / "draws.npz")
        >>> bool((again["x"] == draws).all())
        True
        """
        header, arrays = self._pack()
        with complete_file(npz_path(path)) as part, open(part, "wb") as file:
            write_arrays(file, {"header": np.array(json.dumps(header)), **arrays}, compress=True)

    def _pack(self):
        """The header for JSON, which holds all names, and the arrays under numbered names."""
        groups = {
            "draws": self._draws,
            "stats": check_arrays("stats", self.stats),
            "coords": check_coords(self.coords),
        }
        attrs = check_attrs(self.attrs)
        header = {"format": _FORMAT, "version": _VERSION, "attrs": attrs, "dims": self.dims}
        arrays = {}
        for group, members in groups.items():
            header[group] = list(members)
            arrays.update({f"{group}_{i}": a for i, a in enumerate(members.values())})
        header["moments"] = []
        for i, (name, m) in enumerate(self.moments.items()):
            header["moments"].append([name, m.count, m.keeps_covariance])
            arrays.update({f"moments_{i}_{key}": a for key, a in m._arrays().items()})
        return header, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a posterior written by `save`.

        Parameters
        ----------
        path : str or path-like
            Path of the file, with or without ``.npz``.

        Returns
        -------
        Posterior

        Raises
        ------
        FileNotFoundError, IsADirectoryError
            If there is no such file, or it is a folder.
        ValueError
            If the file was not written by `save`, is damaged, or has a newer format.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> posterior = Posterior({"x": np.random.default_rng(0).normal(size=(2, 100))})
        >>> path = Path(tempfile.mkdtemp()) / "draws.npz"
        >>> posterior.save(path)
        >>> Posterior.load(path)["x"].shape
        (2, 100)
        """
        path = stored_path(path)
        with HEADERS, open(path, "rb") as file:
            try:
                stored = np.load(file, allow_pickle=False)
                header = json.loads(str(stored["header"][()]))
                version = {_FORMAT: header["version"]}[header["format"]]
            except Exception as error:
                raise ValueError(f"path {str(path)!r} is not a saved Posterior.") from error
            if version != _VERSION:
                raise ValueError(
                    f"path {str(path)!r} has format version {version!r}; this version of "
                    f"skbayesembed reads version {_VERSION}: upgrade it."
                )
            try:
                return cls._unpack(header, stored)
            except Exception as error:
                raise ValueError(f"path {str(path)!r} is a damaged Posterior.") from error

    @classmethod
    def _unpack(cls, header, stored):
        groups = {
            group: {name: stored[f"{group}_{i}"] for i, name in enumerate(header[group])}
            for group in ("draws", "stats", "coords")
        }
        moments = {}
        for i, (name, count, covariance) in enumerate(header["moments"]):
            arrays = {key: stored[f"moments_{i}_{key}"] for key in ("mean", "sums")}
            moments[name] = RunningMoments._from_arrays(count, covariance, arrays)
        kept = {"moments": moments, "dims": header["dims"], "attrs": header["attrs"]}
        return cls(groups.pop("draws"), **groups, **kept)
