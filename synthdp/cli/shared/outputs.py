"""Outputs of the command line: the table with its certificate, both or none, and never over an
input.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import pandas as pd

from synthdp.cli.arguments.options import OutputOptions, SourceOptions
from synthdp.cli.shared.beside import CERTIFICATE_ENDING, saved_files, with_certificate
from synthdp.cli.shared.signals import undisturbed_end
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import json_text
from synthdp.core.files.writing import STANDARD_STREAM, check_writable, write_atomically
from synthdp.core.reporting import Report, logged
from synthdp.core.requests import check_rows as check_rows_of
from synthdp.core.requests import most_rows
from synthdp.data.files.file_names import files_at, is_part
from synthdp.data.files.formats import Format, file_kind, is_text
from synthdp.data.tables import check_kind, write_frame, write_pieces, write_rows
from synthdp.release.certificate.fit_facts import UNKNOWN_ROWS
from synthdp.release.drawing.batches import check_batches, drawn_blocks, numbered_within
from synthdp.release.drawing.draw import drawn_table, unseen
from synthdp.release.rows_check import RowsCheck, distance_of, tally_of, with_rows
from synthdp.release.synthesis import Synthesis
from synthdp.schema.dialect import Dialect

MAX_ROWS_AT_ONCE = 1_000_000
"""Longer tables are drawn in blocks and written as they are drawn, but where that is not possible.
"""

if TYPE_CHECKING:
    from synthdp.core.totals_check import TotalsCheck

ROWS_UNLESS_KNOWN = 100
"""Rows, or persons, that a run draws if nobody says how many, and noise hides how many there
are.
"""


def write_both(
    frame: pd.DataFrame,
    certificate: dict[str, object],
    options: OutputOptions,
    dialect: Dialect,
) -> None:
    """Table and certificate, both or none: both are on the disk before the first gets its name."""
    _with_certificate(
        lambda table: write_rows(frame, table, file_kind(options.output), dialect),
        lambda: certificate,
        options,
    )


def _with_certificate(
    write: Callable[[BinaryIO], None],
    stated: Callable[[], dict[str, object]],
    options: OutputOptions,
) -> None:
    """A table, and what its certificate states once it is written."""
    # Both files are complete on the disk before either gets its name, and Ctrl-C waits for the few
    # instructions in between: no table without its certificate.
    with undisturbed_end() as end, write_atomically(options.output, force=options.force) as table:
        write(table)
        _flush(table)
        with write_atomically(
            options.output + CERTIFICATE_ENDING, force=options.force
        ) as statement:
            statement.write(json_text(stated()).encode())
            _flush(statement)
            end()
            check_writable(options.output, force=options.force)


def _flush(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def check_distinct(outputs: Iterable[str], *, inputs: tuple[str, ...]) -> None:
    """Refuse to replace what is read, or one output by another, with or without ``--force``."""
    taken = {_place(part) for path in inputs if path != STANDARD_STREAM for part in files_at(path)}
    for output in outputs:
        if output != STANDARD_STREAM and (
            path := next((path for path in inputs if is_part(path, output)), None)
        ):
            raise ParameterError(
                f"{output!r} would be read as part of {path!r} the next time; write to another folder"
            )
        if output != STANDARD_STREAM and _place(output) in taken:
            raise ParameterError(
                f"{output!r} is named twice; give every input and output a name of its own"
            )
        taken.add(_place(output))


def _place(path: str) -> str:
    try:
        # Unlike `Path.resolve` it does not fail on links that go in a circle.
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path  # opening it explains what is wrong


def check_outputs(
    options: OutputOptions,
    *,
    inputs: tuple[str, ...],
    saved: Mapping[str, str | None],
    kept: Iterable[str] = (),
) -> None:
    """Refuse what cannot be written, before anything is read or paid for; ``saved`` by the options'
    names.

    ``kept`` are files that are added to, so that they may be there.
    """
    check_rows(options.rows, least=0, most=most_rows([2]))
    if options.seed is not None and options.seed < 0:
        raise ParameterError(f"--seed is {options.seed}; give 0 or more")
    check_kind(options.output, options.rows)
    outputs = (
        [options.output] if options.output == STANDARD_STREAM else with_certificate(options.output)
    )
    outputs += saved_files(saved)
    check_distinct([*outputs, *kept], inputs=inputs)
    for output in outputs:
        check_writable(output, force=options.force)


def check_rows(rows: int | None, *, least: int, most: int) -> None:
    """Refuse a number of rows that cannot be meant."""
    if rows is not None and not least <= rows <= most:
        raise ParameterError(f"--rows is {rows}; give {least} or more, and at most {most}")


def write_sample(
    synthesis: Synthesis,
    options: OutputOptions,
    status: Report,
    *,
    where: Any = None,
    given: pd.DataFrame | None = None,
    offset: int | None = None,
    weighted: bool | Literal["calibrated"] = False,
    totals: Sequence[str] | None = None,
    unless_known: int | None = None,
) -> RowsCheck:
    """The synthetic table with its certificate beside it, or on stderr if the table goes to stdout;
    returns how far its rows are from the model, which the certificate says as well, but of slices
    and of records that were given.

    ``unless_known`` is how many rows are drawn where noise hides how many there are, which is a
    caution of the release: a run has been paid for, and ends well. Without it they are asked for.
    """
    report = logged(status)
    report("sampling", 0, 2)
    if options.rows is None and given is None and not synthesis.knows_size:
        options = replace(options, rows=rows_or_refuse(unless_known, "rows"))
    try:
        if weighted and offset is not None:
            raise ParameterError(
                "--offset: weighted rows are drawn at once; leave out one of the two"
            )
        if not weighted and _is_long(synthesis, options, where=where, given=given, offset=offset):
            return _write_blocks(synthesis, options, report, where=where, offset=offset or 0)
        if where is None and given is None and not weighted:
            frame, check = _whole_table(synthesis, options)
        else:
            checks: list[TotalsCheck] = []
            frame = synthesis.checked_by(checks.append).sample(
                options.rows,
                seed=options.seed,
                text=is_text(options.output),
                where=where,
                given=given,
                weighted=weighted,
                totals=totals,
                n_jobs=options.jobs,
            )
            check = RowsCheck(totals=next(iter(checks), None))
    # The schema itself was checked when the release was made.
    except SchemaError as error:  # only conditions and given records can be at fault
        raise ParameterError(str(error)) from None
    report("writing", 1, 2)
    certificate = with_rows(synthesis.certificate, check)
    write_whole(frame, certificate, options, synthesis.schema.dialect)
    return check


def _whole_table(synthesis: Synthesis, options: OutputOptions) -> tuple[pd.DataFrame, RowsCheck]:
    """A table that is drawn at once, and how far its rows are from the model."""
    if options.rows is not None:
        check_rows_of(synthesis.schema.domain, options.rows)
    tally = tally_of(synthesis)
    totals: list[TotalsCheck] = []
    frame = drawn_table(
        synthesis.model,
        synthesis.schema,
        options.rows,
        seed=options.seed,
        text=is_text(options.output),
        unused=synthesis.unused,
        seen=tally.add,
        codes=synthesis.drawn_before(options.rows, options.seed),
        checked=totals.append,
        n_jobs=options.jobs,
    )
    distance = distance_of(synthesis, tally)
    return frame, RowsCheck(distance=distance, totals=next(iter(totals), None))


def rows_or_refuse(rows: int | None, what: str) -> int:
    """How many to draw where noise hides how many there are."""
    if rows is None:
        raise ParameterError(f"{UNKNOWN_ROWS}; say how many {what} you want with --rows")
    return rows


def write_whole(
    frame: pd.DataFrame,
    certificate: dict[str, object],
    options: OutputOptions,
    dialect: Dialect,
) -> None:
    """A table and its certificate: beside it, or on stderr if the table goes to stdout."""
    if options.output == STANDARD_STREAM:
        write_frame(frame, STANDARD_STREAM, force=options.force, dialect=dialect)
        sys.stderr.write(json.dumps(certificate) + "\n")
    else:
        write_both(frame, certificate, options, dialect)


def _is_long(
    synthesis: Synthesis, options: OutputOptions, *, where: Any, given: Any, offset: int | None
) -> bool:
    """Whether a table is drawn and written block by block."""
    if offset is not None:
        return True
    n_rows = (
        round(synthesis.model.total) if options.rows is None and where is None else options.rows
    )
    is_excel = file_kind(options.output).format is Format.EXCEL
    # Blocks are rounded each by itself: together they would miss published totals.
    has_totals = bool(synthesis.model.known) and where is None
    can = given is None and not is_excel and not numbered_within(synthesis.schema)
    can = can and not has_totals
    return can and n_rows is not None and n_rows > MAX_ROWS_AT_ONCE


def _write_blocks(
    synthesis: Synthesis, options: OutputOptions, report: Report, *, where: Any, offset: int
) -> RowsCheck:
    """A long table, or a part of it, in little memory; returns what `write_sample` does."""
    schema = synthesis.schema
    n_rows = round(synthesis.model.total) if options.rows is None else options.rows
    # A slip of the finger is refused at once, as of a table that is drawn whole.
    check_rows_of(schema.domain, n_rows)
    check_batches(schema, n_rows, offset=offset, seed=options.seed)
    text = is_text(options.output)
    kind = file_kind(options.output)
    tally = tally_of(synthesis)
    totals: list[TotalsCheck] = []
    blocks = drawn_blocks(
        synthesis.model,
        schema,
        n_rows,
        offset=offset,
        seed=options.seed,
        text=text,
        where=where,
        unused=synthesis.unused,
        seen=tally.add if where is None else unseen,
        checked=totals.append,
        n_jobs=options.jobs,
    )

    def counted() -> Iterator[pd.DataFrame]:
        done = 0
        for block in blocks:
            report("drawing rows", done, n_rows)
            yield block
            done += len(block)

    def write(stream: BinaryIO) -> None:
        write_pieces(counted(), synthesis.sample(0, text=text), stream, kind, schema.dialect)

    def check() -> RowsCheck:
        return RowsCheck(distance=distance_of(synthesis, tally), totals=next(iter(totals), None))

    def stated() -> dict[str, object]:
        return with_rows(synthesis.certificate, check())

    if options.output == STANDARD_STREAM:
        with write_atomically(STANDARD_STREAM, force=options.force) as stream:
            write(stream)
        sys.stderr.write(json.dumps(stated()) + "\n")
    else:
        _with_certificate(write, stated, options)
    return check()


def input_files(options: SourceOptions) -> tuple[str, ...]:
    """The file that holds the table, if one does; refuses two tables, none, and half of an address."""
    if (options.source is None) == (options.input is None):
        if options.input is None:
            problem = "no table is given"
        else:
            problem = f"{options.input!r} and --source are both given"
        raise ParameterError(f"{problem}; give a file, or a database with --source and --table")
    if (options.source is None) != (options.table is None):
        raise ParameterError(
            "--source and --table go together; name the database with the one, its table with the other"
        )
    return () if options.input is None else (options.input,)
