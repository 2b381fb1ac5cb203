"""The game, played: sound mechanisms keep their claims and come near them, and broken kernels are
found.

With a confidence of 1 - 1e-9 a sound mechanism fails less than once in 1e9 runs; the budget is so
large that few runs tell. What a game cannot see is left to the deterministic audit:
`test_check_mechanism`.
"""

import pytest
from helpers import broken_kernels as broken

from synthdp.audit import Audit, Game, worst_case
from synthdp.privacy import Adjacency

pytestmark = pytest.mark.slow
EPSILON, DELTA, CONFIDENCE = 4.0, 1e-2, 1 - 1e-9
N_RUNS, FEW = 1000, 300
"""Runs that tell half the noise, and those that tell what needs no noise to be told."""
NEAR = 0.5
"""So much of mu a game finds at least: nine tenths at best, and so many runs tell it to about a
fifteenth.
"""
REPLACED = ("declared", Adjacency.REPLACE_ONE)
GDP = {"accounting": "gdp"}


def played(name, tables=(), n_runs=N_RUNS, epsilon=EPSILON, **settings):
    game = Game(mechanism=name, epsilon=epsilon, delta=DELTA, pair=worst_case(*tables), **settings)
    audit = Audit(game, confidence=CONFIDENCE)
    audit.play(n_runs)
    return audit.result()


@pytest.mark.parametrize(
    ("name", "tables", "settings"),
    [
        ("independent", (), GDP),
        ("independent", REPLACED, GDP),
        ("independent", ("derived",), {}),
        ("auto", (), {}),
        ("auto", ("derived",), {}),
        ("clique-tree", REPLACED, {}),
        ("aim", (), {}),
        ("mst", (), {}),
        ("mwem", (), {}),
    ],
)
def test_sound_mechanisms_keep_their_claims_and_come_near_them(name, tables, settings):
    found = played(name, tables, **settings)
    assert found.is_kept
    assert found.mu.half_noise > found.mu.claim  # half the noise would have been found
    assert found.mu.point > NEAR * found.mu.claim


@pytest.mark.parametrize(
    ("mutate", "name", "tables", "settings"),
    [
        (broken.halve_the_noise, "independent", (), GDP),
        (broken.halve_the_noise, "auto", (), {}),
        (broken.share_noise_between_cells, "independent", REPLACED, GDP | {"n_runs": FEW}),
        (broken.fit_the_exact_number, "independent", (), GDP | {"n_runs": FEW}),
        (broken.read_the_levels, "independent", ("derived",), {"n_runs": FEW, "epsilon": 1.0}),
        (broken.forget_that_a_record_is_replaced, "independent", REPLACED, GDP | {"n_runs": 4000}),
        (broken.measure_once_more_without_a_charge, "independent", (), GDP | {"n_runs": FEW}),
        (broken.convert_to_twice_the_budget, "independent", (), GDP | {"n_runs": 4000}),
    ],
)
def test_broken_kernels_are_found(mutate, name, tables, settings, monkeypatch):
    mutate(monkeypatch)
    assert not played(name, tables, **settings).is_kept
