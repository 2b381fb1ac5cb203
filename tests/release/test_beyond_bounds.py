"""Values beyond declared bounds, through whole releases: counted for nothing, said, and drawn within
the bounds.
"""

import numpy as np
import pandas as pd
import pytest
from helpers.fields import ranged

import synthdp
from synthdp.data import opened, rows_of
from synthdp.schema import OpenSchema

N_ROWS = 6_000
BUDGET = {"epsilon": 2.0, "delta": 1e-6}
SCHEMA = {
    "fields": [
        ranged("age", 0, 69, bins=7),
        ranged("seen", "2020-01-01", "2020-12-31", kind="date", bins=4),
        ranged("price", 0, 10, kind="number", bins=5),
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
    ]
}

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")


def people(beyond=0.25, seed=0):
    """Of some ages are above, of half as many dates before the bounds; prices and the rest within."""
    rng = np.random.default_rng(seed)
    is_old, is_early = rng.random(N_ROWS) < beyond, rng.random(N_ROWS) < beyond / 2
    days = np.where(is_early, rng.integers(-300, 0, N_ROWS), rng.integers(0, 366, N_ROWS))
    return pd.DataFrame(
        {
            "age": np.where(is_old, rng.integers(70, 100, N_ROWS), rng.integers(0, 70, N_ROWS)),
            "seen": np.datetime64("2020-01-01") + days.astype("timedelta64[D]"),
            "price": rng.random(N_ROWS) * 10,
            "sex": rng.choice(["f", "m"], N_ROWS),
        }
    )


def given(frame, kind, folder):
    if kind == "CSV":
        frame.to_csv(folder / "people.csv", index=False)
        return folder / "people.csv"
    if kind == "DuckDB":
        duckdb = pytest.importorskip("duckdb")
        return duckdb.sql("SELECT age, seen::DATE AS seen, price, sex FROM frame")
    return frame


def check(found):
    """Ages and dates are said, and nothing else; drawn rows stay inside."""
    said = found.certificate["beyond_bounds"]
    assert said["age"]["above"] == pytest.approx(N_ROWS / 4, abs=250)
    assert said["seen"]["below"] == pytest.approx(N_ROWS / 8, abs=250)
    ages, dates = found.cautions
    assert "column 'age': about 2" in ages
    assert "% above 69) and are clipped to them" in ages
    assert "widen constraints.maximum" in ages
    assert "% below 2020-01-01)" in dates
    drawn = found.sample(N_ROWS, seed=0)
    assert drawn["age"].dropna().between(0, 69).all()
    assert drawn["seen"].dropna().between("2020-01-01", "2020-12-31").all()
    # clipped, as it is declared: a quarter more than a seventh of the others
    assert (drawn["age"] >= 60).mean() == pytest.approx(1 / 4 + 3 / 4 / 7, abs=0.06)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", ["frame", "CSV", "DuckDB"])
def test_a_share_beyond_declared_bounds_is_said_whatever_the_rows_come_from(
    kind, adjacency, tmp_path
):
    table = given(people(), kind, tmp_path)
    check(synthdp.synthesize(table, SCHEMA, mechanism="mst", adjacency=adjacency, **BUDGET))


@pytest.mark.parametrize("mechanism", ["auto", "independent", "aim", "privbayes"])
def test_mechanisms_that_measure_single_columns_say_it_for_nothing(mechanism):
    check(synthdp.synthesize(people(), SCHEMA, mechanism=mechanism, **BUDGET))


@pytest.mark.parametrize("mechanism", ["gaussian", "mwem"])
def test_others_clip_and_have_no_number_to_state(mechanism):
    found = synthdp.synthesize(people(), SCHEMA, mechanism=mechanism, **BUDGET)
    assert "beyond_bounds" not in found.certificate
    assert found.sample(200, seed=0)["age"].dropna().between(0, 69).all()


@pytest.mark.parametrize(
    "cliques",
    [[("age",)], [("age",), ("age", "sex")], [("price", "sex")]],
    ids=["one", "both", "rest"],
)
def test_gaussian_measures_single_columns_that_have_records_beyond(cliques):
    """Noise of outermost bins is larger then: it failed over that when all was paid."""
    workload = synthdp.Workload(dict.fromkeys(cliques, 1.0))
    synthesis = synthdp.synthesize(
        people(), SCHEMA, workload=workload, mechanism="gaussian", **BUDGET
    )
    assert any("above 69" in each for each in synthesis.cautions)
    found = synthesis.certificate["findings"]["unbiased_estimates"]
    assert [tuple(each["columns"]) for each in found] == cliques
    measured = {m.clique: float(np.max(m.stddev)) for m in synthesis.measurements}
    for each in found:
        assert 0 < each["stddev_records"] <= measured.get(tuple(each["columns"]), np.inf)


def test_where_nothing_is_beyond_the_same_is_measured_and_nothing_said():
    found = synthdp.synthesize(people(0.0), SCHEMA, mechanism="mst", **BUDGET)
    assert not found.cautions
    assert all(np.ndim(each.stddev) == 0 for each in found.measurements)


def test_learnt_bins_between_declared_bounds_are_said_once():
    field = SCHEMA["fields"][0]
    schema = {"fields": [{**field, "synthdp": {"derive": ["bins"]}}, SCHEMA["fields"][3]]}
    table = people()[["age", "sex"]]
    (caution,) = synthdp.synthesize(table, schema, mechanism="mst", **BUDGET).cautions
    assert caution.count("column 'age'") == 1
    assert "% above 69)" in caution


def test_a_rescued_run_says_the_same(tmp_path):
    journal = tmp_path / "run.journal"
    found = synthdp.synthesize(people(), SCHEMA, mechanism="mst", journal=journal, **BUDGET)
    rescued = synthdp.from_journal(journal)
    assert rescued.certificate["beyond_bounds"] == found.certificate["beyond_bounds"]
    assert rescued.cautions == found.cautions
    for one, other in zip(found.measurements, rescued.measurements, strict=True):
        assert one.values.tolist() == other.values.tolist()
        assert np.array_equal(one.stddev, other.stddev)


def test_a_row_more_is_in_one_cell_of_each_marginal():
    """Sensitivity: of whatever values, beyond bounds or not, a record adds 1 to one cell."""
    rows = pd.DataFrame(
        {
            "age": ["-5", "3", "99", "x", "", None, "69", "1e300"],
            "seen": ["1999-01-01", "2020-12-31", "2021-01-01", "?", "", None, "2020-06-01", "0"],
            "price": ["-1", "inf", "10.001", "11", "", "nan", "0", "1e308"],
            "sex": ["f", "m", "x", "", None, "f", "m", "f"],
        },
        dtype=object,
    )
    schema = OpenSchema.from_dict(SCHEMA)
    placed = schema.resolved({}).with_all_places()
    cliques = [("age",), ("seen", "price"), ("price", "age", "sex")]

    def counts(frame):
        return list(rows_of(opened(frame).frame, schema)().counted(placed).counts_of(cliques))

    whole = counts(rows)
    for place in range(len(rows)):
        for more, less in zip(whole, counts(rows.drop(index=place)), strict=True):
            assert np.abs(more - less).sum() == 1
