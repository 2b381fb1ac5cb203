"""``synthdp marginal`` and ``replicates``: counts with intervals, and tables that differ as the noise allows."""

import argparse
import sys
from pathlib import PurePath

import numpy as np
import pandas as pd

from synthdp.cli.announcing import announce, caution
from synthdp.cli.arguments.dialects import given_dialect
from synthdp.cli.log_lines import progress_on
from synthdp.cli.outputs import check_distinct, check_outputs, write_both
from synthdp.errors import ParameterError
from synthdp.release.answers import check_number_of_replicates
from synthdp.release.loading import load
from synthdp.release.stating.certificate import fit_cautions
from synthdp.table.columns.binned import BinnedColumn
from synthdp.table.columns.column import Column
from synthdp.table.columns.edges import NumericColumn
from synthdp.table.files.formats import STANDARD_STREAM, is_text
from synthdp.table.files.tables import check_kind, write_frame
from synthdp.table.files.writing import check_writable
from synthdp.table.schema.schema import Schema


def marginal_command(options: argparse.Namespace) -> None:
    """``synthdp marginal``: opens nothing but the saved model."""
    check_kind(options.output, None)
    check_distinct([options.output], inputs=(options.model,))
    check_writable(options.output, force=options.force)
    synthesis = load(options.model)
    found = synthesis.marginal(options.columns, interval=options.interval)
    if taken := set(options.columns) & set(found.columns):
        raise ParameterError(f"column {min(taken)!r} is called as a result is; use Synthesis.marginal from Python")
    text, dialect = is_text(options.output), synthesis.schema.dialect
    levels = [_level_texts(synthesis.schema[name], text=text) for name in options.columns]
    labels = pd.MultiIndex.from_product(map(range, map(len, levels))).to_frame(index=False, name=options.columns)
    for name, texts in zip(options.columns, levels, strict=True):
        labels[name] = np.array(texts, dtype=object)[labels[name]]
    table = pd.concat([labels, found.reset_index(drop=True)], axis=1)
    if text:
        for name in ("count", "low", "high"):
            table[name] = [f"{number:.1f}".replace(".", _decimal_mark(synthesis.schema)) for number in table[name]]
    write_frame(table, options.output, force=options.force, dialect=dialect)


def _decimal_mark(schema: Schema) -> str:
    """The mark of all columns of numbers, which know what a dialect said; a point if they differ or there are none."""
    marks = {column.notation.decimal_char for column in schema.columns if isinstance(column, NumericColumn)}
    return marks.pop() if len(marks) == 1 else "."


def _level_texts(column: Column, *, text: bool) -> list[str | None]:
    """What each code of a column stands for, as the schema writes values; bins by their first and last value.

    "Missing" is the text for it in files of texts, and nothing in others.
    """
    codes = np.arange(column.size)
    levels: list[str | None] = column.decode_text(codes, np.random.default_rng(0)).tolist()
    if isinstance(column, BinnedColumn):
        starts, known = column.drawn_starts, np.zeros(column.n_levels, dtype=np.bool_)
        firsts, lasts = column.texts_at(starts[:-1], known), column.texts_at(starts[1:] - 1, known)
        ends = zip(firsts, lasts, strict=True)
        levels[: column.n_levels] = [low if low == high else f"{low} .. {high}" for low, high in ends]
    return levels if text or column.required else [*levels[:-1], None]


def replicates_command(options: argparse.Namespace) -> None:
    """``synthdp replicates``: all tables can be written, or none is made."""
    check_number_of_replicates(options.number, "--number")
    if options.output == STANDARD_STREAM:
        raise ParameterError("--output is '-'; name a file: out.csv becomes out-01.csv, out-02.csv, ...")
    outputs = [_numbered(options.output, i + 1, options.number) for i in range(options.number)]
    for output in outputs:
        check_outputs(_to(options, output), inputs=(options.model,), saved={})
    dialect = given_dialect(options)
    synthesis = load(options.model)
    synthesis = synthesis if dialect is None else synthesis.in_dialect(dialect)
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        replicates = synthesis.replicates(options.number, n_rows=options.rows, seed=options.seed, report=status)
        for i, output in enumerate(outputs):
            frame = replicates.table(i, text=is_text(output))
            status("writing", i, len(outputs))
            write_both(frame, synthesis.certificate, _to(options, output), synthesis.schema.dialect)
    for output in outputs:
        announce(synthesis, _to(options, output))
    caution(fit_cautions(synthesis.fitted), options)


def _to(options: argparse.Namespace, output: str) -> argparse.Namespace:
    return argparse.Namespace(**(vars(options) | {"output": output}))


def _numbered(output: str, number: int, most: int) -> str:
    """The name of a table: its number stands before the first ending of the file.

    >>> _numbered("here/out.csv.gz", 3, 20)
    'here/out-03.csv.gz'
    """
    path = PurePath(output)
    stem, dot, endings = path.name.partition(".")
    return str(path.with_name(f"{stem}-{number:0{len(str(most))}}{dot}{endings}"))
