"""``synthdp report``: not private first, pages written or one line that says why not."""

import json
import zipfile

import pytest
from helpers.cli_runs import HEADER, ROWS, SCHEMA, assert_one_line, invoke, names_in, run_arguments
from helpers.homes import home

import synthdp
from synthdp.report import NOT_PRIVATE, Target, curve_section

marginals = home(curve_section)
targets = home(Target)

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table, two synthetic ones with their certificates, and a saved model."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        (folder / "in.csv").write_text(HEADER + ROWS, encoding="utf-8")
        (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
        (folder / "other.csv").write_text("town\nA\n", encoding="utf-8")
        for epsilon in ("1", "3"):
            more = ("--mechanism", "independent", "--save", f"{epsilon}.synthdp")
            assert invoke(*run_arguments(*more, output=f"{epsilon}.csv", epsilon=epsilon)).code == 0
    return folder


@pytest.fixture
def place(made, monkeypatch, tmp_path):
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(targets, "MAX_TARGETS", 0)  # no models, and few pictures: they take long
    monkeypatch.setattr(marginals, "N_PAIRS", 0)
    return tmp_path


REPORT = ("report", "in.csv", "1.csv", "-s", "schema.json", "-o", "r.html")


def test_a_page_of_several_tables_says_first_that_it_is_not_private(place):
    outcome = invoke(
        "report", "in.csv", "1.csv", "3.csv", "-s", "1.synthdp", "-o", "r.html", "--by", "code"
    )
    assert outcome.code == 0, outcome.err
    assert outcome.lines[0] == f"synthdp: {NOT_PRIVATE}"
    assert "NOT PRIVATE" in outcome.lines[-1]
    assert outcome.out.decode().startswith(NOT_PRIVATE)
    text = (place / "r.html").read_text(encoding="utf-8")
    assert "<title>NOT PRIVATE" in text
    assert "Epsilon and utility" in text  # of the certificates beside the tables


def test_the_certificate_beside_a_table_says_by_which_schema_it_is_read(place):
    """Also of a file with semicolons and decimal commas, whose levels and bins were learnt, and of
    which no model was saved.
    """
    rows = "".join(f"{'ÄB'[n % 2]};{n % 7},{n % 10};{1 + n % 28:02}.03.2020\n" for n in range(900))
    (place / "shops.csv").write_text(f"shop;pay;day\n{rows}", encoding="utf-8")
    kinds = {"shop": "categorical", "pay": "number", "day": {"type": "date", "format": "%d.%m.%Y"}}
    (place / "kinds.json").write_text(json.dumps(kinds), encoding="utf-8")
    budget = ("--epsilon", "9", "--delta", "1e-6", "--mechanism", "independent")
    asked = ("--kinds", "kinds.json", "--dialect", "excel-semicolon", "-o", "made.csv")
    assert invoke("run", "shops.csv", *asked, *budget).code == 0
    outcome = invoke("report", "shops.csv", "made.csv", "--json")
    assert outcome.code == 0, outcome.err
    content = json.loads(outcome.out)
    assert {row["column"] for row in content["columns"]} == {"shop", "pay", "day"}
    assert not any("read off the real table" in note["note"] for note in content["notes"])
    certificate = json.loads((place / "made.csv.privacy.json").read_text(encoding="utf-8"))
    stated = synthdp.Schema.from_dict(certificate["schema"]["definition"])
    assert stated.fingerprint == certificate["schema"]["sha256"]
    assert invoke("report", "shops.csv", "made.csv", "-o", "r.html").code == 0
    real = (place / "shops.csv").read_bytes()
    piped = invoke("report", "-", "made.csv", "--json", stdin=real)
    assert piped.code == 0, piped.err
    assert json.loads(piped.out)["columns"] == content["columns"]
    (place / "made.csv.privacy.json").unlink()
    refused = invoke("report", "shops.csv", "made.csv", "--json")
    assert refused.code != 0
    assert "--dialect excel-semicolon" in refused.err
    found = invoke("report", "shops.csv", "made.csv", "--json", "--dialect", "excel-semicolon")
    assert found.code == 0, found.err
    names = {row["column"] for row in json.loads(found.out)["columns"]}
    assert names == {"shop", "pay", "day"}


def test_tables_without_a_schema_or_certificate_are_read_in_the_dialect_that_is_given(place):
    """Numbers with decimal commas and dots between thousands are numbers, as they are elsewhere."""
    plain = "".join(f"{'AB'[n % 2]},{1000 + n * 1.5}\n" for n in range(90))
    local = "".join(f"{'AB'[n % 2]};1.{n * 15 // 10:03},{n * 15 % 10}\n" for n in range(90))
    (place / "plain.csv").write_text(f"shop,pay\n{plain}", encoding="utf-8")
    (place / "local.csv").write_text(f"shop;pay\n{local}", encoding="utf-8")
    marks = ("--delimiter", ";", "--decimal", ",", "--thousands", ".")
    one = invoke("report", "plain.csv", "plain.csv", "--json")
    other = invoke("report", "local.csv", "local.csv", "--json", *marks)
    assert other.code == 0, other.err
    values = [json.loads(each.out)["values"][0] for each in (one, other)]
    assert {**values[0], "table": ""} == {**values[1], "table": ""}


def test_json_is_for_machines_and_needs_no_page(place):
    before = names_in(place)
    (place / "queries.json").write_text('[{"where": {"town": ["A"]}}]', encoding="utf-8")
    outcome = invoke(
        "report", "in.csv", "1.csv", "-s", "schema.json", "--json", "--queries", "queries.json"
    )
    assert outcome.code == 0, outcome.err
    content = json.loads(outcome.out)
    assert next(iter(content)) == "NOT PRIVATE"
    assert content["facts"]["epsilon"] == {"1.csv": 1.0}
    assert content["queries"][0]["real"] == 5 / 8
    assert names_in(place) == sorted([*before, "queries.json"])


@pytest.mark.parametrize("tables", [("-", "1.csv"), ("in.csv", "-")], ids=["real", "synthetic"])
def test_one_table_may_come_through_a_pipe(place, tables):
    stdin = (place / ("in.csv" if tables[0] == "-" else "1.csv")).read_bytes()
    outcome = invoke("report", *tables, "-s", "schema.json", "--json", stdin=stdin)
    assert outcome.code == 0, outcome.err
    content, direct = (
        json.loads(each.out)["marginals"]
        for each in (outcome, invoke("report", "in.csv", "1.csv", "-s", "schema.json", "--json"))
    )
    name = tables[1] if tables[0] == "-" else "standard input"
    assert [(each["columns"], each["tvd"]) for each in content] == [
        (each["columns"], each["tvd"]) for each in direct
    ]
    assert {each["table"] for each in content} == {name}


def test_the_page_of_a_release_opens_no_table(place):
    (place / "in.csv").unlink()
    (place / "1.csv").unlink()
    outcome = invoke("report", "--public", "1.synthdp", "-o", "p.html")
    assert outcome.code == 0, outcome.err
    assert "no real table was read" in outcome.err
    text = (place / "p.html").read_text(encoding="utf-8")
    assert "(1, 1e-06)-differential privacy" in text
    assert "NOT PRIVATE" not in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("report", "-o", "r.html"), 2, "--public"),
        (("report", "in.csv", "-o", "r.html"), 2, "synthetic"),
        (("report", "-", "other.csv", "-o", "r.html"), 2, "--schema"),
        (("report", "-", "-", "-s", "schema.json", "-o", "r.html"), 2, "twice"),
        (("report", "in.csv", "1.csv"), 2, "--output"),
        ((*REPORT[:-1], "r.csv"), 2, ".html"),
        ((*REPORT[:-1], "-"), 2, ".html"),
        ((*REPORT[:-1], "there/r.html"), 1, "directory"),
        ((*REPORT[:-1], "old.html"), 1, "--force"),
        ((*REPORT, "--delimiter", ";", "--sheet", "1"), 2, "--sheet"),
        (("report", "in.csv", "1.csv", "-s", "nowhere.json", "-o", "r.html"), 1, "nowhere.json"),
        (("report", "in.csv", "1.csv", "-s", "in.csv", "-o", "r.html"), 1, "in.csv"),
        (("report", "--public", "1.synthdp"), 2, "--output"),
        (("report", "in.csv", "--public", "1.synthdp", "-o", "r.html"), 2, "a table"),
        (("report", "--public", "1.synthdp", "-o", "r.html", "--by", "town"), 2, "--by"),
        (("report", "--public", "1.synthdp", "-o", "1.synthdp"), 2, ".html"),
        (("report", "--public", "in.csv", "-o", "r.html"), 1, "in.csv"),
        (("report", "--public", "edited.synthdp", "-o", "r.html"), 1, "edited.synthdp"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_done_is_said_in_one_line(place, arguments, code, words):
    (place / "old.html").write_text("mine", encoding="utf-8")
    with zipfile.ZipFile(place / "edited.synthdp", "w") as archive:
        archive.writestr("synthesis.json", "{}")
    outcome = invoke(*arguments)
    assert_one_line(outcome, code)
    assert words in outcome.err
    assert (place / "old.html").read_text(encoding="utf-8") == "mine"
    assert not (place / "r.html").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("in.csv", "other.csv"), "column"),
        (("in.csv", "gone.csv"), "gone.csv"),
        (("in.csv", "1.csv", "--by", "nobody"), "nobody"),
        (("in.csv", "1.csv", "--target", "nobody"), "nobody"),
        (("in.csv", "1.csv", "--queries", "schema.json"), "queries"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_tables_that_do_not_fit_leave_nothing_behind(place, more, words):
    before = names_in(place)
    outcome = invoke("report", *more, "-s", "schema.json", "-o", "r.html")
    assert outcome.code in (1, 2)
    assert outcome.lines[0] == f"synthdp: {NOT_PRIVATE}"
    assert len(outcome.lines) == 2
    assert words in outcome.lines[1]
    assert names_in(place) == before
