"""A run that has ended closes its journal: the next one is its own, and what is given again says
so.
"""

import json
from pathlib import Path

import pytest
from helpers.cli_runs import HEADER, assert_one_line, invoke, lay_out, names_in, run_arguments
from helpers.failing_runs import failing
from helpers.stopped_runs import answers, lines

from synthdp.cli.shared import outputs
from synthdp.core import is_damaged
from synthdp.release import Journal

CREATE = (
    "budget",
    "create",
    "b",
    "--epsilon",
    "2.9",
    "--delta",
    "1e-6",
    "--population",
    "people of a town",
)
RUN = run_arguments("--mechanism", "independent", "--budget", "b", "--force")
OTHERS = HEADER + "C,90,02\n" * 900


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert invoke(*CREATE, "--accounting", "zcdp").code == 0


def kinds():
    return [
        entry["kind"]
        for entry in json.loads(invoke("budget", "show", "b", "--json").out)["entries"]
    ]


def certificate():
    return json.loads(Path("out.csv.privacy.json").read_text())


def share_of_c():
    rows = Path("out.csv").read_text().splitlines()[1:]
    return sum(row.startswith("C") for row in rows) / len(rows)


def test_a_nightly_job_releases_the_records_of_its_night():
    results = []
    for records in (None, OTHERS):
        if records is not None:
            Path("in.csv").write_text(records)
        outcome = invoke(*RUN, "--json", "--rows", "200")
        assert (outcome.code, outcome.err) == (0, "")
        results.append((json.loads(outcome.out), certificate(), share_of_c()))
    (first, one, few), (second, other, many) = results
    assert first["replayed"] is second["replayed"] is False
    assert one["run"]["id"] != other["run"]["id"]
    assert "replayed" not in other["run"]
    assert few < 0.5 < many
    assert kinds() == ["run", "end"] * 2
    third = invoke(
        *run_arguments("--mechanism", "independent", "--budget", "b", "--force", epsilon="2.5")
    )
    assert_one_line(third, 3)
    assert certificate() == other, "what was refused took nothing away"
    assert names_in(Path()) == sorted(
        ["b", "in.csv", "schema.json", "out.csv", "out.csv.privacy.json", "out.csv.journal.ended"]
    )


def test_settings_may_change_from_night_to_night():
    assert invoke(*RUN).code == 0
    assert (
        invoke(*run_arguments("--mechanism", "mst", "--budget", "b", "--force", epsilon="0.5")).code
        == 0
    )
    assert kinds() == ["run", "end"] * 2


@pytest.mark.parametrize("json_option", [("--json",), ()])
def test_a_journal_that_is_named_gives_its_release_again_and_says_so_everywhere(json_option):
    assert invoke(*RUN).code == 0
    before = certificate()
    Path("in.csv").write_text(OTHERS)
    outcome = invoke(*RUN, "--journal", "out.csv.journal.ended", "-v", *json_option)
    assert outcome.code == 0
    assert (
        "synthdp: caution: journal 'out.csv.journal.ended': nothing was asked of the records"
        in outcome.err
    )
    assert "charged" not in outcome.err
    assert "answer kept before: marginal town" in outcome.err
    if json_option:
        result = json.loads(outcome.out)
        assert result["replayed"] is True
        assert result["cautions"][0].startswith(
            "journal 'out.csv.journal.ended': nothing was asked of the records"
        )
    after = certificate()
    assert after["run"].pop("replayed") >= after["run"]["released"]
    assert after["run"] == before["run"]
    assert after["events"] == before["events"]
    assert kinds() == ["run", "end"]


def test_a_table_on_standard_output_says_so_as_well():
    run = run_arguments("--mechanism", "independent", "--journal", "j", output="-")
    assert "nothing was asked" not in invoke(*run).err
    assert "synthdp: caution: journal 'j': nothing was asked of the records" in invoke(*run).err


def test_an_ended_journal_with_other_settings_is_refused_with_a_way_out():
    assert invoke(*RUN).code == 0
    other = run_arguments("--mechanism", "mst", "--journal", "out.csv.journal.ended", "--force")
    outcome = invoke(*other)
    assert_one_line(outcome, 2)
    assert "or name another journal; synthdp journal rescue out.csv.journal.ended" in outcome.err


def test_a_run_that_was_stopped_goes_on_keeps_its_name_and_says_what_is_guaranteed(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "get", failing(Journal.get, KeyboardInterrupt(), after=2))
        assert invoke(*RUN).code == 130
    assert not list(Path().glob("*rescued*")), "the journal has it all"
    header = json.loads(lines(Path("out.csv.journal"))[0])["entry"]
    Path("in.csv").write_text(OTHERS)
    assert invoke(*RUN).code == 0
    said = certificate()["run"]
    assert (said["id"], said["released"], len(said["resumed"])) == (
        header["run"],
        header["when"],
        1,
    )
    assert "each answer protects the records as they were when it was given" in said["meaning"]
    assert f"resumed            on {said['resumed'][0]}: the run was stopped" in " ".join(
        invoke("show", "out.csv.privacy.json", "--all").out.decode().splitlines()
    )
    assert kinds() == ["run", "end"]
    assert len(answers(Path("out.csv.journal.ended"))) == len(certificate()["events"])
    replayed = invoke(*RUN, "--journal", "out.csv.journal.ended")
    assert (replayed.code, certificate()["run"]["resumed"]) == (0, said["resumed"])


@pytest.mark.parametrize("step", ["writing", "closing"])
def test_killed_between_its_end_and_the_cleaning_up_nothing_paid_for_is_lost_and_it_is_not_silent(
    step, monkeypatch
):
    owner, name = (outputs, "write_both") if step == "writing" else (Journal, "move")
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing(getattr(owner, name), KeyboardInterrupt(), after=0))
        assert invoke(*RUN).code == 130
    outcome = invoke(*RUN, "--json")
    assert (outcome.code, json.loads(outcome.out)["replayed"], kinds()) == (0, True, ["run", "end"])
    assert "the same command once more makes a new one" in outcome.err
    outcome = invoke(*RUN, "--json")
    assert (json.loads(outcome.out)["replayed"], kinds()) == (False, ["run", "end"] * 2)


def test_what_somebody_wrote_is_never_replaced():
    Path("out.csv.journal.ended").write_text("my notes\n")
    assert_one_line(invoke(*RUN), 1)
    assert (Path("out.csv.journal.ended").read_text(), kinds()) == ("my notes\n", [])
    Path("out.csv.journal.ended").unlink()
    with Journal(
        "out.csv.journal.ended", {}
    ):  # of a run that has not ended, and one that goes on now
        assert_one_line(invoke(*RUN), 1)
    outcome = invoke(*RUN)
    assert_one_line(outcome, 1)
    assert "its run has not ended" in outcome.err
    assert kinds() == []


def test_two_jobs_at_once_are_one_run():
    """The second is refused while the first holds the journal, and has its own as soon as that has
    ended.
    """
    write, refused = outputs.write_both, []

    def writing(*arguments):
        refused.append(invoke(*RUN))
        write(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outputs, "write_both", writing)
        assert invoke(*RUN).code == 0
    assert_one_line(refused[0], 1)
    assert "another run holds it" in refused[0].err
    assert kinds() == ["run", "end"]
    assert invoke(*RUN).code == 0
    assert kinds() == ["run", "end"] * 2


def test_a_journal_that_cannot_be_renamed_is_said(monkeypatch):
    monkeypatch.setattr(Journal, "move", lambda *_: False)
    outcome = invoke(*RUN)
    assert outcome.code == 0
    assert (
        "it could not be renamed; remove it, else the next run gives this release again"
        in outcome.err
    )


def test_every_certificate_has_its_hash():
    assert invoke(*RUN).code == 0
    assert not is_damaged(certificate())
