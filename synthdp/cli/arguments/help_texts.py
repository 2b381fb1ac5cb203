"""What ``--help`` shows on one screen: what each command does, with an example, and of long ones
the options that most people need.
"""

import argparse
import textwrap
from collections.abc import Iterable, Iterator

SCREEN_LINES = 38
"""Lines that a help text may have; ``--help-all`` shows the rest."""

_NAME_WIDTH = 26

ABOUT = {
    "run": "turn a sensitive table into a synthetic one",
    "sample": "draw more rows from a saved model; opens no private data",
    "refit": "fit another engine to what was measured; costs no privacy",
    "marginal": "counts of a saved model with intervals; opens no private data",
    "replicates": "tables that differ as much as the noise left open",
    "verify": "hold synthetic answers against the real table, for a price",
    "report": "a page on how good synthetic tables are, which is NOT PRIVATE; with --public on a release",
    "show": "explain a schema, a kinds file, a saved model or certificate",
    "certificate": "write a certificate as a page to print, a record of a registry, or JSON",
    "schema": "work with schemas",
    "schema draft": "write a schema to fill in, from column names and declared types only",
    "schema check": "say what will not work well, and the noise to expect; opens no private data",
    "plan": "say what budgets give, and mean for one person",
    "plan-measure": "say what several sites are to measure; opens no private data",
    "measure": "ask the table of one site for exactly what a plan says",
    "combine": "make one release of what several sites measured",
    "budget": "keep one budget for all releases about one population",
    "budget create": "write a new budget file",
    "budget add": "enter a release of another system, for the budget's unit of privacy",
    "budget show": "say what was charged, what is left, and the hash of the last line",
    "budget verify": "walk through the file and check the hash of every line",
    "journal": "look into the journal of a run, or have what it paid for",
    "journal show": "say of which run it is, what was answered, and what that cost",
    "journal rescue": "make a release of all that was measured, where the run cannot go on; costs no privacy",
    "studio": "open a local page that leads from a table to a publication",
    "audit": "play the worst-case game: how much many releases prove of epsilon; opens no private data",
}
"""What each command does, in a line."""

EXAMPLES = {
    "run": "synthdp run people.csv -s schema.json -o synthetic.csv --epsilon 1 --delta 1e-9",
    "sample": 'synthdp sample people.synthdp -o women.csv --rows 1e6 --where \'{"sex": ["F"]}\'',
    "refit": "synthdp refit people.synthdp --engine mixture-of-products -o mixture.synthdp",
    "marginal": "synthdp marginal people.synthdp age sex --interval 0.9",
    "replicates": "synthdp replicates people.synthdp -o replicate.csv -m 20",
    "verify": "synthdp verify people.synthdp people.csv --question 'mean age' --epsilon 0.1 --delta 1e-9",
    "report": "synthdp report people.csv synthetic.csv -o report.html",
    "show": "synthdp show synthetic.csv.privacy.json",
    "certificate": "synthdp certificate synthetic.csv.privacy.json -o certificate.html",
    "schema": "synthdp schema check schema.json --epsilon 1 --delta 1e-9 --rows 50000",
    "schema draft": "synthdp schema draft people.csv --kinds -o kinds.json",
    "schema check": "synthdp schema check schema.json --epsilon 1 --delta 1e-9 --rows 50000",
    "plan": "synthdp plan schema.json --rows 50000 --want 'pairs within 2 %'",
    "plan-measure": "synthdp plan-measure schema.json -o plan.json --epsilon 1 --delta 1e-9",
    "measure": "synthdp measure people.csv --plan plan.json -o north.counts",
    "combine": "synthdp combine north.counts south.counts -o all.synthdp",
    "budget": "synthdp budget show patients.budget",
    "budget create": "synthdp budget create patients.budget --epsilon 3 --delta 1e-9 --population 'patients of 2026'",
    "budget add": "synthdp budget add patients.budget --epsilon 0.5 --delta 1e-9 --note 'report of 2025'",
    "budget show": "synthdp budget show patients.budget",
    "budget verify": "synthdp budget verify patients.budget",
    "journal": "synthdp journal show synthetic.csv.journal",
    "journal show": "synthdp journal show synthetic.csv.journal",
    "journal rescue": "synthdp journal rescue synthetic.csv.journal -o people.synthdp",
    "studio": "synthdp studio people.csv",
    "audit": "synthdp audit --mechanism mst --epsilon 1 --delta 1e-2 --seconds 60",
}
"""One command that works, by the name of each."""

MOST_NEEDED = {
    "run": """
        input source schema kinds epsilon delta mechanism workload target unit max_rows_per_unit
        together order constant accept save save_schema journal budget output rows seed force json verbose log_format
    """,
}
"""Of commands whose options do not fit, those that a screen shows."""


def short_help(parser: argparse.ArgumentParser) -> str:
    """The help of a long command on a screen: a line an option, and how to see all."""
    command = parser.prog.partition(" ")[2]
    needed = MOST_NEEDED.get(command)
    options = [
        action
        for group in parser._action_groups[:2]
        for action in group._group_actions
        if action.dest != "help" and (needed is None or action.dest in needed.split())
    ]
    positional = " ".join(_name(action) for action in options if not action.option_strings)
    usage = f"usage: {parser.prog} [options] {positional}"
    lines = [usage, "", parser.description or "", "", *_lines(options), "", parser.epilog or ""]
    lines.append(f"all options, in full: {parser.prog} --help-all\n")
    return "\n".join(lines)


def _lines(options: Iterable[argparse.Action]) -> Iterator[str]:
    for action in options:
        name = _name(action)
        gap = "" if len(name) < _NAME_WIDTH else "\n" + " " * (_NAME_WIDTH + 2)
        # Of the help only what the option is; whoever wants more asks for all.
        summary = textwrap.shorten(
            (action.help or "").replace("%%", "%").split(";")[0], 66, placeholder=" ..."
        )
        yield f"  {name:{_NAME_WIDTH}}{summary}" if not gap else f"  {name}{gap}{summary}"


def _name(action: argparse.Action) -> str:
    taken = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    name = ", ".join(action.option_strings)
    if action.choices is not None and not action.metavar:
        taken = "|".join(map(str, action.choices))
    return " ".join(filter(None, [name, str(taken)]))
