"""Neighbouring tables with one odd record more, and what must be the same of runs on both."""

import numpy as np
import pandas as pd
import pytest
from helpers.flows import Frozen, about_values, json_of, moved_squared, replayed, run_of, word_for

from synthdp.privacy import HistogramEvent, PartitionEvent

KINDS = {
    "town": "string",
    "age": "integer",
    "price": "number",
    "born": "date",
    "seen": "datetime",
    "since": "year",
    "smokes": "boolean",
    "income": {
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 1000},
        "synthdp": {"bins": 5},
    },
    "moved": {"type": "date", "format": "%d.%m.%y", "synthdp": {"resolution": "month"}},
    "rank": {"type": "integer", "synthdp": {"binning": "equal-width", "bins": 4}},
    "job": {"type": "string", "constraints": {"enum": ["x", "y"]}},
}
N_ROWS = 80


def usual_rows(n_rows=N_ROWS, seed=5):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D")
    columns = {
        "town": rng.choice(["A", "B", "C"], n_rows, p=[0.7, 0.2, 0.1]),
        "age": rng.integers(18, 90, n_rows),
        "price": np.round(rng.lognormal(3, 1, n_rows), 2),
        "born": days.strftime("%Y-%m-%d"),
        "seen": days.strftime("%Y-%m-%dT%H:%M:%S"),
        "since": rng.integers(1990, 2020, n_rows),
        "smokes": rng.choice(["true", "false"], n_rows),
        "income": np.round(rng.uniform(0, 1000, n_rows), 1),
        "moved": days.strftime("%d.%m.%y"),
        "rank": rng.integers(1, 9, n_rows),
        "job": rng.choice(["x", "y"], n_rows),
    }
    return pd.DataFrame(
        {name: pd.Series(list(map(str, values)), dtype=object) for name, values in columns.items()}
    )


USUAL = usual_rows()
ODD = [
    {"town": "the only one of its kind"},
    {"town": "id-8f3a-11ee-be56"},
    {"town": "A\0B"},
    {"town": "\ud800 alone"},
    {"town": "z" * 10_000},
    {"town": "é\u202e\ufeff"},
    {
        "town": "",
        "age": "",
        "price": "",
        "born": "",
        "seen": "",
        "since": "",
        "smokes": "",
        "income": "",
        "moved": "",
    },
    {"age": "many"},
    {"age": str(10**30)},
    {"age": "-9007199254740993"},
    {"age": "3.5", "rank": "1e9", "since": "20200"},
    {"price": "1e300", "income": "1e300"},
    {"price": "-1e18", "income": "-1e18"},
    {"price": "inf", "income": "-inf", "age": "inf"},
    {"price": "nan", "income": "NaN"},
    {"price": "1.23456789", "income": "0.123456789"},
    {"price": "5e-324", "income": "5e-324"},
    {"price": "0.1234567890123456", "income": "1e-17"},
    {"price": "1" * 400},
    {"born": "0001-01-01", "seen": "0001-01-01T00:00:00", "moved": "01.01.69"},
    {"born": "9999-12-31", "seen": "9999-12-31T23:59:59.999999", "moved": "31.12.68"},
    {"born": "no date", "seen": "2020-13-45T99:00:00", "moved": "31.02.20"},
    {"smokes": "maybe", "job": "spy"},
    {"smokes": "", "job": ""},
]
NAMES = [" ".join(f"{column}={value[:20]!r}" for column, value in odd.items())[:60] for odd in ODD]
QUIET = [
    {"words": (word_for(0),)},
    {"words": (word_for(0.05),)},
    {"words": (word_for(-0.05),)},
    {"words": tuple(map(word_for, (0.02, -0.02, 0, -0.01, 0.01)))},
]
"""Noise that looks like no records, so that nothing is found at all."""
each_odd = pytest.mark.parametrize("odd", ODD, ids=NAMES)
BUDGET = {"epsilon": 0.1, "accounting": "gdp"}


def with_row(frame, odd):
    """The table and one record more, which comes first: it may decide what order or type is guessed
    from.
    """
    usual = {
        name: frame[name].iloc[0] if len(frame) else USUAL[name].iloc[0] for name in frame.columns
    }
    return pd.concat([pd.DataFrame([usual | odd], dtype=object), frame], ignore_index=True).astype(
        object
    )


def assert_same(one, other):
    assert json_of(one.visible) == json_of(other.visible)
    assert one.questions == other.questions
    assert not one.error


def runs_of(frames, kinds=KINDS, *, frozen, **settings):
    return [
        run_of(frame, kinds, randomness=Frozen(**frozen), **BUDGET | settings) for frame in frames
    ]


def assert_same_domain(one, other):
    """The same was learnt in the same way; which marginals follow may depend on noisy counts."""
    for seen in ("schema", "dtypes"):
        assert json_of(getattr(one, seen)) == json_of(getattr(other, seen))
    assert json_of(about_domain(one.events)) == json_of(about_domain(other.events))
    assert [answer[:3] for answer in about_values(one.answers)] == [
        answer[:3] for answer in about_values(other.answers)
    ]
    assert not one.error + other.error


def about_domain(events):
    return [
        event.to_dict() for event in events if isinstance(event, HistogramEvent | PartitionEvent)
    ]


PERSONS = {"unit": "person", "max_rows": 4}


def with_persons(frame, persons):
    return frame.assign(person=pd.Series(persons, index=frame.index, dtype=object))


def neighbours_by_person(n_rows, odd):
    """A table of persons, and one with all rows of a further person among the others."""
    table = with_persons(USUAL, [f"p{number % 30}" for number in range(N_ROWS)])
    more = with_persons(
        pd.concat([USUAL[:1].assign(**odd)] * n_rows, ignore_index=True), ["new"] * n_rows
    )
    middle = N_ROWS // 2
    return table, pd.concat([table[:middle], more, table[middle:]], ignore_index=True).astype(
        object
    )


LOUD = {"epsilon": 5.0, "delta": 1e-6}
LARGE = usual_rows(600)
RICH = KINDS | {
    "age": {"type": "integer", "constraints": {"minimum": 0, "maximum": 110}},
    "price": {
        "type": "number",
        "constraints": {"required": True},
        "synthdp": {"bins": 9, "binning": "quantiles"},
    },
    "born": {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2022-12-31"}},
}


def answers_to_a_run(kinds, frame, **unit):
    """Exact answers about values to what a run really asks."""
    learnt = run_of(frame, kinds, randomness=Frozen(4), **LOUD, **unit)
    assert not learnt.error
    return about_values(learnt.answers)


def moves(kinds, frame, neighbour, limit, *, answers=None, **unit):
    """Questions whose exact answers move by more than the limit, squared; ``answers`` are those of
    the frame.
    """
    answers = answers_to_a_run(kinds, frame, **unit) if answers is None else answers
    answers_ = replayed(neighbour, kinds, [answer[:3] for answer in answers], **unit)
    pairs = zip(answers, answers_, strict=True)
    return [(one[0], one[1].column) for one, other in pairs if moved_squared(one, other) > limit]
