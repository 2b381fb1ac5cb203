"""`synthdp schema check` of schemas that leave things open, and of kinds files: what is learnt, and
its price.
"""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import assert_one_line, invoke

import synthdp
from synthdp.cli import (
    MIN_ROWS_A_RECORD,
    expected_domain,
    expected_ledger,
    expected_noise,
    expected_questions,
    model_budget,
    quality_budget,
    question_findings,
    schema_findings,
)
from synthdp.core import Domain, in_records
from synthdp.learning import (
    ASTRONOMIC,
    MAX_LEARNT_DECIMALS,
    MISTAKEN,
    SearchGrid,
    column_budgets,
    learnt_missing,
    occupied_cells,
)
from synthdp.release import DOMAIN_SHARE, QUALITY_SHARE
from synthdp.schema import OpenSchema

SEX = {"type": "string", "constraints": {"enum": ["f", "m"], "required": True}}
TREE = {"type": "integer", "synthdp": {"derive": True, "binning": "privtree"}}
BORN = {"type": "date", "synthdp": {"derive": True, "binning": "equal-width", "resolution": "day"}}
BOUNDS = {"minimum": 0, "maximum": 10**6, "required": True}
KINDS = {
    "town": "categorical",
    "code": "integer",
    "size": "number",
    "born": BORN,
    "sex": SEX,
    "smokes": "boolean",
    "cost": {
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 99},
        "synthdp": {"derive": ["missing"]},
    },
    "rate": {
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 9},
        "synthdp": {"derive": ["decimals"]},
    },
    "seen": {"type": "integer", "synthdp": {"derive": ["bounds"], "bins": 9}},
    "paid": {"type": "number", "synthdp": {"derive": ["bounds", "bins", "missing"], "decimals": 2}},
    "age": {"type": "integer", "constraints": BOUNDS, "synthdp": {"derive": ["bins"]}},
}
BUDGET = ("--epsilon", "1", "--delta", "1e-9")


def frame(n_rows):
    rng = np.random.default_rng(1)
    months = pd.to_datetime("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n_rows), unit="D")
    columns = {
        "town": rng.choice(list("ABCD"), n_rows),
        "code": rng.integers(0, 10**6, n_rows),
        "size": rng.normal(0, 1000, n_rows),
        "born": months.strftime("%Y-%m-%d"),
        "sex": rng.choice(["f", "m"], n_rows),
        "smokes": rng.choice(["true", "false"], n_rows),
        "cost": rng.integers(0, 99, n_rows) / 1.0,
        "rate": rng.random(n_rows),
        "seen": rng.integers(0, 5000, n_rows),
        "paid": rng.integers(0, 10**8, n_rows) / 100,
        "age": rng.integers(0, 10**6, n_rows),
    }
    return pd.DataFrame(columns)


SEEKING = ("code", "size", "paid", "age")
"""Columns of which single values are looked for."""


def split(events):
    """Events, and those of looks for heavy values of some columns: as many as the records make
    necessary.
    """
    further = []
    for name in SEEKING:
        own = [event for event in events if (event["column"], event.get("of")) == (name, "values")]
        further += own[2:]
    return [event for event in events if event not in further], further


def asked_of(event):
    """An event of a certificate as a question's numbers."""
    event = in_records(event)
    noise = event["scale"] if event["event"] == "tree" else event["sigma"]
    return event["column"], pytest.approx(noise), pytest.approx(event.get("delta", 0.0))


def check(path, *options):
    return invoke("schema", "check", path, "--all", *options)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(place, content, name="kinds.json"):
    (place / name).write_text(json.dumps(content))
    return name


# ---- what is expected is what a run pays


@pytest.mark.parametrize("kinds", [KINDS, KINDS | {"code": TREE}], ids=["gdp", "zcdp"])
def test_sigmas_and_thresholds_are_those_of_a_run(kinds):
    """A column for each way of learning; the records make every question necessary."""
    schema, epsilon, delta = OpenSchema.from_kinds(kinds), 8.0, 1e-6
    ledger = expected_ledger(schema, epsilon=epsilon, delta=delta)
    asked = [
        question
        for question in expected_questions(schema, ledger)
        if question.about != "reading" or KINDS[question.column] == "categorical"
    ]
    heavy = [question for question in asked if question.about == "single values"]
    asked = [question for question in asked if question not in heavy]
    certificate = synthdp.synthesize(
        frame(4000), schema, epsilon=epsilon, delta=delta, workload="1-way"
    ).certificate
    events, further = split([event for event in certificate["events"] if "column" in event])
    for question in heavy:
        spent = sum(event["rho"] for event in further if event["column"] == question.column)
        assert spent <= float(question.rho) * (1 + 1e-9)
    assert [(q.column, q.sigma, float(q.delta)) for q in asked] == [
        asked_of(event) for event in events
    ]
    assert [float(q.rho) for q in asked if not q.is_tree] == pytest.approx(
        [event["rho"] for event in events if event["event"] != "tree"]
    )
    thresholds = {event["column"]: event["threshold"] for event in events if "threshold" in event}
    assert {q.column: q.least_records for q in asked if q.delta} == thresholds
    assert (
        certificate["accounting"]["currency"]
        == ledger.accounting.value
        == ("zcdp" if kinds["code"] is TREE else "gdp")
    )
    assert certificate["accounting"]["rho_budget"] == float(ledger.budget)
    assert certificate["accounting"]["failure_delta"] == float(ledger.failure_delta) > 0


def test_the_questions_and_the_model_have_the_whole_budget_and_no_more():
    schema = OpenSchema.from_kinds(KINDS)
    ledger = expected_ledger(schema, epsilon=1, delta=1e-9)
    asked = expected_questions(schema, ledger)
    budgets = model_budget(schema, ledger) + quality_budget(schema, ledger)
    assert sum(question.rho for question in asked) + budgets == ledger.budget
    # a quarter of it is for asking again about levels
    assert sum(question.delta for question in asked) == ledger.failure_delta * Fraction(3, 4)
    assert budgets == pytest.approx((1 - DOMAIN_SHARE) * float(ledger.budget))
    assert quality_budget(schema, ledger) == budgets * Fraction(QUALITY_SHARE)
    declared = OpenSchema.from_kinds({"sex": SEX})
    ledger = expected_ledger(declared, epsilon=1, delta=1e-9)
    assert expected_questions(declared, ledger) == ()
    budgets = model_budget(declared, ledger) + quality_budget(declared, ledger)
    assert (budgets, ledger.failure_delta) == (ledger.budget, 0)


def test_only_columns_of_which_it_is_open_or_needed_pay_for_decimals():
    schema = OpenSchema.from_kinds(KINDS)
    budgets = column_budgets(
        schema, rho=expected_ledger(schema, epsilon=1, delta=1e-9).budget, delta=0
    )
    assert [budget.column.name for budget in budgets if budget.for_decimals] == ["size", "rate"]
    assert [budget.column.name for budget in budgets if budget.for_decimals and not budget.rho] == [
        "rate"
    ]


def test_what_needs_so_many_records_is_found_with_as_many_and_not_with_fewer():
    schema = OpenSchema.from_kinds(KINDS)
    asked = expected_questions(schema, expected_ledger(schema, epsilon=1, delta=1e-9))
    least = {
        (question.column, question.about): (question.least_records, question.sigma)
        for question in asked
    }
    by_name = {column.name: column for column in schema.open_columns}
    for name, about in (("code", "bounds"), ("born", "bounds"), ("size", "decimals")):
        records, sigma = least[name, about]
        n_cells = (
            MAX_LEARNT_DECIMALS + 1
            if about == "decimals"
            else len(SearchGrid.from_column(by_name[name]).coarse_edges) - 1
        )
        false_alarm = MISTAKEN if about == "decimals" else ASTRONOMIC
        counts = np.zeros(n_cells)
        counts[0] = 1e9
        for share, last in ((1.01, n_cells - 1), (0.99, 0)):
            counts[-1] = share * records
            assert occupied_cells(counts, sigma, false_alarm=false_alarm)[1] == last
    records, sigma = least["cost", "missing"]
    for share, required in ((1.01, False), (0.99, True)):
        assert learnt_missing(by_name["cost"], share * records, sigma) == {"required": required}


# ---- findings


def test_delta_for_thresholds_and_noise_that_is_not_gaussian_are_noted():
    def notes(kinds):
        return [
            (finding.columns, finding.what)
            for finding in schema_findings(OpenSchema.from_kinds(kinds))
        ]

    share = f"{100 * DOMAIN_SHARE:g} % of delta is spent on the thresholds of"
    assert notes({"town": "categorical"}) == [
        ((), f"{share} one column of which something is learnt")
    ]
    assert notes({"a": "categorical", "b": "categorical", "c": "integer"}) == [
        ((), f"{share} 2 columns of which something is learnt")
    ]
    assert notes({"a": "integer", "b": "number"}) == []
    assert notes({"sex": SEX, "born": BORN, "smokes": "boolean"}) == []
    ((columns, what),) = notes({"a": TREE, "sex": SEX})
    assert columns == ("a",)
    assert "'privtree' is not Gaussian: the run is accounted by zcdp" in what


def test_sizes_of_open_columns_are_the_largest_they_may_get():
    open_levels = {"type": "string", "synthdp": {"derive": True, "max_levels": 2000}}
    schema = OpenSchema.from_kinds(
        {"a": open_levels, "b": SEX, "c": open_levels, "d": TREE | {"synthdp": {"bins": 101}}}
    )
    findings = {finding.columns: finding for finding in schema_findings(schema)}
    assert findings["a",].what.startswith(
        "up to 2,000 levels, each with noise of its own: they misplace 20 times"
    )
    assert findings["a",].way_out == "lower synthdp.max_levels"
    assert findings["a", "c"].what == (
        "up to 4,000,000 cells, above 1,048,576: left out of the default workload if there are so many"
    )
    assert findings["d",].what == "up to 102 bins, each with noise of its own"
    assert not [finding for finding in findings.values() if "engine" in finding.what]
    assert ("b",) not in findings
    assert [
        f.what
        for f in schema_findings(
            OpenSchema.from_kinds({"one": {"type": "string", "categories": ["x"]}})
        )
    ] == []


def test_too_few_rows_are_warned_of_where_levels_or_bounds_are_learnt():
    schema = OpenSchema.from_kinds({"town": "categorical", "code": "integer", "smokes": "boolean"})
    asked = expected_questions(schema, expected_ledger(schema, epsilon=1, delta=1e-9))
    levels, bounds = (
        next(question.least_records for question in asked if question.about == about)
        for about in ("levels", "bounds")
    )
    assert list(question_findings(asked, None)) == []
    assert list(question_findings(asked, round(MIN_ROWS_A_RECORD * (levels + bounds)))) == []
    assert levels < bounds
    assert [f.columns for f in question_findings(asked, int(MIN_ROWS_A_RECORD * bounds))] == [
        ("code",)
    ]
    assert [f.columns for f in question_findings(asked, MIN_ROWS_A_RECORD * levels)] == [("code",)]
    found = list(question_findings(asked, MIN_ROWS_A_RECORD * levels - 1))
    assert [(finding.severity, finding.columns) for finding in found] == [
        ("warning", ("town",)),
        ("warning", ("code",)),
    ]
    assert f"a level needs about {levels:,.0f} records to be found" in found[0].what
    assert f"there are {MIN_ROWS_A_RECORD * levels - 1:,}: most levels may be lost" in found[0].what
    assert "bounds may be too narrow" in found[1].what


# ---- the command


def test_the_text_for_people(place):
    path = save(
        place, {"town": {"type": "string", "synthdp": {"other": "else"}}, "code": TREE, "sex": SEX}
    )
    plain = check(path)
    assert (plain.code, plain.err) == (0, "")
    title = "kinds of 3 columns, 2 of them with something to learn; no data was opened"
    assert plain.out.decode().splitlines()[0] == title
    assert "sigma" not in plain.out.decode()
    text = check(path, *BUDGET, "--rows", "100000").out.decode()
    schema = OpenSchema.load_kinds(path)
    ledger = expected_ledger(schema, epsilon=1, delta=1e-9)
    rest = 100 * float(model_budget(schema, ledger) / ledger.budget)
    checking = 100 * float(quality_budget(schema, ledger) / ledger.budget)
    learning = 100 - rest - checking
    most = f"at most {100 * DOMAIN_SHARE:g} %, see --domain-share"
    assert 100 * (1 - DOMAIN_SHARE) <= rest + checking < 100
    assert f"of learning what is open, with {learning:.4g} % of the budget ({most}):" in text
    measure = f"{checking:.2g} % measure how good its rows are"
    assert f"of the model, with {rest:.4g} %; {measure}:" in text
    asked = {
        (question.column, question.about): question
        for question in expected_questions(schema, ledger)
    }
    levels, tree = asked["town", "levels"], asked["code", "bins"]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lost = f"{levels.least_records} {levels.least_records / 1000:.3g} % a level becomes 'else'"
    assert f"town levels {levels.sigma:.4g} {lost}" in lines
    assert f"code bins {tree.sigma:.4g} (Laplace scale)" in lines
    columns = expected_noise(expected_domain(schema), rho=model_budget(schema, ledger))
    for name, cells in (("town", "about 10"), ("sex", "2")):
        begun = f"{name} {cells} {columns[name].sigma_records:.4g} "
        assert any(line.startswith(begun) and line.endswith(" %") for line in lines)
    assert "of rows" not in check(path, *BUDGET).out.decode().split("of the model")[0]


def test_columns_with_the_same_trouble_share_a_line(place):
    text = check(
        save(place, {f"c{i}": "categorical" for i in range(10)}), *BUDGET, "--rows", "900"
    ).out.decode()
    names = ", ".join(f"'c{i}'" for i in range(8))
    line = next(line for line in text.splitlines() if "most levels may be lost" in line)
    assert line.startswith(f"warning: {names} and 2 more: a level needs about")


def test_the_json_for_machines(place):
    path = save(place, {"town": "categorical", "sex": SEX})
    content = json.loads(check(path, "--json", *BUDGET, "--rows", "100000").out)
    assert content["learnt"] == [
        {"name": "town", "derived": ["levels", "missing"], "n_levels_at_most": 512}
    ]
    learning = content["noise"]["learning"]
    question, reading = learning["questions"]
    assert reading["about"] == "reading"
    assert learning["share_of_budget"] == DOMAIN_SHARE
    assert learning["failure_delta"] == pytest.approx(DOMAIN_SHARE * 1e-9)
    assert question["delta"] == pytest.approx(0.75 * learning["failure_delta"])
    assert question["least_share"] == question["least_records"] / 100_000
    noise = content["noise"]
    learnt = question["rho"] + reading["rho"]
    assert learnt + noise["rho_model"] + noise["rho_quality"] == pytest.approx(noise["rho"])
    assert json.loads(check(path, "--json").out)["noise"] is None
    closed = json.loads(check(save(place, {"sex": SEX}), "--json", *BUDGET).out)
    assert closed["learnt"] == []
    assert "learning" not in closed["noise"]


def test_an_open_schema_is_checked_as_its_kinds_are(place):
    kinds = {"town": "categorical", "code": TREE, "sex": SEX}
    as_schema = save(place, OpenSchema.from_kinds(kinds).to_dict(), "schema.json")
    texts = [check(path, *BUDGET).out.decode() for path in (save(place, kinds), as_schema)]
    assert texts[0].startswith("kinds of 3 columns")
    assert texts[1] == texts[0].replace("kinds", "schema", 1)


@pytest.mark.usefixtures("untouched")
def test_nothing_is_opened_or_paid_for(place):
    assert check(save(place, KINDS), *BUDGET, "--rows", "900").code == 0


WRONG = {
    "unknown kind": (
        {"a": "intger"},
        (),
        1,
        "'intger'; did you mean 'integer'? If not, use one of categorical",
    ),
    "free text": ({"a": "text"}, (), 1, "free text"),
    "a size among kinds": ({"a": 2, "b": "integer"}, (), 1, "the number 2"),
    "neither": ({"a": [1]}, (), 1, "fields is not given; give a list of columns"),
    "empty": ({}, (), 1, "fields is not given; give a list of columns"),
    "crossed bounds": (
        {"a": {"type": "integer", "constraints": {"minimum": 9, "maximum": 0}}},
        (),
        1,
        "'a'",
    ),
    "nothing said": ({"fields": [{"name": "a", "type": "string"}]}, (), 1, "derive them"),
    "rule on an open column": (
        {
            "fields": [{"name": "a", "type": "string", "synthdp": {"derive": True}}],
            "synthdp": {"constraints": [{"forbid": {"a": ["x"]}}]},
        },
        (),
        1,
        "whose domain is derived",
    ),
    "no budget": (
        {"a": "integer"},
        ("--epsilon", "1e-100", "--delta", "1e-300"),
        3,
        "allows nothing",
    ),
    "delta too small for thresholds": (
        {"a": "categorical"},
        ("--epsilon", "1", "--delta", "1e-290"),
        2,
        "delta",
    ),
}


@pytest.mark.parametrize(("content", "options", "code", "fragment"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_one_line(content, options, code, fragment, place):
    outcome = check(save(place, content), *options)
    assert_one_line(outcome, code)
    assert fragment in outcome.err
    assert outcome.out == b""


# ---- persons, and the share of the domain


@pytest.mark.parametrize("listed", [{}, {"person": "categorical"}], ids=["not listed", "listed"])
@pytest.mark.parametrize(
    "kinds", [KINDS, {"town": "categorical", "sex": SEX}], ids=["many columns", "few"]
)
def test_with_persons_and_a_share_it_is_still_what_a_run_pays(kinds, listed, place):
    """Questions and the model's first measurements, event by event."""
    path = save(place, kinds | listed)
    options = ("--unit", "person", "--max-rows-per-unit", "3", "--domain-share", "0.5", "--json")
    outcome = check(path, "--epsilon", "8", "--delta", "1e-6", *options)
    noise = json.loads(outcome.out)["noise"]
    table = frame(6000)[list(kinds)].assign(person=np.arange(6000) // 2)
    certificate = synthdp.synthesize(
        table,
        OpenSchema.from_kinds(kinds | listed),
        epsilon=8,
        delta=1e-6,
        unit="person",
        max_rows_per_unit=3,
        domain_share=0.5,
        workload="1-way",
    ).certificate
    events, further = split([event for event in certificate["events"] if "column" in event])
    of_levels = {q["column"] for q in noise["learning"]["questions"] if q["about"] == "levels"}
    not_needed = [
        q
        for q in noise["learning"]["questions"]
        if q["about"] == "single values"
        or (q["about"] == "reading" and q["column"] not in of_levels)
    ]
    asked = [q for q in noise["learning"]["questions"] if q not in not_needed]
    left = sum(q["rho"] for q in not_needed) - sum(event["rho"] for event in further)
    # which is left to the mechanism
    assert [(q["column"], q["sigma_records"], q["delta"]) for q in asked] == [
        asked_of(event) for event in events
    ]
    thresholds = [in_records(event)["threshold"] for event in events if "threshold" in event]
    # Of rows: persons have between one and three, so about the root of it.
    needed = [q["least_records"] / 3**0.5 for q in asked if q["delta"]]
    assert needed == pytest.approx(thresholds, abs=0.1)
    accounting = certificate["accounting"]
    assert noise["rho"] == accounting["rho_budget"]
    assert noise["rho_model"] + noise["rho_quality"] == pytest.approx(
        accounting["rho_budget"] - left - sum(event["rho"] for event in (*events, *further))
    )
    assert (noise["unit"], noise["max_rows_per_unit"], noise["learning"]["share_of_budget"]) == (
        "person",
        3,
        0.5,
    )


def test_the_model_s_noise_grows_with_the_rows_of_a_person():
    domain = Domain(("a", "b"), (2, 30))
    one, many = (expected_noise(domain, rho=Fraction(1, 9), max_rows_per_unit=k) for k in (1, 5))
    for single, several in zip(one.values(), many.values(), strict=True):
        assert several.sigma_records == pytest.approx(5 * single.sigma_records)


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.FitWarning"
)  # fits to so much noise may stop short
def test_sigma_of_persons_is_what_mechanism_auto_adds():
    table = pd.DataFrame({"a": [0, 1] * 50, "b": range(100), "person": range(100)})
    schema = OpenSchema.from_dict({"a": 2, "b": 100})
    persons = {"unit": "person", "max_rows_per_unit": 4}
    certificate = synthdp.synthesize(table, schema, epsilon=0.7, delta=1e-7, **persons).certificate
    first = {event["columns"][0]: event["sigma"] for event in certificate["events"][:2]}
    ledger = expected_ledger(schema, epsilon=0.7, delta=1e-7, **persons)
    columns = expected_noise(
        schema.largest_domain, rho=model_budget(schema, ledger), max_rows_per_unit=4
    )
    assert {name: noise.sigma_records for name, noise in columns.items()} == pytest.approx(first)


def test_a_unit_that_is_listed_costs_nothing(place):
    persons = ("--unit", "person", "--max-rows-per-unit", "2")
    paths = [save(place, KINDS), save(place, {"person": "categorical"} | KINDS, "listed.json")]
    texts = [check(path, *BUDGET, "--rows", "5000", *persons).out for path in paths]
    assert texts[0] == texts[1]
    lines = texts[0].decode().splitlines()
    assert lines[0].startswith("kinds of 11 columns")
    assert lines[0].endswith("and 'person', which tells persons apart; no data was opened")
    title = "noise to expect at epsilon 1, delta 1e-09, persons with at most 2 rows and a guess of 5,000 rows:"
    assert title in lines
    assert "K times" not in texts[0].decode()
    assert "K times" in check(paths[0], *BUDGET).out.decode()
    assert len(json.loads(check(paths[1], "--json").out)["learnt"]) == 11
    assert len(json.loads(check(paths[1], "--json", *persons).out)["learnt"]) == 10


def test_the_share_is_what_is_asked_for(place):
    path = save(place, KINDS)
    text = check(path, *BUDGET, "--domain-share", "0.4").out.decode()
    assert "with 40 % of the budget (at most 40 %, see --domain-share):" in text
    assert "of the model, with 59.4 %; 0.6 % measure how good its rows are:" in text
    assert (
        "note: 40 % of delta is spent on the thresholds"
        in check(path, "--domain-share", "0.4").out.decode()
    )


WRONG_OPTIONS = {
    "unit alone": (("--unit", "town"), 2, "without --max-rows-per-unit"),
    "rows alone": (("--max-rows-per-unit", "3"), 2, "without --unit"),
    "no rows": (("--unit", "town", "--max-rows-per-unit", "0"), 2, "max_rows_per_unit is 0"),
    "no share": (
        ("--domain-share", "0"),
        2,
        "domain_share is 0.0; give a number above 0 and at most 0.95",
    ),
    "all of it": (("--domain-share", "1", *BUDGET), 2, "domain_share is 1.0"),
    "the only column": (("--unit", "town", "--max-rows-per-unit", "3"), 1, "no column but 'town'"),
}


@pytest.mark.parametrize(("options", "code", "fragment"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
def test_wrong_options_are_one_line(options, code, fragment, place):
    outcome = check(save(place, {"town": "categorical"}), *options)
    assert_one_line(outcome, code)
    assert fragment in outcome.err
