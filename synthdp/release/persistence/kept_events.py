"""Questions and answers of the kernel as plain JSON values, read from a file that need not be
trusted.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

import numpy as np

from synthdp.core.errors import ParameterError
from synthdp.core.measurement import Coarsening
from synthdp.privacy.events import Event, MarginalEvent, ScoresEvent, SelectionEvent
from synthdp.privacy.queryable import Answer
from synthdp.privacy.values.privtree import PrivTreeEvent
from synthdp.privacy.values.records import ROW, UNIT
from synthdp.privacy.values.value_events import HistogramEvent, PartitionEvent

EVENTS: Mapping[str, type[Event]] = {
    event.__name__: event
    for event in (
        HistogramEvent,
        MarginalEvent,
        PartitionEvent,
        PrivTreeEvent,
        ScoresEvent,
        SelectionEvent,
    )
}
"""All that the kernel is asked for."""

MAX_DIGITS = 2000
"""A fraction is no longer than that: costs have a few hundred digits."""

MAX_FREE_BYTES = 1 << 28
"""Longest line of an answer of which nobody can say beforehand how long it is: some ten million
values.
"""

MAX_ANSWER_BYTES = 11 << 27
"""Longest line of any answer: of a marginal of as many cells as are counted, where all of them are
large.
"""

_OVERHEAD = 1 << 20
"""Bytes of a line besides numbers: what was asked, with the names of columns and merged levels."""

_INTEGERS = ("<i1", "<i2", "<i4", "<i8")


def fraction_in(text: object) -> Fraction:
    """A fraction of at least 0 that was written as text; one that is far too long is not even
    tried.

    Raises `ValueError` or `ZeroDivisionError` if it is none.
    """
    # Checked before it is parsed: reading a decimal takes time that grows with the square of its
    # length, and Python takes digits of all scripts for digits.
    if not isinstance(text, str) or len(text) > MAX_DIGITS or not text.isascii():
        raise ValueError("not a fraction")
    numerator, _, denominator = text.partition("/")
    if not (numerator + (denominator or "1")).isdecimal():
        raise ValueError("not a fraction")
    return Fraction(int(numerator), int(denominator or 1))


def event_to_dict(event: Event) -> dict[str, Any]:
    """An event as plain JSON values, exactly."""
    values = {each.name: getattr(event, each.name) for each in fields(event)}
    return {"class": type(event).__name__} | {
        name: str(value)
        if isinstance(value, Fraction)
        else list(value)
        if isinstance(value, tuple)
        else value
        for name, value in values.items()
    }


def event_in(content: Any) -> Event:
    """The event that `event_to_dict` wrote; raises `ValueError` if it is none."""
    try:
        kind = EVENTS[content["class"]]
        # What has a default was not written by earlier versions.
        said = [each for each in fields(kind) if each.name in content or each.default is MISSING]
        event = kind(**{each.name: _field_in(content[each.name], each.type) for each in said})
        # An event of no cost would be an answer for nothing.
        if event.rho > 0 and 0 <= event.delta < 1 and getattr(event, "record", ROW) in (ROW, UNIT):
            return event
    except (ArithmeticError, LookupError, ParameterError, TypeError):
        pass
    raise ValueError("not an event")


def _field_in(value: object, kind: object) -> object:
    """What an event has, of the kind that its class says."""
    if kind is Fraction:
        return fraction_in(value)
    if kind in (int, str):
        # Not isinstance: in Python a truth value is an integer, too.
        if type(value) is not kind:
            raise ValueError("not an event")
        return value
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("not an event")
    return tuple(value)


def answer_to_dict(question: tuple[object, ...], answer: Answer) -> dict[str, Any]:
    """An answer, and of its question what explains it, as plain JSON values."""
    # Counts are mostly small: the fewest bytes that hold all of them make the shortest journal.
    smallest = next(
        kind for kind in _INTEGERS if np.array_equal(answer.numbers.astype(kind), answer.numbers)
    )
    event, *asked = question
    if isinstance(event, MarginalEvent):
        merging = [each for each in asked if isinstance(each, Coarsening)]
    else:
        merging = []
    content: dict[str, Any] = {"event": event_to_dict(event)} if isinstance(event, Event) else {}
    if merging:
        content["merged"] = {name: groups.tolist() for name, groups in merging[0].groups.items()}
    numbers = b64encode(answer.numbers.astype(smallest).tobytes()).decode()
    return {**content, "kind": smallest, "numbers": numbers, "texts": list(answer.texts)}


def answer_in(entry: Mapping[str, Any]) -> Answer:
    """The answer that `answer_to_dict` wrote; raises `ValueError` if it is none."""
    try:
        if entry["kind"] not in _INTEGERS or not all(
            isinstance(text, str) for text in entry["texts"]
        ):
            raise ValueError("not an answer")
        numbers = np.frombuffer(b64decode(entry["numbers"], validate=True), dtype=entry["kind"])
        # frombuffer gives a view that cannot be written to; a copy belongs to the answer.
        return Answer(numbers.astype(np.int64), tuple(entry["texts"]))
    except (KeyError, TypeError, Base64Error):
        raise ValueError("not an answer") from None


def merging_in(entry: Mapping[str, Any]) -> Coarsening | None:
    """The merging of levels that `answer_to_dict` wrote; raises `ValueError` if it is none."""
    merged = entry.get("merged")
    if merged is None:
        return None
    if not isinstance(merged, Mapping) or not all(
        isinstance(groups, list) for groups in merged.values()
    ):
        raise ValueError("not a merging of levels")
    try:
        return Coarsening({name: np.array(groups) for name, groups in merged.items()})
    except (OverflowError, ParameterError):
        raise ValueError("not a merging of levels") from None


def most_bytes(question: tuple[object, ...], n_numbers: int | None) -> int:
    """Bytes that a line with the answer to a question has at most."""
    levels = [
        groups.size
        for each in question
        if isinstance(each, Coarsening)
        for groups in each.groups.values()
    ]
    # Eleven characters of base64 hold eight bytes; a merged level is written as a number and a
    # comma.
    return MAX_FREE_BYTES if n_numbers is None else 11 * n_numbers + 12 * sum(levels) + _OVERHEAD


def is_answer_to(question: tuple[object, ...], n_numbers: int | None, answer: Answer) -> bool:
    """Whether numbers and texts are as many, and of the kind, that the question asks for."""
    event, *asked = question
    numbers = answer.numbers
    n_texts = len(answer.texts)
    match event:
        case PartitionEvent():  # the missing, a count each, and the values themselves unless they are texts
            return numbers.size == 1 + n_texts if n_texts else numbers.size % 2 == 1
        case PrivTreeEvent():
            # A tree cuts the range that was asked for: it begins and ends there, and never goes
            # back.
            ends = [int(each) for each in asked if isinstance(each, int)]
            return (
                n_texts == 0
                and [*numbers[:1], *numbers[-1:]] == ends
                and bool((np.diff(numbers) > 0).all())
            )
        case SelectionEvent(n_candidates=most) if numbers.size == 1 and not 0 <= numbers[0] < most:
            return False
    return n_texts == 0 and numbers.size == n_numbers
