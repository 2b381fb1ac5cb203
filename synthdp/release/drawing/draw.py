"""From a model and a schema to a table of values."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.errors import ModelTooLargeError, ParameterError
from synthdp.inference.arrays import Codes
from synthdp.inference.complete_where import complete_where
from synthdp.inference.model import Model
from synthdp.release.drawing.given_rows import given_codes, given_numbers, given_table, with_given
from synthdp.release.drawing.unused_levels import Unused, narrowed_to_used, redrawn, without_unused
from synthdp.table.records.codec import decode
from synthdp.table.schema.schema import Schema, narrowed_schema

Shares = Mapping[str, NDArray[np.float64]]


def drawn_table(
    model: Model,
    schema: Schema,
    n_rows: int | None,
    *,
    seed: int | None,
    text: bool,
    where: Mapping[str, object] | None,
    given: Any,
    unused: Unused = MappingProxyType({}),
) -> tuple[pd.DataFrame, Collection[str]]:
    """A table that a model draws, with generated columns, and the names of the columns that were given.

    ``unused`` are levels without records, which are not drawn. The other parameters, and errors, are those of
    `synthdp.release.synthesis.Synthesis.sample`.
    """
    schema, wanted = narrowed_schema(schema, {} if where is None else where)
    wanted = narrowed_to_used(wanted, unused)
    frame = None if given is None else given_table(given, schema)
    sampling, decoding, generating = map(int, np.random.SeedSequence(seed).generate_state(3))
    known = {} if frame is None else given_codes(frame, schema)
    codes = _codes(model, n_rows if frame is None else len(frame), known, wanted, sampling, unused)
    drawn = {name: code for name, code in unused.items() if name not in known}
    codes = redrawn(model, codes, drawn, seed=sampling)
    numbers = {} if frame is None else given_numbers(frame, schema)
    table = decode(codes, schema, np.random.default_rng(decoding), text=text, given=numbers)
    table = table if frame is None else with_given(table, frame, schema, text=text)
    stated = {} if frame is None else {name: frame[name] for name in schema.generated.names if name in frame}
    table = schema.generated.completed(table, seed=generating, stated=stated, text=text)
    return table, () if frame is None else frame.columns


def _codes(
    model: Model,
    n_rows: int | None,
    known: Mapping[str, NDArray[np.integer]],
    wanted: Shares,
    seed: int,
    unused: Unused,
) -> Codes:
    """Codes of whole rows, of a slice, or of completed records, inside a slice if there is one."""
    if known:
        if both := known.keys() & wanted.keys():
            way_out = "where it stays as it is; leave it out of one"
            raise ParameterError(f"where: column {min(both)!r} is in given, {way_out}")
        return complete_where(model, known, wanted, seed=seed) if wanted else model.complete(known, seed=seed)
    if wanted:
        return model.sample_where(
            wanted, round(_expected(model, wanted, unused)) if n_rows is None else n_rows, seed=seed
        )
    return model.sample(round(model.total) if n_rows is None else n_rows, seed=seed)


def _expected(model: Model, wanted: Shares, unused: Unused) -> float:
    """Expected number of records of a slice."""
    try:
        counts = without_unused(model.marginal(tuple(wanted)).values, list(wanted), unused)
    except (ModelTooLargeError, ParameterError) as error:
        raise type(error)(f"where: {error}; or say how many rows you want with n_rows") from None
    for shares in wanted.values():
        counts = np.tensordot(shares, counts, axes=(0, 0))
    return float(counts)
