"""Survey weights: the population is drawn, weighted counts have limits, and nothing else changes."""

import numpy as np
import pandas as pd
import pytest
from helpers.non_interference import differences, of_call, replayed

import synthdp
from synthdp.core import CautionWarning, ParameterError, SchemaError
from synthdp.schema import OpenSchema, Schema

FIELDS = [
    {"name": "area", "type": "string", "constraints": {"enum": ["a", "b"], "required": True}},
    {"name": "owner", "type": "string", "constraints": {"enum": ["n", "y"], "required": True}},
    {
        "name": "weight",
        "type": "integer",
        "constraints": {"minimum": 1, "maximum": 20, "required": True},
        "synthdp": {"bins": 20},
    },
]
SCHEMA = {"fields": FIELDS}


def survey(seed=0, n_rows=4000):
    """A sample in which who owns is rare, and weighs much."""
    chance = np.random.default_rng(seed)
    owner = np.where(chance.random(n_rows) < 0.2, "y", "n")
    area = np.where(chance.random(n_rows) < 0.3 + 0.4 * (owner == "y"), "a", "b")
    weight = np.where(owner == "y", 18, 2) + (area == "a")
    return pd.DataFrame({"area": area, "owner": owner, "weight": weight})


def marked():
    own = {**FIELDS[2]["synthdp"], "weight": True}
    return {"fields": [*FIELDS[:2], {**FIELDS[2], "synthdp": own}]}


def release(table, schema=SCHEMA, **settings):
    return synthdp.synthesize(table, schema, **{"epsilon": 3.0, "delta": 1e-6} | settings)


def shares(table, weights=None):
    weights = pd.Series(1.0, table.index) if weights is None else weights
    return weights.groupby([table["area"], table["owner"]]).sum() / weights.sum()


@pytest.mark.parametrize("schema", [SCHEMA, marked()], ids=["setting", "schema"])
def test_the_population_is_drawn(schema, tmp_path):
    table = survey()
    synthesis = release(table, schema, **({"weight": "weight"} if schema is SCHEMA else {}))
    synthesis.save(tmp_path / "survey.synthdp")
    synthesis = synthdp.load(tmp_path / "survey.synthdp")
    population = synthesis.sample(weighted=True, seed=1)
    assert list(population.columns) == ["area", "owner"]
    assert len(population) == pytest.approx(table["weight"].sum(), rel=0.05)
    truth = shares(table, table["weight"])
    assert (shares(population) - truth).abs().max() < 0.03
    assert (shares(synthesis.sample(seed=1)) - truth).abs().max() > 0.3
    assert len(synthesis.sample(500, weighted=True, where={"area": ["a"]}, seed=1)) == 500
    assert "weight" in synthesis.sample(5, seed=0)


def test_weighted_counts_and_their_limits():
    table = survey()
    synthesis = release(table, weight="weight")
    truth = table["weight"].groupby(table["owner"]).sum()
    found = synthesis.marginal(["owner"], weighted=True)
    assert found.loc["y"] == pytest.approx(truth["y"], rel=0.05)
    limits = synthesis.marginal(["owner"], weighted=True, interval=0.999999)
    assert (limits["low"] <= truth.to_numpy()).all()
    assert (limits["high"] >= truth.to_numpy()).all()


def test_limits_of_measured_weighted_counts_cover_as_often_as_they_say():
    table = survey(n_rows=2000)
    truth = table["weight"].groupby(table["owner"]).sum().to_numpy()
    inside, measured = [], 0
    for _ in range(40):
        synthesis = release(table, weight="weight", workload="2-way", mechanism="gaussian")
        limits = synthesis.marginal(["owner"], weighted=True, interval=0.8)
        measured += (limits["basis"] == "measured").all()
        inside += list((limits["low"] <= truth) & (truth <= limits["high"]))
    assert measured == 40
    # 80 limits of .8, some of which hang together: six standard deviations.
    assert 0.45 <= np.mean(inside) <= 1


@pytest.mark.parametrize(("interval", "deviations"), [(0.8, 1.2815516), (0.95, 1.9599640)])
def test_limits_reach_as_far_as_the_recorded_noise(interval, deviations):
    """Each cell of owner and weight has noise of one scale, and weighs 1 to 20."""
    pairs = {"marginals": [{"columns": ["owner", "weight"]}]}
    synthesis = release(survey(), weight="weight", workload=pairs, mechanism="gaussian")
    scales = [
        float(np.asarray(each.stddev).max())
        for each in synthesis.measurements
        if set(each.clique) == {"owner", "weight"}
    ]
    assert len(scales) == 1
    limits = synthesis.marginal(["owner"], weighted=True, interval=interval)
    assert (limits["basis"] == "measured").all()
    reach = deviations * scales[0] * np.sqrt(np.square(np.arange(1, 21)).sum())
    assert limits["low"].min() > 0
    assert (limits["high"] - limits["count"]).to_numpy() == pytest.approx(reach, rel=1e-6)
    assert (limits["count"] - limits["low"]).to_numpy() == pytest.approx(reach, rel=1e-6)


def _with_weight(constraints, **own):
    return {"fields": [*FIELDS[:2], {**FIELDS[2], "constraints": constraints, "synthdp": own}]}


@pytest.mark.parametrize("mechanism", ["gaussian", "independent"])
def test_limits_hold_wherever_in_wide_bins_weights_lie(mechanism):
    table = survey()
    wide = _with_weight({"minimum": 1, "maximum": 400, "required": True}, edges=[1, 100, 400])
    with pytest.warns(CautionWarning, match="survey weights: bins of 'weight' are so wide"):
        synthesis = release(table, wide, weight="weight", mechanism=mechanism, workload="2-way")
    limits = synthesis.marginal(["owner"], weighted=True, interval=0.999999)
    truth = table["weight"].groupby(table["owner"]).sum().to_numpy()
    assert ((limits["low"] <= truth) & (truth <= limits["high"])).all()
    assert (limits["basis"] == "model").all()


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"minimum": 0, "maximum": 0}, "no weight above 0 is declared"),
        ({"minimum": -5, "maximum": 20}, "a weight of -5 is declared"),
        ({"enum": [0]}, "no weight above 0 is declared"),
        ({"enum": [-1, 3]}, "a weight of -1 is declared"),
    ],
)
def test_weights_that_weigh_nothing_are_refused_before_anything_is_paid(
    constraints, said, tmp_path
):
    with pytest.raises(ParameterError, match=f"weight is 'weight': {said}"):
        release(survey(), _with_weight(constraints), weight="weight", journal=tmp_path / "journal")
    assert not (tmp_path / "journal").exists()


def test_a_generous_maximum_is_no_caution_where_weights_were_found():
    """The largest weight stands alone below a bin in which nobody is."""
    table = survey()
    weights = np.array([4.17, 13.89, 25.0, 41.67, 62.5, 104.17])
    table["weight"] = weights[np.arange(len(table)) % 6]
    field = {"name": "weight", "type": "number"}
    field["constraints"] = {"minimum": 0, "maximum": 250, "required": True}
    synthesis = release(table, {"fields": [*FIELDS[:2], field]}, weight="weight")
    largest, above = synthesis.schema["weight"].labels[-2:]
    assert (largest.left, above.left, above.right) == (104.17, 104.18, 250)
    assert [each for each in synthesis.certificate["cautions"] if "survey weights" in each] == []
    truth = table["weight"].groupby(table["owner"]).sum().to_numpy()
    limits = synthesis.marginal(["owner"], weighted=True, interval=0.999999)
    assert ((limits["low"] <= truth) & (truth <= limits["high"])).all()


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
def test_learnt_weights_below_0_are_said_to_count_as_0():
    learnt = _with_weight({"required": True}, derive=["bounds", "bins"])
    table = survey()
    synthesis = release(table.assign(weight=-table["weight"]), learnt, weight="weight")
    said = [each for each in synthesis.certificate["cautions"] if "survey weights" in each]
    assert "of the records have bins of 'weight' below 0, which count as 0" in said[0]
    assert "no value of 'weight' is above 0" in said[1]
    with pytest.raises(ParameterError, match="weighted: no value of 'weight' is above 0"):
        synthesis.sample(weighted=True, seed=0)


def test_weights_that_were_measured_alone_are_said_to_weigh_alike():
    with pytest.warns(CautionWarning, match="survey weights: 'weight' was measured alone"):
        release(survey(), weight="weight", mechanism="independent")
    assert not [
        each
        for each in release(survey(), weight="weight").certificate["cautions"]
        if "survey weights" in each
    ]


def test_what_depends_on_the_weight_is_in_the_workload():
    table = survey()
    target = {"marginals": [{"columns": ["area", "owner"]}]}
    plain = release(table, workload=target)
    weighed = release(table, workload=target, weight="weight")
    assert plain.certificate["workload"]["n_marginals"] == 1
    assert weighed.certificate["workload"]["n_marginals"] == 3


def test_a_weight_changes_no_sensitivity():
    """The same is spent, and the noise of a measured cell has the same scale."""
    table = survey()
    settings = {"mechanism": "independent", "workload": "2-way"}
    plain, weighed = release(table, **settings), release(table, weight="weight", **settings)
    spent = [each.certificate["accounting"]["rho_spent"] for each in (plain, weighed)]
    assert spent[0] == pytest.approx(spent[1])
    heavy = release(table.assign(weight=20), weight="weight", **settings)
    assert [m.stddev for m in heavy.measurements] == [m.stddev for m in weighed.measurements]


@pytest.mark.parametrize(
    ("name", "said"),
    [("owner", "it is of type string; name a column of numbers"), ("w", "there is no such column")],
)
def test_a_column_that_is_no_weight_is_refused_before_anything_is_paid(name, said, tmp_path):
    with pytest.raises(ParameterError, match=f"weight is '{name}': {said}"):
        release(survey(), weight=name, journal=tmp_path / "journal")
    assert not (tmp_path / "journal").exists()


def test_without_a_weight_no_population_is_drawn():
    synthesis = release(survey())
    for asked in (
        lambda: synthesis.sample(weighted=True),
        lambda: synthesis.marginal(["owner"], weighted=True),
    ):
        with pytest.raises(ParameterError, match="the release has no column of weights"):
            asked()
    with pytest.raises(ParameterError, match="given rows are completed as they are"):
        synthesis.sample(weighted=True, given={"area": ["a"]})


def test_the_mark_is_kept_by_the_schema():
    for kind in (Schema, OpenSchema):
        schema = kind.from_dict(marked())
        assert schema.weight == "weight"
        assert kind.from_dict(schema.to_dict()) == schema
    two = {"fields": [{**each, "synthdp": {"weight": True}} for each in FIELDS]}
    with pytest.raises(SchemaError, match="'area' and 'owner' are both weights"):
        Schema.from_dict(two)
    wrong = {"fields": [{**FIELDS[0], "synthdp": {"weight": "yes"}}]}
    with pytest.raises(SchemaError, match="give true or false"):
        Schema.from_dict(wrong)


@pytest.fixture(scope="module")
def measured():
    return release(survey(), weight="weight")


AREAS = pd.DataFrame({"area": ["a", "b"], "count": [9000, 11000]})


def test_calibrated_weights_have_totals_exactly_and_the_counts_of_the_release(measured):
    drawn = measured.sample(weighted="calibrated", totals=AREAS, seed=1)
    assert len(drawn) == len(measured.sample(seed=1))
    sums = drawn["weight"].groupby(drawn["area"]).sum()
    assert sums.tolist() == pytest.approx([9000, 11000], rel=1e-6)
    assert (drawn["weight"] >= 0).all()
    alone = measured.sample(weighted="calibrated", seed=1)
    for name in ("area", "owner"):
        wanted = measured.marginal([name], weighted=True)
        found = alone["weight"].groupby(alone[name]).sum()
        assert found.to_numpy() == pytest.approx(wanted.to_numpy(), rel=1e-3)
    # What totals do not speak of keeps its weighted share.
    owners = drawn["weight"].groupby(drawn["owner"]).sum() / 20000
    of_release = measured.marginal(["owner"], weighted=True)
    assert owners["y"] == pytest.approx(of_release["y"] / of_release.sum(), abs=1e-3)
    assert drawn.drop(columns="weight").equals(measured.sample(seed=1).drop(columns="weight"))
    texts = measured.sample(500, weighted="calibrated", seed=0, text=True)["weight"]
    assert set(texts.str[-7]) == {"."}


def test_noisy_sums_of_columns_that_tell_each_other_are_met_between_them():
    """Rules make area and owner one thing: no weights have the noisy sums of both."""
    rules = [
        {"forbid": {"area": ["a"], "owner": ["n"]}},
        {"forbid": {"area": ["b"], "owner": ["y"]}},
    ]
    table = survey()
    table["owner"] = np.where(table["area"] == "a", "y", "n")
    settings = {"mechanism": "gaussian", "workload": "2-way", "engine": "layered-consistency"}
    synthesis = release(
        table,
        {**SCHEMA, "synthdp": {"constraints": rules}},
        weight="weight",
        epsilon=0.5,
        **settings,
    )
    drawn = synthesis.sample(weighted="calibrated", seed=1)
    wanted = [synthesis.marginal([name], weighted=True) for name in ("area", "owner")]
    share = drawn.loc[drawn["area"] == "a", "weight"].sum() / drawn["weight"].sum()
    both = sorted([wanted[0]["a"] / wanted[0].sum(), wanted[1]["y"] / wanted[1].sum()])
    assert both[0] - 1e-6 <= share <= both[1] + 1e-6
    # Totals say of the owners what they say of the areas.
    with_totals = synthesis.sample(weighted="calibrated", totals=AREAS, seed=1)
    sums = with_totals["weight"].groupby(with_totals["area"]).sum()
    assert sums.tolist() == pytest.approx([9000, 11000], rel=1e-6)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"weighted": "raked"}, "weighted is 'raked'; give True or 'calibrated'"),
        ({"totals": AREAS}, "add weighted='calibrated'"),
        ({"totals": AREAS, "weighted": True}, "add weighted='calibrated'"),
        ({"weighted": "calibrated", "where": {"area": ["a"]}}, "leave out one"),
        (
            {"weighted": "calibrated", "totals": AREAS.assign(count=[1, -1])},
            "no number of 0 or more",
        ),
        (
            {"weighted": "calibrated", "totals": [AREAS, AREAS.assign(count=[9, 9])]},
            "contradict each other",
        ),
        (
            {
                "weighted": "calibrated",
                "totals": pd.DataFrame({"weight": range(1, 21), "count": [5] * 20}),
            },
            "it is of the weights",
        ),
        ({"weighted": "calibrated", "totals": AREAS, "n_rows": 1}, "draw more rows"),
    ],
)
def test_weights_that_cannot_be_calibrated_are_refused(measured, asked, said):
    with pytest.raises(ParameterError, match=said):
        measured.sample(**{"seed": 0} | asked)


@pytest.mark.usefixtures("one_run")
@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
def test_a_run_with_weights_tells_nothing_of_the_records_but_its_answers(tmp_path, monkeypatch):
    tables = {"given": survey(), "none": survey(n_rows=0), "heavy": survey(3).assign(weight=20)}

    def run(place, table):
        monkeypatch.chdir(place)

        def drawn():
            found = release(table, weight="weight", mechanism="mst", journal="journal")
            return found.sample(weighted="calibrated", totals=AREAS, seed=0)

        return of_call(drawn, place)

    assert differences(replayed(tmp_path, "journal", run, tables)) == []
