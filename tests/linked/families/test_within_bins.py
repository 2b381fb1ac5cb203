"""Values of the column of order lie in their bins as those of the records do, in order."""

import numpy as np
import pandas as pd
import pytest

import synthdp

N, MOST, DAYS = 300, 4, 100


def tables():
    """Homes with four stays each, of which any day is as likely as another."""
    days = np.sort(np.random.default_rng(0).integers(0, DAYS, (N, MOST)), axis=1)
    stays = pd.DataFrame({"home": np.repeat(np.arange(N), MOST), "day": days.ravel()})
    stays["until"] = np.minimum(stays["day"] + 3, DAYS)
    return {"homes": pd.DataFrame({"id": np.arange(N)}), "stays": stays}


def package(*, rules=(), until=True):
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    fields = [{"name": "home", "type": "integer"}]
    for name in ("day", "until") if until else ("day",):
        limits = {"minimum": 0, "maximum": DAYS, "required": True}
        column = {"name": name, "type": "integer", "constraints": limits}
        fields.append({**column, "synthdp": {"edges": [0, DAYS // 2, DAYS]}})
    return {
        "resources": [
            {
                "name": "homes",
                "schema": {"fields": [{"name": "id", "type": "integer"}], "primaryKey": "id"},
            },
            {
                "name": "stays",
                "schema": {
                    "fields": fields,
                    "foreignKeys": [link],
                    "synthdp": {"constraints": list(rules)},
                },
                "synthdp": {"max_children": MOST, "order": "day"},
            },
        ]
    }


@pytest.mark.parametrize("text", [False, True])
def test_later_rows_of_a_bin_are_no_later_than_the_records(text):
    """Each drawn no lower than the one before, they would have a mean day of 60 and more."""
    records = tables()
    del records["stays"]["until"]
    synthesis = synthdp.synthesize(records, package(until=False), epsilon=100, delta=1e-6)
    drawn = synthesis.sample(N, seed=0, text=text)["stays"]
    days = drawn["day"].astype(int)
    assert abs(days.mean() - records["stays"]["day"].mean()) < 3
    assert days.groupby(drawn["home"]).apply(lambda own: own.is_monotonic_increasing).all()
    # As many are in which bin as without: values are put in order, and bins are not changed.
    late = float((days >= DAYS // 2).mean())
    assert abs(late - (records["stays"]["day"] >= DAYS // 2).mean()) < 0.05


def test_days_with_a_rule_of_their_own_keep_to_it():
    """Put in order by themselves, many would lie behind the end of their own stay."""
    content = package(rules=[{"check": "day <= until"}])
    drawn = synthdp.synthesize(tables(), content, epsilon=100, delta=1e-6).sample(N, seed=0)
    stays = drawn["stays"]
    assert (stays["day"] <= stays["until"]).all()
    assert stays.groupby("home")["day"].apply(lambda own: own.is_monotonic_increasing).all()


def test_ends_go_along_with_days_that_are_put_in_order():
    content = package()
    until = {"name": "until", "type": "integer", "constraints": {"required": True}}
    until["synthdp"] = {"relative_to": "day", "minimum": 0, "maximum": 5}
    content["resources"][1]["schema"]["fields"][2] = until
    records = tables()
    records["stays"]["until"] = records["stays"]["day"] + 3
    drawn = synthdp.synthesize(records, content, epsilon=100, delta=1e-6).sample(N, seed=0)
    stays = drawn["stays"]
    # Each drawn no lower than the one before, they would have a mean day of 58.
    assert abs(stays["day"].mean() - records["stays"]["day"].mean()) < 3
    assert stays.groupby("home")["day"].apply(lambda own: own.is_monotonic_increasing).all()
    assert (stays["until"] - stays["day"] == 3).mean() > 0.98


def test_tables_of_keys_alone_have_no_values_to_put_in_order():
    homes = pd.DataFrame({"id": np.arange(N), "kind": np.repeat(["a", "b"], N // 2)})
    kinds = {"enum": ["a", "b"], "required": True}
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    fields = [
        {"name": "id", "type": "integer"},
        {"name": "kind", "type": "string", "constraints": kinds},
    ]
    key = {"name": "home", "type": "integer"}
    content = {
        "resources": [
            {"name": "homes", "schema": {"fields": fields, "primaryKey": "id"}},
            {
                "name": "stays",
                "schema": {"fields": [key], "foreignKeys": [link]},
                "synthdp": {"max_children": 3},
            },
        ]
    }
    stays = pd.DataFrame({"home": np.repeat(np.arange(N), 2)})
    found = synthdp.synthesize({"homes": homes, "stays": stays}, content, epsilon=10, delta=1e-6)
    drawn = found.sample(N, seed=0)
    assert list(drawn["stays"]) == ["home"]
    assert abs(len(drawn["stays"]) - 2 * N) < 0.1 * N
