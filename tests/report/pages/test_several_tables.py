"""Several tables on one page: none loses its pictures or rows, and what is alike has one scale."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import SCHEMA, people
from helpers.homes import home
from helpers.html_pages import Page

from synthdp import evaluate
from synthdp.report import PageView, association_section, curve_section, marginal_section

marginals = home(curve_section)
views = home(PageView)

pytest.importorskip("matplotlib")

REAL = people(200)[["town", "job", "age"]]
SMALL = {"fields": SCHEMA["fields"][:3], "missingValues": [""]}


@pytest.fixture(scope="module")
def view():
    """Three tables, the last two released with one epsilon; the second has no dependences."""
    shuffled = {
        name: REAL[name].sample(frac=1, random_state=seed).to_numpy()
        for seed, name in enumerate(REAL)
    }
    tables = {
        "a": people(150, 1)[list(REAL)],
        "b": pd.DataFrame(shuffled),
        "c": people(100, 2)[list(REAL)],
    }
    stated = {
        name: {"events": [], "epsilon": epsilon}
        for name, epsilon in (("a", 1.0), ("b", 2.0), ("c", 2.0))
    }
    found = evaluate(REAL, tables, SMALL, targets=[], certificate=stated)
    sections = {
        name: value for name, value in vars(found).items() if isinstance(value, pd.DataFrame)
    }
    return PageView(sections, found.facts, found.tables)


def scale(picture):
    """The numbers beside a map."""
    return [word for word in Page(picture.svg).words[2:] if re.fullmatch(r"-?[0-9.]+", word)]


def test_maps_of_all_tables_are_there_and_have_one_scale(view, monkeypatch):
    monkeypatch.setattr(views, "N_OPEN", 2)
    section = association_section(view)
    maps, gaps = section.pictures[:3], section.pictures[3:]
    assert [each.title for each in maps] == [
        "Associations: real",
        "Associations: a",
        "Associations: b",
    ]
    assert [each.title for each in section.more] == ["Associations: c", "Difference: c less real"]
    assert [each.begins_row for each in gaps] == [True, False]
    for alike in ([*maps, section.more[0]], [*gaps, section.more[1]]):
        assert len({tuple(scale(each)) for each in alike}) == 1
        assert len(scale(alike[0])) > 1


def test_constant_columns_have_a_sentence_and_no_empty_maps(view):
    frame = view.sections["associations"].assign(difference=np.nan)
    section = association_section(replace(view, sections=view.sections | {"associations": frame}))
    assert section.pictures == ()
    assert section.words[-1] == "No two columns have one in both tables: all but one are constant."


def test_noise_that_is_cut_off_is_told_and_errors_of_all_tables_have_one_scale(view, monkeypatch):
    monkeypatch.setattr(views, "N_OPEN", 1)
    frame = view.sections["marginals"]
    noise = np.where(frame["k"] == 3, 1.0, 0.1)
    section = marginal_section(
        replace(view, sections=view.sections | {"marginals": frame.assign(noise=noise)})
    )
    assert [len(section.pictures), len(section.more)] == [3, 6]
    drawn = [section.pictures[2], section.more[2], section.more[5]]
    assert all(each.note.endswith("Of 1 it is 1 or more.") for each in drawn)
    assert all("(at 1: or more)" in each.svg for each in drawn)
    assert len({tuple(scale(each)) for each in drawn}) == 1
    assert "1 or more" not in section.pictures[1].note
    assert [
        any("noise" in line for line in each.words) for each in (section, marginal_section(view))
    ] == [True, False]


def test_the_line_over_epsilon_joins_the_best_tables(view, monkeypatch):
    drawn = []
    monkeypatch.setattr(marginals, "curves", lambda _, lines, **__: drawn.extend(lines) or "")
    curve_section(view)
    means = view.sections["marginals"].groupby(["k", "table"])["tvd"].mean()
    for k, (sampling, points, line) in enumerate(zip(*[iter(drawn)] * 3, strict=True), 1):
        assert list(sampling.x) == list(line.x) == [1.0, 2.0]
        assert list(line.y) == [means[k, "a"], min(means[k, "b"], means[k, "c"])]
        assert (points.is_line, line.is_line) == (False, True)
        assert sorted(points.y) == sorted(means[k])


def test_every_table_has_rows_in_a_listing_and_the_rest_is_counted(view, monkeypatch):
    monkeypatch.setattr(views, "MIN_LISTED", 2)
    listing = view.listing("marginals", {"k": "columns"}, "Errors.", most=3)
    assert [row[0] for row in listing.rows] == ["a", "a", "b", "b", "c", "c"]
    assert listing.n_more == len(view.sections["marginals"]) - 6
    assert listing.caption == "Table by table: Errors."
