"""What a run logs: its charges as they are made and its stages, and nothing that depends on
records.
"""

import logging
import re

import pandas as pd
import pytest
from helpers.cli_runs import CANARY

import synthdp
from synthdp.core import event_in_words
from synthdp.schema import OpenSchema

LEVELS = {"constraints": {"enum": ["x", "y"], "required": True}, "synthdp": {"other": "y"}}
KNOWN = {
    "fields": [
        {"name": "a", "type": "string"} | LEVELS,
        {
            "name": "b",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 9, "required": True},
        },
    ]
}
OPEN = OpenSchema.from_kinds({"a": "categorical", "b": "integer"})
TABLES = {
    "many": pd.DataFrame({"a": ["x", "y"] * 3000, "b": [1, 2, 3] * 2000}),
    "odd": pd.DataFrame({"a": [CANARY] * 7, "b": ["7731-Z"] * 7}),
    "none": pd.DataFrame({"a": [], "b": []}, dtype=object),
}


def logged(caplog, frame, schema, **more):
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="synthdp"):
        synthesis = synthdp.synthesize(frame, schema, epsilon=1, delta=1e-6, **more)
    return synthesis, [(record.levelname, record.getMessage()) for record in caplog.records]


def in_words(event):
    what, noise = event_in_words(event)
    return f"charged {event['event']} {what}: {noise}, rho {event['rho']:.4g}"


@pytest.mark.parametrize("mechanism", ["independent", "gaussian"])
def test_where_nothing_is_chosen_any_two_tables_have_the_same_log(mechanism, caplog):
    runs = [logged(caplog, frame, KNOWN, mechanism=mechanism)[1] for frame in TABLES.values()]
    charges_and_stages = [[text for level, text in run if level == "INFO"] for run in runs]
    assert charges_and_stages[0] == charges_and_stages[1] == charges_and_stages[2]
    assert len(charges_and_stages[0]) > 3


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("schema", [KNOWN, OPEN], ids=["declared", "open"])
def test_the_log_tells_no_more_than_the_certificate(schema, name, caplog):
    """Charges are its events; all else are stages and steps, in words that are the same for every
    table.
    """
    synthesis, lines = logged(caplog, TABLES[name], schema)
    loud = [text for level, text in lines if level == "INFO"]
    charges = [text for text in loud if text.startswith("charged ")]
    events = synthesis.certificate["events"]
    assert [text.split("; ")[0] for text in charges] == [in_words(event) for event in events]
    spent = (
        sum(event["rho"] for event in events) / synthesis.certificate["accounting"]["rho_budget"]
    )
    assert float(charges[-1].split("; ")[1].split(" %")[0]) == pytest.approx(100 * spent, rel=1e-3)
    stages = "|".join(
        [
            "learning the domain",
            "learning more levels",
            "selecting and measuring",
            "fitting the model",
            "fitting",
        ]
    )
    begin = "release by auto: epsilon 1.0, delta 1e-06"
    rest = [text for _, text in lines if text not in charges]
    assert rest[0] == begin
    assert [
        text for text in rest[1:] if not re.fullmatch(rf"({stages})(: \d+ of \d+)?", text)
    ] == []
    assert CANARY not in str(lines)
    assert "7731" not in str(lines)


def test_noise_of_what_is_learnt_of_persons_is_said_in_records(caplog):
    """Levels that share the weight of a person are counted in units of it."""
    frame = pd.DataFrame({"who": range(300), "town": ["here", "there"] * 150})
    whose = {"unit": "who", "max_rows_per_unit": 3}
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="synthdp"):
        found = synthdp.synthesize(
            frame, kinds={"town": "string"}, epsilon=5, delta=1e-6, mechanism="independent", **whose
        )
    (event,) = (e for e in found.certificate["events"] if e["event"] == "partition selection")
    weight = event["units_of_weight"]
    (said,) = (r.getMessage() for r in caplog.records if "partition selection" in r.getMessage())
    assert weight > 1
    assert (
        f"sigma {event['sigma'] / weight:.4g}, threshold {event['threshold'] / weight:.1f}" in said
    )
