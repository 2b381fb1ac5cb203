"""From a model and a schema to a table of values."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.data.codes.decoding import decode
from synthdp.inference.arrays import Codes
from synthdp.inference.complete_where import complete_where
from synthdp.inference.model import Model
from synthdp.release.drawing.given_rows import GivenRows, given_rows, with_given
from synthdp.release.drawing.unused_levels import Unused, narrowed_to_used, redrawn, without_unused
from synthdp.schema.columns.column import code_dtype
from synthdp.schema.schema import Schema, narrowed_schema

Shares = Mapping[str, NDArray[np.float64]]


def drawn_table(
    model: Model,
    schema: Schema,
    n_rows: int | None,
    *,
    seed: int | np.random.SeedSequence | None,
    text: bool,
    where: Mapping[str, object] | None,
    given: Any,
    unused: Unused = MappingProxyType({}),
    categories: bool = False,
    after: int = 0,
) -> tuple[pd.DataFrame, Collection[str]]:
    """A table that a model draws, with generated columns, and the names of the columns that were
    given.

    ``unused`` are levels without records, which are not drawn. With ``categories`` declared levels
    that are texts come as categories; ids begin as in a table that goes on ``after`` some rows. The
    other parameters, and errors, are those of `synthdp.release.synthesis.Synthesis.sample`.
    """
    schema, wanted = narrowed_schema(schema, {} if where is None else where)
    wanted = narrowed_to_used(wanted, unused)
    sampling, decoding, generating = _seeds(seed)
    rng = np.random.default_rng(decoding)
    if given is None:
        codes = _codes(model, n_rows, wanted, sampling, unused)
        table = decode(codes, schema, rng, text=text, categories=categories)
        generated = schema.generated.continued(after)
        return generated.completed(table, seed=generating, stated={}, text=text), ()
    rows = given_rows(given, schema)
    codes = _completed(model, rows, wanted, sampling, unused)
    table = with_given(_decoded(codes, rows, rng, text=text), rows, text=text)
    stated = {name: rows.frame[name] for name in schema.generated.names if name in rows.frame}
    return schema.generated.completed(
        table, seed=generating, stated=stated, text=text
    ), rows.frame.columns


def _seeds(seed: int | np.random.SeedSequence | None) -> list[int]:
    """Seeds of drawing, decoding and generating; those of blocks are longer, for there may be many."""
    if isinstance(seed, np.random.SeedSequence):
        return [int(word) for word in seed.generate_state(3, np.uint64)]
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(3)]


def _codes(model: Model, n_rows: int | None, wanted: Shares, seed: int, unused: Unused) -> Codes:
    """Codes of whole rows, inside a slice if there is one."""
    if wanted:
        n_rows = round(_expected(model, wanted, unused)) if n_rows is None else n_rows
        codes = model.sample_where(wanted, n_rows, seed=seed)
    else:
        codes = model.sample(round(model.total) if n_rows is None else n_rows, seed=seed)
    return redrawn(model, codes, unused, seed=seed)


def _completed(model: Model, given: GivenRows, wanted: Shares, seed: int, unused: Unused) -> Codes:
    """Codes of completed records, inside a slice if there is one: those with the same given columns
    together.
    """
    codes = given.codes()
    if both := codes.keys() & wanted.keys():
        way_out = "where it stays as it is; leave it out of one"
        raise ParameterError(f"where: column {min(both)!r} is in given, {way_out}")
    columns = [np.zeros(len(given.frame), code_dtype(size)) for size in model.domain.shape]
    for number, (names, rows) in enumerate(given.alike(given.modelled)):
        known = {name: codes[name][rows] for name in codes if given.schema[name].source in names}
        if not known:
            drawn = _codes(model, rows.size, wanted, seed + number, unused)
        elif wanted:
            drawn = complete_where(model, known, wanted, seed=seed + number)
        else:
            drawn = model.complete(known, seed=seed + number)
        still_open = {name: code for name, code in unused.items() if name not in known}
        drawn = redrawn(model, drawn, still_open, seed=seed + number)
        for column, part in zip(columns, drawn, strict=True):
            column[rows] = part
    return tuple(columns)


def _decoded(
    codes: Codes, given: GivenRows, rng: np.random.Generator, *, text: bool
) -> pd.DataFrame:
    """Values for the codes of completed records, such that checks hold for what is given of them."""
    numbers, groups = given.numbers(), given.alike(given.numbers())
    pieces = []
    for names, rows in groups:
        known = {name: numbers[name][rows] for name in names}
        pieces.append(
            decode([column[rows] for column in codes], given.schema, rng, text=text, given=known)
        )
    order = np.argsort(np.concatenate([rows for _, rows in groups]))
    return (
        pd.concat(pieces, ignore_index=True).iloc[order].reset_index(drop=True)
        if len(pieces) > 1
        else pieces[0]
    )


def _expected(model: Model, wanted: Shares, unused: Unused) -> float:
    """Expected number of records of a slice."""
    try:
        counts = without_unused(model.marginal(tuple(wanted)).values, list(wanted), unused)
    except (ModelTooLargeError, ParameterError) as error:
        raise type(error)(f"where: {error}; or say how many rows you want with n_rows") from None
    for shares in wanted.values():
        counts = np.tensordot(shares, counts, axes=(0, 0))
    return float(counts)
