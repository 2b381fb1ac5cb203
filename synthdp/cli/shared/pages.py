"""The options of a report, and whether its page can be made, before anything is read for it."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

from synthdp.cli.arguments.options import DialectOptions
from synthdp.cli.shared.outputs import check_distinct
from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import STANDARD_STREAM, check_writable
from synthdp.report.rendering.figures import import_matplotlib
from synthdp.report.rendering.page import import_jinja


@final
@dataclass(frozen=True, kw_only=True)
class ReportOptions(DialectOptions):
    """``synthdp report``."""

    tables: tuple[str, ...]
    public: str | None
    schema: str | None
    output: str | None
    target: tuple[str, ...] | None
    by: tuple[str, ...] | None
    queries: str | None
    weight: str | None
    seed: int
    force: bool
    json: bool
    verbose: int
    log_format: str


def check_evaluation(options: ReportOptions, *, inputs: tuple[str, ...]) -> None:
    """Refuse an evaluation that says nothing, or whose page cannot be made."""
    if options.output is None and not options.json:
        raise ParameterError(
            "--output is missing; name the page, such as report.html, or say --json"
        )
    if options.output is not None:
        check_page(options.output, inputs=inputs, force=options.force)
        import_matplotlib()  # what is not installed is an error before the tables are read
        import_jinja()


def check_page(output: str, *, inputs: tuple[str, ...], force: bool) -> None:
    """Refuse a page that cannot be written, or has another ending."""
    if output == STANDARD_STREAM or Path(output).suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"--output is {output!r}; name a page that ends in .html")
    check_distinct([output], inputs=inputs)
    check_writable(output, force=force)
