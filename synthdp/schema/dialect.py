"""Dialects: how a file is written, declared by whoever gives it and never guessed from what it
holds.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn, Self, final

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue

TAB = "\t"

PRESETS: Mapping[str, Mapping[str, str]] = {
    "csv": {"delimiter": ",", "quoteChar": '"', "encoding": "utf-8", "decimalChar": ".", "groupChar": ""},
    "excel-semicolon": {
        "delimiter": ";", "quoteChar": '"', "encoding": "utf-8-sig", "decimalChar": ",", "groupChar": "."
    },
}  # fmt: skip
"""Dialects by name, every property written out, so that a name replaces whatever else was declared.
"""

_MEANT_FOR = {
    "delimiter": "--delimiter",
    "quoteChar": "--quote",
    "encoding": "--encoding",
    "decimalChar": "--decimal",
    "groupChar": "--thousands",
    "sheetName": "--sheet",
}
"""The properties that are read, and the options of the command line that say the same; in the order
in which a `Dialect` has them.
"""

_ALLOWED: Mapping[str, Sequence[object]] = {
    "header": (True,),
    "headerRows": ([1],),
    "doubleQuote": (True,),
    "skipInitialSpace": (False,),
    "lineTerminator": ("\n", "\r\n", "\r"),
    "caseSensitiveHeader": (True, False),
    "csvddfVersion": (1.0, 1.2, "1.0", "1.2"),
}
"""Properties of Frictionless that say what holds anyhow, and the values with which they do."""

_WAYS_OUT = {
    "header": "write the column names into the first line",
    "headerRows": "write the column names into the first line, and nothing above them",
    "doubleQuote": "write the file with a CSV library that doubles quotes in quoted fields",
    "escapeChar": "write the file with a CSV library that doubles quotes in quoted fields",
    "skipInitialSpace": "leave it out: white space around values is ignored, and quotes begin a field",
    "commentChar": "remove the comments from the file",
    "commentRows": "remove the comments from the file",
    "nullSequence": "list the text in missingValues, beside the fields",
    "sheetNumber": "give the name of the sheet as sheetName",
    "csv": "write its properties into the dialect itself",
    "excel": "write the name of the sheet as sheetName into the dialect itself",
}
"""What to do about properties of Frictionless that are not read."""

_ALSO_CALLED = {
    "delimiter": ("sep", "separator", "delim", "fieldseparator"),
    "quoteChar": ("quote", "quotes"),
    "encoding": ("charset", "codec"),
    "decimalChar": ("decimal", "decimalmark", "decimalpoint"),
    "groupChar": ("thousands", "thousandsseparator"),
    "sheetName": ("sheet",),
}

_STATEFUL = ("iso2022", "hz", "utf_7", "utf-7")
"""Beginnings of the names of encodings in which one value can change how the next ones are read."""

_NO_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined")


@final
@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a table is written into a file.

    Raises
    ------
    SchemaError
        If one of them is not possible; it names the property and the option.
    """

    delimiter: str | None = None
    """One ASCII character between the columns of a CSV file; None: as the file's ending says."""
    quote: str = '"'
    """One ASCII character around fields of a CSV file that hold a delimiter, doubled inside; empty
    for none.
    """
    encoding: str = "utf-8"
    """Of a CSV file, by its name in Python."""
    decimal_char: str | None = None
    group_char: str | None = None
    """How numbers are written in fields of the schema that do not say it themselves; None:
    plainly.
    """
    sheet: str | None = None
    """The sheet of an Excel file; None: its only one."""

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            _check_mark("delimiter", self.delimiter)
        if self.quote:
            _check_mark("quoteChar", self.quote)
        if self.quote and (self.quote.isspace() or self.quote == (self.delimiter or ",")):
            _refuse(
                "quoteChar", self.quote, "give one that is neither the delimiter nor white space"
            )
        for key, mark in (("decimalChar", self.decimal_char), ("groupChar", self.group_char)):
            if mark and (len(mark) > 1 or mark.isalnum()):
                _refuse(key, mark, "give one character that is no digit or letter")
        if self.decimal_char == "":
            _refuse("decimalChar", "", "give one character")
        if self.sheet is not None and not re.fullmatch(
            r"(?!')[^\[\]:*?/\\]{1,31}(?<!')", self.sheet
        ):
            _refuse(
                "sheetName",
                self.sheet,
                "give a name that a sheet can have: up to 31 characters, none of []:*?/\\",
            )
        _check_encoding(self.encoding)

    @classmethod
    def from_properties(cls, properties: Mapping[str, Any]) -> Self:
        """The dialect that properties of Frictionless say; see `properties_of`."""
        given = {key: properties[key] for key in _MEANT_FOR if key in properties}
        for key, value in given.items():
            JsonValue(value, "dialect", f"{key} ({_MEANT_FOR[key]})").text()
        delimiter = given.get("delimiter")
        return cls(
            delimiter=TAB if delimiter in ("tab", "\\t") else delimiter,
            quote=given.get("quoteChar", '"'),
            encoding=given.get("encoding", "utf-8"),
            decimal_char=given.get("decimalChar"),
            group_char=given.get("groupChar"),
            sheet=given.get("sheetName"),
        )

    def fields(self, fields: Sequence[Any]) -> list[Any]:
        """Fields of a schema, with how numbers are written in those that do not say it themselves."""
        marks = {"decimalChar": self.decimal_char, "groupChar": self.group_char}
        marks = {key: mark for key, mark in marks.items() if mark is not None}
        if marks:
            return [field | marks if _leaves_notation_open(field) else field for field in fields]
        return list(fields)

    @property
    def of_files(self) -> Self:
        """This dialect without what `fields` has written into each field."""
        return replace(self, decimal_char=None, group_char=None)

    def as_property(self) -> dict[str, Any]:
        """What a schema says of it: ``dialect`` with the properties that differ from the usual, if
        there are any.
        """
        properties = {
            key: getattr(self, each.name)
            for key, each in zip(_MEANT_FOR, fields(self), strict=True)
            if getattr(self, each.name) not in (None, each.default)
        }
        return {"dialect": properties} if properties else {}


def properties_of(dialect: object) -> dict[str, Any]:
    """The properties of a dialect that is given by its name in `PRESETS` or by its properties.

    Raises
    ------
    SchemaError
        If it is neither, or a property is not known or cannot be followed.

    >>> properties_of({"delimiter": ";", "header": True})
    {'delimiter': ';'}
    """
    if dialect is None:
        return {}
    if isinstance(dialect, str) and dialect in PRESETS:
        return dict(PRESETS[dialect])
    if not isinstance(dialect, Mapping):
        names = ", ".join(map(repr, PRESETS))
        raise SchemaError(
            f'dialect is {dialect!r}; give {names}, or properties such as {{"delimiter": ";"}}'
        )
    given = {str(key): value for key, value in dialect.items() if value is not None}
    for key, value in given.items():
        if key not in _MEANT_FOR and not key.startswith(("$", "x-", "_")):
            _check_other(key, value)
    return {key: value for key, value in given.items() if key in _MEANT_FOR}


def dialect_of(schema: Mapping[str, Any]) -> Dialect:
    """The dialect that a schema says; raises `SchemaError` if it is none."""
    return Dialect.from_properties(properties_of(schema.get("dialect")))


def with_dialect(schema: Mapping[str, Any], dialect: str | Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose own dialect is overridden by the properties of another."""
    return dict(schema) | {"dialect": properties_of(schema.get("dialect")) | properties_of(dialect)}


def _leaves_notation_open(field: Any) -> bool:
    """Whether a field holds numbers and says nothing of how they are written."""
    holds_numbers = isinstance(field, Mapping) and field.get("type") in ("integer", "number")
    return holds_numbers and field.get("decimalChar") is None and field.get("groupChar") is None


def _check_other(key: str, value: object) -> None:
    """Refuse a property that is not read, unless it says what holds anyhow."""
    allowed = _ALLOWED.get(key)
    if allowed is not None and any(
        value == each and isinstance(value, type(each)) for each in allowed
    ):
        return
    if key in _WAYS_OUT:
        raise SchemaError(f"dialect: {key} {value!r} is not supported; {_WAYS_OUT[key]}")
    JsonValue({key: value}, "dialect").check_keys(_ALSO_CALLED)


def _refuse(key: str, value: object, way_out: str) -> NoReturn:
    raise SchemaError(f"dialect: {key} ({_MEANT_FOR[key]}) is {value!r}; {way_out}")


def _check_mark(key: str, mark: str) -> None:
    if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in "\n\r\0":
        _refuse(
            key,
            mark,
            "give one ASCII character that is no letter, digit or line end; 'tab' for a tab",
        )


def _check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text, or one in which a value can change how later ones are
    read.
    """
    name = encoding.lower()
    problem = "is not known in Python; give a name such as 'utf-8', 'cp1252' or 'utf-16'"
    try:
        name = codecs.lookup(encoding).name
        works = ",\n".encode(encoding).decode(encoding) == ",\n"
    except (LookupError, ValueError):
        works = False
    if name.startswith(_STATEFUL):
        problem = "lets one value change how the next ones are read; save the file as UTF-8"
        works = False
    if not works or name in _NO_ENCODINGS:
        raise SchemaError(f"dialect: encoding ({_MEANT_FOR['encoding']}) {encoding!r} {problem}")


USUAL = Dialect()
"""CSV as RFC 4180 has it, in UTF-8."""
