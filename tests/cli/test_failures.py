"""Runs that end early: Ctrl-C in every phase, full disks, unforeseen errors; and what becomes of
what was paid for.
"""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import pytest
from helpers import cli_runs
from helpers.cli_runs import (
    CANARY,
    HEADER,
    assert_one_line,
    invoke,
    lay_out,
    names_in,
    rescued_path,
)
from helpers.failing_runs import failing, full
from helpers.homes import home
from helpers.paths import DATA
from helpers.seldom import often

import synthdp
from synthdp.cli import ROWS_UNLESS_KNOWN, STOPPED
from synthdp.cli import main as cli
from synthdp.cli.shared import outputs, rescue
from synthdp.core import with_caution_code, write_atomically
from synthdp.data import rows_of
from synthdp.mechanisms import mst
from synthdp.privacy import PrivateTable
from synthdp.release import UNKNOWN_ROWS, Members, Release
from synthdp.release.certificate import run_facts
from synthdp.release.drawing import draw

writing = home(write_atomically)

CENSUS = DATA
INPUTS = ["in.csv", "schema.json"]


def run_arguments(*more, **named):
    """Arguments of ``synthdp run`` with a mechanism whose steps, and when they come, are known."""
    return cli_runs.run_arguments("--mechanism", "mst", *more, **named)


@pytest.fixture
def place(work):
    lay_out(work)
    return work


def assert_rescued(place, outcome, charged, *, folder=None):
    """What was paid for is in one file, which can be shown and sampled and says what was spent."""
    path = Path(rescued_path(outcome))
    assert path == Path(folder or "", "synthdp" if folder else "out.csv").with_name(path.name)
    certificate = synthdp.load(path).certificate
    assert certificate["accounting"]["rho_spent"] == float(sum(charged))
    assert len(certificate["events"]) == len(charged)
    assert certificate["is_private"] is True
    assert invoke("show", path).code == 0
    assert invoke("sample", path, "-o", "rescued.csv", "--rows", "7", "--seed", "1").code == 0
    assert len((place / "rescued.csv").read_text().splitlines()) == 8
    return certificate


BEFORE_PAYING = {
    "parsing arguments": ("synthdp.cli.main.command_line_parser", 0),
    "loading code": ("synthdp.cli.main.import_module", 0),
    "checking outputs": ("synthdp.cli.shared.outputs.check_writable", 1),
    "reading the schema": ("synthdp.cli.commands.run.load_json", 0),
    "opening the table": ("synthdp.cli.commands.run.open_table", 0),
    "converting the budget": ("synthdp.privacy.accounting.zcdp_rho", 0),
    "reading": ("synthdp.data.files.csv_file.checked_block", 0),
    "encoding": ("synthdp.data.records.held_table.encode", 0),
    "before the first measurement": ("synthdp.privacy.private_table.PrivateTable.measure", 0),
    "paying": ("synthdp.privacy.ledger.PrivacyLedger.charge", 0),
}


@pytest.mark.parametrize(("target", "after"), BEFORE_PAYING.values(), ids=BEFORE_PAYING)
def test_ctrl_c_before_anything_is_paid_leaves_nothing(target, after, place, monkeypatch):
    owner, _, name = target.rpartition(".")
    owner = monkeypatch_owner(owner)
    monkeypatch.setattr(
        owner, name, failing(getattr(owner, name), KeyboardInterrupt(CANARY), after=after)
    )
    outcome = invoke(*run_arguments("--save", "m.synthdp"))
    assert_one_line(outcome, 130)
    assert outcome.err == "synthdp: interrupted\n"
    assert names_in(place) == INPUTS


UNANSWERED = {
    "counting for the first time": ("mst", 0),
    "looking at the first column": ("independent", 0),
    "looking at the second column": ("independent", 1),
}


@pytest.mark.parametrize(("mechanism", "after"), UNANSWERED.values(), ids=UNANSWERED)
def test_ctrl_c_before_anything_is_measured_says_that_what_was_paid_is_lost(
    mechanism, after, place, charged, monkeypatch
):
    """A question costs what it costs before it is counted, so its answer may be lost, but never in
    silence; and no file pretends to hold one.
    """
    monkeypatch.setattr(
        PrivateTable, "_counts", failing(PrivateTable._counts, KeyboardInterrupt(), after=after)
    )
    outcome = invoke(*cli_runs.run_arguments("--mechanism", mechanism, "--save", "m.synthdp"))
    assert_one_line(outcome, 130)
    assert outcome.err == (
        "synthdp: interrupted; what was paid for is no part of a release: the next run pays anew; "
        "one with --journal would go on\n"
    )
    assert len(charged) == after + 1
    assert names_in(place) == INPUTS


def monkeypatch_owner(path):
    """The module or class of that dotted name."""
    module, _, attribute = path.rpartition(".")
    return (
        getattr(sys.modules[module], attribute)
        if module in sys.modules and path not in sys.modules
        else sys.modules[path]
    )


AFTER_PAYING = {
    "after 1 measurement": ((PrivateTable, "measure"), {"after": 1}),
    "after 3 measurements": ((PrivateTable, "measure"), {"after": 3}),
    "between paying and counting": ((PrivateTable, "_counts"), {"after": 2}),
    "selecting": ((PrivateTable, "select"), {"after": 0}),
    "selecting again": ((PrivateTable, "select"), {"after": 1}),
    "measuring pairs": ((PrivateTable, "measure"), {"after": 4}),
    "fitting": ((mst, "estimate_refined"), {}),
    "certifying": ((run_facts, "privacy_certificate"), {}),
    "saving": (
        (home(Members), "write_atomically"),
        {"on": lambda path, *_: str(path) == "m.synthdp"},
    ),
    "sampling": ((outputs, "drawn_table"), {}),
    "decoding": ((draw, "decode"), {}),
    "opening the output": ((outputs, "write_atomically"), {}),
    "writing": ((outputs, "write_rows"), {}),
    "writing the last row": ((outputs, "_flush"), {}),
    "opening the certificate": ((outputs, "write_atomically"), {"after": 1}),
    "writing the certificate": ((outputs, "_flush"), {"after": 1}),
}


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
@pytest.mark.parametrize(("target", "when"), AFTER_PAYING.values(), ids=AFTER_PAYING)
def test_ctrl_c_after_something_was_paid_keeps_it(
    target, when, output, place, charged, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(*target, failing(getattr(*target), KeyboardInterrupt(), **when))
        options = ("--save", "m.synthdp") if when.get("on") else ()
        outcome = invoke(*run_arguments(*options, output=output))
    assert_one_line(outcome, 130)
    assert outcome.err.startswith(
        "synthdp: interrupted; what was paid for is kept: synthdp sample "
    )
    kept = f"{output}.rescued.synthdp"
    assert names_in(place) == sorted([*INPUTS, kept])
    Path(kept).rename("out.csv.rescued.synthdp")
    outcome = type(outcome)(
        outcome.code, outcome.out, outcome.err.replace(kept, "out.csv.rescued.synthdp")
    )
    assert_rescued(place, outcome, charged)


def test_what_is_saved_already_is_not_saved_twice(place, charged, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "write_rows", failing(None, KeyboardInterrupt()))
        outcome = invoke(*run_arguments("--save", "my model's.synthdp"))
    assert_one_line(outcome, 130)
    assert names_in(place) == sorted([*INPUTS, "my model's.synthdp"])
    assert "synthdp sample 'my model'\"'\"'s.synthdp' -o OUT" in outcome.err
    spent = synthdp.load("my model's.synthdp").certificate["accounting"]["rho_spent"]
    assert spent == pytest.approx(float(sum(charged)), rel=1e-15)


def test_an_earlier_rescue_is_not_overwritten(place, charged, monkeypatch):
    monkeypatch.setattr(
        outputs, "write_rows", failing(None, KeyboardInterrupt(), on=lambda *_: True)
    )
    contents = []
    for number in range(3):
        monkeypatch.setattr(outputs, "write_rows", failing(None, KeyboardInterrupt()))
        charged.clear()
        outcome = invoke(*run_arguments("--force"))
        path = rescued_path(outcome)
        assert path == (
            "out.csv.rescued.synthdp" if not number else f"out.csv-{number + 1}.rescued.synthdp"
        )
        contents.append(Path(path).read_bytes())
    assert len(set(contents)) == 3
    assert Path("out.csv.rescued.synthdp").read_bytes() == contents[0]
    assert len(names_in(place)) == 5


ENDING = {"Ctrl-C": (signal.SIGINT, 130), "SIGTERM": (signal.SIGTERM, 143)}
"""Signals that end a run, and its exit code then."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_last_step_cannot_be_interrupted(number, place, monkeypatch):
    """From the moment that both files are complete signals are ignored: both get their names, or
    none.
    """
    move = writing._move

    def interrupted(*arguments, **options):
        os.kill(os.getpid(), number)
        move(*arguments, **options)
        os.kill(os.getpid(), number)

    handler = signal.getsignal(number)
    monkeypatch.setattr(writing, "_move", interrupted)
    assert invoke(*run_arguments()).code == 0
    assert names_in(place) == sorted([*INPUTS, "out.csv", "out.csv.privacy.json"])
    assert signal.getsignal(number) is handler


@pytest.mark.parametrize(("number", "code"), ENDING.values(), ids=ENDING)
def test_a_rescue_cannot_be_interrupted(number, code, place, charged, monkeypatch):
    """Not even by the signal again, which schedulers send several times."""
    rescued = rescue._rescue

    def interrupted(*arguments):
        os.kill(os.getpid(), number)
        return rescued(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(outputs, "write_rows", lambda *_: os.kill(os.getpid(), number))
        patch.setattr(rescue, "_rescue", interrupted)
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, code)
    assert outcome.err.startswith("synthdp: interrupted; what was paid for is kept")
    assert names_in(place) == sorted([*INPUTS, "out.csv.rescued.synthdp"])
    assert_rescued(place, outcome, charged)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.usefixtures("place")
def test_several_sigterms_are_one(charged, monkeypatch):
    """Between the error and the rescue none of them is ignored yet: a second error would lose what
    was paid for.
    """
    paid_for = Release._paid_for

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGTERM)
        return paid_for(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(
            mst, "estimate_refined", lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)
        )
        patch.setattr(Release, "_paid_for", interrupted)
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 143)
    assert synthdp.load(rescued_path(outcome)).certificate["accounting"]["rho_spent"] == float(
        sum(charged)
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_wait_while_modules_load(number, place, monkeypatch):
    load, seen = cli.import_module, []

    def interrupted(name):
        os.kill(os.getpid(), number)
        seen.append(name)
        return load(name)

    monkeypatch.setattr(cli, "import_module", interrupted)
    assert_one_line(invoke(*run_arguments()), 128 + number)
    assert (seen, names_in(place)) == (["synthdp.cli.commands.run"], INPUTS)


def handlers_within(monkeypatch):
    """The handler of SIGTERM while rows are written, and at the very end, in a list that runs fill."""
    write, move, seen = outputs.write_rows, writing._move, []

    def written(*arguments):
        seen.append(signal.getsignal(signal.SIGTERM))
        write(*arguments)

    def moved(*arguments, **options):
        seen.append(signal.getsignal(signal.SIGTERM))
        move(*arguments, **options)

    monkeypatch.setattr(outputs, "write_rows", written)
    monkeypatch.setattr(writing, "_move", moved)
    return seen


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "handler", [signal.SIG_IGN, lambda *_: None], ids=["ignored", "another handler"]
)
def test_whoever_has_other_plans_for_sigterm_keeps_them(handler, monkeypatch):
    seen = handlers_within(monkeypatch)
    former = signal.signal(signal.SIGTERM, handler)
    try:
        assert invoke(*run_arguments()).code == 0
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, former)
    assert seen == [handler] * 3


@pytest.mark.usefixtures("place")
def test_only_the_main_thread_minds_sigterm(monkeypatch):
    seen, outcomes = handlers_within(monkeypatch), []
    thread = threading.Thread(target=lambda: outcomes.append(invoke(*run_arguments())))
    thread.start()
    thread.join()
    assert (outcomes[0].code, seen) == (0, [signal.SIG_DFL] * 3)


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_old_outputs_stay_if_a_run_fails(force, place, monkeypatch):
    for name in ("out.csv", "out.csv.privacy.json") if force else ():
        (place / name).write_text("old")
    monkeypatch.setattr(outputs, "_flush", failing(outputs._flush, KeyboardInterrupt(), after=1))
    assert invoke(*run_arguments(*force)).code == 130
    assert [
        (place / name).read_text()
        for name in names_in(place)
        if "out" in name and "rescued" not in name
    ] == [
        "old",
        "old",
    ][: 2 * len(force)]


def test_a_file_that_appears_meanwhile_is_not_replaced(place, charged, monkeypatch):
    def intrude(stream):
        flush(stream)
        (place / "out.csv").write_text("somebody else's")

    flush = outputs._flush
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "_flush", intrude)
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert names_in(place) == sorted([*INPUTS, "out.csv", "out.csv.rescued.synthdp"])
    assert (place / "out.csv").read_text() == "somebody else's"
    assert_rescued(place, outcome, charged)


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-3"])
def test_so_little_budget_that_noise_hides_the_number_of_rows(epsilon, place, charged):
    """Else the table would have as many rows as the noise says, which fill any memory."""
    outcome = invoke(*run_arguments("--save", "m.synthdp", epsilon=epsilon))
    assert outcome.code == 0
    assert charged
    assert outcome.notes == [f"synthdp: caution: {with_caution_code(UNKNOWN_ROWS)}"]
    assert len((place / "out.csv").read_text().splitlines()) == 1 + ROWS_UNLESS_KNOWN
    again = invoke("sample", "m.synthdp", "-o", "unasked.csv")
    assert_one_line(again, 2)
    assert "say how many rows you want with --rows" in again.err
    assert not Path("unasked.csv").exists()
    assert invoke("sample", "m.synthdp", "-o", "asked.csv", "--rows", "0").code == 0


@pytest.mark.parametrize("rows", ["", "A,30,01\n"])
def test_a_table_of_hardly_any_rows_ends_well(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, table=HEADER + rows)
    outcome = invoke(*run_arguments(epsilon="0.1"))
    assert (outcome.code, outcome.notes) == (
        0,
        [f"synthdp: caution: {with_caution_code(UNKNOWN_ROWS)}"],
    )


@pytest.mark.usefixtures("place")
def test_a_run_that_is_told_how_many_rows_to_draw_says_that_noise_hides_them():
    outcome = invoke(*run_arguments("--rows", "12", epsilon="1e-6"))
    assert outcome.code == 0
    assert outcome.notes == [f"synthdp: caution: {with_caution_code(UNKNOWN_ROWS)}"]
    assert len(Path("out.csv").read_text().splitlines()) == 13


# ---- signals from outside

_SLOW_RUN = """
import sys, synthdp.cli.main
load = synthdp.cli.main.import_module
def announced(name):
    print("started", flush=True)
    return load(name)
synthdp.cli.main.import_module = announced
synthdp.cli.main.main(sys.argv[1:])
"""


@pytest.mark.skipif(not CENSUS.is_dir(), reason="the sample is not there")
@pytest.mark.parametrize("delay", often(0.15, 0.8, seldom=(0.0, 0.4, 0.6, 1.3)))
@pytest.mark.parametrize(("number", "code"), ENDING.values(), ids=ENDING)
def test_a_signal_ends_a_real_run_in_one_line(number, code, delay, tmp_path):
    arguments = run_arguments(
        "--rows", "3000000", source=CENSUS / "census.csv", schema=CENSUS / "census.schema.json"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _SLOW_RUN, *map(str, arguments)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"started\n"
        time.sleep(delay)
        process.send_signal(number)
        err = process.stderr.read().decode()
    assert process.returncode == code
    assert re.fullmatch(
        r"synthdp: interrupted(; what was paid for is kept: synthdp sample \S+ -o OUT)?\n", err
    )
    left = names_in(tmp_path)
    assert left == ([] if "kept" not in err else ["out.csv.rescued.synthdp"])
    for name in left:
        assert synthdp.load(tmp_path / name).certificate["accounting"]["rho_spent"] > 0


_STOPS_WRITING = """
import sys, time, synthdp.cli.commands.run, synthdp.cli.main, synthdp.cli.shared.outputs
def write_rows(*_):
    print("writing", flush=True)
    time.sleep(60)
synthdp.cli.shared.outputs.write_rows = write_rows
synthdp.cli.main.main(sys.argv[1:])
"""


@pytest.mark.parametrize(("number", "code"), ENDING.values(), ids=ENDING)
def test_a_real_process_that_is_stopped_while_it_writes_keeps_what_was_paid_for(
    number, code, place
):
    command = [sys.executable, "-P", "-c", _STOPS_WRITING, *run_arguments()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(number)
        err = process.stderr.read().decode()
    assert process.returncode == code
    assert (
        err
        == "synthdp: interrupted; what was paid for is kept: synthdp sample out.csv.rescued.synthdp -o OUT\n"
    )
    assert names_in(place) == sorted([*INPUTS, "out.csv.rescued.synthdp"])
    more = invoke("sample", "out.csv.rescued.synthdp", "-o", "more.csv", "--rows", "3")
    assert (more.code, STOPPED in more.err) == (0, False)  # it had measured and fitted everything


# ---- full disks


@pytest.mark.parametrize("options", [(), ("--save", "m.synthdp")])
@pytest.mark.parametrize("output", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_full_disk_keeps_what_was_paid_for_elsewhere(
    options, output, place, spare, charged, monkeypatch
):
    with monkeypatch.context() as patch:
        full(patch, lambda path: place in path.parents)
        outcome = invoke(*run_arguments(*options, output=output))
    assert_one_line(outcome, 1)
    assert "no space left on device" in outcome.err
    assert names_in(place) == INPUTS
    assert_rescued(place, outcome, charged, folder=spare)


def test_a_disk_that_is_full_for_the_certificate(place, charged, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            outputs, "_flush", failing(outputs._flush, OSError(errno.ENOSPC, "No space"), after=1)
        )
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert "'out.csv.privacy.json': it cannot be written: no space" in outcome.err
    assert names_in(place) == sorted([*INPUTS, "out.csv.rescued.synthdp"])
    assert_rescued(place, outcome, charged)


def test_a_disk_that_is_full_everywhere(place, spare, monkeypatch):
    full(monkeypatch, lambda _path: True)
    outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert outcome.err.endswith("; what was paid for could not be kept anywhere [E18]\n")
    assert (names_in(place), names_in(spare)) == (INPUTS, [])

    def refuse():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(
        tempfile, "gettempdir", refuse
    )  # what it does when it cannot write anywhere
    outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert "no space left on device" in outcome.err


@pytest.mark.parametrize(("limit", "is_kept"), [(100, False), (60_000, True)])
def test_a_real_limit_on_files(limit, is_kept, place, spare):
    script = (
        f"import resource, sys, tempfile; tempfile.tempdir = {str(spare)!r}; from synthdp.cli.main import main;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); main(sys.argv[1:])"
    )
    command = [sys.executable, "-P", "-c", script, *run_arguments("--rows", "100000")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "'out.csv': it cannot be written: file too large" in done.stderr
    assert names_in(place) == sorted([*INPUTS, *["out.csv.rescued.synthdp"] * is_kept])
    assert names_in(spare) == []
    if is_kept:
        assert (
            invoke("sample", "out.csv.rescued.synthdp", "-o", "more.csv", "--rows", "3").code == 0
        )


# ---- unforeseen errors


def unforeseen():
    error = RuntimeError(f"cannot handle {CANARY}\nin row 7")
    error.add_note(f"while reading {CANARY}")
    return error


PLACES = {
    "reading": ((home(rows_of), "held_rows"), False),
    "fitting": ((mst, "estimate_refined"), True),
    "decoding": ((draw, "decode"), True),
}


@pytest.mark.parametrize(("target", "is_paid"), PLACES.values(), ids=PLACES)
def test_the_text_of_an_unforeseen_error_is_not_shown(target, is_paid, place, charged, monkeypatch):
    monkeypatch.delenv("SYNTHDP_DEBUG", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(*target, failing(getattr(*target), unforeseen()))
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert "internal error (RuntimeError)" in outcome.err
    assert "row 7" not in outcome.err
    if is_paid:
        assert_rescued(place, outcome, charged)
    else:
        assert names_in(place) == INPUTS


def test_the_text_of_an_unforeseen_error_is_raised_for_debugging(place, monkeypatch):
    monkeypatch.setenv("SYNTHDP_DEBUG", "1")
    monkeypatch.setattr(home(rows_of), "held_rows", failing(None, unforeseen()))
    with pytest.raises(RuntimeError, match=CANARY):
        invoke(*run_arguments())
    assert names_in(place) == INPUTS


def test_running_out_of_memory_is_one_line(place, charged, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(draw, "decode", failing(None, MemoryError(CANARY)))
        outcome = invoke(*run_arguments())
    assert_one_line(outcome, 1)
    assert "out of memory" in outcome.err
    assert_rescued(place, outcome, charged)


def test_a_rescue_that_fails_does_not_hide_why_the_run_failed(place, monkeypatch):
    monkeypatch.setattr(outputs, "write_rows", failing(None, KeyboardInterrupt()))
    monkeypatch.setattr(rescue, "_unused", failing(None, MemoryError(CANARY)))
    outcome = invoke(*run_arguments())
    assert_one_line(outcome, 130)
    assert outcome.err == "synthdp: interrupted; what was paid for could not be kept anywhere\n"
    assert names_in(place) == INPUTS


def test_warnings_are_as_before_after_a_run(place):
    """And none of them is shown: their texts may hold values."""
    before = list(warnings.filters)
    lay_out(place, table=HEADER + f"{CANARY},1e400,01\n" * 9)
    assert invoke(*run_arguments("--json", "--rows", "9")).err == ""
    assert warnings.filters == before
    assert json.loads((place / "out.csv.privacy.json").read_text())["is_private"] is True
