"""How columns depend on each other in the tables, and how well a model tells these apart."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from synthdp.evaluation.pages.view import View
from synthdp.rendering.charts import Words
from synthdp.rendering.maps import heat_map
from synthdp.rendering.section import Picture, Section

MAX_TABLES = 4
"""Tables with pictures of their own."""

ASSOCIATIONS = {
    "one": "one column",
    "other": "other column",
    "kind": "measure",
    "real": "real",
    "synthetic": "synthetic",
    "difference": "difference",
    "sampling": "sampling",
}
PROPENSITY = {
    "model": "model",
    "columns": "worst pair",
    "s_pmse": "S_pMSE",
    "pmse": "pMSE",
    "expected": "expected pMSE",
}


def association_section(view: View) -> Section:
    """Association matrices of all tables, and their differences."""
    frame = view.sections["associations"]
    words = [
        "Cramer's V of two columns of levels, correlation ratio of levels and numbers, Spearman's rank correlation "
        "of two numbers (its size is drawn, its sign is in the table). Pairs that have none are left empty.",
        *view.notes("associations"),
    ]
    if frame.empty:
        return Section(name="associations", title="Associations", words=words)
    columns = [name for name in view.tables[""].domain.attributes if name in {*frame["one"], *frame["other"]}]
    first = view.of("associations", view.names[0])
    real = Words("Associations: real", "How strongly each two columns depend on each other, from 0 to 1.")
    pictures = [_map(real, first, columns, first["real"].abs(), (0.0, 1.0))]
    for name in view.names[:MAX_TABLES]:
        pictures += list(_of_table(view, name, columns))
    listing = view.listing("associations", ASSOCIATIONS, "Pairs, the largest difference first.")
    return Section(name="associations", title="Associations", words=words, pictures=pictures, listings=[listing])


def _of_table(view: View, name: str, columns: Sequence[str]) -> Iterator[Picture]:
    own = view.of("associations", name)
    words = Words(f"Associations: {name}", "How strongly each two columns depend on each other, from 0 to 1.")
    yield _map(words, own, columns, own["synthetic"].abs(), (0.0, 1.0))
    gap = own["difference"]
    largest = float(gap.abs().max()) if gap.notna().any() else 1.0
    worst = own.iloc[0]
    said = f"The largest is {worst['one']} and {worst['other']}: {worst['real']:.3g} became {worst['synthetic']:.3g}."
    words = Words(f"Difference: {name} less real", said)
    yield _map(words, own, columns, gap, (-(largest or 1.0), largest or 1.0))


def _map(
    words: Words,
    frame: pd.DataFrame,
    columns: Sequence[str],
    values: pd.Series,
    limits: tuple[float, float],
) -> Picture:
    places = {name: place for place, name in enumerate(columns)}
    matrix = np.full((len(columns), len(columns)), np.nan)
    one, other = (frame[name].map(places).to_numpy() for name in ("one", "other"))
    matrix[one, other] = matrix[other, one] = values.to_numpy(np.float64)
    svg = heat_map(words, matrix, (columns, columns), limits=limits)
    return Picture(svg=svg, title=words.title, note=words.description if limits[0] < 0 else "")


def propensity_section(view: View) -> Section:
    """How well models tell synthetic rows from real ones."""
    words = [
        "S_pMSE is how well a model tells synthetic rows from real ones, divided by what is expected of a correct "
        "synthesis: 1 is a correct one, a new sample of the same people has 2 for as many rows, below 10 is usually "
        "called good.",
        *view.notes("propensity"),
    ]
    listing = view.listing("propensity", PROPENSITY, "Standardised propensity scores.")
    return Section(name="propensity", title="Propensity", words=words, listings=[listing])
