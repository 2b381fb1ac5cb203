"""JSON values that are asked for what they should be: whatever else they are is refused in one
line, which says where it stands, what it is, and what to give.
"""

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from typing import Any, NoReturn, final

from synthdp.core.errors import SchemaError

_MAX = sys.float_info.max
"""The largest number that floats can hold."""


_MAX_SHOWN = 60
"""Characters of a value in a message, which is one line."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class JsonValue:
    """A public JSON value, or one of Python in its place, and where it stands.

    >>> workload = JsonValue({"k": 2, "columns": ["age", 7]}, "workload")
    >>> workload["k"].whole(1)
    2
    >>> workload["columns"].texts()
    Traceback (most recent call last):
    ...
    synthdp.core.errors.SchemaError: workload: columns is ['age', 7]; give a list of texts
    """

    value: Any
    """The value; None, which is null, counts as not given."""
    where: str
    """What it is in, for messages: a file, or a column of the schema."""
    path: str = ""
    """The keys that lead to it there; empty for all of it."""
    error: type[Exception] = SchemaError
    """What is raised if it is something else than it should be."""

    def __getitem__(self, key: str) -> "JsonValue":
        """The value under a key of an object; not given if there is none, or no object."""
        path = f"{self.path}.{key}" if self.path else key
        value = self.mapping().get(key) if self.is_given else None
        return JsonValue(value, self.where, path, self.error)

    @property
    def is_given(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    def default(self, value: Any) -> "JsonValue":
        """This one, or another value here if there is none."""
        return self if self.is_given else JsonValue(value, self.where, self.path, self.error)

    def refuse(self, problem: str) -> NoReturn:
        """Raise the error about the value here."""
        raise self.error(f"{self.where}: {self.path or 'it'} {problem}")

    def expect(self, words: str) -> NoReturn:
        """Refuse the value, and say what to give."""
        self.refuse(f"is {self._shown if self.is_given else 'not given'}; give {words}")

    @property
    def _shown(self) -> str:
        """The value in one line; of what is no JSON, or all of it, and may be a table, its type."""
        try:
            is_small = self.path or not self.value
            shown = repr(self.value) if is_small and json.dumps(self.value) else ""
        except (TypeError, ValueError):
            shown = ""
        short = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}.."
        return short or f"a {type(self.value).__name__}"

    def whole(self, least: float = -inf, most: float = inf) -> int:
        """A whole number from ``least`` to ``most``."""
        is_whole = isinstance(self.value, int) and not isinstance(self.value, bool)
        if not is_whole or not least <= self.value <= most:
            span = f" from {least} to {most}" if most < inf else f" of at least {least}"
            self.expect(f"a whole number{span if least > -inf else ''}")
        return int(self.value)

    def number(
        self, words: str = "a finite number", *, least: float = -_MAX, most: float = _MAX
    ) -> float:
        """A number that floats can hold, from ``least`` to ``most``."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not is_number or not least <= self.value <= most:
            self.expect(words)
        number: float = self.value
        return number

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.expect("true or false")
        return self.value

    def text(self, words: str = "a text") -> str:
        """A text."""
        if not isinstance(self.value, str):
            self.expect(words)
        return self.value

    def choice(self, choices: Collection[str]) -> str:
        """One of some texts."""
        if not isinstance(self.value, str) or self.value not in choices:
            self.expect(f"one of {', '.join(map(repr, choices))}")
        return self.value

    def sequence(self, words: str = "a list", *, least: int = 0) -> tuple[Any, ...]:
        """What is in a list of at least so many entries."""
        is_list = isinstance(self.value, Sequence) and not isinstance(self.value, str)
        if not is_list or len(self.value) < least:
            self.expect(words)
        return tuple(self.value)

    def texts(self, words: str = "a list of texts", *, least: int = 0) -> tuple[str, ...]:
        """The texts in a list."""
        entries = self.sequence(words, least=least)
        if not all(isinstance(each, str) for each in entries):
            self.expect(words)
        return entries

    def entries(self, words: str = "a list", *, least: int = 0) -> list["JsonValue"]:
        """The entries of a list, each with its place."""
        return [
            JsonValue(each, self.where, f"{self.path}[{place}]", self.error)
            for place, each in enumerate(self.sequence(words, least=least))
        ]

    def mapping(self, words: str = "an object in braces") -> Mapping[str, Any]:
        """What is in an object."""
        if not isinstance(self.value, Mapping):
            self.expect(words)
        return self.value

    def check_keys(self, known: Iterable[str], whose: str = "") -> None:
        """Refuse keys of an object that are not known, or not for ``whose`` they are.

        If the known ones are a mapping, it says what else people call each.
        """
        names = known if isinstance(known, Mapping) else dict.fromkeys(known, ())
        for key in self.mapping():
            if key not in names:
                meant = meant_key(str(key), names)
                may = f"it may have {', '.join(names) or 'nothing'}"
                hint = f"did you mean {meant!r}?" if meant else may
                path = self[str(key)].path
                raise self.error(f"{self.where}: the key {path!r} is not known{whose}; {hint}")


def meant_key(key: str, known: Mapping[str, Iterable[str]]) -> str:
    """The key that an unknown one was probably meant to be, empty if none is near; of each what
    else it is called.

    >>> (
    ...     meant_key("Min", {"minimum": ["min"], "maximum": ["max"]}),
    ...     meant_key("minimun", {"minimum": []}),
    ... )
    ('minimum', 'minimum')
    """
    names = {name.lower(): own for own, others in known.items() for name in (own, *others)}
    similar = get_close_matches("".join(filter(str.isalnum, key.lower())), names, 1, cutoff=0.75)
    return names[similar[0]] if similar else ""
