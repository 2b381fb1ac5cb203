"""``synthdp audit``: what it prints, when it fails, and how it ends early."""

import json
from math import inf
from time import monotonic

import numpy as np
import pytest
from helpers.cli_runs import assert_one_line, invoke, with_others

from synthdp.audit import STATISTICS, Audit, Game

QUICK = ("--mechanism", "independent", "--runs", "40", "--processes", "1")


def batches_of(mu, *, stop_after=None):
    def batches(_game, n_runs, until=inf, **_):
        rng = np.random.default_rng(0)
        for number in range(n_runs // 20):
            if number == stop_after:
                raise KeyboardInterrupt
            batch = rng.normal(0, 1, (2, 20, len(STATISTICS)))
            batch[1, :, 0] += mu
            yield batch
            if monotonic() > until:
                return

    return batches


def test_it_plays_and_says_what_it_found():
    outcome = invoke("audit", *QUICK, "--accounting", "gdp")
    text = outcome.out.decode()
    assert (outcome.code, outcome.err) == (0, "")
    assert text.startswith("Audit of independent: (1, 0.01)-differential privacy by gdp.")
    assert "40 releases of each" in text
    assert " 0.533\n" in text


@pytest.mark.slow
def test_json_holds_the_same():
    outcome = invoke("audit", *QUICK, "--adjacency", "replace-one", "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0
    assert (found["complete"], found["guarantee_kept"], found["n_runs"]) == (True, True, 40)
    assert found["tables"] == "declared domain, replace-one"
    assert found["mu"]["is_claimed"]


def test_a_broken_guarantee_is_exit_code_3(monkeypatch):
    monkeypatch.setattr(Game, "batches", batches_of(2.0))
    outcome = invoke("audit", "--mechanism", "independent")
    assert "FAILED" in outcome.out.decode()
    assert_one_line(outcome, 3)
    assert "audit of independent: mu is at least 1." in outcome.err


def test_ctrl_c_says_what_was_found_until_then(monkeypatch):
    monkeypatch.setattr(Game, "batches", batches_of(0.5, stop_after=10))
    outcome = invoke("audit", "--mechanism", "independent", "--json")
    assert_one_line(outcome, 130)
    found = json.loads(outcome.out)
    assert (found["complete"], found["n_runs"]) == (False, 200)


def test_ctrl_c_before_there_is_anything_says_only_that(monkeypatch):
    monkeypatch.setattr(Game, "batches", batches_of(0.5, stop_after=1))
    outcome = invoke("audit", "--mechanism", "independent")
    assert_one_line(outcome, 130)
    assert outcome.out == b""


def test_time_counts_from_the_start_of_the_command(monkeypatch):
    asked = []
    monkeypatch.setattr(
        Audit, "play", lambda _audit, _n_runs, **how: asked.append((how["since"], monotonic()))
    )
    before = monotonic()
    invoke("audit", "--mechanism", "independent", "--seconds", "5")
    ((since, played),) = asked
    assert before <= since < played


def test_too_little_time_says_so(monkeypatch):
    monkeypatch.setattr(Game, "batches", batches_of(0.5))
    outcome = invoke("audit", "--mechanism", "independent", "--seconds", "1e-9")
    assert_one_line(outcome, 2)
    assert "only 20 runs on each table are done; 40 are the least: give more seconds" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mechanism", "nobody"), "mechanism 'nobody' is unknown"),
        (("--epsilon", "-1"), "epsilon is -1"),
        (("--delta", "1"), "delta is 1"),
        (("--runs", "5"), "runs is 5"),
        (("--processes", "0"), "processes is 0"),
        (("--seconds", "-1"), "seconds is -1"),
        (("--confidence", "1"), "confidence is 1"),
        (("--domain", "guessed"), "domain is 'guessed'"),
        (("--adjacency", "far"), "adjacency is 'far'"),
        (("--adjacency", "replace-one", "--max-rows-per-unit", "2"), "replace-one"),
        (("--max-rows-per-unit", "0"), "max_rows_per_unit is 0"),
        (("--engine", "steam"), "engine 'steam' is unknown"),
        (("--mechanism", "mst", "--accounting", "gdp"), "accounting is 'gdp'"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    outcome = invoke(
        *with_others(("audit", *(QUICK if "--mechanism" not in arguments else ())), *arguments)
    )
    assert_one_line(outcome, 2)
    assert message in outcome.err
