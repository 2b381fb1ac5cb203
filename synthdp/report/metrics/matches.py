"""Exact matches: synthetic rows that agree with a real one, and how many chance alone would give.

This is no privacy score. Distances to real records and shares of matches miss leakage [2505.01524,
2407.16929]: what protects people is what the certificate says.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.metrics.read_table import ReadTable


def exact_matches(real: ReadTable, synthetic: ReadTable) -> pd.DataFrame:
    """Synthetic rows whose levels and bins in all columns are those of a real row.

    Returns
    -------
    pandas.DataFrame
        Two rows: matches with any real row, and with a real row that is like no other. ``rows`` is
        what was found, ``expected`` how many matches as many new rows of the same population would
        have, by Good and Turing's estimate: the chance that a new row was seen before is one less
        the share of rows seen once, and that it is like one seen once is twice the number of pairs
        of equal rows by the number of rows [Good53].
    """
    keys = _row_keys(real, synthetic)
    real_keys = keys[: real.n_rows]
    synthetic_keys = keys[real.n_rows :]
    unique, counts = np.unique(real_keys, return_counts=True)
    # The estimate needs nothing but how many real rows are alone, and how many are one of two.
    singles = int((counts == 1).sum())
    doubles = int((counts == 2).sum())
    shares = {"any": 1 - singles / real.n_rows, "unique": 2 * doubles / real.n_rows}
    matches = {
        "any": np.isin(synthetic_keys, unique),
        "unique": np.isin(synthetic_keys, unique[counts == 1]),
    }
    return pd.DataFrame(
        [
            {
                "real_row": kind,
                "rows": int(matched.sum()),
                "share": float(matched.mean()),
                "expected": shares[kind] * synthetic.n_rows,
                "expected_share": shares[kind],
            }
            for kind, matched in matches.items()
        ]
    )


def _row_keys(real: ReadTable, synthetic: ReadTable) -> NDArray[np.int64]:
    """One number for each row of both tables, the same for equal rows only."""
    keys = np.zeros(real.n_rows + synthetic.n_rows, dtype=np.int64)
    bound = 1
    for name, size in zip(real.domain.attributes, real.domain.shape, strict=True):
        # Renumbered before the number leaves 64 bits; there are no more distinct rows than rows.
        if bound > 2**62 // size:
            unique, keys = np.unique(keys, return_inverse=True)
            bound = len(unique)
        keys = keys * size + np.concatenate([real[name], synthetic[name]])
        bound *= size
    return keys
