"""From a model, a schema and partial records to a table of whole ones."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.data.codes.decoding import decode
from synthdp.inference.arrays import Codes
from synthdp.inference.complete_where import complete_where
from synthdp.inference.model import Model
from synthdp.release.drawing.draw import Checked, Shares, drawn_codes, seeds_of, unchecked
from synthdp.release.drawing.following import with_densities
from synthdp.release.drawing.given_rows import GivenRows, given_rows, with_given
from synthdp.release.drawing.unused_levels import Unused, narrowed_to_used, redrawn
from synthdp.schema.columns.column import code_dtype
from synthdp.schema.schema import Schema, narrowed_schema


def completed_table(
    model: Model,
    schema: Schema,
    given: object,
    *,
    seed: int | np.random.SeedSequence | None,
    text: bool,
    where: Mapping[str, object] | None = None,
    unused: Unused = MappingProxyType({}),
    checked: Checked = unchecked,
) -> tuple[pd.DataFrame, Collection[str]]:
    """Partial records with what a model draws for the rest, and the names of the columns that were
    given.

    Parameters are those of `drawn_table`, parameters and errors those of
    `synthdp.release.synthesis.Synthesis.sample`.
    """
    schema = with_densities(schema, model)
    schema, wanted = narrowed_schema(schema, {} if where is None else where)
    wanted = narrowed_to_used(wanted, unused)
    sampling, decoding, generating = seeds_of(seed)
    rows = given_rows(given, schema)
    codes = _completed(model, rows, wanted, sampling, unused)
    if (check := model.known_check(codes, {}, "these records were given")) is not None:
        checked(check)
    drawn = decoded_rows(codes, rows, np.random.default_rng(decoding), text=text)
    table = with_given(drawn, rows, text=text)
    stated = {name: rows.frame[name] for name in schema.generated.names if name in rows.frame}
    completed = schema.generated.completed(table, seed=generating, stated=stated, text=text)
    return completed, rows.frame.columns


def _completed(model: Model, given: GivenRows, wanted: Shares, seed: int, unused: Unused) -> Codes:
    """Codes of completed records, inside a slice if there is one: those with the same given columns
    together.
    """
    codes = given.codes()
    if both := codes.keys() & wanted.keys():
        way_out = "where it stays as it is; leave it out of one"
        raise ParameterError(f"where: column {min(both)!r} is in given, {way_out}")
    columns = [np.zeros(len(given.frame), code_dtype(size)) for size in model.domain.shape]
    # Records with the same columns given are completed together; each group has a seed of its own.
    for number, (names, rows) in enumerate(given.alike(given.modelled)):
        fixed = {name: codes[name][rows] for name in codes if given.schema[name].source in names}
        if not fixed:
            drawn = drawn_codes(model, rows.size, wanted, seed + number, unused)
        elif wanted:
            drawn = complete_where(model, fixed, wanted, seed=seed + number)
        else:
            drawn = model.complete(fixed, seed=seed + number)
        still_open = {name: code for name, code in unused.items() if name not in fixed}
        drawn = redrawn(model, drawn, still_open, seed=seed + number)
        for column, part in zip(columns, drawn, strict=True):
            column[rows] = part
    return tuple(columns)


def decoded_rows(
    codes: Sequence[NDArray[np.integer]], given: GivenRows, rng: np.random.Generator, *, text: bool
) -> pd.DataFrame:
    """Values for the codes of completed records, such that checks hold for what is given of them."""
    numbers = given.numbers()
    groups = given.alike(given.numbers())
    pieces = []
    for names, rows in groups:
        fixed = {name: numbers[name][rows] for name in names}
        pieces.append(
            decode([column[rows] for column in codes], given.schema, rng, text=text, given=fixed)
        )
    order = np.argsort(np.concatenate([rows for _, rows in groups]))
    if len(pieces) > 1:
        return pd.concat(pieces, ignore_index=True).iloc[order].reset_index(drop=True)
    return pieces[0]
