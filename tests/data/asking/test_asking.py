"""Asking an engine: what it warns of, logs or raises may quote rows, and none of it gets out."""

import logging
import warnings

import pytest

from synthdp.core import SourceError
from synthdp.data import asked

SECRET = "Zacharias-4711"


def warning():
    warnings.warn(SECRET, stacklevel=1)
    return 3


@pytest.mark.parametrize("stop", [None, pytest.fail])
@pytest.mark.parametrize("action", ["always", "default", "error"])
def test_what_an_engine_warns_of_is_neither_shown_nor_an_error(action, stop, capsys):
    """Warnings may be errors to whoever runs us: then one that a value causes would end the run."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)
        assert asked("duckdb", "counting", warning, stop=stop) == 3
    assert told == []
    assert SECRET not in "".join(capsys.readouterr())


def test_warnings_of_others_are_as_they_were_afterwards():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        asked("duckdb", "counting", warning)
        with pytest.raises(SourceError):
            asked("duckdb", "counting", lambda: warning() / 0)
        warnings.warn("of others", stacklevel=1)
    assert [str(each.message) for each in told] == ["of others"]


@pytest.mark.parametrize(
    "kind", [ValueError, ArithmeticError, RuntimeError, BaseException, UserWarning]
)
def test_an_error_is_told_by_its_kind_and_kept_nowhere(kind):
    def failing():
        raise kind(SECRET) from RuntimeError(SECRET)

    with pytest.raises(SourceError) as caught:
        asked("duckdb", "counting", failing)
    error = caught.value
    assert str(error).startswith(f"duckdb: counting failed ({kind.__name__})")
    assert SECRET not in str(error)
    assert (error.__cause__, error.__context__) == (None, None)


@pytest.mark.parametrize("chain", ["cause", "context", "itself", "duckdb"])
def test_what_was_interrupted_is_interrupted_whatever_the_engine_made_of_it(chain):
    def interrupted():
        if chain == "itself":
            raise KeyboardInterrupt(SECRET)
        if chain == "duckdb":
            raise RuntimeError("Query interrupted")
        if chain == "cause":
            raise ValueError(SECRET) from KeyboardInterrupt(SECRET)
        try:
            raise KeyboardInterrupt(SECRET)
        except KeyboardInterrupt:
            raise ValueError(SECRET)  # noqa: B904 - as engines do

    with pytest.raises(KeyboardInterrupt) as caught:
        asked("duckdb", "counting", interrupted)
    if chain != "itself":
        assert (caught.value.args, caught.value.__cause__, caught.value.__context__) == (
            (),
            None,
            None,
        )


def test_logs_of_an_engine_are_silent_while_it_is_asked_and_no_longer(caplog):
    log = logging.getLogger("py4j.java_gateway")
    asked("spark", "counting", lambda: log.warning(SECRET))
    assert SECRET not in caplog.text
    log.warning("of others")
    assert "of others" in caplog.text


def test_an_error_that_is_behind_itself_ends():
    def fails():
        one, other = RuntimeError("one"), RuntimeError("other")
        one.__cause__, other.__cause__ = other, one
        raise one

    with pytest.raises(SourceError, match="failed"):
        asked("duckdb", "counting rows", fails)
