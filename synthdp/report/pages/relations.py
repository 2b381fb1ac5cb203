"""How columns depend on each other in the tables, and how well a model tells these apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from synthdp.report.pages.view import PageView
from synthdp.report.rendering.figures import Words
from synthdp.report.rendering.maps import heat_map
from synthdp.report.rendering.section import Picture, Section

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


def association_section(view: PageView) -> Section:
    """Association matrices of all tables, and their differences."""
    frame = view.sections["associations"]
    words = [
        "Cramer's V of two columns of levels, correlation ratio of levels and numbers, Spearman's rank correlation "
        "of two numbers (its size is drawn, its sign is in the table). Pairs that have none are left empty. The maps "
        "have one order and one scale, those of differences another one.",
        *view.notes("associations"),
    ]
    if frame["difference"].isna().all():
        if frame.empty:
            reason = []
        else:
            reason = ["No two columns have one in both tables: all but one are constant."]
        return Section(name="associations", title="Associations", words=[*words, *reason])
    columns = [
        name
        for name in view.tables[""].domain.attributes
        if name in {*frame["one"], *frame["other"]}
    ]
    first = view.of("associations", view.names[0])
    real = Words(
        "Associations: real", "How strongly each two columns depend on each other, from 0 to 1."
    )
    maps, more_maps = view.own_pictures(lambda name: [_strengths(view, name, columns)])
    gaps, more_gaps = view.own_pictures(lambda name: [_differences(view, name, columns)])
    return Section(
        name="associations",
        title="Associations",
        words=words,
        pictures=[
            _map(real, first, columns, first["real"].abs(), (0.0, 1.0)),
            *maps,
            *_in_new_row(gaps, view),
        ],
        listings=[
            view.listing("associations", ASSOCIATIONS, "Pairs, the largest difference first.")
        ],
        more=[*more_maps, *_in_new_row(more_gaps, view)],
    )


def _in_new_row(gaps: Sequence[Picture], view: PageView) -> list[Picture]:
    """Differences of several tables stand below the maps, that of one table beside them."""
    return [
        replace(gap, begins_row=place == 0 and len(view.names) > 1)
        for place, gap in enumerate(gaps)
    ]


def _strengths(view: PageView, name: str, columns: Sequence[str]) -> Picture:
    own = view.of("associations", name)
    words = Words(
        f"Associations: {name}", "How strongly each two columns depend on each other, from 0 to 1."
    )
    return _map(words, own, columns, own["synthetic"].abs(), (0.0, 1.0))


def _differences(view: PageView, name: str, columns: Sequence[str]) -> Picture:
    own = view.of("associations", name)
    worst = own.iloc[0]  # what is NaN comes last
    note = f"The largest is {worst['one']} and {worst['other']}: {worst['real']:.3g} became {worst['synthetic']:.3g}."
    if np.isnan(worst["difference"]):
        note = "No two columns have an association in both tables."
    words = Words(f"Difference: {name} less real", note)
    most = float(view.sections["associations"]["difference"].abs().max()) or 1.0  # of all tables
    return _map(words, own, columns, own["difference"], (-most, most))


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


def propensity_section(view: PageView) -> Section:
    """How well models tell synthetic rows from real ones."""
    words = [
        "S_pMSE is how well a model tells synthetic rows from real ones, divided by what is expected of a correct "
        "synthesis: 1 is a correct one, a new sample of the same people has 2 for as many rows, below 10 is usually "
        "called good.",
        *view.notes("propensity"),
    ]
    listing = view.listing("propensity", PROPENSITY, "Standardised propensity scores.")
    return Section(name="propensity", title="Propensity", words=words, listings=[listing])
