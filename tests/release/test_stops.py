"""Runs that stop early because of what noisy counts say of their input: declared columns of which
nothing can be read.
"""

import numpy as np
import pandas as pd
import pytest
from helpers.fields import ranged

import synthdp
from synthdp.core import UnreadColumnError
from synthdp.release import MECHANISMS

N_ROWS = 3000
RUN = {"epsilon": 4.0, "delta": 1e-6}
DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N_ROWS) % 360, "D")

TOWN = {"name": "town", "type": "string", "constraints": {"enum": ["A", "B"], "required": True}}
PAY = ranged("pay", 0, 9, kind="number", bins=8)
READ = {"town": np.resize(["A", "B"], N_ROWS), "pay": np.resize(["1.5", "7", "0.2"], N_ROWS)}
DAY = {
    "type": "date",
    "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
    "synthdp": {"bins": 12},
}
REQUIRED = DAY | {"constraints": DAY["constraints"] | {"required": True}}
TEXTS = DAYS.strftime("%d.%m.%Y").to_numpy(dtype=object)
UNREAD = {
    "a required date": (REQUIRED, TEXTS),
    "a date": (DAY, TEXTS),
    "a date with gaps": (DAY, np.where(np.arange(N_ROWS) % 2, TEXTS, "")),
    "a date with parts": (
        DAY | {"synthdp": {"bins": 12, "parts": ["weekday"]}},
        TEXTS,
    ),
    "levels in capitals": (
        {"type": "string", "constraints": {"enum": ["dead", "alive"], "required": True}},
        np.resize(["DEAD", "ALIVE"], N_ROWS),
    ),
    "decimal commas": (
        {"type": "number", "constraints": {"minimum": 0, "maximum": 99}, "synthdp": {"bins": 40}},
        np.resize(["1,5", "70,25"], N_ROWS),
    ),
    "other truth values": (
        {"type": "boolean", "constraints": {"required": True}},
        np.resize(["ja", "nein"], N_ROWS),
    ),
}
FINE = {
    "most are read": (REQUIRED, np.where(np.arange(N_ROWS) % 3, DAYS.strftime("%Y-%m-%d"), TEXTS)),
    "half of them": (DAY, np.where(np.arange(N_ROWS) % 2, DAYS.strftime("%Y-%m-%d"), TEXTS)),
    "nothing is there": (DAY, np.full(N_ROWS, "")),
    "nearly all is missing": (
        DAY,
        np.where(np.arange(N_ROWS) % 50, "", DAYS.strftime("%Y-%m-%d")),
    ),
    "all others": (
        {
            "type": "string",
            "constraints": {"enum": ["x"], "required": True},
            "synthdp": {"other": "rest"},
        },
        TEXTS,
    ),
}

pytestmark = pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)


def release(field, values, *, order=("day", "town", "pay"), **more):
    fields = {"day": {"name": "day"} | field, "town": TOWN, "pay": PAY}
    frame = pd.DataFrame(READ | {"day": values}, dtype=object)[list(order)]
    return synthdp.synthesize(frame, {"fields": [fields[name] for name in order]}, **RUN | more)


def stopped(*args, **more):
    """The error of a run that stops, and which share of its budget it says that it spent."""
    with pytest.raises(UnreadColumnError) as caught:
        release(*args, **more)
    text = str(caught.value)
    return text, float(text.partition("the run stopped when ")[2].split()[0]) / 100


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
@pytest.mark.parametrize("place", [0, 2])
def test_every_mechanism_stops_before_the_larger_part_is_spent(mechanism, place):
    """Wherever the column stands: all of the budget went on a column after the other."""
    order = ["town", "pay"]
    order.insert(place, "day")
    text, spent = stopped(*UNREAD["a required date"], mechanism=mechanism, order=order)
    assert text.startswith("column 'day': about ")
    assert "'town'" not in text
    assert "format" in text
    assert "anyway=True (--anyway)" in text
    assert 0 < spent <= 0.5


@pytest.mark.parametrize("mechanism", ["auto", "independent"])
@pytest.mark.parametrize("case", UNREAD)
def test_a_run_stops_whatever_is_not_read(case, mechanism):
    text, spent = stopped(*UNREAD[case], mechanism=mechanism)
    assert text.count("column '") == 1
    assert spent < 0.2


@pytest.mark.parametrize("mechanism", ["mst", "independent"])
@pytest.mark.parametrize("case", FINE)
def test_no_run_stops_where_a_column_is_read_missing_or_other(case, mechanism):
    assert release(*FINE[case], mechanism=mechanism).can_sample


def test_all_columns_that_are_not_read_are_said_at_once():
    fields = [{"name": "day"} | REQUIRED, {"name": "until"} | REQUIRED, TOWN]
    frame = pd.DataFrame({"day": TEXTS, "until": TEXTS, "town": READ["town"]})
    for mechanism in ("auto", "gaussian"):
        with pytest.raises(UnreadColumnError, match=r"(?s)'day'.*'until'"):
            synthdp.synthesize(frame, {"fields": fields}, mechanism=mechanism, **RUN)


def test_a_run_that_is_right_pays_a_hundredth_for_that_at_most():
    """Nothing, where single columns come first; and a look is no measurement of the release."""
    for mechanism, share in (("auto", 0.0), ("mst", 0.0), ("independent", 0.01), ("mwem", 0.01)):
        found = release(REQUIRED, DAYS.strftime("%Y-%m-%d"), mechanism=mechanism)
        asked = found.certificate["events"]
        looks = [each for each in asked if each.get("rho") and "marginal" in each["event"]]
        looks = looks[: max(len(looks) - len(found.measurements), 0)]
        budget = found.certificate["accounting"]["rho_spent"]
        assert sum(each["rho"] for each in looks) <= 1.0001 * share * budget
        assert bool(looks) == bool(share)


def test_a_run_that_was_rescued_is_what_the_run_is_looks_and_all(tmp_path):
    path = tmp_path / "run.journal"
    found = release(
        DAY, DAYS.strftime("%Y-%m-%d"), mechanism="independent", journal=path, quality_share=0
    )
    rescued = synthdp.from_journal(path)
    assert len(rescued.measurements) == 3
    for one, other in zip(found.measurements, rescued.measurements, strict=True):
        assert one.values.tolist() == other.values.tolist()
    spent = [each.certificate["accounting"]["rho_spent"] for each in (found, rescued)]
    assert spent[0] == spent[1]


def test_what_was_paid_for_before_it_stopped_can_be_used():
    kept = []
    stopped(*UNREAD["a date"], mechanism="mst", rescue=kept.append)
    assert {each.clique for each in kept[0].measurements} == {("day",), ("town",), ("pay",)}


@pytest.mark.parametrize("mechanism", ["auto", "independent"])
def test_a_stopped_run_goes_on_anyway_and_pays_nothing_twice(mechanism, tmp_path):
    run = {"mechanism": mechanism, "journal": tmp_path / "run.journal"}
    stopped(*UNREAD["a date"], **run)
    before = (tmp_path / "run.journal").read_bytes()
    found = release(*UNREAD["a date"], anyway=True, **run)
    assert (tmp_path / "run.journal").read_bytes().startswith(before)
    assert found.certificate["accounting"]["rho_spent"] <= found.certificate["accounting"].get(
        "rho_budget", np.inf
    )
