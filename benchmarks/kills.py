"""Kill runs at random moments, and let processes race on one budget: is anything charged twice,
lost or damaged?

    python benchmarks/kills.py                          # 200 kills, then 8 processes for 1,000 charges
    python benchmarks/kills.py --kills 20 --charges 100
    python benchmarks/kills.py --kills 100 --linked     # runs with --order, which are over linked tables

A run is a whole ``synthdp run`` with a journal and a budget, in a forked process that tells through
a pipe what it believes to be on the disk. It is killed (SIGKILL) at a random moment and started
again until it ends. After every kill all that it had told must be there, once, and a run that
closed its journal must have written its table. POSIX only. A kill leaves what the system has in
memory, so that this says nothing of power cuts: against these stands that every line is flushed to
the disk (fsync) before anything is told.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from synthdp.cli import run
from synthdp.core import SynthdpError
from synthdp.release import Budget, ChainedFile, Journal

LEVELS = json.dumps(
    {
        "fields": [
            {
                "name": name,
                "type": "string",
                "constraints": {"enum": list("abcd"), "required": True},
            }
            for name in "uvwxyz"
        ]
    }
)
COMMAND = ["run", "in.csv", "-s", "schema.json", "-o", "out.csv"]
COMMAND += ["--epsilon", "1", "--delta", "1e-6", "--force", "--mechanism"]
ROWS = "u,v,w,x,y,z\n" + "a,b,c,d,a,b\nb,b,c,a,a,d\nd,c,b,a,a,a\n" * 300
LINKED = ["--unit", "p", "--max-rows-per-unit", "3", "--order", "u", "--accounting", "zcdp"]


def of_persons(rows: str) -> str:
    """The same rows, of persons who have two or three each."""
    header, *lines = rows.splitlines()
    return (
        "\n".join(
            [f"p,{header}", *(f"{number * 2 // 5},{line}" for number, line in enumerate(lines))]
        )
        + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--charges", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--mechanism", default="aim")
    parser.add_argument("--linked", action="store_true", help="kill runs over linked tables")
    options = parser.parse_args()
    more = [options.mechanism, *(LINKED if options.linked else [])]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("in.csv").write_text(of_persons(ROWS) if options.linked else ROWS)
        Path("schema.json").write_text(LEVELS)
        run([*COMMAND, *more])  # so that processes find all modules loaded
        found = killed_runs(options.kills, more, unit="p" if options.linked else None)
        found.update(race(options.charges, options.processes))  # which keeps zeros, unlike a sum
    for name, count in sorted(found.items()):
        print(f"{count:6d} {name}")
    sys.exit(any(found[name] for name in ("double charges", "lost", "damaged", "overspent")))


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Start a process that does the work; its identifier, and where what it tells can be read."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        code = 70
        try:
            work(writing)
            code = 0
        except SystemExit as ending:
            code = ending.code
        finally:
            os._exit(code)
    os.close(writing)
    return process, reading


def told(reading: int) -> list[str]:
    with open(reading, encoding="ascii") as stream:
        return stream.read().split()


def killed_runs(n_kills: int, more: list[str], unit: str | None) -> Counter[str]:
    """Runs that are killed and started again until so many kills have come."""
    found: Counter[str] = Counter(dict.fromkeys(("double charges", "lost", "damaged"), 0))
    seconds, number = 1.0, 0
    while found["kills"] < n_kills:
        number += 1
        Budget.create("b", epsilon=1.0, delta=1e-6, population="nobody", unit=unit)
        while True:
            began = time.monotonic()
            process, reading = forked(lambda pipe: one_run(pipe, more))
            if found["kills"] < n_kills and number > 1:
                time.sleep(random.uniform(0, 1.05 * seconds))
                os.kill(process, signal.SIGKILL)
            says = told(reading)
            status = os.waitpid(process, 0)[1]
            was_killed = os.WIFSIGNALED(status)
            found["kills"] += was_killed
            found.update(checked(says))
            if not was_killed:
                assert status == 0, f"exit status {status}"
                seconds = time.monotonic() - began if number == 1 else seconds
            if (
                not was_killed or Path("out.csv.journal.ended").exists()
            ):  # else the next would be another run
                break
        found["runs that ended"] += 1
        found["lost"] += not (Path("out.csv").exists() and Path("out.csv.privacy.json").exists())
        for name in ("b", "out.csv.journal.ended", "out.csv", "out.csv.privacy.json"):
            Path(name).unlink()
    return found


def one_run(pipe: int, more: list[str]) -> None:
    """A run that tells each hash after what it stands for was said to be on the disk."""
    keep, charge = Journal.keep, Budget.charge

    def told_keep(self, question, answer):
        keep(self, question, answer)
        os.write(pipe, f"{self.head}\n".encode())

    def told_charge(self, *arguments, **options):
        charge(self, *arguments, **options)
        os.write(pipe, b"charged\n")

    Journal.keep, Budget.charge = told_keep, told_charge
    raise SystemExit(run([*COMMAND, *more, "--budget", "b"]))


def checked(says: list[str]) -> Counter[str]:
    """Whether all that a run had told is there, and once."""
    found: Counter[str] = Counter()
    try:
        entries = Budget("b").show()["entries"]
        n_charged = sum(entry["kind"] == "run" for entry in entries)
        found["double charges"] += n_charged > 1
        found["lost"] += "charged" in says and n_charged == 0
        journal = next(
            (name for name in ("out.csv.journal", "out.csv.journal.ended") if Path(name).exists()),
            None,
        )
        if journal is not None:
            with ChainedFile(journal, what="journal", patience=0) as file:
                found["answers checked"] += len(set(says) - {"charged"})
                found["lost"] += len(set(says) - {"charged", *file.hashes})
    except SynthdpError as error:
        print(error)
        found["damaged"] += 1
    return found


def race(n_charges: int, n_processes: int) -> Counter[str]:
    """Processes that charge one budget until it is spent; it is for exactly so many charges."""
    found: Counter[str] = Counter(dict.fromkeys(("lost", "overspent", "damaged"), 0))
    Budget.create("race", epsilon=n_charges, delta=1e-6, population="nobody")

    def charge(pipe: int) -> None:
        for _ in range(n_charges):
            try:
                Budget("race").add(epsilon=1.0, note=f"by {os.getpid()}")
            except SynthdpError:
                return
            os.write(pipe, b"charged\n")

    started = [forked(charge) for _ in range(n_processes)]
    said = sum(len(told(reading)) for _, reading in started)
    for process, _ in started:
        found["damaged"] += os.waitpid(process, 0)[1] != 0
    n_entries = len(Budget("race").show()["entries"])
    found["charges of the race"] += n_entries
    found["lost"] += said != n_entries
    found["overspent"] += n_entries != n_charges
    return found


if __name__ == "__main__":
    main()
