"""Rules of a schema: how many rows of each table break them."""

from collections.abc import Mapping
from typing import Any, final

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


def rule_text(rule: Mapping[str, Any], words: Mapping[str, str] | None = None) -> str:
    """A rule, or a limit of linked tables, in a line: its description, its check, or what it holds.

    Parameters
    ----------
    rule
        As a schema or a package has it.
    words
        Other words for "forbid", "missing" and the like, as another language has them.

    >>> rule_text({"check": "start <= end"})
    'start <= end'
    >>> rule_text({"forbid": {"age": {"maximum": 14}, "status": ["retired", None]}})
    'forbid age up to 14 and status retired or missing'
    >>> rule_text({"where": {"role": ["head"]}, "at_most": 1}, {"at_most": "höchstens"})
    'role head: höchstens 1'
    """
    translated = _Words(words or {})
    if text := rule.get("description") or rule.get("check"):
        return str(text)
    if "determines" in rule:
        return f" {translated['determines']} ".join(map(str, rule["determines"]))
    if "where" in rule:
        bounds = [
            f"{translated[key]} {rule[key]}" for key in ("at_least", "at_most") if key in rule
        ]
        return f"{translated.of_all(rule['where'])}: {', '.join(bounds)}"
    kind = "forbid" if "forbid" in rule else "allow"
    entries = [rule[kind]] if isinstance(rule[kind], Mapping) else rule[kind]
    either = f"; {translated['or']} "
    text = f"{translated[kind]} {either.join(map(translated.of_all, entries))}"
    return text if len(text) <= 200 else f"{text[:199]}…"


@final
class _Words:
    """The words of a language for conditions."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = {"at_least": "at least", "at_most": "at most", "to": "up to", **words}

    def __getitem__(self, word: str) -> str:
        return self._words.get(word, word)

    def of_all(self, conditions: Mapping[str, Any]) -> str:
        """Conditions on columns, all of which are met."""
        texts = [f"{column} {self._of(condition)}" for column, condition in conditions.items()]
        return f" {self['and']} ".join(texts)

    def _of(self, condition: Any) -> str:
        if isinstance(condition, Mapping):
            ends = {"minimum": self["from"], "maximum": self["to"]}
            return " ".join(f"{ends[key]} {condition[key]}" for key in ends if key in condition)
        levels = (self["missing"] if level is None else str(level) for level in condition)
        return f" {self['or']} ".join(levels)


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
    # Relative to the terms and not to their sum, which is what is left when they cancel.
    near = TOLERANCE * (np.abs(terms).sum(axis=0) + abs(float(relation.constant)))
    contradicting: NDArray[np.bool_]
    if relation.sign == "=":
        contradicting = np.abs(total) > near
    else:
        contradicting = total >= -near if relation.sign == "<" else total > near
    return contradicting
