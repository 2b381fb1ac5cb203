"""Membership attacks on the derived domain: what it betrays of one record stays within (epsilon,
delta).

The attacker knows every other record and the settings, sees the domain that was learnt, and guesses
whether the target was in the table: from whether its level is there, how far the bounds reach, and
anything else that a schema says. By the definition, whatever the guess is made from,

    P(guess "in" | in)  <=  e^epsilon P(guess "in" | out) + delta,

and the same with "in" and "out" exchanged, or the guess. Bounds on the probabilities come from
counts (Clopper-Pearson); a correct kernel fails less than once in 1e9 runs. The same attacks see
through mutants that read the domain off the data, or take half the threshold.
"""

from dataclasses import replace
from functools import cache
from math import exp

import numpy as np
import pandas as pd
import pytest
from helpers.flows import held, learnt_from
from helpers.homes import home
from helpers.seldom import often
from helpers.values import listed
from scipy import stats

from synthdp.core import Grid
from synthdp.learning import SearchGrid, learn_columns
from synthdp.privacy import Accounting, PrivateValues, Queryable
from synthdp.release import Release, RunSettings
from synthdp.schema import OpenSchema

accounting = home(Accounting)
learner = home(learn_columns)
private_values = home(PrivateValues)
queryable = home(Queryable)

pytestmark = pytest.mark.fresh_noise
EPSILON, DELTA = 1.0, 1e-2
ALPHA = 1e-12
"""Probability that one bound on a probability is wrong; some 300 of them are taken."""

TARGETS = {
    "a level of its own": ("string", ["a"] * 12 + ["b"] * 3, "target"),
    "a second of its kind": ("string", ["a"] * 12 + ["target"], "target"),
    "an extreme number": ("integer", [1, 2, 3, 4, 5, 6] * 4, 10**9),
    "a date long ago": ("date", ["2020-01-05", "2020-03-07"] * 12, "0001-01-01"),
    "more decimals": (
        {"type": "number", "constraints": {"minimum": 0, "maximum": 9}},
        [1, 2, 3] * 8,
        1.23456,
    ),
    "the only missing value": ({"type": "boolean"}, [True, False] * 8, None),
}

OFTEN = ("a level of its own", "an extreme number")


def at_least(hits, n):
    """What the probability is at least."""
    return 0.0 if hits == 0 else float(stats.beta.ppf(ALPHA, hits, n - hits + 1))


def at_most(hits, n):
    return 1.0 if hits == n else float(stats.beta.ppf(1 - ALPHA, hits + 1, n - hits))


def is_within(guesses_in, guesses_out, epsilon=EPSILON, delta=DELTA):
    """Whether guesses with and without the target agree with (epsilon, delta), as far as counts can
    tell.
    """
    for inside, outside in ((guesses_in, guesses_out), (~guesses_in, ~guesses_out)):
        for one, other in ((inside, outside), (outside, inside)):
            if (
                at_least(int(one.sum()), one.size)
                > exp(epsilon) * at_most(int(other.sum()), other.size) + delta
            ):
                return False
    return True


def best_guess(features_in, features_out):
    """The one feature and limit that tell best, by half of the runs; guesses of the other half."""
    half = len(features_in) // 2
    learn_in, learn_out, test_in, test_out = (
        f[s] for s in (slice(half), slice(half, None)) for f in (features_in, features_out)
    )
    best, guesses = -1.0, (np.zeros(1, dtype=bool), np.zeros(1, dtype=bool))
    for column in range(features_in.shape[1]):
        for limit in np.unique(np.concatenate([learn_in[:, column], learn_out[:, column]])):
            rates = [(runs[:, column] >= limit).mean() for runs in (learn_in, learn_out)]
            if abs(rates[0] - rates[1]) > best:
                best = abs(rates[0] - rates[1])
                guesses = test_in[:, column] >= limit, test_out[:, column] >= limit
    return guesses


def features_of(schema, target):
    """Everything of a closed column that might betray a record, as numbers."""
    column = schema.columns[0]
    entry = column.field()
    constraints, own = entry.get("constraints", {}), entry.get("synthdp", {})
    merged = own.get("merged") or {"levels": [], "weights": []}
    known = [*constraints.get("enum", []), *merged["levels"]]
    bounds = [
        ordinal(own.get("edges", [constraints.get(key)])[end])
        for key, end in (("minimum", 0), ("maximum", -1))
    ]
    return [
        str(target) in known,
        len(known),
        sum(merged["weights"]),
        bool(constraints.get("required")),
        column.size,
        *bounds,
        own.get("decimals") or 0,
        len((own.get("shape") or {"starts": ()})["starts"]),
    ]


def ordinal(value):
    if value is None:
        return 0.0
    return float(pd.Timestamp(value).toordinal()) if isinstance(value, str) else float(value)


def attack(kind, others, target, n_runs, **settings):
    """Features of the domains learnt with and without the target, shape (n_runs, n_features) each."""
    schema = OpenSchema.from_kinds({"x": kind})
    results = []
    for values in ([*others, target], others):
        table = held(pd.DataFrame({"x": pd.Series(values, dtype=object)}), schema)
        budget = {"epsilon": EPSILON, "delta": DELTA} | settings
        runs = [
            features_of(learnt_from(table, schema, **budget).schema, target) for _ in range(n_runs)
        ]
        results.append(np.array(runs, dtype=float))
    return results


MANY, SOME, FEW = 2000, 250, 110
"""Runs with the target, and as many without: of attacks on levels, which are quick, on the rest, on
the whole flow.
"""


@pytest.fixture(autouse=True)
def _public_numbers_are_worked_out_once(monkeypatch):
    """A budget's rho and its threshold are the same in all runs, and took a third of an attack's
    time.
    """
    monkeypatch.setattr(accounting, "gdp_rho", cache(accounting.gdp_rho))
    monkeypatch.setattr(
        private_values, "partition_threshold", cache(private_values.partition_threshold)
    )


@cache
def attacked(name):
    """The attack on the kernel as it is, which several tests look at."""
    kind, others, target = TARGETS[name]
    return attack(kind, others, target, MANY if kind in ("string", "boolean") else SOME)


@pytest.mark.parametrize(
    "name", often(*OFTEN, seldom=[name for name in TARGETS if name not in OFTEN])
)
def test_the_derived_domain_keeps_its_promise(name):
    assert is_within(*best_guess(*attacked(name)))


@pytest.mark.parametrize("name", often("a second of its kind", seldom=("a level of its own",)))
def test_the_derived_levels_keep_their_promise_in_zcdp_and_when_rare_levels_are_merged(name):
    features = attack(*TARGETS[name], SOME, accounting=Accounting.ZCDP, min_mass=20.0)
    assert is_within(*best_guess(*features))


HIDDEN = ["a"] * 1200 + [f"b{i}" for i in range(20)] * 15
"""A fifth of the records have levels that noise hides when they are asked for first."""


@pytest.mark.parametrize("target", ["target", "b0"])
def test_levels_that_are_asked_for_again_keep_their_promise(target):
    features = attack("string", HIDDEN, target, SOME, share=0.25, share_again=0.75)
    assert is_within(*best_guess(*features))
    found = np.concatenate(features)[:, 1]
    assert np.median(found) > 10  # they were


def test_a_level_of_one_record_is_found_no_more_often_than_its_part_of_delta_allows():
    with_target, without = attacked("a level of its own")
    assert not without[:, 0].any()
    assert (
        at_least(int(with_target[:, 0].sum()), MANY) <= DELTA / 2
    )  # thresholds get one half of it here


def read_the_levels(monkeypatch):
    def find_levels(values, budget):
        found = original(values, budget)
        levels = listed(values._source.frequencies(Grid(column="x")))[0]
        every = replace(found.frequent, counts=dict.fromkeys(levels, 1.0))
        return replace(found, frequent=every)

    original = learner.find_levels
    monkeypatch.setattr(learner, "find_levels", find_levels)


def read_the_bounds(monkeypatch):
    def learn(values, budget, **_):
        axis = SearchGrid.from_column(budget.column)
        points, _ = listed(values._source.frequencies(axis.grid))
        first, last = axis.values([int(min(points)), int(max(points))])
        return learner.LearntColumn(
            column=budget.column.resolved(minimum=first, maximum=last, required=True)
        )

    monkeypatch.setattr(learner, "_learn", learn)


def read_the_decimals(monkeypatch):
    def learn_decimals(values, column, **_):
        return int(
            max(listed(values._source.frequencies(Grid(column=column, of="decimals")))[0])
        ), None

    monkeypatch.setattr(learner, "learn_decimals", learn_decimals)


def read_what_is_missing(monkeypatch):
    def learnt_missing(column, _missing, _stddev):
        return {
            "required": bool(
                sources[0].histogram(Grid(column=column.name), np.empty(0, dtype=np.int64))[0] == 0
            )
        }

    def remembering(self, source, ledger, *, randomness=None):
        sources[:] = [source]
        original(self, source, ledger, randomness=randomness)

    sources, original = [], PrivateValues.__init__
    monkeypatch.setattr(PrivateValues, "__init__", remembering)
    monkeypatch.setattr(learner, "learnt_missing", learnt_missing)


@pytest.mark.parametrize(
    ("name", "mutate"),
    often(
        ("a level of its own", read_the_levels),
        ("an extreme number", read_the_bounds),
        seldom=(
            ("a date long ago", read_the_bounds),
            ("more decimals", read_the_decimals),
            ("the only missing value", read_what_is_missing),
        ),
    ),
)
def test_the_attack_sees_through_a_domain_that_is_read_off_the_data(name, mutate, monkeypatch):
    mutate(monkeypatch)
    with_target, without = best_guess(*attack(*TARGETS[name], SOME))
    assert max(with_target.mean() - without.mean(), without.mean() - with_target.mean()) > 0.95
    assert not is_within(with_target, without)


def halve_the_threshold(monkeypatch):
    original = private_values.partition_threshold
    monkeypatch.setattr(
        private_values, "partition_threshold", lambda *a, **b: original(*a, **b) // 2
    )


def take_a_fifth_of_the_noise(monkeypatch):
    original = queryable.gaussian_noise

    def gaussian_noise(*, sigma_squared, **rest):
        return original(sigma_squared=sigma_squared / 25, **rest)

    monkeypatch.setattr(queryable, "gaussian_noise", gaussian_noise)


@pytest.mark.slow
def test_the_attack_sees_half_a_threshold(monkeypatch):
    halve_the_threshold(monkeypatch)
    assert not is_within(*best_guess(*attack(*TARGETS["a level of its own"], MANY)))


@pytest.mark.slow
def test_the_attack_sees_a_fifth_of_the_noise(monkeypatch):
    schema = OpenSchema.from_kinds({"x": "string"})
    table = held(pd.DataFrame({"x": ["a"]}), schema)
    threshold = learnt_from(table, schema, epsilon=EPSILON, delta=DELTA).ledger.events[0].threshold
    others = ["a"] * 12 + ["target"] * (
        threshold - 1
    )  # one record more decides, unless there is noise
    assert is_within(*best_guess(*attack("string", others, "target", MANY)))
    take_a_fifth_of_the_noise(monkeypatch)
    assert not is_within(*best_guess(*attack("string", others, "target", MANY)))


# The whole flow


def released(kinds, values, target, n_runs):
    """Features of the closed schemas of whole releases, and whether the target is in a sample."""
    schema = OpenSchema.from_kinds(kinds)
    table = held(pd.DataFrame(values, dtype=object), schema)
    features = []
    for _ in range(n_runs):
        release = Release(
            schema=schema,
            settings=RunSettings(
                epsilon=EPSILON, delta=DELTA, mechanism="independent", adjacency="add-remove"
            ),
        )
        synthesis = release.of(table)
        sample = synthesis.sample(20, seed=0)["x"]
        features.append(
            [*features_of(synthesis.schema, target), str(target) in set(map(str, sample))]
        )
    return np.array(features, dtype=float)


def attack_release(n_runs):
    kinds = {"x": "string", "y": "integer"}
    others = {"x": ["a"] * 30 + ["b"] * 9, "y": [1, 2, 3] * 13}
    with_target = {"x": [*others["x"], "target"], "y": [*others["y"], 10**9]}
    return [released(kinds, values, "target", n_runs) for values in (with_target, others)]


@pytest.mark.slow
def test_the_whole_release_keeps_its_promise():
    with_target, without = attack_release(FEW)
    for feature in range(with_target.shape[1]):
        limit = np.median(without[:, feature])
        assert is_within(with_target[:, feature] > limit, without[:, feature] > limit)


@pytest.mark.slow
def test_the_attack_sees_through_a_release_whose_domain_is_read_off_the_data(monkeypatch):
    read_the_levels(monkeypatch)
    with_target, without = attack_release(FEW)
    assert not is_within(with_target[:, 0] > 0, without[:, 0] > 0)


# The attack itself


def test_the_bounds_on_probabilities_are_those_of_clopper_and_pearson():
    for hits, n in ((0, 9), (3, 9), (9, 9)):
        test = stats.binomtest(hits, n).proportion_ci(1 - 2 * ALPHA, "exact")
        assert (at_least(hits, n), at_most(hits, n)) == pytest.approx(
            (test.low, test.high), rel=1e-4
        )


def test_what_is_within_and_what_is_not():
    rng = np.random.default_rng(0)
    for share_in, share_out, expected in (
        (0.6, 0.25, True),
        (0.9, 0.05, False),
        (0.05, 0.9, False),
        (0.3, 0.0, False),
    ):
        guesses = [rng.random(5000) < share for share in (share_in, share_out)]
        assert is_within(*guesses) is expected
