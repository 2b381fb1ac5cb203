"""Counts of a table in SQLite."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain


@final
class SQLiteSource:
    """Counts of a table of level codes in a database, one row a person."""

    def __init__(self, database: sqlite3.Connection, table: str, domain: Domain) -> None:
        self._database = database
        self._table = table
        self._domain = domain

    @property
    def domain(self) -> Domain:
        """The declared domain, which is public."""
        return self._domain

    def counts_of(self, cliques: Sequence[Clique]) -> Iterator[np.ndarray]:
        """Exact counts of the cells of each clique: int64, one axis an attribute."""
        for clique in cliques:
            counts = np.zeros(self._domain.project(clique).shape, dtype=np.int64)
            names = ", ".join(f'"{name}"' for name in clique)
            grouped = f"GROUP BY {names}" if clique else ""
            for *codes, n_rows in self._database.execute(
                f'SELECT {names}{"," * bool(clique)} COUNT(*) FROM "{self._table}" {grouped}'
            ):
                counts[tuple(codes)] = n_rows
            yield counts
