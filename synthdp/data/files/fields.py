"""The fields of a block of records, column by column: each different field is made a text once.

A column of a million rows has few different fields as a rule. They are told apart by their bytes,
eight at a time as numbers of numpy, so that no text of Python is made for a row. A hash finds rows
that may be alike; that they are is looked at, byte by byte, and where it is not so, sorting tells
them apart.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MAX_WORDS = 8
"""Fields of more than 64 bytes are told apart by a dictionary."""

_WORD = 8
_MASKS = np.array([(1 << 8 * n_bytes) - 1 for n_bytes in range(_WORD + 1)], dtype=np.uint64)
"""Of a word that begins with so many bytes of a field, those bytes: the text has no NUL, so what is
padded differs.
"""

_FACTOR = np.uint64(
    0x9E3779B97F4A7C15
)  # 2**64 by the golden ratio: the upper bits of a product depend on all bits
_BUCKET_BITS = 16

Words = list[NDArray[np.uint64]]
Ints = NDArray[np.intp]


def frame_of(text: bytes, ends: Ints, names: Sequence[str], quote: bytes) -> pd.DataFrame:
    """A table of texts: as categories, but where most fields of a column differ.

    Parameters
    ----------
    text
        UTF-8 without NUL: fields, each followed by one byte that is no part of it.
    ends
        Where each field ends; shape ``(n_records, n_fields)``.
    names
        Of the columns.
    quote
        What stands around some fields, and twice for each inside; or nothing.

    >>> frame_of(b'a,1;"b",2;', np.array([[1, 3], [7, 9]]), ["x", "y"], b'"').to_numpy().tolist()
    [['a', '1'], ['b', '2']]
    """
    padded = np.frombuffer(text + bytes(_WORD), np.uint8)
    words = np.ndarray(len(text) + 1, "<u8", buffer=padded, strides=(1,))  # from every byte on
    starts = np.append(0, ends.ravel() + 1)[: ends.size].reshape(ends.shape)
    read = partial(_texts, text, text.decode() if text.isascii() else None, quote)
    columns = {}
    for number in range(len(names)):
        begin, end = starts[:, number].copy(), ends[:, number].copy()
        alike = _alike(text, words, begin, end)
        if alike is None:
            columns[number] = pd.Series(read(begin, end), dtype=object)
        else:
            firsts, positions = alike
            columns[number] = _categories(read(begin[firsts], end[firsts]), positions)
    frame = pd.DataFrame(columns, copy=False)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _texts(text: bytes, decoded: str | None, quote: bytes, starts: Ints, ends: Ints) -> list[str]:
    """The fields in some places; ``decoded`` is the same text where each character is one byte."""
    places = zip(starts.tolist(), ends.tolist(), strict=True)
    if decoded is not None:
        texts = [decoded[start:end] for start, end in places]
    else:
        texts = [text[start:end].decode() for start, end in places]
    if not quote or quote not in text:
        return texts
    mark = quote.decode()
    return [field[1:-1].replace(2 * mark, mark) if field[:1] == mark else field for field in texts]


def _categories(texts: list[str], positions: Ints) -> pd.Series:
    """For each row one of some texts, which may be equal: one in quotes, the other without."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    renumbered = np.fromiter((numbers[text] for text in texts), np.intp, len(texts))
    dtype = pd.CategoricalDtype(pd.Index(list(numbers), dtype=object))
    return pd.Series(pd.Categorical.from_codes(renumbered[positions], dtype=dtype))


def _alike(
    text: bytes, words: NDArray[np.uint64], starts: Ints, ends: Ints
) -> tuple[Ints, Ints] | None:
    """A row for each different field, and for each row which of them has its field; None if most
    differ.
    """
    lengths = ends - starts
    n_words = -(-int(lengths.max(initial=0)) // _WORD)
    if n_words > MAX_WORDS:
        numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        fields = (
            text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        )
        positions = np.fromiter((numbers[field] for field in fields), np.intp, len(starts))
        return np.unique(positions, return_index=True)[1], positions
    parts, hashes = list(_parts(words, starts, lengths, n_words)), np.zeros(len(starts), np.uint64)
    for part in parts:
        hashes = (hashes ^ part) * _FACTOR
        hashes ^= hashes >> np.uint64(32)
    buckets = (hashes * _FACTOR >> np.uint64(64 - _BUCKET_BITS)).astype(np.intp)
    rows = np.full(1 << _BUCKET_BITS, -1, np.intp)
    rows[buckets] = np.arange(len(starts))
    used = np.flatnonzero(rows >= 0)
    if 2 * len(used) > len(starts):
        return None
    if all((part == part[rows][buckets]).all() for part in parts):
        number = np.empty(len(rows), np.intp)
        number[used] = np.arange(len(used))
        return rows[used], number[buckets]
    order = np.lexsort(parts)
    is_new = np.append(
        True, np.any([part[order][1:] != part[order][:-1] for part in parts], axis=0)
    )
    positions = np.empty(len(starts), np.intp)
    positions[order] = np.cumsum(is_new) - 1
    return order[is_new], positions


def _parts(
    words: NDArray[np.uint64], starts: Ints, lengths: Ints, n_words: int
) -> Iterator[NDArray[np.uint64]]:
    """The bytes of each field as words, the last one padded."""
    for place in range(0, n_words * _WORD, _WORD):
        left = np.clip(lengths - place, 0, _WORD)
        yield words[np.minimum(starts + place, len(words) - 1)] & _MASKS[left]
