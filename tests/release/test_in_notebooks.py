"""What notebooks show of a release and of a schema: in short, escaped, and not private where it is
not.
"""

import sys

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import SCHEMA, people
from helpers.families import package, random_tables
from helpers.html_pages import Page
from helpers.stated import DECLARED, release_of
from oracles.privacy import Seeded

import synthdp
from synthdp.core import LinearMeasurement

INJECTED = "<script>alert(1)</script>"


def test_a_release_shows_its_guarantee_first():
    page = Page(release_of(mechanism="independent")._repr_html_())
    assert page.text.startswith("(2, 1e-06)-differential privacy")
    rows = dict(page.rows)
    assert rows["mechanism"] == "independent"
    assert rows["measured"] == "3 marginals"
    assert rows["records"].startswith("about ")
    assert Page(release_of(randomness=Seeded(1))._repr_html_()).text.startswith("NOT PRIVATE")


def test_a_release_says_that_noise_hides_its_records_and_what_to_be_careful_of():
    counts = LinearMeasurement(("a",), np.array([3.0, 4.0]), 100.0)
    hidden = synthdp.from_measurements(DECLARED, [counts])
    assert dict(Page(hidden._repr_html_()).rows)["records"] == "hidden by noise"
    pieces = {"schema": hidden.schema, "measurements": [], "model": None}
    careful = synthdp.Synthesis(
        **pieces, certificate={"guarantee": INJECTED, "cautions": [INJECTED]}
    )
    page = Page(careful._repr_html_())
    assert page.all("script") == []
    assert page.text.count(INJECTED) == 2


def test_a_release_shows_its_columns_in_pictures_that_need_nothing():
    release = release_of(mechanism="independent")
    page = Page(release._repr_html_())
    pictures = page.all("svg")
    assert [each["aria-label"].split(":")[0] for each in pictures] == [
        f"Shares of {name}" for name in release.schema.names
    ]
    assert {"script", "link", "img", "style"} & {tag for tag, _ in page.tags} == set()
    assert len(release._repr_html_()) < 20_000
    assert len(page.all("rect")) > 3


def test_bins_have_their_widths_and_areas_are_shares():
    field = {"name": "x", "type": "integer", "synthdp": {"edges": [0, 10, 30, 80]}}
    field["constraints"] = {"required": True}
    counts = LinearMeasurement(("x",), np.array([20.0, 30.0, 50.0]), 0.01)
    release = synthdp.from_measurements({"fields": [field]}, [counts])
    bars = Page(release._repr_html_()).all("rect")
    widths, heights = (np.array([float(bar[key]) for bar in bars]) for key in ("width", "height"))
    assert (widths + 0.3) / (widths[0] + 0.3) == pytest.approx([1, 2, 5.1], rel=0.02)
    assert heights / heights[0] == pytest.approx([1, 0.75, 0.49], rel=0.02)


def test_linked_releases_show_each_table():
    tables = random_tables(30)
    release = synthdp.synthesize(tables, package(), epsilon=5, delta=1e-6, mechanism="independent")
    page = Page(release._repr_html_())
    assert page.text.startswith(release.certificate["guarantee"])
    assert "homes: columns, as the release knows them" in page.text
    assert len(page.all("svg")) > len(tables)


def test_an_evaluation_says_that_it_is_not_private_then_its_verdict_then_pictures():
    pytest.importorskip("matplotlib")
    found = synthdp.evaluate(people(300), people(300, 1), SCHEMA, targets=[])
    text = found._repr_html_()
    page = Page(text)
    verdict = found.verdicts["synthetic"]
    assert page.text.startswith("NOT PRIVATE")
    assert (
        page.text.index("NOT PRIVATE") < page.text.index(verdict.grade) < page.text.index("Summary")
    )
    assert len([each for each in page.all("svg") if each.get("class") == "chart"]) == 3
    assert {"script", "link", "img"} & {tag for tag, _ in page.tags} == set()
    assert len(text) < 60_000


def test_linked_evaluations_do_too():
    pytest.importorskip("matplotlib")
    found = synthdp.evaluate(random_tables(60), random_tables(50, seed=1), package())
    page = Page(found._repr_html_())
    assert page.text.startswith("NOT PRIVATE")
    assert found.verdicts["synthetic"].grade in page.text
    assert len([each for each in page.all("svg") if each.get("class") == "chart"]) == 3


def test_a_schema_shows_its_columns():
    fields = [
        {
            "name": INJECTED,
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 9, "required": True},
        }
    ]
    page = Page(synthdp.Schema.from_dict({"fields": fields + DECLARED["fields"]})._repr_html_())
    assert page.text.startswith("Schema of 4 columns, 0 rules")
    assert [INJECTED, "integer", "10", "no"] in page.rows
    assert page.all("script") == []


def test_a_run_tells_its_progress_in_a_notebook(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", np)
    data = pd.DataFrame({name: ["n", "y"] * 20 for name in "abc"})
    synthdp.synthesize(data, DECLARED, epsilon=2, delta=1e-6, mechanism="independent")
    assert capsys.readouterr().out.startswith("\r")
