"""A command line of ``synthdp run`` as a script of Python, which a steward hands to whoever runs it
each night.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from synthdp.cli.arguments.command_line import command_line_parser
from synthdp.cli.arguments.options import OutputOptions, RunOptions
from synthdp.core.errors import ParameterError

_KEPT = {"input", "source", "table", "journal", "reject", "save", "save_schema"}
"""Options that say which table it is, and where a run is kept: a script says that itself."""

ARGUMENTS = tuple(
    each.name
    for each in fields(RunOptions)
    if each.name not in _KEPT | {of_output.name for of_output in fields(OutputOptions)}
)
"""Arguments that `synthdp.synthesize` shares with the command, by the same names."""

JOURNAL = "nightly.journal"
"""Where the answers of a script are kept that is charged to a budget."""

_DUCKDB = "duckdb:///"


def run_script(words: Sequence[str], dialect: Mapping[str, str] | None = None) -> str:
    """The script that makes such a release as a command, anew each time.

    Parameters
    ----------
    words
        Of the command, without the name of the program: ``["run", "people.csv", …]``.
    dialect
        How rows are written, where it is not as usual.

    Raises
    ------
    ParameterError
        If the words are those of no run.

    >>> words = "run homes.csv -o out.csv --kinds kinds.json --epsilon 1 --delta 1e-6".split()
    >>> run_script(words).splitlines()[3:6]
    ['synthesis = synthdp.synthesize(', "    'homes.csv',", "    kinds='kinds.json',"]
    """
    parser = command_line_parser()
    try:
        asked = vars(parser.parse_args([*words]))
    except SystemExit:  # such as words of another version
        raise ParameterError("these are no words of synthdp run; see synthdp run --help") from None
    usual = vars(parser.parse_args(["run", "-o", "-", "--epsilon", "0", "--delta", "0"]))
    arguments = {name: asked[name] for name in ARGUMENTS if asked[name] != usual[name]}
    if asked["budget"]:
        arguments |= {"journal": JOURNAL}
    modules, given = _table(asked)
    imports = sorted(["json", "synthdp", *modules])
    listed = "".join(f"    {name}={value!r},\n" for name, value in arguments.items())
    lines = [*(f"import {each}" for each in imports), ""]
    lines += [f"synthesis = synthdp.synthesize(\n    {given},\n{listed})"]
    lines += ["synthesis.save('again.synthdp', force=True)"]
    if asked["schema"] or asked["kinds"]:
        names = {"delimiter": "sep", "encoding": "encoding"}
        written = {names[key]: each for key, each in (dialect or {}).items() if key in names}
        more = "".join(f", {name}={each!r}" for name, each in written.items())
        lines += [f"synthesis.sample(text=True).to_csv('again.csv', index=False{more})"]
    else:  # linked tables are described where they lie
        lines += ["for name, frame in synthesis.sample(text=True).items():"]
        lines += ["    frame.to_csv(f'{name}.again.csv', index=False)"]
    lines += ["with open('again.privacy.json', 'w') as file:"]
    return "\n".join([*lines, "    json.dump(synthesis.certificate, file, indent=2)", ""])


def _table(asked: Mapping[str, Any]) -> tuple[list[str], str]:
    """The modules that a table needs, and the expression that is it."""
    source = asked["source"] or ""
    table = asked["table"] or ""
    if not source:
        return [], repr(asked["input"])
    if source.startswith(_DUCKDB):
        path = source.removeprefix(_DUCKDB)
        return ["duckdb"], f"duckdb.connect({path!r}, read_only=True).table({table!r})"
    schema, _, name = table.rpartition(".")
    return ["ibis"], f"ibis.connect({source!r}).table({name!r}, database={schema or None!r})"
