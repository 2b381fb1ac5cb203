"""Explaining files to people: schemas, kinds, saved models and certificates."""

import json
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from synthdp.cli.commands.table import SAVED_FILES
from synthdp.cli.describing.release_files import file_content, file_text
from synthdp.core.errors import DataFileError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import reason
from synthdp.core.imports import import_named
from synthdp.release.saving.archive import read
from synthdp.release.saving.kinds import kind_of
from synthdp.release.saving.stated import checked_certificate
from synthdp.release.settings import DOMAIN_SHARE
from synthdp.report.texts.certificates import LEVELS, certificate_text
from synthdp.report.texts.listing import table, wrapped
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import OpenColumn, closed_ones, open_ones
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import public_schema
from synthdp.schema.schema import Schema
from synthdp.schema.words.truth import FALSE_WORDS, TRUE_WORDS

_MAX_WIDTH = 100
"""Characters of a rule that are shown, and, halved, of the values of a column: rules get a line of
their own.
"""
_ZIP, _CHAINED = b"PK\x03\x04", b'{"hash":"'
"""How saved models begin, damaged ones too, and how journals and budgets do."""
NO_CERTIFICATE = (
    "its certificate is not as synthdp writes it; give one that it wrote, or restore it from a copy"
)
"""Of certificates whose hash holds, or that have none, and that say what cannot be."""

CERTIFICATE = "synthdp-certificate/"
"""How the format of every certificate begins, also of one that lost what else it is known by."""

_BINNED = {"quantiles": "by quantiles", "privtree": "by PrivTree", "equal-width": "of equal width"}


def describe(path: str, *, is_whole: bool = True) -> tuple[dict[str, Any], str]:
    """What a file says, as plain JSON values and as text for people.

    Parameters
    ----------
    path
        The file.
    is_whole
        False: what matters most of a certificate, and of a model, on about a screen. Schemas are
        printed as a whole.

    Raises
    ------
    DataFileError
        If the file cannot be read, or is none of the kinds that are known.
    SchemaError
        If it is a schema that contradicts itself.
    """
    try:
        if zipfile.is_zipfile(path) or _begins(path, _ZIP):
            return _saved(path, is_whole)
    except (OSError, ValueError) as error:
        raise DataFileError(
            f"{path!r}: it cannot be read: {reason(error)}; check the path"
        ) from None
    # Journals hold noisy answers one a line, which only their own commands put together.
    if _begins(path, _CHAINED):
        raise DataFileError(f"{path!r}: synthdp budget show explains it, or synthdp journal show")
    try:
        content = load_json(path, "file")
    except SchemaError as error:
        raise _unknown(
            path, f": {str(error).removeprefix(f'file {path!r}: ').partition(';')[0]}"
        ) from None
    if not isinstance(content, dict):
        raise _unknown(path)
    # Certificates of the first versions had no format: what makes one is the guarantee and the
    # events it rests on.
    if ("guarantee" in content and "events" in content) or str(content.get("format")).startswith(
        CERTIFICATE
    ):
        return content, _certificate_text(path, content, is_whole)
    schema, kind = public_schema(content)
    certificate = _certificate_of(content)
    if certificate is None:
        return schema.to_dict(), _schema_text(schema, kind)
    text = f"{_certificate_text(path, certificate, is_whole)}\n\n{_schema_text(schema, kind)}"
    return {"certificate": certificate, "schema": schema.to_dict()}, text


def _saved(path: str, is_whole: bool) -> tuple[dict[str, Any], str]:
    """What a saved release says, of any kind."""
    content, text = import_named(SAVED_FILES[kind_of(path)].explain)(path)
    certificate = _certificate_text(path, content["certificate"], is_whole)
    return content, f"{certificate}\n\n{text(is_whole)}"


def _begins(path: str, beginning: bytes) -> bool:
    """Whether a file begins so; one that cannot be read does not."""
    with suppress(OSError, ValueError), Path(path).open("rb") as stream:
        return stream.read(len(beginning)) == beginning
    return False


def _certificate_of(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The certificate in a schema that was learnt by a run that failed; None in others."""
    own = content.get("synthdp")
    certificate = own.get("certificate") if isinstance(own, Mapping) else None
    return certificate if isinstance(certificate, Mapping) else None


def _unknown(path: str, slip: str = "") -> DataFileError:
    kinds = "schema, kinds file, saved model or .privacy.json file"
    return DataFileError(f"{path!r}: it is no {kinds}{slip}; give one of these")


def _certificate_text(path: str, content: Mapping[str, Any], is_whole: bool) -> str:
    try:
        return certificate_text(checked_certificate(content), is_whole=is_whole)
    except DataFileError as error:
        raise DataFileError(f"{path!r}: {error}") from None
    except MemoryError:
        raise
    except Exception:  # somebody changed it, and hashed it anew, or it is of another version
        raise DataFileError(f"{path!r}: {NO_CERTIFICATE}") from None


def explained_table(path: str) -> tuple[dict[str, Any], Callable[[bool], str]]:
    """What a file of a release of one table holds, and what is printed of it besides its
    certificate, all of it or about a screen.
    """
    pieces = read(path)
    content = file_content(pieces)

    def described(is_whole: bool) -> str:
        columns = f"columns            {', '.join(pieces.schema.table_names)}"
        schema = (
            _schema_text(pieces.schema, "schema") if is_whole else wrapped(columns, indent=" " * 19)
        )
        return "\n\n".join([file_text(content, is_whole=is_whole), schema])

    return content, described


def _schema_text(public: Schema | OpenSchema, kind: str) -> str:
    schema = (
        public.resolved({}) if isinstance(public, OpenSchema) and not public.is_open else public
    )
    made_up = schema.generated.columns
    generated = f", {len(made_up)} of them generated" if made_up else ""
    if isinstance(schema, OpenSchema):
        columns = list(schema.columns)
        rules = list(schema.rules)
        learning = f", {len(schema.open_columns)} of them with something to learn"
        title = f"{kind} of {len(columns) + len(made_up)} columns{learning}{generated}"
        most = f"{100 * DOMAIN_SHARE:g} %"
        note = f"\n\nwhat is to be learnt is paid for by a share of the budget, by default at most {most}"
        if any("levels" in column.open_parts for column in schema.open_columns):
            note += "; levels that were not found may take half as much again"
    else:
        columns = list(schema.columns)
        rules = [rule.text for rule in schema.rules]
        title = (
            f"{kind} of {len(schema.table_names)} columns{generated}, sha256 {schema.fingerprint}"
        )
        note = ""
    header = ("column", "type", LEVELS, "may be missing", "values")
    lines = {each.name: _open_row(each) for each in open_ones(columns)}
    lines |= {each.name: _row(each) for each in closed_ones(columns)}
    rows = [lines[each.name] for each in columns]
    listed = table(
        header,
        [
            *rows,
            *((each.name, each.kind, "", "no", f"generated: {each.summary}") for each in made_up),
        ],
    )
    ruled = "".join(
        f"\nrule: {json.dumps(rule, ensure_ascii=False)[:_MAX_WIDTH]}" for rule in rules
    )
    ruled += "".join(
        f"\n{key}: {json.dumps(said)}" for key, said in schema.dialect.as_property().items()
    )
    if schema.generated.key:
        ruled += f"\nprimary key: {', '.join(schema.generated.key)}"
    return f"{title}\n\n{listed}{ruled}{note}"


def _row(column: Column) -> tuple[str, ...]:
    field = column.field()
    missing = "no" if column.required else "yes"
    return column.name, str(field["type"]), str(column.size), missing, _understood(column, field)


def _open_row(column: OpenColumn) -> tuple[str, ...]:
    """A column of which something is to be learnt, with as many levels as it may get."""
    template = column.template
    missing = (
        "to be learnt" if "missing" in column.open_parts else "no" if template.required else "yes"
    )
    values = [*_declared(column), *_to_be_learnt(column)]
    return column.name, column.type, f"up to {column.most_levels}", missing, ", ".join(values)


def _declared(column: OpenColumn) -> list[str]:
    """What is declared of the values of an open column."""
    if "levels" in column.open_parts:
        return []
    if "bounds" not in column.open_parts:
        return [_understood(column.template, _without_guess(column))]
    own = column.declared.get("synthdp") or {}
    words = [f"by {own['resolution']}"] if "resolution" in own else []
    if "format" in column.declared:
        words += [f"written as {column.declared['format']}"]
    return words + ([f"{own['decimals']} decimals"] if own.get("decimals") is not None else [])


def _without_guess(column: OpenColumn) -> dict[str, Any]:
    """The field of the column as made-up findings close it, without the decimals that are made up."""
    field = column.template.field()
    own = {
        key: value
        for key, value in field.get("synthdp", {}).items()
        if key != "decimals" or column.decimals is not None
    }
    return field | {"synthdp": own}


def _to_be_learnt(column: OpenColumn) -> list[str]:
    words = [f"levels to be learnt, else {column.other}"] if "levels" in column.open_parts else []
    if "bounds" in column.open_parts:
        words += ["bounds to be learnt"]
    if "bins" in column.open_parts:
        words += [f"bins {_BINNED[column.binning]} to be learnt"]
    return words + (["decimals to be learnt"] if "decimals" in column.open_parts else [])


def _understood(column: Column, field: Mapping[str, Any]) -> str:
    """The values of a field of a column in a few words."""
    constraints = field.get("constraints", {})
    own = field.get("synthdp", {})
    if "enum" in constraints:
        shown = ", ".join(map(str, constraints["enum"]))
        shown = shown if len(shown) <= _MAX_WIDTH // 2 else f"{shown[: _MAX_WIDTH // 2]} ..."
        merged = own["merged"]["levels"] if "merged" in own else []
        if merged:
            shown += f"; {len(merged)} merged"
        return f"{shown}; else {own['other']}" if "other" in own else shown
    if field["type"] == "boolean":
        return f"{' '.join(field.get('trueValues', TRUE_WORDS))} / {' '.join(field.get('falseValues', FALSE_WORDS))}"
    words = [column.reading.what]  # of a type that has neither levels nor bounds
    if "minimum" in constraints:
        words = [f"{constraints['minimum']} to {constraints['maximum']}"]
    if "resolution" in own:
        words += [f"by {own['resolution']}"]
    if "format" in field:
        words += [f"written as {field['format']}"]
    if "decimals" in own:
        words += [f"{own['decimals']} decimals"]
    if "shape" in own:
        words += [f"{len(own['shape']['starts'])} pieces of shape"]
    if own.get("heaping"):
        words += [f"heaped on {', '.join(own['heaping'])}"]
    return ", ".join(words)
