"""Explaining files to people: schemas, saved models and certificates."""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from synthdp.archive import load
from synthdp.errors import DataFileError
from synthdp.table.schema import Schema
from synthdp.table.writing import reason

_WIDEST = 100
_LONGEST = 100
"""Events and measurements that are listed; all are in the file."""
_CURRENCIES = {"zcdp": "rho (zCDP)", "gdp": "rho (GDP)"}
_NUMBERS = {
    "error_bounds": ("95 % bounds on the L1 error", "l1_records"),
    "unbiased_estimates": ("standard deviations", "stddev_records"),
}
"""Findings that hold one number for each marginal, and where."""


def describe(path: str) -> tuple[dict[str, Any], str]:
    """What a file says, as plain JSON values and as text for people.

    Raises
    ------
    DataFileError
        If the file cannot be read, or is none of the kinds that are known.
    SchemaError
        If it is a schema that contradicts itself.
    """
    try:
        if zipfile.is_zipfile(path):
            return _model(path)
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataFileError(f"{path!r}: it cannot be read: {reason(error)}; check the path") from None
    except (ValueError, RecursionError):
        raise _unknown(path) from None
    if not isinstance(content, dict):
        raise _unknown(path)
    if "guarantee" in content and "events" in content:
        return content, _certificate_text(path, content)
    return _schema(Schema.from_dict(content))


def _unknown(path: str) -> DataFileError:
    return DataFileError(f"{path!r}: it is no schema, saved model or .privacy.json file; give one of these")


def _model(path: str) -> tuple[dict[str, Any], str]:
    synthesis = load(path)
    content = {"certificate": synthesis.certificate, "schema": synthesis.schema.to_dict()}
    return content, f"{_certificate_text(path, synthesis.certificate)}\n\n{_schema_text(synthesis.schema)}"


def _schema(schema: Schema) -> tuple[dict[str, Any], str]:
    return schema.to_dict(), _schema_text(schema)


def _schema_text(schema: Schema) -> str:
    rows = [
        (
            column.name,
            str(column.field()["type"]),
            str(column.n_levels),
            "no" if column.required else "yes",
            _understood(column.field()),
        )
        for column in schema.columns
    ]
    table = _table(("column", "type", "levels", "may be missing", "values"), rows)
    rules = "".join(f"\nrule: {json.dumps(rule.text, ensure_ascii=False)[:_WIDEST]}" for rule in schema.rules)
    return f"schema of {len(schema.columns)} columns, sha256 {schema.fingerprint}\n\n{table}{rules}"


def _understood(field: Mapping[str, Any]) -> str:
    """The values of a field in a few words."""
    constraints, own = field.get("constraints", {}), field.get("synthdp", {})
    if "enum" in constraints:
        shown = ", ".join(map(str, constraints["enum"]))
        shown = shown if len(shown) <= _WIDEST // 2 else f"{shown[: _WIDEST // 2]} ..."
        return f"{shown}; else {own['other']}" if "other" in own else shown
    if field["type"] == "boolean":
        return f"{' '.join(field['trueValues'])} / {' '.join(field['falseValues'])}"
    words = [f"{constraints['minimum']} to {constraints['maximum']}"]
    words += [f"by {own['resolution']}"] if "resolution" in own else []
    words += [f"written as {field['format']}"] if "format" in field else []
    words += [f"{own['decimals']} decimals"] if "decimals" in own else []
    return ", ".join(words)


def _certificate_text(path: str, content: Mapping[str, Any]) -> str:
    try:
        return _statement(content)
    except (LookupError, TypeError, ValueError, AttributeError):  # somebody changed it
        raise _unknown(path) from None


def _statement(content: Mapping[str, Any]) -> str:
    if content["accounting"] is None:  # measurements of another system
        facts = [("made by", f"{content['software']}, {content['engine']['name']}")]
        table = shortened_table(("measurement", "noise"), [_measurement_row(each) for each in content["measurements"]])
    else:
        facts = _accounted(content)
        table = shortened_table(("event", "what", "noise", "rho"), [_event_row(event) for event in content["events"]])
    facts = [("guarantee", content["guarantee"]), *facts, ("schema", f"sha256 {content['schema']['sha256']}")]
    facts += [("caution", text) for text in content.get("cautions", ())]
    if not content["complete"]:
        facts.append(("incomplete", "the run was stopped; only what it had paid for is here"))
    return "\n".join(
        [
            *(f"{name:<18} {value}" for name, value in facts),
            "",
            table,
            "",
            "not covered by the guarantee:",
            *(f"  - {line}" for line in content["not_covered"]),
        ]
    )


def _accounted(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a release says that paid for its measurements itself."""
    accounting, noise, engine = content["accounting"], content["noise"], content["engine"]
    fitter = engine["name"] + (f" ({engine['choice']})" if "choice" in engine else "")
    facts = [
        ("unit of privacy", content["unit_of_privacy"]),
        ("made by", f"{content['software']}, {content['mechanism']['name']}, {fitter}"),
        (
            _CURRENCIES[accounting["currency"]],
            f"{accounting['rho_spent']:.6g} spent of {accounting['rho_budget']:.6g}",
        ),
        ("noise", f"{noise['kind']}; {noise['randomness']}"),
    ]
    if "workload" in content:
        wanted = content["workload"]
        facts.append(("workload", f"{wanted['n_marginals']} marginals of up to {wanted['columns_at_most']} columns"))
    findings: Mapping[str, Any] = content.get("findings", {})
    return facts + [(name.replace("_", " "), _finding(name, found)) for name, found in findings.items()]


def _finding(name: str, found: Any) -> str:
    """What a recipe found out about its own errors, in a line: lists hold an entry for each marginal."""
    if name in _NUMBERS:
        about, key = _NUMBERS[name]
        numbers = [entry[key] for entry in found if entry[key] is not None]
        span = f"{min(numbers):.4g} to {max(numbers):.4g} records" if numbers else "unknown"
        unknown = f" ({len(found) - len(numbers)} unknown)" if 0 < len(numbers) < len(found) else ""
        return f"{about} of {len(found)} marginals: {span}{unknown}; --json lists them"
    if isinstance(found, list | dict):
        return f"{len(found)} entries; --json lists them"
    return str(found)[:_WIDEST]


def _measurement_row(measurement: Mapping[str, Any]) -> tuple[str, str]:
    stddev = measurement["stddev"]  # one, or of several the smallest and the largest
    noise = "{:.4g} to {:.4g}".format(*stddev) if isinstance(stddev, list) else f"{stddev:.4g}"
    return _what(measurement), f"stddev {noise}"


def _what(marginal: Mapping[str, Any]) -> str:
    return " x ".join(marginal["columns"]) or "(number of records)"


def _event_row(event: Mapping[str, Any]) -> tuple[str, str, str, str]:
    if event["event"] == "marginal":
        what, noise = _what(event), f"sigma {event['sigma']:.4g}"
    elif event["event"] == "scores":
        what, noise = f"all {event['n_candidates']} by {event['score']}", f"sigma {event['sigma']:.4g}"
    else:
        what, noise = f"1 of {event['n_candidates']} by {event['score']}", f"epsilon {event['epsilon']:.4g}"
    return event["event"], what, noise, f"{event['rho']:.4g}"


def shortened_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of the first rows under a header, and how many more there are."""
    return _table(header, rows[:_LONGEST]) + _more(len(rows))


def shortened(lines: Sequence[str]) -> str:
    """The first lines, and how many more there are."""
    return "\n".join(lines[:_LONGEST]) + _more(len(lines))


def _more(n_lines: int) -> str:
    more = n_lines - _LONGEST
    return f"\n... and {more} more; --json lists them" if more > 0 else ""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
