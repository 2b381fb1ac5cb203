"""Column shapes and column pair trends, computed as the quality report of SDMetrics computes them.

Many people know these marks from SDV. They are here with the defaults of SDMetrics 0.32: of numbers
and dates `KSComplement`, of levels `TVComplement`; pairs of numbers by `CorrelationSimilarity`, all
others by `ContingencySimilarity`. A pair counts only if its columns depend on each other in the
real table. Values that the schema merges into one level are compared as they are written. One thing
differs: all rows are compared where SDMetrics draws 50,000 of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.records.coded_source import CodedSource
from synthdp.report.metrics.associations import cramers_v, pairwise_correlations
from synthdp.report.metrics.distribution import kolmogorov_smirnov
from synthdp.report.metrics.marginal_error import total_variation
from synthdp.report.metrics.read_table import ReadTable, batches
from synthdp.schema.columns.column import code_dtype

CodeColumn: TypeAlias = NDArray[Any]
Scores: TypeAlias = dict[Clique, tuple[str, float]]

KS, TV, CORRELATION, CONTINGENCY = (
    "KSComplement",
    "TVComplement",
    "CorrelationSimilarity",
    "ContingencySimilarity",
)
COLUMNS = ["columns", "metric", "score", "sampling"]

N_BINS = 10
"""Bins that SDMetrics cuts numbers into beside levels: equally wide, from the least to the largest.
"""

MIN_CORRELATION, MIN_ASSOCIATION = 0.5, 0.3
"""Pairs count whose correlation, or whose Cramer's V, is above that in the real table."""

MAX_STRAYS = 1_000
"""Values that are no level of the schema count each by itself if a column has so many at most."""

_NANOSECONDS = 1e9
"""SDMetrics cuts dates by their nanoseconds, which round other than seconds do."""


def similarities(
    real: ReadTable, synthetic: ReadTable, sample: ReadTable, pairs: Iterable[Clique]
) -> pd.DataFrame:
    """The score of each column and of each pair that counts, 1 for the real table itself.

    Parameters
    ----------
    real, synthetic, sample
        As `compared_columns` takes them; the sample is for ``sampling``.
    pairs
        The pairs of attributes that are compared; those of other than columns are left out.
    """
    names = [
        column.name for column in real.schema.table_columns if column.name not in real.coordinates
    ]
    # SDMetrics knows no points on a map; it would leave such columns out, too.
    wanted = [pair for pair in pairs if set(pair) <= set(names)]
    scores, sampled = (
        column_shapes(real, other, names) | pair_trends(real, other, wanted)
        for other in (synthetic, sample)
    )
    rows = [
        (columns, metric, score, sampled[columns][1])
        for columns, (metric, score) in scores.items()
        if not np.isnan(score)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def marks_of(similarity: pd.DataFrame, key: str = "score") -> dict[str, float]:
    """Means over columns and over pairs, and the mean of both; NaN where nothing counts.

    >>> frame = pd.DataFrame({"columns": [("a",), ("a", "b")], "score": [1.0, 0.5]})
    >>> marks_of(frame)
    {'column shapes': 1.0, 'column pair trends': 0.5, 'overall': 0.75}
    """
    n_columns = similarity["columns"].map(len)
    marks = {
        name: float(similarity.loc[n_columns == k, key].mean())
        for k, name in ((1, "column shapes"), (2, "column pair trends"))
    }
    # SDMetrics takes the mean of what there is: a table without related pairs is marked by its
    # columns alone.
    present = [mark for mark in marks.values() if mark == mark]
    return marks | {"overall": float(np.mean(present)) if present else float("nan")}


def column_shapes(real: ReadTable, synthetic: ReadTable, names: Sequence[str]) -> Scores:
    """By column the metric and the score; NaN where one table has no value."""
    scores: Scores = {}
    for name in names:
        if name in real.numbers:
            scores[(name,)] = KS, _shape_of_numbers(real.numbers[name], synthetic.numbers[name])
        else:
            scores[(name,)] = TV, _shape_of_levels(name, real, synthetic)
    return scores


def _shape_of_numbers(real: NDArray[np.float64], synthetic: NDArray[np.float64]) -> float:
    if np.isnan(real).all() or np.isnan(synthetic).all():
        return float("nan")
    return 1 - kolmogorov_smirnov(real, synthetic)


def _shape_of_levels(name: str, real: ReadTable, synthetic: ReadTable) -> float:
    column = real.schema[name]
    size, *codes = _written(name, real, synthetic)
    # SDMetrics drops what is missing before it compares levels.
    kept = np.arange(size) != (-1 if column.required else column.missing_code)
    left, right = (np.bincount(each, minlength=size)[kept] for each in codes)
    return 1 - total_variation(left, right) if left.any() and right.any() else float("nan")


def _written(
    name: str, real: ReadTable, synthetic: ReadTable
) -> tuple[int, CodeColumn, CodeColumn]:
    """The codes of a column of levels in both tables, where values that are no level have own ones,
    and how many codes there are.
    """
    tables = (real, synthetic)
    size = real.domain[name]
    codes = [table[name] for table in tables]
    texts = [table.strays[name].categories for table in tables if name in table.strays]
    if not texts:
        return size, codes[0], codes[1]
    own = texts[0].union(texts[-1], sort=False)
    if len(own) > MAX_STRAYS:  # those of one table only: how many they are is all that matters
        own = texts[0].intersection(texts[-1], sort=False) if len(texts) == 2 else own[:0]
    for place, table in enumerate(tables):
        if name in table.strays:
            strays = table.strays[name]
            places = np.append(own.get_indexer(strays.categories), -2)[strays.codes]
            # A text that has no code of its own has the one after all others.
            places = np.where(places == -1, len(own) + place, places)
            codes[place] = np.where(places == -2, codes[place], size + places)
    return size + len(own) + len(tables), codes[0], codes[1]


def pair_trends(real: ReadTable, synthetic: ReadTable, pairs: Sequence[Clique]) -> Scores:
    """By pair the metric and the score; NaN where the pair does not count."""
    of_numbers = [pair for pair in pairs if set(pair) <= real.numbers.keys()]
    others = [pair for pair in pairs if not set(pair) <= real.numbers.keys()]
    scores = dict(_trends_of_numbers(real, synthetic, of_numbers))
    scores |= _trends_of_levels(real, synthetic, others)
    return {pair: scores[pair] for pair in pairs}


def _trends_of_numbers(
    real: ReadTable, synthetic: ReadTable, pairs: Sequence[Clique]
) -> Iterator[tuple[Clique, tuple[str, float]]]:
    if not pairs:
        return
    places = {name: place for place, name in enumerate(real.numbers)}
    here, there = (
        pairwise_correlations(np.column_stack([table.numbers[name] for name in places]))
        for table in (real, synthetic)
    )
    for one, other in pairs:
        cell = places[one], places[other]
        # By the real table: whether a pair counts may not depend on how well it was synthesised.
        counts = abs(here[cell]) > MIN_CORRELATION
        score = 1 - abs(here[cell] - there[cell]) / 2 if counts else np.nan
        yield (one, other), (CORRELATION, float(score))


def _trends_of_levels(real: ReadTable, synthetic: ReadTable, pairs: Sequence[Clique]) -> Scores:
    left, right, sizes = _discrete(real, synthetic)
    scores = dict.fromkeys(pairs, (CONTINGENCY, float("nan")))
    countable = [pair for pair in pairs if set(pair) <= left.keys() & right.keys()]
    if not countable:
        return scores
    names = tuple(dict.fromkeys(name for pair in countable for name in pair))
    domain = Domain(names, tuple(sizes[name] for name in names))
    tables = [_coded(columns, domain) for columns in (left, right)]
    for batch in batches(countable, domain):
        counted = (CodedSource(table).counts_of(batch) for table in tables)
        for pair, here, there in zip(batch, *counted, strict=True):
            # Again by the real table alone.
            if cramers_v(here) > MIN_ASSOCIATION:
                scores[pair] = CONTINGENCY, 1 - total_variation(here, there)
    return scores


def _discrete(
    real: ReadTable, synthetic: ReadTable
) -> tuple[dict[str, CodeColumn], dict[str, CodeColumn], dict[str, int]]:
    """The codes of columns in both tables, and how many there are. Numbers lie in bins of their own
    table, as SDMetrics cuts them: from 1 to 10, and in 11 what is missing and the largest one.
    """
    here: dict[str, CodeColumn] = {}
    there: dict[str, CodeColumn] = {}
    sizes: dict[str, int] = {}
    for column in real.schema.table_columns:
        name = column.name
        if column.axis is None:
            sizes[name], here[name], there[name] = _written(name, real, synthetic)
            continue
        scale = 1.0 if column.axis.resolution is None else _NANOSECONDS
        try:
            here[name], there[name] = (_cut(t.numbers[name] * scale) for t in (real, synthetic))
            sizes[name] = N_BINS + 2
        except ValueError:  # the numbers lie too near to each other for so many bins
            continue
    return here, there, sizes


def _cut(numbers: NDArray[np.float64]) -> CodeColumn:
    return np.digitize(numbers, np.histogram_bin_edges(numbers[~np.isnan(numbers)], bins=N_BINS))


def _coded(columns: Mapping[str, CodeColumn], domain: Domain) -> CodedTable:
    return CodedTable(
        domain,
        tuple(columns[name].astype(code_dtype(domain[name])) for name in domain.attributes),
    )
