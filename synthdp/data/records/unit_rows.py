"""Rows per person: a bound on what one person contributes, enforced before anything is counted."""

import secrets
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any, final
from uuid import UUID

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.data.records.vocabulary import NO_KEY, Vocabulary
from synthdp.schema.columns.reading import canonical_text, in_utc, is_missing, plain_text

KEY_CHARACTERS = 16
"""Length of the key of the hash that orders a person's rows: pandas' SipHash takes 16 bytes."""

# the increment and the multipliers of SplitMix64 [Steele 14]
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@final
class UnitRows:
    """Which rows are kept so that no person has more than ``max_rows`` of them.

    Of each person a sample of at most ``max_rows`` rows is kept, uniform over the person's
    rows. Whose a row is depends on its id alone:

    - Texts are the same person if they are the same text, white space around it and the way in
      which accents are encoded aside. ``"12"`` and ``"12.0"`` are two, as ``"12"`` and ``"012"``
      are.
    - A number is the person of its text, a whole one of its text without decimals: ``12``, ``12.0``
      and ``"12"`` are one. So are a truth value, a UUID and a `decimal.Decimal`; of the latter
      ``12`` and ``12.0`` are two.
    - A date or moment is the person of its ISO 8601 text in UTC, as short as that can be.
    - Bytes are one person if they are the same bytes, and never that of a text.

    A row without an id is left out: nobody can tell whose it is, so no bound on anybody's rows
    would hold for it. Objects of other types (durations, intervals, lists) are no ids.

    Why the bound is one on sensitivity. Which rows of a person are kept depends on that
    person's own rows and on a random key that has nothing to do with the table, and on nothing
    else: the j-th row of a person has as its priority the j-th number of a SplitMix64 stream
    that starts at a keyed hash of the person's id, and the rows of least priority are kept. So,
    for every key, adding or removing a person with all rows adds or removes the kept rows of
    that person, at most ``max_rows``, and changes no other row: kept tables of neighbours are
    neighbours, and a mechanism that is private for each fixed key is private for a random one.
    (Sampling rows from one generator, in turn, would not do: a person more would shift the
    draws of all who follow.) Two ids with one hash get the same priorities; that ties together
    which of their rows are kept, but never makes one person of them.

    Parameters
    ----------
    max_rows
        Most rows of a person, at least 1.
    missing_values
        Texts that mean "no id"; an empty text always does.
    key
        Text of `KEY_CHARACTERS` ASCII characters; by default random, from the operating system.
        Anything else is for tests.

    Raises
    ------
    ParameterError
        If ``max_rows`` is not a whole number of at least 1, or the key has another length.
    """

    __slots__ = ("_ids", "_key", "_max_rows", "_missing")

    def __init__(
        self, *, max_rows: int, missing_values: Iterable[str] = ("",), key: str | None = None
    ) -> None:
        if isinstance(max_rows, bool) or not isinstance(max_rows, int | np.integer) or max_rows < 1:
            raise ParameterError(
                f"max_rows is {max_rows!r}; give a whole number of at least 1: most rows of a person"
            )
        if key is not None and (len(key) != KEY_CHARACTERS or not key.isascii()):
            raise ParameterError(f"key: give {KEY_CHARACTERS} ASCII characters")
        self._max_rows = int(max_rows)
        self._missing = frozenset(map(plain_text, missing_values))
        self._key = secrets.token_urlsafe(KEY_CHARACTERS * 3 // 4) if key is None else key
        self._ids: Vocabulary[str | bytes] = Vocabulary(self._id_of)

    def _id_of(self, value: object) -> str | bytes | None:
        text = plain_text(value) if type(value) is str else _key_of(value)
        return None if not text or text in self._missing else text

    def add(self, ids: pd.Series) -> None:
        """The ids of a chunk of rows; total, as encoding is."""
        self._ids.add(ids)

    @property
    def ids(self) -> Vocabulary[str | bytes]:
        """Whose each of the rows so far is."""
        return self._ids

    def kept(self, eligible: NDArray[np.bool_] | bool = True) -> NDArray[np.bool_]:
        """Whether each of the rows so far is kept; shape ``(n_rows,)``.

        Sensitivity: whether a row is ``eligible`` must depend on the rows of its person alone. All
        are by default.
        """
        return self.ranks(eligible) < self._max_rows

    def ranks(self, eligible: NDArray[np.bool_] | bool = True) -> NDArray[np.int64]:
        """Which row of its person each one is, by priority and from 0; shape ``(n_rows,)``.

        Those without a person, or not ``eligible``, come after all others.
        """
        persons = np.where(eligible, self._ids.rows.joined(), NO_KEY)
        # Stable, so that a person's rows keep their own order among themselves.
        order = np.argsort(persons, kind="stable")
        order = order[np.searchsorted(persons[order], 0) :]  # rows without an id come first
        owners = persons[order]
        positions = positions_within(owners)
        # The j-th number of the person's own stream: a person more or less changes nobody else's.
        priorities = _mixed(self._hashes()[owners] + (positions + 1).astype(np.uint64) * _GAMMA)
        by_priority = np.lexsort((priorities, owners))  # stable: ties by position
        ranks = np.full(len(persons), np.iinfo(np.int64).max)
        # Sorted by owner again, so the positions fit.
        ranks[order[by_priority]] = positions
        return ranks

    def _hashes(self) -> NDArray[np.uint64]:
        ids = np.empty(len(self._ids.keys), dtype=object)
        ids[:] = [
            key if isinstance(key, bytes) else key.encode(errors="surrogatepass")
            for key in self._ids.keys
        ]
        # Value by value: pandas would otherwise number all ids together first.
        hashes: NDArray[np.uint64] = pd.util.hash_array(ids, hash_key=self._key, categorize=False)
        return hashes

    def __repr__(self) -> str:
        return f"<UnitRows of at most {self._max_rows} a person>"


def _key_of(value: object) -> str | bytes | None:
    """Whose id a value is that is no text; None if it is none."""
    if is_missing(value):
        return None
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, date | np.datetime64):
        return str(np.datetime_as_string(in_utc(value), unit="auto"))
    return str(value) if isinstance(value, UUID | Decimal) else canonical_text(value)


def positions_within(owners: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """For each entry of a sorted array, how many equal ones come before it."""
    positions = np.arange(len(owners))
    starts = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
    return positions - np.maximum.accumulate(np.where(starts, positions, 0))


def _mixed(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 [Steele 14]; arrays of uint64 wrap around without a word."""
    states = (states ^ (states >> np.uint64(30))) * _MIX[0]
    states = (states ^ (states >> np.uint64(27))) * _MIX[1]
    return states ^ (states >> np.uint64(31))
