"""What is published is paid nothing for by any mechanism, and whoever draws rows that lack it is told."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke, lay_out, run_arguments
from helpers.homes import home
from helpers.non_interference import differences, of_call, replayed
from helpers.stopped_runs import stops
from release.test_known_totals import SCHEMA, TOWNS, off, people, release, totals

import synthdp
from synthdp.core import CautionWarning, caution_code
from synthdp.inference import KnownTotalsModel

TABLE = people()
KNOWN = [totals(TABLE, "town", "sex"), totals(TABLE, "job")]
QUICK = ["aim", "clique-tree", "gaussian", "independent", "mst", "mwem", "privmrf"]


@pytest.fixture(scope="module")
def synthesis():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONWARNINGS", "ignore")
        return release(TABLE, [KNOWN[0], totals(TABLE, "region", "age group")])


@pytest.mark.parametrize("mechanism", QUICK)
def test_no_mechanism_pays_for_what_is_published(mechanism):
    found = release(TABLE, KNOWN, mechanism=mechanism, workload="2-way", quality_share=0)
    public = [{"town"}, {"sex"}, {"town", "sex"}, {"job"}, set()]
    assert [m.clique for m in found.measurements if set(m.clique) in public] == []
    accounting = found.certificate["accounting"]
    assert accounting["rho_spent"] == pytest.approx(accounting["rho_budget"], rel=1e-6)


def test_of_shares_the_records_are_still_counted():
    shares = pd.DataFrame({"town": TOWNS, "share": [0.4, 0.3, 0.2, 0.1]})
    both = KNOWN[0].assign(share=KNOWN[0]["count"] / len(TABLE)).drop(columns="count")
    found = release(TABLE, [both], mechanism="gaussian", workload="2-way")
    assert ("town", "sex") not in [m.clique for m in found.measurements]
    found = release(TABLE, shares, mechanism="independent")
    assert ("town",) in [m.clique for m in found.measurements]


def test_a_budget_that_buys_nothing_is_said():
    ages = pd.DataFrame({"age": ["[0, 6)", "[6, 18)", "[18, 65)", "[65, 99]"]})
    ages["count"] = np.histogram(TABLE["age"], [0, 6, 18, 65, 100])[0]
    known = [totals(TABLE, name) for name in ("town", "sex", "job")] + [ages]
    with pytest.warns(CautionWarning, match="99 % of the budget is not spent"):
        found = release(TABLE, known, mechanism="independent")
    assert found.measurements == ()
    assert off(found.sample(seed=0), known[0]) == 0


@pytest.mark.filterwarnings("error::synthdp.core.errors.CautionWarning")
def test_a_slice_has_what_is_published_of_it(synthesis):
    drawn = synthesis.checked_by(lambda _check: None).sample(where={"town": ["a"]}, seed=1)
    assert off(drawn, KNOWN[0][KNOWN[0]["town"] == "a"]) == 0
    alone = release(TABLE, KNOWN[0])
    drawn = alone.sample(where={"town": ["a", "c"], "sex": ["f"]}, seed=2)
    wanted = KNOWN[0][KNOWN[0]["town"].isin(["a", "c"]) & (KNOWN[0]["sex"] == "f")]
    assert off(drawn, wanted) == 0
    assert set(drawn["sex"]) == {"f"}


@pytest.mark.parametrize(
    "draw",
    [
        lambda s: s.sample(9, where={"job": ["x"]}, seed=0),
        lambda s: s.sample(9, where={"age": {"minimum": 3}}, seed=0),
        lambda s: s.sample(given=pd.DataFrame({"town": ["a"]})),
        lambda s: s.sample_batches(9, seed=0),
    ],
    ids=["another column", "a cut bin", "given", "blocks"],
)
def test_rows_that_are_not_held_to_totals_are_said_to_be(synthesis, draw):
    with pytest.warns(CautionWarning, match="published totals: 2 of 2 tables are not held") as said:
        draw(synthesis)
    assert caution_code(str(said[0].message)) == "C18"


@pytest.fixture
def misrepaired(monkeypatch):
    """A repair that does harm."""

    def wrong(_domain, columns, *_args, **_more):
        return (np.roll(columns[0], 1), *columns[1:])

    monkeypatch.setattr(home(KnownTotalsModel), "repaired", wrong)


@pytest.mark.usefixtures("misrepaired")
def test_rows_that_miss_totals_are_said_on_stderr_and_in_certificate_and_json(
    tmp_path, monkeypatch
):
    lay_out(tmp_path, table=TABLE.to_csv(index=False), schema=SCHEMA)
    KNOWN[0].to_csv(tmp_path / "known.csv", index=False)
    monkeypatch.chdir(tmp_path)
    run = invoke(*run_arguments("--known", "known.csv", "--save", "m.synthdp"))
    drawn = invoke(
        "sample", "m.synthdp", "-o", "more.csv", "--rows", "700", "--json", "--seed", "1"
    )
    assert (run.code, drawn.code) == (0, 0)
    assert "published totals: 1 of 1 tables are missed by these" in run.err
    assert "[C18]" in run.err
    certificate = json.loads((tmp_path / "more.csv.privacy.json").read_text())
    assert certificate["known"][0]["rows"] == 700
    assert certificate["known"][0]["largest_difference"] >= 1
    cautions = [each for each in certificate["cautions"] if "missed by these 700 rows" in each]
    assert len(cautions) == 1
    result = json.loads(drawn.out)
    assert (cautions[0] in result["cautions"], "C18" in result["caution_codes"]) == (True, True)


@pytest.mark.usefixtures("misrepaired")
def test_rows_that_miss_totals_warn_in_python():
    with pytest.warns(CautionWarning, match="missed by these 1,500 rows; a cell of known"):
        synthesis = release(TABLE, KNOWN[0])
    with pytest.warns(CautionWarning, match="missed by these 300 rows"):
        synthesis.sample(300, seed=0)


def test_a_part_of_a_long_table_is_said_to_lack_totals(synthesis, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    synthesis.save("m.synthdp")
    part = ("--rows", "5", "--seed", "1", "--offset", "2")
    drawn = invoke("sample", "m.synthdp", "-o", "part.csv", *part)
    assert "not held to by these rows, for they are drawn in blocks" in drawn.err
    known = json.loads((tmp_path / "part.csv.privacy.json").read_text())["known"]
    assert "largest_difference" not in known[0]


def test_limits_of_published_counts_have_no_width_and_others_are_narrower(synthesis):
    exact = synthesis.marginal(["town", "sex"], interval=0.95)
    counts = KNOWN[0].set_index(["town", "sex"])["count"]
    for cell, count in counts.items():
        assert exact.loc[cell].tolist() == [count, count, count, "published"]
    mixed = synthesis.marginal(["town", "job"], interval=0.95)
    bare = synthdp.Synthesis(
        schema=synthesis.schema,
        measurements=synthesis.measurements,
        model=synthesis.model.inner,
        certificate=synthesis.certificate,
    ).marginal(["town", "job"], interval=0.95)
    truth = TABLE.groupby(["town", "job"]).size()
    assert (mixed["high"] - mixed["low"] <= bare["high"] - bare["low"] + 1e-6).all()
    inside = (mixed["low"] <= truth) & (truth <= mixed["high"])
    assert inside.mean() > 0.5


def test_a_rescued_release_keeps_totals(tmp_path):
    journal = tmp_path / "journal"
    assert stops(lambda: release(TABLE, KNOWN, journal=journal), 3)
    rescued = synthdp.from_journal(journal)
    assert off(rescued.sample(seed=0), KNOWN[0]) == 0
    synthdp.from_journal(journal).save(tmp_path / "rescued.synthdp")
    again = synthdp.load(tmp_path / "rescued.synthdp")
    assert again.existing_model is None
    assert off(again.sample(400, seed=0), KNOWN[0].assign(count=0)) > 0
    assert [off(again.sample(seed=3), each) for each in KNOWN] == [0, 0]
    assert isinstance(again.model, KnownTotalsModel)


@pytest.mark.usefixtures("one_run")
@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
def test_a_run_of_another_mechanism_tells_nothing_but_its_answers(tmp_path, monkeypatch):
    tables = {"given": TABLE, "none": people(0), "others": people(700, 5)}

    def run(place, table):
        monkeypatch.chdir(place)
        settings = {"mechanism": "mst", "journal": "journal"}
        return of_call(lambda: release(table, KNOWN, **settings), place)

    assert differences(replayed(tmp_path, "journal", run, tables)) == []
