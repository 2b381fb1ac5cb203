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


@final
class Input(NamedTuple):
    """One input: its name, where a field has what it says, how that is read and shown, and of
    which kinds of columns it is asked.
    """

    name: str
    place: tuple[str, ...]
    read: Callable[[str], Any]
    shown: Callable[[Any], str]
    kinds: tuple[str, ...]
    is_long: bool = False


def _lines(text: str) -> list[Any]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _listed(values: Any) -> str:
    return "\n".join(map(str, values))


def _words(text: str) -> list[str]:
    """Words that mean "missing"; an empty cell always does."""
    return ["", *_lines(text)]


def _without_empty(words: Any) -> str:
    return _listed(word for word in words if word != "")


def _number(text: str) -> Any:
    """A number as JSON has it; a text that is none stays one, as bounds of dates do."""
    try:
        number = json.loads(text)
    except json.JSONDecodeError:
        return text
    return number if isinstance(number, int | float) and not isinstance(number, bool) else text


def _json(text: str) -> Any:
    return parse_json(text, "field")


INPUTS = (
    Input("levels", ("constraints", "enum"), _lines, _listed, ("categorical",), is_long=True),
    Input("other", ("synthdp", "other"), str, str, ("categorical",)),
    Input("minimum", ("constraints", "minimum"), _number, str, _ORDERED),
    Input("maximum", ("constraints", "maximum"), _number, str, _ORDERED),
    Input("bins", ("synthdp", "bins"), _number, str, _ORDERED),
    Input("decimals", ("synthdp", "decimals"), _number, str, ("number",)),
    Input("width", ("synthdp", "width"), _number, str, ("integer",)),
    Input("format", ("format",), str, str, MOMENTS),
    Input("resolution", ("synthdp", "resolution"), str, str, MOMENTS),
    Input("true", ("trueValues",), _lines, _listed, ("boolean",), is_long=True),
    Input("false", ("falseValues",), _lines, _listed, ("boolean",), is_long=True),
    Input("missing", ("missingValues",), _words, _without_empty, _READ, is_long=True),
    Input("bbox", ("synthdp", "bbox"), _json, json.dumps, ("geopoint",)),
    Input("pattern", ("pattern",), str, str, ("id",)),
    Input("locale", ("locale",), str, str, tuple(each for each in GENERATED_KINDS if each != "id")),
    Input("relative_to", ("synthdp", "relative_to"), str, str, _ORDERED),
    Input("as", ("synthdp", "as"), str, str, _ORDERED),
)
"""All of them; what else a field may say is written as JSON."""

_FLAGS = {
    "required": (("constraints", "required"), True, _READ),
    "bare": (("bareNumber",), False, ("integer", "number")),
}
"""What is ticked: its place, what the field says then, and of which kinds it is asked."""

_DISTANCE = {"minimum": ("synthdp", "minimum"), "maximum": ("synthdp", "maximum")}
"""Where bounds stand in a column that is told by its distance from another."""


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
    is_distance = bool(inputs.get("relative_to", "").strip()) and kind in _ORDERED
    for each in INPUTS:
        text = inputs.get(each.name, "").strip()
        if text and kind in each.kinds and not (each.name == "as" and not is_distance):
            place = _DISTANCE.get(each.name, each.place) if is_distance else each.place
            _put(field, place, each.read(text))
    for name, (place, value, kinds) in _FLAGS.items():
        if inputs.get(name) and kind in kinds:
            _put(field, place, value)
    if more := inputs.get("more", "").strip():
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
        place = _DISTANCE.get(each.name, each.place) if is_distance else each.place
        if found["kind"] in each.kinds and (value := _taken(rest, place)) is not None:
            found[each.name] = each.shown(value)
    for name, (place, value, kinds) in _FLAGS.items():
        if found["kind"] in kinds and _taken(rest, place) == value:
            found[name] = "on"
    rest = {key: value for key, value in rest.items() if value not in ({}, None)}
    return found | ({"more": json.dumps(rest, ensure_ascii=False)} if rest else {})


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
        field[key] = (
            {**own, **value} if isinstance(own, dict) and isinstance(value, dict) else value
        )
