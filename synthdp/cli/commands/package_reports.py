"""``synthdp report`` of packages of linked tables."""

import sys
from pathlib import Path

from synthdp.cli.shared.beside import CERTIFICATE_ENDING
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.package_files import is_package_file, refuse_lost_package
from synthdp.cli.shared.pages import ReportOptions, check_evaluation
from synthdp.cli.shared.printing import print_text
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import json_text
from synthdp.core.reporting import logged
from synthdp.report.evaluation import NOT_PRIVATE
from synthdp.report.linked.linked_tables import evaluate_linked

_FOR_ONE_TABLE = ("schema", "target", "by", "queries", "weight", "dialect", "delimiter", "encoding", "decimal",
                  "thousands", "quote", "sheet")  # fmt: skip
"""Options that are for one table: a description says all that they say."""


def report_on_package(options: ReportOptions) -> None:
    """The page of an evaluation of linked tables, which says first that it is not private."""
    _check(options)
    check_evaluation(options, inputs=tuple(options.tables))
    real, synthetic = options.tables
    certificate = Path(f"{synthetic}{CERTIFICATE_ENDING}")
    sys.stderr.write(f"synthdp: {NOT_PRIVATE}\n")
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        evaluation = evaluate_linked(
            real,
            synthetic,
            certificate=certificate if certificate.exists() else None,
            seed=options.seed,
            report=logged(status),
        )
        status("drawing", 0, 1)
        if options.output is not None:
            evaluation.to_html(options.output, force=options.force)
    print_text(json_text(evaluation.to_dict()) if options.json else f"{evaluation.summary_text}\n")
    if options.output is not None:
        sys.stderr.write(f"{options.output}: NOT PRIVATE; keep it where the real tables may be\n")


def _check(options: ReportOptions) -> None:
    """Refuse what a report of a package cannot take; raises `ParameterError`."""
    if needless := [name for name in _FOR_ONE_TABLE if getattr(options, name)]:
        raise ParameterError(f"--{needless[0]} is for one table; leave it out for a package")
    if len(options.tables) > 2:
        raise ParameterError(
            f"TABLE: {len(options.tables) - 1} synthetic packages; give one, and a page for each"
        )
    if other := [path for path in options.tables if not is_package_file(path)]:
        refuse_lost_package(other[0])
        raise ParameterError(
            f"TABLE is {other[0]!r}, beside a package; give the datapackage.json of both"
        )
