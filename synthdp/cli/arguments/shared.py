"""Options that several commands share."""

import argparse

from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.json_lines import LOG_FORMATS
from synthdp.cli.arguments.parsing import (
    argument,
    flag,
    job_count,
    option,
    output,
)

FILES = ".csv, .tsv (also .gz, .zst), .parquet, .xlsx"
"""Endings of tables, as help texts name them."""


def add_schemas(parser: argparse.ArgumentParser) -> None:
    """Add the schema, or the kinds of columns."""
    group = parser.add_mutually_exclusive_group()
    option(
        group,
        "-s --schema FILE",
        "schema file (JSON); what it leaves open is learnt, ids are generated",
    )
    option(
        group,
        "--kinds FILE",
        "file of the kinds of columns, such as integer, id or ignore (JSON); all else is learnt",
    )


def add_guarantee(parser: argparse.ArgumentParser, *, of: str, units: str = "records") -> None:
    """Add epsilon and delta; ``of`` is what epsilon is the privacy loss of."""
    option(parser, "--epsilon EPSILON", f"privacy loss {of}, above 0", required=True)
    option(
        parser,
        "--delta DELTA",
        f"probability that the guarantee may fail with, above 0 and far below 1 / (number of {units})",
        required=True,
    )


def add_unit_and_share(parser: argparse.ArgumentParser) -> None:
    """Add whose rows are protected together, and what learning a domain may cost."""
    option(
        parser,
        "--unit COLUMN",
        "column that tells persons apart; protects persons with all their rows, not single rows",
    )
    add_max_rows(parser)
    option(
        parser,
        "--domain-share SHARE",
        "share of the budget for what is learnt, above 0 and at most 0.95; levels that were not found "
        "may take half as much again; default: 0.25",
    )


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add published totals."""
    option(
        parser,
        "--known FILE",
        "published totals that rows are to have exactly: CSV of some columns and count or share; repeat it for "
        "more; see docs/published-totals.md",
        repeats=True,
    )


def add_weight(parser: argparse.ArgumentParser) -> None:
    """Add the column of survey weights."""
    option(
        parser,
        "--weight COLUMN",
        "column of survey weights: `sample --weighted` then draws the population; see docs/survey-tables.md",
    )


def add_max_rows(parser: argparse.ArgumentParser, *, at: str = "") -> None:
    """Add how many rows of a person may be used; ``at`` says where, if that needs to be said."""
    option(
        parser,
        "--max-rows-per-unit K",
        f"most rows of a person that may be used{at}; needed with --unit",
    )


def add_adjacency(parser: argparse.ArgumentParser) -> None:
    """Add which tables are neighbours."""
    option(
        parser,
        "--adjacency NAME",
        "add-remove (default) or replace-one record",
        default="add-remove",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the saved model that a command is about."""
    argument(parser, "model MODEL", "file written by `synthdp run --save`")


def add_about(parser: argparse.ArgumentParser) -> None:
    """Add what the curator says of a release."""
    option(
        parser,
        "--about FILE",
        "what only you know, for the certificate: curators, use, tuning (YAML or JSON); see docs/certificate.md",
    )


def add_output(parser: argparse.ArgumentParser, *, rows: str, folder: str = "") -> None:
    """Add where a table is written and how; ``rows`` is the help text of that option, ``folder``
    ends that of OUT.
    """
    output(parser, f"{FILES}, or - for CSV to stdout (certificate to stderr){folder}")
    option(parser, "--rows N", rows)
    option(parser, "--seed N", "make the drawing of rows repeatable; the noise is never")
    option(
        parser,
        "--jobs N",
        "threads that draw rows of long tables, -1 for all cores: the same rows sooner; default: 1",
        parse=job_count,
        default=1,
    )
    flag(parser, "--force", "replace files that exist")
    flag(parser, "--json", "print the result as JSON, for machines")
    add_dialect(parser)
    add_verbose(parser)


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Add the log."""
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="log stages and charges to stderr, public facts only; -vv logs every step",
    )
    parser.add_argument(
        "--log-format",
        choices=LOG_FORMATS,
        default=LOG_FORMATS[0],
        help="json: each line on stderr is a JSON object, errors and cautions too; default: text",
    )


def add_input(parser: argparse.ArgumentParser, *, more: str = "") -> None:
    """Add the sensitive table: a file, or what names it in a database; ``more`` ends the help."""
    about = f"sensitive table: {FILES}, a folder or 'PATTERN*.csv' of them, or -: CSV from stdin"
    argument(parser, "input [IN]", about + more)
    add_source(parser)


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add what names a table in a database."""
    option(
        parser,
        "--source URL",
        "in place of IN: a database, where the rows stay: duckdb:///FILE or postgres://USER@HOST/DATABASE; "
        "passwords from the environment or .pgpass; see docs/sources.md",
    )
    option(parser, "--table NAME", "table or view of the database")
