"""What the commands of the command line do; see `synthdp.cli` for their arguments."""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread

from synthdp.archive import load
from synthdp.errors import ParameterError, SynthdpError
from synthdp.progress import Progress
from synthdp.show import describe
from synthdp.synthesis import Release, Synthesis
from synthdp.table.files import encode_rows, open_table
from synthdp.table.formats import STANDARD_STREAM, file_format, import_pyarrow, is_text
from synthdp.table.schema import Schema
from synthdp.table.writing import check_writable, write_atomically, write_frame

CERTIFICATE_ENDING = ".privacy.json"
RESCUE_ENDING = ".rescued.synthdp"


def run_command(options: argparse.Namespace) -> None:
    """``synthdp run``: everything public is checked before the records are read or paid for."""
    _check_outputs(options, inputs=(options.input, options.schema), save=options.save)
    schema = Schema.load(options.schema)
    with Progress(sys.stderr) as progress, open_table(options.input) as table:
        schema = schema.reordered(table.names)
        release = Release(
            schema=schema,
            epsilon=options.epsilon,
            delta=options.delta,
            mechanism=options.mechanism,
            engine=options.engine,
            adjacency=options.adjacency,
        )
        coded = encode_rows(table, schema, progress=lambda share: progress("reading", round(100 * share), 100))
        with _rescuing(options) as kept:
            kept.append(release.of(coded, report=progress, rescue=kept.append))
            del coded
            if options.save:
                kept[-1].save(options.save, force=options.force)
            _write_sample(kept[-1], options, progress)
    _announce(kept[-1], options)


def sample_command(options: argparse.Namespace) -> None:
    """``synthdp sample``: opens nothing but the saved model."""
    _check_outputs(options, inputs=(options.model,), save=None)
    synthesis = load(options.model)
    with Progress(sys.stderr) as progress:
        _write_sample(synthesis, options, progress)
    _announce(synthesis, options)


def show_command(options: argparse.Namespace) -> None:
    """``synthdp show``: a schema, a saved model or a certificate, for people or as JSON."""
    content, text = describe(options.file)
    sys.stdout.write((json.dumps(content, indent=2, ensure_ascii=False) if options.json else text) + "\n")


def draft_command(options: argparse.Namespace) -> None:
    """``synthdp schema draft``: names, and for Parquet types, of a table; never a value."""
    with open_table(options.input) as table:
        draft = table.draft()
    with write_atomically(options.output, force=options.force) as stream:
        stream.write((json.dumps(draft, indent=2, ensure_ascii=False) + "\n").encode())
    sys.stderr.write(f"synthdp: {draft['synthdp']['note']}\n")


def _write_sample(synthesis: Synthesis, options: argparse.Namespace, progress: Progress) -> None:
    """The synthetic table with its certificate beside it: both or none."""
    progress("sampling", 0, 2)
    frame = synthesis.sample(options.rows, seed=options.seed, text=is_text(options.output))
    progress("writing", 1, 2)
    certificate = json.dumps(synthesis.certificate, indent=2, ensure_ascii=False) + "\n"
    if options.output == STANDARD_STREAM:
        write_frame(frame, STANDARD_STREAM, force=options.force)
        sys.stderr.write(json.dumps(synthesis.certificate) + "\n")
        return
    with write_atomically(options.output + CERTIFICATE_ENDING, force=options.force) as stream:
        stream.write(certificate.encode())
        write_frame(frame, options.output, force=options.force)


def _check_outputs(options: argparse.Namespace, *, inputs: tuple[str, ...], save: str | None) -> None:
    """Refuse what cannot be written, before anything is read or paid for."""
    if options.rows is not None and options.rows < 0:
        raise ParameterError(f"--rows is {options.rows}; give 0 or more")
    if options.seed is not None and options.seed < 0:
        raise ParameterError(f"--seed is {options.seed}; give 0 or more")
    file_format(options.output)
    if not is_text(options.output):
        import_pyarrow()
    outputs = [options.output] if options.output == STANDARD_STREAM else _with_certificate(options.output)
    outputs += [save] if save else []
    taken = {Path(path).resolve() for path in inputs if path != STANDARD_STREAM}
    for output in outputs:
        if output != STANDARD_STREAM and Path(output).resolve() in taken:
            raise ParameterError(f"{output!r} is named twice; give every input and output a name of its own")
        taken.add(Path(output).resolve())
        check_writable(output, force=options.force)


def _with_certificate(output: str) -> list[str]:
    return [output, output + CERTIFICATE_ENDING]


@contextmanager
def _rescuing(options: argparse.Namespace) -> Iterator[list[Synthesis]]:
    """If anything fails, keep the last release that was put into the list: it is paid for."""
    kept: list[Synthesis] = []
    try:
        yield kept
    except BaseException as error:
        if kept:
            with _undisturbed():
                error.add_note(_rescue(kept[-1], options.output))
        raise


def _rescue(synthesis: Synthesis, output: str) -> str:
    """Save a release beside the output or, if there is no room, where temporary files go."""
    name = f"{'synthdp' if output == STANDARD_STREAM else output}{RESCUE_ENDING}"
    for folder in (None, tempfile.gettempdir()):
        path = name if folder is None else str(Path(folder) / Path(name).name)
        with suppress(SynthdpError):
            synthesis.save(path, force=True)
            return f"what was paid for is kept: synthdp sample {path} -o OUT"
    return "what was paid for could not be kept anywhere"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a second Ctrl-C wait."""
    if current_thread() is not main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _announce(synthesis: Synthesis, options: argparse.Namespace) -> None:
    """Say what was written: as JSON if asked for, to a person on a terminal, else nothing."""
    certificate = synthesis.certificate
    files = [] if options.output == STANDARD_STREAM else _with_certificate(options.output)
    if options.json:
        result = {
            "output": options.output,
            "certificate": files[1] if files else None,
            "guarantee": certificate["guarantee"],
            "is_private": certificate["is_private"],
            "epsilon": certificate["epsilon"],
            "delta": certificate["delta"],
            "accounting": certificate["accounting"],
        }
        stream = sys.stdout if files else sys.stderr
        stream.write(json.dumps(result) + "\n")
    elif files and sys.stderr.isatty():
        sys.stderr.write(f"{files[0]}: {certificate['guarantee']}; details in {files[1]}\n")
