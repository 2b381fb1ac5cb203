"""Of columns with many levels as many rows have the level of the row beside as in the records."""

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home

import synthdp
from synthdp.linked import ExpectedRows, LinkedView, Package, views_of, workload_of

N, MOST, LEVELS = 3000, 6, 60


def package(n_levels=LEVELS, order="year", **ward):
    """Patients, and stays in one of many wards, by year or in no order."""
    link = {"fields": "patient", "reference": {"resource": "patients", "fields": "id"}}
    wards = {"enum": [f"w{ward}" for ward in range(n_levels)], "required": True}
    years = {"minimum": 0, "maximum": MOST - 1, "required": True}
    stays = [
        {"name": "patient", "type": "integer"},
        {"name": "year", "type": "integer", "constraints": years, "synthdp": {"bins": MOST}},
        {"name": "ward", "type": "string", "constraints": wards} | ward,
        {"name": "ill", "type": "boolean", "constraints": {"required": True}},
    ]
    own = {"max_children": MOST} | ({"order": order} if order else {})
    patients = {"fields": [{"name": "id", "type": "integer"}], "primaryKey": "id"}
    return {
        "resources": [
            {"name": "patients", "schema": patients},
            {"name": "stays", "schema": {"fields": stays, "foreignKeys": [link]}, "synthdp": own},
        ]
    }


def tables(share):
    """Stays of which such a share is in the ward of the stay before."""
    rng = np.random.default_rng(3)
    number = rng.integers(1, MOST + 1, N)
    patient = np.repeat(np.arange(N), number)
    year = np.arange(len(patient)) - np.repeat(np.cumsum(number) - number, number)
    ward = rng.choice(LEVELS, len(patient), p=rng.dirichlet(np.ones(LEVELS)))
    for row in np.flatnonzero((year > 0) & (rng.random(len(patient)) < share)):
        ward[row] = ward[row - 1]
    frame = {"patient": patient, "year": year, "ward": [f"w{each}" for each in ward]}
    frame["ill"] = rng.random(len(patient)) < np.where(ward % 2, 0.8, 0.2)
    return {"patients": pd.DataFrame({"id": np.arange(N)}), "stays": pd.DataFrame(frame)}


def repeated(stays, order="year"):
    """Which share of later stays is in the ward of the one before, or of the first one."""
    groups = stays.groupby("patient")["ward"]
    beside = groups.shift() if order else groups.transform("first")
    return (stays["ward"] == beside)[groups.cumcount() > 0].mean()


@pytest.mark.parametrize("order", ["year", None])
def test_as_many_rows_repeat_a_level_as_in_the_records(order):
    true = tables(0.9)
    drawn = synthdp.synthesize(true, package(order=order), epsilon=3, delta=1e-6).sample(N, seed=0)
    wanted = repeated(true["stays"], order)
    # Without it .2 of them did: a pair of 3,600 cells drowns in noise.
    assert wanted - 0.1 < repeated(drawn["stays"], order) < wanted + 0.05
    shares = [each["stays"]["ward"].value_counts(normalize=True) for each in (true, drawn)]
    assert shares[0].sub(shares[1], fill_value=0).abs().sum() / 2 < 0.1


def test_rows_that_repeat_nothing_go_on_to_do_so():
    true = tables(0.0)
    drawn = synthdp.synthesize(true, package(), epsilon=3, delta=1e-6).sample(N, seed=0)
    assert abs(repeated(drawn["stays"]) - repeated(true["stays"])) < 0.03


def test_rows_that_always_change_go_on_to_do_so():
    """Two wards have nearly all rows, and would follow themselves by chance."""
    true = tables(0.0)
    rng = np.random.default_rng(6)
    year = true["stays"]["year"].to_numpy()
    ward = np.where(rng.random(len(year)) < 0.95, (year + true["stays"]["patient"]) % 2, 2 + year)
    true["stays"]["ward"] = [f"w{each}" for each in ward]
    drawn = synthdp.synthesize(true, package(), epsilon=3, delta=1e-6).sample(N, seed=0)
    assert repeated(true["stays"]) == 0.0
    assert repeated(drawn["stays"]) < 0.1


def test_it_is_asked_of_columns_of_many_levels_alone():
    limits = home(LinkedView)
    for n_levels, is_asked in [
        (limits.FEWEST_LEVELS - 1, False),
        (limits.FEWEST_LEVELS, True),
        (limits.MOST_LEVELS, True),
        (limits.MOST_LEVELS + 1, False),
    ]:
        views = views_of(Package.from_dict(package(n_levels)))
        asked = {"repeated stays.ward": "stays.ward"} if is_asked else {}
        assert views["later stays"].repeats == asked
        assert views["stays"].repeats == {}
        workload = workload_of(views["later stays"], views["later stays"].schema.domain)
        about = {clique for clique in workload.cliques if "repeated stays.ward" in clique}
        pairs = {frozenset({*asked, name}) for name in ("stays.ward", "other stays.ward")}
        assert {frozenset(clique) for clique in about} == (pairs if is_asked else set())


def test_what_numbers_repeat_is_not_asked():
    bounds = {"minimum": 0, "maximum": 99, "required": True}
    many = package(type="integer", constraints=bounds, synthdp={"bins": 100})
    assert views_of(Package.from_dict(many))["later stays"].repeats == {}


@pytest.mark.parametrize(
    "most", [LEVELS**2 * (MOST + 1) * (MOST - 1) - 1, LEVELS**2 * (MOST + 1) - 1]
)
def test_rows_are_moved_to_tables_that_are_too_large_by_place_or_number(
    most, monkeypatch, tmp_path
):
    """Else moving them would undo what they were drawn with."""
    file = tmp_path / "stays.synthdp"
    synthdp.synthesize(tables(0.9), package(), epsilon=3, delta=1e-6).save(file)

    def drawn(max_cells):
        monkeypatch.setattr(home(ExpectedRows), "MAX_CELLS", max_cells)
        return repeated(synthdp.load(file).sample(N, seed=0)["stays"])

    wanted = drawn(2**20)
    assert abs(drawn(most) - wanted) < 0.1
    assert drawn(LEVELS**2 - 1) < wanted - 0.2


@pytest.mark.parametrize("order", ["year", None])
@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)
def test_a_guess_where_noise_hides_all_rows_is_no_more_exact_than_noise(order):
    """Cells of which nothing is known were taken to be 1e9 times as exact as measured ones, which
    no engine fits: such a run stopped after it had paid.
    """
    true = tables(0.9)
    few = {name: frame.head(300) for name, frame in true.items()}
    few["stays"] = few["stays"][few["stays"]["year"] == 0]
    for _ in range(3):
        release = synthdp.synthesize(
            few,
            package(order=order),
            epsilon=0.01,
            delta=1e-6,
            mechanism="independent",
            anyway=True,
        )
        assert list(release.sample(9, seed=0)["stays"]) == list(few["stays"])


def test_a_release_of_a_journal_knows_what_repeats(tmp_path):
    true = tables(0.9)
    path = tmp_path / "journal"
    synthdp.synthesize(true, package(), epsilon=3, delta=1e-6, journal=path)
    drawn = synthdp.from_journal(path).sample(N, seed=0)
    wanted = repeated(true["stays"])
    assert wanted - 0.1 < repeated(drawn["stays"]) < wanted + 0.05
