"""Speed of the parts: exact noise, counting, sampling of rows, start-up.

Run ``python benchmarks/speed.py`` alone on the machine. Counting and sampling need discretised
Adult (see ``mechanisms.py``) and are left out if it is not there.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

from synthdp.core import Domain
from synthdp.data import CodedSource, CodedTable, read_coded
from synthdp.privacy import SystemRandomness, gaussian_noise
from synthdp.release import Release, RunSettings
from synthdp.schema import Schema

ADULT = Path(__file__).resolve().parents[2] / "shared/data/adult-discretized"
REPEATS = 5


def main() -> None:
    argparse.ArgumentParser(
        description="Speed of the parts, each alone on the machine."
    ).parse_args()
    print(
        "exact Gaussian noise, rounded to whole numbers, million samples a CPU second (best of 5)"
    )
    for sigma in (1, 50, 1000, 10_000, 100_000, 10**12):
        seconds = best(lambda sigma=sigma: draw(sigma, 2_000_000))
        print(f"  sigma {sigma:>13}: {2 / seconds:.1f}")
    if ADULT.exists():
        print_counting()
        print("1,000,000 rows of Adult's 15 columns from an mst model, CPU seconds (best of 5)")
        model = adult_model()
        for rounding in (True, False):
            seconds = best(
                lambda rounding=rounding: model.sample(1_000_000, seed=0, rounding=rounding)
            )
            print(
                f"  {'randomised rounding' if rounding else 'independent draws':<20} {seconds:.2f}"
            )
    print("start-up, wall milliseconds (best of 5)")
    for name, command in {
        "synthdp --help": [str(Path(sys.executable).with_name("synthdp")), "--help"],
        "import synthdp": [sys.executable, "-c", "import synthdp"],
    }.items():
        milliseconds = 1000 * best(
            lambda command=command: subprocess.run(command, check=True, capture_output=True),
            cpu=False,
        )
        print(f"  {name:<16} {milliseconds:.0f}")


def draw(sigma: int, size: int) -> None:
    gaussian_noise(sigma_squared=Fraction(sigma**2), size=size, randomness=SystemRandomness())


def print_counting() -> None:
    print(
        "exact counts of marginals, CPU seconds (best of 5): each by itself, all together, all a second time"
    )
    generator = np.random.default_rng(0)
    adult = read_coded(ADULT / "adult.csv", Schema.load(ADULT / "domain.json"))
    resampled = CodedTable(
        adult.domain, tuple(generator.choice(codes, 1_000_000) for codes in adult.columns)
    )
    sizes = {f"c{index}": int(size) for index, size in enumerate(generator.integers(2, 21, 100))}
    columns = tuple(
        generator.integers(0, size, 1_000_000, dtype=np.uint8) for size in sizes.values()
    )
    wide = CodedTable(Domain.from_sizes(sizes), columns)
    for name, table, widths in (
        ("all 575 1..3-way, 48,842 x 15", adult, (1, 2, 3)),
        ("all 575 1..3-way, 1,000,000 x 15", resampled, (1, 2, 3)),
        ("all 455 3-way, 1,000,000 x 15", resampled, (3,)),
        ("all 4,950 2-way, 1,000,000 x 100", wide, (2,)),
    ):
        cliques = [
            clique for width in widths for clique in combinations(table.domain.attributes, width)
        ]
        kept = CodedSource(table)
        spent = (
            best(
                lambda cliques=cliques, table=table: [
                    CodedSource(table).counts(clique) for clique in cliques
                ]
            ),
            best(lambda cliques=cliques, table=table: list(CodedSource(table).counts_of(cliques))),
            best(lambda cliques=cliques, kept=kept: list(kept.counts_of(cliques))),
        )
        print(f"  {name:<33}", *(f"{seconds:7.3f}" for seconds in spent))


def adult_model():
    schema = Schema.load(ADULT / "domain.json")
    release = Release(
        schema=schema,
        settings=RunSettings(
            epsilon=1, delta=1e-9, mechanism="mst", engine="graphical-model", adjacency="add-remove"
        ),
    )
    return release.of(CodedSource(read_coded(ADULT / "adult.csv", schema))).model


def best(work: Callable[[], object], *, cpu: bool = True) -> float:
    clock = time.process_time if cpu else time.perf_counter
    work()
    spent = []
    for _ in range(REPEATS):
        start = clock()
        work()
        spent.append(clock() - start)
    return min(spent)


if __name__ == "__main__":
    main()
