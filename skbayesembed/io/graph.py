"""Objects as a table of nodes and arrays, and back, without pickle.

Objects are written as what is in them: numbers, strings, containers, arrays, and objects of this
package by the name of their class and their attributes. Reading makes the same objects without
calling anything: a class is looked up among those of the package that are imported already, an
object is made empty, and its attributes are set. What two objects share they share again.
"""

from __future__ import annotations

import datetime
import sys
import types
import zipfile
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.random.bit_generator import SeedSequence
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch

from ..inference.threads import serial
from ..posterior.posterior import Posterior
from .archive import array_of

_PACKAGE = __name__.split(".")[0]
# What objects of the package hold of others, and the one function among them.
_OTHERS = {
    "FrozenEstimator": FrozenEstimator,
    "Bunch": Bunch,
    "SimpleNamespace": types.SimpleNamespace,
}
_FUNCTIONS = {"serial": serial}
_SPARSE = {
    f"{kind}_{form}": getattr(sparse, f"{kind}_{form}")
    for kind in ("csr", "csc", "coo")
    for form in ("array", "matrix")
}
_PLAIN = (type(None), bool, int, float, str)


class Writer:
    """Turns objects into nodes.

    Parameters
    ----------
    instead : dict of int to object
        By the ``id`` of an object, what is written in its place.
    fewer_draws : bool
        Whether draws are left out: what objects hold for each draw (``OF_DRAWS`` of their class)
        is then left out too.

    Attributes
    ----------
    nodes : list of dict
    arrays : list of ndarray
    """

    def __init__(self, instead, fewer_draws):
        self.nodes, self.arrays = [], []
        self._instead, self._fewer_draws = instead, fewer_draws
        self._places, self._alive = {}, []

    def named_arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """The arrays with the names that `Reader.of` looks for."""
        return ((f"array_{i}", array) for i, array in enumerate(self.arrays))

    def write(self, value: Any, name: str) -> Any:
        """A plain value as it is, and the reference to a node for all others.

        Parameters
        ----------
        value : object
        name : str
            What an error message calls it.

        Raises
        ------
        TypeError
            If it cannot be stored.
        """
        value = self._instead.get(id(value), value)
        if type(value) in _PLAIN:
            return value
        if id(value) not in self._places:
            self._places[id(value)] = len(self.nodes)
            self._alive.append(value)  # so that no other object gets its id
            self.nodes.append(None)
            self.nodes[self._places[id(value)]] = self._node(value, name)
        return {"at": self._places[id(value)]}

    def _node(self, value, name):
        kind = type(value)
        if isinstance(value, list) and _name_of(kind) is not None:
            # of this package's lists that know the name of their column, the items
            kind = list
        if kind in (list, tuple, set, frozenset):
            items = [self.write(x, f"{name}[{i}]") for i, x in enumerate(value)]
            return {"kind": kind.__name__, "items": items}
        if kind is range:
            items = [value.start, value.stop, value.step]
            return {"kind": "range", "items": items}
        if kind is dict:
            return {"kind": "dict", "items": self._items(value, name)}
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, name)
        if kind.__name__ in _SPARSE and sparse.issparse(value):
            return self._sparse(value, name)
        for write in (self._numpy_kind, self._other):
            node = write(value, name)
            if node is not None:
                return node
        return self._object(value, name)

    def _items(self, mapping, name):
        return [
            [self.write(key, f"a key of {name}"), self.write(x, f"{name}[{key!r}]")]
            for key, x in mapping.items()
        ]

    def _array(self, value, name):
        array = np.asarray(value)
        if array.dtype.kind not in "biufcSUMm":
            items = [self.write(x, f"{name}[{i}]") for i, x in enumerate(array.ravel().tolist())]
            return {"kind": "objects", "shape": list(array.shape), "items": items}
        # with axes in the order of memory, so that sums are taken in the same order again
        order = np.argsort([-abs(stride) for stride in array.strides], kind="stable")
        self.arrays.append(np.ascontiguousarray(array.transpose(order)).reshape(
            [array.shape[axis] for axis in order]))  # fmt: skip
        scalar = isinstance(value, np.generic)
        axes = np.argsort(order).tolist()
        return {"kind": "array", "array": len(self.arrays) - 1, "axes": axes, "scalar": scalar}

    def _sparse(self, value, name):
        if value.format == "coo":
            parts = {"data": value.data, "coords": tuple(value.coords)}
        else:
            parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        node = {"kind": "sparse", "class": type(value).__name__, "shape": list(value.shape)}
        return node | {"parts": self._items(parts, name)}

    def _numpy_kind(self, value, name):
        """Types, seeds and generators of NumPy's."""
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"kind": "type", "name": np.dtype(value).name}
        if isinstance(value, np.dtype):
            return {"kind": "dtype", "name": value.str}
        if isinstance(value, SeedSequence):
            facts = {key: value.state[key] for key in ("entropy", "spawn_key", "pool_size")}
            facts["n_children_spawned"] = value.n_children_spawned
            return {"kind": "seeds", "facts": self._items(facts, name)}
        if isinstance(value, np.random.Generator):
            state = value.bit_generator.state
            if state["bit_generator"] != "PCG64":
                raise TypeError(f"{name} has a generator other than PCG64, which is not stored.")
            return {"kind": "generator", "state": self.write(state, name)}
        if isinstance(value, np.random.RandomState):
            return {"kind": "random_state", "state": self.write(value.get_state(), name)}
        return None

    def _other(self, value, name):
        """Slices, dates, the functions that are known, columns of DataFrames."""
        if isinstance(value, slice):
            ends = [self.write(x, name) for x in (value.start, value.stop, value.step)]
            return {"kind": "slice", "items": ends}
        if isinstance(value, datetime.datetime):
            value = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
            return {"kind": "datetime", "text": value.isoformat()}
        if isinstance(value, datetime.date):
            return {"kind": "date", "text": value.isoformat()}
        for known, function in _FUNCTIONS.items():
            if value is function:
                return {"kind": "function", "name": known}
        if hasattr(value, "to_numpy"):
            return self._array(np.asarray(value), name)
        return None

    def _object(self, value, name):
        cls = type(value)
        if cls is Posterior:
            return self._posterior(value, name)
        where = next((k for k, c in _OTHERS.items() if c is cls), None) or _name_of(cls)
        if where is None:
            raise TypeError(
                f"{name} is a {cls.__module__}.{cls.__qualname__}, which is not stored without "
                "pickle."
            )
        node = {"kind": "object", "class": where}
        if isinstance(value, tuple):
            return node | {"items": [self.write(x, f"{name}[{i}]") for i, x in enumerate(value)]}
        # what copies to other processes leave out is left out here
        state = value.__getstate__() or {}
        if not isinstance(state, dict):
            raise TypeError(f"{name} is a {where}, whose attributes are not stored.")
        state = dict(state)
        if self._fewer_draws:
            for key in getattr(cls, "OF_DRAWS", ()):
                state.pop(key, None)
        if isinstance(value, dict):
            node["mapping"] = self._items(dict(value), name)
        return node | {"state": self._state(state, name)}

    def _state(self, state, name):
        return [[key, self.write(x, f"{name}.{key}")] for key, x in state.items()]

    def _posterior(self, posterior, name):
        header, arrays = posterior._pack()
        return {
            "kind": "posterior",
            "header": self.write(header, name),
            "arrays": self._items(arrays, name),
            "approximation": self.write(posterior.approximation, f"{name}.approximation"),
        }


class Reader:
    """Makes objects of nodes.

    Parameters
    ----------
    nodes : list of dict
    array : callable
        ``array(i)`` returns one of the arrays.

    Raises
    ------
    Exception
        Of any kind, where nodes are not as `Writer` makes them.
    """

    def __init__(self, nodes, array):
        self._nodes, self._array, self._made = nodes, array, {}

    @classmethod
    def of(cls, nodes: list[dict], archive: zipfile.ZipFile) -> Self:
        """A reader of nodes whose arrays are in a file."""
        return cls(nodes, lambda i: array_of(archive, f"array_{int(i)}"))

    def read(self, value: Any) -> Any:
        """The object that a value of `Writer.write` stands for."""
        if not isinstance(value, dict):
            return value
        place = value["at"]
        if place not in self._made:
            node = self._nodes[place]
            getattr(self, f"_read_{_KINDS[node['kind']]}")(place, node)
        return self._made[place]

    def _read_container(self, place, node):
        if node["kind"] == "list":
            # known before its entries, which may hold it
            made = self._made[place] = []
            made.extend(self.read(x) for x in node["items"])
            return
        items = [self.read(x) for x in node["items"]]
        if node["kind"] in ("slice", "range"):
            self._made[place] = (slice if node["kind"] == "slice" else range)(*items)
        else:
            kind = {"tuple": tuple, "set": set, "frozenset": frozenset}[node["kind"]]
            self._made[place] = kind(items)

    def _read_mapping(self, place, node):
        made = self._made[place] = {}
        made.update(self._items(node["items"]))

    def _read_array(self, place, node):
        if node["kind"] == "array":
            found = self._array(node["array"]).transpose(node["axes"])
            self._made[place] = found[()] if node["scalar"] else found
            return
        made = self._made[place] = np.empty(node["shape"], dtype=object)
        for i, item in enumerate(node["items"]):
            made.flat[i] = self.read(item)

    def _read_sparse(self, place, node):
        parts, shape = self._items(node["parts"]), tuple(node["shape"])
        made = _SPARSE[node["class"]]
        if "coords" in parts:
            self._made[place] = made((parts["data"], parts["coords"]), shape=shape)
            return
        arrays = parts["data"], parts["indices"], parts["indptr"]
        self._made[place] = made(arrays, shape=shape)
        self._made[place].check_format(full_check=True)

    def _read_numpy(self, place, node):
        kind = node["kind"]
        if kind in ("type", "dtype"):
            found = np.dtype(node["name"])
            if found.hasobject or found.names is not None:
                raise ValueError("a type of objects")
            self._made[place] = found.type if kind == "type" else found
        elif kind == "seeds":
            self._made[place] = SeedSequence(**self._items(node["facts"]))
        elif kind == "generator":
            generator = np.random.Generator(np.random.PCG64(0))
            generator.bit_generator.state = self.read(node["state"])
            self._made[place] = generator
        else:
            made = self._made[place] = np.random.RandomState(0)
            made.set_state(self.read(node["state"]))

    def _read_fact(self, place, node):
        kind = node["kind"]
        if kind == "function":
            self._made[place] = _FUNCTIONS[node["name"]]
        else:
            made = datetime.datetime if kind == "datetime" else datetime.date
            self._made[place] = made.fromisoformat(node["text"])

    def _read_object(self, place, node):
        cls = _OTHERS.get(node["class"]) or _class_of(node["class"])
        if issubclass(cls, tuple):
            self._made[place] = tuple.__new__(cls, [self.read(x) for x in node["items"]])
            return
        if node["class"] in _OTHERS:
            made = cls.__new__(cls)
        else:
            made = dict.__new__(cls) if issubclass(cls, dict) else object.__new__(cls)
        self._made[place] = made
        if isinstance(made, dict):
            dict.update(made, self._items(node["mapping"]))
        # set past what classes do when they are set: some are frozen, others take no attributes
        vars(made).update({str(key): self.read(x) for key, x in node["state"]})

    def _read_posterior(self, place, node):
        made = Posterior._unpack(self.read(node["header"]), self._items(node["arrays"]))
        self._made[place] = made
        made.approximation = self.read(node["approximation"])

    def _items(self, pairs):
        return {self.read(key): self.read(value) for key, value in pairs}


_KINDS = {
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "slice", "range"), "container"),
    "dict": "mapping",
    **dict.fromkeys(("array", "objects"), "array"),
    "sparse": "sparse",
    **dict.fromkeys(("type", "dtype", "seeds", "generator", "random_state"), "numpy"),
    **dict.fromkeys(("function", "date", "datetime"), "fact"),
    "object": "object",
    "posterior": "posterior",
}


def _name_of(cls):
    """Where a class of this package is found, ``"module:name"``; None for others."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    try:
        return name if _class_of(name) is cls else None
    except ValueError:
        return None


def _class_of(name):
    """The class of this package that ``"module:name"`` names; a ValueError for all else."""
    module, _, own = str(name).partition(":")
    inside = module.split(".")[0] == _PACKAGE and module in sys.modules
    cls = vars(sys.modules[module]).get(own) if inside else None
    if not isinstance(cls, type) or cls.__module__ != module:
        raise ValueError(f"{name!r} is no class that models are made of")
    return cls
