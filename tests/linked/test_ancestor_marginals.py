"""What is known of rows above a view, from families that are drawn of few roots."""

import numpy as np
import pandas as pd
import pytest
from helpers.families import field, link
from helpers.homes import home

import synthdp
from synthdp.linked import LinkedRelease, views_of

N, LEVELS = 60, [f"v{level}" for level in range(40)]
KIND, COLOUR = "homes.kind", "homes.colour"


def known_of_pets(colours, mechanism, epsilon):
    """Pairs of columns of homes whose tables are estimated for their pets."""
    columns = [field("kind", *LEVELS), field("colour", *LEVELS)]
    homes = {"fields": [{"name": "home"}, *columns], "primaryKey": "home"}
    pets = {"fields": [{"name": "home"}, field("sort", "a", "b")]}
    pets["foreignKeys"] = [link("home", "homes", "home")]
    content = {
        "resources": [
            {"name": "homes", "schema": homes},
            {"name": "pets", "schema": pets, "synthdp": {"max_children": 3}},
        ]
    }
    kinds = np.arange(N) % len(LEVELS)
    tables = {
        "homes": pd.DataFrame(
            {
                "home": np.arange(N),
                "kind": [LEVELS[kind] for kind in kinds],
                "colour": [LEVELS[colour] for colour in colours(kinds)],
            }
        ),
        "pets": pd.DataFrame({"home": np.repeat(np.arange(N), 3), "sort": "a"}),
    }
    release = synthdp.synthesize(
        tables, content, epsilon=epsilon, delta=1e-6, mechanism=mechanism, anyway=True
    )
    views = views_of(release.package)
    ancestors = home(LinkedRelease).AncestorMarginals(views, 0)
    ancestors.add(views["homes"], release.parts["homes"])
    cliques = [each.clique for each in ancestors.of(views["pets"], 1.0)]
    assert {(KIND,), (COLOUR,)} <= {*cliques}
    return [clique for clique in cliques if len(clique) == 2]


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)
def test_pairs_that_hang_together_by_chance_alone_are_not_estimated():
    """A thousand drawn rows in 1,600 cells are about half a TVD from independence; with all such
    pairs the trees of a few tens of roots had millions of cells, and runs took minutes.
    """
    assert known_of_pets(lambda kinds: kinds[::-1], "independent", 3) == []


def test_pairs_that_hang_together_are():
    assert (KIND, COLOUR) in known_of_pets(lambda kinds: kinds, "mst", 1000)
