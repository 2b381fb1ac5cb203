"""What the two views of a table share is divided by the rows that each is of."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.pets import package
from helpers.stopped_runs import entries

import synthdp

N = 400


def tables(n_pets):
    rng = np.random.default_rng(0)
    home = np.repeat(np.arange(N), n_pets)
    some = np.array(list("abc"))
    return {
        "homes": pd.DataFrame({"id": np.arange(N), "kind": some[rng.integers(0, 3, N)]}),
        "pets": pd.DataFrame({"home": home, "sort": some[rng.integers(0, 3, len(home))]}),
    }


def spent(synthesis):
    rho = {
        label: part.certificate["accounting"]["rho_spent"]
        for label, part in synthesis.parts.items()
    }
    return rho, synthesis.certificate["accounting"]


def released(n_pets, **options):
    return synthdp.synthesize(
        tables(n_pets), package(), epsilon=10, delta=1e-6, mechanism="independent", **options
    )


def test_long_chains_leave_more_to_later_rows():
    long, short = (spent(released(each))[0] for each in (12, 2))
    assert long["pets"] + long["later pets"] == pytest.approx(short["pets"] + short["later pets"])
    assert long["later pets"] / long["pets"] > 4
    assert 0.7 < short["later pets"] / short["pets"] < 1.3


def test_all_views_together_spend_what_there_is():
    rho, whole = spent(released(12))
    assert sum(rho.values()) <= whole["rho_spent"] <= whole["rho_budget"]


def test_a_journal_says_what_each_view_may_cost_and_makes_the_release_without_its_run(tmp_path):
    path = tmp_path / "journal"
    whole = released(12, journal=path)
    (said,) = [entry["views"] for entry in entries(path) if "views" in entry]
    assert said.keys() == {"pets", "later pets"}
    assert Fraction(said["later pets"]["budget"]) / Fraction(said["pets"]["budget"]) > 4
    found = synthdp.from_journal(path)
    assert spent(found)[0] == pytest.approx(spent(whole)[0])
