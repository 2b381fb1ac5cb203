"""The game: what is played, in how many processes, and what becomes of the runs."""

import pickle
from math import inf
from time import monotonic

import numpy as np
import pytest

from synthdp.audit import STATISTICS, Audit, Game, worst_case
from synthdp.audit.audit_text import audit_text
from synthdp.core import ParameterError
from synthdp.privacy import Adjacency

BUDGET = {"epsilon": 1.0, "delta": 1e-2}


def game(*tables, mechanism="independent", max_rows=None, **settings):
    return Game(
        mechanism=mechanism, pair=worst_case(*tables, max_rows=max_rows), **BUDGET | settings
    )


def gaussian_batches(mu, leak=0.0):
    """What `Game.batches` would yield: the first statistic moves by mu, the last one tells for
    sure.
    """

    def batches(_game, n_runs, until=inf, **_):
        rng = np.random.default_rng(0)
        for _ in range(0, n_runs, 20):
            batch = rng.normal(0, 1, (2, 20, len(STATISTICS)))
            batch[1, :, 0] += mu
            batch[:, :, -1] = np.array([[0.0], [leak]])
            yield batch
            if monotonic() > until:
                return

    return batches


@pytest.mark.parametrize(
    ("tables", "max_rows"),
    [
        (("declared",), None),
        (("declared", Adjacency.REPLACE_ONE), None),
        (("derived",), None),
        (("derived",), 3),
    ],
)
def test_a_run_gives_its_statistics(tables, max_rows):
    played = game(*tables, max_rows=max_rows)
    batch = played.batch(2)
    assert batch.shape == (2, 2, len(STATISTICS))
    assert np.isfinite(batch).all()
    again = pickle.loads(
        pickle.dumps(played)
    )  # as a worker process gets it, though tables were held
    assert again.batch(1).shape == (2, 1, len(STATISTICS))


def test_the_ratio_of_a_person_with_large_epsilon_tells_the_tables_apart():
    ratios = game("declared", max_rows=4, epsilon=300.0).batch(3)[:, :, 0]  # ten deviations from 0
    assert (ratios[0] < 0).all()
    assert (ratios[1] > 0).all()


def test_all_runs_are_played_in_several_processes():
    audit = Audit(game())
    steps = []
    audit.play(41, processes=2, report=lambda *step: steps.append(step))
    assert (steps[0], steps[-1]) == (("playing", 0, 41), ("playing", 41, 41))
    found = audit.result()
    assert (found.n_runs, found.n_counted, found.is_kept) == (41, 21, True)


def test_time_ends_the_game(monkeypatch):
    monkeypatch.setattr(Game, "batches", gaussian_batches(0.5))
    audit = Audit(game())
    audit.play(10_000, seconds=1e-9)
    assert audit.n_runs == 20
    with pytest.raises(ParameterError, match="only 20 runs"):
        audit.result()
    audit.play(40)  # on top
    assert audit.result().n_runs == 60


def test_time_that_was_over_before_leaves_the_first_runs():
    audit = Audit(game())
    audit.play(10_000, seconds=1.0, since=monotonic() - 9)
    assert audit.n_runs == 20


@pytest.mark.slow
def test_runs_under_way_when_time_ends_are_counted():
    audit = Audit(game())
    audit.play(10_000, seconds=1e-3, processes=2)
    assert audit.n_runs == 40


def test_a_claim_that_is_kept(monkeypatch):
    monkeypatch.setattr(Game, "batches", gaussian_batches(0.5325))
    audit = Audit(game(accounting="gdp"))
    audit.play(10_000)
    found = audit.result()
    assert found.is_kept
    assert found.mu.is_claimed
    assert found.mu.claim == found.equivalent_mu == pytest.approx(0.5325, abs=1e-4)
    assert 0.43 < found.mu.lower < found.mu.claim
    assert found.mu.best == pytest.approx(found.mu.lower, abs=0.06)
    assert found.mu.half_noise > 0.9
    assert "Nothing contradicts the guarantee." in audit_text(found)


@pytest.mark.parametrize(("mu", "leak", "what"), [(1.065, 0.0, "mu"), (0.5, 1.0, "epsilon")])
def test_a_claim_that_is_not_kept(mu, leak, what, monkeypatch):
    monkeypatch.setattr(Game, "batches", gaussian_batches(mu, leak))
    audit = Audit(game(accounting="gdp"))
    audit.play(4000)
    found = audit.result()
    assert not found.is_kept
    assert not found.to_dict()["guarantee_kept"]
    assert "FAILED: mu is at least" in audit_text(found)
    assert what == "mu" or "epsilon is at least" in audit_text(found)


def test_mu_is_a_claim_only_where_all_noise_is_gaussian(monkeypatch):
    monkeypatch.setattr(Game, "batches", gaussian_batches(0.6))
    claimed = {}
    for name, domain in (
        ("independent", "declared"),
        ("mst", "declared"),
        ("independent", "derived"),
    ):
        audit = Audit(game(domain, mechanism=name))
        audit.play(2000)
        claimed[name, domain] = audit.result().mu.is_claimed
    assert list(claimed.values()) == [True, False, False]


def test_few_runs_are_said_to_prove_nothing(monkeypatch):
    monkeypatch.setattr(Game, "batches", gaussian_batches(0.5))
    audit = Audit(game())
    audit.play(60)
    assert "so few releases would not have shown noise of half the scale" in audit_text(
        audit.result()
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_runs": 39}, "runs is 39"),
        ({"n_runs": 10**8}, "runs is 100000000"),
        ({"n_runs": 40, "processes": 0}, "processes is 0"),
        ({"n_runs": 40, "seconds": 0.0}, "seconds is 0"),
        ({"n_runs": 40, "seconds": float("nan")}, "seconds is nan"),
    ],
)
def test_numbers_out_of_range_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        Audit(game()).play(**settings)


@pytest.mark.parametrize("confidence", [0, 1, float("nan")])
def test_a_confidence_out_of_range_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence is"):
        Audit(game(), confidence=confidence)


def test_settings_of_a_release_are_checked_before_the_game():
    for settings in (
        {"epsilon": 0.0},
        {"delta": 1.0},
        {"mechanism": "nobody"},
        {"mechanism": "mst", "accounting": "gdp"},
    ):
        with pytest.raises(ParameterError):
            Audit(game(**settings))
