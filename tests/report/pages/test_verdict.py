"""The first screen: a sentence that follows from the errors, known marks, and what to look at."""

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import SCHEMA, people
from helpers.families import package, random_tables
from helpers.html_pages import Page

import synthdp
from synthdp import evaluate

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def broken(n_rows):
    """Rows of which one column is moved, and two no longer depend on each other."""
    table = people(n_rows, 5)
    table["age"] = np.minimum(table["age"] + 30, 99)
    table["pay"] = table["pay"] / 20
    return table.assign(job=table["job"].sample(frac=1, random_state=0).to_numpy())


def test_another_sample_is_called_as_good_as_one_and_nothing_stands_out():
    verdict = evaluate(people(3000), people(3000, 1), SCHEMA, targets=[]).verdicts["synthetic"]
    assert verdict.grade == "As good as another sample of the same population."
    assert len(verdict.points) == 1
    assert verdict.points[0].startswith("Nothing stands out")


def test_what_is_wrong_is_named_with_its_own_units_and_the_worst_first():
    found = evaluate(people(3000), broken(3000), SCHEMA, targets=[])
    verdict = found.verdicts["synthetic"]
    mean = found.marginals.loc[found.marginals["k"] == 2, "tvd"].mean()
    assert verdict.error == pytest.approx(mean)
    assert f"{100 * mean:.0f} %" in verdict.sentence
    (age,) = [point for point in verdict.points if point.startswith("Column 'age': ")]
    row = found.values.set_index("column").loc["age"]
    assert f"Its mean is {row['mean_synthetic']:.3g} in place of {row['mean_real']:.3g}." in age
    assert any(point.startswith("Rule ") for point in verdict.points)
    marks = {mark.name: mark.value for group in verdict.marks.values() for mark in group}
    said = found.summary.set_index("metric")["value"]
    assert marks["overall"] == f"{100 * said['SDMetrics, overall']:.1f} %"
    triples = found.marginals.loc[found.marginals["k"] == 3, "tvd"].mean()
    assert marks["triples of columns"] == f"{100 * triples:.0f} %"


def test_values_that_are_wrong_within_right_bins_are_named_in_their_own_units():
    """Largest values that were cut off leave all shares of bins as they are, and move the mean."""
    fields = [
        {
            "name": "gain",
            "type": "number",
            "constraints": {"minimum": 0, "maximum": 1e5, "required": True},
            "synthdp": {"edges": [0, 100, 1e5]},
        },
        {"name": "job", "type": "string", "constraints": {"enum": ["a", "b"], "required": True}},
    ]
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(2000) < 0.9, rng.uniform(0, 100, 2000), 9e4)
    real = pd.DataFrame({"gain": gain, "job": rng.choice(["a", "b"], 2000)})
    cut = real.assign(gain=real["gain"].clip(upper=2e4))
    points = evaluate(real, cut, {"fields": fields}, targets=[]).verdicts["synthetic"].points
    (point,) = [each for each in points if each.startswith("Column 'gain'")]
    moved = (real["gain"] - cut["gain"]).mean()
    assert f"values are {moved:,.0f} off on average" in point
    assert f"mean is {cut['gain'].mean():,.0f} in place of {real['gain'].mean():,.0f}" in point
    # A tenth of the rows is wrong, of which the bins know nothing.
    verdict = evaluate(real, cut, {"fields": fields}, targets=[]).verdicts["synthetic"]
    assert verdict.grade.startswith("Fair")
    assert "Value by value" in verdict.sentence
    assert verdict.error < 0.01
    again = evaluate(real, real, {"fields": fields}, targets=[]).verdicts["synthetic"].points
    assert not any("'gain'" in each for each in again)


def test_rare_values_that_are_written_as_one_explain_the_marks():
    real, synthetic = people(2000), people(2000, 1)
    field = {**SCHEMA["fields"][0], "synthdp": {"other": "D"}}
    real.loc[:399, "town"] = [f"rare {n}" for n in range(400)]
    synthetic.loc[:399, "town"] = "D"
    schema = {"fields": [field, *SCHEMA["fields"][1:]], "missingValues": [""]}
    points = evaluate(real, synthetic, schema, targets=[]).verdicts["synthetic"].points
    (point,) = [each for each in points if each.startswith("Rare values")]
    assert "of the rows in 'town'" in point


def test_it_stands_before_all_numbers_on_the_page_and_in_the_text():
    found = evaluate(people(300), people(300, 1), SCHEMA, targets=[])
    words = Page(found.to_html()).text
    verdict = found.verdicts["synthetic"]
    assert (
        words.index("NOT PRIVATE") < words.index(verdict.grade) < words.index("What was compared")
    )
    assert words.index("column shapes") < words.index("1-way marginals, mean TVD")
    text = found.summary_text
    assert text.index("NOT PRIVATE") < text.index(verdict.grade) < text.index("1-way marginals")


def test_of_several_tables_the_nearest_is_named_and_all_marks_stand_side_by_side():
    found = evaluate(people(500), {"bad": broken(500), "good": people(500, 1)}, SCHEMA, targets=[])
    page = Page(found.to_html())
    assert "The nearest to the real table is good: " in page.text
    marks = found.verdicts["bad"].marks
    values = [mark.value.removesuffix(" %") for group in marks.values() for mark in group]
    assert ["bad", *values] in page.rows


def test_linked_tables_have_one_too():
    made = random_tables(60, seed=1)
    lost = made["pets"].assign(owner=["nobody"] * 3 + made["pets"]["owner"].tolist()[3:])
    found = synthdp.evaluate(random_tables(80), {**made, "pets": lost}, package())
    verdict = found.verdicts["synthetic"]
    (marks,) = verdict.marks.values()
    assert len(marks) == len(found.summary)
    mean = found.summary.loc["siblings", "mean"]
    assert marks[list(found.summary.index).index("siblings")].value == f"{100 * mean:.0f} %"
    assert any(point.startswith("Broken links: 3 rows of 'pets'") for point in verdict.points)
    words = Page(found.to_html()).text
    assert words.index(verdict.grade) < words.index("Summary")
    assert verdict.grade in found.summary_text


def test_one_column_alone_has_a_verdict():
    real = pd.DataFrame({"x": ["a", "b"] * 30})
    verdict = evaluate(real, real.head(31), targets=[]).verdicts["synthetic"]
    assert "for a column to be right" in verdict.sentence
