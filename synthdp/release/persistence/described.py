"""Exact descriptions of public objects: two are equal only if the objects are."""

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from os import PathLike

import numpy as np

from synthdp.core.errors import ParameterError


def digest_of(value: object) -> str:
    """SHA-256, in hexadecimal, of the exact description of a public object.

    Plain values, arrays, collections and objects with such attributes are described by all that is
    in them.

    Raises
    ------
    ParameterError
        If something in it is none of these, such as a function.

    >>> digest_of({"a": Fraction(1, 3)}) == digest_of({"a": Fraction(2, 6)}) != digest_of(
    ...     {"a": 1 / 3}
    ... )
    True
    """
    return sha256(json.dumps(_described(value)).encode()).hexdigest()


def _described(value: object) -> object:
    """A value as JSON that no other value has."""
    if value is None or type(value) in (bool, int, str):
        return value
    match value:
        case type():
            return ["class", f"{value.__module__}.{value.__qualname__}"]
        case np.ndarray() if value.dtype != object:
            plain = np.ascontiguousarray(value)
            return [
                "array",
                plain.dtype.str,
                list(plain.shape),
                sha256(plain.tobytes()).hexdigest(),
            ]
        case float():
            return ["float", value.hex()]
        case Fraction() | PathLike() | str() | bytes():
            return [type(value).__name__, str(value)]
        case np.generic():
            return _described(value.item())
    return _described_parts(value)


def _described_parts(value: object) -> object:
    """A collection, or an object with attributes, as JSON."""
    match value:
        case np.ndarray() | Sequence():
            return ["list", [_described(each) for each in value]]
        case Mapping():
            return [
                "mapping",
                _sorted([[_described(key), _described(each)] for key, each in value.items()]),
            ]
        case AbstractSet():
            return ["set", _sorted([_described(each) for each in value])]
        case Enum():
            return ["member", _described(type(value)), value.name]
    return ["object", _described(type(value)), _attributes(value)]


def _sorted(described: list[object]) -> list[object]:
    """In an order that does not depend on how they came."""
    return sorted(described, key=json.dumps)


def _attributes(value: object) -> object:
    """All that is in an object of a class."""
    if is_dataclass(value):
        return [[each.name, _described(getattr(value, each.name))] for each in fields(value)]
    if not hasattr(value, "__dict__") or callable(value):
        raise ParameterError(
            f"journal: a {type(value).__name__} among the parameters cannot be compared with that of an earlier run; "
            "use plain values there, or do without a journal"
        )
    return _described(vars(value))
