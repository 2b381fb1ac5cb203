"""Errors within each level of a column, so that those of small groups are seen."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.report.metrics.columns import level_texts
from synthdp.report.metrics.marginal_error import total_variation
from synthdp.report.metrics.marginals import chosen_marginals
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.metrics.references import SamplingError

MAX_GROUP_MARGINALS = 200
"""Within groups the error of pairs is the mean over at most so many, drawn at random."""

COLUMNS = [
    "by", "level", "rows_real", "rows_synthetic", "share_real", "share_synthetic", "tvd_1", "sampling_1", "tvd_2",
    "sampling_2", "worst_column", "worst_tvd",
]  # fmt: skip
"""What is said of each level."""

MAX_GROUPS = 100
"""Only the largest groups are looked at where a column has more levels."""

MAX_GROUP_CELLS = 2**20
"""Pairs that have more cells together with the column of groups are left out."""


def group_errors(
    real: ReadTable, synthetic: ReadTable, by: str, rng: np.random.Generator
) -> pd.DataFrame:
    """One row a level of column ``by`` that real rows have, the worst first.

    Returns
    -------
    pandas.DataFrame
        ``by``, ``level``, rows and shares of both tables, the mean total variation distance of
        columns (``tvd_1``) and of pairs (``tvd_2``) within the level, what as many real rows drawn
        at random within it would have (``sampling_1``, ``sampling_2``), and the worst column with
        its distance.
    """
    real_rows = real.counts((by,))
    synthetic_rows = synthetic.counts((by,))
    codes = np.flatnonzero(real_rows)
    # The largest groups; of a column of a thousand levels most have a handful of rows.
    codes = codes[np.argsort(-real_rows[codes], kind="stable")][:MAX_GROUPS]
    drawn = real_rows / real.size * synthetic.size
    sampling = {int(code): SamplingError.for_sizes(real_rows[code], drawn[code]) for code in codes}
    one_way = dict(_within(real, synthetic, by, _others(real, by, 1, rng), sampling))
    two_way = dict(_within(real, synthetic, by, _others(real, by, 2, rng), sampling))
    labels = level_texts(real.schema[by])
    rows = []
    for place, code in enumerate(codes):
        worst = max(one_way, key=lambda clique: one_way[clique][place, 0], default=("",))
        (tvd_1, sampling_1), (tvd_2, sampling_2) = (
            _mean(errors, place) for errors in (one_way, two_way)
        )
        rows.append(
            {
                "by": by,
                "level": labels[code],
                "rows_real": round(float(real_rows[code])),
                "rows_synthetic": round(float(synthetic_rows[code])),
                "share_real": real_rows[code] / real.size,
                "share_synthetic": synthetic_rows[code] / synthetic.size,
                "tvd_1": tvd_1,
                "sampling_1": sampling_1,
                "tvd_2": tvd_2,
                "sampling_2": sampling_2,
                "worst_column": worst[0],
                "worst_tvd": one_way[worst][place, 0] if one_way else float("nan"),
            }
        )
    return pd.DataFrame(rows).sort_values(
        "tvd_1", ascending=False, kind="stable", ignore_index=True
    )


def _others(table: ReadTable, by: str, k: int, rng: np.random.Generator) -> list[Clique]:
    """Sets of ``k`` columns besides the one of the groups, few enough and small enough."""
    domain = table.domain.project(name for name in table.domain.attributes if name != by)
    if len(domain) < k:
        return []
    cliques, _ = chosen_marginals(domain, k, rng)
    fitting = [clique for clique in cliques if table.domain.size((by, *clique)) <= MAX_GROUP_CELLS]
    if len(fitting) <= MAX_GROUP_MARGINALS:
        return fitting
    return [
        fitting[place]
        for place in np.sort(rng.choice(len(fitting), MAX_GROUP_MARGINALS, replace=False))
    ]


def _within(
    real: ReadTable,
    synthetic: ReadTable,
    by: str,
    cliques: list[Clique],
    sampling: dict[int, SamplingError],
) -> Iterator[tuple[Clique, NDArray[np.float64]]]:
    """For each set of columns the distance, and that of a sample, within each group; shape
    ``(n_groups, 2)``.
    """
    # One table with the groups as its first axis in place of one table a group.
    wider = [(by, *clique) for clique in cliques]
    for clique, here, there in zip(
        cliques, real.counts_of(wider), synthetic.counts_of(wider), strict=True
    ):
        errors = [(total_variation(here[code], there[code]), each.of_marginal(here[code]))
                 for code, each in sampling.items()]  # fmt: skip
        yield clique, np.array(errors)


def _mean(errors: dict[Clique, NDArray[np.float64]], place: int) -> tuple[float, float]:
    if not errors:
        return float("nan"), float("nan")
    mean = np.mean([each[place] for each in errors.values()], axis=0)
    return float(mean[0]), float(mean[1])
