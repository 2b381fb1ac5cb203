"""Code books: the levels of columns, out of what other programs write of them."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.schema.kinds import IGNORE

_QUOTED = r"\"[^\"]*\"|'[^']*'"
_PAIR = re.compile(rf"(?P<value>{_QUOTED}|-?[\w.]+)\s+(?P<label>{_QUOTED})")
_OF_SPSS = re.compile(r"(?:add\s+)?value\s+labels?\b(.*?)(?:\.\s*$|\Z)", re.I | re.S | re.M)
_DEFINED = re.compile(rf"la(?:b|bel)\s+def(?:ine)?\s+(\w+)((?:\s+-?[\w.]+\s+(?:{_QUOTED}))+)", re.I)
_USED = re.compile(r"la(?:b|bel)\s+val(?:ues)?\s+([\w ]+?)\s+(\w+)\s*$", re.I | re.M)
_HEADS = {"variable", "variablename", "name", "column", "field", "spalte", "merkmal"}
"""What the first column of a code book is called where it has a header."""


def code_book(text: str, *, labels: bool = False) -> dict[str, list[str]]:
    """The levels of each column that a code book lists, in its order.

    Parameters
    ----------
    text
        Lines of a column, a level and, if it has one, its label, separated by commas, semicolons or
        tabs; or the commands of SPSS (``VALUE LABELS``) or Stata (``label define`` and
        ``label values``).
    labels
        Whether the table holds the labels, not the codes.

    Raises
    ------
    SchemaError
        If it is none of these.

    >>> code_book("sex;1;female\\nsex;2;male")
    {'sex': ['1', '2']}
    >>> code_book("VALUE LABELS sex 1 'female' 2 'male' / job 1 'nurse'.", labels=True)
    {'sex': ['female', 'male'], 'job': ['nurse']}
    >>> code_book('label define mf 1 "female" 2 "male"\\nlabel values sex mf')
    {'sex': ['1', '2']}
    """
    if _OF_SPSS.search(text):
        triples = list(_of_spss(text))
    elif _DEFINED.search(text):
        triples = list(_of_stata(text))
    else:
        triples = list(_of_lines(text))
    levels = dict[str, list[str]]()
    for name, value, label in triples:
        level = label if labels and label else value
        if level not in levels.setdefault(name, []):
            levels[name].append(level)
    if not levels:
        raise SchemaError(
            "code book: it has no levels; give lines such as sex;1;female, or VALUE LABELS of SPSS"
        )
    return levels


def with_levels(kinds: Mapping[str, Any], levels: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A kinds file's columns with the levels that a code book lists for them.

    Only categories get them, and columns that are left out or of which nothing is said: a number
    with words for some of its values stays a number.

    >>> with_levels({"sex": None, "age": "integer"}, {"sex": ["f", "m"], "age": ["-1"]})
    {'sex': {'type': 'categorical', 'constraints': {'enum': ['f', 'm']}}, 'age': 'integer'}
    """
    filled = dict(kinds)
    for name, kind in kinds.items():
        field = dict(kind) if isinstance(kind, Mapping) else {"type": kind}
        if name in levels and field.get("type") in (None, IGNORE, "categorical", "string"):
            constraints = {**field.get("constraints", {}), "enum": [*levels[name]]}
            filled[name] = field | {"type": "categorical", "constraints": constraints}
    return filled


def with_levels_of_tables(
    tables: Mapping[str, Mapping[str, Any]],
    levels: Mapping[str, Sequence[str]],
    *,
    fixed: Collection[tuple[str, str]] = (),
) -> dict[str, dict[str, Any]]:
    """The kinds of several tables with the levels that a code book lists, as `with_levels`, but for
    fixed columns, each a table and a name.

    Raises `ParameterError` if the code book is about none of the columns.
    """
    if not any(levels.keys() & kinds.keys() for kinds in tables.values()):
        listed = ", ".join(sorted(levels)[:5])
        raise ParameterError(f"the code book is about {listed}, which are no columns of the table")
    filled = dict[str, dict[str, Any]]()
    for table, kinds in tables.items():
        free = {name: kind for name, kind in kinds.items() if (table, name) not in fixed}
        filled[table] = {**kinds, **with_levels(free, levels)}
    return filled


def _plain(text: str) -> str:
    return text[1:-1] if text[:1] in "\"'" and text[:1] == text[-1:] and len(text) > 1 else text


def _of_spss(text: str) -> Iterator[tuple[str, str, str]]:
    for command in _OF_SPSS.finditer(text):
        for block in re.split(r"/(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*$)", command[1]):
            pairs = list(_PAIR.finditer(block))
            names = block[: pairs[0].start()].split() if pairs else []
            for name in names:
                for pair in pairs:
                    yield name, _plain(pair["value"]), _plain(pair["label"])


def _of_stata(text: str) -> Iterator[tuple[str, str, str]]:
    defined = {match[1]: list(_PAIR.finditer(match[2])) for match in _DEFINED.finditer(text)}
    for used in _USED.finditer(text):
        for name in used[1].split():
            for pair in defined.get(used[2], ()):
                yield name, _plain(pair["value"]), _plain(pair["label"])


def _of_lines(text: str) -> Iterator[tuple[str, str, str]]:
    lines = text.strip().splitlines()
    first = lines[0] if lines else ""
    delimiter = max(";\t,", key=first.count)
    last = ""
    for number, row in enumerate(csv.reader(lines, delimiter=delimiter)):
        cells = [cell.strip() for cell in row]
        if len(cells) < 2 or not cells[1]:
            continue
        last = cells[0] or last  # the column is often named at its first level only
        if last and not (number == 0 and last.lower().replace(" ", "") in _HEADS):
            yield last, cells[1], cells[2] if len(cells) > 2 else ""
