"""Rows in blocks: tables of any length in little memory, the same rows however they are cut."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.requests import check_seed
from synthdp.data.files.formats import import_pyarrow
from synthdp.inference.jobs import thread_count
from synthdp.inference.model import Model
from synthdp.release.drawing.draw import Checked, Seen, drawn_table, unchecked, unseen
from synthdp.release.drawing.following import with_densities
from synthdp.release.drawing.unused_levels import Unused
from synthdp.schema.made_up.generated_column import MAX_START
from synthdp.schema.schema import Schema

BLOCK_ROWS = 2**17
"""Rows that are drawn together, from a seed of their own. Another number would make other rows of
the same seed.
"""


def check_batches(schema: Schema, n_rows: int, *, offset: int, seed: int | None) -> None:
    """Raise `ParameterError` unless rows ``offset .. offset + n_rows`` of a seed can be drawn in
    blocks.
    """
    check_seed(seed)
    for name, value in {"n_rows": n_rows, "offset": offset}.items():
        if (
            not isinstance(value, int | np.integer)
            or isinstance(value, bool)
            or not 0 <= value <= MAX_START
        ):
            raise ParameterError(f"{name} is {value!r}; give a whole number from 0 to {MAX_START}")
    # Without a seed every call draws another table, in which "row 1,000" is nowhere.
    if offset and seed is None:
        raise ParameterError(
            "offset: without a seed there are no rows before; give the seed that they were drawn with"
        )
    if (column := numbered_within(schema)) is not None:
        way_out = "draw the table at once (sample), or number them through (no synthdp.per)"
        raise ParameterError(
            f"column {column!r} is numbered within others, over all rows of a table; {way_out}"
        )


def numbered_within(schema: Schema) -> str | None:
    """The first column, if any, whose ids are numbered within others: no block knows how far the
    ones before came.
    """
    return next(
        (column.name for column in schema.generated.columns if getattr(column, "per", ())), None
    )


def drawn_blocks(
    model: Model,
    schema: Schema,
    n_rows: int,
    *,
    offset: int,
    seed: int | None,
    text: bool,
    where: Mapping[str, object] | None,
    unused: Unused = MappingProxyType({}),
    seen: Seen = unseen,
    checked: Checked = unchecked,
    n_jobs: int = 1,
) -> Iterator[pd.DataFrame]:
    """Rows ``offset .. offset + n_rows`` of the endless table of a seed, block by block; at least
    one frame.

    Each block is `drawn_table` with a seed that follows from ``seed`` and the number of the block,
    so that any part of the table is drawn without the rest. Ids go on from block to block. In place
    of texts of declared levels there are categories, but with ``text``. So many blocks as there are
    ``n_jobs`` are drawn at the same time, and held until it is their turn. ``seen`` is called by
    these threads, with the rows of each block that are asked for. Blocks are rounded each by
    itself, so that ``checked`` hears that no published total holds of all. Parameters are those of
    `drawn_table`; they are checked by `check_batches`.
    """
    if (check := model.known_check((), {}, "they are drawn in blocks")) is not None:
        checked(check)
    first = offset // BLOCK_ROWS
    last = max((offset + n_rows - 1) // BLOCK_ROWS, offset // BLOCK_ROWS)
    # One entropy, and each block's own spawn key: block 7 is the same whether or not blocks 1 to 6
    # are drawn.
    entropy = np.random.SeedSequence(seed).entropy
    schema = with_densities(schema, model)  # once, and not by each thread

    def drawn(block: int) -> pd.DataFrame:
        # Whole blocks are drawn and then cut: part of one would round its counts in another way,
        # and have other rows.
        start = block * BLOCK_ROWS
        seeds = np.random.SeedSequence(entropy, spawn_key=(block,))
        rows = slice(max(offset - start, 0), max(offset + n_rows - start, 0))
        table = drawn_table(
            model,
            schema,
            BLOCK_ROWS if n_rows else 0,
            seed=seeds,
            text=text,
            where=where,
            unused=unused,
            categories=not text,
            after=start,
            seen=lambda codes: seen(tuple(column[rows] for column in codes)),
        )
        if len(table) <= rows.stop and not rows.start:
            return table
        return table[rows].reset_index(drop=True)

    blocks = iter(range(first, last + 1))
    # Cached properties would otherwise be worked out by every thread at the same time.
    yield drawn(next(blocks))  # alone: what the model works out once is worked out here
    n_threads = thread_count(n_jobs)
    if n_threads == 1:
        yield from map(drawn, blocks)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        ahead: list[Future[pd.DataFrame]] = [
            pool.submit(drawn, block) for block in islice(blocks, n_threads)
        ]
        try:
            while ahead:
                table = ahead.pop(0).result()
                # One more for each that is taken: memory is that of a few blocks, however slow the
                # writer is.
                ahead += [pool.submit(drawn, block) for block in islice(blocks, 1)]
                yield table
        finally:
            for future in ahead:
                future.cancel()


def arrow_batches(
    model: Model,
    schema: Schema,
    n_rows: int,
    batch_rows: int,
    *,
    offset: int,
    seed: int | None,
    where: Mapping[str, object] | None,
    unused: Unused,
    checked: Checked,
    n_jobs: int,
) -> Any:
    """Rows of a seed as a `pyarrow.RecordBatchReader`; parameters and errors are those of
    `synthdp.release.synthesis.Synthesis.sample_batches`.
    """
    check_batches(schema, n_rows, offset=offset, seed=seed)
    thread_count(n_jobs)
    blocks = drawn_blocks(
        model,
        schema,
        n_rows,
        offset=offset,
        seed=seed,
        text=False,
        where=where,
        unused=unused,
        checked=checked,
        n_jobs=n_jobs,
    )
    return _arrow_reader(blocks, batch_rows)


def _arrow_reader(frames: Iterator[pd.DataFrame], batch_rows: int) -> Any:
    """A `pyarrow.RecordBatchReader` over frames, in batches of ``batch_rows``; categories become
    texts.
    """
    if not isinstance(batch_rows, int | np.integer) or batch_rows < 1:
        raise ParameterError(f"batch_rows is {batch_rows!r}; give a whole number of at least 1")
    pyarrow = import_pyarrow()
    first = _with_texts(pyarrow.Table.from_pandas(next(frames), preserve_index=False), pyarrow)

    def batches() -> Iterator[Any]:
        held = first
        for frame in frames:
            yield from (
                held.slice(0, held.num_rows // batch_rows * batch_rows)
                .combine_chunks()
                .to_batches(batch_rows)
            )
            # Blocks and batches end at different rows: what is left of one block begins the next
            # batch.
            rest = held.slice(held.num_rows // batch_rows * batch_rows)
            table = _with_texts(pyarrow.Table.from_pandas(frame, preserve_index=False), pyarrow)
            # A reader has one schema, which is that of the first block.
            held = pyarrow.concat_tables([rest, table.cast(first.schema)])
        yield from held.combine_chunks().to_batches(batch_rows)

    return pyarrow.RecordBatchReader.from_batches(first.schema, batches())


def _with_texts(table: Any, pyarrow: Any) -> Any:
    """An Arrow table with plain texts in place of dictionaries, and without what it says to pandas."""
    is_dictionary = pyarrow.types.is_dictionary
    types = [
        (field.name, field.type.value_type if is_dictionary(field.type) else field.type)
        for field in table.schema
    ]
    return table.cast(pyarrow.schema(types))
