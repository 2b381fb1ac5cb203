"""The benchmarks run; what they measure is not asserted here."""

import csv
import os
import re
import subprocess
import sys

import pytest
from helpers.paths import ROOT

DATA = ROOT.parent / "shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the tables are not part of the project")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def printed(*command: str) -> str:
    ended = run(*command)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@needs_data
def test_mechanisms_benchmark_tells_what_the_whole_command_costs():
    options = [
        "--whole",
        "--data-sets",
        "titanic",
        "--epsilons",
        "1",
        "--seeds",
        "1",
        "--recipes",
        "independent",
        "mst",
    ]
    heading, *rows = printed("benchmarks/mechanisms.py", *options).splitlines()[1:]
    assert heading.split()[:3] == ["recipe", "data", "set"]
    for recipe, row in zip(("independent", "mst"), rows, strict=True):
        wall, cpu, megabytes = (float(number) for number in re.findall(r"(\S+) \(", row))
        assert row.startswith(recipe)
        assert wall > 0 < cpu
        assert megabytes > 30


def test_mechanisms_benchmark_needs_no_files_for_made_up_tables(tmp_path):
    results = tmp_path / "mechanisms.csv"
    command = ["benchmarks/mechanisms.py", "--epsilons", "1", "--seeds", "1", "--recipes", "independent"]
    command += ["--data", str(tmp_path), "--results", str(results)]
    printed(*command)  # all that are there
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert [(row["data set"], row["note"]) for row in rows] == [("visits", ""), ("survey", "")]
    assert all(0 < float(row["model 3-way"]) < 1 for row in rows)
    (row,) = printed(*command, "--whole", "--data-sets", "survey").splitlines()[2:]
    assert row.split()[:2] == ["independent", "survey"]
    refused = run(*command, "--data-sets", "survey", "titanic")
    assert refused.returncode == 2
    assert "titanic.csv is not there; name the folder of the data sets with --data" in refused.stderr


@needs_data
def test_domain_benchmark_compares_kinds_with_both_public_schemas():
    output = printed("benchmarks/domain.py", "--seeds", "1", "--rows", "2000")
    assert "kinds / public:" in output
    assert "kinds / public-32:" in output
    assert "KS moved" in output


@needs_data
def test_mechanisms_benchmark_runs_what_is_missing_only(tmp_path):
    results = tmp_path / "mechanisms.csv"
    command = ["benchmarks/mechanisms.py", "--data-sets", "titanic", "--epsilons", "1", "--seeds", "1"]
    command += ["--results", str(results), "--recipes", "independent"]
    printed(*command)
    first = results.read_text().splitlines()
    output = printed(*command, "mst")
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert results.read_text().splitlines()[: len(first)] == first
    assert [(row["recipe"], row["note"]) for row in rows] == [("independent", ""), ("mst", "")]
    assert all(0 < float(row["model 3-way"]) < 1 for row in rows)
    assert sum(line.startswith(("independent ", "mst ")) for line in output.splitlines()) == 4  # table and summary
    assert "measuring columns" in output


@needs_data
def test_mechanisms_benchmark_records_a_run_that_passes_the_limit(tmp_path):
    results = tmp_path / "mechanisms.csv"
    command = ["benchmarks/mechanisms.py", "--data-sets", "nltcs", "--epsilons", "10", "--seeds", "1", "--limit", "1"]
    printed(*command, "--recipes", "aim", "--results", str(results))
    assert [row["note"] for row in csv.DictReader(results.read_text().splitlines())] == ["> 1 s"]


@pytest.mark.parametrize(
    ("command", "header"),
    [
        (
            "inference/sampling.py --rows 1000 --columns 10 --pairs 8 --seeds 0 --repeats 1 --samplers rounding",
            "worst L1",
        ),
        ("scale.py --columns 6 --rows 1000", "planted"),
        ("inference/tree_growth.py --problems Adult", "cover ms"),
        ("inference/random_problems.py --problems 7 --cells 40", "optimal"),
        pytest.param("inference/queries.py --cells 20000 --seeds 1 --repeats 1", "single", marks=needs_data),
    ],
)
def test_benchmark_prints_a_table(command, header):
    script, *options = command.split()
    lines = printed(f"benchmarks/{script}", *options).splitlines()
    heading = next(i for i, line in enumerate(lines) if header in line)
    assert len(lines) > heading + 1
    assert "failed" not in lines[heading + 1]
