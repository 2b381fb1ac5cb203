"""The sections of the page on linked tables: columns, numbers of children, and pairs of all kinds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.linked.linked_marginals import (
    COLUMNS,
    NUMBERS,
    OWN,
    SIBLINGS,
    TRANSITIONS,
    Counts,
    LinkedMarginals,
    Names,
)
from synthdp.report.metrics.columns import bin_edges, level_texts
from synthdp.report.pages.cells import pair_pictures
from synthdp.report.pages.columns import N_OPEN
from synthdp.report.rendering.charts import key_of
from synthdp.report.rendering.figures import Words
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.maps import heat_map
from synthdp.report.rendering.section import Key, Picture, Section
from synthdp.report.rendering.shares import Shares

WHOSE = {SIBLINGS: "another ", TRANSITIONS: "next "}
"""Whose the second column of a pair is, where it is that of another row."""

N_PAIRS = 2
"""Pairs of a kind, the worst ones, that are drawn cell by cell."""

N_LISTED = 200
"""Marginals of a kind in its table."""

NAMES = {"table": "table", "columns": "marginal", "tvd": "TVD", "sampling": "sampling"}


@final
@dataclass(frozen=True)
class LinkedPageView:
    """An evaluation of linked tables as the sections of its page see it; see `LinkedEvaluation`."""

    distances: pd.DataFrame
    marginals: Mapping[str, tuple[LinkedMarginals, LinkedMarginals]]

    def of(self, *kinds: str) -> pd.DataFrame:
        """The distances of some kinds, the largest first."""
        frame = self.distances[self.distances["kind"].isin(kinds)]
        return frame.sort_values("tvd", ascending=False, kind="stable", ignore_index=True)

    def shares(self, kind: str, table: str, columns: Names) -> list[Counts]:
        """The shares of cells in the real rows and in the synthetic ones; nothing where there are
        no rows.
        """
        counts = [each.counts(kind, columns) for each in self.marginals[table]]
        return [each / max(each.sum(), 1.0) for each in counts]

    def levels(self, table: str, column: str) -> list[str]:
        """What the codes of a column stand for."""
        return level_texts(self.marginals[table][0].column(column))

    def edges(self, table: str, column: str) -> NDArray[np.float64] | None:
        """Where its bins begin and end, if its levels are bins."""
        return bin_edges(self.marginals[table][0].column(column))

    def is_number(self, row: pd.Series) -> bool:
        """Whether a row of the distances is of a number of children alone."""
        return row["columns"][0] in self.marginals[row["table"]][0].view.counts


def column_section(view: LinkedPageView) -> Section:
    """Each table's own columns, one by one."""
    frame = _columns(view)
    drawn = list(_distributions(view, frame))
    words = [
        "The distribution of each column in its own table, the worst first; rows are compared as they are used."
    ]
    return Section(
        name="columns",
        title="Columns of each table",
        words=words,
        keys=_keys(),
        pictures=drawn[:N_OPEN],
        listings=[Listing.from_frame(frame, NAMES, "All columns, the worst first.", most=N_LISTED)]
        if len(frame)
        else [],
        more=drawn[N_OPEN:],
    )


def _columns(view: LinkedPageView) -> pd.DataFrame:
    """The distances of columns without numbers of children, the largest first."""
    frame = view.of(COLUMNS)
    return frame[[not view.is_number(row) for _, row in frame.iterrows()]]


def column_pictures(view: LinkedPageView, most: int) -> list[Picture]:
    """The distributions of so many columns, the worst ones."""
    return list(_distributions(view, _columns(view).head(most)))


def number_section(view: LinkedPageView) -> Section | None:
    """How many children rows have, by themselves and with each column of the parent."""
    alone = view.of(COLUMNS)
    alone = alone[[view.is_number(row) for _, row in alone.iterrows()]]
    if alone.empty:
        return None
    pairs = view.of(NUMBERS)
    words = [
        "How many rows of a table hang on one row of its parent: by itself, and with each column of the parent. "
        "Numbers above the most that the package declares count as that."
    ]
    both = pd.concat([alone, pairs], ignore_index=True).sort_values(
        "tvd", ascending=False, kind="stable"
    )
    return Section(
        name="numbers",
        title="Numbers of children",
        words=words,
        keys=_keys(),
        pictures=[*_distributions(view, alone), *_worst(view, pairs)],
        listings=[
            Listing.from_frame(
                both, NAMES, "All numbers of children, the worst first.", most=N_LISTED
            )
        ],
    )


def pair_section(view: LinkedPageView, kind: str, title: str, words: str) -> Section | None:
    """Pairs of one kind: a map of all errors of each table, the worst pairs cell by cell, and a
    table.
    """
    frame = view.of(kind)
    if frame.empty:
        return None
    maps = [
        _map(view, table, own) for table, own in frame.groupby("table", sort=False) if len(own) > 1
    ]
    listed = frame.assign(columns=[_named(kind, names) for names in frame["columns"]])
    listing = Listing.from_frame(listed, NAMES, "All pairs, the worst first.", most=N_LISTED)
    return Section(
        name=kind.replace(" ", "-"),
        title=title,
        words=[
            words,
            f"Maps have the TVD of all pairs; of the {N_PAIRS} worst all cells are shown.",
        ],
        pictures=[*maps, *_worst(view, frame)],
        listings=[listing],
    )


def _keys() -> list[Key]:
    return [key_of(-1, "real", "bar"), key_of(0, "synthetic", "both")]


def _distributions(view: LinkedPageView, frame: pd.DataFrame) -> Iterator[Picture]:
    for row in frame.itertuples():
        name = row.columns[0]
        table = row.table
        real, synthetic = view.shares(COLUMNS, table, (name,))
        levels = Shares(
            column=name,
            levels=view.levels(table, name),
            tables={"real": real, "synthetic": synthetic},
            edges=view.edges(table, name),
        )
        yield levels.picture(f"TVD {row.tvd:.3g}; sampling {row.sampling:.3g}")


def _worst(view: LinkedPageView, frame: pd.DataFrame) -> Iterator[Picture]:
    """The worst pairs cell by cell, if both tables have some."""
    for row in frame.head(N_PAIRS).itertuples():
        shares = view.shares(row.kind, row.table, row.columns)
        levels = [view.levels(row.table, name) for name in row.columns]
        if all(each.any() for each in shares):
            names = _named(row.kind, row.columns)
            yield from pair_pictures(names, levels, shares, name="synthetic", tvd=row.tvd)


def _named(kind: str, names: Names) -> tuple[str, str]:
    """A pair of columns for readers, who see whether the second is that of another row."""
    return names[0], f"{WHOSE.get(kind, '')}{names[1]}"


def _map(view: LinkedPageView, table: str, frame: pd.DataFrame) -> Picture:
    """The errors of all pairs of one table and one kind, columns in their order."""
    kind = frame["kind"].iloc[0]
    ordered = [names for each, names in view.marginals[table][0].names() if each == kind]
    rows, columns = (list(dict.fromkeys(names[axis] for names in ordered)) for axis in (0, 1))
    if kind == OWN:
        rows = columns = [*rows, *(name for name in columns if name not in rows)]
    matrix = np.full((len(rows), len(columns)), np.nan)
    for (one, other), tvd in zip(frame["columns"], frame["tvd"], strict=True):
        matrix[rows.index(one), columns.index(other)] = tvd
        if kind == OWN:
            matrix[rows.index(other), columns.index(one)] = tvd
    worst = frame.iloc[0]
    pair = " with ".join(_named(kind, worst["columns"]))
    note = f"Mean TVD {frame['tvd'].mean():.3g}; the worst pair is {pair}: {worst['tvd']:.3g}."
    words = Words(f"Errors of {kind}: {table}", note)
    svg = heat_map(words, matrix, (rows, columns), limits=(0.0, float(np.nanmax(matrix)) or 1.0))
    return Picture(svg=svg, title=words.title, note=note)
