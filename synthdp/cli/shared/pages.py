"""Whether a page can be made, before anything is read for it."""

import argparse
from pathlib import Path

from synthdp.cli.shared.outputs import check_distinct
from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import STANDARD_STREAM, check_writable
from synthdp.report.rendering.figures import import_matplotlib
from synthdp.report.rendering.page import import_jinja


def check_evaluation(options: argparse.Namespace, *, inputs: tuple[str, ...]) -> None:
    """Refuse an evaluation that says nothing, or whose page cannot be made."""
    if options.output is None and not options.json:
        raise ParameterError(
            "--output is missing; name the page, such as report.html, or say --json"
        )
    if options.output is not None:
        check_page(options, inputs=inputs)
        import_matplotlib()  # what is not installed is told before the tables are read
        import_jinja()


def check_page(options: argparse.Namespace, *, inputs: tuple[str, ...]) -> None:
    """Refuse a page that cannot be written, or has another ending."""
    if options.output == STANDARD_STREAM or Path(options.output).suffix.lower() not in (
        ".html",
        ".htm",
    ):
        raise ParameterError(f"--output is {options.output!r}; name a page that ends in .html")
    check_distinct([options.output], inputs=inputs)
    check_writable(options.output, force=options.force)
