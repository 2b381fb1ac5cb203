"""Values beyond declared bounds in linked tables: told apart in marginals of one column, in units of
weight, said, and drawn within the bounds.
"""

import numpy as np
import pandas as pd
import pytest
from helpers.families import KEY

import synthdp
from synthdp.linked import LinkedRows, LinkedTableReader, Package, views_of

N = 1_500

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")


def package(most=5, *, order=None):
    number = {
        "name": "cost",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 69, "required": True},
        "synthdp": {"bins": 7},
    }
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    key, home = ({"name": name, "type": "integer"} for name in ("id", "home"))
    own = {"max_children": most} | ({"order": order} if order else {})
    size = {**number, "name": "size"}
    return Package.from_dict(
        {
            "resources": [
                {"name": "homes", "schema": {"fields": [key, size], "primaryKey": "id"}},
                {
                    "name": "bills",
                    "schema": {"fields": [home, number], "foreignKeys": [link]},
                    "synthdp": own,
                },
            ]
        }
    )


def tables(n=N, seed=0, most=5):
    """A quarter of the bills is above the bounds, of the homes none is."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n), rng.integers(0, most + 1, n))
    cost = rng.integers(0, 70, len(home))
    cost = np.where(rng.random(len(home)) < 0.25, rng.integers(70, 200, len(home)), cost)
    cost = np.where(rng.random(len(home)) < 0.1, -5, cost)
    return {
        "homes": pd.DataFrame({"id": np.arange(n), "size": rng.integers(0, 70, n)}),
        "bills": pd.DataFrame({"home": home, "cost": cost}),
    }


def counts(found, frames):
    """Each single column of each view: exact counts in units of weight, and most of one root."""
    readers = {table.name: LinkedTableReader(table, hash_key=KEY) for table in found.tables}
    for name, reader in readers.items():
        reader.add(frames[name])
    rows = LinkedRows(found.tables, readers, "id", hash_key=KEY)
    return {
        (label, name): (next(iter(source.counts_of([(name,)]))), source.max_rows)
        for label, source in rows.counted(views_of(found)).items()
        for name in source.domain.attributes
    }


@pytest.mark.parametrize("order", [None, "cost"])
def test_a_root_moves_counts_beyond_bounds_by_no_more_than_its_weight(order):
    """Each root in turn is taken away, with all its bills."""
    found, whole, reached = package(order=order), tables(25), 0.0
    before = counts(found, whole)
    for root in range(25):
        some = {
            "homes": whole["homes"][whole["homes"]["id"] != root],
            "bills": whole["bills"][whole["bills"]["home"] != root],
        }
        for key, (table, most) in counts(found, some).items():
            moved = int(np.abs(before[key][0] - table).sum())
            assert moved <= most, key
            reached = max(reached, moved / most)
    assert reached == 1


def test_values_beyond_bounds_have_codes_of_their_own():
    """Two more beside the one of unread values: in single columns they are told apart."""
    table, most = counts(package(), tables(400))["bills", "bills.cost"]
    assert table.shape == (10,)
    assert table[7] / table.sum() == pytest.approx(0.1, abs=0.05)
    assert table[8] / table.sum() == pytest.approx(0.23, abs=0.06)
    assert table.sum() <= most * 400


@pytest.mark.parametrize("order", [None, "cost"])
def test_clipped_values_are_said_with_their_share_and_drawn_within(order):
    found = synthdp.synthesize(
        tables(), package(order=order).content, epsilon=10, delta=1e-6, mechanism="auto"
    )
    said = [text for text in found.certificate["cautions"] if "bills.cost" in text]
    assert any("beyond" in text or "above" in text for text in said), found.certificate["cautions"]
    assert not any("homes.size" in text for text in found.certificate["cautions"])
    drawn = found.sample(seed=0)
    assert drawn["bills"]["cost"].between(0, 69).all()
    # They are counted in the outermost bins, as they were before they were told apart.
    assert (drawn["bills"]["cost"] >= 60).mean() == pytest.approx(0.25 + 0.65 / 7, abs=0.08)


def test_an_evaluation_counts_them_in_the_outermost_bins():
    whole, content = tables(300), package(order="cost").content
    clipped = {name: frame.copy() for name, frame in whole.items()}
    clipped["bills"]["cost"] = clipped["bills"]["cost"].clip(0, 69)
    assert (synthdp.evaluate(whole, whole, content).distances["tvd"] == 0).all()
    found = synthdp.evaluate(whole, clipped, content).distances
    assert (found.loc[~found["kind"].isin(["siblings", "transitions"]), "tvd"] < 1e-12).all()
