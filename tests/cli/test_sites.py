"""``synthdp plan-measure``, ``measure`` and ``combine``, as somebody at a site would use them."""

import json

import pytest
from helpers.cli_runs import CANARY, HEADER, ROWS, assert_one_line, invoke, lay_out, names_in

import synthdp


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    (tmp_path / "south.csv").write_text(HEADER + ROWS[: len(ROWS) // 2])
    assert planned().code == 0
    return tmp_path


def planned(*more, source="schema.json", output="plan.json", epsilon=1):
    return invoke(
        "plan-measure", source, "-o", output, f"--epsilon={epsilon}", "--delta=1e-6", *more
    )


def measured(table, output, *more, plan="plan.json"):
    return invoke("measure", table, "--plan", plan, "-o", output, *more)


def test_two_sites_from_plan_to_page(folder):
    for table, output in (("in.csv", "north.counts"), ("south.csv", "south.counts")):
        outcome = measured(table, output)
        assert outcome.code == 0, outcome.err
        assert outcome.lines[0] == f"{output}: (1, 1e-06)-differential privacy"
    combined = invoke("combine", "north.counts", "south.counts", "-o", "all.synthdp")
    assert combined.code == 0, combined.err
    assert combined.lines[0] == "all.synthdp: (1, 1e-06)-differential privacy"
    assert invoke("sample", "all.synthdp", "-o", "out.csv", "--seed", "1").code == 0
    assert invoke("marginal", "all.synthdp", "town", "-o", "town.csv").code == 0
    shown = invoke("show", "all.synthdp", "--all").out.decode()
    assert "2 sites, each person at one" in shown
    assert "more than one site" in shown
    assert invoke("certificate", "all.synthdp", "-o", "page.html").code == 0
    assert "2 sites, each person at one" in (folder / "page.html").read_text()
    for form in ("dp-events", "json"):
        assert invoke("certificate", "all.synthdp", "--as", form, "-o", f"c-{form}").code == 0, form
    assert invoke("report", "in.csv", "out.csv", "-o", "report.html", "-s", "schema.json").code == 0
    for name in names_in(folder):
        if name not in ("in.csv", "south.csv"):
            assert CANARY.encode() not in (folder / name).read_bytes(), name


@pytest.mark.usefixtures("folder")
def test_sites_of_the_same_people():
    for output in ("a.counts", "b.counts"):
        assert measured("in.csv", output).code == 0
    outcome = invoke(
        "combine", "a.counts", "b.counts", "-o", "both.synthdp", "--same-people", "--json"
    )
    result = json.loads(outcome.out)
    assert result["epsilon"] > 1.4
    assert result["sites"]["people"] == "same-people"
    shown = invoke("show", "both.synthdp").out.decode()
    assert "2 sites, each person at all" in shown


@pytest.mark.usefixtures("folder")
def test_a_plan_of_what_a_site_released():
    run = ("run", "in.csv", "-s", "schema.json", "-o", "out.csv", "--epsilon=1", "--delta=1e-6")
    assert invoke(*run, "--mechanism", "mst", "--save", "in.synthdp").code == 0
    assert planned(source="in.synthdp", output="chosen.json").code == 0
    for table, output in (("in.csv", "north.counts"), ("south.csv", "south.counts")):
        assert measured(table, output, plan="chosen.json").code == 0
    assert invoke("combine", "north.counts", "south.counts", "-o", "all.synthdp").code == 0
    asked = {m.clique for m in synthdp.load("in.synthdp").measurements}
    assert {m.clique for m in synthdp.load("all.synthdp").measurements} == asked


def test_a_site_has_a_journal_and_a_budget(folder):
    made = ("budget", "create", "b.budget", "--epsilon=1", "--delta=1e-5", "--population", "all")
    assert invoke(*made).code == 0
    kept = ("--budget", "b.budget", "--budget-note", "wave 1")
    assert measured("in.csv", "north.counts", *kept).code == 0
    assert (folder / "north.counts.journal.ended").exists()
    assert_one_line(measured("in.csv", "again.counts", *kept), 3)
    assert not (folder / "again.counts").exists()


def test_sites_with_published_totals(folder):
    (folder / "towns.csv").write_text("town,share\nA,.5\nB,.5\n")
    assert planned("--known", "towns.csv", output="known.json").code == 0
    for table, output in (("in.csv", "north.counts"), ("south.csv", "south.counts")):
        assert measured(table, output, plan="known.json").code == 0
    (folder / "about.json").write_text('{"name": "Two houses"}')
    both = ("combine", "north.counts", "south.counts", "-o", "all.synthdp")
    assert invoke(*both, "--known", "towns.csv", "--about", "about.json").code == 0
    drawn = invoke("sample", "all.synthdp", "-o", "-", "--rows", "40", "--seed", "1")
    assert drawn.out.decode().count("A,") == 20
    shown = " ".join(invoke("show", "all.synthdp").out.decode().split())
    assert "has it exactly" in shown
    assert invoke("report", "--public", "all.synthdp", "-o", "page.html").code == 0
    page = (folder / "page.html").read_text()
    assert "Two houses" in page
    assert "sums over sites have more" in page


def test_bad_input_is_one_line_before_anything_is_paid(folder):
    measured("in.csv", "north.counts")
    planned(output="other.json", epsilon=2)
    measured("south.csv", "south.counts", plan="other.json")
    (folder / "damaged.json").write_text((folder / "plan.json").read_text().replace("1.0", "9.0"))
    (folder / "damaged.counts").write_bytes((folder / "north.counts").read_bytes()[:-50])
    (folder / "columns.csv").write_text("town,age\nA,3\n")
    before = names_in(folder)
    assert_one_line(planned(source="none.json", output="x.json"), 1)
    assert_one_line(planned(output="plan.json"), 1)
    assert_one_line(planned("--workload", "9-wax", output="x.json"), 2)
    assert_one_line(planned("--unit", "id", output="x.json"), 2)
    assert_one_line(planned(output="-"), 2)
    assert_one_line(planned(output="x.json", epsilon=0), 2)
    assert_one_line(planned("--known", "none.csv", output="x.json"), 1)
    assert_one_line(planned("--weight", "town", output="x.json"), 2)
    assert_one_line(measured("in.csv", "x.counts", plan="damaged.json"), 1)
    assert_one_line(measured("in.csv", "x.counts", plan="schema.json"), 1)
    assert_one_line(measured("in.csv", "north.counts"), 1)
    assert_one_line(measured("in.csv", "in.csv"), 2)
    assert_one_line(measured("columns.csv", "x.counts"), 1)
    assert_one_line(measured("none.csv", "x.counts"), 1)
    assert_one_line(invoke("combine", "north.counts", "south.counts", "-o", "x.synthdp"), 2)
    assert_one_line(invoke("combine", "north.counts", "-o", "x.synthdp"), 2)
    assert_one_line(invoke("combine", "north.counts", "north.counts", "-o", "x.synthdp"), 2)
    assert_one_line(invoke("combine", "north.counts", "damaged.counts", "-o", "x.synthdp"), 1)
    assert_one_line(invoke("combine", "north.counts", "in.csv", "-o", "x.synthdp"), 1)
    assert names_in(folder) == before


def test_a_full_disk_keeps_what_was_paid_for(folder, monkeypatch):
    saved = synthdp.Synthesis.save

    def full(self, path, *, force=False):
        if str(path) == "north.counts":
            raise synthdp.DataFileError("'north.counts': the disk is full")
        saved(self, path, force=force)

    monkeypatch.setattr(synthdp.Synthesis, "save", full)
    outcome = measured("in.csv", "north.counts")
    assert outcome.code == 1
    assert "north.counts.rescued.synthdp" in outcome.err
    assert (folder / "north.counts.rescued.synthdp").exists()
