"""Arguments of what is kept: each refused in one line if it is of another kind."""

from enum import Enum
from numbers import Real
from os import PathLike
from typing import TypeVar

from synthdp.core.errors import ParameterError

Member = TypeVar("Member", bound=Enum)


def checked_path(path: object, what: str) -> str | PathLike[str]:
    """A path as it was given; raises `ParameterError` if it is none."""
    if isinstance(path, str | PathLike):
        return path
    raise ParameterError(f"{what} is {path!r}; give the name of a file")


def check_words(name: str, text: object, way_out: str) -> None:
    """Raise `ParameterError` unless a parameter is a text that says something."""
    if not isinstance(text, str):
        raise ParameterError(f"{name} is {text!r}; {way_out}")
    if not text.strip():
        raise ParameterError(f"{name} is empty; {way_out}")


def check_number(name: str, number: object) -> None:
    """Raise `ParameterError` unless a parameter is a number."""
    if isinstance(number, bool) or not isinstance(number, Real):
        raise ParameterError(f"{name} is {number!r}; give a number")


def member_of(kind: type[Member], name: str, value: object) -> Member:
    """The member of an enumeration; raises `ParameterError` if there is none of that value.

    >>> from synthdp.privacy.accounting import Accounting
    >>> member_of(Accounting, "accounting", "gdp").value
    'gdp'
    """
    try:
        return kind(value)
    except ValueError:
        raise ParameterError(
            f"{name} is {value!r}; give {' or '.join(repr(each.value) for each in kind)}"
        ) from None
