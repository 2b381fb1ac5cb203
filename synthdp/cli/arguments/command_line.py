"""All commands of the command line."""

import argparse

from synthdp.cli.arguments.audits import add_audit
from synthdp.cli.arguments.budgets import add_budget, add_journal
from synthdp.cli.arguments.parsing import Parser
from synthdp.cli.arguments.releases import add_certificate, add_refit, add_run, add_sample, add_show
from synthdp.cli.arguments.reports import add_report
from synthdp.cli.arguments.schemas import add_plan, add_schema
from synthdp.cli.arguments.sites import add_combine, add_measure, add_plan_measure
from synthdp.cli.arguments.studio import add_studio
from synthdp.cli.arguments.uncertainty import add_marginal, add_replicates, add_verify
from synthdp.core.version import __version__

EXAMPLES = """examples:
  synthdp schema draft people.csv --kinds -o kinds.json
  synthdp run people.csv --kinds kinds.json -o synthetic.csv --epsilon 1 --delta 1e-9
each command has an example of its own: synthdp COMMAND --help

exit codes: 0 done, 1 failed, 2 usage, 3 refused for privacy, 4 not accepted, 130 or 143 stopped"""


def command_line_parser() -> argparse.ArgumentParser:
    """The parser of all commands; a namespace's ``command`` says which one it is, as
    `synthdp.cli.commands.table` names them.
    """
    parser = Parser(
        prog="synthdp",
        description="A sensitive table in, a synthetic table out, under differential privacy.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"synthdp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_run(commands)
    add_sample(commands)
    add_refit(commands)
    add_marginal(commands)
    add_replicates(commands)
    add_verify(commands)
    add_report(commands)
    add_show(commands)
    add_certificate(commands)
    add_schema(commands)
    add_plan(commands)
    add_plan_measure(commands)
    add_measure(commands)
    add_combine(commands)
    add_budget(commands)
    add_journal(commands)
    add_audit(commands)
    add_studio(commands)
    return parser
