"""Wrong usage is what a corrected command mends for nothing: no run that has paid says so."""

import json

import duckdb
import pytest
from helpers.cli_runs import invoke, lay_out, with_others
from helpers.failing_runs import failing
from helpers.families import description, random_tables
from helpers.seldom import often

from synthdp.core import ParameterError
from synthdp.privacy import PrivacyLedger

BUDGET = ("--epsilon", "3", "--delta", "1e-6", "--mechanism")


def wrong():
    """A new one each time: notes are added to it."""
    return ParameterError("rows is 7; give 8")


RUNS = {
    "declared": ("in.csv", "-s", "schema.json"),
    "learnt": ("in.csv", "-s", "open.json"),
    "engine": ("--source", "duckdb:///in.duckdb", "--table", "rows", "-s", "open.json"),
    "package": ("package/datapackage.json",),
    "history": (
        *("persons.csv", "-s", "persons.json", "--unit", "id"),
        *("--max-rows-per-unit", "2", "--order", "day"),
    ),
}
WRITES = {"package": "packages.write_package", "history": "histories.write_history"}
KEPT = {"nothing": (), "journal": ("--journal", "kept.journal")}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    kinds = {"town": "string", "age": "integer", "code": "string"}
    fields = [
        {"name": name, "type": kind, "synthdp": {"derive": True}} for name, kind in kinds.items()
    ]
    (tmp_path / "open.json").write_text(json.dumps({"fields": fields}))
    with duckdb.connect("in.duckdb") as engine:
        engine.execute("CREATE TABLE rows AS SELECT * FROM read_csv('in.csv', all_varchar = true)")
        engine.execute("ALTER TABLE rows ALTER age TYPE INTEGER")
    (tmp_path / "package").mkdir()
    for name, table in random_tables(9).items():
        table.to_csv(tmp_path / f"package/{name}.csv", index=False)
    (tmp_path / "package/datapackage.json").write_text(json.dumps(description()))
    day = {"constraints": {"minimum": 1, "maximum": 9, "required": True}}
    ward = {"constraints": {"enum": ["eyes", "heart"]}}
    fields = [{"name": "day", "type": "integer"} | day, {"name": "ward", "type": "string"} | ward]
    (tmp_path / "persons.json").write_text(json.dumps({"fields": fields}))
    (tmp_path / "persons.csv").write_text("id,day,ward\n1,2,eyes\n1,3,heart\n2,2,eyes\n")
    return tmp_path


def arguments(kind, kept, mechanism="independent"):
    output = "out" if kind == "package" else "out.csv"
    return ("run", *RUNS[kind], "-o", output, *BUDGET, mechanism, *KEPT[kept])


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("mechanism", often("independent", seldom=("mst", "aim")))
@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("kind", RUNS)
def test_no_wrong_parameter_is_usage_once_a_question_was_charged(
    kind, kept, mechanism, monkeypatch
):
    charge = PrivacyLedger.charge
    with monkeypatch.context() as patch:
        patch.setattr(PrivacyLedger, "charge", failing(charge, wrong()))
        assert invoke(*arguments(kind, kept, mechanism)).code == 2, "nothing was charged"
    n_charged = []

    def fails_after_the_first(ledger, event):
        charge(ledger, event)
        n_charged.append(ledger)
        if len({*map(id, n_charged)}) < len(n_charged):  # a part's charge is the whole's, too
            raise wrong()

    with monkeypatch.context() as patch:
        patch.setattr(PrivacyLedger, "charge", fails_after_the_first)
        done = invoke(*arguments(kind, kept, mechanism))
    assert n_charged
    assert (done.code, "what was paid for" in done.err) == (1, True), done


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("kind", RUNS)
def test_a_table_that_cannot_be_written_is_no_usage(kind, kept, monkeypatch):
    writes = WRITES.get(kind, "run.write_sample")
    monkeypatch.setattr(f"synthdp.cli.commands.{writes}", failing(print, wrong()))
    done = invoke(*arguments(kind, kept))
    assert (done.code, "what was paid for is" in done.err) == (1, True), done


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("n_homes", [0, 1])
@pytest.mark.parametrize("epsilon", ["0.001", "1"])
def test_a_package_of_hardly_any_rows_ends_well(n_homes, epsilon, place):
    for name, table in random_tables(n_homes).items():
        table.to_csv(place / f"package/{name}.csv", index=False)
    done = invoke(
        *with_others(arguments("package", "nothing"), "--epsilon", epsilon), "--save", "all.synthdp"
    )
    assert done.code == 0, done
    again = invoke("sample", "all.synthdp", "-o", "more")
    assert (again.code, "--rows" in again.err) in ((2, True), (0, False))
