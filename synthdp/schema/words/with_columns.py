"""Tables of pandas with other columns."""

from collections.abc import Mapping

import pandas as pd


def with_columns(frame: pd.DataFrame, columns: Mapping[str, pd.Series]) -> pd.DataFrame:
    """A table with some columns replaced, or further ones; `DataFrame.assign` takes none that is
    called "self".
    """
    table = frame.copy(deep=False)
    for name, column in columns.items():
        table[name] = column
    return table
