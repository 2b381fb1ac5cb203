"""Non-interference: what two runs that differ in nothing but their records show of them, and
whether that is the same.

A run that is replayed from a journal asks the records for nothing. So whatever differs between two
replays on other records, but for the time of day, was told by the records for free.
"""

import json
import logging
import random
import re
import shutil
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import combinations, product
from pathlib import Path

from helpers.cli_runs import invoke

_MOMENT = r"{}[T ]?(\d\d:?\d\d(:?\d\d(\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?"


@dataclass(frozen=True)
class Seen:
    """All that somebody sees of a run: its end, what it says, what it gives, and what it leaves in
    its folder.
    """

    end: str
    said: tuple[str, ...]
    given: Mapping[str, bytes] = field(default_factory=dict)

    def parts(self) -> dict[str, bytes]:
        said = {f"line {number}": line.encode() for number, line in enumerate(self.said)}
        return {"end": self.end.encode()} | said | dict(self.given)


def differences(runs: Mapping[str, Seen]) -> list[str]:
    """What is not the same in all runs, in words; times of today aside."""
    (first, expected), *others = ((name, _timeless(run.parts())) for name, run in runs.items())
    found = []
    for name, parts in others:
        for part in sorted(expected.keys() | parts.keys()):
            before, now = expected.get(part), parts.get(part)
            if before != now:
                found.append(f"{part}: {_shown(before)} with {first}, {_shown(now)} with {name}")
    return found


def _shown(content: bytes | None) -> str:
    return "nothing" if content is None else repr(content[:300])


def _timeless(parts: Mapping[str, bytes]) -> dict[str, bytes]:
    now = datetime.now(UTC)
    days = {f"{now + timedelta(days=shift):%Y-%m-%d}" for shift in (-1, 0, 1)}
    pattern = re.compile(_MOMENT.format(f"({'|'.join(sorted(days))})").encode())
    return {name: pattern.sub(b"TODAY", content) for name, content in parts.items()}


def of_command_line(folder: Path, *commands: Sequence[object]) -> Seen:
    """What some commands show, one after the other, in a folder; they leave everything in it."""
    outcomes = [invoke(*command) for command in commands]
    said = [line for outcome in outcomes for line in outcome.err.splitlines()]
    out = {f"stdout {number}": outcome.out for number, outcome in enumerate(outcomes)}
    return Seen(str([outcome.code for outcome in outcomes]), tuple(said), out | files_in(folder))


def of_call(release: Callable[[], object], folder: Path) -> Seen:
    """What a call of Python shows: its result or error with all that hangs on it, warnings, its
    log, its files.
    """
    given: dict[str, bytes] = {}
    with _logged() as lines, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            end, given = "released", _of_synthesis(release(), folder)
        except BaseException as error:
            end = "".join(traceback.format_exception_only(error))
            end += repr(
                [error.args, error.__cause__, error.__context__, getattr(error, "__notes__", [])]
            )
    said = [*lines, *(f"{each.category.__name__}: {each.message}" for each in warned)]
    return Seen(end, tuple(said), given | files_in(folder))


@contextmanager
def _logged() -> Iterator[list[str]]:
    lines: list[str] = []
    handler, logger = logging.Handler(), logging.getLogger("synthdp")
    handler.emit = lambda record: lines.append(f"{record.levelname} {record.getMessage()}")  # type: ignore[method-assign]
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _of_synthesis(synthesis, folder: Path) -> dict[str, bytes]:
    sample = synthesis.sample(50, seed=3)
    in_arrow = sample.to_arrow() if hasattr(sample, "to_arrow") else sample
    table = (
        sample.to_csv()
        if hasattr(sample, "to_csv")
        else repr((in_arrow.schema, in_arrow.to_pydict()))
    )
    synthesis.save(folder / "saved.synthdp")
    certificate = json.dumps(synthesis.certificate, default=str)
    return {
        "certificate": certificate.encode(),
        "table": table.encode(),
        "text": repr(synthesis).encode(),
    }


def files_in(folder: Path) -> dict[str, bytes]:
    """All files in a folder, of archives what is in them; but for inputs, whose names begin with
    ``in``.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir() or name.startswith("in"):
            continue
        content = path.read_bytes()
        if zipfile.is_zipfile(BytesIO(content)):
            with zipfile.ZipFile(BytesIO(content)) as archive:
                found |= {
                    f"{name}: {member}": archive.read(member) for member in archive.namelist()
                }
        else:
            found[name] = content
    return found


def replayed(
    folder: Path, journal: str, run: Callable[[Path, object], Seen], tables: Mapping[str, object]
) -> dict[str, Seen]:
    """A run on the first table, whose journal then is replayed on all others, each in a folder of
    its own.
    """
    first, *others = tables
    (folder / "first").mkdir()
    made = run(folder / "first", tables[first])
    assert (folder / "first" / journal).exists(), made.parts()
    found = {}
    for name in (first, *others):
        place = folder / "replayed"  # the same for all, for its name may be said
        place.mkdir()
        shutil.copy(folder / "first" / journal, place / journal)
        found[name] = run(place, tables[name])
        shutil.rmtree(place)
    return found


def covering(
    choices: Mapping[str, Sequence[str]], strength: int, fits: Callable[[Mapping[str, str]], bool]
) -> list[dict[str, str]]:
    """Few combinations in which each ``strength`` choices that fit together are somewhere together;
    always the same.
    """
    names = list(choices)
    every = [dict(zip(names, values, strict=True)) for values in product(*choices.values())]
    every = [each for each in every if fits(each)]
    random.Random(7).shuffle(every)
    groups = [tuple(group) for group in combinations(names, strength)]
    left = {(group, tuple(each[name] for name in group)) for each in every for group in groups}
    found = []
    while left:
        best = max(
            every, key=lambda each: sum((g, tuple(each[n] for n in g)) in left for g in groups)
        )
        found.append(best)
        left -= {(group, tuple(best[name] for name in group)) for group in groups}
    return found
