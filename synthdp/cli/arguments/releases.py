"""``synthdp run``, ``sample``, ``show`` and ``certificate``."""

import argparse

from synthdp.cli.arguments.budgets import add_keeping
from synthdp.cli.arguments.parsing import (
    Commands,
    argument,
    command,
    flag,
    listed,
    option,
    output,
)
from synthdp.cli.arguments.shared import (
    add_about,
    add_adjacency,
    add_guarantee,
    add_input,
    add_known,
    add_model,
    add_output,
    add_schemas,
    add_unit_and_share,
    add_verbose,
    add_weight,
)
from synthdp.release.registry import BASELINES, ENGINES, MECHANISMS

_ROWS = "number of rows, with --together of persons, of a package of its root; default: the table's noisy estimate"
_FOLDER = "; of a package a folder"


def add_run(commands: Commands) -> None:
    """Add ``synthdp run``."""
    parser = command(commands, "run")
    add_input(parser, more="; or datapackage.json")
    add_schemas(parser)
    add_guarantee(parser, of="of the whole release")
    option(
        parser,
        "--mechanism NAME",
        f"mechanism: {listed(MECHANISMS)}, or several with commas between them; default: auto; see "
        "docs/mechanisms.md",
        default="auto",
    )
    option(
        parser,
        "--workload WHAT",
        "marginals to get right: 2-way, 3-way or a JSON file; default: 3-way, or 2-way for many columns",
    )
    option(
        parser,
        "--target COLUMN",
        "column to predict: only the marginals of the workload that hold it; see docs/workload.md",
    )
    option(
        parser,
        "--engine NAME",
        f"{listed([*ENGINES, *BASELINES])}; default: what the mechanism is meant for; see docs/engines.md",
    )
    add_adjacency(parser)
    option(
        parser,
        "--accounting NAME",
        "zcdp, or gdp: less noise, Gaussian mechanisms only; default: what the mechanism is meant for",
    )
    _add_persons(parser)
    option(
        parser,
        "--quality-share SHARE",
        "share of the budget that measures how far the rows are from the records; 0: none; default: 0.01",
    )
    option(
        parser,
        "--accept CRITERIA",
        "what rows have to meet, such as 'pairs within 3 %%, column pay within 1 %%'; else the exit code is 4",
    )
    option(
        parser,
        "--choose ENGINES",
        "engines, or 'standard', whose models are compared privately with the mechanism's; see docs/quality.md",
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
    option(
        parser,
        "--prior FILE",
        "earlier release (`--save`) about many of the same people: what did not move is not paid for again; see "
        "docs/waves.md",
    )
    _add_saving(parser)
    add_keeping(parser)
    add_output(parser, rows=_ROWS, folder=_FOLDER)


def _add_persons(parser: argparse.ArgumentParser) -> None:
    add_unit_and_share(parser)
    flag(
        parser,
        "--together",
        "with --unit: rows of a person hang together, and the output has a fresh key of each person; see "
        "docs/persons.md",
    )
    option(
        parser,
        "--order COLUMN",
        "the same with rows in the order of this column, and how they follow each other",
    )
    option(
        parser,
        "--constant COLUMNS",
        "with these: columns that are the same in all rows of a person, with commas between them",
    )


def _add_saving(parser: argparse.ArgumentParser) -> None:
    option(parser, "--save FILE", "also save the fitted model, for `synthdp sample`")
    option(
        parser,
        "--save-schema FILE",
        "also save the complete schema that was used, with all that was learnt; that is paid for: later "
        "releases with -s FILE learn nothing again",
    )


def add_sample(commands: Commands) -> None:
    """Add ``synthdp sample``."""
    parser = command(commands, "sample")
    add_model(parser)
    option(
        parser,
        "--where JSON",
        "draw from a slice only; give conditions as JSON, or @FILE that holds them; see docs/slices.md",
    )
    option(
        parser,
        "--given FILE",
        "complete these records, a table with some of the columns; of a package the root's, or a folder "
        "(not sensitive: it is used as it is)",
    )
    option(
        parser,
        "--offset N",
        "begin with row N of the endless table of --seed, to draw a long table in parts; see docs/big-tables.md",
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
    option(
        parser,
        "--totals FILE",
        "published totals of the population, as --known of `run` takes them; repeat it for more",
        repeats=True,
    )
    add_output(parser, rows=_ROWS, folder=_FOLDER)


def add_refit(commands: Commands) -> None:
    """Add ``synthdp refit``."""
    parser = command(commands, "refit")
    argument(parser, "model MODEL", "file written by `synthdp run --save`, or kept of a failed run")
    option(
        parser,
        "--engine NAME",
        f"{listed([*ENGINES, *BASELINES])}; see docs/engines.md",
        required=True,
    )
    output(parser, "file to save the refitted release in", shown="FILE")
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print the result as JSON, for machines")
    add_verbose(parser)


def add_show(commands: Commands) -> None:
    """Add ``synthdp show``."""
    parser = command(commands, "show")
    argument(parser, "file FILE")
    flag(parser, "--all", "print everything; default: about a screen of a certificate or model")
    flag(parser, "--json", "print what the file says as JSON")


def add_certificate(commands: Commands) -> None:
    """Add ``synthdp certificate``."""
    parser = command(commands, "certificate")
    argument(parser, "file [FILE]", ".privacy.json file, or a file written by `synthdp run --save`")
    option(
        parser, "-o --output OUT", ".html, .yaml (registry) or .json; default: stdout", default="-"
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
