"""What is asked of a column, and the kind that the answers say, as a kinds file has it.

Questions and answers are flat texts, as forms and spreadsheets have them.
"""

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple, final

from synthdp.core.errors import ParameterError
from synthdp.core.strict_json import parse_json
from synthdp.schema.columns.notation import MAX_WIDTH
from synthdp.schema.kinds import IGNORE, kinds_known
from synthdp.schema.types import GENERATED_KINDS

POSTCODE, USUAL_DIGITS, _BY_TWO_DIGITS = "postcode", 5, "100"
"""A code of so many digits that it is modelled as a number, in so many bins, which are one for its
first two digits; the others are made up.
"""

_KINDS = tuple(kind for kind in kinds_known() if kind != "string")
ANSWERED_KINDS = (_KINDS[0], POSTCODE, *_KINDS[1:], IGNORE)
"""What a column can be called; a postcode is an integer in a kinds file."""

NUMBERS, MOMENTS = ("integer", "number", "year"), ("date", "datetime", "time")
_ORDERED = (*NUMBERS, *MOMENTS)
_READ = ("categorical", "boolean", *_ORDERED, POSTCODE, "geopoint")
TRUTHS = (
    "ja/nein", "Ja/Nein", "J/N", "j/n", "WAHR/FALSCH", "yes/no", "Yes/No", "Y/N", "true/false", "1/0",
)  # fmt: skip
"""Usual pairs of a word for true and one for false, which the question ``words`` offers."""

OWN_WORDS = "own"
"""The answer to it that others are listed."""

LOCALISED = tuple(each for each in GENERATED_KINDS if each != "id")
"""Kinds of made-up values that differ by language and country."""

_REQUIRED = {"never": True, "may be": False}
"""Whether values are missing, and whether one is required."""
_SERIES = re.compile(r"(.*?)([0-9]{1,15})\s*(?:\.\.\.|…)\s*\1([0-9]{1,15})")
MAX_SERIES = 10_000
"""Two levels that differ by their numbers, for those and all between, and at most how many."""
_CODES = re.compile(r"\s*([0-9]{1,15})\s*(?:\.\.\.|…)\s*([0-9]{1,15})\s*")
_BETWEEN = re.compile(r"\S\s*(?:\.\.\.|…)\s*\S")
"""What looks like one, and would be taken for a single level without a word."""
_SPANS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


class SeriesError(ParameterError):
    """A line that looks like a series of levels is none.

    Parameters
    ----------
    line
        What was typed.
    """

    def __init__(self, line: str) -> None:
        most = f"such as A 1 ... A 9, of at most {MAX_SERIES} levels"
        super().__init__(f"levels: {line!r} is no series; give one {most}")
        self.line = line


def _check_missing(field: Mapping[str, Any]) -> None:
    is_required = (field.get("constraints") or {}).get("required") is True
    if is_required and any(field.get("missingValues") or ()):
        raise ParameterError("missing lists words, but required is 'never'; take one of them back")


def _lines(text: str) -> list[Any]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def listed_levels(text: str) -> list[str]:
    """The levels that a text lists, a line each; ``...`` stands for the numbers between two.

    Raises `SeriesError` if it stands between others, or for too many.

    >>> listed_levels("SF 1/2\\nSF 0 ... SF 3")
    ['SF 1/2', 'SF 0', 'SF 1', 'SF 2', 'SF 3']
    """
    levels = list[str]()
    for line in _lines(text):
        found = _SERIES.fullmatch(line)
        first, last = (int(found[2]), int(found[3])) if found else (0, 0)
        if found and first < last < first + MAX_SERIES:
            wide = len(found[2]) if found[2].startswith("0") else 1
            levels += [f"{found[1]}{number:0{wide}d}" for number in range(first, last + 1)]
        elif _BETWEEN.search(line):
            raise SeriesError(line)
        else:
            levels.append(line)
    return levels


def _required(text: str) -> bool:
    if text not in _REQUIRED:
        raise ParameterError(f"required is {text!r}; give one of {', '.join(_REQUIRED)}")
    return _REQUIRED[text]


def _missing(is_required: Any) -> str:
    return "never" if is_required else "may be"


def _with_empty(text: str) -> list[Any]:
    """Words that mean "missing", of which the first is written; an empty cell always does."""
    return [*_lines(text), ""]


def _listed(values: Any) -> str:
    return "\n".join(str(each) for each in values if each != "")


def number_or_text(text: str) -> Any:
    """A number, with a comma or a point; a text that is none stays one, as bounds of dates do.

    >>> number_or_text("-3"), number_or_text("2,5"), number_or_text("2025-01-31")
    (-3, 2.5, '2025-01-31')
    """
    plain = text.replace(",", ".")
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?", plain):
        return text
    return int(plain) if plain.lstrip("-").isdigit() else float(plain)


def whole_number(name: str, text: str) -> int:
    """The whole number that a text is, whatever stands between its groups of digits.

    Raises `ParameterError`, which calls it by a name, if it is none.

    >>> whole_number("rows", "12.000")
    12000
    """
    digits = re.sub(r"[\s.,'\N{RIGHT SINGLE QUOTATION MARK}]", "", text)
    if not re.fullmatch(r"[0-9]{1,12}", digits):
        raise ParameterError(f"{name} is {text!r}; give a whole number")
    return int(digits)


def plain_number(text: str, mark: str) -> str:
    """A number as programs write it, of a text whose decimal mark is told apart from those between
    groups of digits: where it has both, it is the latter one, else ``mark``. Other texts are left.

    >>> plain_number("100.000,00", "."), plain_number("1.500", ","), plain_number("1.5", ",")
    ('100000.00', '1500', '1.5')
    """
    mark = max(".,", key=text.rfind) if "." in text and "," in text else mark
    group = "." if mark == "," else ","
    digits = re.sub(r"[\s'\N{RIGHT SINGLE QUOTATION MARK}]", "", text)
    number = rf"-?([0-9]+|[0-9]{{1,3}}([{group}][0-9]{{3}})+)([{mark}][0-9]+)?"
    is_number = re.fullmatch(number, digits)
    return digits.replace(group, "").replace(mark, ".") if is_number else text


def pattern_of_example(text: str) -> str:
    """The pattern of ids that look like an invented one: its last number is counted, with as many
    digits, and what stands around it stays. A pattern, and a text without a number, are left.

    >>> pattern_of_example("SCH-1000579"), pattern_of_example("P{:04d}/25")
    ('SCH-{:07d}', 'P{:04d}/25')
    """
    parts = None if "{" in text or "}" in text else re.fullmatch(r"(.*?)([0-9]+)([^0-9]*)", text)
    return f"{parts[1]}{{:0{len(parts[2])}d}}{parts[3]}" if parts else text


def _example_of_pattern(pattern: Any) -> str:
    """The first id by a pattern, if it says the same as that, else the pattern."""
    parts = re.fullmatch(r"([^{}]*)\{:0([0-9]+)d\}([^{}]*)", f"{pattern}")
    example = f"{parts[1]}{1:0{parts[2]}d}{parts[3]}" if parts else ""
    return example if pattern_of_example(example) == pattern else f"{pattern}"


def _json(text: str) -> Any:
    return parse_json(text, "field")


@final
class FieldQuestion(NamedTuple):
    """Its name, where a field has what the answer says (nowhere, if other answers follow from it),
    and of which kinds it is asked.
    """

    name: str
    place: tuple[str, ...]
    kinds: tuple[str, ...]
    read: Callable[[str], Any] = str
    shown: Callable[[Any], str] = str
    choices: tuple[str, ...] = ()
    """What can be answered, besides nothing, which leaves it as usual."""
    ticked: bool | None = None
    """What the field says if it is ticked; None if it is no tick."""
    is_rare: bool = False
    """Whether few columns need it."""


QUESTIONS = (
    FieldQuestion("levels", ("constraints", "enum"), ("categorical",), listed_levels, _listed),
    FieldQuestion("other", ("synthdp", "other"), ("categorical",), is_rare=True),
    FieldQuestion("minimum", ("constraints", "minimum"), _ORDERED, number_or_text),
    FieldQuestion("maximum", ("constraints", "maximum"), _ORDERED, number_or_text),
    FieldQuestion("format", ("format",), MOMENTS),
    FieldQuestion("words", (), ("boolean",), choices=(*TRUTHS, OWN_WORDS)),
    FieldQuestion("true", ("trueValues",), ("boolean",), _lines, _listed),
    FieldQuestion("false", ("falseValues",), ("boolean",), _lines, _listed),
    FieldQuestion("bbox", ("synthdp", "bbox"), ("geopoint",), _json, json.dumps),
    FieldQuestion("pattern", ("pattern",), ("id",), pattern_of_example, _example_of_pattern),
    FieldQuestion("locale", ("locale",), LOCALISED),
    FieldQuestion(
        "required",
        ("constraints", "required"),
        _READ,
        _required,
        _missing,
        tuple(_REQUIRED),
        is_rare=True,
    ),
    FieldQuestion("missing", ("missingValues",), _READ, _with_empty, _listed, is_rare=True),
    FieldQuestion("bins", ("synthdp", "bins"), (*_ORDERED, POSTCODE), number_or_text, is_rare=True),
    FieldQuestion("closed", ("synthdp", "derive"), _READ, ticked=False, is_rare=True),
    FieldQuestion("decimals", ("synthdp", "decimals"), ("number",), number_or_text, is_rare=True),
    FieldQuestion(
        "width", ("synthdp", "width"), ("integer", POSTCODE), number_or_text, is_rare=True
    ),
    FieldQuestion("bare", ("bareNumber",), ("integer", "number"), ticked=False, is_rare=True),
    FieldQuestion("resolution", ("synthdp", "resolution"), MOMENTS, choices=_SPANS, is_rare=True),
    FieldQuestion("relative_to", ("synthdp", "relative_to"), _ORDERED, is_rare=True),
    FieldQuestion("as", ("synthdp", "as"), _ORDERED, choices=("difference", "ratio"), is_rare=True),
)
"""All of them; what else a field may say is written as JSON."""


def kind_of_answers(answers: Mapping[str, str], *, mark: str = ".") -> dict[str, Any] | str | None:
    """The kind of a column that the answers say: the field, or its kind alone; None if no kind is
    chosen. Numbers have this decimal mark.

    Raises `SynthdpError` if what is written as JSON, or as a number, is none.

    >>> kind_of_answers({"kind": "integer", "minimum": "0", "maximum": "", "missing": "99"})
    {'type': 'integer', 'constraints': {'minimum': 0}, 'missingValues': ['99', '']}
    >>> kind_of_answers({"kind": "boolean", "words": "ja/nein", "required": "may be"})
    {'type': 'boolean', 'trueValues': ['ja'], 'falseValues': ['nein'], 'constraints': {'required': False}}
    >>> kind_of_answers({"kind": "categorical", "levels": "01000 ... 99999"})
    {'type': 'integer', 'constraints': {'minimum': 1000, 'maximum': 99999}, 'synthdp': {'width': 5}}
    """
    kind = answers.get("kind", "")
    if not kind:
        return None
    if kind not in ANSWERED_KINDS:
        raise ParameterError(f"{kind!r} is no kind of columns")
    if codes := _codes(kind, answers):
        return kind_of_answers({**answers, **codes, "kind": "integer"}, mark=mark)
    field: dict[str, Any] = {"type": kind}
    is_distance = bool(answers.get("relative_to")) and kind in _ORDERED
    if kind == "boolean":
        answers = _with_truths(answers)
    for each in QUESTIONS:
        text = answers.get(each.name, "")
        is_asked = each.place and kind in each.kinds and (is_distance or each.name != "as")
        if not text or not is_asked:
            continue
        is_number = each.read is number_or_text and (is_distance or kind in NUMBERS)
        value = _number(each.name, text, mark) if is_number else each.read(text)
        _put(field, _place(each, is_distance), value if each.ticked is None else each.ticked)
    if more := answers.get("more", ""):
        _merge(field, _json(more))
    _check_missing(field)
    return kind if len(field) == 1 else field


def _with_truths(answers: Mapping[str, str]) -> Mapping[str, str]:
    """The answers about a boolean with its words as two answers; refuses words of its own where
    none are listed.
    """
    words = answers.get("words")
    if words in TRUTHS:
        true, false = words.split("/")
        return {**answers, "true": true, "false": false}
    if words == OWN_WORDS and not (answers.get("true") or answers.get("false")):
        raise ParameterError("no words are listed; list those for true and those for false")
    return answers


def answers_of_kind(field: Mapping[str, Any] | str | None, *, mark: str = ".") -> dict[str, str]:
    """The answers that say a field, as the page shows them, numbers with this decimal mark; what
    has no input stands as JSON.

    >>> answers_of_kind({"type": "integer", "constraints": {"minimum": 0}, "title": "Age"})["more"]
    '{"title": "Age"}'
    """
    rest: dict[str, Any] = (
        {"type": field} if isinstance(field, str) else deepcopy(dict(field or {}))
    )
    kind = rest.pop("type", None) or ""
    answers = {"kind": "categorical" if kind == "string" else str(kind)}
    is_distance = "relative_to" in rest.get("synthdp", {})
    for each in QUESTIONS:
        if not each.place or answers["kind"] not in each.kinds:
            continue
        value = _taken(rest, _place(each, is_distance))
        if value is not None and (each.ticked is None or value == each.ticked):
            text = each.shown(value)
            is_number = each.read is number_or_text and kind in NUMBERS
            answers[each.name] = text.replace(".", mark) if is_number else text
    if not is_distance:
        answers = _as_postcode(answers)
    answers = _without_truths(answers)
    if rest := {key: value for key, value in rest.items() if value not in ({}, None)}:
        answers["more"] = json.dumps(rest, ensure_ascii=False)
    return answers


def _as_postcode(answers: dict[str, str]) -> dict[str, str]:
    """Answers about a number as those about a postcode, if they say all codes of so many digits,
    in bins.
    """
    codes = _all_codes(answers.get("width", ""))
    if not codes or answers != answers | codes or "bins" not in answers:
        return answers
    usual = {"bins": _BY_TWO_DIGITS, "width": f"{USUAL_DIGITS}"}.items()
    shown = {
        name: text
        for name, text in answers.items()
        if name not in ("minimum", "maximum") and (name, text) not in usual
    }
    return shown | {"kind": POSTCODE}


def _without_truths(answers: dict[str, str]) -> dict[str, str]:
    """The answers about a boolean with its two answers as words; the inverse of `_with_truths`."""
    if "true" not in answers and "false" not in answers:
        return answers
    pair = f"{answers.get('true')}/{answers.get('false')}"
    if pair not in TRUTHS:
        return answers | {"words": OWN_WORDS}
    others = {name: text for name, text in answers.items() if name not in ("true", "false")}
    return others | {"words": pair}


def _codes(kind: str, answers: Mapping[str, str]) -> dict[str, str]:
    """The answers about a number that say the codes of a postcode, or of a series that is too long
    for a list of levels; none for any other column.
    """
    if kind == POSTCODE:
        digits = whole_number("width", answers.get("width") or f"{USUAL_DIGITS}")
        codes = _all_codes(f"{digits}") or {"width": f"{digits}"}
        return codes | {"bins": answers.get("bins") or _BY_TWO_DIGITS}
    found = _CODES.fullmatch(answers.get("levels", "")) if kind == "categorical" else None
    first, last = found.groups() if found else ("", "")
    is_long = len(first) == len(last) and int(last or 0) - int(first or 0) >= MAX_SERIES
    return {"minimum": first, "maximum": last, "width": f"{len(last)}"} if is_long else {}


def _all_codes(width: str) -> dict[str, str]:
    """The answers that say all numbers of so many digits; none if those are too many for a number."""
    digits = int(width) if width.isdecimal() else 0
    is_number = 0 < digits <= MAX_WIDTH
    return {"minimum": "0", "maximum": "9" * digits, "width": width} if is_number else {}


def declared_levels(kind: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """The levels that a kind declares, by how they are written; none if they are to be learnt.

    >>> declared_levels({"type": "boolean", "trueValues": ["ja"]})
    {'ja': True, 'false': False}
    """
    field: Mapping[str, Any] = kind if isinstance(kind, Mapping) else {"type": kind}
    if field["type"] == "boolean":
        return {(field.get(f"{key}Values") or [key])[0]: key == "true" for key in ("true", "false")}
    return {str(level): level for level in (field.get("constraints") or {}).get("enum") or ()}


def is_ordered(kind: Mapping[str, Any] | str | None) -> bool:
    """Whether a kind has an order, and so limits in conditions in place of levels."""
    return (kind["type"] if isinstance(kind, Mapping) else kind) in _ORDERED


def _number(name: str, text: str, mark: str) -> Any:
    """The number that is answered, with a decimal mark; bounds of a distance are some, too."""
    value = number_or_text(plain_number(text, mark))
    if isinstance(value, str):
        raise ParameterError(f"{name} is {text!r}; give a number, such as 1234{mark}5")
    return value


def _place(each: FieldQuestion, is_distance: bool) -> tuple[str, ...]:
    """Where it stands; bounds of a column that is measured by its distance from another stand
    elsewhere.
    """
    is_bound = is_distance and each.name in ("minimum", "maximum")
    return ("synthdp", each.name) if is_bound else each.place


def _put(field: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    for key in place[:-1]:
        field = field.setdefault(key, {})
    field[place[-1]] = value


def _taken(field: dict[str, Any], place: tuple[str, ...]) -> Any:
    """What stands in a place of a field, which it is taken out of; None if nothing does."""
    for key in place[:-1]:
        field = field.get(key) or {}
    return field.pop(place[-1], None)


def _merge(field: dict[str, Any], more: Any) -> None:
    if not isinstance(more, Mapping) or "type" in more:
        raise ParameterError('more: give a JSON object without "type", such as {"title": "Age"}')
    for key, value in more.items():
        own = field.get(key)
        field[key] = own | value if isinstance(own, dict) and isinstance(value, dict) else value
