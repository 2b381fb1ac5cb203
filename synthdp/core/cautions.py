"""Cautions of many columns in one line: the same caution about 40 columns is printed once."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, final

MOST_NAMED = 4
"""Most columns that a line names; of more it names the first ones, and counts the others."""

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_OF_A_COLUMN = re.compile(
    rf"(?P<before>[^'\"]*?)\bcolumn (?P<name>{_QUOTED}): (?P<said>.*)", re.DOTALL
)
_PARTS = re.compile(
    rf"(?P<quoted>{_QUOTED})|(?P<number>(?<![\w.:/-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w:/]|[.-]\d))"
)
"""Texts in quotation marks, which are levels and names, and numbers by themselves, outside of dates
and words.
"""


@final
class _Caution(NamedTuple):
    """What is said of one column.

    ``words`` is the sentence without its numbers and the column's own name; two columns with the
    same caution have the same.
    """

    before: str
    name: str
    words: tuple[str, ...]
    numbers: tuple[str, ...]


def grouped(cautions: Iterable[str]) -> list[str]:
    """The same cautions, those that differ in nothing but column and numbers as one, where the
    first of them stood.

    Names are listed, and numbers become ranges. What is said of no column, or of one alone, stays
    as it is.

    >>> grouped(
    ...     [
    ...         "column 'a': about 30 % are missing",
    ...         "few records",
    ...         "column 'b': about 41 % are missing",
    ...     ]
    ... )
    ["columns 'a' and 'b': about 30 to 41 % are missing", 'few records']
    """
    groups: dict[object, list[tuple[str, _Caution | None]]] = {}
    for number, text in enumerate(dict.fromkeys(cautions)):
        caution = _read(text)
        key = number if caution is None else (caution.before, caution.words)
        groups.setdefault(key, []).append((text, caution))
    lines = []
    for members in groups.values():
        alike = [caution for _, caution in members if caution is not None]
        lines.append(_line(alike) if len(alike) > 1 else members[0][0])
    return lines


def _read(text: str) -> _Caution | None:
    """A caution that begins with a column, taken apart; None of any other text."""
    of_column = _OF_A_COLUMN.fullmatch(text)
    if of_column is None:
        return None
    name = of_column["name"]
    sentence = of_column["said"]
    words = []
    numbers = []
    end = 0
    for part in _PARTS.finditer(sentence):
        if part["number"] or part["quoted"] == name:
            words.append(sentence[end : part.start()])
            numbers.append(part["number"] or "")
            end = part.end()
    return _Caution(of_column["before"], name, (*words, sentence[end:]), tuple(numbers))


def _line(alike: Sequence[_Caution]) -> str:
    """One line of several columns with the same caution."""
    first = alike[0]
    parts = [first.words[0]]
    for place, words in enumerate(first.words[1:]):
        numbers = [caution.numbers[place] for caution in alike]
        parts += [_range(numbers) if numbers[0] else "it", words]
    names = _listed([caution.name for caution in alike])
    words_of_all = re.sub(r"\bits\b", "their", "".join(parts))
    return f"{first.before}columns {names}: {words_of_all}"


def _range(numbers: Sequence[str]) -> str:
    least = min(numbers, key=float)
    most = max(numbers, key=float)
    return least if least == most else f"{least} to {most}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        kept = MOST_NAMED - 1
        return f"{', '.join(names[:kept])} and {len(names) - kept} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
