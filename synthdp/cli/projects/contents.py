"""What stands in a synthetic table, column by column: read off the table, so it costs nothing."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, final

import pandas as pd

from synthdp.cli.projects.places import first_chunk
from synthdp.core.files.json_files import load_json
from synthdp.data.files.formats import is_named_as_table
from synthdp.schema.dialect import Dialect
from synthdp.schema.keys import OWN
from synthdp.schema.questions import NUMBERS, plain_number

MANY = 0.03
"""The share of rows that hold the word for what is rare, or that lie beyond bounds, from which on a
column is not to be trusted.
"""

_LISTED = 5
"""As many levels are named that stand in no row."""

_SURE = 3.0
"""How many standard deviations of its noise a count has to be away from none."""

_EMPTY = ("", "None", "nan", "<NA>", "NaT")
"""How a cell without a value reads as a text, by the formats of tables."""

Fact: TypeAlias = tuple[str, dict[str, Any]]
"""What is said of a column, by the key of its words, and what is given in them."""


@final
class Contents:
    """What was released of one table.

    Parameters
    ----------
    files
        What may go out of a run, by name; of none, and of linked tables, nothing is said.
    dialect
        How its table is written.
    """

    def __init__(self, files: Mapping[str, Path], dialect: Dialect) -> None:
        self._files = files
        self._table = next(filter(is_named_as_table, self._files), "")
        schema = self._loaded("schema.json")
        self._dialect = dialect
        self._fields = {each["name"]: each for each in schema.get("fields", ())}

    def facts(self, words: Callable[..., str]) -> list[str]:
        """What stands in each column, by its first rows, in words by keys: from where to where its
        numbers go (``fact.range``), levels that stand in no row (``fact.absent``), how many percent
        of the records are cut off (``fact.cut``), and in how many percent of the rows stands the
        word for what is rare (``fact.other``), or nothing (``fact.empty``).
        """
        return [
            ", ".join(words(f"fact.{key}", **given) for key, given in self._facts(name))
            for name in self._rows.columns
        ]

    def lost(self) -> list[str]:
        """The columns in which `MANY` rows hold the word for what is rare, or of which as many
        records are cut off.
        """
        rare = [name for name in self._rows.columns if self._share(name, self._other(name)) >= MANY]
        return [*dict.fromkeys([*rare, *self._cut_off])]

    @cached_property
    def _cut_off(self) -> dict[str, float]:
        """The share of records that lay beyond the bounds of a column, by counts that were released,
        and are not drawn: where they are many, and no noise.
        """
        certificate = self._loaded(f"{self._table}.privacy.json")
        drawn = (certificate.get("domain") or {}).get("tails") or {}
        n_rows = (certificate.get("rows") or {}).get("n_rows") or 0
        found = dict[str, float]()
        for name, said in (certificate.get("beyond_bounds") or {}).items():
            for side in {"below", "above"} - {*drawn.get(name, ())}:
                if n_rows and said[side] >= max(MANY * n_rows, _SURE * said["stddev"]):
                    found[name] = found.get(name, 0.0) + said[side] / n_rows
        return found

    def _loaded(self, name: str) -> Mapping[str, Any]:
        return load_json(self._files[name], name) if name in self._files else {}

    @cached_property
    def _rows(self) -> pd.DataFrame:
        """The first rows, as texts."""
        if not self._table:
            return pd.DataFrame()
        first = first_chunk(self._files[self._table], self._dialect)
        return pd.DataFrame() if first is None else first.astype(str)

    def _other(self, name: str) -> str:
        """The word for what is rare in a column; '' if it has none."""
        return f"{(self._fields.get(name, {}).get(OWN) or {}).get('other') or ''}"

    def _share(self, name: str, *words: str) -> float:
        return float(self._rows[name].isin(words).mean()) if any(words) else 0.0

    def _absent(self, name: str, field: Mapping[str, Any]) -> list[str]:
        """The levels of a column that stand in no row."""
        levels = (
            (field.get("constraints") or {}).get("enum") if field.get("type") == "string" else ()
        )
        seen = {*self._rows[name].unique()} if levels else set[str]()
        return [f"{each}" for each in levels or () if f"{each}" not in seen]

    def _facts(self, name: str) -> list[Fact]:
        other, facts, field = self._other(name), list[Fact](), self._fields.get(name, {})
        missing = field.get("missingValues", ())
        if field.get("type") in NUMBERS and "kind" not in (field.get(OWN) or {}):  # not made up
            mark = field.get("decimalChar") or self._dialect.decimal_char or "."
            facts += _range(self._rows[name], mark)
        if absent := self._absent(name, field):
            facts.append(("absent", {"levels": ", ".join(absent[:_LISTED])}))
        shares = {
            "cut": (self._cut_off.get(name, 0.0), {}),
            "other": (self._share(name, other), {"word": other}),
            "empty": (self._share(name, *_EMPTY, *missing), {}),
        }
        return facts + [
            (key, {**given, "share": float(f"{100 * share:.2g}")})
            for key, (share, given) in shares.items()
            if share
        ]


def _range(texts: pd.Series, mark: str) -> Iterable[Fact]:
    """The least and the largest of the numbers, as they are written with a decimal mark."""
    plain = texts.map(lambda text: plain_number(text, mark))
    numbers = pd.to_numeric(plain, errors="coerce").dropna()
    if numbers.size:
        low, high = (texts[at] for at in (numbers.idxmin(), numbers.idxmax()))
        yield "range", {"low": low, "high": high}
