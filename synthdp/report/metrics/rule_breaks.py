"""Rules of a schema: how many rows of each table break them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.metrics.read_table import ReadTable
from synthdp.schema.rules.expressions import Relation
from synthdp.schema.rules.rules import Rule

TOLERANCE = 1e-9
"""Sums of decimals are off by a few of the last digits of a float."""


def broken_rules(real: ReadTable, synthetic: ReadTable) -> pd.DataFrame:
    """One row a rule: its text, and how many rows of each table break it, and which share; the
    worst first.
    """
    rows = []
    for rule in real.schema.rules:
        here, there = (_breaking(rule, table) for table in (real, synthetic))
        rows.append(
            {
                "rule": rule_text(rule.text),
                "broken_real": int(here.sum()),
                "broken_synthetic": int(there.sum()),
                "share_real": real.share(here),
                "share_synthetic": synthetic.share(there),
            }
        )
    columns = ["rule", "broken_real", "broken_synthetic", "share_real", "share_synthetic"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("share_synthetic", ascending=False, kind="stable", ignore_index=True)


def rule_text(rule: Mapping[str, Any]) -> str:
    """A rule in a line: its description, its check, or what it holds.

    >>> rule_text({"check": "start <= end"})
    'start <= end'
    >>> rule_text({"forbid": {"age": {"maximum": 14}, "status": ["retired", None]}})
    'forbid age up to 14 and status retired or missing'
    """
    if text := rule.get("description") or rule.get("check"):
        return str(text)
    if "determines" in rule:
        return " determines ".join(map(str, rule["determines"]))
    kind = "forbid" if "forbid" in rule else "allow"
    entries = [rule[kind]] if isinstance(rule[kind], Mapping) else rule[kind]
    text = f"{kind} {'; or '.join(map(_conditions_text, entries))}"
    return text if len(text) <= 200 else f"{text[:199]}…"


def _conditions_text(conditions: Mapping[str, Any]) -> str:
    return " and ".join(
        f"{column} {_condition_text(condition)}" for column, condition in conditions.items()
    )


def _condition_text(condition: Any) -> str:
    if isinstance(condition, Mapping):
        words = {"minimum": "from", "maximum": "up to"}
        return " ".join(f"{words[key]} {condition[key]}" for key in words if key in condition)
    return " or ".join("missing" if level is None else str(level) for level in condition)


def _breaking(rule: Rule, table: ReadTable) -> NDArray[np.bool_]:
    """Which rows break a rule: by their values if it is a check, else by their levels."""
    broken = np.zeros(table.n_rows, dtype=np.bool_)
    for relation in rule.relations:
        broken |= _contradicting(relation, table)
    for constraint in () if rule.relations else rule.constraints:
        read = np.ones(table.n_rows, dtype=np.bool_)
        for name in constraint.clique:
            column = table.schema[name]
            read &= table[name] != column.unread_code if column.has_unread_place else True
        rows = np.flatnonzero(read)  # nobody knows whether what was not read breaks it
        columns = [codes[rows] for codes in table.codes.columns]
        broken[rows] |= ~constraint.holds(table.domain, columns)  # type: ignore[arg-type]
    return broken


def _contradicting(relation: Relation, table: ReadTable) -> NDArray[np.bool_]:
    """Which rows contradict a relation; none where a value is missing."""
    terms = [float(factor) * table.numbers[name] for name, factor in relation.factors.items()]
    total = np.sum(terms, axis=0) + float(relation.constant)
    near = TOLERANCE * (np.abs(terms).sum(axis=0) + abs(float(relation.constant)))
    contradicting: NDArray[np.bool_]
    if relation.sign == "=":
        contradicting = np.abs(total) > near
    else:
        contradicting = total >= -near if relation.sign == "<" else total > near
    return contradicting
