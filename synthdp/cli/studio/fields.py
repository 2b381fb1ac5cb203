"""The inputs of a column on the page, and the field of a kinds file or schema that they say."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

from synthdp.core.errors import ParameterError
from synthdp.core.strict_json import parse_json
from synthdp.schema.kinds import IGNORE, kinds_known
from synthdp.schema.types import GENERATED_KINDS

KINDS = (*(kind for kind in kinds_known() if kind != "string"), IGNORE)
"""What a column can be called, in the order of the page."""

NUMBERS, MOMENTS = ("integer", "number", "year"), ("date", "datetime", "time")
_ORDERED = (*NUMBERS, *MOMENTS)
_READ = ("categorical", "boolean", *_ORDERED, "geopoint")
_SPANS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


def _lines(text: str) -> list[Any]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _with_empty(text: str) -> list[Any]:
    """Words that mean "missing"; an empty cell always does."""
    return ["", *_lines(text)]


def _listed(values: Any) -> str:
    return "\n".join(str(each) for each in values if each != "")


def _number(text: str) -> Any:
    """A number as JSON has it; a text that is none stays one, as bounds of dates do."""
    try:
        number = json.loads(text)
    except json.JSONDecodeError:
        return text
    return number if isinstance(number, int | float) and not isinstance(number, bool) else text


def _json(text: str) -> Any:
    return parse_json(text, "field")


@final
class Input(NamedTuple):
    """One input: its name, where a field has what it says, and of which kinds it is asked."""

    name: str
    place: tuple[str, ...]
    kinds: tuple[str, ...]
    read: Callable[[str], Any] = str
    shown: Callable[[Any], str] = str
    choices: tuple[str, ...] = ()
    ticked: bool | None = None
    """What the field says if it is ticked; None if it is no tick."""
    is_rare: bool = False
    """Whether the page shows it only if more is asked for."""


INPUTS = (
    Input("levels", ("constraints", "enum"), ("categorical",), _lines, _listed),
    Input("minimum", ("constraints", "minimum"), _ORDERED, _number),
    Input("maximum", ("constraints", "maximum"), _ORDERED, _number),
    Input("format", ("format",), MOMENTS),
    Input("true", ("trueValues",), ("boolean",), _lines, _listed),
    Input("false", ("falseValues",), ("boolean",), _lines, _listed),
    Input("bbox", ("synthdp", "bbox"), ("geopoint",), _json, json.dumps),
    Input("pattern", ("pattern",), ("id",)),
    Input("locale", ("locale",), tuple(each for each in GENERATED_KINDS if each != "id")),
    Input("required", ("constraints", "required"), _READ, ticked=True),
    Input("missing", ("missingValues",), _READ, _with_empty, _listed, is_rare=True),
    Input("other", ("synthdp", "other"), ("categorical",), is_rare=True),
    Input("bins", ("synthdp", "bins"), _ORDERED, _number, is_rare=True),
    Input("closed", ("synthdp", "derive"), _READ, ticked=False, is_rare=True),
    Input("decimals", ("synthdp", "decimals"), ("number",), _number, is_rare=True),
    Input("width", ("synthdp", "width"), ("integer",), _number, is_rare=True),
    Input("bare", ("bareNumber",), ("integer", "number"), ticked=False, is_rare=True),
    Input("resolution", ("synthdp", "resolution"), MOMENTS, choices=_SPANS, is_rare=True),
    Input("relative_to", ("synthdp", "relative_to"), _ORDERED, is_rare=True),
    Input("as", ("synthdp", "as"), _ORDERED, choices=("difference", "ratio"), is_rare=True),
)
"""All of them; what else a field may say is written as JSON."""


def field_of(inputs: Mapping[str, str]) -> dict[str, Any] | str | None:
    """The kind of a column that the inputs say: the field, or its kind alone; None if no kind is
    chosen.

    Raises `SynthdpError` if what is written as JSON is none.

    >>> field_of({"kind": "integer", "minimum": "0", "maximum": "", "missing": "99"})
    {'type': 'integer', 'constraints': {'minimum': 0}, 'missingValues': ['', '99']}
    """
    kind = inputs.get("kind", "")
    if not kind:
        return None
    if kind not in KINDS:
        raise ParameterError(f"{kind!r} is no kind of columns")
    field: dict[str, Any] = {"type": kind}
    is_distance = bool(inputs.get("relative_to")) and kind in _ORDERED
    for each in INPUTS:
        text = inputs.get(each.name, "")
        if text and kind in each.kinds and (is_distance or each.name != "as"):
            _put(
                field,
                _place(each, is_distance),
                each.read(text) if each.ticked is None else each.ticked,
            )
    if more := inputs.get("more", ""):
        _merge(field, _json(more))
    return kind if len(field) == 1 else field


def inputs_of(field: Mapping[str, Any] | str | None) -> dict[str, str]:
    """The inputs that say a field, as the page shows them; what has no input stands as JSON.

    >>> inputs_of({"type": "integer", "constraints": {"minimum": 0}, "title": "Age"})["more"]
    '{"title": "Age"}'
    """
    rest: dict[str, Any] = {"type": field} if isinstance(field, str) else _copy(field or {})
    kind = rest.pop("type", None) or ""
    found = {"kind": "categorical" if kind == "string" else str(kind)}
    is_distance = "relative_to" in rest.get("synthdp", {})
    for each in INPUTS:
        value = _taken(rest, _place(each, is_distance)) if found["kind"] in each.kinds else None
        if value is not None and (each.ticked is None or value == each.ticked):
            found[each.name] = each.shown(value)
    rest = {key: value for key, value in rest.items() if value not in ({}, None)}
    return found | ({"more": json.dumps(rest, ensure_ascii=False)} if rest else {})


def _place(each: Input, is_distance: bool) -> tuple[str, ...]:
    """Where it stands; bounds of a column that is told by its distance from another elsewhere."""
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


def _copy(field: Mapping[str, Any]) -> dict[str, Any]:
    return {key: dict(each) if isinstance(each, Mapping) else each for key, each in field.items()}


def _merge(field: dict[str, Any], more: Any) -> None:
    if not isinstance(more, Mapping) or "type" in more:
        raise ParameterError('more: give a JSON object without "type", such as {"title": "Age"}')
    for key, value in more.items():
        own = field.get(key)
        is_merged = isinstance(own, dict) and isinstance(value, dict)
        field[key] = own | value if is_merged and own is not None else value
