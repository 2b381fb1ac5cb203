"""Where noise hides a dependence between tables, none is modelled, nor drawn."""

import numpy as np
import pandas as pd
from helpers.pets import package

import synthdp

N = 3000
KINDS = np.array(list("abc"))


def tables():
    """Each home has two pets, all three of the same kind."""
    kind = KINDS[np.random.default_rng(0).integers(0, 3, N)]
    home = np.repeat(np.arange(N), 2)
    return {
        "homes": pd.DataFrame({"id": np.arange(N), "kind": kind}),
        "pets": pd.DataFrame({"home": home, "sort": kind[home]}),
    }


def apart(shares):
    """From independence, in total variation."""
    return 0.5 * np.abs(shares - np.outer(shares.sum(axis=1), shares.sum(axis=0))).sum()


def distances(synthesis):
    """Of what the views' models say of a home's kind and the sort of its pets."""
    parts = [synthesis.parts[label] for label in ("pets", "later pets")]
    found = [part.model.marginals([("homes.kind", "pets.sort")])[0].values for part in parts]
    return [apart(counts / counts.sum()) for counts in found]


def drawn_distance(synthesis):
    """Of rows that are drawn."""
    drawn = synthesis.sample(2000, seed=0)
    below = drawn["pets"].merge(drawn["homes"], left_on="home", right_on="id")
    return apart(pd.crosstab(below["kind"], below["sort"], normalize=True).to_numpy())


def released(epsilon):
    return synthdp.synthesize(tables(), package(2), epsilon=epsilon, delta=1e-6, anyway=True)


def test_what_noise_hides_between_tables_is_neither_modelled_nor_drawn():
    """At this budget scores have the noise of a hundred times the records."""
    synthesis = released(0.003)
    assert max(distances(synthesis)) < 1e-6
    assert drawn_distance(synthesis) < 0.03  # chance


def test_what_it_does_not_hide_is_both():
    synthesis = released(3)
    assert min(distances(synthesis)) > 0.6
    assert drawn_distance(synthesis) > 0.6
