"""Settings of a release by their names, and their defaults."""

from enum import Enum
from numbers import Real
from typing import TypeVar

from synthdp.core.errors import ParameterError
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency

MAX_DOMAIN_SHARE = 0.95
"""Something must be left of the budget to measure the table with; a twentieth still measures it
roughly.
"""

DOMAIN_SHARE = 0.25
"""Share of the budget, and of delta, for what a schema leaves open; on Adult 0.3 gave nearly the
same error.
"""

Member = TypeVar("Member", bound=Enum)


QUALITY_SHARE = 0.01
"""Share of what is left for marginals that measures how far the rows are from the records: half a
percent more noise on all else.
"""

CHOICE_SHARE = 0.02
"""Share of what is left for marginals that scores models, where there is a choice among them: one
percent more noise on all else.
"""

MAX_QUALITY_SHARE = 0.5
"""Who spends more on what a table is worth than on the table has chosen the wrong option."""


def as_adjacency(adjacency: str | Adjacency) -> Adjacency:
    """The adjacency of that name; raises `ParameterError` if there is none."""
    return _member(Adjacency, adjacency, "adjacency")


def as_accounting(accounting: str | Accounting) -> Accounting:
    """The accounting of that name; raises `ParameterError` if there is none."""
    return _member(Accounting, accounting, "accounting")


def _member(kind: type[Member], value: object, parameter: str) -> Member:
    try:
        return kind(value)
    except ValueError:
        names = " or ".join(repr(each.value) for each in kind)
        raise ParameterError(f"{parameter} is {value!r}; give {names}") from None


def settled_accounting(
    mechanism: Mechanism, accounting: str | Accounting | None, has_trees: bool
) -> Accounting:
    """The accounting, asked for or by default, that a mechanism and a schema, with PrivTree or
    without, allow.

    Raises `ParameterError` if Gaussian DP is asked for something that is not Gaussian.
    """
    if accounting is None:
        return Accounting.ZCDP if has_trees else mechanism.default_accounting
    asked = as_accounting(accounting)
    if asked is Accounting.GDP and not mechanism.is_gaussian:
        raise ParameterError(
            f"accounting is 'gdp' but {mechanism.name} selects by the exponential mechanism; give 'zcdp'"
        )
    if asked is Accounting.GDP and has_trees:
        raise ParameterError(
            "accounting is 'gdp' but binning 'privtree' has noise that is not Gaussian; give 'zcdp'"
        )
    return asked


def checked_share(domain_share: float) -> float:
    """The share of the budget for what a schema leaves open; raises `ParameterError` if it is out
    of range.
    """
    if (
        isinstance(domain_share, bool)
        or not isinstance(domain_share, Real)
        or not 0 < domain_share <= MAX_DOMAIN_SHARE
    ):
        limit = f"give a number above 0 and at most {MAX_DOMAIN_SHARE}, for instance 0.25"
        raise ParameterError(f"domain_share is {domain_share}; {limit}")
    return float(domain_share)


def checked_quality_share(quality_share: float, called: str) -> float:
    """The share for measuring quality; raises `ParameterError` if it is out of range."""
    if (
        isinstance(quality_share, bool)
        or not isinstance(quality_share, Real)
        or not 0 <= quality_share <= MAX_QUALITY_SHARE
    ):
        limit = f"give a number from 0 (which measures nothing) to {MAX_QUALITY_SHARE}"
        raise ParameterError(f"{called} is {quality_share}; {limit}")
    return float(quality_share)


def checked_flag(name: str, value: object) -> bool:
    """A truth value; raises `ParameterError` if it is none."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} is {value!r}; give True or False")
    return value


def checked_rows(
    unit: str | None,
    max_rows_per_unit: int | None,
    *,
    called: tuple[str, str] = ("unit", "max_rows_per_unit"),
) -> int:
    """Most rows of a unit; raises `ParameterError`, with what the two are called, if only one of
    them is given.
    """
    one, other = called
    if unit is None and max_rows_per_unit is not None:
        raise ParameterError(
            f"{other} is given without {one}; name the column that tells persons apart"
        )
    if unit is not None and max_rows_per_unit is None:
        raise ParameterError(
            f"{one} is given without {other}; say how many rows of a person may be used"
        )
    if max_rows_per_unit is not None and not isinstance(max_rows_per_unit, int):
        raise ParameterError(f"{other} is {max_rows_per_unit!r}; give a whole number of at least 1")
    return 1 if max_rows_per_unit is None else max_rows_per_unit
