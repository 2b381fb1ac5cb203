"""No page shows anything of a record before a release is paid for: other records, the same bytes."""

import json
import random
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from helpers.cli_runs import CANARY
from helpers.studio import key_and_version, posted, studio_client

from synthdp.cli import logged_progress

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

HEADER = "Ort;Alter;Größe;Bemerkung\n"


def table(seed, n_rows):
    chance = random.Random(seed)
    lines = (
        f"{chance.choice(['A', CANARY, ''])};{chance.randint(-9, 999)};{chance.random():.3f};x\n"
        for _ in range(n_rows)
    )
    return HEADER + "".join(lines)


def walked(place, content):
    """Every answer of a walk up to the run, and of what is done wrong on it."""
    (place / "t.csv").write_text(content, encoding="utf-8", errors="surrogateescape")
    client, _ = studio_client(place)
    seen = []

    def get(path):
        answer = client.get(path, follow_redirects=False)
        seen.append((path, answer.status_code, sorted(answer.headers.items()), answer.content))

    def post(path, **given):
        answer = posted(client, path, **given)
        seen.append((path, answer.status_code, sorted(answer.headers.items()), answer.content))

    get("/table")
    post("/table", action="choose", table="t.csv")
    get("/table")
    for mark in (",", ";", "|"):
        post("/table", action="dialect", delimiter=mark, encoding="utf-8", mark=",")
        get("/table")
    post("/table", action="dialect", delimiter=";", encoding="utf-8", mark=",", then="go_on")
    kinds = {"c0-0.kind": "categorical", "c0-1.kind": "integer", "c0-2.kind": "number"}
    post("/columns", action="go_on", **kinds)
    get("/columns")
    post("/columns", action="go_on", **kinds, **{"c0-3.kind": "ignore", "c0-1.minimum": "0"})
    get("/people")
    post("/people", action="add", rule="check", left="Alter", compared=">=", right="Größe")
    post("/people", action="go_on", several="yes", unit="Bemerkung", max_rows="2")
    get("/budget")
    key = key_and_version(client.get("/budget").text)
    seen.append(client.post("/budget/expected", data=key | {"rows": "500", "epsilon": "1"}).content)
    post("/budget", action="go_on", rows="500", epsilon="1")
    for path in (
        "/run",
        "/run/progress",
        "/look",
        "/take",
        "/take/project.zip",
        "/take/file?name=x",
    ):
        get(path)
    files = {path.name: path.read_bytes() for path in (place / "people.studio").iterdir()}
    return seen, files


def test_no_answer_and_no_file_depends_on_the_records(tmp_path):
    seen = []
    unread = HEADER + 99 * "\udcff\udcfe\x00;1\n"  # bytes of no encoding that the page proposes
    for content in (table(1, 10), table(2, 3000), table(3, 0), unread):
        place = tmp_path / "place"
        place.mkdir()
        seen.append(walked(place, content))
        shutil.rmtree(place)
    for answers, files in seen[1:]:
        assert answers == seen[0][0]
        assert files == seen[0][1]
    assert CANARY not in str(seen)


def test_records_are_seen_only_by_who_asks_and_kept_nowhere(tmp_path):
    (tmp_path / "t.csv").write_text(f"Ort;Alter\n{CANARY};7\n", encoding="utf-8")
    client, _ = studio_client(tmp_path)
    posted(client, "/table", action="choose", table="t.csv")
    assert CANARY not in client.get("/table").text
    posted(client, "/table", action="look", may_look="yes")
    page = client.get("/table").text
    assert CANARY in page
    assert "NOT PRIVATE" in page
    posted(
        client, "/table", action="dialect", delimiter=";", encoding="utf-8", mark=".", then="go_on"
    )
    assert CANARY not in client.get("/columns").text
    kept = "".join(path.read_text() for path in (tmp_path / "people.studio").iterdir())
    assert CANARY not in kept
    assert "may_look" not in kept
    posted(client, "/table", action="look")
    assert CANARY not in client.get("/table").text
    assert CANARY not in studio_client(tmp_path)[0].get("/table").text  # the switch is not kept


def test_what_is_shown_of_a_run_moves_on_in_ticks():
    began = datetime.now(UTC) - timedelta(seconds=3)
    lines = ((0.0, "reading"), (1.9, "sampling"), (2.5, "writing"))
    log = "".join(
        f'{{"time": "{(began + timedelta(seconds=after)).isoformat()}", "level": "info", "message": "{what}"}}\n'
        for after, what in lines
    )
    assert logged_progress(log, tick=2.0).stage == "sampling"  # not what came after the last tick
    assert logged_progress(log).stage == "writing"


RESULT = {"is_private": True, "guarantee": "(1, 1e-06)-differential privacy", "cautions": []}
COSTS = {"rho_budget": 0.02, "failure_delta": 0.0, "failure_delta_spent": 0.0}
RESULT |= {"epsilon": 1.0, "delta": 1e-6, "accounting": {"currency": "gdp"} | COSTS}


def test_pages_of_a_run_depend_on_what_it_released_and_not_on_the_table_or_on_time(tmp_path):
    seen = []
    for n_rows, seconds in ((10, 0.01), (3000, 40.0)):
        place = tmp_path / "place"
        place.mkdir()
        walked(place, table(n_rows, n_rows))
        project = place / "people.studio"
        run = project / "run-1"
        (run / "publish").mkdir(parents=True)
        (run / "publish" / "synthetic.csv").write_text(HEADER)
        (run / "publish" / "certificate.html").write_text("made of what was released")
        kept = json.loads((project / "project.json").read_text())
        (project / "project.json").write_text(json.dumps(kept | {"run": 1, "walked": 6}))
        (run / "command.json").write_text('{"arguments": ["run", "--epsilon", "1"], "process": 1}')
        began = datetime.now(UTC)
        steps = ("reading", "charged marginal Ort: sigma 3; 50 % of the budget is spent", "writing")
        lines = (
            {"time": (began + timedelta(seconds=number * seconds)).isoformat(), "level": "info"}
            | {"message": message}
            for number, message in enumerate(steps)
        )
        (run / "log.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        pages = []
        for result in ("", json.dumps(RESULT)):  # it was stopped, or is done
            (run / "result.json").write_text(result)
            client, _ = studio_client(place)
            answers = [client.get(path) for path in ("/run", "/run/progress", "/look", "/take")]
            pages += [(each.status_code, each.headers.items(), each.content) for each in answers]
        seen.append(pages)
        shutil.rmtree(place)
    assert seen[0] == seen[1]
    assert {status for status, _, _ in seen[0]} == {200}
    assert b"marginal Ort: sigma 3" in seen[0][0][2]
