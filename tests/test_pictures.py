"""The pictures that are kept are those that their script makes."""

import re
import runpy

import pandas as pd
import pytest
from helpers.pages import DOCS
from helpers.paths import ROOT

from synthdp import Schema, evaluate

SHEET, SHOT = DOCS / "pictures" / "columns.svg", DOCS / "pictures" / "report.png"
SCRIPT = DOCS / "pictures.py"

pytest.importorskip("PIL")
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="no checkout")


def form(svg):
    """What of a sheet does not depend on its numbers: its tags outside of charts, their titles, and
    its colours.
    """
    outside = re.sub(
        r'(<svg [^>]*class="chart"[^>]*?)( height="[^"]*")?( role[^>]*)>.*?</svg>',
        r"\1/>",
        svg,
        flags=re.DOTALL,
    )
    return (
        outside.splitlines(),
        re.findall(r"<title>(.*?)</title>", svg),
        set(re.findall(r"#[0-9a-f]{6}", svg)),
    )


def test_the_sheet_of_columns_is_built_as_its_script_builds_it():
    script = runpy.run_path(str(SCRIPT))
    schema, shown = Schema.load(ROOT / "data/census.schema.json"), script["SHOWN"]
    few = Schema(tuple(schema[name] for name in shown))
    people = pd.read_csv(
        ROOT / "data/census.csv", usecols=list(shown), nrows=200, dtype=str, keep_default_na=False
    )
    made = script["sheet"](script["columns"](evaluate(people, people[:150], few, targets=[])))
    assert form(made) == form(SHEET.read_text(encoding="utf-8")), (
        "make it anew: python docs/pictures.py"
    )


def test_each_step_of_the_studio_has_a_picture():
    script = runpy.run_path(str(SCRIPT))
    app = (ROOT / "synthdp/cli/studio/app.py").read_text(encoding="utf-8")
    steps = re.findall(r'^    "(\w+)": \(\w+\.\w+_view, ', app, re.M)
    assert tuple(steps) == script["STUDIO_STEPS"]
    page = (DOCS / "studio.md").read_text(encoding="utf-8")
    for step in steps:
        content = (DOCS / "pictures/studio" / f"{step}.png").read_bytes()
        assert f"(pictures/studio/{step}.png)" in page
        assert int.from_bytes(content[16:20]) == script["STUDIO_WIDTH"]
        assert len(content) < 80_000
    taken = (ROOT / "docs/pictures.py").read_text(encoding="utf-8")
    assert re.findall(r'photograph\("(\w+)"\)', taken) == steps


def test_the_picture_of_a_report_is_small():
    content = SHOT.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == runpy.run_path(str(SCRIPT))["SCREEN"][0]
    assert len(content) < 150_000
