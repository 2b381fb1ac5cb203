"""A script of Python that makes a release, as a steward hands it to whoever runs it each night."""

from collections.abc import Mapping
from typing import Any

_DUCKDB = "duckdb:///"


def run_script(
    table: str,
    arguments: Mapping[str, Any],
    *,
    source: str = "",
    is_linked: bool = False,
    dialect: Mapping[str, str] | None = None,
) -> str:
    """The script.

    Parameters
    ----------
    table
        The path of a file or package; with ``source`` the name of a table of that database.
    arguments
        Of `synthdp.synthesize`, besides the table.
    source
        The address of a database; empty if the table is a file.
    is_linked
        Whether the path is that of linked tables.
    dialect
        How rows are written, where it is not as usual.

    >>> print(run_script("homes.csv", {"kinds": "kinds.json", "epsilon": 1.0})[:61])
    import json
    import synthdp
    <BLANKLINE>
    synthesis = synthdp.synthesize(
    <BLANKLINE>
    """
    modules, given = _table(table, source)
    imports = ["json", "synthdp", *modules]
    listed = "".join(f"    {name}={value!r},\n" for name, value in arguments.items())
    lines = [*(f"import {each}" for each in sorted(imports)), ""]
    lines += [f"synthesis = synthdp.synthesize(\n    {given},\n{listed})"]
    lines += ["synthesis.save('again.synthdp', force=True)"]
    if is_linked:
        lines += ["for name, frame in synthesis.sample(text=True).items():"]
        lines += ["    frame.to_csv(f'{name}.again.csv', index=False)"]
    else:
        names = {"delimiter": "sep", "encoding": "encoding"}
        written = {names[key]: each for key, each in (dialect or {}).items() if key in names}
        more = "".join(f", {name}={each!r}" for name, each in written.items())
        lines += [f"synthesis.sample(text=True).to_csv('again.csv', index=False{more})"]
    lines += ["with open('again.privacy.json', 'w') as file:"]
    return "\n".join([*lines, "    json.dump(synthesis.certificate, file, indent=2)", ""])


def _table(table: str, source: str) -> tuple[list[str], str]:
    """The modules that a table needs, and the expression that is it."""
    if not source:
        return [], repr(table)
    if source.startswith(_DUCKDB):
        path = source.removeprefix(_DUCKDB)
        return ["duckdb"], f"duckdb.connect({path!r}, read_only=True).table({table!r})"
    schema, _, name = table.rpartition(".")
    return ["ibis"], f"ibis.connect({source!r}).table({name!r}, database={schema or None!r})"
