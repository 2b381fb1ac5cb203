"""The page of an evaluation: not private first, every section, the numbers of the frames, and
nothing runs in it.
"""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import SCHEMA, people
from helpers.homes import home
from helpers.html_pages import Page, assert_says_first_that_it_is_not_private, html_of

from synthdp import DataFileError, evaluate
from synthdp.report import NOT_PRIVATE, TableEvaluation, curve_section, pictures

columns = home(pictures)
evaluation = home(TableEvaluation)
marginals = home(curve_section)

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

INJECTED = "<script>alert(1)</script>'\"&{{ 7 * 7 }}<img src=x onerror=alert(1)>"
SECTIONS = ["verdict", "summary", "epsilon", "columns", "marginals", "pairs", "associations", "propensity",
            "prediction", "regression", "groups", "queries", "rules", "matches", "notes"]  # fmt: skip


REAL = people(300)[["town", "job", "age"]]
SMALL = {"fields": SCHEMA["fields"][:3], "missingValues": [""]}

PREDICTION = pd.DataFrame(
    [[name, "job", "linear", "AUC", 0.9, 0.8712, 0.5] for name in "ab"],
    columns=["table", "target", "model", "score", "real", "synthetic", "baseline"],
)
ROC = pd.DataFrame(
    [
        [name, "job", "linear", on, x, x**0.5]
        for name in "ab"
        for on in ("real", "synthetic")
        for x in (0.0, 0.5, 1.0)
    ],
    columns=["table", "target", "model", "trained_on", "fpr", "tpr"],
)
"""Two tables' models, made up: scikit-learn takes longer than all the rest."""


@pytest.fixture(scope="module")
def found():
    """Two tables with certificates, and all sections but the regression filled."""
    marginal = {"event": "marginal", "columns": ["town", "job"], "sigma": 5.0}
    stated = {"a": {"events": [marginal], "epsilon": 1.0}, "b": {"events": [], "epsilon": 2.0}}
    tables = {name: people(n_rows, n_rows)[list(REAL)] for name, n_rows in (("a", 200), ("b", 250))}
    queries = [{"columns": ["town", "job"]}]
    measured = evaluate(
        REAL, tables, SMALL, targets=[], by="town", queries=queries, certificate=stated
    )
    return replace(measured, prediction=PREDICTION, roc=ROC)


@pytest.fixture(scope="module")
def text(found):
    return html_of(found, marginals, N_PAIRS=1, MAX_POINTS=2)


def test_it_says_first_that_it_is_not_private(text):
    assert_says_first_that_it_is_not_private(Page(text).text, NOT_PRIVATE)
    assert '<meta name="robots" content="noindex">' in text


def test_every_section_is_there_with_pictures_that_have_words(text):
    page = Page(text)
    assert [each["id"] for each in page.all("section") if "id" in each] == SECTIONS
    assert [each["href"] for each in page.all("a")] == [f"#{name}" for name in SECTIONS]
    charts = [each for each in page.all("svg") if "aria-hidden" not in each]
    expected = {
        "epsilon": 1,
        "columns": 3,
        "errors": 3 + 2,
        "worst pair": 3,
        "associations": 5,
        "roc": 1,
        "groups": 1,
    }
    assert len(charts) == sum(expected.values())
    assert all(each["role"] == "img" and each["aria-label"] for each in charts)
    assert len(page.all("title")) == len(page.all("desc")) + 1 == len(charts) + 1
    assert len(page.all("table")) == len(page.all("caption"))
    assert re.findall(r"https?://(?!www.w3.org)|@import|url\((?!#)", text) == []


def test_its_tables_hold_the_numbers_of_the_frames(found, text):
    rows = Page(text).rows
    summary = found.summary.pivot(index="metric", columns="table", values="value")
    (row,) = [row for row in rows if row[0] == "2-way marginals, mean TVDLess is better."]
    assert row[1:3] == [f"{value:.3g}" for value in summary.loc["2-way marginals, mean TVD"]]
    curve = found.marginals.groupby(["k", "table"])["tvd"].mean()
    assert ["2", "b", "2", f"{curve[2, 'b']:.3g}"] in [row[:4] for row in rows]
    assert ["a", "job", "linear", "AUC", "0.9", "0.871", "0.5"] in rows
    assert "AUC 0.87, of real rows 0.9" in text
    of_a = found.marginals[found.marginals["table"] == "a"]
    above = (of_a["tvd"] > of_a["sampling"]).sum()
    assert f"{above} of {len(of_a)} marginals have a larger error than sampling" in text
    group = found.groups.iloc[0]
    assert [group["table"], "town", group["level"]] in [row[:3] for row in rows]


def test_whatever_names_and_levels_hold_is_text():
    real = pd.DataFrame({INJECTED: [INJECTED, "$b$", "\u202e\x01"] * 20, "$x$": np.arange(60)})
    text = evaluate(
        real, {INJECTED: real.sample(50, random_state=0)}, targets=[], by=INJECTED
    ).to_html()
    page = Page(text)
    assert len(page.all("script")) == 1
    assert page.all("img") == page.all("iframe") == []
    assert page.text.count(INJECTED) > 20  # and what is in braces was not worked out


@pytest.mark.parametrize(
    "real",
    [
        pd.DataFrame({"x": [1]}),
        pd.DataFrame({"x": ["a", "b"], "gone": [None, None]}),
        pd.DataFrame({"same": ["s"] * 10}),
    ],
    ids=["one row of one column", "nothing in a column", "a constant"],
)
def test_tables_with_little_in_them_have_a_page(real):
    page = Page(evaluate(real, real, targets=[]).to_html())
    assert "Notes" in page.text


def test_columns_beyond_the_worst_are_folded(monkeypatch):
    monkeypatch.setattr(columns, "N_OPEN", 1)
    monkeypatch.setattr(marginals, "N_PAIRS", 0)
    text = evaluate(REAL[["town", "job"]], REAL[["town", "job"]].head(50), targets=[]).to_html()
    opened, folded = text.split('<details class="fold">')
    assert "1 more pictures" in folded
    caption = "<caption><span>Shares of the levels of"
    assert opened.count(caption) == folded.count(caption) == 1


def test_a_file_is_written_whole_and_never_over_another(found, monkeypatch, tmp_path):
    monkeypatch.setattr(evaluation, "evaluation_page", lambda *_: "the page \ud800")
    path = tmp_path / "report.html"
    assert found.to_html(path) == "the page \ud800"
    assert path.read_text(encoding="utf-8") == "the page ?"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(DataFileError, match="exists"):
        found.to_html(path)
    assert path.read_text(encoding="utf-8") == "mine"
    found.to_html(path, force=True)
    assert path.read_text(encoding="utf-8") == "the page ?"
