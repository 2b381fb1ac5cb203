"""`synthdp plan`: what budgets give, what a wanted accuracy needs, from public facts only."""

import json
import re
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import pytest
from helpers.cli_runs import assert_one_line, invoke, lay_out, names_in
from helpers.paths import DATA
from oracles.privacy import Seeded

from synthdp.cli import (
    GUESSED_BINS,
    GUESSED_LEVELS,
    MAX_COLUMNS,
    Plan,
    Want,
    expected_accuracy,
    expected_domain,
)
from synthdp.core import Domain, all_k_way
from synthdp.data import CodedSource, CodedTable, read_coded
from synthdp.privacy import MOST_ROWS, Adjacency, PrivacyLedger, PrivacyUnit, gdp_rho
from synthdp.release import Release, RunSettings, advised_delta
from synthdp.report import total_variation
from synthdp.schema import OpenSchema, Schema

SIZES = {"a": 2, "b": 5, "c": 9, "d": 30}
TWO = {"a": 5, "b": 9}
ROW = PrivacyUnit(adjacency=Adjacency.ADD_REMOVE)


def accuracy(epsilon, rows=10_000, sizes=SIZES, unit=ROW):
    return expected_accuracy(
        Domain.from_sizes(sizes), rho=gdp_rho(epsilon=epsilon, delta=1e-9), rows=rows, unit=unit
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    lay_out(tmp_path)
    (tmp_path / "sizes.json").write_text(json.dumps(TWO))
    (tmp_path / "kinds.json").write_text(json.dumps({"town": "categorical", "age": "integer"}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(*arguments):
    outcome = invoke("plan", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.decode()


# ---- what is expected


def test_more_budget_more_rows_and_fewer_levels_are_better():
    ladder = [accuracy(epsilon) for epsilon in (0.01, 0.1, 1.0, 10.0, 100.0)]
    for worse, better in pairwise(ladder):
        assert better.columns < worse.columns
        assert better.pairs < worse.pairs
    assert accuracy(1.0, rows=100_000).pairs < accuracy(1.0).pairs
    assert accuracy(1.0, sizes=SIZES | {"d": 6}).pairs < accuracy(1.0).pairs


def test_budgets_beyond_all_use_are_no_worse():
    sizes = {f"c{i}": size for i, size in enumerate((9, 25, 251, 8, 3, 19, 36))}
    ladder = [accuracy(epsilon, rows=10**8, sizes=sizes) for epsilon in (1.0, 100.0, 1e4, 1e9)]
    for worse, better in pairwise(ladder):
        assert better.pairs <= worse.pairs < 1e-3
        assert better.columns <= worse.columns


def test_columns_of_many_records_are_as_noisy_as_the_formula_says():
    """Two levels of 2/3 and 1/3 count as almost two; all of the budget is on the one column."""
    rho, rows = Fraction(1, 100), 10**6
    found = expected_accuracy(Domain.from_sizes({"a": 2}), rho=rho, rows=rows, unit=ROW)
    sigma = sqrt(1 / (2 * 0.01))
    assert found.pairs is None
    assert found.only_columns
    assert found.columns == pytest.approx(
        0.5 * sqrt(2 / 3.14159) * sigma * sqrt(2) / rows, rel=0.05
    )


def test_persons_of_many_rows_make_for_as_much_more_noise():
    persons = PrivacyUnit(adjacency=Adjacency.ADD_REMOVE, max_rows=10, column="person")
    several, fewer = accuracy(1.0, unit=persons), accuracy(1.0, rows=1000)
    assert several.columns == pytest.approx(
        fewer.columns, rel=0.2
    )  # ten times the noise, or a tenth of the rows


def test_only_columns_where_noise_would_hide_all_else():
    assert accuracy(0.01, rows=100).only_columns
    assert not accuracy(1.0).only_columns


def test_many_columns_are_planned_for_by_some_of_them():
    n = MAX_COLUMNS
    few, all_ = ({f"c{i}": 4 for i in range(k)} for k in (n, 3 * n))
    assert 1.5 < accuracy(1.0, sizes=all_).pairs / accuracy(1.0, sizes=few).pairs < 3


def test_columns_to_be_learnt_have_a_usual_number_of_levels():
    schema = OpenSchema.from_kinds(
        {
            "town": "categorical",
            "few": {"type": "categorical", "synthdp": {"max_levels": 7}},
            "age": "integer",
        }
        | {
            "rooms": {
                "type": "integer",
                "constraints": {"minimum": 1, "maximum": 5, "required": True},
            },
            "is": "boolean",
        }
    )
    assert dict(zip(*vars_of(expected_domain(schema)), strict=True)) == {
        "town": GUESSED_LEVELS, "few": 7, "age": GUESSED_BINS, "rooms": 5, "is": 3,
    }  # fmt: skip


def vars_of(domain):
    return domain.attributes, domain.shape


@pytest.mark.skipif(not DATA.is_dir(), reason="the sample is not there")
def test_it_is_near_what_a_run_errs_by():
    """On some columns of the sample, with noise that is always the same; benchmarks/plan.py has
    other tables.
    """
    whole = Schema(Schema.load(DATA / "census.schema.json").columns)
    columns = slice(3, 9)
    schema, table = Schema(whole.columns[columns]), read_coded(DATA / "census.csv", whole)
    table = CodedTable(schema.domain, table.columns[columns])
    run = Release(
        schema=schema,
        settings=RunSettings(epsilon=1.0, delta=1e-9, mechanism="auto", adjacency="add-remove"),
        randomness=Seeded(1),
    )
    model, truth = run.of(CodedSource(table)).model, CodedSource(table)
    expected = expected_accuracy(schema.domain, rho=run.ledger.budget, rows=30_000, unit=ROW)
    for k, promised in ((1, expected.columns), (2, expected.pairs)):
        cliques = all_k_way(schema.domain.attributes, k)
        pairs = zip(truth.counts_of(cliques), model.marginals(cliques), strict=True)
        found = [total_variation(left, right.values) for left, right in pairs]
        assert 0.4 < sum(found) / len(found) / promised < 2.5


# ---- what is wanted


@pytest.mark.parametrize("text", ["pairs within 2 %", " pairs  within 2% ", "pairs within 2.0 %"])
def test_wants_as_people_write_them(text):
    assert Want.parse(text) == Want(what="pairs", within=0.02)


@pytest.mark.parametrize("what", ["columns", "pairs"])
def test_the_epsilon_that_is_found_is_the_least_to_two_digits(what):
    schema = OpenSchema.from_dict(TWO)
    planned = Plan(
        schema=schema, rows=10_000, delta=1e-9, unit=None, max_rows_per_unit=1, domain_share=0.25
    )
    want = Want(what=what, within=getattr(planned.at(2.0).accuracy, what))
    found = planned.least_epsilon(want)
    assert 1.9 <= found <= 2.2
    assert f"{found:.2g}" == f"{found:g}"
    assert want.error(planned.at(found).accuracy) <= want.within
    assert planned.least_epsilon(Want(what=what, within=1e-9)) is None
    assert planned.least_epsilon(Want(what=what, within=0.99)) == 0.001


# ---- the command


def test_the_text_for_people(place):
    text = plan("sizes.json", "--rows", "50000", "--want", "pairs within 3 %", "--epsilon", "2")
    lines = text.splitlines()
    assert (
        lines[0]
        == "what to expect of mechanism auto: 2 columns, about 50,000 rows, delta 1e-07; no data was opened"
    )
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120
    assert re.split(r"\s{2,}", lines[2]) == [
        "epsilon",
        "columns",
        "pairs",
        "one person",
        "pairs misplaced",
    ]
    table = [line.split() for line in lines[3:9]]
    assert [row[0] for row in table] == ["0.1", "0.3", "1", "2", "3", "10"]
    bars = [len(row[-1]) for row in table]
    assert bars == sorted(bars, reverse=True)
    assert bars[0] > bars[-1] > 0
    assert {*"".join(row[-1] for row in table)} == {"\u2588"}
    (answer,) = [line for line in lines if line.startswith("pairs within 3 %: epsilon ")]
    content = json.loads(
        plan(
            "sizes.json",
            "--rows",
            "50000",
            "--want",
            "pairs within 3 %",
            "--epsilon",
            "2",
            "--json",
        )
    )
    assert answer.split()[-1] == f"{content['want']['epsilon']:g}"
    assert [budget["epsilon"] for budget in content["budgets"]] == [0.1, 0.3, 1, 2, 3, 10]
    assert (content["rows"], content["delta"]) == (50_000, advised_delta(50_000))
    assert names_in(place) == ["in.csv", "kinds.json", "schema.json", "sizes.json"]


@pytest.mark.usefixtures("place")
def test_what_is_learnt_and_persons_are_planned_for():
    options = (
        "--rows",
        "20000",
        "--unit",
        "person",
        "--max-rows-per-unit",
        "3",
        "--delta",
        "1e-9",
        "--json",
    )
    persons = json.loads(plan("kinds.json", *options))
    single = json.loads(plan("kinds.json", "--rows", "20000", "--delta", "1e-9", "--json"))
    for several, one in zip(persons["budgets"], single["budgets"], strict=True):
        assert several["columns"] > one["columns"]
        # As persons: levels are learnt with each of them as one record.
        needs = several["level_needs_records"], one["level_needs_records"]
        assert needs[0] == pytest.approx(3**0.5 * needs[1], rel=0.1)
        assert several["best_true_positives"] == one["best_true_positives"]
    text = plan("kinds.json", *options[:-1])
    assert "persons with at most 3 rows, delta 1e-09" in text
    assert "a level needs: " in text
    assert "a level needs" not in plan("sizes.json", "--rows", "1000")


@pytest.mark.usefixtures("place")
def test_of_persons_with_many_rows_some_are_counted_for_levels():
    options = ("--rows", "20000", "--delta", "1e-9", "--unit", "person", "--json")
    some, many = (
        json.loads(plan("kinds.json", *options, "--max-rows-per-unit", f"{most}"))["budgets"]
        for most in (MOST_ROWS, 5_000)
    )
    for few, all_ in zip(some, many, strict=True):
        ratio = all_["level_needs_records"] / few["level_needs_records"]
        assert ratio == pytest.approx((5_000 / MOST_ROWS) ** 0.5)


@pytest.mark.usefixtures("place")
def test_wants_at_the_ends():
    def answer(want):
        text = plan("sizes.json", "--rows", "10000", "--want", want)
        return next(line for line in text.splitlines() if line.startswith(want))

    assert "not to be expected at any epsilon up to 100, where it is " in answer(
        "pairs within 0.001 %"
    )
    beyond = f"{100 * accuracy(30.0, sizes=TWO).pairs:.2g}"
    assert "which is above 10 and protects against little" in answer(f"pairs within {beyond} %")
    assert answer("columns within 99 %").endswith(": epsilon 0.001 is enough")


@pytest.mark.parametrize("adding", [{"x": 1}, {"x": 1, "y": 1}, {"x": 2000, "y": 2000}])
def test_odd_schemas_have_a_plan(adding, place):
    (place / "odd.json").write_text(json.dumps(adding))
    assert "epsilon" in plan("odd.json", "--rows", "1")


NINE_ROWS = ("sizes.json", "--rows", "9")
WRONG = {
    "no rows": (("sizes.json",), "--rows"),
    "rows 0": (("sizes.json", "--rows", "0"), "--rows is 0; give 1 or more"),
    "no want": ((*NINE_ROWS, "--want", ""), "want is ''; write 'pairs within 2 %'"),
    "triples": ((*NINE_ROWS, "--want", "triples within 2 %"), "write 'pairs within 2 %'"),
    "0 %": ((*NINE_ROWS, "--want", "pairs within 0 %"), "write 'pairs within 2 %'"),
    "100 %": ((*NINE_ROWS, "--want", "pairs within 100 %"), "write 'pairs within 2 %'"),
    "no pairs": (("one.json", "--rows", "9", "--want", "pairs within 2 %"), "no pairs"),
    "epsilon": ((*NINE_ROWS, "--epsilon", "0"), "epsilon is 0"),
    "delta": ((*NINE_ROWS, "--delta", "1"), "delta is 1"),
    "unit": ((*NINE_ROWS, "--unit", "a"), "without --max-rows-per-unit"),
}


@pytest.mark.parametrize(("arguments", "fragment"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_one_line(arguments, fragment, place):
    (place / "one.json").write_text('{"x": 3}')
    outcome = invoke("plan", *arguments)
    assert_one_line(outcome, 2)
    assert fragment in outcome.err
    assert outcome.out == b""


@pytest.mark.usefixtures("place")
def test_nothing_is_opened_or_paid_for(monkeypatch):
    def refuse(*_arguments, **_options):
        pytest.fail("the records, or the ledger that pays for them, were touched")

    monkeypatch.setattr("synthdp.cli.commands.run.open_table", refuse)
    monkeypatch.setattr(PrivacyLedger, "charge", refuse)
    assert "epsilon" in plan("schema.json", "--rows", "900")


@pytest.mark.parametrize("n_rows", [1, 99, 100, 50_000, 10**9])
def test_the_delta_that_is_advised_is_small_for_so_many(n_rows):
    assert min(1e-3, 1e-4 * n_rows) * 0.999 <= advised_delta(n_rows) * n_rows <= 1e-2 * 1.001
