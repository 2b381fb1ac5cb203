"""The side door: a `Synthesis` from noisy marginals that another system has released."""

from collections.abc import Mapping, Sequence
from numbers import Real
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.measurement import MAX_COUNT, MIN_STDDEV, LinearMeasurement
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.release.certificate.fit_facts import FORMAT, fit_cautions, fit_facts
from synthdp.release.certificate.software import versions
from synthdp.release.fitting import check_rules, fit_model
from synthdp.release.registry import engine_named
from synthdp.release.synthesis import Synthesis
from synthdp.schema.public_files import as_schema
from synthdp.schema.schema import Schema

Measurement: TypeAlias = LinearMeasurement | tuple[pd.DataFrame | pd.Series, float]
"""Noisy counts of one marginal, in one of the forms that `from_measurements` takes."""

COUNT = "count"
"""The column of a table of counts that holds them."""

GUARANTEE = (
    "not stated here: the measurements were released by another system, under its own guarantee"
)

NOT_COVERED = (
    "whether the measurements protect anybody, and how much: ask the system that released them",
    "the scales of noise, which are taken as they were given",
    "anything the schema says: levels, bounds and rules are taken to be public knowledge",
    "other releases about the same people: their losses add up",
)


UNPROTECTED = {
    "quantity": "names, types, levels, bounds, bins and rules of the columns",
    "source": "the schema",
}


def from_measurements(
    schema: Schema | Domain | Mapping[str, Any] | str | PathLike[str],
    measurements: Sequence[Measurement],
    *,
    engine: str | Engine = "auto",
) -> Synthesis:
    """Fit a synthetic table to noisy marginals that another system has released.

    It is post-processing: what the measurements protect stays protected, and the certificate
    leaves the guarantee to the system that made them.

    Parameters
    ----------
    schema
        What is public about the table: a `Schema`, its JSON as a mapping, the path of a schema
        file, or a `Domain`, whose levels are then the numbers ``0 .. size - 1``.
    measurements
        The marginals, each a `LinearMeasurement` over the schema's level codes or a pair
        ``(counts, stddev)``; ``stddev`` is the scale of the noise in counts (records), above 0.
        ``counts`` holds every combination of levels once: a DataFrame with one column an
        attribute and one, "count", of noisy counts, or a Series as `Synthesis.marginal` returns
        it. An interval stands for the bin that it begins, None or NaN for "missing".
    engine
        How to rebuild a table from them: a name or an `Engine`.

    Raises
    ------
    SchemaError
        If the schema contradicts itself, or counts have a column or value that it does not know.
    ParameterError
        If a combination is missing or repeats, a stddev is not above 0, there is no measurement,
        or the schema's rules contradict each other.
    ModelTooLargeError
        If the engine cannot hold a model of these measurements.

    >>> counts = pd.DataFrame({"smoker": [0, 1], "count": [70.4, 29.6]})
    >>> synthesis = from_measurements(Domain(("smoker",), (2,)), [(counts, 2.0)])
    >>> int(synthesis.sample(10, seed=0)["smoker"].sum()), synthesis.certificate["is_private"]
    (3, None)
    """
    public = _as_schema(schema)
    fitter = engine_named(engine) if isinstance(engine, str) else engine
    fitter.check_domain(public.domain)
    check_rules(public.domain, public.constraints)
    if not isinstance(measurements, Sequence) or isinstance(measurements, str):
        raise ParameterError(
            f"measurements is a {type(measurements).__name__}; give a list of them"
        )
    released = [_measurement(given, number, public) for number, given in enumerate(measurements)]
    model = fit_model(fitter, public, released)
    certificate = _certificate(released, model, fit_facts(public, fitter, model))
    return Synthesis(schema=public, measurements=released, model=model, certificate=certificate)


def _as_schema(schema: Schema | Domain | Mapping[str, Any] | str | PathLike[str]) -> Schema:
    if isinstance(schema, Domain):
        return Schema.from_dict(dict(zip(schema.attributes, schema.shape, strict=True)))
    return as_schema(schema, learns_bins=False).resolved({})


def _measurement(given: object, number: int, schema: Schema) -> LinearMeasurement:
    """One measurement over level codes; ``number`` is how errors call it."""
    name = f"measurements[{number}]"
    if isinstance(given, LinearMeasurement):
        given.check_fits(schema.domain)
        return given
    match given:
        # Two forms only: guessing at a third would take a column of levels for counts.
        case (pd.DataFrame() | pd.Series() as counts, stddev):
            pass
        case _:
            way_out = (
                "give a LinearMeasurement or a pair (counts, stddev), counts a DataFrame or Series"
            )
            raise ParameterError(f"{name} is a {type(given).__name__} of another kind; {way_out}")
    scale = float(stddev) if isinstance(stddev, Real) and not isinstance(stddev, bool) else np.nan
    if not MIN_STDDEV <= scale <= MAX_COUNT:
        raise ParameterError(
            f"{name}: stddev is {stddev!r}; give the scale of its noise in records, above 0"
        )
    levels, values = _split(counts, name)
    codes = {column: _codes(level, name, schema) for column, level in levels.items()}
    return LinearMeasurement(tuple(codes), _cells(codes, values, name, schema.domain), scale)


def _split(
    counts: pd.DataFrame | pd.Series, name: str
) -> tuple[dict[str, pd.Series], NDArray[np.float64]]:
    """The columns of a table of counts, and its counts."""
    if isinstance(counts, pd.Series):
        names = list(counts.index.names)
        levels = [pd.Series(counts.index.get_level_values(i)) for i in range(counts.index.nlevels)]
        column = counts
    else:
        names = [column for column in counts.columns if column != COUNT]
        if list(counts.columns).count(COUNT) != 1:
            raise SchemaError(
                f"{name}: it needs one column {COUNT!r} with the noisy counts; name it so"
            )
        levels = [counts.iloc[:, i] for i, column in enumerate(counts.columns) if column != COUNT]
        column = counts[COUNT]
    if len(set(names)) != len(names):
        raise SchemaError(f"{name}: a column appears twice in {names}; name each once")
    try:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name}: some counts are not numbers; give one finite noisy count a row"
        ) from None
    return dict(zip(names, levels, strict=True)), values


def _codes(levels: pd.Series, name: str, schema: Schema) -> NDArray[np.integer[Any]]:
    """Level codes of one column of a table of counts."""
    if levels.name not in schema.names:
        schema_names = ", ".join(map(repr, schema.names))
        raise SchemaError(
            f"{name}: the schema has no column {levels.name!r}; name one of {schema_names}"
        )
    column = schema[str(levels.name)].by_level
    if column.merged_label:
        levels = pd.Series(list(map(column.of_label, levels.astype(object))), dtype=object)
    is_interval = np.array(
        [isinstance(value, pd.Interval) for value in levels.astype(object)], dtype=np.bool_
    )
    values = _left_ends(levels, name) if is_interval.any() else levels
    unknown = np.flatnonzero(~column.knows(values))
    if unknown.size:
        problem = (
            f"column {column.name!r}: the value in row {unknown[0]} (from 0) is not in the schema"
        )
        raise SchemaError(f"{name}: {problem}; correct the value, or the column's levels or bounds")
    codes = column.encode(values)
    begins = [getattr(label, "left", label) for label in column.labels] if is_interval.any() else []
    for row in np.flatnonzero(is_interval):
        if values.iloc[row] != begins[codes[row]]:
            problem = f"column {column.name!r}: the interval in row {row} (from 0) begins inside a bin of the schema"
            raise SchemaError(
                f"{name}: {problem}; give the column these intervals as bins or edges"
            )
    return codes


def _left_ends(levels: pd.Series, name: str) -> pd.Series:
    """The same values with intervals as the values that they begin with."""
    objects = list(levels.astype(object))
    if any(isinstance(value, pd.Interval) and value.open_left for value in objects):
        raise SchemaError(
            f"{name}: the intervals of {levels.name!r} are open on the left; close them there, as bins are"
        )
    return pd.Series(
        [value.left if isinstance(value, pd.Interval) else value for value in objects], dtype=object
    )


def _cells(
    codes: Mapping[str, NDArray[np.integer[Any]]],
    values: NDArray[np.float64],
    name: str,
    domain: Domain,
) -> NDArray[np.float64]:
    """Counts as an array with one axis a column, of which each cell must have been given once."""
    size = domain.size(codes)
    # With "" even if there is no column.
    rows = pd.DataFrame({"": 0, **codes}, index=range(len(values)))
    # Each cell once: counts that are given twice could be halves or copies, and nobody can tell.
    repeated = np.flatnonzero(rows.duplicated())
    if repeated.size:
        raise ParameterError(
            f"{name}: row {repeated[0]} (from 0) repeats a combination of levels; give each one once"
        )
    if len(values) < size:
        problem = f"{size - len(values)} of the {size} combinations of {', '.join(map(repr, codes))} are not there"
        raise ParameterError(
            f'{name}: {problem}; give each one once, "missing" levels (None) and empty cells too'
        )
    cells = np.empty(domain.project(codes).shape)
    cells[tuple(codes.values())] = values if codes else values[0]
    return cells


def _certificate(
    measurements: Sequence[LinearMeasurement], model: Model, facts: Mapping[str, object]
) -> dict[str, object]:
    """What can be said without knowing how the measurements were made, as plain JSON values."""
    # None, not false and not left out: a reader has to see that nobody has vouched for it.
    unit = ("adjacency", "unit_of_privacy", "max_rows_per_unit")
    unknown = (
        "is_private",
        "epsilon",
        "delta",
        *unit,
        "meaning",
        "accounting",
        "noise",
        "mechanism",
    )
    return {
        "format": FORMAT,
        "guarantee": GUARANTEE,
        **dict.fromkeys(unknown),
        "cautions": fit_cautions(model),
        **facts,
        "measurements": [{"columns": list(m.clique), "stddev": _scale(m)} for m in measurements],
        "unprotected": [dict(UNPROTECTED)],
        "versions": versions(),
        "events": [],
        "not_covered": list(NOT_COVERED),
    }


def _scale(measurement: LinearMeasurement) -> float | list[float]:
    """The stddev of a measurement; if it has one a cell, the smallest and the largest."""
    stddev = np.asarray(measurement.stddev, dtype=np.float64)
    return [float(stddev.min()), float(stddev.max())] if stddev.ndim else float(stddev)
