"""How far a table is from the records, as it was measured under the budget, in words."""

from collections.abc import Mapping
from typing import Any

from synthdp.core.event_log import columns_in_words

SURE = 2.0
"""Standard deviations that are said beside an error: it lies that near in 95 of 100 releases."""

_SAID = {"columns": "single columns", "pairs": "pairs", "triples": "triples"}


def quality_line(quality: Mapping[str, Any]) -> str:
    """What was measured, in one line.

    >>> pairs = {"error": 0.0213, "stddev": 0.0006, "n_marginals": 105, "n_all": 105}
    >>> quality_line({"table": {"n_rows": 45222, "seed": 0}, "pairs": pairs})
    '2.1 % of rows off in pairs (+- 0.12)'
    """
    measured = {said: quality[name] for name, said in _SAID.items() if name in quality}
    errors = [f"{100 * each['error']:.2g} % in {said}" for said, each in measured.items()]
    errors[0] = errors[0].replace(" % in", " % of rows off in")
    margin = 100 * SURE * max(each["stddev"] for each in measured.values())
    return f"{', '.join(errors)} (+- {margin:.2g})"


def quality_facts(quality: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and texts for a list of what a certificate says; nothing where nothing was measured."""
    if not quality:
        return []
    drawn = quality["table"]
    facts = [
        ("quality", quality_line(quality)),
        ("", "measured under the budget: the share of rows that would have to change"),
        ("", f"of {drawn['n_rows']:,} rows that seed {drawn['seed']} draws"),
    ]
    for name in ("pairs", "triples"):
        measured = quality.get(name)
        if measured and measured["n_marginals"] < measured["n_all"]:
            numbers = f"{measured['n_marginals']:,} of {measured['n_all']:,}"
            facts.append(("", f"{name}: a public sample, {numbers}"))
    if "worst_pair" in quality:
        worst = quality["worst_pair"]
        facts.append(("worst pair", f"{columns_in_words(worst['columns'])}: {_off(worst)}"))
    return facts


def _off(measured: Mapping[str, float]) -> str:
    """An error in per cent, with twice its standard deviation."""
    error, margin = 100 * measured["error"], 100 * SURE * measured["stddev"]
    return f"{error:.2g} % off (+- {margin:.2g})"
