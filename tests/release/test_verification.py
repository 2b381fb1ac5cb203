"""Questions about synthetic rows, held against the real table."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.fields import ranged

import synthdp
from synthdp.core import ParameterError, PrivacyError
from synthdp.release import Budget, parse_question

N = 4000
LOUD = {"epsilon": 5.0, "delta": 1e-6}
SCHEMA = {
    "fields": [
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}},
        ranged("age", 0, 99, bins=20),
        {
            "name": "hours",
            "type": "integer",
            "constraints": {"enum": list(range(8)), "required": True},
        },
        ranged("pay", 0, 999, required=True, bins=20),
    ]
}


def people(n=N):
    rng = np.random.default_rng(7)
    age, hours = rng.integers(100, size=n), rng.integers(8, size=n)
    pay = np.clip(100 + 3 * age + 40 * hours + rng.normal(0, 60, n), 0, 999).astype(int)
    sex = np.where(rng.random(n) < 0.3, "f", "m")
    return pd.DataFrame({"sex": sex, "age": age, "hours": hours, "pay": pay})


@pytest.fixture(scope="module")
def synthesis():
    return synthdp.synthesize(
        people(), SCHEMA, epsilon=2, delta=1e-6, mechanism="independent", quality_share=0
    )


def middles(values, high, bins=20):
    """Values as the questions see them: the middles of their bins."""
    edges = np.linspace(0, high, bins + 1)
    places = np.minimum(np.searchsorted(edges, values, side="right") - 1, bins - 1)
    return (edges[places] + edges[places + 1]) / 2


def number(verification, place=0):
    return verification.answers[0]["numbers"][place]


# ---- what is answered


def test_a_mean_lies_within_what_is_stated(synthesis):
    found = number(synthesis.verify(people(), "mean hours", **LOUD))
    assert found["within"] < 0.1
    assert abs(found["real"] - people()["hours"].mean()) < 4 * found["within"]
    assert abs(found["synthetic"] - people()["hours"].mean()) < 0.3


def test_shares_of_a_marginal_lie_within_what_is_stated(synthesis):
    answers = synthesis.verify(people(), "marginal sex, hours", **LOUD).answers[0]["numbers"]
    assert len(answers) == 16
    frame = people()
    for each, (sex, hours) in zip(
        answers, [(sex, hours) for sex in "fm" for hours in range(8)], strict=True
    ):
        assert each["name"] == f"share with sex = {sex}, hours = {hours}"
        true = ((frame["sex"] == sex) & (frame["hours"] == hours)).mean()
        assert abs(each["real"] - true) < 4 * each["within"]


def test_coefficients_are_those_of_least_squares_and_have_a_sign(synthesis):
    verification = synthesis.verify(people(), "regression pay ~ age + hours", **LOUD)
    frame = people()
    age, pay = middles(frame["age"], 99), middles(frame["pay"], 999)
    design = np.column_stack([np.ones(N), age, frame["hours"]])
    expected = np.linalg.lstsq(design, pay, rcond=None)[0][1:]
    for place, (name, true) in enumerate(zip(["age", "hours"], expected, strict=True)):
        found = number(verification, place)
        assert found["name"] == f"coefficient of {name}"
        assert abs(found["real"] - true) < 4 * found["within"] + 0.03 * abs(true)
        assert found["sign"] == "positive"
        # independent columns have lost it, and the answer says so
        assert abs(found["synthetic"]) < abs(true) / 2
    assert "they differ" in verification.lines[0]


def test_what_is_stated_holds_in_95_of_100_answers(synthesis):
    """Of 80 answers below 64 or all would come once in 10^7 and in 60 draws."""
    frame = people()
    true = frame["hours"].mean()
    found = [
        number(synthesis.verify(frame, "mean hours", epsilon=0.5, delta=1e-6)) for _ in range(80)
    ]
    assert sum(abs(each["real"] - true) <= each["within"] for each in found) >= 64
    widths = [each["within"] for each in found]
    errors = [each["real"] - true for each in found]
    # 1.96 standard deviations are stated; the 1e-9 quantiles of a standard deviation of 80
    assert 0.55 < np.std(errors) * 1.96 / np.mean(widths) < 1.55


def test_noise_that_hides_all_is_said(synthesis):
    found = synthesis.verify(people(50), "mean age", epsilon=0.01, delta=1e-6)
    assert (number(found)["real"], number(found)["within"]) == (None, None)
    assert "too noisy to tell" in found.lines[0]


# ---- what is paid


def test_what_is_measured_is_paid_for_and_certified(synthesis):
    certificate = synthesis.verify(
        people(), ["mean age", "regression pay ~ age + hours", "marginal age, pay"], **LOUD
    ).certificate
    events = certificate["events"]
    asked = [("age",), ("pay", "age"), ("pay", "hours"), ("age", "hours"), ("age", "pay")]
    assert [tuple(event["columns"]) for event in events] == asked
    assert {event["sensitivity_l2_squared"] for event in events} == {1}
    accounting = certificate["accounting"]
    assert accounting["rho_left"] == 0
    assert sum(event["rho"] for event in events) == pytest.approx(accounting["rho_budget"])
    assert (certificate["epsilon"], certificate["delta"]) == (5.0, 1e-6)


def test_the_unit_of_the_release_is_kept_to():
    frame = people(600).assign(person=np.arange(600) // 3)
    person = {"unit": "person", "max_rows_per_unit": 3}
    released = synthdp.synthesize(
        frame, SCHEMA, epsilon=2, delta=1e-6, mechanism="independent", **person
    )
    with pytest.raises(ParameterError, match=r"^unit: the release protects persons; name"):
        released.verify(frame, "mean age", **LOUD)
    (event,) = released.verify(frame, "mean age", **LOUD, **person).certificate["events"]
    assert event["sensitivity_l2_squared"] == 9
    replaced = synthdp.synthesize(
        people(), SCHEMA, epsilon=2, delta=1e-6, mechanism="independent", adjacency="replace-one"
    )
    (event,) = replaced.verify(people(), "mean age", **LOUD).certificate["events"]
    assert event["sensitivity_l2_squared"] == 2


def test_a_budget_pays_once_and_refuses_to_be_overspent(synthesis, tmp_path):
    budget = Budget.create(tmp_path / "b", epsilon=2.5, delta=1e-5, population="people")
    journal = tmp_path / "one.journal"
    kept = {"journal": journal, "budget": budget, "epsilon": 2.0, "delta": 1e-6}
    first = synthesis.verify(people(), "mean age", **kept, budget_note="one question")
    with pytest.warns(synthdp.CautionWarning, match="all answers were there"):
        again = synthesis.verify(people(), "mean age", **kept, budget_note="one question")
    assert again.answers == first.answers
    with pytest.raises(PrivacyError, match="budget"):
        synthesis.verify(people(), "mean pay", **kept | {"journal": tmp_path / "two.journal"})
    with pytest.raises((ParameterError, PrivacyError), match="journal"):
        synthesis.verify(people(), "mean pay", **kept)


# ---- what is refused


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("median age", "ask 'marginal sex, income'"),
        ("mean", "ask 'marginal sex, income'"),
        ("mean town", "there is no column 'town'"),
        ("mean sex", "column 'sex' has no numbers"),
        ("marginal age, age", "a column repeats"),
        ("regression pay ~ sex", "column 'sex' has no numbers"),
        ("regression pay", "ask 'marginal sex, income'"),
        ("regression pay ~ pay", "a column repeats"),
        (5, "ask 'marginal sex, income'"),
    ],
)
def test_what_is_no_question_is_refused_before_anything_is_read(synthesis, question, said):
    with pytest.raises(ParameterError, match=said):
        synthesis.verify("nowhere.csv", [question], **LOUD)


def test_a_question_with_too_many_cells_is_refused():
    field = {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 10**6}}
    fields = [field | {"name": name, "synthdp": {"bins": 300}} for name in "ab"]
    schema = synthdp.Schema.from_dict({"fields": fields})
    with pytest.raises(ParameterError, match="cells are more than 65,536"):
        parse_question("marginal a, b", schema)


# ---- in the shell


def test_the_shell_asks_and_writes_what_it_was_answered(synthesis, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("in.csv", index=False)
    synthesis.save("m.synthdp")
    Budget.create("b.budget", epsilon=1.2, delta=1e-5, population="people")
    command = ("verify", "m.synthdp", "in.csv", "--question", "mean age", "--epsilon", "1")
    command += ("--delta", "1e-6", "--budget", "b.budget", "--question", "mean pay")
    outcome = invoke(*command, "-o", "answers.json")
    assert outcome.code == 0, outcome.err
    lines = outcome.out.decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["mean of age", "mean of pay"]
    assert all("with 95 %" in line for line in lines)
    content = json.loads((tmp_path / "answers.json").read_text())
    assert [each["question"] for each in content["answers"]] == ["mean age", "mean pay"]
    assert len(content["certificate"]["events"]) == 2
    assert "beside what the release has spent" in outcome.err
    refused = invoke(*command, "-o", "more.json")
    assert refused.code == 3
    assert not (tmp_path / "more.json").exists()
    assert invoke(*command).code == 2  # where would its answers be kept?
