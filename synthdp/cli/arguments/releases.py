"""``synthdp run``, ``sample``, ``show`` and ``certificate``."""

import argparse

from synthdp.cli.arguments.budgets import add_keeping
from synthdp.cli.arguments.parsing import Commands, command, flag, listed, whole_number
from synthdp.cli.arguments.shared import (
    FILES,
    add_about,
    add_adjacency,
    add_guarantee,
    add_known,
    add_model,
    add_output,
    add_schemas,
    add_source,
    add_unit_and_share,
    add_verbose,
    add_weight,
)
from synthdp.release.registry import BASELINES, ENGINES, MECHANISMS

_ROWS = "number of rows, with --order of persons, of a package of its root; default: the noisy estimate of the table's"
_FOLDER = "; of a package a folder"


def add_run(commands: Commands) -> None:
    """Add ``synthdp run``."""
    parser = command(commands, "run", "turn a sensitive table into a synthetic one")
    parser.add_argument(
        "input",
        nargs="?",
        metavar="IN",
        help=f"sensitive table: {FILES}, a folder or 'PATTERN*.csv' of them, or -: CSV from stdin; or datapackage.json",
    )
    add_source(parser)
    add_schemas(parser)
    add_guarantee(parser, of="of the whole release")
    parser.add_argument(
        "--mechanism",
        default="auto",
        metavar="NAME",
        help=f"mechanism: {listed(MECHANISMS)}; default: auto; see docs/mechanisms.md",
    )
    parser.add_argument(
        "--workload",
        metavar="WHAT",
        help="marginals to get right: 2-way, 3-way or a JSON file; default: 3-way, or 2-way for many columns",
    )
    parser.add_argument(
        "--target",
        metavar="COLUMN",
        help="column to predict: only the marginals of the workload that hold it; see docs/workload.md",
    )
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help=f"{listed([*ENGINES, *BASELINES])}; default: what the mechanism is meant for; see docs/engines.md",
    )
    add_adjacency(parser)
    parser.add_argument(
        "--accounting",
        metavar="NAME",
        help="zcdp, or gdp: less noise, Gaussian mechanisms only; default: what the mechanism is meant for",
    )
    _add_persons(parser)
    parser.add_argument(
        "--quality-share",
        type=float,
        metavar="SHARE",
        help="share of the budget that measures how far the rows are from the records; 0: none; default: 0.01",
    )
    parser.add_argument(
        "--accept",
        metavar="CRITERIA",
        help="what rows have to meet, such as 'pairs within 3 %%, column pay within 1 %%'; else the exit code is 4",
    )
    parser.add_argument(
        "--choose",
        metavar="ENGINES",
        help="engines, or 'standard', whose models are compared privately with the mechanism's; see docs/quality.md",
    )
    flag(parser, "--reject", "write no table that does not meet what --accept says")
    flag(
        parser,
        "--anyway",
        "go on where nearly no value of a column can be read, or keys of tables match nowhere; default: stop while "
        "most of the budget is there",
    )
    add_about(parser)
    add_known(parser)
    add_weight(parser)
    parser.add_argument(
        "--prior",
        metavar="FILE",
        help="earlier release (`--save`) about many of the same people: what did not move is not paid for again; see "
        "docs/waves.md",
    )
    _add_saving(parser)
    add_keeping(parser)
    add_output(parser, rows=_ROWS, folder=_FOLDER)


def _add_persons(parser: argparse.ArgumentParser) -> None:
    add_unit_and_share(parser)
    parser.add_argument(
        "--order",
        metavar="COLUMN",
        help="with --unit: rows of a person hang together, in the order of this column; the output has a fresh key of "
        "each person; see docs/persons.md",
    )


def _add_saving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--save", metavar="FILE", help="also save the fitted model, for `synthdp sample`"
    )
    parser.add_argument(
        "--save-schema",
        metavar="FILE",
        help="also save the complete schema that was used, with all that was learnt; that is paid for: later "
        "releases with -s FILE learn nothing again",
    )


def add_sample(commands: Commands) -> None:
    """Add ``synthdp sample``."""
    parser = command(commands, "sample", "draw more rows from a saved model; opens no private data")
    add_model(parser)
    parser.add_argument(
        "--where",
        metavar="JSON",
        help="draw from a slice only; give conditions as JSON, or @FILE that holds them; see docs/slices.md",
    )
    parser.add_argument(
        "--given",
        metavar="FILE",
        help="complete these records, a table with some of the columns; of a package the root's, or a folder "
        "(not sensitive: it is used as it is)",
    )
    parser.add_argument(
        "--offset",
        type=whole_number,
        metavar="N",
        help="begin with row N of the endless table of --seed, to draw a long table in parts; see docs/big-tables.md",
    )
    flag(
        parser,
        "--weighted",
        "draw the population that the column of weights describes: rows in proportion to weight",
    )
    flag(
        parser,
        "--calibrated",
        "draw rows as of the survey, with weights raked to the weighted counts of the release and to --totals",
    )
    parser.add_argument(
        "--totals",
        action="append",
        metavar="FILE",
        help="published totals of the population, as --known of `run` takes them; repeat it for more",
    )
    add_output(parser, rows=_ROWS, folder=_FOLDER)


def add_refit(commands: Commands) -> None:
    """Add ``synthdp refit``."""
    parser = command(commands, "refit", "fit another engine to what was measured; costs no privacy")
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="file written by `synthdp run --save`, or kept of a failed run",
    )
    parser.add_argument(
        "--engine",
        required=True,
        metavar="NAME",
        help=f"{listed([*ENGINES, *BASELINES])}; see docs/engines.md",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="file to save the refitted release in",
    )
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print the result as JSON, for machines")
    add_verbose(parser)


def add_show(commands: Commands) -> None:
    """Add ``synthdp show``."""
    parser = command(
        commands, "show", "explain a schema, a kinds file, a saved model or certificate"
    )
    parser.add_argument("file", metavar="FILE")
    flag(parser, "--all", "print everything; default: about a screen of a certificate or model")
    flag(parser, "--json", "print what the file says as JSON")


def add_certificate(commands: Commands) -> None:
    """Add ``synthdp certificate``."""
    parser = command(
        commands,
        "certificate",
        "write a certificate as a page to print, a record of a registry, or JSON",
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help=".privacy.json file, or a file written by `synthdp run --save`",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="OUT",
        help=".html, .yaml (registry) or .json; default: stdout",
    )
    parser.add_argument(
        "--as",
        dest="form",
        metavar="FORM",
        help="html, registry (OpenDP's registry of deployments, YAML), json, or dp-events (of dp_accounting, JSON); "
        "default: by the ending of OUT",
    )
    add_about(parser)
    parser.add_argument(
        "--schema",
        nargs="?",
        const="certificate",
        choices=("certificate", "result"),
        help="print a JSON Schema instead: of certificates, or of what --json prints (result)",
    )
    flag(parser, "--force", "replace a file that exists")
