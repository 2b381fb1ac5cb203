"""The page on linked tables: not private first, every section, the numbers of the frames, and names
that are text.
"""

import pytest
from helpers.families import description, package, random_tables
from helpers.homes import home
from helpers.html_pages import Page, assert_says_first_that_it_is_not_private, html_of

import synthdp
from synthdp.report import NOT_PRIVATE, LinkedPageView

linked_sections = home(LinkedPageView)

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

SECTIONS = ["verdict", "summary", "guarantee", "columns", "numbers", "own-pairs", "pairs-across-tables", "siblings",
            "transitions", "links"]  # fmt: skip
STATED = {
    "guarantee": "(1, 1e-6)-differential privacy",
    "unit_of_privacy": "one row of homes",
    "cautions": ["mind"],
}


@pytest.fixture(scope="module")
def found():
    made = random_tables(60, seed=1)
    lost = made["pets"].assign(owner=["nobody"] * 3 + made["pets"]["owner"].tolist()[3:])
    return synthdp.evaluate(
        random_tables(80), {**made, "pets": lost}, package(), certificate=STATED
    )


@pytest.fixture(scope="module")
def text(found):
    return html_of(found, linked_sections, N_PAIRS=1, N_OPEN=1)


def test_it_says_first_that_it_is_not_private(text):
    words = Page(text).text
    assert_says_first_that_it_is_not_private(words, NOT_PRIVATE)
    assert "(1, 1e-6)-differential privacy. Protected as one: one row of homes." in words
    assert "Caution: mind." in words


def test_every_section_is_there_with_pictures_that_have_words(text):
    page = Page(text)
    assert [each["id"] for each in page.all("section") if "id" in each] == SECTIONS
    charts = [each for each in page.all("svg") if "aria-hidden" not in each]
    maps = {
        "own-pairs": 0,
        "across": 2,
        "siblings": 2,
        "transitions": 1,
    }  # tables of more than one pair
    columns, numbers, worst = 6, 3, 3 * 5
    assert len(charts) == columns + numbers + worst + sum(maps.values())
    assert all(each["role"] == "img" and each["aria-label"] for each in charts)
    assert "5 more pictures" in page.text


def test_its_tables_hold_the_numbers_of_the_frames(found, text):
    rows = Page(text).rows
    mean = found.summary.loc["siblings", "mean"]
    assert ["siblings", f"{mean:.3g}"] in [row[:2] for row in rows]
    worst = found.distances[found.distances["kind"] == "transitions"].sort_values("tvd").iloc[-1]
    one, other = worst["columns"]
    assert ["visits", f"{one} x next {other}", f"{worst['tvd']:.3g}"] in [row[:3] for row in rows]
    assert any(row[1].startswith("people.sex x another ") for row in rows if len(row) > 2)
    facts = found.facts["rows"][-1]
    assert facts["synthetic"] - facts["synthetic_used"] >= 3
    assert ["pets", "3"] in [row[:2] for row in rows]


def test_whatever_names_hold_is_text(monkeypatch):
    monkeypatch.setattr(linked_sections, "N_PAIRS", 0)
    injected = "<script>alert(1)</script>&{{ 7 * 7 }}"
    content = description()
    content["resources"][3]["schema"]["fields"][1]["name"] = injected
    tables = random_tables(20)
    tables["pets"] = tables["pets"].rename(columns={"kind": injected})
    page = Page(synthdp.evaluate(tables, tables, content).to_html())
    assert len(page.all("script")) == 1
    assert f"pets.{injected}" in page.text


def test_a_root_alone_has_a_page():
    content = {"resources": [description()["resources"][0]]}
    homes = {"homes": random_tables(20)["homes"]}
    page = Page(synthdp.evaluate(homes, homes, content).to_html())
    assert [each["id"] for each in page.all("section") if "id" in each] == [
        "verdict",
        "summary",
        "guarantee",
        "columns",
        "links",
    ]
    assert "No certificate was given" in page.text
