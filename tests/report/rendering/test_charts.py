"""Charts: what is drawn is to scale, the same every time, and harms neither the page nor
matplotlib.
"""

import re
import sys
from itertools import pairwise

import numpy as np
import pytest
from helpers.homes import home
from helpers.html_pages import Page

from synthdp.core import MissingExtraError
from synthdp.report import (
    Bars,
    Curve,
    Shares,
    Steps,
    Words,
    curves,
    densities,
    drawn,
    graph_map,
    heat_map,
    histograms,
    paired_marks,
    rows_of_shares,
)
from synthdp.report.rendering.shares import MAX_ROWS

figures = home(drawn)

matplotlib = pytest.importorskip("matplotlib")

ODD = ["$5 to $10", "<script>alert(1)</script>", "\u65e5\u672c\u8a9e", "two\nlines\x00", "a" * 60]
WORDS = Words("A title & more", "What it shows < that")


def named(colour):
    """A colour that the style of a page can set anew, as a pattern."""
    return rf"var\(--\w+, {colour}\)"


def paths(svg, colour):
    """The corners of everything that is filled with a colour."""
    found = re.findall(rf'<path d="([^"]*)"[^>]*fill: {named(colour)}', svg)
    return [np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", each), dtype=float) for each in found]


def test_bars_are_as_long_as_their_shares():
    svg = rows_of_shares(WORDS, list("abc"), [0.1, 0.2, 0.4], [], limits=None)
    widths = [np.ptp(each[:, 0]) for each in paths(svg, figures.GREY)]
    assert np.divide(widths, widths[0]) == pytest.approx([1, 2, 4], rel=0.02)


NONE = Bars([], [], None)


def corners(path):
    return np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", path), dtype=float)


def test_steps_are_as_high_as_their_shares_and_the_line_is_the_other_table():
    shares = [np.array([0.1, 0.2, 0.4, 0.3]), np.array([0.4, 0.3, 0.2, 0.1])]
    svg = densities(WORDS, Steps(np.arange(5.0), list("abcd"), shares, None), NONE)
    (surface,) = paths(svg, figures.GREY)
    heights = surface[:, 1].max() - surface[1:-1:2, 1]
    assert heights[:4] / heights[0] == pytest.approx([1, 2, 4, 3], rel=0.03)
    (line,) = re.findall(rf'<path d="([^"]*)"[^>]*stroke: {named(figures.COLOURS[0].lower())}', svg)
    steps = surface[:, 1].max() - corners(line)[1::2, 1]
    assert steps[:4] / heights[0] == pytest.approx([4, 3, 2, 1], rel=0.05)
    assert "density" not in svg


def test_unequal_bins_have_their_true_widths_and_areas_as_large_as_their_shares():
    edges, shares = np.array([0.0, 1, 3, 8]), np.array([0.2, 0.3, 0.5])
    svg = densities(WORDS, Steps(edges, ["[0, 1)", "[1, 3)", "[3, 8]"], [shares], None), NONE)
    (surface,) = paths(svg, figures.GREY)
    tops = surface[1:7]
    widths = np.diff(tops[:, 0])[::2]
    assert widths / widths[0] == pytest.approx([1, 2, 5], rel=0.02)
    areas = widths * (surface[:, 1].max() - tops[::2, 1])
    assert areas / areas[0] == pytest.approx([1, 1.5, 2.5], rel=0.03)
    assert ">density<" in svg


def test_a_narrow_bin_of_many_rows_is_told_in_words_and_heights_are_logarithms():
    edges = np.concatenate([[0.0, 1.0], np.linspace(1000, 99_999, 9)])
    shares = np.array([0.9, *np.full(9, 0.1 / 9)])
    labels = [f"[{low:g}, {high:g})" for low, high in pairwise(edges)]
    svg = densities(WORDS, Steps(edges, labels, [shares, shares], None), NONE)
    assert "density, logarithmic; 90% from 0" in svg


def test_what_is_missing_stands_beside_the_bins():
    shares = Shares(
        column="pay",
        levels=["[0, 1)", "[1, 2)", "[2, 3]", "missing", "(not read)"],
        tables={
            "real": np.array([0.2, 0.2, 0.2, 0.4, 0.0]),
            "x": np.array([0.3, 0.3, 0.2, 0.2, 0]),
        },
        edges=np.arange(4.0),
    )
    svg = shares.picture("").svg
    assert ">missing<" in svg
    assert "not read<" not in svg  # nothing is
    (bar, *_) = [each for each in paths(svg, figures.GREY) if len(each) == 4]
    assert np.ptp(bar[:, 1]) > 0


def every_chart(labels):
    shares = np.full(len(labels), 1 / len(labels))
    places = {name: (np.cos(i), np.sin(i)) for i, name in enumerate(labels)}
    yield rows_of_shares(WORDS, labels, shares, [shares], limits=np.array([shares / 2, shares]))
    limits = np.array([shares / 2, shares])
    steps = Steps(np.arange(len(labels) + 1.0) ** 2, labels, [shares, shares], limits)
    yield densities(WORDS, steps, Bars(labels[:2], [shares[:2], shares[:2]], limits[:, :2]))
    yield curves(
        WORDS,
        [Curve(x=[0.1, 1], y=[0.1, 1], place=0)],
        labels=(labels[0], labels[1]),
        logarithmic="xy",
    )
    yield histograms(WORDS, [[0.1, 0.3], []], [0.2, float("nan")], label=labels[0], end=0.3)
    yield paired_marks(WORDS, labels, {0: shares}, shares, label=labels[0])
    yield heat_map(WORDS, np.eye(len(labels)), (labels, labels), limits=(-1.0, 1.0))
    yield graph_map(WORDS, labels, {(labels[0], labels[1]): 0.5}, places)


def test_charts_are_whole_say_what_they_show_and_hold_no_markup_of_others():
    for svg in every_chart(ODD):
        page = Page(svg)
        assert page.all("svg")[0]["role"] == "img"
        assert page.words[:2] == [WORDS.title, WORDS.description]
        assert {tag for tag, _ in page.tags} & {"script", "style", "metadata"} == set()
        links = [
            value
            for _, attributes in page.tags
            for key, value in attributes.items()
            if key.endswith("href")
        ]
        assert [
            link for link in links if not link.startswith(("#", "data:image/png;base64,"))
        ] == []
        assert re.search(r"[\x00-\x08]|mathdefault", svg) is None


def test_labels_are_texts_not_formulas():
    assert "$5 to $10" in rows_of_shares(WORDS, ODD, [0.2] * 5, [], limits=None)


def test_the_same_numbers_are_the_same_chart_and_names_differ_on_a_page():
    draw = {
        title: heat_map(Words(title, ""), np.eye(3), (list("abc"), list("abc")), limits=(0, 1))
        for title in "xy"
    }
    assert draw["x"] == heat_map(
        Words("x", ""), np.eye(3), (list("abc"), list("abc")), limits=(0, 1)
    )
    names = [set(Page(svg).names) for svg in draw.values()]
    assert names[0]
    assert names[0] & names[1] == set()


def test_settings_of_matplotlib_stay_as_they_were(monkeypatch):
    monkeypatch.setitem(matplotlib.rcParams, "axes.grid", True)
    monkeypatch.setitem(matplotlib.rcParams, "grid.color", "#ff0000")
    before = dict(matplotlib.rcParams)
    svg = rows_of_shares(WORDS, ["a", "b"], [0.5, 0.5], [], limits=None)
    assert dict(matplotlib.rcParams) == before
    assert "#ff0000" not in svg


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"synthdp\[report\]"):
        rows_of_shares(WORDS, ["a"], [1.0], [], limits=None)


def test_many_levels_are_drawn_together_and_none_is_lost():
    levels = [f"level {i}" for i in range(MAX_ROWS + 5)]
    shares = np.arange(1.0, len(levels) + 1)
    picture = Shares(column="town", levels=levels, tables={"real": shares / shares.sum()}).picture(
        ""
    )
    assert f"5 others: {15 / 210:.2g}" in picture.svg
    bars = [np.ptp(each[:, 0]) for each in paths(picture.svg, figures.GREY) if len(each)]
    assert np.divide(bars, bars[0]) == pytest.approx([*shares[5:] / shares[5], 0], rel=0.02)
    assert len(picture.numbers.rows) == len(levels)
    assert "level 19" in Page(picture.svg).words[1]
