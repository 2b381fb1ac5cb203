"""Published tables of counts or shares, read as known marginals of a schema's columns."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from synthdp.core.domain import Domain
from synthdp.core.errors import DataFileError, ParameterError, SchemaError
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import Coarsening, LinearMeasurement, total_and_noise
from synthdp.core.requests import most_rows
from synthdp.data.frames.containers import is_foreign, opened
from synthdp.inference.arrays import Codes, IntArray
from synthdp.inference.known.consistency import check_known
from synthdp.inference.model import Model
from synthdp.schema.columns.column import Column
from synthdp.schema.hierarchy import HierarchyLevel
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.words.headers import listed

KnownTable: TypeAlias = pd.DataFrame | str | PathLike[str]
KnownLike: TypeAlias = KnownTable | Sequence[KnownTable] | None

COUNT, SHARE = "count", "share"
"""The column of a published table that holds its numbers."""

_INTERVAL = re.compile(r"\s*([\[(])\s*(.+?)\s*,\s*(.+?)\s*([\])])\s*")
_NO_BINS: IntArray = np.zeros(0, dtype=np.int64)
_MAX_DEVIATIONS, _MAX_RELATIVE = 6, 0.01
"""Standard deviations of noise, and share of the published number, by which the noisy number of
records may differ from it: more is no accident.
"""
_LEAST_UNSPENT = 1e-3
"""Share of a budget of which it is worth saying that it is left."""
_MAX_SUM_ERROR = 1e-6
"""Shares sum to 1 but for so much."""


def known_marginals(given: KnownLike, schema: OpenSchema, called: str) -> tuple[KnownMarginal, ...]:
    """The known marginals that published tables say, checked for contradictions.

    Parameters
    ----------
    given
        One or more tables, each a data frame (of pandas, polars or Arrow) or the path of a CSV file
        in UTF-8: some columns of the schema, or levels of its hierarchy, and one, ``count`` or
        ``share``. A combination that is not listed has no records.
    schema
        What is public of the table.
    called
        What errors call the setting.

    Raises
    ------
    DataFileError
        If a file cannot be read.
    SchemaError
        If a table names a column, level or value that the schema does not know, or that is open.
    ParameterError
        If numbers are none, or tables contradict each other or the rules.
    """
    return _checked(given, schema, called).marginals


class PublishedTotals(NamedTuple):
    """Known marginals that do not contradict each other or rules, as far as that was looked at."""

    marginals: tuple[KnownMarginal, ...]
    cautions: list[str]
    """What was not looked at."""


def published_totals(given: KnownLike, schema: OpenSchema, called: str) -> PublishedTotals:
    """Totals of the records of a release, and what was not checked of them; see `known_marginals`.

    Raises `ParameterError` also if they are of more records than can be drawn.
    """
    totals = _checked(given, schema, called)
    sizes = schema.largest_domain.shape
    for marginal in totals.marginals:
        if marginal.total is not None and marginal.total > (most := most_rows(sizes)):
            raise ParameterError(
                f"{marginal.name}: its counts sum to {marginal.total:,}, and at most {most:,} rows "
                f"of {len(sizes)} columns are drawn at once; give totals of the records, or shares"
            )
    return totals


def _checked(given: KnownLike, schema: OpenSchema, called: str) -> PublishedTotals:
    if given is None:
        return PublishedTotals((), [])
    if isinstance(given, Sequence) and not isinstance(given, str):
        named = {f"{called}[{number}]": table for number, table in enumerate(given)}
    else:
        is_table = isinstance(given, pd.DataFrame | str | PathLike) or is_foreign(given)
        named = {f"{called}[0]" if is_table else called: given}
    known = tuple(_marginal(table, place, schema) for place, table in named.items())
    outline = schema.outline  # also rules on columns of which bins are to be learnt
    return PublishedTotals(known, check_known(outline.domain, known, outline.constraints))


def saved_known(content: Iterable[Any], domain: Domain) -> tuple[KnownMarginal, ...]:
    """Published totals as `KnownMarginal.to_dict` wrote them; raises `DataFileError` if they are
    none.
    """
    try:
        known = tuple(map(KnownMarginal.from_dict, content))
        for marginal in known:
            marginal.check_fits(domain)
    except (AttributeError, LookupError, ParameterError, TypeError, ValueError) as error:
        problem = "its published totals are damaged; restore the file from a copy"
        raise DataFileError(problem) from error
    return known


def totals_said(
    known: Sequence[KnownMarginal],
    model: Model,
    drawn: Codes,
    measurements: Sequence[LinearMeasurement],
    unspent: float,
) -> tuple[dict[str, object], list[str]]:
    """What a certificate says of published totals, and cautions: of rows that were drawn, which
    have them whatever the noise, of the number of records, and of a mechanism that had nothing left
    to measure.

    Parameters
    ----------
    known, model
        Published totals, and a model that meets them.
    drawn
        Rows of it.
    measurements
        What was measured beside them.
    unspent
        The share of the budget that the mechanism did not spend.
    """
    check = model.known_check(drawn, {})
    assert check is not None  # as something is known
    cautions = [*check.cautions, *_other_records(known, measurements)]
    if unspent >= _LEAST_UNSPENT:
        cautions.append(
            f"published totals: {100 * unspent:.3g} % of the budget is not spent, for what it was "
            "meant for is published; use mechanism auto, which plans with it, or spend less"
        )
    return {"known": check.stated([each.stated() for each in known])}, cautions


def _other_records(
    known: Sequence[KnownMarginal], measurements: Sequence[LinearMeasurement]
) -> list[str]:
    """A caution if noisy counts say that totals are of another number of records."""
    totals = [each.total for each in known if each.total is not None]
    if not totals or not measurements:
        return []
    counted, stddev = total_and_noise(measurements)
    if abs(counted - totals[0]) <= max(_MAX_DEVIATIONS * stddev, _MAX_RELATIVE * totals[0]):
        return []
    return [
        f"published totals: they are of {totals[0]:,} records, and there are about "
        f"{max(counted, 0):,.0f} by noisy counts (give or take {2 * stddev:,.0f}); give totals of "
        "these records, or shares"
    ]


def _marginal(given: object, place: str, schema: OpenSchema) -> KnownMarginal:
    frame, name = _read(given, place)
    numbers = [column for column in (COUNT, SHARE) if column in frame.columns]
    if len(numbers) != 1:
        raise SchemaError(f"{name}: it needs one column {COUNT!r}, or one {SHARE!r}; name it so")
    named = [str(column) for column in frame.columns if column != numbers[0]]
    if not named or len(set(named)) < len(named):
        raise SchemaError(f"{name}: name one column or more beside {numbers[0]!r}, each once")
    values = _numbers(frame[numbers[0]], name)
    if frame.duplicated(named).any():
        row = int(np.flatnonzero(frame.duplicated(named))[0])
        raise ParameterError(f"{name}: row {row} (from 0) repeats a combination; give each once")
    axes = [_axis(column, frame[column], name, schema) for column in named]
    clique = [axis[0] for axis in axes]
    if twice := [one for one in clique if clique.count(one) > 1]:
        raise SchemaError(
            f"{name}: two of its columns are levels of {twice[0]!r}; keep the finer one"
        )
    shape = tuple(int(groups.max()) + 1 for _, groups, _ in axes)
    cells = np.zeros(shape)
    np.add.at(cells, tuple(rows for _, _, rows in axes), values)
    merged = {column: groups for column, groups, _ in axes if groups.size > int(groups.max()) + 1}
    order = [clique.index(each) for each in schema.largest_domain.canonical(clique)]
    if numbers[0] == SHARE and abs(values.sum() - 1.0) > _MAX_SUM_ERROR:
        raise ParameterError(
            f"{name}: the shares sum to {values.sum():.7g}, not 1; give all of them, or counts"
        )
    return KnownMarginal(
        tuple(clique[i] for i in order),
        np.transpose(cells, order),
        is_count=numbers[0] == COUNT,
        coarsening=Coarsening(merged) if merged else None,
        name=name,
    )


def _read(given: object, place: str) -> tuple[pd.DataFrame, str]:
    """A published table, and what errors call it."""
    if not isinstance(given, str | PathLike):
        return opened(given, place).frame.reset_index(drop=True), place
    name = os.fspath(given)
    try:
        return pd.read_csv(name, dtype=str, keep_default_na=False), f"{place} {name!r}"
    except (OSError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it is no CSV"
        raise DataFileError(f"{place}: {name!r} cannot be read: {reason} in UTF-8") from None


def _numbers(column: pd.Series, name: str) -> Any:
    values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if bad.size:
        raise ParameterError(
            f"{name}: {column.name!r} of row {bad[0]} (from 0) is no number of 0 or more"
        )
    return values


def _axis(
    named: str, values: pd.Series, name: str, schema: OpenSchema
) -> tuple[str, IntArray, IntArray]:
    """The attribute of a column of a published table, the group of each of its levels, and the
    group of each row.
    """
    levels = {level.name: level for level in schema.hierarchy}
    attribute = named
    while attribute in levels:
        attribute = levels[attribute].of
    column = _closed(attribute, name, schema)
    distinct = list(dict.fromkeys(values.tolist()))
    if named in levels:
        groups = {value: _members(str(value), named, levels, column, name) for value in distinct}
    else:
        groups = {value: _codes(value, column, name) for value in distinct}
    of_level = np.full(column.size, -1, dtype=np.int64)
    numbers: dict[object, int] = {}
    for value in sorted(distinct, key=lambda each: tuple(groups[each])):
        codes = groups[value]
        before = np.unique(of_level[codes])
        if before.size == 1 and before[0] >= 0 and (of_level == before[0]).sum() == codes.size:
            numbers[value] = int(before[0])  # several values that are one level: they are added up
            continue
        if before.max() >= 0:
            raise SchemaError(
                f"{name}: {value!r} of {named!r} overlaps another of its values; "
                f"give groups that have no level of {attribute!r} in common"
            )
        numbers[value] = int(of_level.max()) + 1
        of_level[codes] = numbers[value]
    left = np.flatnonzero(of_level < 0)
    ordinary = np.setdiff1d(left, _unlisted(column))
    if ordinary.size:
        raise SchemaError(
            f"{name}: {str(column.labels[ordinary[0]])!r}, a level of {attribute!r}, is in none of its "
            "rows; list it, with 0 if nobody has it"
        )
    # A missing value that is not listed is one that nobody has.
    of_level[left] = np.arange(left.size) + int(of_level.max()) + 1
    return attribute, *_by_level(of_level, [numbers[value] for value in values])


def _by_level(of_level: IntArray, rows: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Groups numbered in the order of their first levels, and those of the rows."""
    _, firsts = np.unique(of_level, return_index=True)
    rank = np.empty(firsts.size, dtype=np.int64)
    rank[np.argsort(firsts)] = np.arange(firsts.size)
    return rank[of_level], rank[np.asarray(rows, dtype=np.int64)]


def _unlisted(column: Column) -> list[int]:
    """Codes that a published table need not list: of missing values, and of any other ones."""
    return list(column.special_codes)


def _closed(attribute: str, name: str, schema: OpenSchema) -> Column:
    if attribute in {column.name for column in schema.open_columns}:
        raise SchemaError(
            f"{name}: what is known is of {attribute!r}, whose levels or bins are still to be "
            "learnt; declare them in the schema (levels as enum, bins or edges)"
        )
    for column in schema.resolved({}).columns if not schema.is_open else schema.closed_columns:
        if column.name == attribute:
            return column
    known = [*schema.names, *(level.name for level in schema.hierarchy)]
    raise SchemaError(f"{name}: the schema has no column {attribute!r}; it has {listed(known)}")


def _members(
    label: str, level: str, levels: Mapping[str, HierarchyLevel], column: Column, name: str
) -> IntArray:
    """Codes of all levels of a column that a group of its hierarchy holds."""
    groups = dict(levels[level].groups)
    if label not in groups:
        raise SchemaError(
            f"{name}: {label!r} is no group of {level!r} in the schema's hierarchy; "
            f"it has {listed(list(groups))}"
        )
    below = levels[level].of
    parts = [
        _members(member, below, levels, column, name)
        if below in levels
        else _codes(member, column, name)
        for member in groups[label]
    ]
    if not parts:
        raise SchemaError(f"{name}: the group {label!r} of {level!r} is empty; remove it")
    return np.unique(np.concatenate(parts))


def _codes(value: object, column: Column, name: str) -> IntArray:
    """Codes of the levels that a value stands for: one, or all bins inside of an interval."""
    one = pd.Series([value], dtype=object)
    if not isinstance(value, pd.Interval) and column.knows(one)[0]:
        return np.asarray(column.by_level.encode(one)).astype(np.int64)
    if column.axis is not None and (ends := _ends(value)) is not None:
        inside = _inside(column, *ends)
        if inside.size:
            return inside
    raise SchemaError(
        f"{name}: {value!r} is no level of {column.name!r}, nor an interval such as [0, 18) that "
        "begins and ends where bins do; correct it, or the column's levels or edges"
    )


def _ends(value: object) -> tuple[object, object, bool, bool] | None:
    """The ends of an interval, and whether each is inside."""
    if isinstance(value, pd.Interval):
        return value.left, value.right, value.closed_left, value.closed_right
    match = _INTERVAL.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    return match[2], match[3], match[1] == "[", match[4] == "]"


def _inside(column: Column, low: object, high: object, has_low: bool, has_high: bool) -> IntArray:
    """Bins that an interval holds whole; none if it cuts one."""
    bins = {code: each for code, each in enumerate(column.labels) if isinstance(each, pd.Interval)}
    are_moments = any(isinstance(each.left, pd.Timestamp) for each in bins.values())
    number: Callable[[Any], Any] = pd.Timestamp if are_moments else float
    try:
        begin, end = number(low), number(high)
    except (TypeError, ValueError):
        return _NO_BINS
    is_whole = column.field()["type"] == "integer"
    if is_whole:
        # Of whole numbers those from 18 on are those above 17.
        begin += 0 if has_low else 1
        end += 1 if has_high else 0
    codes = []
    for code, each in bins.items():
        holds_end = is_whole or has_high or not each.closed_right
        if each.left >= begin and (each.right < end or (each.right == end and holds_end)):
            codes.append(code)
        elif each.left < end and each.right > begin:
            return _NO_BINS
    return np.array(codes, dtype=np.int64)
