"""What the commands of the command line do; see `synthdp.cli.main` for their arguments."""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from logging import INFO
from typing import Any

import pandas as pd

from synthdp.cli.dialects import given_dialect
from synthdp.cli.log_lines import progress_on
from synthdp.cli.outputs import check_distinct, check_texts, with_certificate, write_both
from synthdp.cli.rescue import rescuing
from synthdp.errors import DataFileError, ParameterError, SchemaError
from synthdp.explain.describe import describe
from synthdp.inference.requests import most_rows
from synthdp.release.certificate import UNKNOWN_ROWS, fit_cautions
from synthdp.release.forgetting import forgetful
from synthdp.release.release import Release
from synthdp.release.settings import DOMAIN_SHARE, checked_rows
from synthdp.release.synthesis import Synthesis, load
from synthdp.reporting import Report, log, logged
from synthdp.table.files.dialect import Dialect
from synthdp.table.files.formats import STANDARD_STREAM, is_text
from synthdp.table.files.json_files import json_text, load_json, parse_json, write_json
from synthdp.table.files.tables import check_kind, open_table, write_frame
from synthdp.table.files.writing import check_writable, reason
from synthdp.table.records.loading import held_rows
from synthdp.table.rules.conditions import CONDITIONS
from synthdp.table.schema.draft import KINDS_NOTE, draft_of, draft_of_kinds
from synthdp.table.schema.kinds import schema_of_kinds
from synthdp.table.schema.open_schema import OpenSchema
from synthdp.table.schema.public_files import schema_in
from synthdp.table.schema.schema import Schema

STOPPED = "the run was stopped before its end; the rows follow what it had measured until then"
"""What is said of rows from a model that was rescued."""


@forgetful
def run_command(options: argparse.Namespace) -> None:
    """``synthdp run``: everything public is checked before the records are read or paid for."""
    saved = {"--save": options.save, "--save-schema": options.save_schema}
    _check_outputs(options, inputs=(options.input, options.schema or options.kinds), saved=saved)
    of_kinds = options.kinds is not None
    public = load_json(options.kinds, "kinds") if of_kinds else load_json(options.schema, "schema")
    schema = schema_in(schema_of_kinds(public) if of_kinds else public, given_dialect(options))
    check_texts(schema, options.output)
    unit, max_rows = options.unit, checked_rows(options.unit, options.max_rows_per_unit)
    with (
        progress_on(sys.stderr, verbosity=options.verbose) as status,
        open_table(options.input, schema.dialect) as table,
    ):
        schema = schema.reordered(table.names, unit=unit)
        # What its columns can take is not all known yet; a byte for each is the least.
        check_rows(options.rows, least=0, most=most_rows([2] * len(schema.largest_domain)))
        release = _release(schema, options, max_rows)
        log(INFO, "reading")  # and not how far: steps are as many as the records make them
        rows = held_rows(
            table,
            schema,
            unit=unit,
            max_rows=max_rows,
            progress=lambda share: status("reading", round(100 * share), 100),
        )
        with rescuing(options.output) as paid:
            synthesis = release.of(rows, report=status, rescue=paid.keep)
            paid.keep(synthesis)
            del rows
            if options.save:
                synthesis.save(options.save, force=options.force)
                paid.path = options.save
            if options.save_schema:
                write_json(options.save_schema, _with_ignored(synthesis.schema, schema), force=options.force)
            _write_sample(synthesis, options, status)
    _announce(synthesis, options)
    _caution(synthesis.certificate["cautions"], options)


def _with_ignored(learnt: Schema, declared: OpenSchema) -> dict[str, Any]:
    """A complete schema that reads the same tables: it ignores the same columns."""
    content = learnt.to_dict()
    ignored = {"ignore": list(declared.ignored)} if declared.ignored else {}
    return content | ({"synthdp": content.get("synthdp", {}) | ignored} if ignored else {})


def sample_command(options: argparse.Namespace) -> None:
    """``synthdp sample``: opens nothing but the saved model, and what is asked of it."""
    asked = [path for path in (options.given, _file_of(options.where)) if path]
    _check_outputs(options, inputs=(options.model, *asked), saved={})
    if options.given and options.rows is not None:
        raise ParameterError("--given: each of its rows is completed once; leave out --rows")
    where, dialect = _conditions(options.where), given_dialect(options)
    synthesis = load(options.model)
    synthesis = synthesis if dialect is None else synthesis.in_dialect(dialect)
    given = _given(options.given, synthesis.schema.dialect)
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        _write_sample(synthesis, options, status, where=where, given=given)
    _announce(synthesis, options)
    stopped = [] if synthesis.certificate.get("complete", True) else [STOPPED]
    _caution([*stopped, *fit_cautions(synthesis.fitted)], options)


def show_command(options: argparse.Namespace) -> None:
    """``synthdp show``: a schema, a saved model or a certificate, for people or as JSON."""
    content, text = describe(options.file)
    print_text(json_text(content) if options.json else text + "\n")


def draft_command(options: argparse.Namespace) -> None:
    """``synthdp schema draft``: names, and for Parquet types, of a table; never a value."""
    check_distinct([options.output], inputs=(options.input,))
    check_writable(options.output, force=options.force)
    dialect = Dialect.of(given_dialect(options) or {})
    with open_table(options.input, dialect) as table:
        draft = draft_of(table) | dialect.as_property()
    content, note = (draft_of_kinds(draft), KINDS_NOTE) if options.kinds else (draft, draft["synthdp"]["note"])
    write_json(options.output, content, force=options.force)
    sys.stderr.write(f"synthdp: {note}\n")


def _release(schema: OpenSchema, options: argparse.Namespace, max_rows: int) -> Release:
    """The run that the options ask for; refuses what does not fit together."""
    return Release(
        schema=schema,
        epsilon=options.epsilon,
        delta=options.delta,
        mechanism=options.mechanism,
        workload=options.workload,
        target=options.target,
        engine=options.engine,
        adjacency=options.adjacency,
        accounting=options.accounting,
        unit=options.unit,
        max_rows_per_unit=max_rows,
        domain_share=DOMAIN_SHARE if options.domain_share is None else options.domain_share,
    )


def _file_of(where: str | None) -> str | None:
    """The file that conditions are in, if they are in one."""
    return where[1:] if where and where.startswith("@") else None


def _conditions(where: str | None) -> Any:
    """The conditions that ``--where`` says, or the file that it names."""
    if where is None:
        return None
    try:
        path = _file_of(where)
        found = parse_json(where, "--where") if path is None else load_json(path, "--where")
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    if not isinstance(found, dict):
        raise ParameterError(f"--where is no JSON object; write conditions as {CONDITIONS}")
    return found


def _given(path: str | None, dialect: Dialect) -> pd.DataFrame | None:
    """The records of ``--given``."""
    if path is None:
        return None
    with open_table(path, dialect) as table:
        empty = pd.DataFrame(columns=pd.Index(table.names, dtype=object), dtype=object)
        return pd.concat([*table.chunks()] or [empty], ignore_index=True)


def _write_sample(
    synthesis: Synthesis,
    options: argparse.Namespace,
    status: Report,
    *,
    where: Any = None,
    given: pd.DataFrame | None = None,
) -> None:
    """The synthetic table with its certificate beside it, or on stderr if the table goes to stdout."""
    report = logged(status)
    report("sampling", 0, 2)
    if options.rows is None and given is None and not synthesis.knows_rows:
        raise ParameterError(f"{UNKNOWN_ROWS}; say how many rows you want with --rows")
    try:
        frame = synthesis.sample(
            options.rows, seed=options.seed, text=is_text(options.output), where=where, given=given
        )
    except SchemaError as error:  # only conditions and given records can be at fault
        raise ParameterError(str(error)) from None
    report("writing", 1, 2)
    if options.output == STANDARD_STREAM:
        write_frame(frame, STANDARD_STREAM, force=options.force, dialect=synthesis.schema.dialect)
        sys.stderr.write(json.dumps(synthesis.certificate) + "\n")
    else:
        write_both(frame, synthesis.certificate, options, synthesis.schema.dialect)


def print_text(text: str) -> None:
    """Write to standard output and notice if that fails."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataFileError(f"standard output: it cannot be written: {reason(error)}; write it elsewhere") from None


def _check_outputs(options: argparse.Namespace, *, inputs: tuple[str, ...], saved: Mapping[str, str | None]) -> None:
    """Refuse what cannot be written, before anything is read or paid for; ``saved`` by the options' names."""
    check_rows(options.rows, least=0, most=most_rows([2]))
    if options.seed is not None and options.seed < 0:
        raise ParameterError(f"--seed is {options.seed}; give 0 or more")
    check_kind(options.output, options.rows)
    outputs = [options.output] if options.output == STANDARD_STREAM else with_certificate(options.output)
    for option, path in saved.items():
        if path == STANDARD_STREAM:
            raise ParameterError(f"{option} is {path!r}; standard output is for the table, give the name of a file")
        outputs += [path] if path else []
    check_distinct(outputs, inputs=inputs)
    for output in outputs:
        check_writable(output, force=options.force)


def check_rows(rows: int | None, *, least: int, most: int) -> None:
    """Refuse a number of rows that cannot be meant."""
    if rows is not None and not least <= rows <= most:
        raise ParameterError(f"--rows is {rows}; give {least} or more, and at most {most}")


def _announce(synthesis: Synthesis, options: argparse.Namespace) -> None:
    """Say what was written, as JSON if asked for; of a table on stdout the certificate on stderr tells."""
    certificate = synthesis.certificate
    files = [] if options.output == STANDARD_STREAM else with_certificate(options.output)
    if options.json:
        said = ("guarantee", "is_private", "epsilon", "delta", "accounting")
        result = {"output": options.output, "certificate": files[1] if files else None}
        result |= {name: certificate[name] for name in said} | {"cautions": certificate.get("cautions", [])}
        stream = sys.stdout if files else sys.stderr
        stream.write(json.dumps(result) + "\n")
    elif files:
        sys.stderr.write(f"{files[0]}: {certificate['guarantee']}; details in {files[1]}\n")


def _caution(found: Iterable[str], options: argparse.Namespace) -> None:
    """Say what was found out that the user should know, a line each, on a terminal or not.

    Where JSON is printed, or the certificate itself, the cautions are in it.
    """
    for caution in () if options.json or options.output == STANDARD_STREAM else found:
        sys.stderr.write(f"synthdp: caution: {' '.join(caution.splitlines())}\n")
