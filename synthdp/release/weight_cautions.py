"""What users should know of a release whose column of weights was of less use than it might be."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.percent import percent
from synthdp.inference.model import Model
from synthdp.release.drawing.following import with_densities
from synthdp.release.drawing.weighting import drawn_ranges, mean_weights, weight_of
from synthdp.schema.schema import Schema

_LEAST_BELOW_0 = 0.005
"""Share of the records with weights below 0 of which it is worth saying that there are any."""
_MOST_OPEN = 0.25
"""Of the sum of weights: what bins may leave open on either side."""


def weight_cautions(
    schema: Schema, model: Model, marginals: Iterable[LinearMeasurement | KnownMarginal]
) -> list[str]:
    """Cautions by released values only.

    Parameters
    ----------
    schema
        Has a column of weights.
    model
        The release's.
    marginals
        Marginals that were measured, now or earlier, or published.
    """
    name = weight_of(schema)
    cautions = []
    if len(schema.names) > 1 and not any(
        name in each.clique and len(each.clique) > 1 for each in marginals
    ):
        cautions.append(
            f"survey weights: {name!r} was measured alone, and weighted tables are like others; take a mechanism "
            "that measures pairs, such as auto, or more epsilon"
        )
    counts = np.maximum(model.marginal((name,)).values, 0.0)
    is_below = np.array(
        [isinstance(each, pd.Interval) and each.left < 0 for each in schema[name].labels]
    )
    n_below = float(counts @ is_below)
    n_all = float(counts.sum())
    if n_below > _LEAST_BELOW_0 * n_all:
        cautions.append(
            f"survey weights: about {percent(n_below / n_all)} of the records have bins of {name!r} below 0, "
            "which count as 0; correct these weights, or list their codes as missingValues"
        )
    inside = with_densities(schema, model)
    weight = float(counts @ mean_weights(inside))
    least, largest = drawn_ranges(inside)
    if weight <= 0.0:
        cautions.append(
            f"survey weights: no value of {name!r} is above 0, so that no population is there"
        )
    elif float(counts @ (largest - least)) > 2 * _MOST_OPEN * weight:
        cautions.append(
            f"survey weights: bins of {name!r} are so wide that its sum may be off by more than {_MOST_OPEN:.0%}; "
            "leave them to be learnt, or declare its levels"
        )
    return cautions
