"""The walk of the studio without a browser: what each step saves, shows and refuses."""

import errno
import inspect
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from html import unescape
from pathlib import Path
from string import Formatter

import pytest
from helpers.paths import ROOT
from helpers.studio import (
    form_with,
    key_and_version,
    messy_export,
    posted,
    sent,
    studio_client,
)

import synthdp
from synthdp.cli import ARGUMENTS, CATALOGUES, Job, OpenProject, run_words
from synthdp.core import (
    BudgetExceededError,
    DataFileError,
    UnreadColumnError,
    all_codes,
    caution_code,
    error_code,
)
from synthdp.release import Budget
from synthdp.schema import answers_of_kind, kind_of_answers

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

ROWS = "".join(f"{'AB'[n % 2]};{n % 60};{n % 7},5;k.A.\n" for n in range(500))
TABLE = "Ort;Alter;Größe;Bemerkung\n" + ROWS
DATES = {"kind": "date", "format": "dd.mm.yyyy", "minimum": "01.01.2023", "maximum": "31.12.2025"}


@pytest.fixture
def place(tmp_path):
    (tmp_path / "Export 1.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def client(place):
    return studio_client(place)[0]


def chosen(client, table="Export 1.csv", *, delimiter=";", mark=","):
    """A table is chosen, and how it is written said."""
    posted(client, "/table", action="choose", table=table)
    given = {"delimiter": delimiter, "encoding": "utf-8", "mark": mark, "then": "go_on"}
    assert posted(client, "/table", action="dialect", **given).headers["location"] == "/columns"


def declared(client, **more):
    chosen(client)
    kinds = {"c0-0.kind": "categorical", "c0-0.levels": "A\nB", "c0-1.kind": "integer"}
    kinds |= {"c0-1.minimum": "0", "c0-1.maximum": "99", "c0-2.kind": "number"}
    kinds |= {"c0-3.kind": "ignore"}
    return posted(client, "/columns", action="go_on", **(kinds | more))


def budgeted(client):
    assert declared(client).headers["location"] == "/people"
    assert posted(client, "/people", action="go_on", several="no").headers["location"] == "/budget"
    sent = {"rows": "500", "epsilon": "20", "delta": "1e-6", "budget": ""}
    assert posted(client, "/budget", action="go_on", **sent).headers["location"] == "/run"


def kinds_in(place):
    return json.loads((place / "people.studio" / "kinds.json").read_text("utf-8"))


def test_the_delimiter_that_divides_the_names_is_proposed(client):
    page = client.get(
        posted(client, "/table", action="choose", table="Export 1.csv").headers["location"]
    )
    assert form_with(page.text, "delimiter")["delimiter"] == ";"
    assert "4 columns" in page.text
    assert "k.A." not in page.text


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_the_encoding_that_the_names_are_read_with_is_proposed(place, encoding):
    (place / "Export 1.csv").write_bytes(TABLE.encode(encoding))
    client = studio_client(place)[0]
    posted(client, "/table", action="choose", table="Export 1.csv")
    page = client.get("/table").text
    assert "<bdi>Größe</bdi>" in page
    assert f'value="{encoding.removesuffix("-sig")}" selected' in page
    # nobody knows how its numbers are written, and it is not gone on without
    asked = form_with(page, "delimiter")
    assert "mark" not in asked
    asked = {name: asked[name] for name in ("action", "delimiter", "encoding")}
    refused = posted(client, "/table", **asked | {"then": "go_on"})
    assert refused.status_code == 422
    assert "its numbers are written; choose it" in refused.text
    tried = posted(client, "/table", **asked)
    assert tried.headers["location"].startswith("/table")
    given = asked | {"then": "go_on", "mark": "."}
    assert posted(client, "/table", **given).headers["location"] == "/columns"
    assert kinds_in(place)["synthdp"]["dialect"]["decimalChar"] == "."
    assert form_with(client.get("/table").text, "mark")["mark"] == "."


def test_a_later_step_leads_back_to_where_one_is(client):
    for step in ("columns", "people", "budget", "run", "look", "take"):
        assert client.get(f"/{step}", follow_redirects=False).headers["location"] == "/table"


def test_columns_are_what_a_kinds_file_says(client, place):
    declared(client)
    assert kinds_in(place) == {
        "synthdp": {"dialect": {"delimiter": ";", "decimalChar": ",", "groupChar": "."}},
        "Ort": {"type": "categorical", "constraints": {"enum": ["A", "B"]}},
        "Alter": {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        "Größe": "number",
        "Bemerkung": "ignore",
    }
    page = client.get("/columns").text
    assert form_with(page, "c0-1.minimum")["c0-1.maximum"] == "99"


def test_bounds_of_a_distance_are_asked_for_and_refused_as_one(client):
    chosen(client)
    dates = {"c0-0.kind": "date", "c0-1.kind": "date", "c0-1.relative_to": "Ort"}
    dates |= {"c0-2.kind": "number", "c0-3.kind": "ignore"}
    assert posted(client, "/columns", action="save", **dates).status_code == 303
    assert "Distance from “Ort” (of dates in days), from" in unescape(client.get("/columns").text)
    refused = posted(client, "/columns", action="save", **dates | {"c0-1.maximum": "30.06.2025"})
    assert "give a number" in refused.text
    assert "A number or choice is not possible" in refused.text


def test_what_is_refused_is_said_beside_the_column_and_stays_typed(client):
    chosen(client)
    answer = posted(
        client,
        "/columns",
        action="go_on",
        **{"c0-0.kind": "integer", "c0-0.minimum": "9", "c0-0.maximum": "3"},
    )
    assert answer.status_code == 422
    assert "What is said of the columns contradicts itself" in answer.text
    assert form_with(answer.text, "c0-0.minimum")["c0-0.maximum"] == "3"
    made = {f"c0-{n}.kind": "ignore" for n in range(3)} | {"c0-3.kind": "id"}
    made |= {"c0-0.kind": "categorical", "c0-3.pattern": "KH"}
    answer = posted(client, "/columns", action="go_on", **made)
    assert answer.text.count("0 numbers in braces") == 2
    assert answer.text.count('role="alert"') == 1  # above once, and beside the column
    odd = posted(client, "/columns", action="save", **{"c0-0.kind": "integer", "c0-0.more": "{"})
    assert odd.status_code == 422
    assert "Ort" in odd.text


def test_a_refusal_is_opened_by_words_that_are_true_of_it(client):
    declared(client)
    old = key_and_version(client.get("/people").text)
    posted(client, "/people", action="go_on", several="no")
    twice = sent(client, "/people", data=old | {"action": "go_on", "several": "no"})
    assert "Something was saved in another page meanwhile" in twice.text
    removed = posted(client, "/people", action="remove-7")
    typed = posted(client, "/budget", action="save", rows="many", epsilon="1")
    assert "“many” is no whole number" in unescape(typed.text)
    for page in (twice, removed, typed):
        assert page.status_code == 422
        assert "A number or choice is not possible" not in page.text
    unread = {"c0-1.kind": "integer", "c0-1.minimum": "1.2.3"}
    refused = posted(client, "/columns", action="save", **unread)
    assert "A number or choice is not possible" in refused.text


def test_words_for_missing_contradict_a_column_that_is_never_missing(client, place):
    words = {"c0-1.missing": "k.A."}
    assert declared(client, **words | {"c0-1.required": "never"}).status_code == 422
    assert declared(client, **words).headers["location"] == "/people"
    assert kinds_in(place)["Alter"]["missingValues"] == ["k.A.", ""]  # so it is written


@pytest.mark.parametrize(
    ("typed", "read", "shown"),
    [
        ("100.000,00", 100000.0, "100000,0"),
        ("100.000", 100000, "100000"),
        ("1.234.567,5", 1234567.5, "1234567,5"),
        ("1,234.5", 1234.5, "1234,5"),
        ("0,125", 0.125, "0,125"),
        ("1.5", 1.5, "1,5"),
        ("12 000", 12000, "12000"),
    ],
)
def test_numbers_are_read_and_shown_in_the_marks_of_the_file(client, place, typed, read, shown):
    chosen(client)
    kinds = {"c0-2.kind": "number", "c0-2.minimum": "-1", "c0-2.maximum": typed}
    for _ in range(2):  # what is shown says the same
        assert posted(client, "/columns", action="save", **kinds).status_code == 303
        assert kinds_in(place)["Größe"]["constraints"] == {"minimum": -1, "maximum": read}
        kinds["c0-2.maximum"] = form_with(client.get("/columns").text, "c0-2.maximum")[
            "c0-2.maximum"
        ]
        assert kinds["c0-2.maximum"] == shown
    refused = posted(client, "/columns", action="save", **kinds | {"c0-2.maximum": "1.2.3"})
    assert "give a number, such as 1234,5" in refused.text
    assert form_with(refused.text, "c0-2.maximum")["c0-2.maximum"] == "1.2.3"


def test_what_is_said_while_it_is_typed(client):
    chosen(client)
    key = key_and_version(client.get("/columns").text)
    sent = key | {"id": "c0-2", "c0-2.kind": "number"}
    said = client.post("/columns/said", data=sent).text
    assert "1234,5" in said
    sent |= {"c0-2.minimum": "5", "c0-2.maximum": "1"}
    assert "Refused" in client.post("/columns/said", data=sent).text
    assert client.post("/columns/said", data=sent | {"id": "c9"}).status_code == 422


@pytest.mark.parametrize("words", ["ja/nein", "own"])
def test_words_for_yes_and_no_are_chosen_of_a_list(client, place, words):
    chosen(client)
    kinds = {"c0-0.kind": "boolean", "c0-0.words": words}
    own = {"c0-0.true": "ja", "c0-0.false": "nö"}
    if words == "own":
        assert "list those for true" in posted(client, "/columns", action="save", **kinds).text
        kinds |= own
    assert posted(client, "/columns", action="save", **kinds).status_code == 303
    no = "nö" if words == "own" else "nein"
    declared = {"type": "boolean", "trueValues": ["ja"], "falseValues": [no]}
    assert kinds_in(place)["Ort"] == declared
    page = client.get("/columns").text
    assert form_with(page, "c0-0.words")["c0-0.words"] == words
    # and the usual words are read again if these are chosen
    usual = kinds | {"c0-0.words": "", "c0-0.true": "", "c0-0.false": ""}
    assert posted(client, "/columns", action="save", **usual).status_code == 303
    assert kinds_in(place)["Ort"] == "boolean"


@pytest.mark.parametrize("answer", ["never", "may be", ""])
def test_whether_values_are_missing_has_three_answers(client, place, answer):
    chosen(client)
    kinds = {"c0-1.kind": "integer", "c0-1.required": answer}
    assert posted(client, "/columns", action="save", **kinds).status_code == 303
    field = {"type": "integer", "constraints": {"required": answer == "never"}}
    assert kinds_in(place)["Alter"] == (field if answer else "integer")
    page = client.get("/columns").text
    assert form_with(page, "c0-1.required")["c0-1.required"] == answer
    kinds["c0-1.required"] = "perhaps"
    assert posted(client, "/columns", action="save", **kinds).status_code == 422


@pytest.mark.parametrize(("language", "word"), [("de", "andere"), ("en", "")])
def test_what_is_rare_is_called_so_in_the_language_of_the_page(client, place, language, word):
    chosen(client)
    client.get(f"/columns?language={language}")
    kinds = {"c0-0.kind": "categorical", "c0-1.kind": "categorical", "c0-1.levels": "1\n2"}
    assert posted(client, "/columns", action="rest", **kinds).status_code == 303
    named = {"type": "categorical", "synthdp": {"other": word}} if word else "categorical"
    kept = kinds_in(place)
    assert [kept["Ort"], kept["Größe"]] == [named, named]
    assert "synthdp" not in kept["Alter"]
    assert form_with(client.get("/columns").text, "c0-0.other").get("c0-0.other") == word


@pytest.mark.parametrize("language", ["de", "en"])
def test_no_hint_in_an_empty_input_looks_filled_in(client, language):
    declared(client)
    client.get(f"/columns?language={language}")
    begins = "leer: |etwa " if language == "de" else "empty: |such as "
    pages = [client.get(f"/{step}").text for step in ("table", "columns", "people", "budget")]
    pages.append(client.get("/people?rule=determines&column=Alter&column=Ort").text)
    hints = [each for page in pages for each in re.findall(r"placeholder=[\"'](.*?)[\"']", page)]
    assert len(hints) > 20
    assert [each for each in hints if each and not re.match(begins, each)] == []


def test_a_code_book_fills_in_levels(client, place):
    chosen(client)
    answer = posted(
        client,
        "/columns",
        action="book",
        book="VALUE LABELS Ort 1 'Köln' 2 'Bonn'.",
        holds="labels",
    )
    assert answer.headers["location"] == "/columns"
    assert kinds_in(place)["Ort"] == {
        "type": "categorical",
        "constraints": {"enum": ["Köln", "Bonn"]},
    }
    assert posted(client, "/columns", action="book", book="x;1\n").status_code == 422


def added(client, place, **given):
    """The rules after one was clicked together, and what answered."""
    answer = posted(
        client, "/people", action="add", **{k.replace("__", "."): each for k, each in given.items()}
    )
    return answer.status_code, kinds_in(place)["synthdp"].get("constraints", [])


def test_rules_are_checked_at_once(client, place):
    declared(client)
    rule = {"rule": "check", "column": ["Alter", "Größe"], "compared": ">="}
    rule |= {"0__side": "left", "1__side": "right"}
    rules = [{"check": "Alter >= Größe"}]
    assert added(client, place, **rule) == (303, rules)
    assert added(client, place, **rule | {"compared": "<"}) == (422, rules)
    assert added(client, place, **rule | {"1__side": "left"}) == (422, rules)
    assert added(client, place, **rule | {"column": []}) == (422, rules)
    unknown = {"rule": "forbid", "column": "Ort", "0__0__level": '"C"'}
    assert added(client, place, **unknown) == (422, rules)
    for number, status in ((9, 422), ("x", 422), (0, 303)):
        assert posted(client, "/people", action=f"remove-{number}").status_code == status
    assert "constraints" not in kinds_in(place)["synthdp"]


def test_a_rule_between_two_dates_is_offered_as_a_distance_and_then_superfluous(client, place):
    declared(client, **{"c0-2.kind": "integer", "c0-2.minimum": "0", "c0-2.maximum": "9"})
    rule = {"rule": "check", "column": ["Größe", "Alter"], "compared": "<="}
    rule |= {"0.side": "left", "1.side": "right"}
    posted(client, "/people", action="add", **rule)
    assert kinds_in(place)["synthdp"]["constraints"] == [{"check": "Größe <= Alter"}]
    assert "als Abstand von" in client.get("/people?language=de").text
    client.get("/people?language=en")
    posted(client, "/people", action="distance-0")
    assert "constraints" not in kinds_in(place)["synthdp"]
    field = {"type": "integer", "synthdp": {"relative_to": "Größe", "minimum": 0}}
    assert kinds_in(place)["Alter"] == field
    page = client.get("/people").text
    assert "“Alter” is measured by its distance from “Größe”" in page
    assert 'name="column" value="Alter"' not in page  # no rule can be about it


def test_each_pair_of_neighbouring_dates_can_be_put_in_order_by_a_click(client, place):
    (place / "Fälle.csv").write_text("Tat;Ort;Meldung;Ende\n", "utf-8")
    chosen(client, "Fälle.csv")
    kinds = {f"c0-{n}.kind": "date" for n in (0, 2, 3)} | {"c0-1.kind": "categorical"}
    posted(client, "/columns", action="go_on", **kinds)

    def offered():
        page = unescape(client.get("/people?language=en").text)
        return dict(re.findall(r'value="(apart-[0-9]+)">\s*(.*?)</button>', page))

    ways = ["“Meldung” is never before “Tat”", "“Ende” is never before “Meldung”"]
    ways += ["“Tat” is never before “Meldung”", "“Meldung” is never before “Ende”"]
    assert [*offered().values()] == ways
    folded = re.findall("<details><summary>.*?</details>", client.get("/people").text, re.S)
    assert [each.count("is never before") for each in folded] == [2]  # few columns stand so
    taken = next(id_ for id_, way in offered().items() if way == ways[0])
    posted(client, "/people", action=taken)
    assert [*offered().values()] == [ways[1]]  # a second distance of Meldung would undo the first
    posted(client, "/people", action=next(iter(offered())))
    assert offered() == {}
    own = {name: {"relative_to": name, "minimum": 0} for name in ("Tat", "Meldung")}
    saved = kinds_in(place)
    assert saved["Meldung"] == {"type": "date", "synthdp": own["Tat"]}
    assert saved["Ende"] == {"type": "date", "synthdp": own["Meldung"]}
    assert "constraints" not in saved["synthdp"]
    assert posted(client, "/people", action="apart-0").status_code == 422
    assert posted(client, "/people", action="go_on", several="no").headers["location"] == "/budget"


@pytest.fixture
def dated(client, place):
    """A table of two dates, with bounds, of which the later one can be measured from the other."""
    (place / "Fälle.csv").write_text("Schaden;Meldung\n", "utf-8")
    chosen(client, "Fälle.csv")
    kinds = {f"c0-{n}.{name}": text for n in (0, 1) for name, text in DATES.items()}
    posted(client, "/columns", action="go_on", **kinds)
    return client


def put_in_order(client, place):
    client.get("/people?language=en")
    ways = re.findall(r'value="(apart-[0-9]+)">\s*(.*?)</button>', client.get("/people").text)
    taken = next(id_ for id_, way in ways if unescape(way).startswith("“Meldung” is never"))
    assert posted(client, "/people", action=taken).status_code == 303
    assert kinds_in(place)["Meldung"]["synthdp"] == {"relative_to": "Schaden", "minimum": 0}


def sent_columns(client, **typed):
    form = form_with(client.get("/columns").text, "c0-1.kind")
    held = {name: text for name, text in form.items() if name.startswith("c0-")}
    assert posted(client, "/columns", action="save", **held | typed).status_code == 303


def test_a_distance_is_taken_back_with_what_was_declared_before(dated, place):
    before = kinds_in(place)
    put_in_order(dated, place)
    assert "“Meldung” is measured as days since “Schaden”." in unescape(dated.get("/people").text)
    assert posted(dated, "/people", action="back-1").status_code == 422
    assert posted(dated, "/people", action="back-0").status_code == 303
    assert kinds_in(place) == before


def test_a_distance_that_a_rule_became_is_a_rule_again(dated, place):
    rule = {"rule": "check", "column": ["Schaden", "Meldung"], "compared": "<="}
    posted(dated, "/people", action="add", **rule, **{"0.side": "left", "1.side": "right"})
    before = kinds_in(place)
    assert before["synthdp"]["constraints"] == [{"check": "Schaden <= Meldung"}]
    posted(dated, "/people", action="distance-0")
    assert "constraints" not in kinds_in(place)["synthdp"]
    posted(dated, "/people", action="back-0")
    assert kinds_in(place) == before


def test_a_distance_that_step_2_takes_back_leaves_none_of_its_bounds(dated, place):
    before = kinds_in(place)
    put_in_order(dated, place)
    sent_columns(dated, **{"c0-1.relative_to": ""})
    assert kinds_in(place) == before
    put_in_order(dated, place)
    sent_columns(dated, **{"c0-1.relative_to": "", "c0-1.minimum": "01.02.2024"})
    assert kinds_in(place)["Meldung"]["constraints"] == {"minimum": "01.02.2024"}
    put_in_order(dated, place)
    (place / "people.studio/former.json").unlink()  # a project that kept nothing
    sent_columns(dated, **{"c0-1.relative_to": ""})
    assert "constraints" not in kinds_in(place)["Meldung"]


def test_a_rule_that_a_distance_says_goes_when_the_distance_is_declared(client, place):
    declared(client, **{"c0-2.kind": "integer"})
    rule = {"rule": "check", "column": ["Größe", "Alter"], "compared": "<="}
    posted(client, "/people", action="add", **rule, **{"0.side": "left", "1.side": "right"})
    relative = {"c0-1.kind": "integer", "c0-1.relative_to": "Größe", "c0-1.maximum": "50"}
    assert posted(client, "/columns", action="go_on", **relative).headers["location"] == "/people"
    assert "constraints" not in kinds_in(place)["synthdp"]
    own = {"relative_to": "Größe", "maximum": 50, "minimum": 0}
    assert kinds_in(place)["Alter"] == {"type": "integer", "synthdp": own}


def test_every_form_of_rule_is_clicked_together(client, place):
    more = {"c0-3.kind": "categorical", "c0-3.levels": "x\ny", "c0-2.minimum": "0"}
    more |= {"c0-2.maximum": "90", "c0-1.bins": "99"}
    declared(client, **more)
    asked = {"rule": "allow", "column": ["Ort", "Bemerkung", "Alter"], "cases": "2"}
    page = client.get("/people", params=asked).text
    sent = form_with(page, "0.2.minimum") | {"0.0.level": ['"A"'], "0.1.level": ['"x"', "null"]}
    assert 'name="1.2.maximum"' in page
    sent |= {"0.2.minimum": "0", "1.1.level": '"y"', "1.2.maximum": "40"}
    sent |= {"column": asked["column"], "action": "more"}
    sent |= {"1.0.level": ['"B"', "null"], "1.2.minimum": "0", "0.2.maximum": "99"}
    room = client.post("/people", data=sent, follow_redirects=False).headers["location"]
    assert "key" not in room
    page = client.get(room).text  # a third case, and what was ticked stays
    assert form_with(page, "2.2.maximum")["1.2.maximum"] == "40"
    assert 'name="0.1.level" value="null" checked' in page
    answer = client.post("/people", data=sent | {"action": "add"}, follow_redirects=False)
    assert answer.headers["location"].endswith("#rules"), answer.text
    cases = [
        {"Ort": ["A"], "Bemerkung": ["x", None], "Alter": {"minimum": 0, "maximum": 99}},
        {"Ort": ["B", None], "Bemerkung": ["y"], "Alter": {"minimum": 0, "maximum": 40}},
    ]
    rules = [{"allow": cases}]
    assert kinds_in(place)["synthdp"]["constraints"] == rules
    forbid = {"rule": "forbid", "column": ["Ort", "Bemerkung"], "0__0__level": '"A"'}
    rules += [{"forbid": {"Ort": ["A"], "Bemerkung": [None]}}]
    assert added(client, place, **forbid, **{"0__1__level": "null"}) == (303, rules)
    decides = {"rule": "determines", "column": ["Ort", "Bemerkung"], "map__0": '"x"'}
    rules += [{"determines": ["Ort", "Bemerkung"], "map": {"A": "x", "B": "y"}}]
    assert added(client, place, **decides, map__1='"y"') == (303, rules)
    rules += [{"determines": ["Bemerkung", "Ort"], "map": {"x": "A", "y": "B"}}]
    turned = decides | {"turned": "1", "map__0": '"A"', "map__1": '"B"'}
    assert added(client, place, **turned) == (303, rules)
    total = {"rule": "check", "column": ["Größe", "Alter"], "compared": "<=", "number": "80"}
    rules += [{"check": "Größe <= 2.5 * Alter + 80"}]
    total |= {"0__side": "left", "1__side": "right", "1__times": "2,5"}
    assert added(client, place, **total) == (303, rules)
    rules += [{"check": "2 * Größe - 1 * Alter <= 300"}]
    total |= {"1__side": "left", "0__times": "2", "1__times": "-1", "number": "300"}
    assert added(client, place, **total) == (303, rules)
    lacking = {"rule": "forbid", "column": ["Ort", "Alter"], "0__0__level": '"A"'}
    rules += [{"forbid": {"Ort": ["A"], "Alter": [None]}}]
    assert added(client, place, **lacking, **{"0__1__level": "null"}) == (303, rules)
    page = client.get("/people?language=de").text
    assert "nur: Ort A und Bemerkung x oder fehlt und Alter von 0 bis 99; oder Ort B" in page
    contrary = {"rule": "forbid", "column": "Ort", "0__0__level": ['"A"', '"B"', "null"]}
    assert added(client, place, **contrary) == (422, rules)


def test_persons_with_several_rows(client, place):
    declared(client)
    sent = {"action": "go_on", "several": "yes", "unit": "Bemerkung", "max_rows": "3"}
    assert posted(client, "/people", **sent).status_code == 303
    project = json.loads((place / "people.studio" / "project.json").read_text())
    assert (project["unit"], project["max_rows"]) == ("Bemerkung", 3)
    assert posted(client, "/people", action="go_on", several="yes", unit="").status_code == 422


@pytest.mark.parametrize("action", ["remove-1", "distance-1", "apart-0", "remove-", "mend-0"])
def test_a_change_of_a_rule_that_is_not_there_changes_nothing(client, place, action):
    declared(client)
    rule = {"rule": "check", "column": ["Alter", "Größe"], "compared": ">="}
    posted(client, "/people", action="add", **rule, **{"0.side": "left", "1.side": "right"})
    kinds = (place / "people.studio/kinds.json").read_bytes()
    assert posted(client, "/people", action=action).status_code == 422
    assert (place / "people.studio/kinds.json").read_bytes() == kinds


@pytest.mark.parametrize("most", ["5", ""])
def test_what_is_typed_of_persons_is_saved_with_rules_or_stays_typed(client, place, most):
    declared(client)
    typed = {"several": "yes", "unit": "Bemerkung", "max_rows": most, "order": "Alter"}
    rule = {"rule": "check", "column": ["Alter", "Größe"], "compared": ">="}
    rule |= {"0.side": "left", "1.side": "right"}
    asked = {name: rule[name] for name in ("rule", "column")}
    built = client.get("/people", params=asked | typed)
    added = posted(client, "/people", action="add", **rule, **typed)
    assert added.status_code == 303, added.text
    project = json.loads((place / "people.studio" / "project.json").read_text())
    said = (project["unit"], project["max_rows"], project["order"])
    assert said == (("Bemerkung", 5, "Alter") if most else ("", 1, ""))
    removed = posted(client, "/people", action="remove-0", **typed)
    saved = [client.get(each.headers["location"]) for each in (added, removed)]
    unsaved = [built, posted(client, "/people", action="add", **typed)]  # refused
    unsaved += [posted(client, "/people", action="go_on", **typed | {"max_rows": "5 or so"})]
    for page, shown_most in zip([*saved, *unsaved], [most] * 4 + ["5 or so"], strict=True):
        shown = form_with(page.text, "several")
        assert (shown["several"], shown["max_rows"]) == ("yes", shown_most)
        assert shown["unit"] == "Bemerkung"
        assert shown["order"] == "Alter"
        # and is not left without a word
        assert ("data-typed" in page.text) == (page not in saved or not most)
    assert form_with(client.get("/people").text, "several")["max_rows"] == (most or "1")


def test_what_a_budget_would_not_learn_is_said_in_the_same_step(client, place):
    """Nobody has to go back: levels and bounds are typed where the warning of them stands."""
    declared(client, **{"c0-0.levels": "", "c0-1.minimum": "", "c0-1.maximum": ""})
    posted(client, "/people", action="go_on", several="no")
    sent = {"rows": "3.000", "epsilon": "0,1", "delta": "", "budget": "", "note": "a"}
    key = key_and_version(client.get("/budget").text)
    said = client.post("/budget/expected", data=key | sent).text
    ways = ["#c0-0.levels", "#c0-1.minimum", "#c0-2.minimum"]
    assert re.findall('href="(.*?)"', said) == ways
    page = client.get("/budget").text
    form = form_with(page, "rows")
    assert {f"#{name}" for name in form if name.startswith("c0")} >= {*ways}
    typed = {"c0-0.levels": "A\nB", "c0-1.minimum": "0", "c0-1.maximum": "99"}
    kinds = (place / "people.studio/kinds.json").read_bytes()
    closer = client.post("/budget/expected", data=key | sent | typed).text
    assert re.findall('href="(.*?)"', closer) == ways[2:]
    assert (place / "people.studio/kinds.json").read_bytes() == kinds  # typed, and not saved
    wrong = posted(client, "/budget", action="save", **sent, **typed | {"c0-1.minimum": "100"})
    assert wrong.status_code == 422
    assert form_with(wrong.text, "rows")["c0-1.minimum"] == "100"
    assert (place / "people.studio/kinds.json").read_bytes() == kinds
    assert posted(client, "/budget", action="go_on", **sent, **typed).headers["location"] == "/run"
    field = kinds_in(place)
    assert field["Ort"]["constraints"]["enum"] == ["A", "B"]
    assert field["Alter"]["constraints"] == {"minimum": 0, "maximum": 99}
    project = json.loads((place / "people.studio" / "project.json").read_text())
    assert (project["rows"], project["epsilon"], project["note"]) == (3000, 0.1, "a")


def test_a_step_is_left_by_the_walk_with_what_is_typed_in_it_saved(client, place):
    declared(client)
    posted(client, "/people", action="go_on", several="no")
    sent = {"action": "save", "rows": "3000", "epsilon": "2", "leads": "columns"}
    assert posted(client, "/budget", **sent).headers["location"] == "/columns"
    assert json.loads((place / "people.studio/project.json").read_text())["rows"] == 3000
    typed = {"several": "yes", "unit": "Bemerkung", "max_rows": "3", "leads": "table"}
    assert posted(client, "/people", action="links", **typed).headers["location"] == "/table"
    assert form_with(client.get("/people").text, "several")["unit"] == "Bemerkung"
    refused = posted(client, "/budget", **sent | {"rows": "many"})
    assert "no whole number" in refused.text
    away = posted(client, "/budget", **sent | {"leads": "/evil.example"})
    assert away.headers["location"] == "/budget"
    for step in ("table", "columns", "people", "budget"):
        kept = re.findall('data-kept="(.+?)"', client.get(f"/{step}").text)
        assert len(kept) == 1


def test_persons_that_a_column_numbers_are_protected_unless_somebody_says_otherwise(place):
    """By the names alone; one row of each is used, which loses nothing where each has one."""
    (place / "k.csv").write_text("Fallnummer;Kundennummer;Ort\n1;1;A\n", "utf-8")
    client = studio_client(place)[0]
    chosen(client, "k.csv")
    kinds = {"c0-0.kind": "id", "c0-1.kind": "id", "c0-2.kind": "categorical"}
    posted(client, "/columns", action="go_on", **kinds)
    page = client.get("/people").text
    asked = form_with(page, "unit")
    assert [asked[name] for name in ("several", "unit", "max_rows")] == ["yes", "Kundennummer", "1"]
    assert "One row of each person is used, and all are protected" in page
    assert posted(client, "/people", action="go_on").headers["location"] == "/budget"
    whom = "Epsilon protects a person, of whom one row is used, by “Kundennummer”."
    assert whom in client.get("/budget").text
    posted(client, "/people", action="go_on", several="no")
    assert form_with(client.get("/people").text, "unit")["several"] == "no"  # and stays so


@pytest.mark.parametrize("series", ["01000 ... 99999", "SF 9 … SF 1", "A 1 ... B 9", "1 bis ... 9"])
def test_a_series_that_is_none_is_refused_where_it_is_typed(client, place, series):
    """It was one level of that name, and 99 of 100 rows came out as another."""
    declared(client, **{"c0-0.levels": ""})
    posted(client, "/people", action="go_on", several="no")
    sent = {"rows": "3000", "epsilon": "1", "c0-0.levels": f"A\n{series}"}
    key = key_and_version(client.get("/budget").text)
    for language, words in (("en", "is no series"), ("de", "ist keine Reihe")):
        asked = f"/budget/expected?language={language}"
        said = unescape(client.post(asked, data=key | sent).text)
        last = said.rpartition('<p class="bad">')[2]  # what stands at the boxes
        assert words in last
        assert "Ort" in last
        assert series in last
        assert 'href="#c0-0.levels"' in last
        assert 'class="mark"' in said  # what does not hang on it is there all the same
        assert "levels:" not in said
    refused = unescape(posted(client, "/budget", action="save", **sent).text)
    assert refused.count("ist keine Reihe") == 2
    kinds = (place / "people.studio/kinds.json").read_bytes()
    assert posted(client, "/budget", action="go_on", **sent).status_code == 422
    assert (place / "people.studio/kinds.json").read_bytes() == kinds
    listed = {"kind": "categorical", "levels": "usw. ...\nT01 ... T03"}
    levels = ["usw. ...", "T01", "T02", "T03"]
    assert kind_of_answers(listed) == {"type": "categorical", "constraints": {"enum": levels}}


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_bound_that_is_none_is_refused_by_its_column_and_nothing_else_is_lost(client, language):
    """Else the forecast fell back to what was saved, as if all that was typed besides were lost."""
    declared(client, **{"c0-0.levels": "", "c0-1.minimum": "", "c0-1.maximum": ""})
    posted(client, "/people", action="go_on", several="no")
    client.get(f"/budget?language={language}")
    sent = {"rows": "3000", "epsilon": "1", "c0-0.levels": "A\nB", "c0-1.minimum": "17-99"}
    key = key_and_version(client.get("/budget").text)
    said = unescape(client.post("/budget/expected", data=key | sent).text)
    last = said.rpartition('<p class="bad">')[2]
    assert {"en": "“Alter”: this does not fit", "de": "„Alter“: diese Angabe passt nicht"}[
        language
    ] in last
    assert "17-99" in last
    assert 'href="#c0-1.minimum"' in last
    assert 'href="#c0-0.levels"' not in said  # which are listed
    refused = posted(client, "/budget", action="go_on", **sent)
    assert refused.status_code == 422
    assert form_with(refused.text, "rows")["c0-0.levels"] == "A\nB"


def test_codes_of_many_values_are_proposed_and_typed_as_postcodes(place):
    """They were one word: none of them was in rows enough to be learnt, and none could be listed."""
    (place / "k.csv").write_text("PLZ;Zustellbezirk;Ort\n01067;1;A\n", "utf-8")
    client = studio_client(place)[0]
    client.get("/table?language=de")
    chosen(client, "k.csv")
    page = client.get("/columns").text
    kinds = {"c0-0.kind": form_with(page, "c0-0.kind")["c0-0.kind"], "c0-1.kind": "categorical"}
    assert kinds["c0-0.kind"] == "postcode"
    assert "Die ersten zwei Ziffern folgen der Tabelle, die anderen sind erfunden." in page
    assert "<code>01234</code>" in page
    assert "noise of its own" not in page  # its bins are as many as it is of use for
    posted(client, "/columns", action="go_on", **kinds, **{"c0-2.kind": "ignore"})
    code = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99999}}
    assert kinds_in(place)["PLZ"] == code | {"synthdp": {"bins": 100, "width": 5}}
    assert form_with(client.get("/columns").text, "c0-0.kind")["c0-0.kind"] == "postcode"
    posted(client, "/people", action="go_on", several="no")
    sent = {"rows": "3000", "epsilon": "1", "c0-1.levels": "01000 ... 99999"}
    said = client.post("/budget/expected", data=key_and_version(client.get("/budget").text) | sent)
    assert 'class="bad"' not in said.text
    assert 'href="#c0-1.levels"' not in said.text
    assert posted(client, "/budget", action="go_on", **sent).headers["location"] == "/run"
    assert kinds_in(place)["Zustellbezirk"]["constraints"] == {"minimum": 1000, "maximum": 99999}


def test_a_year_beside_an_age_is_put_in_order_by_a_click(place):
    """Without it, a third of the drivers had a licence as children."""
    (place / "k.csv").write_text("Alter Fahrer;Führerschein seit (Jahr)\n30;2013\n", "utf-8")
    client = studio_client(place)[0]
    chosen(client, "k.csv")
    kinds = {"c0-0.kind": "integer", "c0-1.kind": "year"}
    posted(client, "/columns", action="go_on", **kinds)
    sent = {"rows": "3000", "epsilon": "0,5"}
    key = key_and_version(client.get("/budget").text)
    ways = ['href="#c0-0.minimum"', 'href="#c0-1.minimum"']
    assert not any(way in client.post("/budget/expected", data=key | sent).text for way in ways)
    page = unescape(client.get("/people").text)
    form = page.partition("“Alter Fahrer” is the age in the year")[0].rpartition("<form")[2]
    offered = re.findall(r'name="(.+?)" value="(.*?)"', form)
    answers = {name: [value for each, value in offered if each == name] for name, _ in offered}
    assert answers["column"] == ["Alter Fahrer", "Führerschein seit (Jahr)"]
    answers |= {"action": ["add"], "number": ["16", ""]}
    refused = sent_answers(client, answers)
    assert refused.status_code == 422
    assert "constraints" not in kinds_in(place)["synthdp"]
    assert sent_answers(client, answers | {"number": ["16", "2025"]}).status_code == 303
    check = "`Alter Fahrer` + `Führerschein seit (Jahr)` >= 16 + 2025"
    assert kinds_in(place)["synthdp"]["constraints"] == [{"check": check}]
    page = unescape(client.get("/people").text)
    assert "is the age in the year" not in page
    assert "“Führerschein seit (Jahr)” at the age of 16 at least, “Alter Fahrer” being" in page
    posted(client, "/people", action="go_on", several="no")
    key = key_and_version(client.get("/budget").text)
    said = client.post("/budget/expected", data=key | sent).text
    assert all(way in said for way in ways)  # nothing is drawn beyond bounds of columns in checks


def sent_answers(client, answers):
    return sent(client, "/people", data=answers | key_and_version(client.get("/people").text))


def test_ids_look_as_an_invented_one(client, place):
    """Of the number that is typed nothing is kept but how many digits it has."""
    chosen(client)
    made = {"c0-3.kind": "id", "c0-3.pattern": "SCH-1000579"}
    key = key_and_version(client.get("/columns").text)
    said = client.post("/columns/said", data=key | made | {"id": "c0-3"}).text
    assert "<code>SCH-0000001, SCH-0000002, SCH-0000003, ...</code>" in said
    posted(client, "/columns", action="save", **made)
    assert kinds_in(place)["Bemerkung"] == {"type": "id", "pattern": "SCH-{:07d}"}
    shown = form_with(client.get("/columns").text, "c0-3.pattern")["c0-3.pattern"]
    assert shown == "SCH-0000001"
    posted(client, "/columns", action="save", **made | {"c0-3.pattern": shown})
    assert kinds_in(place)["Bemerkung"]["pattern"] == "SCH-{:07d}"


@pytest.mark.parametrize("pattern", ["{:04x}", "{:05d}-25", "2025-{:05d}", "A{}", "uuid", "{:03d}"])
def test_a_pattern_is_shown_as_an_example_only_if_that_says_the_same(pattern):
    field = {"type": "id", "pattern": pattern}
    shown = answers_of_kind(field)
    assert kind_of_answers(shown) == field
    assert ("{" in shown["pattern"]) == (pattern in ("{:04x}", "{:05d}-25", "A{}"))


def test_whom_epsilon_protects_is_said_where_it_is_chosen(client):
    declared(client)
    posted(client, "/people", action="go_on", several="no")
    assert "Epsilon protects one row." in client.get("/budget").text
    typed = {"several": "yes", "unit": "Bemerkung", "max_rows": "5"}
    posted(client, "/people", action="go_on", **typed)
    whom = "Epsilon protects a person with at most 5 rows, by “Bemerkung”."
    assert whom in client.get("/budget").text


def test_what_a_budget_gives_before_it_is_saved(client):
    declared(client)
    posted(client, "/people", action="go_on", several="no")
    key = key_and_version(client.get("/budget").text)
    said = [
        client.post("/budget/expected", data=key | {"rows": "5.000", "epsilon": e}).text
        for e in ("1", "3,5")
    ]
    assert "3.5" in said[1]
    # what it means for one person is drawn of a hundred: as many as could be recognised at most
    seen = [int(re.search(r"Of 100 people in the table (\d+) could", page)[1]) for page in said]
    assert [page.count('<g class="seen"') for page in said] == seen
    assert 1 < seen[0] < seen[1] < 100
    assert "of rows wrong" in said[0]
    assert said[0] != said[1]
    large = client.post("/budget/expected", data=key | {"rows": "5000", "epsilon": "4000"}).text
    assert "Above 10, epsilon protects hardly anybody" in large
    assert "100 %" in large
    assert "e+" not in large
    assert "protects hardly anybody" not in said[1]
    assert "give a number" in client.post("/budget/expected", data=key | {"epsilon": "x"}).text
    assert posted(client, "/budget", action="save", rows="", epsilon="1").status_code == 422
    assert posted(client, "/budget", action="save", rows="5", epsilon="inf").status_code == 422


def test_a_budget_file_lies_beside_the_table(client, place):
    declared(client)
    posted(client, "/people", action="go_on", several="no")
    made = {"population": "Patienten 2025", "all_epsilon": "3", "all_delta": "1e-6"}
    made |= {"rows": "500", "epsilon": "2", "delta": "1e-7"}
    assert posted(client, "/budget", action="create", **made).status_code == 303
    kept = form_with(client.get("/budget").text, "rows")  # what else was typed is kept
    assert (kept["rows"], kept["epsilon"], kept["budget"]) == ("500", "2", "patienten-2025.budget")
    assert posted(client, "/budget", action="create", **made).status_code == 422
    more = {"rows": "500", "epsilon": "3.1", "delta": "1e-7", "budget": "patienten-2025.budget"}
    for action in ("save", "go_on"):  # no run begins that the budget would refuse
        refused = posted(client, "/budget", action=action, **more)
        assert refused.status_code == 422
        assert "This budget file has epsilon 3 left" in refused.text
        assert form_with(refused.text, "rows")["epsilon"] == "3.1"
    assert client.get("/run", follow_redirects=False).status_code == 303
    other = made | {"population": "Gäste", "all_delta": ""}  # room for several releases
    assert posted(client, "/budget", action="create", **other).status_code == 303
    assert Budget(place / "gäste.budget").show()["delta"] == pytest.approx(1e-6)
    assert (place / "patienten-2025.budget").exists()
    assert "Patienten 2025" in client.get("/budget").text
    assert (
        posted(client, "/budget", action="save", rows="5", epsilon="1", budget="../x").status_code
        == 422
    )


def ended(studio, job="run-1"):
    for _ in range(1200):
        if studio.load().job(job).state != "running":
            return
        time.sleep(0.05)
    raise AssertionError(job)


def finished(client, studio):
    ended(studio)
    return client.get("/run").text


def test_from_a_table_to_a_publication(place):
    client, studio = studio_client(place)
    budgeted(client)
    assert posted(client, "/run", action="start").status_code == 303
    assert posted(client, "/run", action="start").status_code == 303  # a second page, too late
    assert 'data-state="running"' in client.get("/run/progress").text
    assert 'data-state="done"' in finished(client, studio)
    opened = OpenProject.load(studio.path, place)  # a script reaches all that the page does
    assert run_words(opened) == opened.run.arguments
    german = unescape(client.get("/run?language=de").text)
    assert "(20; 0,000001)-Differential Privacy" in german
    assert "höchstens" in german
    assert re.search(r"\d+(,\d+)? % der Zeilen sind in einzelnen", german)
    assert "Suppose somebody" in client.get("/run?language=en").text
    assert not (place / "people.studio" / "run-2").exists()
    assert posted(client, "/run", action="go_on").headers["location"] == "/look"
    assert (
        posted(client, "/look", action="make", tab="publish").headers["location"]
        == "/look?tab=publish&run=1"
    )
    ended(studio, "run-1/page-publish")
    page = client.get("/look/page?tab=publish")
    assert "sandbox" in page.headers["content-security-policy"]
    assert client.get("/look/page?tab=not-private").status_code == 422
    assert posted(client, "/look", action="go_on").headers["location"] == "/take"
    taken = client.get("/take").text
    for name in ("synthetic.csv", "synthetic.csv.privacy.json", "release.synthdp", "schema.json"):
        assert name in taken
        assert client.get("/take/file", params={"name": name}).content
    assert client.get("/take/file?name=../journal").status_code == 422
    assert ";" in client.get("/take/file?name=synthetic.csv").text
    ran = repeated(studio, taken)
    assert (ran / "again.csv").read_text("utf-8").startswith("Ort;Alter;Größe")


def test_a_script_is_told_all_that_a_run_is_told():
    """Of a new option of the command somebody decides here whether a script has it."""
    taken = {*inspect.signature(synthdp.synthesize).parameters}
    assert {*ARGUMENTS} == taken - {"data", "dialect", "journal", "report", "rescue"}


def test_a_run_is_paused_and_gone_on_with(place):
    client, studio = studio_client(place)
    budgeted(client)
    posted(client, "/run", action="start")
    time.sleep(0.2)
    assert posted(client, "/run", action="pause").status_code == 303
    assert 'data-state="paused"' in finished(client, studio)
    again = studio_client(place)  # the studio was closed and opened
    assert 'data-state="paused"' in again[0].get("/run").text
    posted(again[0], "/run", action="resume")
    assert 'data-state="done"' in finished(*again)


def logged(studio, error):
    """The last run as one that ended with an error, as its log says it."""
    folder = studio.path / f"run-{studio.load().project.run}"
    line = {"time": "2025-01-01T00:00:00+00:00", "level": "error", "message": str(error)}
    line |= {"exit_code": 1, "code": error_code(error)}
    charge = {"level": "info", "message": "charged x; 3 % of the budget is spent"}
    (folder / "result.json").unlink(missing_ok=True)
    lines = [line | charge, line] if isinstance(error, UnreadColumnError) else [line]
    (folder / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))


def test_an_error_of_a_run_says_its_way_out_in_the_readers_words(place, monkeypatch):
    client, studio = studio_client(place)
    budgeted(client)
    client.get("/run?language=de")
    started = []
    monkeypatch.setattr(Job, "start", lambda job, words: (job._keep(words), started.append(words)))
    posted(client, "/run", action="start")
    unread = UnreadColumnError("column 'Alter': about 99 % could not be read (--anyway)")
    logged(studio, unread)
    page = unescape(client.get("/run").text)
    assert "Lauf hat rechtzeitig angehalten" in page
    assert 'href="/columns#c0-1">Alter berichtigen' in page
    assert "<bdi>Alter</bdi>:" in page
    logged(studio, UnreadColumnError("column 'rows.Alter': about 99 % could not be read"))
    assert 'href="/columns#c0-1">Alter berichtigen' in unescape(client.get("/run").text)
    logged(studio, unread)
    assert "Alle Läufe dieses Projekts bisher: höchstens Epsilon 20" in page
    assert 'value="resume"' not in page  # it would end in the same way
    assert posted(client, "/run", action="anyway").status_code == 303
    assert started[1] == [*started[0], "--anyway"]
    for step in ("run", "look"):
        sent = key_and_version(client.get("/run").text) | {"action": "go_on"}
        assert client.post(f"/{step}", data=sent, follow_redirects=False).status_code == 303
    taken = unescape(client.get("/take").text)
    words, script = re.findall(r"<code>((?:synthdp|import).*?)</code>", taken, re.S)
    assert " --anyway" in words
    assert "anyway=True" in script
    logged(studio, unread)
    posted(client, "/run", action="anyway")
    assert started[2] == started[1]
    for error, step in (
        (DataFileError("x: no room"), "table"),
        (BudgetExceededError("x"), "budget"),
    ):
        posted(client, "/run", action="again")
        assert "--anyway" not in started[-1]
        logged(studio, error)
        page = client.get("/run").text
        assert f'class="button" href="/{step}"' in page
        assert 'value="resume"' in page
        assert "bisher: höchstens Epsilon 20" in page  # of these nothing was asked


def test_every_caution_and_refusal_has_words_of_the_page():
    english = json.loads((CATALOGUES / "en.json").read_text("utf-8"))
    before_a_run = {
        "E11",
        "E22",
        "E31",
        "E32",
        "E33",
        "E40",
    }  # a run of the studio has none, or any
    told = {key.partition(".")[2] for key in english if key.startswith(("error.E", "caution."))}
    assert told == {*all_codes()} - before_a_run


def test_a_second_studio_sees_the_run_and_starts_none(place):
    client, studio = studio_client(place)
    budgeted(client)
    posted(client, "/run", action="start")
    other, second = studio_client(place)  # at once, before the run has a journal
    assert 'data-state="running"' in other.get("/run").text
    posted(other, "/run", action="resume")
    second.load().job("run-1").start(["show"])
    assert studio.load().job("run-1").arguments[0] == "run"
    posted(other, "/run", action="pause")
    assert 'data-state="paused"' in finished(client, studio)
    assert not (place / "people.studio" / "run-2").exists()


def test_what_is_refused_is_said_once_and_nothing_is_sent_again(client):
    """Going back, or loading anew, would ask to send the form again if it were answered at once."""
    declared(client)
    key = key_and_version(client.get("/people").text)
    units = {"action": "go_on", "several": "yes", "unit": "", "max_rows": "7"}
    answer = client.post("/people", data=key | units, follow_redirects=False)
    assert answer.status_code == 303
    page = client.get(answer.headers["location"])
    assert page.status_code == 422
    assert "No column tells persons apart" in page.text
    assert form_with(page.text, "max_rows")["max_rows"] == "7"
    again = client.get(answer.headers["location"])
    assert again.status_code == 200
    assert "no column tells persons apart" not in again.text
    assert form_with(again.text, "max_rows")["max_rows"] == "1"


def test_one_row_a_person_is_proposed_and_what_more_would_cost_is_said(client, place):
    """Somebody whose customers have up to five claims types 5, and gets a table of noise."""
    declared(client)
    assert 'name="max_rows" value="1"' in client.get("/people").text
    typed = {"several": "yes", "unit": "Ort", "max_rows": ""}
    refused = posted(client, "/people", action="go_on", **typed)
    assert refused.status_code == 422
    assert "How many rows of a person" in refused.text
    posted(client, "/people", action="go_on", **typed | {"max_rows": "5"})
    sent = {"rows": "3000", "epsilon": "1"}
    key = key_and_version(client.get("/budget").text)
    said = unescape(client.post("/budget/expected", data=key | sent).text)
    shares = re.search(
        r"With 1 row a person in place of 5, ([\d.]+) % in place of ([\d.]+) %", said
    )
    assert float(shares[1]) < float(shares[2])
    assert posted(client, "/budget", action="once", **sent).headers["location"] == "/budget"
    project = json.loads((place / "people.studio" / "project.json").read_text())
    assert (project["unit"], project["max_rows"], project["rows"]) == ("Ort", 1, 3000)
    page = unescape(client.get("/budget").text)
    assert "Epsilon protects a person, of whom one row is used, by “Ort”." in page
    assert "With 1 row" not in page


def test_step_two_begins_with_what_is_still_to_be_decided(client):
    declared(client)
    assert "Something is still to be done here" not in client.get("/columns").text
    typed = {"c0-1.kind": "", "c0-2.kind": "number", "c0-2.minimum": "x", "c0-0.kind": "ignore"}
    page = posted(client, "/columns", action="save", **typed).text
    listed = page.partition("Something is still to be done here")[2].partition("</p>")[0]
    assert re.findall('href="#(.*?)"', listed) == ["c0-1", "c0-2"]


def test_step_four_says_when_a_learnt_column_ends_as_one_word(client):
    declared(client, **{"c0-0.levels": ""})
    posted(client, "/people", action="go_on", several="no")
    key = key_and_version(client.get("/budget").text)
    few = client.post("/budget/expected", data=key | {"rows": "60", "epsilon": "0,1"}).text
    assert "No level is frequent enough to be learnt" in few
    assert 'href="#c0-0.levels"' in few
    many = client.post("/budget/expected", data=key | {"rows": "90000", "epsilon": "1"}).text
    close = client.post("/budget/expected", data=key | CLOSE).text
    said = r"what stands in fewer than about (\d+) rows becomes “other”, of over (\d+) levels"
    (rows, most), (fewer, more) = (
        map(int, re.search(said, page).groups()) for page in (many, close)
    )
    assert rows > fewer > 1
    for least, levels in ((rows, most), (fewer, more)):
        # of one level more, each as frequent as the others, none is learnt
        assert (least - 1) * levels < int(CLOSE["rows"]) < (least + 1) * (levels + 1)


CLOSE = {"rows": "90000", "epsilon": "10"}
"""Of a larger budget fewer rows of a level are enough."""


def test_step_four_leaves_a_column_out_by_a_click(client, place):
    """Whatever was typed of it, which nobody has to take back first."""
    declared(client, **{"c0-0.levels": ""})
    posted(client, "/people", action="go_on", several="no")
    page = client.get("/budget").text
    assert '<button name="c0-0.kind" value="ignore">' in page
    typed = {"rows": "3000", "epsilon": "1", "c0-0.levels": "01000 ... 99999"}
    sent = typed | {"c0-0.kind": "ignore"}
    assert posted(client, "/budget", action="", **sent).headers["location"] == "/budget"
    assert kinds_in(place)["Ort"] == "ignore"
    later = client.get("/budget").text
    assert 'id="c0-0.levels"' not in later
    assert 'href="#c0-0.levels"' not in later


def in_order(client, **more):
    kinds = {"c0-1.kind": "integer", "c0-1.minimum": "0", "c0-1.maximum": "99"} | more
    assert declared(client, **kinds | {"c0-3.kind": "id"}).headers["location"] == "/people"
    units = {"several": "yes", "unit": "Bemerkung", "max_rows": "3", "order": "Alter"}
    return posted(client, "/people", action="go_on", **units)


def test_an_order_is_never_missing_and_persons_get_numbers_of_their_own(client, place):
    """What only the run refused: the page chooses what works, and says so."""
    assert in_order(client).headers["location"] == "/budget"
    kinds = kinds_in(place)
    assert kinds["Alter"]["constraints"]["required"] is True
    assert kinds["Bemerkung"] == "ignore"
    page = client.get("/people").text
    assert "persons get new numbers, 1, 1, 2" in page
    assert "counts as never missing" in page


def test_rows_of_a_person_hang_together_without_an_order(client, place):
    kinds = {"c0-1.kind": "integer", "c0-1.minimum": "0", "c0-1.maximum": "99"}
    declared(client, **kinds | {"c0-3.kind": "id"})
    units = {"several": "yes", "unit": "Bemerkung", "max_rows": "3", "together": "yes"}
    assert posted(client, "/people", action="go_on", **units).headers["location"] == "/budget"
    assert kinds_in(place)["Bemerkung"] == "ignore"
    assert "constraints" not in kinds_in(place)["Größe"]
    shown = form_with(client.get("/people").text, "several")
    assert (shown["together"], shown["order"]) == ("yes", "")
    opened = OpenProject.load(place / "people.studio", place)
    opened = opened.changed(epsilon=1.0, delta=1e-9)
    words = run_words(opened)
    assert "--together" in words
    assert "--order" not in words
    assert "--save-schema" not in words
    sent = {"rows": "900", "epsilon": "1", "delta": "1e-6"}
    posted(client, "/budget", action="go_on", **sent)
    if_one_row = "With 1 row a person in place of 3"
    assert if_one_row not in client.get("/budget").text
    posted(client, "/people", action="go_on", **units | {"together": ""})
    assert if_one_row in client.get("/budget").text
    assert "--together" not in run_words(opened.changed(together=False))
    assert not OpenProject.load(place / "people.studio", place).project.together


@pytest.mark.parametrize(
    "said",
    [
        {"together": "yes", "constant": "Ort, nix"},
        {"together": "yes", "constant": "Bemerkung"},
        {"order": "Größe", "constant": "Größe"},
        {"constant": "Ort"},
    ],
)
def test_what_cannot_be_the_same_in_all_rows_is_refused_where_it_is_named(client, place, said):
    declared(client, **{"c0-1.kind": "integer", "c0-1.minimum": "0", "c0-1.maximum": "99"})
    units = {"several": "yes", "unit": "Bemerkung", "max_rows": "3"}
    answer = posted(client, "/people", action="go_on", **units, **said)
    assert "is no other column of rows that hang together" in answer.text
    assert not OpenProject.load(place / "people.studio", place).project.unit
    posted(client, "/people", action="go_on", **units | {"together": "yes", "constant": "Ort"})
    shown = form_with(client.get("/people").text, "several")
    assert shown["constant"] == "Ort"
    opened = OpenProject.load(place / "people.studio", place).changed(epsilon=1.0, delta=1e-9)
    words = run_words(opened)
    assert words[words.index("--constant") + 1] == "Ort"


@pytest.mark.parametrize("said", [{"required": "may be"}, {"missing": "k.A."}])
def test_an_order_that_may_be_missing_is_refused_where_it_is_chosen(client, place, said):
    answer = in_order(client, **{f"c0-1.{name}": text for name, text in said.items()})
    assert answer.status_code == 422
    assert "In step 2 choose that it is never missing" in unescape(answer.text)
    assert json.loads((place / "people.studio" / "project.json").read_text())["order"] == ""
    assert form_with(answer.text, "order")["order"] == "Alter"


def test_a_rule_says_which_columns_are_still_to_be_learnt(client):
    declared(client)
    asked = "/people?rule=forbid&column=Alter&column=Gr%C3%B6%C3%9Fe"
    page = unescape(client.get(asked).text)
    assert "What “Größe” can be is still to be learnt" in page
    assert "What “Alter”" not in page
    assert 'href="/columns#c0-2.minimum"' in page
    assert "still to be learnt" not in client.get(asked.replace("forbid", "check")).text


def test_a_german_page_of_decimal_commas_proposes_how_dates_are_written(client):
    declared(client)
    assert 'data-proposed=""' in client.get("/columns").text
    page = client.get("/columns?language=de").text
    assert 'data-proposed="date=tt.mm.jjjj;datetime=tt.mm.jjjj hh:mm;boolean=ja/nein"' in page


def test_names_of_columns_propose_kinds_that_hold_once_they_are_saved(place):
    names = "Fall-Nr.;Patientenname;Aufnahme;CRP [mg/l];Raucher;Hinweis"
    (place / "Fälle.csv").write_text(f"{names}\n1;Anna;01.02.2025;5,5;ja;Siehe\n", "utf-8")
    client = studio_client(place)[0]
    client.get("/table?language=de")
    chosen(client, "Fälle.csv")
    assert [*kinds_in(place).values()][1:] == [None] * 6  # a proposal is no declaration
    page = client.get("/columns").text
    assert "nach den Namen vorgeschlagen" in page
    form = form_with(page, "c0-0.kind")
    assert [form[f"c0-{n}.kind"] for n in range(6)] == [
        "id",
        "name",
        "date",
        "number",
        "categorical",
        "ignore",
    ]
    assert form["c0-2.format"] == "tt.mm.jjjj"
    # somebody who takes one back is not proposed it again on the page that refuses another input
    taken = {name: form[name] for name in form if name not in ("c0-5.kind", "key", "version")}
    wrong = posted(
        client, "/columns", action="save", **taken | {"c0-5.kind": "", "c0-3.minimum": "x"}
    )
    assert form_with(wrong.text, "c0-5.kind")["c0-5.kind"] == ""
    posted(client, "/columns", action="rest", **taken | {"c0-5.kind": "ignore"})
    kinds = kinds_in(place)
    assert kinds["Patientenname"] == {"type": "name", "locale": "de_DE"}
    assert kinds["Aufnahme"] == {"type": "date", "format": "tt.mm.jjjj"}
    assert kinds["Raucher"] == {"type": "categorical", "synthdp": {"other": "andere"}}


def test_a_question_is_proposed_with_the_words_that_answer_it(place):
    (place / "Fälle.csv").write_text("Gutachten nötig?;Ort\n", "utf-8")
    client = studio_client(place)[0]
    client.get("/table?language=de")
    chosen(client, "Fälle.csv")
    form = form_with(client.get("/columns").text, "c0-0.kind")
    assert (form["c0-0.kind"], form["c0-0.words"]) == ("boolean", "ja/nein")


def test_every_column_of_an_export_gets_a_proposal(place):
    messy_export(place / "Klinik.csv", 3)
    client = studio_client(place)[0]
    chosen(client, "Klinik.csv")
    form = form_with(client.get("/columns?language=de").text, "c0-0.kind")
    kinds = {form[f"c0-{place}.kind"]: place for place in range(18)}
    assert [*kinds] == ["id", "name", "categorical", "date", "number", "ignore"]
    assert form["c0-13.bare"] == "on"  # "3.200,00 €" is read, and so are numbers without a unit
    taken = {name: form[name] for name in form if name not in ("key", "version")}
    answer = posted(client, "/columns", **taken | {"action": "go_on"})
    assert answer.headers["location"] == "/people"  # who agrees has nothing to type


def test_one_box_says_what_means_missing_in_all_columns(client, place):
    chosen(client)
    ticked = {"some": ["c0-1", "c0-2"], "some_kind": "number"}
    posted(client, "/columns", action="some", missing="-, k.A. ,k.A.,", **ticked)
    kinds = kinds_in(place)
    assert kinds["synthdp"]["missingValues"] == ["", "-", "k.A."]
    assert [kinds[name] for name in ("Ort", "Alter", "Größe")] == [None, "number", "number"]
    assert form_with(client.get("/columns").text, "missing")["missing"] == "-, k.A."
    # what is saved elsewhere leaves it, and so does how the file is written
    given = {"delimiter": ";", "encoding": "utf-8", "mark": ".", "then": "go_on"}
    posted(client, "/table", action="dialect", **given)
    assert kinds_in(place)["synthdp"]["missingValues"] == ["", "-", "k.A."]
    posted(client, "/columns", action="save", missing="")
    assert "missingValues" not in kinds_in(place)["synthdp"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_budget_asks_in_few_words_and_folds_the_rest(client, language):
    declared(client)
    posted(client, "/people", action="go_on", several="no")
    page = client.get(f"/budget?rows=5000&language={language}").text
    folded = r"<details.*?</details>|<p[^>]* hidden>.*?</p>"
    main = re.sub(folded, "", page.partition("<main")[2], flags=re.DOTALL)
    words = re.sub(r"<[^>]*>", " ", main).split()
    assert 40 < len(words) <= 90, " ".join(words)
    assert "999999" not in page


@pytest.mark.parametrize("language", ["en", "de"])
def test_an_export_asks_in_few_words_before_its_first_table(place, language):
    """Who reads everything has a table within five minutes, half of which are reading."""
    messy_export(place / "Klinik.csv", 3)
    client = studio_client(place)[0]
    client.get(f"/table?language={language}")
    posted(client, "/table", action="choose", table="Klinik.csv")
    given = {"delimiter": ";", "encoding": "utf-8", "mark": ",", "then": "go_on"}
    said = [client.get("/table").text]
    posted(client, "/table", action="dialect", **given)
    said.append(client.get("/columns").text)
    form = form_with(said[1], "c0-0.kind")
    taken = {name: form[name] for name in form if name.startswith("c0")}
    posted(client, "/columns", action="go_on", **taken)
    said.append(client.get("/people").text)
    # the questions of each column hang on its kind, and are one or none of these
    folded = (
        r'<details.*?</details>|<option.*?</option>|<p[^>]* hidden>.*?</p>|<div class="q .*?</div>'
    )
    shown = [re.sub(folded, "", page.partition("<main")[2], flags=re.DOTALL) for page in said]
    words = [len(re.sub(r"<[^>]*>", " ", page).split()) for page in shown]
    assert all(15 < n <= most for n, most in zip(words, (90, 210, 90), strict=True)), words


def made_run(place, number=1, **result):
    """A run as if it had been made, with what it says."""
    folder = place / "people.studio" / f"run-{number}"
    folder.mkdir()
    (folder / "kinds.json").write_bytes((folder.parent / "kinds.json").read_bytes())
    project = json.loads((folder.parent / "project.json").read_text())
    changed = project | {"run": number, "walked": 6}
    (folder.parent / "project.json").write_text(json.dumps(changed))
    words = ["run", "../Export 1.csv", "-o", "x.csv", "--kinds", f"run-{number}/kinds.json"]
    words += ["--epsilon", f"{number}", "--delta", "1e-6"]
    (folder / "command.json").write_text(json.dumps({"arguments": words, "process": 0}))
    made = {"is_private": False, "guarantee": "none"} | result
    (folder / "result.json").write_text(json.dumps(made))
    (folder / "publish").mkdir()
    (folder / "publish" / "certificate.html").write_text("as it was made")


def test_an_error_that_noise_hides_is_not_said_to_be_none(client, place):
    budgeted(client)
    clear = {"error": 0.02, "stddev": 0.001}
    made_run(place, quality={"columns": {"error": 0.0, "stddev": 0.07}, "pairs": clear})
    page = " ".join(studio_client(place)[0].get("/run").text.split())
    assert '<p class="banner unstated"> How many rows are in a wrong place in single' in page
    assert "is too noisy to tell (± 14)." in page
    assert "In two columns together: 2 % (± 0.2)." in page
    assert page.count("unstated") == 1


def test_a_caution_says_how_many_and_leads_to_the_field_that_mends_it(client, place):
    budgeted(client)
    unread = (
        "column 'Alter': about 6.6 % of the records have no value, or one that is no number; drawn rows "
        "have values of the others in its place; if that is not so in your table, declare how it is "
        "written: decimalChar, groupChar, bareNumber, missingValues, or set constraints.required to "
        "false if values may be missing"
    )
    rare = (
        "column 'Ort': about 80 % of the records have none of its other levels and became 'andere'; if "
        "that is not so in your table, list the levels as they are spelt there: constraints.enum"
    )
    alike = [rare.replace("Ort", "Größe").replace("80", "85")]
    made_run(place, cautions=[unread, rare, *alike])
    client = studio_client(place)[0]
    page = unescape(client.get("/run?language=de").text)
    assert 'class="cards"' in page, page[:900]
    first, second = (
        " ".join(each.split()) for each in re.findall("<article.*?</article>", page, re.S)
    )
    assert "<bdi>Alter</bdi>" in first
    assert ": 6,6 %" in first.partition("<details")[0]
    assert re.findall("<bdi>(\\w+)</bdi>.*?: ([0-9,]+) %", second) == [
        ("Ort", "80"),
        ("Größe", "85"),
    ]
    assert second.count("Viele Werte sind keine der Ausprägungen") == 1
    assert 'href="/columns#c0-1.missing"' in first
    assert "Wörter für „fehlt“" in first
    assert re.findall('href="/columns#(.*?)"', second) == ["c0-0.levels", "c0-2.levels"]
    columns = client.get("/columns").text
    assert 'id="c0-1.missing"' in columns
    assert 'id="c0-0.levels"' in columns


def test_what_is_not_to_be_trusted_is_said_where_a_table_is_taken_away(client, place):
    budgeted(client)
    hidden = "the model was scored against independence"
    beyond = "column 'Alter': its bounds are uncertain: about 41 % of its records may lie beyond"
    old = "all answers were there already"
    told = [text for text in (hidden, beyond, old) if caution_code(text) in ("C10", "C07", "C15")]
    assert len(told) == 3
    made_run(place, cautions=told)
    client = studio_client(place)[0]
    for page in ("/look", "/take"):
        text = unescape(client.get(page).text)
        assert "Not to be trusted are the values of: <bdi>Alter</bdi>" in text
        assert "Noise hides how columns depend on each other" in text
        assert 'href="/run#cautions"' in text
    made_run(place, 2)
    assert "There are two pages" in client.get("/look").text
    assert "All runs of this project so far: epsilon 3 at most." in client.get("/take").text
    for page in ("/look", "/take"):
        assert "Not to be trusted" not in client.get(page).text


def test_what_stands_in_a_released_table_is_said_of_each_column(client, place):
    """A word in place of rare values, values beyond the bounds, gaps: nobody finds them in five rows."""
    budgeted(client)
    made_run(place)
    folder = place / "people.studio" / "run-1" / "publish"
    rows = "".join(f"{'A' if n % 20 else 'andere'};{n};{n},5;\n" for n in range(100))
    (folder / "synthetic.csv").write_text("Ort;Alter;Größe;Bemerkung\n" + rows, "utf-8")
    fields = [
        {
            "name": "Ort",
            "type": "string",
            "constraints": {"enum": ["A", "B"]},
            "synthdp": {"other": "andere"},
        },
        {"name": "Alter", "type": "integer"},
        {"name": "Größe", "type": "number", "decimalChar": ","},
        {"name": "Bemerkung", "type": "string", "missingValues": [""]},
    ]
    (folder / "schema.json").write_text(json.dumps({"fields": fields}), "utf-8")
    beyond = {
        "Alter": {"below": 1.0, "above": 10.0, "stddev": 2.0},
        "Größe": {"below": 10.0, "above": 1.0, "stddev": 5.0},
        "Bemerkung": {"below": 2.0, "above": 0.0, "stddev": 0.1},
    }
    certificate = {"beyond_bounds": beyond, "rows": {"n_rows": 100}, "domain": {"tails": {}}}
    said = folder / "synthetic.csv.privacy.json"
    said.write_text(json.dumps(certificate))
    client = studio_client(place)[0]
    page = unescape(client.get("/look?language=de").text)
    for fact in (
        "keine: B, „andere“: 5 %",
        "0 bis 99, abgeschnitten: etwa 10 %",
        "0,5 bis 99,5",
        "leer: 100 %",
    ):
        assert f"<td><bdi>{fact}</bdi></td>" in page
    for address in ("/run", "/look", "/take"):
        text = " ".join(unescape(client.get(address).text).split())
        assert "Nicht zu trauen ist den Werten von: <bdi>Ort, Alter</bdi>" in text, address
    said.write_text(json.dumps(certificate | {"domain": {"tails": {"Alter": {"above": 99}}}}))
    assert "Werten von: <bdi>Ort</bdi>" in unescape(client.get("/take").text)  # those are drawn


LOOSE_PAIRS = {
    "kept": ({"error": 0.049, "stddev": 0.002}, False),
    "off": ({"error": 0.05, "stddev": 0.002}, True),
    "hidden": ({"error": 0.0, "stddev": 0.07}, True),
}


@pytest.mark.parametrize("pairs", [*LOOSE_PAIRS])
@pytest.mark.parametrize("language", ["en", "de"])
def test_rows_whose_values_do_not_fit_are_not_to_be_trusted(client, place, pairs, language):
    """Naming some columns alone reads as if all else might be."""
    budgeted(client)
    measured, is_loose = LOOSE_PAIRS[pairs]
    beyond = "column 'Alter': its bounds are uncertain: about 41 % of its records may lie beyond"
    worst = {"columns": ["Ort", "Größe"], "error": 0.3, "stddev": 0.02}
    quality = {"columns": {"error": 0.01, "stddev": 0.001}, "pairs": measured, "worst_pair": worst}
    for number, cautions in enumerate([[beyond], []], start=1):
        made_run(place, number, cautions=cautions, quality=quality)
        client = studio_client(place)[0]
        for page in ("/run", "/look", "/take"):
            text = " ".join(unescape(client.get(f"{page}?language={language}").text).split())
            row = {"en": "what stands together in one row", "de": "was in einer Zeile steht"}
            assert (row[language] in text) == is_loose, page
            least = {"en": "how “Ort” and “Größe” go together", "de": "wie „Ort“ und „Größe“"}
            assert (least[language] in text) == is_loose, page
            if cautions and page != "/run":
                joined = "<bdi>Alter</bdi>;" if is_loose else "<bdi>Alter</bdi></p>"
                assert joined in text
            assert cautions or "/run#cautions" not in text


def test_a_caution_that_may_come_of_a_wrong_kind_leads_to_the_kind_as_well(client, place):
    """Bounds of whole numbers, which may be codes; what has decimals is an amount, and no kind is
    in doubt.
    """
    budgeted(client)
    empty = "column 'Größe': 97 % of its values are missing"
    beyond = "columns 'Alter' and 'Größe': about 40 % of the records lie beyond their bounds"
    rare = "column 'Ort': no level has enough records to be found; all are 'andere'"
    made_run(place, cautions=[empty, beyond, rare])
    page = unescape(studio_client(place)[0].get("/run?language=de").text)
    cards = re.findall("<article.*?</article>", page, re.DOTALL)
    asked = [set(re.findall(r'href="/columns#(.*?)"', card)) for card in cards]
    mended = [{"c0-2.kind", "c0-2.minimum"}, {"c0-1.minimum", "c0-1.kind", "c0-2.minimum"}]
    assert asked == [*mended, {"c0-0.levels", "c0-0.kind"}]
    assert "ändern Sie die Art" in cards[2]
    shown = unescape(client.get("/columns").text)
    assert all(f'id="{place}"' in shown for places in asked for place in places)


def test_a_result_of_what_was_changed_since_says_so(client, place):
    budgeted(client)
    made_run(place)
    said, client = "as they were before they were changed", studio_client(place)[0]
    page = unescape(client.get("/run").text)
    assert 'data-state="done"' in page
    # what running again costs is said beside the button that does it
    assert "It costs epsilon 20 again: 1 so far, 21 then." in " ".join(page.split())
    assert not any(said in client.get(f"/{step}").text for step in ("run", "look", "take"))
    assert declared(client, **{"c0-1.maximum": "90"}).headers["location"] == "/people"
    assert all(said in client.get(f"/{step}").text for step in ("run", "look", "take"))
    assert "Look at the earlier result" in client.get("/run").text
    assert said not in client.get("/people").text


def test_what_was_released_stays_within_reach(client, place):
    budgeted(client)
    made_run(place)
    made_run(place, 2)
    folder = place / "people.studio"
    table = "Ort;Alter;Größe\nA;33;1,5\nB;44;2,5\n"
    (folder / "run-2" / "publish" / "synthetic.csv").write_text(table, "utf-8")
    (folder / "run-2" / "publish" / "a.json").write_text("{}")
    # the third run fails: the others are still there, and it is the run that the studio opens on
    project = json.loads((folder / "project.json").read_text()) | {"run": 3, "walked": 4}
    (folder / "project.json").write_text(json.dumps(project))
    (folder / "run-3").mkdir()
    (folder / "run-3" / "command.json").write_text(json.dumps({"arguments": ["run"], "process": 0}))
    client = studio_client(place)[0]
    assert client.get("/", follow_redirects=False).headers["location"] == "/run"
    assert 'href="/take">Earlier releases' in unescape(client.get("/run").text)
    for page, address in (("look", "/look?tab=publish&run="), ("take", "/take?run=")):
        linked = re.findall(
            rf'href="{re.escape(address)}(\d)"', unescape(client.get(f"/{page}").text)
        )
        assert [*dict.fromkeys(linked)] == ["2", "1"], page
    assert "<td><bdi>44</bdi></td>" in client.get("/look").text
    assert "Step 6 of 7" in client.get("/look?run=1").text  # the number of a run is none of a step
    assert "Step 7 of 7" in client.get("/take?run=1").text
    assert "<bdi>44</bdi>" not in client.get("/look?run=1").text
    taken = client.get("/take").text
    assert taken.index("synthetic.csv") < taken.index("a.json")
    for number in (1, 2):  # each as it was made, whatever was declared since
        script = unescape(client.get(f"/take?run={number}").text)
        assert f"kinds='run-{number}/kinds.json',\n    epsilon={number}.0" in script
        assert "index=False, sep=';'" in script
    taken = client.get("/take/release.zip?run=2")
    named = taken.headers["content-disposition"]
    assert named == "attachment; filename*=utf-8''people-run-2.zip"
    held = zipfile.ZipFile(io.BytesIO(taken.content))
    assert sorted(held.namelist()) == [
        f"run-2/{name}" for name in ("a.json", "certificate.html", "synthetic.csv")
    ]
    assert client.get("/take/file?name=synthetic.csv&run=1").status_code == 422
    assert client.get("/take/file?name=synthetic.csv&run=2").content.decode() == table
    assert "run-3" not in str(client.get("/take/file?name=x&run=3").content)


def test_an_error_goes_when_its_cause_was_mended(client, place, monkeypatch):
    studio_ = studio_client(place)
    budgeted(client)
    monkeypatch.setattr(Job, "start", lambda job, words: job._keep(words))
    client, studio = studio_
    posted(client, "/run", action="start")
    logged(studio, DataFileError("x: it is not written so"))
    assert "it is not written so" in client.get("/run").text
    given = {"delimiter": ";", "encoding": "cp1252", "mark": ",", "then": "go_on"}
    posted(client, "/table", action="dialect", **given)
    page = client.get("/run").text
    assert "it is not written so" not in page
    assert "You have changed something since this error" in page


def test_names_in_plain_letters_say_nothing_of_how_they_are_encoded(place):
    (place / "plain.csv").write_bytes("town;note\nUlm;schön\n".encode("cp1252"))
    client = studio_client(place)[0]
    posted(client, "/table", action="choose", table="plain.csv")
    asked = form_with(client.get("/table").text, "delimiter")
    assert asked["encoding"] == ""
    given = {"action": "dialect", "delimiter": ";", "mark": ",", "then": "go_on"}
    assert "choose it" in posted(client, "/table", **given).text
    tried = posted(client, "/table", action="dialect", delimiter=";", encoding="utf-8")
    page = client.get(tried.headers["location"]).text
    assert form_with(page, "delimiter")["encoding"] == "utf-8"  # what was tried stays chosen
    posted(client, "/table", **given, encoding="cp1252")
    assert form_with(client.get("/table").text, "delimiter")["encoding"] == "cp1252"
    assert posted(client, "/table", **given, encoding="utf-8").headers["location"] == "/columns"
    assert form_with(client.get("/table").text, "delimiter")["encoding"] == "utf-8"


def test_two_pages_do_not_overwrite_each_other(client, place):
    declared(client)
    old = key_and_version(client.get("/people").text)
    assert posted(client, "/people", action="go_on", several="no").status_code == 303
    late = client.post(
        "/people", data=old | {"action": "go_on", "several": "yes", "unit": "Ort", "max_rows": "2"}
    )
    assert late.status_code == 422
    assert "saved in another page" in late.text
    asked = form_with(late.text, "several")
    assert (asked["several"], asked["unit"]) == ("yes", "Ort")  # what was typed stays
    assert json.loads((place / "people.studio" / "project.json").read_text())["unit"] == ""


def test_a_table_of_a_name_that_is_there_is_replaced_or_called_otherwise(client, place):
    def uploaded(**given):
        data = key_and_version(client.get("/table").text) | {"action": "upload"} | given
        files = {"file": ("Export 1.csv", b"town\nUlm\n")}
        return client.post("/table/upload", data=data, files=files)

    refused = uploaded()
    assert "exists in the folder already" in refused.text
    assert "--force" not in refused.text
    assert (place / "Export 1.csv").read_text("utf-8") == TABLE
    uploaded(**{"as": "Export 2.csv"})
    assert (place / "Export 2.csv").read_bytes() == b"town\nUlm\n"
    uploaded(replace="yes")
    assert (place / "Export 1.csv").read_bytes() == b"town\nUlm\n"


def test_what_the_pages_refuse_they_refuse_in_the_readers_language(client):
    room = ROOT / "synthdp/cli/studio"
    used = {
        key
        for path in [*room.glob("*.py"), *room.with_name("projects").glob("*.py")]
        for key in re.findall(r'(?:refusal|ProjectError)\(\s*"(\w+)"', path.read_text("utf-8"))
    }
    for language in ("de", "en"):
        texts = json.loads((CATALOGUES / f"{language}.json").read_text("utf-8"))
        said = {key.removeprefix("no.") for key in texts if key.startswith("no.")}
        assert used == said
    declared(client)
    posted(client, "/people", action="go_on", several="no")
    client.get("/budget?language=de")
    page = posted(client, "/budget", action="go_on", rows="viele", epsilon="1").text
    assert '<p lang="de">„viele“ ist keine ganze Zahl.</p>' in page


def test_a_project_goes_to_a_colleague_without_the_data(place, tmp_path_factory):
    client, studio = studio_client(place)
    budgeted(client)
    posted(client, "/run", action="start")
    finished(client, studio)
    archive = zipfile.ZipFile(io.BytesIO(client.get("/take/project.zip").content))
    assert sorted(archive.namelist()) == ["people.studio/kinds.json", "people.studio/project.json"]
    other = tmp_path_factory.mktemp("other")
    archive.extractall(other)
    client = studio_client(other)[0]
    assert "is not in the folder" in client.get("/table").text
    (other / "Export 1.csv").write_text(TABLE, encoding="utf-8")
    posted(client, "/table", action="choose", table="Export 1.csv")
    assert form_with(client.get("/columns").text, "c0-1.maximum")["c0-1.maximum"] == "99"


def test_a_full_disk_is_one_clear_line(client, monkeypatch):
    declared(client)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        answer = posted(client, "/people", action="go_on", several="no")
    assert answer.status_code == 422
    assert "no space left on device" in answer.text
    assert posted(client, "/people", action="go_on", several="no").status_code == 303


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"version": "1"}', '{"x": 1}', '{"names": [1]}', '{"rows": true}']
)
def test_a_project_of_somebody_else_is_trusted_in_nothing(place, content):
    (place / "people.studio").mkdir()
    (place / "people.studio" / "project.json").write_text(content)
    client = studio_client(place)[0]
    assert client.get("/table").status_code == 422


def test_the_language_is_the_browsers_or_what_is_chosen(client):
    assert (
        "Welche Tabelle" in client.get("/table", headers={"accept-language": "de-AT,en;q=0.5"}).text
    )
    assert "Which table" in client.get("/table", headers={"accept-language": "fr"}).text
    posted(client, "/table", action="x")
    page = client.get("/table").text
    assert 'href="/table?language=de"' in page
    assert "Welche Tabelle" in client.get("/table?language=de").text
    assert "Welche Tabelle" in client.get("/table", headers={"accept-language": "en"}).text


def test_both_catalogues_say_the_same_things():
    english, german = (
        json.loads((CATALOGUES / f"{each}.json").read_text("utf-8")) for each in ("en", "de")
    )
    assert list(english) == list(german)
    for key in english:
        places = [
            {name for _, name, *_ in Formatter().parse(each[key]) if name}
            for each in (english, german)
        ]
        assert places[0] == places[1], key


PATIENTS = "patient,sex\n" + "".join(f"{n},{'mw'[n % 2]}\n" for n in range(400))
PLAIN = {"delimiter": ",", "encoding": "utf-8", "mark": "."}
STAYS = "patient,days\n" + "".join(f"{n % 400},{n % 9}\n" for n in range(700))


def test_linked_tables_without_a_description_learn_what_is_left_empty(tmp_path):
    folder = tmp_path / "clinic"
    folder.mkdir()
    (folder / "patients.csv").write_text(PATIENTS)
    (folder / "stays.csv").write_text(STAYS)
    client, studio = studio_client(tmp_path)
    posted(client, "/table", action="choose", table="clinic/")
    posted(client, "/table", action="dialect", then="go_on", **PLAIN)
    kinds = {"c0-1.kind": "categorical", "c1-1.kind": "integer"}
    key = key_and_version(client.get("/columns").text)
    said = client.post("/columns/said", data=key | kinds | {"id": "c1-1"}).text
    assert "Read, such as <code>1234</code>" in said
    assert posted(client, "/columns", action="go_on", **kinds).headers["location"] == "/people"
    assert posted(client, "/people", action="go_on").status_code == 422  # nothing links them yet
    first = form_with(client.get("/people").text, "t1.key")
    asked = client.get("/people").text
    keys = re.findall(r'<select name="t1\.key">(.*?)</select>', asked, re.DOTALL)
    assert keys
    assert all('<option value="patient"' in each for each in keys)  # chosen, and not typed
    links = {"root": "patients", "t0.key": "patient", "t1.max_children": "4"}
    links |= {"t1.fields": "patient", "t1.parent": "patients"}
    assert posted(client, "/people", action="links", **links).status_code == 303
    page = client.get("/people").text
    assert "<ul><li><span>stays</span></li></ul>" in re.sub(r"\s*(<[^>]*>)\s*", r"\1", page)
    assert "None" not in form_with(page, "t1.key").values()
    assert "None" not in first.values()
    half = links | {
        "t1.parent": "",
        "t1.order": "days",
        "t1.unique": "days",
        "t0.max_children": "x",
    }
    refused = posted(client, "/people", action="links", **half)
    assert refused.status_code == 422
    kept = form_with(refused.text, "t1.key")
    assert {name: kept[name] for name in half} | {"t1.fields": "patient"} == half
    assert posted(client, "/people", action="go_on").headers["location"] == "/budget"
    foreseen = client.get("/budget?epsilon=20&delta=1e-9").text
    assert "What each table gets" in foreseen
    assert "is not foretold for linked tables" in foreseen
    assert not re.search(r"± \d+ \(", foreseen)
    of_families = client.get("/budget?epsilon=20&delta=1e-9&rows=300").text
    assert re.search(r"± \d+ \([0-9.]+ %\)", of_families)
    made = {"population": "Patienten", "all_epsilon": "30", "all_delta": "1e-6", "epsilon": "9"}
    assert posted(client, "/budget", action="create", **made).status_code == 303
    charged = {"epsilon": "20", "budget": "patienten.budget"}
    assert posted(client, "/budget", action="go_on", **charged).headers["location"] == "/run"
    posted(client, "/run", action="start")
    page = finished(client, studio)
    assert 'data-state="done"' in page, page
    meant = r"<p>(Suppose somebody .*?)</p>"  # for one person: the same before and after
    assert re.search(meant, foreseen)[1] == re.search(meant, client.get("/run").text)[1]
    assert "releases so far: 1" in client.get("/budget").text
    posted(client, "/run", action="go_on")
    posted(client, "/look", action="go_on")
    taken = client.get("/take").text  # with the certificate, though no page was made
    assert "tables/stays.csv" in taken
    assert 'href="/take/file?name=certificate.html&amp;run=1"' in taken
    ran = repeated(studio, client.get("/take").text)
    assert ran.joinpath("stays.again.csv").read_text().startswith("patient,days")


def test_linked_tables_of_a_german_program_are_asked_how_they_are_written(tmp_path):
    folder = tmp_path / "haus"
    folder.mkdir()
    people = "Nr;Straße;Größe\n1;Öl;1,5\n"
    (folder / "leute.csv").write_text(people, encoding="cp1252")
    (folder / "stays.csv").write_text("Nr;Tage\n1;2\n", encoding="cp1252")
    client, _ = studio_client(tmp_path)
    posted(client, "/table", action="choose", table="haus/")
    page = client.get("/table").text
    assert "<bdi>Straße</bdi>" in page
    given = form_with(page, "delimiter")
    assert (given["delimiter"], given["encoding"]) == (";", "cp1252")
    given = {name: given[name] for name in ("action", "delimiter", "encoding")}
    odd = posted(client, "/table", **given | {"encoding": "utf-8", "mark": ",", "then": "go_on"})
    assert odd.headers["location"].startswith("/table")
    page = client.get("/table").text
    assert 'value="go_on"' not in page
    assert "declare it" in page
    assert client.get("/columns", follow_redirects=False).headers["location"] == "/table"
    assert posted(client, "/table", **given | {"then": "go_on"}).status_code == 422
    given |= {"mark": ",", "then": "go_on"}
    assert posted(client, "/table", **given).headers["location"] == "/columns"
    described = json.loads((folder / "datapackage.studio.json").read_text("utf-8"))["resources"]
    dialect = {"delimiter": ";", "encoding": "cp1252", "decimalChar": ",", "groupChar": "."}
    assert [each["dialect"] for each in described] == [dialect, dialect]
    kinds = {"c0-1.kind": "categorical", "c0-2.kind": "number", "c0-2.maximum": "2,5"}
    assert posted(client, "/columns", action="save", **kinds).status_code == 303
    links = {"action": "links", "root": "leute", "t0.key": "Nr", "t1.max_children": "4"}
    assert posted(client, "/columns", action="go_on", **kinds).headers["location"] == "/people"
    links |= {"t1.fields": "Nr", "t1.parent": "leute"}
    assert posted(client, "/people", **links).status_code == 303
    assert posted(client, "/table", **given | {"mark": "."}).headers["location"] == "/columns"
    assert form_with(client.get("/people").text, "root")["root"] == "leute"
    assert form_with(client.get("/columns").text, "c0-2.kind")["c0-2.maximum"] == "2.5"


def test_bounds_on_rows_of_a_parent_are_clicked_together(tmp_path):
    folder = tmp_path / "clinic"
    folder.mkdir()
    (folder / "patients.csv").write_text(PATIENTS)
    (folder / "stays.csv").write_text("patient,ward,visit\n1,A,1\n")
    client, _ = studio_client(tmp_path)
    posted(client, "/table", action="choose", table="clinic/")
    posted(client, "/table", action="dialect", then="go_on", **PLAIN)
    kinds = {"c0-1.kind": "categorical", "c1-1.kind": "categorical", "c1-1.levels": "A\nB\nC"}
    kinds |= {"c1-2.kind": "integer", "c1-2.minimum": "1", "c1-2.maximum": "4"}
    kinds |= {"c1-2.bins": "4", "c1-2.required": "never"}
    assert posted(client, "/columns", action="go_on", **kinds).headers["location"] == "/people"
    links = {"action": "links", "root": "patients", "t0.key": "patient", "t1.order": "visit"}
    links |= {"t1.fields": ["patient", ""], "t1.parent": ["patients", ""]}
    links |= {"t1.min_children": "1", "t1.max_children": "4", "t1.unique": ["ward"]}
    assert posted(client, "/people", **links | {"t1.increasing": "on"}).status_code == 303
    page = client.get("/people").text
    assert "still in the way" not in page, page
    assert form_with(page, "t1.increasing")["t1.unique"] == "ward"

    def own():
        content = json.loads((folder / "datapackage.studio.json").read_text())
        return content["resources"][1]["synthdp"]

    bounds = {"min_children": 1, "max_children": 4, "order": "visit"}
    assert own() == bounds | {"increasing": ["visit"], "unique": ["ward"]}
    assert posted(client, "/people", **links | {"t1.unique": []}).status_code == 303
    assert own() == bounds
    limit = {"rule": "limit", "column": "stays.ward", "0.0.level": '"A"', "at_most": "2"}
    typed = links | {"t1.unique": [], "t1.max_children": "3"}
    page = client.get("/people", params=limit | typed | {"action": ""}).text
    assert form_with(page, "t1.key")["t1.max_children"] == "3"
    refused = posted(client, "/people", **typed | limit | {"action": "add", "at_least": "4"})
    assert form_with(refused.text, "t1.key")["t1.max_children"] == "3"
    refused = posted(client, "/people", action="add", **limit | {"at_least": "3"})
    assert refused.status_code == 422
    assert own() == bounds
    bounds["max_children"] = 3  # saved with the rule beside which it was typed
    assert posted(client, "/people", **typed | limit | {"action": "add"}).status_code == 303
    assert own() == bounds | {"limits": [{"where": {"ward": ["A"]}, "at_most": 2}]}
    page = client.get("/people").text
    assert "ward A: at most 2" in page
    removed = posted(client, "/people", action="remove-0")
    assert removed.status_code == 303, removed.text
    assert own() == bounds


def repeated(studio, page):
    """The project's folder after the command line and the script of the last page ran as they
    stand there.
    """
    shell, script = (
        unescape(text) for text in re.findall(r"<code>((?:synthdp|import).*?)</code>", page, re.S)
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for words in (["sh", "-c", f"{shell} --force"], [sys.executable, "-c", script]):
        environment = os.environ | {"PATH": path}
        ran = subprocess.run(
            words, cwd=studio.path, env=environment, capture_output=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
    return studio.path


def test_a_table_of_a_database_and_the_same_run_again(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(tmp_path / "clinic.duckdb") as database:
        database.execute(
            "CREATE TABLE stays AS SELECT i % 40 AS age, i % 3 = 0 AS smokes FROM range(900) AS t(i)"
        )
    client, studio = studio_client(tmp_path)
    given = {"action": "database", "source": "duckdb:///clinic.duckdb", "name": "stays"}
    assert posted(client, "/table", **given | {"name": "none"}).status_code == 303
    assert "none" in client.get("/table").text
    assert posted(client, "/table", **given).status_code == 303
    posted(client, "/table", action="dialect", then="go_on", **PLAIN)
    kinds = {"c0-0.kind": "integer", "c0-1.kind": "boolean"}
    assert posted(client, "/columns", action="go_on", **kinds).headers["location"] == "/people"
    assert posted(client, "/people", action="go_on", several="no").headers["location"] == "/budget"
    posted(client, "/budget", action="go_on", rows="900", epsilon="9", delta="1e-6")
    posted(client, "/run", action="start")
    page = finished(client, studio)
    assert 'data-state="done"' in page, page
    posted(client, "/run", action="go_on")
    posted(client, "/look", action="go_on")
    assert "Compare with" not in client.get("/look?tab=not-private").text
    ran = repeated(studio, client.get("/take").text)
    assert ran.joinpath("again.csv").read_text().startswith("age,smokes")
    assert "clinic.duckdb" not in (ran / "project.json").read_text().replace("duckdb:///clinic", "")


@pytest.mark.parametrize(
    "kept", [{"order": "visit"}, {"together": "yes"}, {"together": "yes", "constant": "what"}]
)
def test_rows_of_a_person_hang_together_in_what_is_drawn(tmp_path, kept):
    lines = "".join(f"{n % 300},{n // 300},{'ab'[n % 2]}\n" for n in range(900))
    (tmp_path / "visits.csv").write_text("person,visit,what\n" + lines)
    client, studio = studio_client(tmp_path)
    chosen(client, "visits.csv", delimiter=",", mark=".")
    kinds = {
        "c0-0.kind": "ignore",
        "c0-1.kind": "integer",
        "c0-1.minimum": "0",
        "c0-1.maximum": "2",
    }
    kinds |= {"c0-1.required": "never", "c0-2.kind": "categorical", "c0-2.levels": "a\nb"}
    assert posted(client, "/columns", action="go_on", **kinds).headers["location"] == "/people"
    units = {"several": "yes", "unit": "person", "max_rows": "3"} | kept
    assert posted(client, "/people", action="go_on", **units).headers["location"] == "/budget"
    sent = {"rows": "900", "epsilon": "20", "delta": "1e-6"}
    assert posted(client, "/budget", action="go_on", **sent).headers["location"] == "/run"
    posted(client, "/run", action="start")
    page = finished(client, studio)
    assert 'data-state="done"' in page, page
    assert "Epsilon protects a person with at most 3 rows, by “person”." in page
    (drawn,) = studio.path.rglob("publish/synthetic.csv")
    assert drawn.read_text().startswith("person,visit,what\n1,")
    if "constant" in kept:
        rows = [line.split(",") for line in drawn.read_text().splitlines()[1:]]
        assert len({(who, what) for who, _, what in rows}) == len({who for who, _, _ in rows})


def test_the_studio_is_written_openly_and_does_not_grow():
    """Of our own: what Pico publishes lies in a folder of its own, as it was published."""
    room = ROOT / "synthdp/cli/studio"
    pages = [*(room / "templates").iterdir()]
    lines = {path: path.read_text("utf-8").splitlines() for path in [*room.glob("*.py"), *pages]}
    assert not [line for path in pages for line in lines[path] if len(line) > 100]
    styles = lines[room / "templates/studio.css"]
    assert not [line for line in styles if line.count(";") + line.count("{") > 1]
    assert sum(map(len, lines.values())) <= 2_510
