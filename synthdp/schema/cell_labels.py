"""Labels of the cells of a marginal, as results show them."""

from collections.abc import Mapping, Sequence

import pandas as pd

from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema


def cell_labels(columns: Schema | Mapping[str, Column], names: Sequence[str]) -> pd.Index:
    """Labels of the cells of a marginal, those of the last column running fastest."""
    index = pd.MultiIndex.from_product([columns[name].labels for name in names], names=names)
    return index if len(names) > 1 else index.get_level_values(0)
