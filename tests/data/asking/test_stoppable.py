"""A question that Ctrl-C stops: what comes out of it, and that nothing is left of it."""

import contextvars
import gc
import os
import signal
import threading
import weakref

import pytest

from synthdp.core import SourceError
from synthdp.data import asked, stoppable

SECRET = "Zacharias-4711"


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


class Engine:
    """One that works until it is told to stop, for ten seconds at most, and says what happened."""

    def __init__(self, *, deaf=0):
        self.begun, self.told, self.deaf = threading.Event(), 0, deaf
        self.stopped = threading.Event()

    def work(self):
        self.begun.set()
        interrupt()
        if self.stopped.wait(10):
            raise ValueError(SECRET)
        return "it was never told to stop"

    def stop(self):
        self.told += 1
        if self.told > self.deaf:
            self.stopped.set()


@pytest.mark.parametrize("deaf", [0, 2])
def test_ctrl_c_stops_a_question_however_often_that_must_be_said(deaf):
    engine = Engine(deaf=deaf)
    with pytest.raises(KeyboardInterrupt):
        asked("duckdb", "counting", engine.work, stop=engine.stop)
    assert engine.told == deaf + 1


def test_a_second_ctrl_c_does_not_leave_a_question_alone():
    engine, ended = Engine(deaf=2), []

    def work():
        try:
            return engine.work()
        finally:
            ended.append(True)

    def stop():
        engine.stop()
        interrupt()

    with pytest.raises(KeyboardInterrupt):
        stoppable(work, stop)
    assert ended == [True]


def test_stopping_that_fails_and_other_signals_change_nothing():
    engine = Engine(deaf=1)

    def stop():
        engine.stop()
        raise OSError(SECRET)

    with pytest.raises(KeyboardInterrupt):
        stoppable(engine.work, stop)
    former = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        asked("duckdb", "counting", lambda: os.kill(os.getpid(), signal.SIGTERM), stop=pytest.fail)
    finally:
        signal.signal(signal.SIGTERM, former)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_ctrl_c_while_the_thread_starts_asks_nothing_or_stops_it(moment, monkeypatch):
    """The thread may not have been started, or may run already when the signal is heard."""
    start, engine = threading.Thread.start, Engine()

    def interrupted(thread):
        if moment == "after":
            start(thread)
            assert engine.begun.wait(10)
        raise KeyboardInterrupt

    def work():
        engine.begun.set()
        assert engine.stopped.wait(10)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stoppable(work, engine.stop)
    assert (engine.begun.is_set(), engine.told) == ((True, 1) if moment == "after" else (False, 0))


def test_elsewhere_than_in_the_main_thread_a_question_is_asked_there():
    asked_in, setting = [], contextvars.ContextVar("setting")
    setting.set(SECRET)
    answer = asked(
        "duckdb", "counting", lambda: (threading.current_thread(), setting.get()), stop=pytest.fail
    )
    assert answer[0] is not threading.main_thread()
    assert answer[1] == SECRET

    def inner():
        asked_in.append(asked("duckdb", "counting", threading.current_thread, stop=pytest.fail))
        return threading.current_thread()

    assert asked("duckdb", "counting", inner, stop=pytest.fail) is asked_in[0]


class Rows:
    """What an engine may hold."""


def test_what_a_question_raises_is_told_by_its_kind_and_leaves_no_rows():
    held = []

    def failing():
        rows = Rows()
        held.append(weakref.ref(rows))
        raise ValueError(rows, SECRET)

    gc.disable()
    try:
        with pytest.raises(SourceError, match=r"counting failed \(ValueError\)") as caught:
            asked("duckdb", "counting", failing, stop=pytest.fail)
        assert held[0]() is None
    finally:
        gc.enable()
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    own = SourceError("of our own")

    def of_our_own():
        raise own

    with pytest.raises(SourceError) as caught:
        asked("duckdb", "counting", of_our_own, stop=pytest.fail)
    assert caught.value is own


def test_warnings_of_a_question_are_not_shown(recwarn):
    import warnings

    asked("duckdb", "counting", lambda: warnings.warn(SECRET, stacklevel=1), stop=pytest.fail)
    assert len(recwarn) == 0
