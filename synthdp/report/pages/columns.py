"""Each column by itself: its distribution in all tables, the worst first."""

import numpy as np
import pandas as pd

from synthdp.report.pages.view import PageView, spanned, worst_first
from synthdp.report.rendering.charts import key_of
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


def column_section(view: PageView) -> Section:
    """The distributions of all columns."""
    words = [
        "TVD is the share of rows that would have to change for the column to be right; KS and Wasserstein compare "
        "numbers and dates by their values, the latter in standard deviations. Unknown values are no level of the "
        "schema.",
        *view.notes("columns"),
    ]
    drawn = pictures(view)
    return Section(
        name="columns",
        title="Columns",
        words=words,
        keys=view.keys(key_of(-1, "real", "bar"), "both"),
        pictures=drawn[:N_OPEN],
        listings=[view.listing("columns", NAMES, "All columns, the worst first.", most=1000)],
        more=drawn[N_OPEN:],
    )


def pictures(view: PageView) -> list[Picture]:
    """The distribution of each column in all tables, the worst column first."""
    order = worst_first(view.sections["columns"], ["column"], "tvd")["column"]
    by_column = dict(iter(view.sections["distributions"].groupby("column", sort=False)))
    return [_picture(view, name, by_column[name]) for name in order if name in by_column]


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
    is_ordered = view.tables[""].schema[name].axis is not None
    levels = Shares(
        column=name, levels=first["level"].tolist(), tables=tables, is_ordered=is_ordered
    )
    return levels.picture(note)
