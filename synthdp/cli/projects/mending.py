"""What mends what a run says: which columns it is about, and which answers of theirs help."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from synthdp.core.message_codes import caution_code

MENDED_IN: Mapping[str, str] = {
    **dict.fromkeys(("C09", "C10", "C12", "E30", "E34"), "budget"),
    **dict.fromkeys(("E17", "E18"), "table"),
    **dict.fromkeys(("E12", "E13", "E16", "E19", "E20"), "columns"),
    "E14": "people",
}
"""What is to be said otherwise, by the code of an error or caution that is about no column."""

FIELDS: Mapping[str, Sequence[str]] = {
    "C01": ("missing", "kind"),
    "C02": ("missing",),
    "C03": ("levels",),
    "C04": ("kind", "minimum"),
    "C05": ("levels", "kind"),
    "C07": ("minimum", "kind"),
    "C08": ("decimals",),
    "C16": ("bins",),
}
"""Which answers about a column may mend a caution, by its code; they are those of `QUESTIONS`."""

DOUBTED: Mapping[str, bool] = {
    **dict.fromkeys(("C01", "C02", "C03", "C04", "C05", "C06", "C07"), True),
    **dict.fromkeys(("C09", "C10", "C11"), False),
}
"""The codes of cautions of what in a table is not to be trusted, and whether they name columns."""

_SHARE = re.compile(r"about ([0-9.]+) %")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")


@final
@dataclass(frozen=True)
class Subject:
    """Cautions of one code."""

    code: str
    texts: list[str] = field(default_factory=list)
    """Word for word."""
    shares: dict[str, float | None] = field(default_factory=dict)
    """The names that they quote, each with the percents of records that are said of it."""

    def fields(self, kind: str) -> Sequence[str]:
        """Which answers about a column of this kind may mend it.

        Whole numbers may be codes, of which no bounds are found; those with decimals are amounts.
        """
        fields = FIELDS.get(self.code, ("",))
        is_amount = self.code == "C07" and kind == "number"
        return [each for each in fields if each != "kind"] if is_amount else fields


def subjects(cautions: Iterable[str]) -> list[Subject]:
    """Cautions by what they are about, in the order of their first ones; each column has a share of
    its own.

    >>> beyond = "column '{}': its bounds are uncertain: about {} % of its records may lie beyond"
    >>> [found] = subjects([beyond.format("age", 3), beyond.format("income", 40)])
    >>> found.code, found.shares, found.fields("integer")
    ('C07', {'age': 3.0, 'income': 40.0}, ('minimum', 'kind'))
    """
    found = dict[str, Subject]()
    for text in dict.fromkeys(cautions):
        code = caution_code(text)
        share = _SHARE.search(text)
        subject = found.setdefault(code, Subject(code))
        subject.texts.append(text)
        subject.shares.update(dict.fromkeys(quoted(text), float(share[1]) if share else None))
    return [*found.values()]


def doubts(cautions: Iterable[str]) -> tuple[list[str], list[str]]:
    """What in a table is not to be trusted: the columns, as cautions name them, and the codes of
    cautions that are of none.
    """
    found = [each for each in subjects(cautions) if each.code in DOUBTED]
    names = [name for each in found if DOUBTED[each.code] for name in each.shares]
    return [*dict.fromkeys(names)], [each.code for each in found if not DOUBTED[each.code]]


def quoted(text: str) -> list[str]:
    """The names that a sentence quotes, each once."""
    return [*dict.fromkeys(_QUOTED.findall(text))]
