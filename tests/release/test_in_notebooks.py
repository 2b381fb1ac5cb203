"""What notebooks show of a release and of a schema: in short, escaped, and not private where it is
not.
"""

import sys

import numpy as np
import pandas as pd
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
