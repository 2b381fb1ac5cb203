"""Runs with a journal that are stopped after some answers, and what the journal then holds."""

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from synthdp.release import Journal

FIELDS = [
    {
        "name": name,
        "type": "string",
        "constraints": {"enum": list("abc")[:n], "required": True},
        "synthdp": {"other": "rest"},
    }
    for name, n in (("u", 1), ("v", 2), ("w", 1))
]
"""With a level for all others no value is unread, so that no run looks at columns first."""
SCHEMA = {"fields": FIELDS}
KINDS = {"u": "categorical", "v": "categorical", "w": "categorical", "x": "number", "d": "date"}
RUN = {"epsilon": 1.0, "delta": 1e-6, "engine": "graphical-model"}


class StopError(BaseException):
    """A process that is killed runs no handler; this comes as near to it as an exception can."""


def frame(n_rows=200):
    generator = np.random.default_rng(5)
    codes = {name: generator.integers(0, n, n_rows) for name, n in (("u", 2), ("v", 3), ("w", 2))}
    table = pd.DataFrame({name: np.array(list("abc"))[column] for name, column in codes.items()})
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n_rows) % 365, unit="D")
    return table.assign(x=np.arange(n_rows) / 7, d=days.strftime("%Y-%m-%d"))


def stops(run, n_answers):
    """Stop a run after so many new answers were kept, before anybody sees the last; whether it asks
    for as many.
    """
    keep, made = Journal.keep, []

    def stopping(self, question, answer):
        keep(self, question, answer)
        made.append(question)
        if len(made) == n_answers:
            raise StopError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "keep", stopping)
        with suppress(StopError):
            run()
            return False
    return True


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def entries(path):
    """All lines but the header, without their hashes."""
    return [json.loads(line)["entry"] for line in lines(path)[1:]]


def answers(path):
    """All but the hash, the header, and what is noted beside: what was learnt, when the run went
    on, its end.
    """
    return [
        entry
        for entry in entries(path)
        if not {"learnt", "workload", "ended", "resumed", "budget", "look", "views"} & entry.keys()
    ]


def of_the_release(certificate):
    """A certificate without the hash, and without what is true of the call: that all of it came
    from a journal.
    """
    run = {name: value for name, value in certificate["run"].items() if name != "replayed"}
    return {name: value for name, value in certificate.items() if name != "sha256"} | {"run": run}
