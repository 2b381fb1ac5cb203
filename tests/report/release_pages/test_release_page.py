"""The page of a release: its own numbers, the noise in them, and nothing that needs the real table."""

from math import pi, sqrt

import numpy as np
import pytest
from helpers.homes import home
from helpers.html_pages import Page
from helpers.stated import DECLARED, release_of
from oracles.privacy import Seeded

import synthdp
from synthdp.core import Coarsening, DataFileError, LinearMeasurement
from synthdp.report import release_page

module = home(release_page)

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

PAIR = np.array([[400.0, 100.0], [100.0, 400.0]])
SECTIONS = ["measured", "errors", "fit", "columns", "graph", "certificate"]


def released(measurements, fields=DECLARED["fields"]):
    return synthdp.from_measurements({"fields": fields}, measurements)


@pytest.fixture(scope="module")
def synthesis():
    """A pair whose noise is known, a column that is far from it, and one that nobody measured."""
    pair = LinearMeasurement(("a", "b"), PAIR, 2.0)
    return released([pair, LinearMeasurement(("b",), np.array([700.0, 300.0]), 10.0)])


@pytest.fixture(scope="module")
def page(synthesis):
    return Page(release_page(synthesis))


def test_every_section_is_there_with_pictures_that_have_words(page):
    assert [each["id"] for each in page.all("section") if "id" in each] == SECTIONS
    charts = [each for each in page.all("svg") if "aria-hidden" not in each]
    assert len(charts) == 1 + 1 + 3 + 1
    assert all(each["role"] == "img" and each["aria-label"] for each in charts)
    assert len(page.all("table")) == len(page.all("caption"))


def test_expected_errors_are_those_of_the_recorded_noise(page, synthesis):
    n_rows = float(sum(m.values.sum() / m.variance.sum() for m in synthesis.measurements))
    n_rows /= sum(1 / m.variance.sum() for m in synthesis.measurements)
    assert f"about {n_rows:,.0f} records" in page.text
    pair = 0.5 * 4 * 2.0 * sqrt(2 / pi) / n_rows
    assert ["a x b", "4", "no", "2", f"{pair:.3g}"] in page.rows
    assert ["2", "a x b", "4", f"{pair:.3g}"] in page.rows
    assert ["2", "a x c", "4", ""] in page.rows
    assert ["1", "c", "2", ""] in page.rows
    assert "1 of 3 pairs were measured together" in page.text


def test_the_model_is_held_against_what_was_measured(page, synthesis):
    (model,) = synthesis.model.marginals([("b",)])
    off = sqrt(np.mean(np.square(model.values - [700.0, 300.0])) / 100)
    assert off > 5
    assert ["b", "2", f"{off:.3g}"] in [row[:3] for row in page.rows]


def test_shares_have_intervals_by_the_noise(page, synthesis):
    found = synthesis.marginal(["a"], interval=0.95)
    total = found["count"].sum()
    for share in (found[["count", "low", "high"]] / total).to_numpy():
        assert [f"{value:.3g}" for value in share] in [row[1:] for row in page.rows]


def test_levels_that_were_merged_are_compared_as_merged():
    fields = [
        {"name": "a", "type": "string", "constraints": {"enum": list("xyz"), "required": True}}
    ]
    merged = LinearMeasurement(
        ("a",), np.array([60.0, 40.0]), 1.0, Coarsening({"a": np.array([0, 1, 1])})
    )
    rows = Page(release_page(released([merged], fields))).rows
    (row,) = [row for row in rows if row[:3] == ["a", "2", "yes"]]
    assert row[3] == "1"
    (row,) = [row for row in rows if row[:2] == ["a", "2"] and len(row) == 5 and row[2] != "yes"]
    assert float(row[2]) < 1e-3


def test_the_guarantee_comes_first_whatever_it_is():
    text = Page(release_page(release_of(mechanism="independent"))).text
    assert text.index("(2, 1e-06)-differential privacy") < text.index("What was measured")
    assert "What an attacker can do at best" in text
    assert "All questions, in order" in text
    text = Page(release_page(release_of(randomness=Seeded(1)))).text
    assert text.index("must not be published") < text.index("What was measured")


def test_it_says_where_noise_hides_everything():
    counts = LinearMeasurement(("a",), np.array([3.0, 4.0]), 100.0)
    text = Page(release_page(released([counts]))).text
    assert "Noise hides how many records there are" in text
    assert "expected error" not in text


def test_a_file_is_written_whole_and_never_over_another(synthesis, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "rendered", lambda *_, **__: "the page")
    path = tmp_path / "page.html"
    assert release_page(synthesis, path) == "the page"
    assert path.read_text(encoding="utf-8") == "the page"
    with pytest.raises(DataFileError, match="exists"):
        release_page(synthesis, path)


def test_levels_are_written_as_in_the_table():
    bounds = {"minimum": "2025-01-01", "maximum": "2025-12-31", "required": True}
    fields = [
        {"name": "ill", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
        {"name": "day", "type": "date", "format": "%d.%m.%Y", "constraints": bounds},
    ]
    fields[1]["synthdp"] = {"bins": 4}
    answers = [LinearMeasurement(("ill",), np.array([60.0, 30.0, 10.0]), 1.0)]
    answers.append(LinearMeasurement(("day",), np.array([25.0, 25.0, 25.0, 25.0]), 1.0))
    page = Page(release_page(released(answers, fields)))
    levels = {row[0] for row in page.rows}
    assert {"ja", "nein", "missing"} <= levels
    assert any(each.startswith("01.01.2025 .. ") for each in levels)
    assert "True" not in page.text
    assert "2025-0" not in page.text
