"""Arrays of plain numbers as bytes in numpy's format, version 1.0, and back without trust in their
headers.
"""

import io
import re
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)"
    rb"\{'descr': '(?P<dtype><[fi]8)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>|\d{1,15},|\d{1,15}(, \d{1,15})+)\), \} *\n",
    re.DOTALL,
)
"""What numpy writes of C-ordered arrays of 64-bit floats or integers, the lowest byte first:
nothing else is read.
"""


def to_npy(array: NDArray[Any]) -> bytes:
    """An array of numbers as a ``.npy`` file: floats as ``<f8``, integers as ``<i8``."""
    stream = io.BytesIO()
    own = np.asarray(array, dtype="<i8" if array.dtype.kind in "iu" else "<f8", order="C")
    np.lib.format.write_array(stream, own, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def from_npy(content: bytes | bytearray) -> NDArray[Any]:
    """The array in a ``.npy`` file, which cannot be written to.

    Raises `ValueError` unless its header is one that `to_npy` writes, says how many numbers follow,
    and none of them is NaN or infinite upwards (logarithms may be infinite downwards).

    >>> from_npy(to_npy(np.array([[1.5, 2.0]]))).tolist()
    [[1.5, 2.0]]
    """
    header = _HEADER.match(content)
    if header is None or header.end() != 10 + int.from_bytes(header["length"], "little"):
        raise ValueError("not an array that was saved here")
    shape = tuple(map(int, header["shape"].replace(b",", b" ").split()))
    if len(content) - header.end() != 8 * prod(shape):
        raise ValueError("another number of values than the shape says")
    array = np.frombuffer(content, header["dtype"].decode(), offset=header.end()).reshape(shape)
    if not (array < np.inf).all():
        raise ValueError("a value is NaN or infinite")
    array.setflags(write=False)
    return array
