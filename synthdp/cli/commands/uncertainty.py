"""``synthdp marginal`` and ``replicates``: counts with intervals, and tables that differ as the
noise allows.
"""

import sys
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import final

import pandas as pd

from synthdp.cli.arguments.options import OutputOptions
from synthdp.cli.commands.models import release_of_one_table
from synthdp.cli.shared.announcing import announce, caution
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import check_distinct, check_outputs, write_both
from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import STANDARD_STREAM, check_writable
from synthdp.data.files.formats import is_text
from synthdp.data.tables import check_kind, write_frame
from synthdp.release.certificate.fit_facts import fit_cautions
from synthdp.release.replicating import check_number_of_replicates
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema


@final
@dataclass(frozen=True, kw_only=True)
class ReplicatesOptions(OutputOptions):
    """``synthdp replicates``."""

    model: str
    number: int


@final
@dataclass(frozen=True, kw_only=True)
class MarginalOptions:
    """``synthdp marginal``."""

    model: str
    columns: tuple[str, ...]
    interval: float
    weighted: bool
    output: str
    force: bool


def marginal_command(options: MarginalOptions) -> None:
    """``synthdp marginal``: opens nothing but the saved model."""
    check_kind(options.output, None)
    check_distinct([options.output], inputs=(options.model,))
    # Before the model is loaded and fitted.
    check_writable(options.output, force=options.force)
    synthesis = release_of_one_table(options.model)
    counts = synthesis.marginal(
        options.columns, interval=options.interval, weighted=options.weighted
    )
    # One of two columns of the same name would be lost in the file.
    if taken := set(options.columns) & set(counts.columns):
        raise ParameterError(
            f"column {min(taken)!r} is called as a result is; use Synthesis.marginal from Python"
        )
    text = is_text(options.output)
    dialect = synthesis.schema.dialect
    levels = [_level_texts(synthesis.schema[name], text=text) for name in options.columns]
    labels = pd.MultiIndex.from_product(map(range, map(len, levels))).to_frame(
        index=False, name=list(options.columns)
    )
    for name, texts in zip(options.columns, levels, strict=True):
        labels[name] = pd.Series(texts, dtype=object).take(labels[name]).array
    table = pd.concat([labels, counts.reset_index(drop=True)], axis=1)
    if text:
        for name in ("count", "low", "high"):
            table[name] = [
                f"{number:.1f}".replace(".", _decimal_mark(synthesis.schema))
                for number in table[name]
            ]
    write_frame(table, options.output, force=options.force, dialect=dialect)


def replicates_command(options: ReplicatesOptions) -> None:
    """``synthdp replicates``: all tables can be written, or none is made."""
    check_number_of_replicates(options.number, "--number")
    if options.output == STANDARD_STREAM:
        raise ParameterError(
            "--output is '-'; name a file: out.csv becomes out-01.csv, out-02.csv, ..."
        )
    outputs = [_numbered(options.output, i + 1, options.number) for i in range(options.number)]
    for output in outputs:
        check_outputs(_to(options, output), inputs=(options.model,), saved={})
    dialect = given_dialect(options)
    synthesis = release_of_one_table(options.model)
    synthesis = synthesis if dialect is None else synthesis.in_dialect(dialect)
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        replicates = synthesis.replicates(
            options.number, n_rows=options.rows, seed=options.seed, report=status
        )
        for i, output in enumerate(outputs):
            frame = replicates.table(i, text=is_text(output))
            status("writing", i, len(outputs))
            write_both(frame, synthesis.certificate, _to(options, output), synthesis.schema.dialect)
    for output in outputs:
        announce(synthesis.certificate, _to(options, output))
    caution(fit_cautions(synthesis.existing_model), is_said=options.is_all_said)


def _to(options: ReplicatesOptions, output: str) -> ReplicatesOptions:
    return replace(options, output=output)


def _numbered(output: str, number: int, most: int) -> str:
    """The name of a table: its number stands before the first ending of the file.

    >>> _numbered("here/out.csv.gz", 3, 20)
    'here/out-03.csv.gz'
    """
    path = PurePath(output)
    stem, dot, endings = path.name.partition(".")
    return str(path.with_name(f"{stem}-{number:0{len(str(most))}}{dot}{endings}"))


def _decimal_mark(schema: Schema) -> str:
    """The mark of all columns of numbers, which know what a dialect said; a point if they differ or
    there are none.
    """
    marks = {mark for column in schema.columns if (mark := column.decimal_char) is not None}
    return marks.pop() if len(marks) == 1 else "."


def _level_texts(column: Column, *, text: bool) -> list[str | None]:
    """What each code of a column stands for, as the schema writes values; bins by their first and
    last value.

    "Missing" is the text for it in files of texts, and nothing in others.
    """
    levels = column.code_texts
    return levels if text or column.required else [*levels[:-1], None]
