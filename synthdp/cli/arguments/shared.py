"""Options that several commands share."""

import argparse

from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.json_lines import LOG_FORMATS
from synthdp.cli.arguments.parsing import flag, job_count, whole_number

FILES = ".csv, .tsv (also .gz, .zst), .parquet, .xlsx"
"""Endings of tables, as help texts name them."""


def add_schemas(parser: argparse.ArgumentParser) -> None:
    """Add the schema, or the kinds of columns."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "-s",
        "--schema",
        metavar="FILE",
        help="schema file (JSON); what it leaves open is learnt, ids are generated",
    )
    group.add_argument(
        "--kinds",
        metavar="FILE",
        help="file of the kinds of columns, such as integer, id or ignore (JSON); all else is learnt",
    )


def add_guarantee(parser: argparse.ArgumentParser, *, of: str, units: str = "records") -> None:
    """Add epsilon and delta; ``of`` is what epsilon is the privacy loss of."""
    parser.add_argument("--epsilon", required=True, type=float, help=f"privacy loss {of}, above 0")
    parser.add_argument(
        "--delta",
        required=True,
        type=float,
        help=f"probability that the guarantee may fail with, above 0 and far below 1 / (number of {units})",
    )


def add_unit_and_share(parser: argparse.ArgumentParser) -> None:
    """Add whose rows are protected together, and what learning a domain may cost."""
    parser.add_argument(
        "--unit",
        metavar="COLUMN",
        help="column that tells persons apart; protects persons with all their rows, not single rows",
    )
    add_max_rows(parser)
    parser.add_argument(
        "--domain-share",
        type=float,
        metavar="SHARE",
        help="share of the budget for what is learnt, above 0 and at most 0.95; default: 0.25",
    )


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add published totals."""
    parser.add_argument(
        "--known",
        action="append",
        metavar="FILE",
        help="published totals that rows are to have exactly: CSV of some columns and count or share; repeat it for "
        "more; see docs/published-totals.md",
    )


def add_weight(parser: argparse.ArgumentParser) -> None:
    """Add the column of survey weights."""
    parser.add_argument(
        "--weight",
        metavar="COLUMN",
        help="column of survey weights: `sample --weighted` then draws the population; see docs/survey-tables.md",
    )


def add_max_rows(parser: argparse.ArgumentParser, *, at: str = "") -> None:
    """Add how many rows of a person may be used; ``at`` says where, if that needs to be said."""
    parser.add_argument(
        "--max-rows-per-unit",
        type=whole_number,
        metavar="K",
        help=f"most rows of a person that may be used{at}; needed with --unit",
    )


def add_adjacency(parser: argparse.ArgumentParser) -> None:
    """Add which tables are neighbours."""
    parser.add_argument(
        "--adjacency",
        default="add-remove",
        metavar="NAME",
        help="add-remove (default) or replace-one record",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the saved model that a command is about."""
    parser.add_argument("model", metavar="MODEL", help="file written by `synthdp run --save`")


def add_about(parser: argparse.ArgumentParser) -> None:
    """Add what the curator says of a release."""
    parser.add_argument(
        "--about",
        metavar="FILE",
        help="what only you know, for the certificate: curators, use, tuning (YAML or JSON); see docs/certificate.md",
    )


def add_output(parser: argparse.ArgumentParser, *, rows: str, folder: str = "") -> None:
    """Add where a table is written and how; ``rows`` is the help text of that option, ``folder``
    ends that of OUT.
    """
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help=f"{FILES}, or - for CSV to stdout (certificate to stderr){folder}",
    )
    parser.add_argument("--rows", type=whole_number, metavar="N", help=rows)
    parser.add_argument(
        "--seed",
        type=whole_number,
        metavar="N",
        help="make the drawing of rows repeatable; the noise is never",
    )
    parser.add_argument(
        "--jobs",
        type=job_count,
        default=1,
        metavar="N",
        help="threads that draw rows of long tables, -1 for all cores: the same rows sooner; default: 1",
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


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add what names a table in a database."""
    parser.add_argument(
        "--source",
        metavar="URL",
        help="in place of IN: a database, where the rows stay: duckdb:///FILE or postgres://USER@HOST/DATABASE; "
        "passwords from the environment or .pgpass; see docs/sources.md",
    )
    parser.add_argument("--table", metavar="NAME", help="table or view of the database")
