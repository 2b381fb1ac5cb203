"""``synthdp report``: pages on synthetic tables beside the real one, which are not private, and on
releases.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from synthdp.cli.commands.models import result_in
from synthdp.cli.commands.table import PACKAGE_COMMANDS
from synthdp.cli.shared.beside import CERTIFICATE_ENDING
from synthdp.cli.shared.changed_certificates import refuse_changed_certificates
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.package_files import is_package_file, refuse_lost_package
from synthdp.cli.shared.pages import ReportOptions, check_evaluation, check_page
from synthdp.cli.shared.printing import print_text
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import json_text
from synthdp.core.files.writing import STANDARD_STREAM
from synthdp.core.imports import import_named
from synthdp.core.reporting import logged
from synthdp.report.evaluate_table import evaluate_table
from synthdp.report.evaluation import NOT_PRIVATE, Evaluation
from synthdp.report.evaluation_settings import EvaluationSettings
from synthdp.report.observed_schema import evaluation_schema
from synthdp.report.release_pages.release_page import release_page
from synthdp.report.releases import stated_by, stated_schema

ALL = "all"


def report_command(options: ReportOptions) -> None:
    """``synthdp report``: with ``--public`` it opens nothing but the saved model."""
    if options.public is not None:
        _public(options.public, options)
    else:
        _compared(options)


def _public(model: str, options: ReportOptions) -> None:
    """The page of a release."""
    asked: dict[str, object] = {
        "a table": options.tables,
        "--schema": options.schema,
        "--target": options.target,
        "--by": options.by,
    }
    asked |= {"--queries": options.queries, "--json": options.json, "--seed": options.seed}
    asked |= {"--weight": options.weight}
    if needless := [name for name, value in asked.items() if value]:
        raise ParameterError(
            f"--public opens no table, so {needless[0]} says nothing; leave it out"
        )
    if options.output is None:
        raise ParameterError("--output is missing; name the page, such as page.html")
    check_page(options.output, inputs=(model,), force=options.force)
    given_dialect(options)
    result = result_in(model)
    with refuse_changed_certificates(
        f"{model!r}: its certificate was changed, or is too old for a page"
    ):
        release_page(result, options.output, force=options.force)
    sys.stderr.write(f"{options.output}: made from the release alone; no real table was read\n")


def _compared(options: ReportOptions) -> None:
    """The page of an evaluation, which says first that it is not private."""
    if len(options.tables) < 2:
        raise ParameterError(
            "TABLE: name the real table, then one or more synthetic ones; or --public and a model"
        )
    if any(map(is_package_file, options.tables)):
        import_named(PACKAGE_COMMANDS["report"])(options)
        return
    for path in options.tables:
        refuse_lost_package(path)
    real, *synthetic = options.tables
    beside = [_certificate_beside(table) for table in synthetic]
    _check_pipes(options, beside)
    check_evaluation(options, inputs=_inputs(options))
    dialect = given_dialect(options, *options.tables)
    schema = None if options.schema is None else evaluation_schema(options.schema, None)[0]
    settings = EvaluationSettings(
        names=_names(synthetic),
        targets=ALL if options.target and ALL in options.target else options.target,
        by=options.by,
        queries=options.queries,
        certificate=beside,
        weight=options.weight,
        seed=options.seed,
    )
    sys.stderr.write(f"synthdp: {NOT_PRIVATE}\n")
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        evaluation = evaluate_table(
            real, synthetic, schema, settings, dialect=dialect, report=logged(status)
        )
        status("drawing", 0, 1)
        if options.output is not None:
            evaluation.to_html(options.output, force=options.force)
    _tell(evaluation, options)


def _check_pipes(options: ReportOptions, beside: Sequence[Path | None]) -> None:
    """Standard input can be read once, as one table."""
    if options.tables.count(STANDARD_STREAM) > 1:
        raise ParameterError(
            f"TABLE is {STANDARD_STREAM!r} twice; standard input is read once, name files for others"
        )
    if options.tables[0] != STANDARD_STREAM or options.schema is not None:
        return
    if stated_schema(stated_by(beside, [str(place) for place in range(len(beside))])) is None:
        problem = f"TABLE is {STANDARD_STREAM!r}, which is read once, and no certificate beside the others has a schema"
        raise ParameterError(f"{problem}; give one with --schema, or name a file")


def _tell(evaluation: Evaluation, options: ReportOptions) -> None:
    print_text(json_text(evaluation.to_dict()) if options.json else f"{evaluation.summary_text}\n")
    if options.output is not None:
        sys.stderr.write(f"{options.output}: NOT PRIVATE; keep it where the real table may be\n")


def _names(synthetic: list[str]) -> list[str]:
    """What the page calls the tables: names of files, with their folders where these differ only."""
    named = ["standard input" if table == STANDARD_STREAM else table for table in synthetic]
    stems = [Path(table).name for table in named]
    return stems if len(set(stems)) == len(stems) else named


def _inputs(options: ReportOptions) -> tuple[str, ...]:
    return (
        *options.tables,
        *(path for path in (options.schema, options.queries) if path is not None),
    )


def _certificate_beside(table: str) -> Path | None:
    """The certificate that lies beside a synthetic table, if one does."""
    if table == STANDARD_STREAM:
        return None
    path = Path(f"{table}{CERTIFICATE_ENDING}")
    return path if path.exists() else None
