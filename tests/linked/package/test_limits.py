"""Limits on one column: what is allowed is what the rows after it can complete, no more and no
less.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from helpers.families import description

from synthdp.core import SchemaError
from synthdp.linked import Package, limits_of, views_of

ROLES = ["head", "partner", "child", "guest"]


def limit(roles, least=None, most=None):
    bounds = {"at_least": least, "at_most": most}
    return {
        "where": {"role": roles},
        **{key: value for key, value in bounds.items() if value is not None},
    }


def people(limits, *, order=None, most=5, **settings):
    content = description(people=most, limits=limits, **settings)
    fields = content["resources"][1]["schema"]["fields"]
    fields.append(
        {"name": "role", "type": "string", "constraints": {"enum": ROLES, "required": True}}
    )
    content["resources"][1]["synthdp"] |= {"order": order} if order else {}
    return Package.from_dict(content)


CASES = [
    [limit(["head"], 1, 1)],
    [limit(["head"], 1, 1), limit(["partner"], 1)],
    [limit([role], most=1) for role in ROLES],
    [limit(["head"], most=1), limit(["partner", "child", "guest"], most=2)],
    [limit(["head"], 1), limit(["head", "child"], 2, 2), limit(["guest"], 1)],
    [
        limit(["guest"], 2),
        limit(["guest", "partner"], 3),
        limit(["guest", "partner", "child"], most=3),
    ],
    [limit(["child"], 1, 2), limit(["child"], most=1)],
]


def holds(limits, rows):
    found = [(sum(role in each["where"]["role"] for role in rows), each) for each in limits]
    return all(
        min(each.get("at_least", 0), len(rows)) <= n <= each.get("at_most", len(rows))
        for n, each in found
    )


@pytest.mark.parametrize("limits", CASES)
def test_numbers_of_rows_that_no_rows_can_keep_to_are_impossible(limits):
    (found,) = limits_of(people(limits)["people"])
    possible = [
        n
        for n in range(6)
        if any(holds(limits, r) for r in combinations_with_replacement(ROLES, n))
    ]
    assert sorted({*range(6)} - {*possible}) == found.impossible(5)


@pytest.mark.parametrize("order", [None, "role"])
@pytest.mark.parametrize("limits", CASES)
def test_whatever_is_chosen_of_what_is_allowed_all_limits_hold_at_the_end_and_nothing_more_is_ruled_out(
    limits, order
):
    (found,) = limits_of(people(limits, order=order)["people"])
    rng, reached = np.random.default_rng(3), set()
    sizes = [n for n in range(1, 6) if n not in found.impossible(5)]
    counts = np.repeat(sizes, 400)
    meets, rows = np.zeros((len(limits), len(counts)), int), np.full((len(counts), 5), -1)
    for position in range(5):
        which = np.flatnonzero(counts > position)
        allowed = found.allowed(meets[:, which], counts[which], position)
        if order and position:
            allowed &= np.arange(4) >= rows[which, position - 1][:, None]
        assert allowed.any(axis=1).all()
        rows[which, position] = np.argmax(rng.random(allowed.shape) * allowed, axis=1)
        meets[:, which] += found.met[:, rows[which, position]]
    for row, n in zip(rows, counts, strict=True):
        reached.add(tuple(ROLES[code] for code in sorted(row[:n])))
        assert holds(limits, [ROLES[code] for code in row[:n]])
    every = {r for n in sizes for r in combinations_with_replacement(ROLES, n) if holds(limits, r)}
    assert len(reached) > 0.9 * len(every)


def test_no_parent_is_drawn_with_a_number_of_rows_that_limits_rule_out():
    schema = views_of(people(CASES[3]))["homes"].schema
    rules = [rule.allowed for rule in schema.constraints if rule.clique == ("number of people",)]
    assert np.all(rules, axis=0).tolist() == [True, True, True, True, False, False]


@pytest.mark.parametrize(
    ("limits", "settings", "said"),
    [
        (
            [limit(["head", "guest"], 1), limit(["head", "child"], 1)],
            {},
            "limits on 'role' overlap",
        ),
        (CASES[2], {"min_children": 5}, "kept to by no number of rows"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(limits, settings, said):
    with pytest.raises(SchemaError, match=said):
        people(limits, **settings)


def test_limits_that_rule_out_only_what_least_children_do_are_taken():
    package = people([limit(["child"], 2), limit(["head"], 1)], min_children=3)
    assert limits_of(package["people"])[0].impossible(5) == [1, 2]
