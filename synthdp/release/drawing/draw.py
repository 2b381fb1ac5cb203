"""From a model and a schema to a table of values."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.data.codes.decoding import decode
from synthdp.inference.arrays import Codes
from synthdp.inference.model import Model
from synthdp.release.drawing.following import with_densities
from synthdp.release.drawing.unused_levels import Unused, narrowed_to_used, redrawn, without_unused
from synthdp.schema.schema import Schema, narrowed_schema

if TYPE_CHECKING:
    from synthdp.core.totals_check import TotalsCheck

Shares = Mapping[str, NDArray[np.float64]]
Seen = Callable[[Codes], None]
ByWeight = Callable[..., dict[str, NDArray[np.float64]]]


Checked: TypeAlias = "Callable[[TotalsCheck], object]"
"""Called with how rows compare with what is published; not called if nothing is."""


def unchecked(_check: "TotalsCheck") -> None:
    """Ignore how rows compare with published totals."""


def unseen(_codes: Codes) -> None:
    """Ignore the codes that were drawn."""


def drawn_table(
    model: Model,
    schema: Schema,
    n_rows: int | None,
    *,
    seed: int | np.random.SeedSequence | None,
    text: bool,
    where: Mapping[str, object] | None = None,
    unused: Unused = MappingProxyType({}),
    categories: bool = False,
    after: int = 0,
    seen: Seen = unseen,
    codes: Codes | None = None,
    by_weight: ByWeight | None = None,
    checked: Checked = unchecked,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """A table that a model draws, with generated columns.

    ``unused`` are levels without records, which are not drawn. With ``categories`` declared levels
    that are texts come as categories; ids begin as in a table that goes on ``after`` some rows;
    ``seen`` is called with the codes of all rows before they are decoded; ``codes`` are those of
    these rows if they were drawn before; rows are of the population if ``by_weight`` says how
    much those of each level weigh; ``checked`` is called with how rows compare with what is
    published. The other parameters, and errors, are those of
    `synthdp.release.synthesis.Synthesis.sample`.
    """
    schema = with_densities(schema, model)
    schema, wanted = narrowed_schema(schema, {} if where is None else where)
    wanted = narrowed_to_used(wanted, unused)
    is_population = by_weight is not None
    if by_weight is not None:
        wanted = by_weight(schema, wanted)
    sampling, decoding, generating = seeds_of(seed)
    rng = np.random.default_rng(decoding)
    if codes is None:
        codes = drawn_codes(model, n_rows, wanted, sampling, unused, n_jobs=n_jobs)
    population = (
        "they are of the records, and these rows of the population" if is_population else ""
    )
    if (check := model.known_check(codes, wanted, population)) is not None:
        checked(check)
    seen(codes)
    table = decode(codes, schema, rng, text=text, categories=categories)
    generated = schema.generated.continued(after)
    completed = generated.completed(table, seed=generating, stated={}, text=text)
    # Each of a population stands for itself.
    return completed.drop(columns=[schema.weight]) if is_population else completed


def seeds_of(seed: int | np.random.SeedSequence | None) -> list[int]:
    """Seeds of drawing, decoding and generating; those of blocks are longer, for there may be many."""
    if isinstance(seed, np.random.SeedSequence):
        return [int(word) for word in seed.generate_state(3, np.uint64)]
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(3)]


def drawn_codes(
    model: Model,
    n_rows: int | None,
    wanted: Shares,
    seed: int,
    unused: Unused,
    *,
    n_jobs: int = 1,
) -> Codes:
    """Codes of whole rows, inside a slice if there is one."""
    if wanted:
        n_rows = round(_expected(model, wanted, unused)) if n_rows is None else n_rows
        codes = model.sample_where(wanted, n_rows, seed=seed)
    else:
        codes = model.sample(
            round(model.total) if n_rows is None else n_rows, seed=seed, n_jobs=n_jobs
        )
    return redrawn(model, codes, unused, seed=seed)


def _expected(model: Model, wanted: Shares, unused: Unused) -> float:
    """Expected number of records of a slice."""
    try:
        counts = without_unused(model.marginal(tuple(wanted)).values, list(wanted), unused)
    except (ModelTooLargeError, ParameterError) as error:
        raise type(error)(f"where: {error}; or say how many rows you want with n_rows") from None
    for shares in wanted.values():
        counts = np.tensordot(shares, counts, axes=(0, 0))
    return float(counts)
