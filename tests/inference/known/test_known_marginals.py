"""Known marginals: projections against brute force, rounding, rows that have them, contradictions."""

import itertools

import numpy as np
import pytest

from synthdp.core import (
    Coarsening,
    Constraint,
    Domain,
    KnownMarginal,
    LinearMeasurement,
    ModelTooLargeError,
    ParameterError,
)
from synthdp.inference import (
    GraphicalModelEngine,
    KnownTotalsEngine,
    KnownTotalsModel,
    LayeredConsistencyEngine,
    LocalConsistencyEngine,
    MarkovRandomField,
    MixtureEngine,
    RecordUpdateEngine,
    check_known,
    counts_of,
    model_from_state,
    model_to_state,
    order_of,
    rounded,
)

DOMAIN = Domain(("town", "age", "sex", "job"), (6, 5, 2, 3))
REGION = np.array([0, 0, 1, 1, 2, 2])
OLD = np.array([0, 0, 0, 1, 1])
SOLVERS = {
    engine.name: engine
    for engine in (
        GraphicalModelEngine(),
        LocalConsistencyEngine(),
        LayeredConsistencyEngine(),
        MixtureEngine(),
        RecordUpdateEngine(),
    )
}


def people(n_rows, seed=0):
    chance = np.random.default_rng(seed)
    town, age = chance.integers(0, 6, n_rows), chance.integers(0, 5, n_rows)
    sex = (chance.random(n_rows) < 0.3 + 0.1 * (town % 3)).astype(np.int64)
    job = (age + sex + chance.integers(0, 2, n_rows)) % 3
    return [town, age, sex, job]


def table(columns, names, groups=None):
    """Counts of rows over some attributes, as a known marginal."""
    groups = groups or {}
    sizes = [int(groups[name].max()) + 1 if name in groups else DOMAIN[name] for name in names]
    counts = np.zeros(sizes)
    cells = [
        groups[name][columns[DOMAIN.index(name)]] if name in groups else columns[DOMAIN.index(name)]
        for name in names
    ]
    np.add.at(counts, tuple(cells), 1)
    merged = Coarsening(groups) if groups else None
    return KnownMarginal(names, counts, is_count=True, coarsening=merged, name="-".join(names))


FAMILIES = {
    "one": [("town", "sex")],
    "a tree": [("town", "sex"), ("age", "sex")],
    "apart": [("town",), ("age", "sex")],
    "levels": [("town",), ("region", "age"), ("region", "old", "sex")],
    "a circle": [("town", "sex"), ("age", "sex"), ("region", "age")],
    "a circle of levels": [("town", "old"), ("region", "age"), ("town", "sex"), ("age", "sex")],
}


def family(name, columns):
    found = []
    for names in FAMILIES[name]:
        groups = {}
        if "region" in names:
            groups["town"] = REGION
        if "old" in names:
            groups["age"] = OLD
        own = tuple({"region": "town", "old": "age"}.get(each, each) for each in names)
        found.append(table(columns, own, groups))
    return found


def noisy(columns, seed=1, stddev=20.0):
    chance = np.random.default_rng(seed)
    cliques = [(name,) for name in DOMAIN.attributes]
    cliques += [("town", "age"), ("age", "job"), ("sex", "job")]
    return [
        LinearMeasurement(clique, counts + chance.normal(0, stddev, counts.shape), stddev)
        for clique in cliques
        for counts in [table(columns, clique).values]
    ]


def implied_by(model, marginal):
    values = model.marginal(marginal.clique).values
    return marginal.coarsening.apply(marginal.clique, values) if marginal.coarsening else values


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("engine", SOLVERS.values(), ids=SOLVERS)
def test_every_engine_meets_known_marginals_and_so_do_its_rows(engine, name):
    columns = people(3000)
    known = family(name, columns)
    check_known(DOMAIN, known)
    fitter = KnownTotalsEngine(inner=engine, marginals=tuple(known))
    model = fitter.estimate(DOMAIN, noisy(columns))
    for marginal in known:
        np.testing.assert_allclose(implied_by(model, marginal), marginal.values, atol=1e-6)
    for seed in range(3):
        rows = model.sample(3000, seed=seed)
        for marginal in known:
            assert np.array_equal(counts_of(DOMAIN, marginal, rows), marginal.values)
    assert max(model.known_check(model.sample(700, seed=0), {}).differences) < 1.0 + 1e-9


def by_hand(joint, known):
    """Iterative proportional fitting of a whole joint distribution."""
    for _ in range(2000):
        for marginal in known:
            cells = np.zeros(DOMAIN.shape, dtype=np.int64)
            for name, size in zip(marginal.clique, marginal.values.shape, strict=True):
                shape = [-1 if name == other else 1 for other in DOMAIN.attributes]
                cells = cells * size + marginal.groups(name).reshape(shape)
            sums = np.bincount(cells.ravel(), joint.ravel(), minlength=marginal.values.size)
            joint = joint * (marginal.shares.ravel() / sums)[cells]
    return joint


@pytest.mark.parametrize("name", ["one", "a tree", "levels", "a circle"])
def test_the_projection_of_a_field_is_that_of_its_joint_distribution(name):
    columns = people(3000)
    known = family(name, columns)
    fitter = KnownTotalsEngine(inner=GraphicalModelEngine(), marginals=tuple(known))
    # Without what is measured of them the field is projected, and nothing else, onto what is known.
    measured = [each for each in noisy(columns, stddev=1e-3) if len(each.clique) > 1][1:]
    model = fitter.estimate(DOMAIN, measured)
    assert isinstance(model.inner, MarkovRandomField)
    joint = model.marginal(DOMAIN.attributes).values / model.total
    np.testing.assert_allclose(by_hand(joint, known), joint, atol=1e-9)


def test_an_unmeasured_marginal_that_is_known_is_in_the_model():
    columns = people(4000)
    known = [table(columns, ("town", "sex"))]
    alone = GraphicalModelEngine().estimate(DOMAIN, noisy(columns))
    told = KnownTotalsEngine(inner=GraphicalModelEngine(), marginals=tuple(known))
    beside = told.estimate(DOMAIN, noisy(columns))
    truth = table(columns, ("town", "sex", "job")).values
    errors = [
        np.abs(model.marginal(("town", "sex", "job")).values - truth).sum()
        for model in (alone, beside)
    ]
    assert errors[1] < 0.8 * errors[0]


@pytest.mark.parametrize("seed", range(20))
def test_rounding_agrees_and_is_within_one(seed):
    chance = np.random.default_rng(seed)
    columns = people(int(chance.integers(50, 4000)), seed)
    name = list(FAMILIES)[seed % len(FAMILIES)]
    known = family(name, columns)
    n_rows = int(chance.integers(1, 3000))
    counts = rounded(DOMAIN, known, [], n_rows, chance)
    for marginal, whole in zip(known, counts, strict=True):
        assert whole.sum() == n_rows
        assert (whole >= 0).all()
        assert np.abs(whole - marginal.shares * n_rows).max() < 1.0
    for (one, left), (other, right) in itertools.combinations(zip(known, counts, strict=True), 2):
        shared = [n for n in one.whole if n in other.whole]
        if shared:
            sums = [
                KnownMarginal(each.clique, whole + 0.0, is_count=False).summed(shared) * n_rows
                for each, whole in ((one, left), (other, right))
            ]
            np.testing.assert_allclose(*sums)


def test_rounding_is_no_bias():
    known = [KnownMarginal(("town",), np.array([0.31, 0.09, 0.3, 0.1, 0.1, 0.1]), is_count=False)]
    chance = np.random.default_rng(0)
    mean = np.mean([rounded(DOMAIN, known, [], 7, chance)[0] for _ in range(400)], axis=0)
    assert mean[1] > 0.3  # always the nearest would be 1 for all of them, or 0


class Given:
    """A model of independent attributes, wrong about all that is known."""

    def of(self, known, constraints=()):
        measured = [
            LinearMeasurement((name,), np.full(DOMAIN[name], 100.0), 1.0)
            for name in DOMAIN.attributes
        ]
        inner = GraphicalModelEngine().estimate(DOMAIN, measured, constraints=constraints)
        return KnownTotalsModel(inner=inner, known=known, constraints=constraints)


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_of_a_model_that_is_wrong_are_repaired(name):
    columns = people(2000)
    known = family(name, columns)
    rows = Given().of(known).sample(2000, seed=3)
    for marginal in known:
        assert np.array_equal(counts_of(DOMAIN, marginal, rows), marginal.values)


def test_a_single_marginal_takes_the_fewest_changes():
    columns = people(2000)
    known = [table(columns, ("town", "sex"))]
    model = Given().of(known)
    before, after = model.inner.sample(2000, seed=3), model.sample(2000, seed=3)
    changed = (np.stack(before) != np.stack(after)).any(axis=0).sum()
    missing = known[0].values - counts_of(DOMAIN, known[0], before)
    assert changed == np.abs(missing).sum() / 2
    assert np.array_equal(before[1], after[1])  # of nothing else is anything known


@pytest.mark.parametrize("name", ["a tree", "a circle"])
def test_repaired_rows_keep_to_rules(name):
    columns = people(3000)
    is_possible = np.ones((5, 3), dtype=np.bool_)
    is_possible[0, 2] = is_possible[1, 0] = False
    rule = Constraint(("age", "job"), is_possible)
    kept = is_possible[columns[1], columns[3]]
    columns = [column[kept] for column in columns]
    known = family(name, columns)
    check_known(DOMAIN, known, [rule])
    rows = Given().of(known, [rule]).sample(len(columns[0]), seed=0)
    assert rule.holds(DOMAIN, rows).all()
    for marginal in known:
        assert np.array_equal(counts_of(DOMAIN, marginal, rows), marginal.values)


def test_marginals_that_go_in_a_circle_have_no_order():
    columns = people(100)
    assert order_of(DOMAIN, family("levels", columns)) is not None
    assert order_of(DOMAIN, family("a circle", columns)) is None


def test_known_marginals_that_contradict_each_other_are_refused():
    one, other = table(people(300), ("town", "sex")), table(people(300, 1), ("town", "age"))
    with pytest.raises(ParameterError, match="town-sex and town-age contradict each other in"):
        check_known(DOMAIN, [one, other])
    with pytest.raises(ParameterError, match="their counts sum to 300 and 200"):
        check_known(DOMAIN, [one, table(people(200), ("age",))])


def test_marginals_that_agree_two_by_two_and_are_those_of_no_table_are_refused():
    equal, apart = np.array([[0.5, 0.0], [0.0, 0.5]]), np.array([[0.0, 0.5], [0.5, 0.0]])
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    known = [
        KnownMarginal(clique, values, is_count=False, name="".join(clique))
        for clique, values in [(("a", "b"), equal), (("b", "c"), equal), (("a", "c"), apart)]
    ]
    with pytest.raises(ParameterError, match="ab, bc, ac contradict each other: no table has them"):
        check_known(domain, known)
    check_known(domain, [known[0], known[1]])


def test_rules_that_forbid_what_is_known_are_refused():
    known = [table(people(300), ("town", "age"))]
    forbidden = np.ones((5, 3), dtype=np.bool_)
    forbidden[2] = False
    with pytest.raises(ParameterError, match="has records that a rule on 'age', 'job' forbids"):
        check_known(DOMAIN, known, [Constraint(("age", "job"), forbidden)])
    # Of each attribute alone nothing is forbidden, but of the two together too much.
    ages = KnownMarginal(("age",), np.array([0.6, 0.1, 0.1, 0.1, 0.1]), is_count=False, name="ages")
    jobs = KnownMarginal(("job",), np.array([0.1, 0.1, 0.8]), is_count=False, name="jobs")
    young = np.ones((5, 3), dtype=np.bool_)
    young[0, 2] = False
    with pytest.raises(ParameterError, match="ages, jobs and the rules contradict each other"):
        check_known(DOMAIN, [ages, jobs], [Constraint(("age", "job"), young)])


def test_a_circle_over_too_many_cells_is_refused():
    domain = Domain(("a", "b", "c"), (90, 90, 90))
    known = [
        KnownMarginal(clique, np.ones((90, 90)), is_count=True, name="".join(clique))
        for clique in [("a", "b"), ("b", "c"), ("a", "c")]
    ]
    with pytest.raises(ModelTooLargeError, match="729000 combinations, at most 200000"):
        check_known(domain, known)


@pytest.mark.parametrize(
    ("values", "said"),
    [([1.5, 2.0], "not whole"), ([-1.0, 2.0], "0 or more"), ([0.0, 0.0], "one above 0")],
)
def test_numbers_that_are_no_counts_are_refused(values, said):
    with pytest.raises(ParameterError, match=said):
        KnownMarginal(("sex",), np.array(values), is_count=True)


def test_a_saved_model_meets_what_is_known_as_before():
    columns = people(1000)
    known = family("levels", columns)
    fitter = KnownTotalsEngine(inner=GraphicalModelEngine(), marginals=tuple(known))
    model = fitter.estimate(DOMAIN, noisy(columns))
    again = model_from_state(*model_to_state(model), DOMAIN)
    assert all(
        np.array_equal(left, right)
        for left, right in zip(model.sample(500, seed=1), again.sample(500, seed=1), strict=True)
    )
    assert [marginal.stated() for marginal in again.known] == [each.stated() for each in known]
