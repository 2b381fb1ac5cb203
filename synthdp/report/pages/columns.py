"""Each column by itself: its distribution in all tables, the worst first."""

import numpy as np
import pandas as pd

from synthdp.report.metrics.columns import bin_edges
from synthdp.report.metrics.own_units import moved_means
from synthdp.report.pages.view import PageView, spanned, worst_first
from synthdp.report.rendering.charts import key_of
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.section import Picture, Section
from synthdp.report.rendering.shares import Shares

N_OPEN = 12
"""Pictures that are there at once; the others are folded."""

NAMES = {
    "column": "column",
    "kind": "type",
    "tvd": "TVD",
    "sampling": "sampling",
    "noise": "noise",
    "ks": "KS",
    "wasserstein": "Wasserstein",
    "missing_real": "missing, real",
    "missing_synthetic": "missing, synthetic",
    "levels_covered": "levels covered",
    "unknown_real": "unknown, real",
    "unknown_synthetic": "unknown, synthetic",
}


_STATISTICS = {"mean": "mean", "p05": "5 %", "median": "median", "p95": "95 %"}
OWN_UNITS = {"column": "column", "ks": "KS", "moved": "moved by", "moved_sampling": "by chance"} | {
    f"{key}_{table}": f"{name}, {table}"
    for key, name in _STATISTICS.items()
    for table in ("real", "synthetic")
}


def column_section(view: PageView) -> Section:
    """The distributions of all columns."""
    words = [
        "TVD is the share of rows that would have to change for the column to be right; KS, the largest difference of "
        "two distribution functions, and Wasserstein compare numbers and dates by their values, the latter in standard "
        "deviations. Unknown values are no level of the schema. Tables in own units say how far values have to move on "
        "average, and where 5 %, half and 95 % of the rows lie below.",
        *view.notes("columns"),
    ]
    drawn = pictures(view)
    return Section(
        name="columns",
        title="Columns",
        words=words,
        keys=view.keys(key_of(-1, "real", "bar"), "both"),
        pictures=drawn[:N_OPEN],
        listings=[
            *_own_units(view),
            view.listing("columns", NAMES, "All columns, the worst first.", most=1000),
        ],
        more=drawn[N_OPEN:],
    )


def _own_units(view: PageView) -> list[Listing]:
    """Numbers, dates and times of day in their own units, each in a table of its own."""
    values = view.sections["values"]
    captions = {
        "": "Numbers in their own units, the worst column first.",
        "days": "Dates in days, the worst column first.",
        "minutes": "Times of day in minutes, the worst column first.",
    }
    names = OWN_UNITS if len(view.names) == 1 else {"table": "table", **OWN_UNITS}
    return [
        Listing.from_frame(own, names, caption)
        for unit, caption in captions.items()
        if len(own := values[values["unit"] == unit].infer_objects())
    ]


def pictures(view: PageView, most: int | None = None) -> list[Picture]:
    """The distribution of each column in all tables, or of so many at most, the worst column first."""
    order = worst_first(view.sections["columns"], ["column"], "tvd")["column"]
    by_column = dict(iter(view.sections["distributions"].groupby("column", sort=False)))
    return [_picture(view, name, by_column[name]) for name in order[:most] if name in by_column]


def _picture(view: PageView, name: str, shares: pd.DataFrame) -> Picture:
    first = shares[shares["table"] == view.names[0]]
    tables = {"real": first["real"].to_numpy()}
    by_table = {
        table: part.set_index("code")["synthetic"]
        for table, part in shares.groupby("table", sort=False)
    }
    tables |= {
        table: by_table[table].reindex(first["code"], fill_value=0.0).to_numpy(np.float64)
        for table in view.names
    }
    errors = view.sections["columns"]
    own = errors[errors["column"] == name].set_index("table").loc[list(view.names)]
    note = f"TVD {spanned(own['tvd'])}; sampling {spanned(own['sampling'])}"
    values = view.sections["values"]
    moved = moved_means(values[(values["column"] == name) & (values["table"] == view.names[0])])
    if name in moved and len(view.names) == 1:
        note += f"; mean {moved[name]}"
    edges = bin_edges(view.tables[""].schema[name])
    if edges is not None and len(first) < len(edges) - 1:  # the most frequent of very many bins
        edges = None
    levels = Shares(column=name, levels=first["level"].tolist(), tables=tables, edges=edges)
    return levels.picture(note)
