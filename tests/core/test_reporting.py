"""The log: who hears it, how loud, and that a broken handler harms nothing."""

import io
import logging
import sys

import pytest
from helpers.homes import home
from helpers.tables import private

from synthdp.core import (
    FITTING,
    LOGGER,
    BudgetExceededError,
    NotebookLine,
    finishing,
    in_notebook,
    log,
    logged,
    silent,
    steps,
)
from synthdp.privacy import PrivateTable, Queryable


class Broken(logging.Handler):
    def emit(self, record):
        raise OSError(f"the disk is full: {record.getMessage()}")


@pytest.fixture
def broken():
    handler = Broken()
    LOGGER.addHandler(handler)
    before, LOGGER.level = LOGGER.level, logging.DEBUG
    yield
    LOGGER.level = before
    LOGGER.removeHandler(handler)


def test_nobody_is_bothered_who_does_not_listen(capfd):
    assert any(
        isinstance(handler, logging.NullHandler)
        for handler in logging.getLogger("synthdp").handlers
    )
    log(logging.ERROR, "nothing %s", "at all")
    assert capfd.readouterr() == ("", "")


def test_a_stage_is_loud_and_its_steps_are_not(caplog):
    heard = []
    with caplog.at_level(logging.DEBUG, logger="synthdp"):
        report = logged(lambda *told: heard.append(told))
        for told in [("fitting", 0, 2), ("fitting", 1, 2), ("drawing", 0, 1)]:
            report(*told)
    assert heard == [("fitting", 0, 2), ("fitting", 1, 2), ("drawing", 0, 1)]
    loud = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    steps = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert loud == ["fitting", "drawing"]
    assert steps == ["fitting: 0 of 2", "fitting: 1 of 2", "drawing: 0 of 1"]
    assert {record.funcName for record in caplog.records} == {"logged_step"}


def test_a_charge_is_logged_when_it_is_made_and_before_anything_is_asked(caplog, monkeypatch):
    table = private()
    monkeypatch.setattr(PrivateTable, "_counts", lambda *_: pytest.fail("asked"))
    budget = table.ledger.budget
    with caplog.at_level(logging.INFO, logger="synthdp"), pytest.raises(pytest.fail.Exception):
        table.measure(("a", "c"), rho=budget / 8)
    (record,) = caplog.records
    (event,) = table.ledger.events
    costs = f"sigma {event.sigma_squared**0.5:.4g}, rho {float(event.rho):.4g}"
    assert record.getMessage() == f"charged marginal a x c: {costs}; 12.5 % of the budget is spent"


def test_what_is_refused_is_not_logged_as_charged(caplog):
    table = private()
    with caplog.at_level(logging.DEBUG, logger="synthdp"), pytest.raises(BudgetExceededError):
        table.measure(("a",), rho=2 * table.ledger.budget)
    assert caplog.records == []


@pytest.mark.usefixtures("broken")
def test_a_handler_that_raises_neither_loses_what_was_paid_for_nor_lets_spend_more():
    table = private()
    half = table.ledger.budget / 2
    table.measure(("a",), rho=half)
    table.measure(("b",), rho=half)
    assert (len(table.released), table.ledger.remaining) == (2, 0)
    with pytest.raises(BudgetExceededError):
        table.measure(("a",), rho=half)
    logged(silent)("fitting", 0, 1)


def test_a_handler_sees_a_ledger_that_has_paid(monkeypatch):
    seen = []
    table = private()
    own = table.ledger
    monkeypatch.setattr(
        home(Queryable),
        "log_charge",
        lambda *_, **__: seen.append((own.spent, len(own.events))),
    )
    table.measure(("a",), rho=own.budget / 4)
    assert seen == [(own.budget / 4, 1)]


def test_notebooks_show_what_is_going_on_where_nobody_else_listens(monkeypatch):
    def listening(*_):
        """Somebody's own."""

    assert in_notebook(silent) is silent
    monkeypatch.setitem(sys.modules, "ipykernel", io)
    monkeypatch.setattr(sys, "stdout", stream := io.StringIO())
    assert in_notebook(listening) is listening
    report = in_notebook(silent)
    for told in [("fitting", 0, 20), ("fitting", 1, 20), ("drawing", 0, 1)]:
        report(*told)
    assert stream.getvalue() == "\rfitting: 0 of 20\rdrawing         "


def test_a_closed_notebook_ends_no_run():
    stream = io.StringIO()
    stream.close()
    NotebookLine(stream)("fitting", 0, 1)


def test_every_stage_ends_at_all_of_its_steps_when_another_begins_or_all_is_done():
    told = []
    with finishing(lambda *each: told.append(each)) as report:
        for each in [
            ("measuring", 0, 3),
            ("measuring", 1, 3),
            ("selecting", 0, 100),
            (FITTING, 4, 9),
            (FITTING, 2, 9),
        ]:
            report(*each)
        report("selecting", 40, 100)
    assert told == [
        ("measuring", 0, 3),
        ("measuring", 1, 3),
        ("measuring", 3, 3),
        ("selecting", 0, 100),
        (FITTING, 4, 9),
        (FITTING, 9, 9),
        (FITTING, 2, 9),
        (FITTING, 9, 9),
        ("selecting", 40, 100),
        ("selecting", 100, 100),
    ]


def test_a_stage_that_fails_does_not_end():
    told = []

    def fail():
        with finishing(lambda *each: told.append(each)) as report:
            for number in steps(report, "counting", [1, 0]):
                1 / number

    with pytest.raises(ZeroDivisionError):
        fail()
    assert told == [("counting", 0, 2), ("counting", 1, 2)]
    assert list(steps(lambda *_: pytest.fail("there is no step"), "counting", [])) == []
