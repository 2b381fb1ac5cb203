"""``synthdp sample``: rows from a saved model."""

import sys
from typing import Any

import pandas as pd

from synthdp.cli.arguments.options import SampleOptions
from synthdp.cli.commands.table import SAVED_FILES
from synthdp.cli.shared.announcing import announce, caution
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import (
    check_outputs,
    write_sample,
)
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.core.imports import import_named
from synthdp.core.json_value import JsonValue
from synthdp.core.strict_json import parse_json
from synthdp.data.files.formats import Format, file_kind
from synthdp.data.tables import open_table
from synthdp.release.certificate.fit_facts import fit_cautions
from synthdp.release.drawing.form import PLAIN_FORM
from synthdp.release.loading import load
from synthdp.release.rows_check import with_rows
from synthdp.release.saving.kinds import kind_of
from synthdp.schema.dialect import Dialect
from synthdp.schema.rules.conditions import CONDITIONS

STOPPED = "the run was stopped before its end; the rows follow what it had measured until then"
"""What is said of rows from a model that was rescued."""


def sample_command(options: SampleOptions) -> None:
    """``synthdp sample``: opens nothing but the saved model, and what is asked of it."""
    import_named(SAVED_FILES[kind_of(options.model)].sample)(options)


def sample_table(options: SampleOptions) -> None:
    """Draw from a release of one table whose rows stand by themselves."""
    asked = [path for path in (options.given, _file_of(options.where)) if path]
    asked += options.totals or ()
    if options.totals and not options.calibrated:
        raise ParameterError("--totals: weights are calibrated to them; add --calibrated")
    if options.weighted and options.calibrated:
        raise ParameterError(
            "--weighted draws a population, and --calibrated a survey; leave out one"
        )
    check_outputs(options, inputs=(options.model, *asked), saved={})
    if options.given and options.rows is not None:
        raise ParameterError("--given: each of its rows is completed once; leave out --rows")
    tables = [options.output, *([options.given] if options.given else [])]
    if options.offset is not None:
        _check_offset(options)
    where = _conditions(options.where)
    dialect = given_dialect(options, *tables)
    # Files are as the schema says, wherever the model was made.
    synthesis = load(options.model).in_form(PLAIN_FORM)
    synthesis = synthesis if dialect is None else synthesis.in_dialect(dialect)
    given = _given(options.given, synthesis.schema.dialect)
    with progress_on(sys.stderr, verbosity=options.verbose, output=options.output) as status:
        check = write_sample(
            synthesis,
            options,
            status,
            where=where,
            given=given,
            offset=options.offset,
            weighted="calibrated" if options.calibrated else options.weighted,
            totals=options.totals,
        )
    announce(with_rows(synthesis.certificate, check), options)
    stopped = [] if synthesis.certificate.get("complete", True) else [STOPPED]
    cautions = [*stopped, *fit_cautions(synthesis.existing_model), *check.cautions]
    caution(cautions, is_said=options.is_all_said)


def _check_offset(options: SampleOptions) -> None:
    """Refuse a part of a table that is drawn whole or not at all."""
    if options.rows is None or options.seed is None:
        raise ParameterError(
            "--offset: it counts the rows of a --seed; give that, and how many --rows follow"
        )
    if options.given:
        raise ParameterError(
            "--offset: records of --given are completed together; leave out one of the two"
        )
    if file_kind(options.output).format is Format.EXCEL:
        raise ParameterError("--offset: Excel files are written whole; write CSV or Parquet")


def _file_of(where: str | None) -> str | None:
    """The file that conditions are in, if they are in one."""
    return where[1:] if where and where.startswith("@") else None


def _conditions(where: str | None) -> Any:
    """The conditions that ``--where`` says, or the file that it names."""
    if where is None:
        return None
    try:
        path = _file_of(where)
        conditions = parse_json(where, "--where") if path is None else load_json(path, "--where")
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    declared = JsonValue(conditions, "--where", error=ParameterError)
    return declared.mapping(f"conditions as {CONDITIONS}")


def _given(path: str | None, dialect: Dialect) -> pd.DataFrame | None:
    """The records of ``--given``."""
    if path is None:
        return None
    with open_table(path, dialect) as table:
        return table.whole()
