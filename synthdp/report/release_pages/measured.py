"""What was measured, how precisely, and how far the model is from it."""

import numpy as np

from synthdp.report.release_pages.noisy_release import NoisyRelease
from synthdp.report.rendering.charts import key_of, paired_marks
from synthdp.report.rendering.figures import Words
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.maps import heat_map
from synthdp.report.rendering.section import Key, Picture, Section

MAX_DRAWN = 24
"""Measurements in a picture."""

UNKNOWN = "Noise hides how many records there are, so errors cannot be given as shares of them."


def measured_section(view: NoisyRelease) -> Section:
    """All noisy marginals with the scales of their noise."""
    words = [
        "Counts of these combinations were released, with noise added to each count. Sigma is its standard deviation "
        f"in {view.unit}; the error is the share of {view.unit} that it puts into a wrong cell on average (total "
        "variation distance)."
    ]
    if view.n_rows is None:
        words.append(UNKNOWN if view.measurements else "Nothing was measured.")
    else:
        words.append(
            f"There are {view.n_rows:,.0f} {view.unit}, by published totals."
            if view.is_published
            else f"There are about {view.n_rows:,.0f} {view.unit}, by the noisy counts themselves."
        )
    names = {
        "columns": "measured",
        "cells": "cells",
        "merged": "levels merged",
        "sigma": "sigma",
        "noise": "error by the noise",
    }
    listing = Listing.from_frame(view.measured, names, "All measurements, the most precise first.")
    return Section(
        name="measured",
        title="What was measured",
        words=words,
        listings=[listing] if listing.rows else [],
    )


def error_section(view: NoisyRelease) -> Section:
    """Expected errors of all 1- and 2-way marginals, as far as they are known."""
    words = [
        "The total variation distance that the recorded noise alone would cause, of every column and every pair. "
        "Pairs that were measured together, also within larger combinations, have a number. Of the others nobody "
        "knows the error without the real table: what the model says of them follows from what it knows of other "
        "pairs, or is independence."
    ]
    if view.n_rows is None:
        return Section(name="errors", title="Expected errors", words=[UNKNOWN])
    names = {"k": "columns", "columns": "marginal", "cells": "cells", "noise": "expected error"}
    listing = Listing.from_frame(
        view.errors, names, "All columns and pairs, the largest error first; empty if unknown."
    )
    return Section(
        name="errors",
        title="Expected errors",
        words=words,
        pictures=[_map(view)],
        listings=[listing],
    )


def _map(view: NoisyRelease) -> Picture:
    columns = view.synthesis.schema.domain.attributes
    places = {name: place for place, name in enumerate(columns)}
    matrix = np.full((len(columns), len(columns)), np.nan)
    for clique, noise in zip(view.errors["columns"], view.errors["noise"], strict=True):
        one = places[clique[0]]
        other = places[clique[-1]]
        matrix[one, other] = matrix[other, one] = noise
    pairs = view.errors[view.errors["k"] == 2]
    n_known = int(pairs["noise"].notna().sum())
    note = f"{n_known} of {len(pairs)} pairs were measured together, others are empty; columns are on the diagonal."
    words = Words(f"Expected error of columns and pairs{view.about}", note)
    most = float(np.nanmax(matrix)) if np.isfinite(matrix).any() else 1.0
    svg = heat_map(words, matrix, (columns, columns), limits=(0.0, most or 1.0))
    return Picture(svg=svg, title=words.title, note=note)


def fit_section(view: NoisyRelease) -> Section:
    """How far the model is from each measurement, against the noise in it."""
    words = [
        "How far the model is from each noisy count, in standard deviations of the noise (root mean square over the "
        "cells). Around 1 and below, the model explains what was measured; far above 1 it does not."
    ]
    frame = view.measured.sort_values("off", ascending=False, kind="stable")
    if frame.empty:
        return Section(name="fit", title="Model and measurements", words=["Nothing was measured."])
    shown = frame.head(MAX_DRAWN)
    n_above = int((frame["off"] > 2).sum())
    note = f"The largest is {shown['off'].iloc[0]:.3g}; {n_above} of {len(frame)} are above 2."
    drawing = Words(f"Distance of the model from measurements{view.about}", note)
    labels = [" x ".join(clique) or "all records" for clique in shown["columns"]]
    svg = paired_marks(
        drawing,
        labels,
        {0: shown["off"].to_numpy()},
        np.ones(len(shown)),
        label="standard deviations of the noise",
    )
    names = {
        "columns": "measured",
        "cells": "cells",
        "off": "distance in sigma",
        "apart": "TVD",
        "noise": "error by the noise",
    }
    return Section(
        name="fit",
        title="Model and measurements",
        words=words,
        keys=[Key("noise as large as expected", "#777777", "tick"), key_of(0, "model", "mark")],
        pictures=[Picture(svg=svg, title=drawing.title, note=note)],
        listings=[
            Listing.from_frame(
                frame, names, "All measurements, those farthest from the model first."
            )
        ],
    )
