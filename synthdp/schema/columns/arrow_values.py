"""Values of Arrow arrays, each by itself, without what raises for some of them.

A part of `synthdp.schema.columns.reading`, and held to its rules; loaded where a table has types of
Arrow.
"""

from collections.abc import Iterable
from datetime import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FOREIGN = object()
"""Stands for every value that no column reads."""

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def arrow_values(array: Any) -> NDArray[Any]:
    """A typed array of moments, else objects of Python; `_FOREIGN` for what none is read of."""
    from pyarrow import BaseExtensionType, types  # it is there, if it made the array

    if isinstance(array.type, BaseExtensionType):
        return arrow_values(array.cast(array.type.storage_type))
    if types.is_dictionary(array.type):
        inner = array.type.value_type
        # Arrow does not take these apart
        is_foreign = types.is_nested(inner) or isinstance(inner, BaseExtensionType)
        return _foreign(array) if is_foreign else arrow_values(array.cast(inner))
    if types.is_date(array.type) or types.is_timestamp(array.type):
        return np.asarray(array.to_numpy())  # in UTC
    if types.is_time(array.type):
        return times_of(array)
    name = str(array.type)
    if name in ("string", "large_string", "string_view"):
        return decoded(array)
    is_plain = types.is_primitive(array.type) and not types.is_temporal(array.type)
    is_plain |= types.is_decimal(array.type) or "binary" in name.partition("<")[0]
    if is_plain or is_numbers_in_one(array.type):
        return _objects(array.to_pylist())
    return _foreign(array)  # lists of other things, and whatever is to come


def is_numbers_in_one(kind: Any) -> bool:
    """Whether a type of Arrow has several numbers in one value, as points are held: lists and
    structures of nothing else.
    """
    from pyarrow import types  # it is there, if there is a type of it

    inner = [field.type for field in kind] if types.is_struct(kind) else []
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = [kind.value_type]
    are_numbers = (types.is_floating(each) or types.is_integer(each) for each in inner)
    return bool(inner) and all(are_numbers)


def times_of(array: Any) -> NDArray[np.object_]:
    """Times of day of an Arrow array in whole seconds; Arrow lets anybody call a count a time that
    is beyond any day.
    """
    counted = array.cast(f"int{array.type.bit_width}").fill_null(-1)
    seconds = counted.to_numpy().astype(np.int64) // _PER_SECOND[array.type.unit]
    is_time = (seconds >= 0) & (seconds < 86_400)
    distinct, positions = np.unique(seconds[is_time], return_inverse=True)
    times = [time(each // 3600, each // 60 % 60, each % 60) for each in distinct.tolist()]
    values = _foreign(array)
    values[is_time] = _objects(times)[positions]
    return values


def decoded(array: Any) -> NDArray[np.object_]:
    """Texts of an Arrow array, each decoded by itself: Arrow lets anybody call bytes text that are
    no UTF-8.
    """
    return _objects(map(_text, array.cast("large_binary").to_pylist()))


def _text(value: bytes | None) -> object:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return _FOREIGN


def _foreign(array: Any) -> NDArray[np.object_]:
    is_null = array.is_null().to_numpy(zero_copy_only=False)
    return _objects(None if missing else _FOREIGN for missing in is_null)


def _objects(values: Iterable[object]) -> NDArray[np.object_]:
    return np.fromiter(values, dtype=object)
