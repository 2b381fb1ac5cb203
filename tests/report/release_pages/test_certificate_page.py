"""The page of a certificate: whole, escaped, and no number on it promises too much."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.homes import home
from helpers.html_pages import Page
from helpers.stated import ABOUT, DECLARED, KINDS, release_of
from oracles.privacy import Seeded

import synthdp
from synthdp.core import LinearMeasurement, MissingExtraError
from synthdp.release import read_about
from synthdp.report import MAX_ROWS, certificate_page, rendered

module = home(rendered)

SAVED = Path(__file__).parents[2] / "release" / "saving" / "saved"
INJECTED = "<script>alert(1)</script>'\"&{{ 7 * 7 }}<img src=x onerror=alert(1)>\u202e"


def page_of(certificate):
    return Page(certificate_page(certificate))


def test_it_says_the_guarantee_what_it_means_and_what_the_curator_says():
    certificate = release_of(about=read_about(ABOUT)).certificate
    page = page_of(certificate)
    assert "(2, 1e-06)-differential privacy" in page.text
    assert (
        "at most 7.39 times as often or as seldom, but for a chance of 1 in 1,000,000" in page.text
    )
    rows = {row[0]: row[1:] for row in page.rows if row}
    for entry, name in zip(
        certificate["meaning"],
        ("one record", "2 records together", "5 records together"),
        strict=True,
    ):
        shown = [float(cell.removesuffix(" %")) / 100 for cell in rows[name]]
        stated = [*(rate["at_most"] for rate in entry["true_positives"]), entry["advantage"]]
        assert all(exact <= seen <= exact * 1.01 for exact, seen in zip(stated, shown, strict=True))
    for key in set(ABOUT) - {"curators", "sources", "registry_authors", "description", "notes"}:
        assert ABOUT[key] in page.text, key
    for line in [
        *certificate["not_covered"],
        *(entry["quantity"] for entry in certificate["unprotected"]),
    ]:
        assert line in page.text
    assert f"numpy {np.__version__}" in page.text
    assert sum(row[0] == "marginal" for row in page.rows) == sum(
        event["event"] == "marginal" for event in certificate["events"]
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"declared": KINDS},
            ["delta for thresholds", "derived: bins", "which values of a column occur often"],
        ),
        ({"accounting": "gdp", "mechanism": "independent"}, ["mu", "Gaussian DP"]),
        (
            {"unit": "person", "max_rows": 2},
            ["all records of any one person", "5 persons together"],
        ),
        (
            {"adjacency": "replace-one"},
            ["had any one record been different", "the number of records"],
        ),
        ({"mechanism": "aim"}, ["the choice of one of many combinations", "random choices"]),
    ],
)
def test_each_kind_of_release_has_its_words(settings, words):
    page = page_of(release_of(**settings).certificate)
    assert [word for word in words if word not in page.text] == []


def test_what_learning_cost_is_said_also_where_levels_were_asked_for_again():
    certificate = release_of(declared=KINDS).certificate
    asked = {
        each["column"]: each
        for each in certificate["events"]
        if each["event"] == "partition selection"
    }
    others = [each for each in certificate["events"] if each not in asked.values()]
    more = ", and up to half as much for levels of 1 column"
    for again, words in ([], ""), ([*asked.values()][:1], more):
        events = [*asked.values(), *again, *others]
        rows = {row[0]: row[1:] for row in page_of(certificate | {"events": events}).rows if row}
        (learnt,) = rows["Learnt with noise"]
        assert learnt.endswith(f"columns, for at most 25 % of the budget{words}")


def test_no_guarantee_is_said_to_be_none():
    page = page_of(release_of(randomness=Seeded(1)).certificate)
    assert "NOT PRIVATE" in page.text
    assert "must not be published" in page.text
    assert ("section", {"class": "banner not-private"}) in page.tags
    counts = [LinearMeasurement(("a",), np.array([4.0, 6.0]), 2.0)]
    page = page_of(synthdp.from_measurements(DECLARED, counts).certificate)
    assert "another system" in page.text
    assert "stddev 2" in page.text
    assert "recognise" not in page.text


def test_a_run_that_was_stopped_says_so():
    kept, steps = [], iter(range(1000))

    def stop(*_):
        if next(steps) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release_of(mechanism="aim", rescue=kept.append, report=stop)
    assert "stopped before its end" in page_of(kept[0].certificate).text


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.synthdp")), ids=lambda path: path.stem)
def test_certificates_of_earlier_versions_have_a_page(path):
    certificate = synthdp.load(path).certificate
    assert "format" not in certificate
    assert certificate["guarantee"] in page_of(certificate).text


def test_whatever_names_hold_is_text():
    """Column names and the curator's words are public, and may hold anything."""
    field = {
        "name": INJECTED,
        "type": "string",
        "constraints": {"enum": ["n", "y"], "required": True},
    }
    counts = [LinearMeasurement((INJECTED,), np.array([4.0, 6.0]), 2.0)]
    certificate = synthdp.from_measurements({"fields": [field]}, counts).certificate
    said = dict.fromkeys(("name", "region", "notes", "contact"), INJECTED)
    said |= {
        "curators": [{"name": INJECTED}],
        "sources": [{"title": INJECTED, "url": "javascript:alert(1)"}],
    }
    page = page_of(certificate | {"about": said, "cautions": [INJECTED], "guarantee": INJECTED})
    assert {tag for tag, _ in page.tags} & {"script", "img", "a", "link", "iframe"} == set()
    assert page.text.count(INJECTED) >= 9


def test_it_needs_nothing_else():
    text = certificate_page(release_of().certificate)
    assert "default-src 'none'" in text
    assert re.findall(r"https?://|<script|@import|url\(", text) == []
    page = Page(text)
    assert ("html", {"lang": "en"}) in page.tags
    assert [tag for tag, _ in page.tags].count("table") == [tag for tag, _ in page.tags].count(
        "caption"
    )
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")


def test_long_lists_end_and_say_where_the_rest_is():
    certificate = release_of(mechanism="independent", quality_share=0).certificate
    certificate["events"] *= MAX_ROWS // len(certificate["events"]) + 2
    page = page_of(certificate)
    assert sum(row[0] == "marginal" for row in page.rows) == MAX_ROWS
    assert (
        f"{len(certificate['events']) - MAX_ROWS} more are in the certificate itself" in page.text
    )


def test_without_jinja_it_says_what_to_install(monkeypatch):
    module._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"synthdp\[publish\]"):
        certificate_page(release_of(mechanism="independent").certificate)


@pytest.mark.parametrize("entries", [["x"], [{}], [[]], [None]])
def test_entries_that_somebody_wrote_otherwise_are_left_out(entries):
    certificate = release_of().certificate
    kept = certificate["unprotected"]
    assert certificate_page(certificate | {"unprotected": [*entries, *kept]}) == certificate_page(
        certificate
    )
