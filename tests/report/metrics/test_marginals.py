"""Marginals of two tables against counts by pandas, and scores against their definitions."""

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import people, read
from helpers.homes import home

from synthdp.core import Domain, silent
from synthdp.report import (
    MarginalErrors,
    chosen_marginals,
    k_marginal_score,
    null_pmse,
    pair_propensity,
)

module = home(MarginalErrors)


def codes_of(table):
    return pd.DataFrame(dict(zip(table.domain.attributes, table.codes.columns, strict=True)))


def all_errors(real, synthetic):
    errors = MarginalErrors(real, synthetic)
    for k in (1, 2, 3):
        errors.add(k, chosen_marginals(real.domain, k, np.random.default_rng(0))[0], silent)
    return errors


def test_distances_are_those_of_counts_by_pandas():
    real, synthetic = read(people(200)), read(people(90, seed=1))
    frame = all_errors(real, synthetic).frame
    assert frame["k"].value_counts().to_dict() == {1: 5, 2: 10, 3: 10}
    for row in frame.to_dict("records"):
        shares = [
            codes_of(table).value_counts(list(row["columns"]), normalize=True)
            for table in (real, synthetic)
        ]
        assert row["tvd"] == pytest.approx(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)
    for _, of_size in frame.groupby("k"):
        assert of_size["tvd"].is_monotonic_decreasing


def test_a_table_is_perfect_beside_itself():
    errors = all_errors(*[read(people(200))] * 2)
    assert errors.frame["tvd"].max() == 0.0
    assert errors.subsample_equivalent() == 1.0


def test_a_random_half_scores_as_half_and_a_new_sample_as_the_sampling_line_says():
    table = read(people(4000))
    half = table.take(np.random.default_rng(0).choice(4000, 2000, replace=False))
    assert all_errors(table, half).subsample_equivalent() == pytest.approx(0.5, abs=0.03)
    again = table.take(np.random.default_rng(0).integers(4000, size=3000))
    frame = all_errors(table, again).frame.groupby("k")[["tvd", "sampling"]].mean()
    assert frame["tvd"].to_numpy() == pytest.approx(frame["sampling"].to_numpy(), rel=0.15)


def test_k_marginal_score_is_nists():
    # two densities of L1 distance 0.4, and two that share nothing, 2: 1000 (1 - 1.2 / 2)
    real, near, far = np.array([0.5, 0.5, 0]), np.array([0.7, 0.3, 0]), np.array([0, 0, 1.0])
    distances = [np.abs(real - other).sum() for other in (near, far)]
    assert k_marginal_score([distance / 2 for distance in distances]) == pytest.approx(
        1000 * (2 - np.mean(distances)) / 2
    )
    assert k_marginal_score([1.0]) == 0.0


def test_propensity_of_a_pair_by_hand_and_by_simulation():
    real, synthetic = np.array([[30, 0], [10, 0]]), np.array([[10, 0], [30, 0]])
    share = 0.5
    pmse = np.mean((np.repeat([0.25, 0.75], 40) - share) ** 2)
    assert pair_propensity(real, synthetic) == pytest.approx(pmse / null_pmse(2, share, 80))
    assert pair_propensity(real, real) == 0.0
    rng = np.random.default_rng(0)
    counts = np.array([[400, 200], [300, 100]])
    for n_drawn in (500, 2000):  # of the real table's own distribution: 1
        drawn = rng.multinomial(n_drawn, counts.ravel() / 1000, size=2000).reshape(-1, 2, 2)
        scores = [pair_propensity(counts, each) for each in drawn]
        assert np.mean(scores) == pytest.approx(1.0, abs=0.15)


def test_many_marginals_are_sampled_and_large_ones_left_out(monkeypatch):
    monkeypatch.setitem(module.MAX_MARGINALS, 2, 7)
    monkeypatch.setattr(module, "MAX_CELLS", 20)
    domain = Domain(tuple("abcdefgh"), (5,) * 7 + (4,))
    some, n_all = chosen_marginals(domain, 2, np.random.default_rng(0))
    again, _ = chosen_marginals(domain, 2, np.random.default_rng(0))
    assert n_all == 28
    assert some == again
    assert all("h" in clique for clique in some)
    assert len(set(some)) == len(some) <= 7
