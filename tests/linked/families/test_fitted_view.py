"""Rows that are drawn together match what was released; few rows are as likely as by themselves."""

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp import evaluate
from synthdp.inference import RecordMoves
from synthdp.linked import ExpectedRows, FittedView, LinkedView, Package, views_of, workload_of
from synthdp.release import Synthesis

N = 2000


def frames():
    """Homes of three kinds; people in order, whose value follows the kind, their place and the
    person before.
    """
    rng = np.random.default_rng(7)
    kind, size = rng.integers(0, 3, N), rng.integers(1, 5, N)
    home = np.repeat(np.arange(N), size)
    place = np.arange(len(home)) - np.repeat(np.cumsum(size) - size, size)
    value, other = np.zeros(len(home), int), rng.integers(0, 3, len(home))
    for row in range(len(home)):
        before = value[row - 1] if place[row] else kind[home[row]]
        value[row] = before if rng.random() < 0.6 else min(place[row], rng.integers(0, 3))
    other = np.where(rng.random(len(home)) < 0.5, value, other)
    return {
        "homes": pd.DataFrame({"id": np.arange(N), "kind": kind}),
        "people": pd.DataFrame({"home": home, "step": place, "value": value, "other": other}),
    }


def package(order="step"):
    levels = {"type": "integer", "constraints": {"enum": [0, 1, 2], "required": True}}
    step = {
        "name": "step",
        "type": "integer",
        "constraints": {"enum": [0, 1, 2, 3], "required": True},
    }
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    homes = {
        "fields": [{"name": "id", "type": "integer"}, {"name": "kind", **levels}],
        "primaryKey": "id",
    }
    people = [
        {"name": "home", "type": "integer"},
        step,
        {"name": "value", **levels},
        {"name": "other", **levels},
    ]
    own = {"max_children": 4} | ({"order": order} if order else {})
    return {
        "resources": [
            {"name": "homes", "schema": homes},
            {"name": "people", "schema": {"fields": people, "foreignKeys": [link]}, "synthdp": own},
        ]
    }


@pytest.fixture(scope="module")
def released():
    return synthdp.synthesize(frames(), package(), epsilon=100, delta=1e-6)


def apart(one, other):
    """TVD of two tables of counts."""
    both = pd.concat([one / one.sum(), other / other.sum()], axis=1).fillna(0.0)
    return 0.5 * float((both.iloc[:, 0] - both.iloc[:, 1]).abs().sum())


def pairs(tables):
    people = tables["people"].reset_index(drop=True)
    key = "id" if "id" in tables["homes"] else "home"
    joined = people.merge(tables["homes"].rename(columns={key: "home"}), on="home")
    return [
        joined.groupby(names).size()
        for names in (["value", "other"], ["kind", "value"], ["step", "other"])
    ]


def test_drawn_rows_match_pairs_better_than_chance_does(released, monkeypatch):
    """Independent draws of some 5,000 rows are off by .016 for nine cells."""
    truth = pairs(frames())

    def distances():
        """Means of four tables: one may be near by chance."""
        drawn = [pairs(released.sample(N, seed=seed)) for seed in range(4)]
        each = [[apart(*both) for both in zip(truth, own, strict=True)] for own in drawn]
        return np.mean(each, axis=0)

    moved = distances()
    monkeypatch.setattr(RecordMoves, "move", lambda *_, **__: (0, True))
    chance = distances()
    assert max(moved) < 0.03
    # Whether the plan measures the second, across a link, follows from noise.
    for pair in (0, 2):
        assert moved[pair] < 0.6 * chance[pair]


def test_pairs_that_were_not_measured_are_what_the_model_says_nearer_than_by_chance(
    released, monkeypatch
):
    """As in a single table; here the model was fitted to a pair that the view is not said to have."""
    part, pair = released.parts["people"], ("people.value", "people.other")
    left = [each for each in part.measurements if not {*pair} <= {*each.clique}]
    part = Synthesis(
        schema=part.schema, measurements=left, model=part.model, certificate=part.certificate
    )
    view = views_of(released.package)["people"]
    wanted = part.model.marginals([pair])[0].values
    codes = part.model.sample(3000, seed=1)
    given = {name: codes[part.model.domain.index(name)] for name in view.ancestors}

    def off():
        fitted, rng = FittedView(view, part), np.random.default_rng(0)
        drawn = fitted.drawn(given, [(np.arange(3000), {})], rng)
        counts = np.zeros(wanted.shape)
        np.add.at(counts, tuple(drawn[name] for name in pair), 1)
        return 0.5 * np.abs(counts / 3000 - wanted / wanted.sum()).sum()

    moved = off()
    monkeypatch.setattr(ExpectedRows, "unmeasured", {})
    assert moved < 0.6 * off()


def test_single_rows_are_not_always_the_likeliest(released):
    """Of a home of kind 2 the first person has value 2 in .6 of draws, and else 0."""
    view = views_of(released.package)["people"]
    fitted, rng = FittedView(view, released.parts["people"]), np.random.default_rng(0)
    given = {"homes.kind": np.array([2]), "number of people": np.array([1])}
    drawn = [fitted.drawn(given, [(np.arange(1), {})], rng)["people.value"][0] for _ in range(50)]
    assert {0, 2} <= set(drawn)


def test_a_release_whose_views_had_other_columns_is_drawn_from(monkeypatch, tmp_path):
    """Earlier versions told no places, and what is beside could be missing."""
    with monkeypatch.context() as patch:
        patch.setattr(LinkedView, "position", None)
        beside = LinkedView._sibling_field
        patch.setattr(
            LinkedView,
            "_sibling_field",
            lambda *args: {
                **(f := beside(*args)),
                "constraints": {**f["constraints"], "required": False},
            },
        )
        synthdp.synthesize(frames(), package(), epsilon=1, delta=1e-6).save(
            tmp_path / "old.synthdp"
        )
    old = synthdp.load(tmp_path / "old.synthdp")
    people = old.sample(50, seed=0)["people"]
    assert people.groupby("home")["step"].apply(lambda steps: steps.is_monotonic_increasing).all()
    assert old.marginal(["other people.value", "people.value"]).shape == (12,)


def test_places_of_ordered_rows_are_told_apart_and_of_others_are_not():
    later = views_of(Package.from_dict(package()))["later people"]
    assert later.position == "place among people"
    assert later.position_codes(np.array([1, 2, 3]), np.array([4, 3, 9])).tolist() == [0, 1, 2]
    assert later.position in later.schema.names
    assert later.position not in later.drawn
    assert views_of(Package.from_dict(package(order=None)))["later people"].position is None


def long(most):
    content = package()
    content["resources"][1]["synthdp"]["max_children"] = most
    return views_of(Package.from_dict(content))["later people"]


def test_of_many_rows_the_places_are_parts_of_the_way():
    later = long(41)
    assert later.position_codes(np.array([1, 20, 40]), np.array([41, 41, 41])).tolist() == [0, 3, 7]
    assert later.position_codes(np.array([1, 9]), np.array([2, 10])).tolist() == [4, 7]
    assert long(9).position_codes(np.array([1, 8]), np.array([2, 9])).tolist() == [0, 7]


@pytest.mark.parametrize("mechanism", ["auto", "independent"])
def test_long_chains_keep_their_pace(mechanism):
    """Of firms with 10 to 30 visits in order the years are even; told apart up to the eighth visit
    only, years ran ahead, and a fifth of all were too late. Where nothing was measured of how they
    go on, they are put in order.
    """
    rng = np.random.default_rng(0)
    firm = np.repeat(np.arange(1500), rng.integers(10, 31, 1500))
    visits = pd.DataFrame({"firm": firm, "year": rng.integers(0, 20, len(firm))})
    levels = {"minimum": 0, "maximum": 19, "required": True}
    year = {"name": "year", "type": "integer", "constraints": levels, "synthdp": {"bins": 20}}
    link = {"fields": "firm", "reference": {"resource": "firms", "fields": "id"}}
    content = {
        "resources": [
            {"name": "firms", "schema": {"fields": [{"name": "id"}], "primaryKey": "id"}},
            {
                "name": "visits",
                "schema": {"fields": [{"name": "firm"}, year], "foreignKeys": [link]},
                "synthdp": {"max_children": 30, "order": "year"},
            },
        ]
    }
    tables = {"firms": pd.DataFrame({"id": np.arange(1500)}), "visits": visits}
    settings = {"epsilon": 10, "delta": 1e-6, "mechanism": mechanism}
    drawn = synthdp.synthesize(tables, content, **settings).sample(seed=0)
    found = evaluate(tables, drawn, content).summary["mean"]
    assert found["columns"] < 0.1
    assert found["siblings"] < 0.25


def test_what_is_known_of_columns_above_is_not_measured_before_all_else(released):
    """Each column is measured first: of a view those alone that were not drawn before."""
    measured = [measurement.clique for measurement in released.parts["people"].measurements]
    view = views_of(released.package)["people"]
    assert {*measured[:3]} == {(name,) for name in view.drawn}


def test_a_column_beside_numbers_and_places_matters_more():
    later = views_of(Package.from_dict(package()))["later people"]
    weights = workload_of(later, later.schema.domain).weights
    alike = weights[("homes.kind", "people.value")]
    assert weights[("number of people", "people.value")] == 8 * alike
    assert weights[("place among people", "people.value")] == 8 * alike
    for beside in ("number of people", "place among people"):
        assert weights[(beside, "people.step")] == 3 * weights[(beside, "people.value")]


@pytest.mark.parametrize("label", ["homes", "people", "later people"])
def test_pairs_of_a_tables_own_columns_matter_more(label):
    """Beside all pairs with what is above and beside a row they would be starved."""
    content = package()
    field = {**content["resources"][0]["schema"]["fields"][1], "name": "state"}
    content["resources"][0]["schema"]["fields"].append(field)
    view = views_of(Package.from_dict(content))[label]
    own = view.table.attributes[-2:]
    weights = workload_of(view, view.schema.domain).weights
    others = {
        clique: weight
        for clique, weight in weights.items()
        if len(clique) == 2
        and not {*clique} <= {*view.table.attributes}
        and not {*view.steps, view.position}.intersection(clique)
    }
    assert others
    assert {weights[own] / weight for weight in others.values()} == {4.0}


def test_numbers_of_children_matter_by_themselves():
    """Half as much as all pairs and triples together: rows below are multiplied by them."""
    homes = views_of(Package.from_dict(package()))["homes"]
    weights = dict(workload_of(homes, homes.schema.domain).weights)
    number = weights.pop(("number of people",))
    assert number == pytest.approx(0.5 * sum(weights.values()))
    people = views_of(Package.from_dict(package()))["people"]
    assert all(len(clique) > 1 for clique in workload_of(people, people.schema.domain).weights)
