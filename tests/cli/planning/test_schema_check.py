"""`synthdp schema check`: what it says about a schema, the noise it expects, and that it opens
nothing else.
"""

import json
import sys
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import CANARY, SCHEMA, assert_one_line, invoke, lay_out, names_in
from hypothesis import given
from hypothesis import strategies as st

import synthdp
from synthdp.cli import ABOUT_READING, expected_noise, schema_findings
from synthdp.core import Domain
from synthdp.inference import DirectEngine
from synthdp.privacy import MAX_CELLS, gdp_rho
from synthdp.release import QUALITY_SHARE
from synthdp.schema import Schema


def integers(name, bins, **more):
    bounds = {"minimum": 0, "maximum": bins - 1, "required": True}
    return {
        "name": name,
        "type": "integer",
        "constraints": bounds,
        "synthdp": {"bins": bins},
    } | more


def levels(name, n, *, required=True):
    enum = [f"L{i}" for i in range(n)]
    return {"name": name, "type": "string", "constraints": {"enum": enum, "required": required}}


def found(*fields, rules=()):
    schema = Schema.from_dict({"fields": list(fields), "synthdp": {"constraints": list(rules)}})
    return [
        (finding.severity, finding.columns, finding.what) for finding in schema_findings(schema)
    ]


def check(path, *options):
    return invoke("schema", "check", path, "--all", *options)


def findings_of(outcome):
    text, _, reading = outcome.out.decode().partition(f"\n\n{ABOUT_READING}")
    assert reading
    return text.splitlines()[2:]


@pytest.fixture
def place(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(place, *fields, rules=()):
    (place / "s.json").write_text(
        json.dumps({"fields": list(fields), "synthdp": {"constraints": list(rules)}})
    )
    return "s.json"


# ---- findings


def test_a_sound_schema_gives_no_finding():
    assert found(levels("a", 2), levels("b", 1, required=False), integers("c", 100)) == []


def test_columns_that_say_nothing():
    assert found(levels("a", 1), integers("b", 1), levels("c", 2)) == [
        ("warning", ("a",), "one level: all rows have the same"),
        ("warning", ("b",), "one bin: values are drawn evenly from all of it"),
    ]


@pytest.mark.parametrize("size", [1000, 1001, 5000])
def test_thousands_of_levels_and_what_they_cost(size):
    """Thousands of levels are warned of from 1001 on, "missing" counted."""
    texts, numbers = found(levels("a", size - 1, required=False)), found(integers("a", size))
    if size == 1000:
        assert texts == []
        assert numbers == [("note", ("a",), "1,000 bins, each with noise of its own")]
        return
    for what, ((severity, columns, text),) in (("levels", texts), ("bins", numbers)):
        assert (severity, columns) == ("warning", ("a",))
        assert text.startswith(
            f"{size:,} {what}, each with noise of its own: they misplace {size / 100:.0f} times"
        )


def test_many_bins_are_a_note_but_as_many_texts_are_not():
    dates = {
        "name": "d",
        "type": "date",
        "constraints": {"minimum": "2000-01-01", "maximum": "2000-12-31"},
    }
    dates |= {"synthdp": {"bins": 100}}  # and "missing"
    assert found(levels("t", 101), integers("n", 101), integers("m", 100)) == [
        ("note", ("n",), "101 bins, each with noise of its own"),
    ]
    assert found(dates) == [("note", ("d",), "101 bins, each with noise of its own")]


def test_pairs_that_are_left_out_or_cannot_be_counted():
    sizes = {"a": 1 << 10, "b": 1 << 10, "c": (1 << 10) + 1, "d": 1 << 17, "e": (1 << 17) + 1}
    schema = Schema.from_dict(sizes)
    pairs = {
        finding.columns: finding.what
        for finding in schema_findings(schema)
        if len(finding.columns) == 2
    }
    assert set(pairs) == {
        pair for pair in combinations(sizes, 2) if sizes[pair[0]] * sizes[pair[1]] > 1 << 20
    }
    assert pairs["b", "c"] == "1,049,600 cells, above 1,048,576: left out of the default workload"
    uncountable = {pair for pair, what in pairs.items() if "can be counted" in what}
    assert uncountable == {
        pair for pair in combinations(sizes, 2) if sizes[pair[0]] * sizes[pair[1]] > MAX_CELLS
    }
    assert ("a", "d") not in uncountable
    assert ("a", "e") in uncountable


@pytest.mark.parametrize("required", [True, False])
def test_a_column_that_another_determines_is_redundant(required):
    rule = {"determines": ["town", "region"], "map": {"L0": "L0", "L1": "L0", "L2": "L1"}}
    forbidden = {"forbid": {"town": ["L0"], "region": ["L1"]}}
    (finding,) = found(
        levels("town", 3, required=required), levels("region", 2), rules=[forbidden, rule]
    )
    unless = "" if required else ", except where 'town' is missing"
    assert finding == (
        "note",
        ("region",),
        f"redundant: a rule says that it follows from 'town'{unless}",
    )


@pytest.mark.parametrize("n_columns", [8, 3000])
def test_nothing_is_said_of_an_engine_that_nobody_chose(n_columns):
    """All columns together have more cells than engine direct takes; no other engine lists them."""
    columns = [levels(f"c{number}", 64) for number in range(n_columns)]
    assert 64**n_columns > DirectEngine.max_cells
    assert found(*columns) == []


def test_warnings_come_first_the_worst_of_them_first_and_a_line_each(place):
    fields = [integers("first\nsecond", 200), *(integers(f"c{i}", 2000 + i) for i in range(15))]
    outcome = check(save(place, *fields))
    lines = findings_of(outcome)
    n_warnings = 15 + 15 * 14 // 2
    assert [line.split(":")[0] for line in lines] == ["warning"] * n_warnings + ["note"]
    assert lines[0].startswith("warning: 'c13' x 'c14': ")  # of the most cells
    assert lines[n_warnings - 1].startswith("warning: 'c0': ")
    everything = json.loads(check("s.json", "--json").out)["findings"]
    assert [finding["severity"] for finding in everything] == ["warning"] * n_warnings + ["note"]
    assert "note: 'first\\nsecond': 200 bins" in check(save(place, fields[0])).out.decode()


def test_columns_of_which_the_same_is_to_be_said_share_a_line(place):
    outcome = check(save(place, *(integers(f"c{i}", 101) for i in range(10)), levels("l", 1)))
    lines = findings_of(outcome)
    names = ", ".join(f"'c{i}'" for i in range(8))
    assert lines[0].startswith("warning: 'l': one level")
    assert lines[1].startswith(
        f"note: {names} and 2 more: 101 bins, each with noise of its own; use fewer"
    )
    assert len(json.loads(check("s.json", "--json").out)["findings"]) == len(lines) + 9


# ---- noise


@given(
    shape=st.lists(st.integers(1, 3000), min_size=1, max_size=6),
    epsilon=st.floats(0.01, 20),
)
def test_the_noise_follows_the_formulas(shape, epsilon):
    domain = Domain(tuple("abcdef"[: len(shape)]), tuple(shape))
    rho = gdp_rho(epsilon=epsilon, delta=1e-9)
    columns, alone = (expected_noise(domain, rho=rho, only_columns=only) for only in (False, True))
    for found, share in ((columns, 0.08), (alone, 1.0)):
        spent = sum(1 / (2 * noise.sigma_records**2) for noise in found.values())
        assert spent == pytest.approx(share * float(rho))
    assert [noise.n_cells for noise in columns.values()] == shape


def test_sigma_is_what_mechanism_auto_adds():
    frame = pd.DataFrame({"a": [0, 1] * 50, "b": range(100), "c": [3, 4] * 50})
    sizes = {"a": 2, "b": 100, "c": 7}
    certificate = synthdp.synthesize(frame, sizes, epsilon=0.7, delta=1e-7).certificate
    first = {event["columns"][0]: event["sigma"] for event in certificate["events"][:3]}
    columns = expected_noise(
        Schema.from_dict(sizes).domain,
        rho=gdp_rho(epsilon=0.7, delta=1e-7) * (1 - Fraction(QUALITY_SHARE)),
    )
    assert {name: noise.sigma_records for name, noise in columns.items()} == pytest.approx(first)


# ---- the command


@pytest.mark.usefixtures("place")
def test_the_text_for_people():
    plain = check("schema.json")
    assert (plain.code, plain.err) == (0, "")
    assert plain.out.decode().startswith(
        "schema of 3 columns; no data was opened\n\nnothing to warn of\n\nhow columns"
    )
    budget = ("--epsilon", "1", "--delta", "1e-6")
    text = check("schema.json", *budget, "--rows", "2000").out.decode()
    assert "noise to expect at epsilon 1, delta 1e-06 and a guess of 2,000 rows:" in text
    columns = expected_noise(
        Schema.load("schema.json").domain,
        rho=gdp_rho(epsilon=1.0, delta=1e-6) * (1 - Fraction(QUALITY_SHARE)),
    )
    for name, noise in columns.items():
        row = next(line.split() for line in text.splitlines() if line.startswith(f"{name} "))
        assert row[:3] == [name, str(noise.n_cells), f"{noise.sigma_records:.4g}"]
        assert row[4:] == ["%"]
    assert "rows misplaced: by auto's own plan" in text
    unknown = check("schema.json", *budget).out.decode()
    assert "give --rows" in unknown
    assert "%" not in unknown.replace("8 % of the budget", "")


def test_the_json_for_machines(place):
    path = save(place, integers("a", 2000), levels("b", 3, required=False))
    content = json.loads(
        check(path, "--json", "--epsilon", "1", "--delta", "1e-9", "--rows", "5000").out
    )
    (finding,) = content["findings"]
    assert set(finding) == {"severity", "columns", "what", "way_out"}
    assert (finding["severity"], finding["columns"]) == ("warning", ["a"])
    noise = content["noise"]
    assert {key: noise[key] for key in ("epsilon", "delta", "rows", "accounting", "adjacency")} == {
        "epsilon": 1,
        "delta": 1e-9,
        "rows": 5000,
        "accounting": "gdp",
        "adjacency": "add-remove",
    }
    assert [(column["name"], column["n_cells"]) for column in noise["columns"]] == [
        ("a", 2000),
        ("b", 4),
    ]
    assert noise["misplaced"]["by_column"].keys() == {"a", "b"}
    assert json.loads(check(path, "--json").out)["noise"] is None
    unknown = json.loads(check(path, "--json", "--epsilon", "1", "--delta", "1e-9").out)["noise"]
    assert unknown["misplaced"] is None


PERSONS = ("--unit", "who", "--max-rows-per-unit", "3")
ASKED = {
    "a schema": ([levels("b", 30), integers("a", 200)], 5000, ()),
    "few rows, columns alone": ([levels("b", 30), integers("a", 200), levels("c", 9)], 150, ()),
    "persons": ([levels("b", 30), integers("a", 200), levels("who", 900)], 5000, PERSONS),
    "one column": ([levels("b", 30)], 5000, ()),
    "kinds": ({"a": "categorical", "b": "number", "c": "integer"}, 5000, ()),
    "kinds of persons": ({"a": "categorical", "b": "number", "who": "integer"}, 900, PERSONS),
}


@pytest.mark.parametrize(("fields", "rows", "more"), ASKED.values(), ids=ASKED)
def test_the_check_and_the_plan_expect_the_same_errors(fields, rows, more, place):
    if isinstance(fields, dict):
        (place / "s.json").write_text(json.dumps(fields))
    else:
        save(place, *fields)
    budget = ("--epsilon", "0.7", "--delta", "1e-9", "--rows", str(rows), "--json", *more)
    checked = json.loads(check("s.json", *budget).out)["noise"]["misplaced"]
    planned = json.loads(invoke("plan", "s.json", *budget).out)["budgets"]
    (same,) = [each for each in planned if each["epsilon"] == 0.7]
    assert checked == {name: same[name] for name in checked}
    assert np.mean(list(checked["by_column"].values())) == pytest.approx(checked["columns"])


AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
REFUSED = {
    "crossed bounds": ([AGE | {"constraints": {"minimum": 9, "maximum": 0}}], [], 1, "'age'"),
    "too many bins": ([AGE | {"synthdp": {"bins": 11}}], [], 1, "use fewer bins"),
    "no column": ([], [], 1, "'fields' is empty"),
    "a rule that forbids everything": (
        [levels("a", 2)],
        [{"forbid": {"a": ["L0", "L1"]}}],
        1,
        "allows nothing",
    ),
    "rules that together forbid everything": (
        [levels("a", 2), levels("b", 2)],
        [{"forbid": {"a": ["L0"]}}, {"forbid": {"a": ["L1"]}}],
        2,
        "",
    ),
}


@pytest.mark.parametrize(("fields", "rules", "code", "fragment"), REFUSED.values(), ids=REFUSED)
def test_schemas_that_contradict_themselves_are_refused_in_one_line(
    fields, rules, code, fragment, place
):
    outcome = check(save(place, *fields, rules=rules))
    assert_one_line(outcome, code)
    assert fragment in outcome.err
    assert outcome.out == b""


WRONG = {
    "no file": (("none.json",), 1, "no such file"),
    "no JSON": (("in.csv",), 1, "not valid JSON"),
    "no schema at all": ((), 2, "SCHEMA"),
    "epsilon alone": (("schema.json", "--epsilon", "1"), 2, "delta is None; give both"),
    "delta alone": (
        ("schema.json", "--delta", "1e-9"),
        2,
        "epsilon is None but delta is 1e-09; give both",
    ),
    "rows alone": (("schema.json", "--rows", "5"), 2, "give epsilon and delta"),
    "epsilon 0": (("schema.json", "--epsilon", "0", "--delta", "1e-9"), 2, "epsilon is 0"),
    "epsilon nan": (("schema.json", "--epsilon", "nan", "--delta", "1e-9"), 2, "epsilon is nan"),
    "delta 1": (("schema.json", "--epsilon", "1", "--delta", "1"), 2, "delta is 1"),
    "no budget": (
        ("schema.json", "--epsilon", "1e-100", "--delta", "1e-300"),
        3,
        "allows nothing to be measured",
    ),
    "no rows": (
        ("schema.json", "--epsilon", "1", "--delta", "1e-9", "--rows", "0"),
        2,
        "--rows is 0; give 1 or more",
    ),
    "absurd rows": (
        ("schema.json", "--epsilon", "1", "--delta", "1e-9", "--rows", "9" * 400),
        2,
        "at most",
    ),
}


@pytest.mark.parametrize(("arguments", "code", "fragment"), WRONG.values(), ids=WRONG)
@pytest.mark.usefixtures("place")
def test_wrong_input_is_one_line_and_the_exit_code_of_other_commands(arguments, code, fragment):
    outcome = invoke("schema", "check", *arguments)
    assert_one_line(outcome, code)
    assert fragment in outcome.err


OPENED: list[str] = []
_is_watched = [False]


def _watch(event, arguments):
    if _is_watched[0] and event == "open":
        OPENED.append(str(arguments[0]))


@pytest.mark.usefixtures("untouched")
def test_nothing_but_the_schema_is_opened_and_nothing_written_or_paid_for(place):
    arguments = ("schema.json", "--epsilon", "1", "--delta", "1e-9", "--rows", "900")
    before = check(*arguments)  # loads modules
    sys.addaudithook(_watch)  # it cannot be taken away again, only be put to sleep
    (place / "in.csv").write_text(CANARY)
    names = names_in(place)
    _is_watched[0] = True
    try:
        outcome = check(*arguments)
    finally:
        _is_watched[0] = False
    assert set(OPENED) == {"schema.json"}
    assert (outcome.code, outcome.out, names_in(place)) == (0, before.out, names)
    assert json.loads((place / "schema.json").read_text()) == SCHEMA
