"""Rules on columns whose bins nobody declared: bins begin and end where conditions do, and are learnt
between them.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthdp
from synthdp.core import ParameterError, SchemaError
from synthdp.release import Release, RunSettings
from synthdp.schema import OpenSchema, Schema

N_ROWS = 8000
BUDGET = {"epsilon": 3.0, "delta": 1e-6}
LEVELS = {"enum": ["a", "b"], "required": True}


def field(name, field_type, low, high, **own):
    bounds = {"minimum": low, "maximum": high, "required": True}
    return {"name": name, "type": field_type, "constraints": bounds} | (
        {"synthdp": own} if own else {}
    )


def schema_of(fields, *rules):
    return {"fields": fields, "synthdp": {"constraints": list(rules)}}


DAYS = pd.date_range("2019-01-01", "2020-12-31").strftime("%Y-%m-%d").tolist()


def value(field_type, point):
    """A value of each type that lies as points do."""
    if field_type == "date":
        return DAYS[point]
    return point / 4 if field_type == "number" else point


@st.composite
def ruled_columns(draw):
    """A field with bounds, a rule on it, and what the rule's condition is."""
    field_type = draw(st.sampled_from(["integer", "number", "date"]))
    low = draw(st.integers(0, 300))
    high = draw(st.integers(low + 80, 700))
    own = {"decimals": 2} if field_type == "number" else {}
    declared = field("x", field_type, value(field_type, low), value(field_type, high), **own)
    points = st.integers(max(low - 20, 0), high + 20)
    if draw(st.booleans()):
        ends = sorted(draw(st.tuples(points, points)))
        keys = draw(st.sampled_from([("minimum",), ("maximum",), ("minimum", "maximum")]))
        both = dict(zip(("minimum", "maximum"), ends, strict=True))
        condition: Any = {key: value(field_type, both[key]) for key in keys}
    else:
        condition = [
            value(field_type, point) for point in draw(st.lists(points, min_size=1, max_size=4))
        ]
    edges = draw(st.lists(st.integers(low + 1, high - 1), min_size=1, max_size=6, unique=True))
    return declared, condition, [low, *sorted(edges), high]


def meets(condition, one):
    if isinstance(condition, list):
        return one in condition
    return condition.get("minimum", one) <= one <= condition.get("maximum", one)


@given(ruled_columns())
@settings(max_examples=150, deadline=None)
def test_a_code_meets_a_condition_if_its_values_do(case):
    """Brute force over all values, whether bins are equally wide, or were learnt."""
    declared, condition, edges = case
    rule = {"forbid": {"x": condition, "y": ["a"]}}
    content = schema_of([declared, {"name": "y", "type": "string", "constraints": LEVELS}], rule)
    opened = OpenSchema.from_dict(content)
    (column,) = opened.open_columns
    learnt = column.resolved(edges=[value(column.type, edge) for edge in edges])
    for schema in (opened.outline, opened.resolved({"x": learnt}), Schema.from_dict(content)):
        (constraint,) = schema.constraints
        forbidden = ~constraint.allowed[:, 0]
        assert constraint.allowed[:, 1].all()
        low, high = edges[0], edges[-1]
        values = [value(column.type, point) for point in range(low, high + 1)]
        codes = schema["x"].encode(pd.Series(values, dtype=object))
        assert forbidden[codes].tolist() == [meets(condition, each) for each in values]
    starts = {str(edge) for edge in learnt.field()["synthdp"].get("edges", [])}
    closed = opened.resolved({"x": learnt})["x"].field()["synthdp"]
    assert starts <= {str(edge) for edge in closed.get("edges", [])}
    assert Schema.from_dict(opened.resolved({"x": learnt}).to_dict()) == opened.resolved(
        {"x": learnt}
    )


INCOMES = schema_of(
    [
        field("age", "integer", 0, 110),
        field("income", "integer", 0, 1_000_000),
        {"name": "status", "type": "string", "constraints": LEVELS},
    ],
    {"forbid": {"age": {"maximum": 14}, "income": {"minimum": 1}}},
    {
        "allow": [
            {"age": {"maximum": 17}, "status": ["a"]},
            {"age": {"minimum": 18}, "status": ["a", "b"]},
        ]
    },
)


def records(seed=0):
    """Incomes are 0 of children and of one in five others, and 12,000 of as many."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 90, N_ROWS)
    incomes = rng.integers(5_000, 90_000, N_ROWS)
    turn = rng.random(N_ROWS)
    incomes = np.where(turn < 0.2, 0, np.where(turn < 0.4, 12_000, incomes))
    return pd.DataFrame(
        {
            "age": ages,
            "income": np.where(ages < 15, 0, incomes),
            "status": np.where((ages >= 18) & (rng.random(N_ROWS) < 0.5), "b", "a"),
        }
    )


RECORDS = records()


def test_heavy_values_are_drawn_and_rules_are_kept():
    found = synthdp.synthesize(RECORDS, INCOMES, **BUDGET)
    drawn = found.sample(N_ROWS, seed=0)
    for one in (0, 12_000):
        true = (RECORDS["income"] == one).mean()
        assert (drawn["income"] == one).mean() == pytest.approx(true, rel=0.1)
    assert (drawn["income"] > 90_000).mean() < 0.02
    assert (drawn.loc[drawn["age"] <= 14, "income"] == 0).all()
    assert (drawn.loc[drawn["age"] <= 17, "status"] == "a").all()
    assert found.certificate["domain"]["derived"] == {"age": ["bins"], "income": ["bins"]}
    again = OpenSchema.from_dict(found.schema.to_dict())
    assert not again.is_open


def test_equal_bins_where_asked_lose_them_and_must_not_be_cut():
    content = {**INCOMES, "fields": [dict(each) for each in INCOMES["fields"]]}
    content["fields"][1]["synthdp"] = {"bins": 32}
    with pytest.raises(SchemaError, match="a rule cuts a bin in two"):
        synthdp.synthesize(RECORDS, content, **BUDGET)


def test_rules_that_leave_no_row_are_refused_before_anything_is_read():
    impossible = schema_of(INCOMES["fields"], {"forbid": {"age": {"minimum": 0}}})
    with pytest.raises(SchemaError, match="allows nothing"):
        OpenSchema.from_dict(impossible)
    contradicting = schema_of(
        INCOMES["fields"],
        {"allow": [{"age": {"maximum": 14}, "status": ["a"]}]},
        {"forbid": {"age": {"maximum": 20}}},
    )
    with pytest.raises(ParameterError, match="is impossible; loosen the constraints"):
        Release(schema=OpenSchema.from_dict(contradicting), settings=RunSettings(**BUDGET))


def test_what_rules_cannot_speak_of_is_refused():
    fields = [
        {"name": "age", "type": "integer", "synthdp": {"derive": True}},
        *INCOMES["fields"][1:],
    ]
    with pytest.raises(SchemaError, match="a rule names 'age', whose domain is derived"):
        OpenSchema.from_dict(
            schema_of(fields, {"forbid": {"age": {"maximum": 14}, "status": ["b"]}})
        )
    unreadable = {"forbid": {"age": {"maximum": "old"}, "status": ["b"]}}
    with pytest.raises(SchemaError, match="constraints: column 'age': a limit between None"):
        OpenSchema.from_dict(schema_of(INCOMES["fields"], unreadable))


@pytest.mark.parametrize(
    "left_open",
    [
        {"constraints": {"minimum": 0, "maximum": 500}, "synthdp": {"derive": True}},
        field("x", "number", 0, 500, derive=["decimals"], bins=20),
    ],
    ids=["missing", "decimals beside declared bins"],
)
def test_rules_do_not_name_what_is_open_besides_bins(left_open):
    fields = [
        {"name": "x", "type": "number"} | left_open,
        {"name": "status", "type": "string", "constraints": LEVELS},
    ]
    rule = {"forbid": {"x": {"minimum": 250}, "status": ["b"]}}
    with pytest.raises(SchemaError, match="a rule names 'x', whose domain is derived"):
        OpenSchema.from_dict(schema_of(fields, rule))


def test_what_others_follow_from_is_not_derived():
    fields = [
        field("code", "integer", 0, 99, derive=["bins"]),
        {"name": "group", "type": "string", "constraints": LEVELS},
    ]
    rule = {"determines": ["code", "group"], "map": {str(code): "a" for code in range(100)}}
    with pytest.raises(SchemaError, match="a rule names 'code', whose domain is derived"):
        OpenSchema.from_dict(schema_of(fields, rule))


def test_bins_with_a_declared_shape_are_neither_learnt_nor_parted():
    shape = {"starts": [0, 500], "weights": [1, 3]}
    fields = [
        field("x", "integer", 0, 1000, shape=shape),
        field("z", "integer", 0, 1000),
        {"name": "status", "type": "string", "constraints": LEVELS},
    ]
    assert [each.name for each in OpenSchema.from_dict(schema_of(fields)).open_columns] == ["z"]
    rule = {"forbid": {"x": {"minimum": 240}, "status": ["b"]}}
    with pytest.raises(SchemaError, match="column 'x': a rule cuts a bin in two"):
        OpenSchema.from_dict(schema_of(fields, rule))


def test_equally_wide_bins_beside_open_columns_are_parted_too():
    fields = [
        field("x", "integer", 0, 1000),
        {"name": "z", "type": "integer", "synthdp": {"derive": True}},
        {"name": "status", "type": "string", "constraints": LEVELS},
    ]
    content = schema_of(fields, {"forbid": {"x": {"minimum": 33}, "status": ["b"]}})
    opened = OpenSchema.from_dict(content, learns_bins=False)
    assert [each.name for each in opened.open_columns] == ["z"]
    assert opened.outline["x"].n_levels == 33


def test_edges_that_were_found_between_values_stay_where_they_are():
    opened = OpenSchema.from_dict(
        schema_of(
            [
                field("x", "number", 0.25, 99.75),
                {"name": "status", "type": "string", "constraints": LEVELS},
            ],
            {"forbid": {"x": {"minimum": 7}, "status": ["b"]}},
        )
    )
    learnt = opened.open_columns[0].resolved(edges=[0.25, 2.5, 99.75], decimals=0)
    closed = opened.resolved({"x": learnt})["x"]
    assert closed.field()["synthdp"]["edges"] == [0.25, 2.5, 7.0, 99.75]
    assert closed.decimals == 0


def taxed(**own):
    """A total of two numbers with more decimals than it has, and a rule on it."""
    fields = [
        field("net", "number", 0, 500, decimals=3),
        field("tax", "number", 0, 500, decimals=3),
        field("gross", "number", 0, 1000, **own),
        {"name": "status", "type": "string", "constraints": LEVELS},
    ]
    rule = {"forbid": {"gross": {"maximum": 50}, "status": ["b"]}}
    return schema_of(fields, {"check": "gross == net + tax"}, rule)


def test_totals_get_their_decimals_before_rules_part_their_bins():
    schema = Schema.from_dict(taxed(decimals=1))
    (constraint,) = (each for each in schema.constraints if "status" in each.clique)
    codes = schema["gross"].encode(pd.Series([50.0, 50.001]))
    assert (~constraint.allowed[:, 1])[codes].tolist() == [True, False]


def test_levels_that_others_follow_from_are_known_before_the_run():
    fields = [
        field("code", "integer", 0, 99),
        {"name": "group", "type": "string", "constraints": LEVELS},
    ]
    rule = {
        "determines": ["code", "group"],
        "map": {str(3 * k): "a" for k in range(33)},
    }
    with pytest.raises(SchemaError, match="cuts a bin"):
        OpenSchema.from_dict(schema_of(fields, rule))


def test_decimals_that_checks_ask_for_do_not_undo_where_bins_begin():
    """A total gets the decimals of its parts after its bins were learnt."""
    opened = OpenSchema.from_dict(taxed())
    columns = {column.name: column for column in opened.open_columns}
    learnt = {
        "net": columns["net"].resolved(edges=[0, 10, 500]),
        "tax": columns["tax"].resolved(edges=[0, 20, 500]),
        "gross": columns["gross"].resolved(edges=[0, 100, 1000], decimals=1),
    }
    schema = opened.resolved(learnt)
    (constraint,) = (each for each in schema.constraints if "status" in each.clique)
    forbidden = ~constraint.allowed[:, 1]
    values = pd.Series([49.999, 50.0, 50.001, 50.1])
    assert forbidden[schema["gross"].encode(values)].tolist() == [True, True, False, False]


def test_findings_that_leave_no_value_to_a_rule_give_way_to_what_was_made_up():
    """Between 17.2 and 17.8 there is no whole number: rules were tried on decimals."""
    fields = [
        field("rate", "number", 0, 500),
        {"name": "status", "type": "string", "constraints": LEVELS},
    ]
    span = {"minimum": 17.2, "maximum": 17.8}
    rule = {"allow": [{"rate": span, "status": ["a", "b"]}]}
    opened = OpenSchema.from_dict(schema_of(fields, rule))
    (column,) = opened.open_columns
    schema = opened.resolved({"rate": column.resolved(edges=[0, 100, 500], decimals=0)})
    assert schema.constraints[0].allowed.any()


BETWEEN = [
    {
        "allow": [
            {"rate": {"minimum": 17.2, "maximum": 17.8}, "status": ["a"]},
            {"rate": {"maximum": 17.1}, "status": ["b"]},
        ]
    },
    {"allow": [{"rate": {"minimum": 17.2}, "status": ["a", "b"]}]},
]
"""Rules that each leave a row of whole numbers, and together none."""


def test_decimals_that_leave_no_row_to_rules_together_give_way_too(tmp_path):
    fields = [
        field("rate", "number", 0, 500),
        {"name": "status", "type": "string", "constraints": LEVELS},
    ]
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"rate": rng.integers(0, 500, 500) * 1.0, "status": rng.choice(["a", "b"], 500)}
    )
    said = "column 'rate': what was learnt of its bins leaves no row that keeps to the rules"
    with pytest.warns(synthdp.CautionWarning, match=said):
        found = synthdp.synthesize(
            table, schema_of(fields, *BETWEEN), **BUDGET, journal=tmp_path / "journal"
        )
    assert any(said in each for each in found.certificate["cautions"])
    rescued = synthdp.from_journal(tmp_path / "journal", unchecked=True)
    assert any(said in each for each in rescued.certificate["cautions"])
    drawn = found.sample(200, seed=0)
    assert drawn["rate"].between(17.2, 17.8).all()
    assert (drawn["status"] == "a").all()
    # Where they leave a row what was found is kept: 17.5 can be missed.
    rule = {"forbid": {"rate": [17.5], "status": ["b"]}}
    found = synthdp.synthesize(table, schema_of(fields, rule), **BUDGET)
    assert found.schema["rate"].decimals == 0
    assert not any(said in each for each in found.certificate.get("cautions", []))


def test_bins_are_kept_where_checks_stand_beside_other_rules():
    """Bounds of what checks name may have to be widened: a rule is not to be in the way of that."""
    rules = [*INCOMES["synthdp"]["constraints"], {"check": "income <= 20000 * age + 20000"}]
    for named in (rules, rules[:1], rules[1:]):
        opened = OpenSchema.from_dict(schema_of(INCOMES["fields"], *named))
        columns = {column.name: column for column in opened.open_columns}
        learnt = {
            "age": columns["age"].resolved(edges=[0, 33, 110]),
            "income": columns["income"].resolved(edges=[0, 7, 12_001, 1_000_000]),
        }
        schema = opened.resolved(learnt)
        for name, column in learnt.items():
            assert {*column.edges} <= {*schema[name].edges}
            assert len(schema[name].edges) <= len(column.edges) + 2


def test_totals_that_contradict_rules_on_learnt_columns_are_refused(tmp_path):
    known = pd.DataFrame({"status": ["a", "b"], "count": [4000, 4000]})
    rules = [
        {"forbid": {"age": {"maximum": 50}, "status": ["b"]}},
        {"forbid": {"age": {"minimum": 51}, "status": ["b"]}},
    ]
    content = schema_of(INCOMES["fields"], *rules)
    journal = tmp_path / "journal"
    with pytest.raises(ParameterError, match="a rule on 'status' forbids"):
        synthdp.synthesize(RECORDS, content, **BUDGET, known=known, journal=journal)
    assert not journal.exists()


def test_bins_of_which_rules_would_list_too_many_are_refused_before_the_run():
    content = schema_of(
        [
            field("age", "integer", 0, 99_999, derive=["bins"], binning="quantiles", bins=6000),
            field("income", "integer", 0, 99_999, derive=["bins"], binning="quantiles", bins=6000),
        ],
        {"forbid": {"age": {"maximum": 14}, "income": {"minimum": 1}}},
    )
    with pytest.raises(SchemaError, match=r"rules list more than .* use fewer bins"):
        OpenSchema.from_dict(content)
    content["fields"][0]["synthdp"]["bins"] = 5000
    assert OpenSchema.from_dict(content).is_open


def test_no_more_levels_are_learnt_than_the_largest_domain_has():
    """Conditions that begin where equally wide bins do part bins that were learnt all the same."""
    rule = {"forbid": {"x": {"minimum": 320, "maximum": 479}, "y": ["a"]}}
    content = schema_of(
        [field("x", "integer", 0, 5119), {"name": "y", "type": "string", "constraints": LEVELS}],
        rule,
    )
    opened = OpenSchema.from_dict(content)
    assert opened.outline["x"].n_levels == 32
    assert opened.largest_domain["x"] == 34
    edges = [0, *range(1, 32), 5119]
    learnt = opened.open_columns[0].resolved(edges=edges)
    assert opened.resolved({"x": learnt})["x"].n_levels == 34
    # What begins or ends with the bounds parts nothing.
    content["synthdp"]["constraints"] += [{"forbid": {"x": [0, 5119], "y": ["b"]}}]
    content["synthdp"]["constraints"] += [{"allow": [{"x": {"minimum": 0, "maximum": 9999}}]}]
    assert OpenSchema.from_dict(content).largest_domain["x"] == 36


def test_a_table_in_an_engine_learns_them_too():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("t", RECORDS)
    found = synthdp.synthesize(connection.table("t"), INCOMES, **BUDGET)
    drawn = found.sample(N_ROWS, seed=0)
    true = (RECORDS["income"] == 12_000).mean()
    assert (drawn["income"] == 12_000).mean() == pytest.approx(true, rel=0.1)
    assert (drawn.loc[drawn["age"] <= 14, "income"] == 0).all()
