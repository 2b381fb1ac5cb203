"""Replicates: tables that differ as the noise allows, and what analyses of them say."""

import warnings

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.core import CautionWarning, Coarsening, Domain, LinearMeasurement, ParameterError
from synthdp.release import ColumnSubset, basis_of, engine_of, refits
from synthdp.schema import Schema

DOMAIN = Domain(("a", "b", "c", "d"), (2, 3, 2, 4))
CELLS = np.random.default_rng(0).dirichlet(np.ones(48) * 3).reshape(DOMAIN.shape) * 3000
MERGING = Coarsening({"d": np.array([0, 0, 1, 1])})


def measured(clique, stddev, coarsening=None, seed=1):
    summed = tuple(axis for axis, name in enumerate(DOMAIN.attributes) if name not in clique)
    values = CELLS.sum(axis=summed)
    values = coarsening.apply(clique, values) if coarsening else values
    noise = np.random.default_rng([seed, *map(ord, "".join(clique))]).standard_normal(values.shape)
    return LinearMeasurement(clique, values + stddev * noise, stddev, coarsening)


PAIRS = [measured(clique, 8.0) for clique in (("a", "b"), ("b", "c"), ("a", "c"), ("d",))]
ALL = [*PAIRS, measured(("a", "d"), 8.0, MERGING)]


@pytest.fixture(scope="module")
def synthesis():
    return synthdp.from_measurements(DOMAIN, ALL)


@pytest.fixture(scope="module")
def replicates(synthesis):
    return synthesis.replicates(5, seed=3)


def test_tables_look_like_samples_and_differ(synthesis, replicates):
    assert len(replicates) == 5
    assert [len(table) for table in replicates] == [len(synthesis.sample())] * 5
    assert list(replicates[0].columns) == list(DOMAIN.attributes)
    assert not replicates[0].equals(replicates[1])
    pd.testing.assert_frame_equal(replicates.table(2), replicates[2])
    assert len(synthesis.replicates(2, n_rows=7)[1]) == 7


def test_seeds_repeat_everything_and_nothing_else_does(synthesis, replicates):
    again = synthesis.replicates(5, seed=3)
    pd.testing.assert_frame_equal(again[4], replicates[4])
    pd.testing.assert_frame_equal(again.mean("a"), replicates.mean("a"))
    assert not synthesis.replicates(5, seed=4)[0].equals(replicates[0])
    assert not synthesis.replicates(5).mean("a").equals(synthesis.replicates(5).mean("a"))


def test_refits_spread_as_the_noise_does():
    """Of a column by itself a fit is its counts, so that replicates spread with the recorded scale."""
    domain, stddev = Domain(("d",), (4,)), 8.0
    generators = [np.random.default_rng([7, i]) for i in range(300)]
    part = ColumnSubset.for_columns(Schema.from_dict({"d": 4}), [measured(("d",), stddev)], ["d"])
    centre, *models = refits(domain, part.measurements, (), engine_of(part), generators)
    spread = np.std([model.marginal(("d",)).values for model in models], axis=0)
    np.testing.assert_allclose(spread, stddev, rtol=0.35)
    mean = np.mean([model.marginal(("d",)).values for model in models], axis=0)
    np.testing.assert_allclose(mean, centre.marginal(("d",)).values, atol=7 * stddev / 300**0.5)


def test_parts_hold_what_all_measurements_say_of_their_columns():
    part = ColumnSubset.for_columns(
        Schema.from_dict(dict(zip(DOMAIN.attributes, DOMAIN.shape, strict=True))), ALL, ["a", "c"]
    )
    assert {measurement.clique for measurement in part.measurements} == {
        ("a",),
        ("c",),
        ("a", "c"),
        (),
    }
    (column,) = [m for m in part.measurements if m.clique == ("a",)]
    assert column.stddev == pytest.approx(
        np.sqrt(1 / (1 / (3 * 64) + 1 / (2 * 64)))
    )  # from (a, b) and merged (a, d)


@pytest.mark.parametrize(
    ("columns", "ground", "words"),
    [
        (["a"], "measured", None),
        (["c", "b"], "measured", None),
        (["a", "b", "c"], "pairs", None),
        (["a", "d"], "merged", "a and d were measured together over merged levels only"),
        (["a", "d", "c"], "model", "c and d were part of no measurement together"),
    ],
)
def test_basis_says_whether_dependences_were_measured(synthesis, columns, ground, words):
    found = basis_of(synthesis.schema, ALL, columns)
    assert found.coverage == ground
    assert found.is_covered == (words is None)
    assert words is None or words in found.cautions[0]


def test_dependences_that_nobody_measured_have_no_interval(replicates):
    with pytest.warns(CautionWarning, match="no interval: c and d"):
        found = replicates.regression("c", ["d"], kind="logistic")
    assert found[["low", "high"]].isna().all(axis=None)
    assert found["estimate"].notna().all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = replicates.regression("c", ["a", "b"], kind="logistic", of="table")
    assert found.notna().all(axis=None)
    assert list(found.index) == ["intercept", "a", "b"]
    assert (found["basis"] == "pairs").all()


def test_bins_of_several_values_are_cautioned_of():
    limits = {"minimum": 0, "maximum": 9, "required": True}
    schema = {
        "fields": [
            {"name": "age", "type": "integer", "constraints": limits, "synthdp": {"bins": 2}}
        ]
    }
    counted = LinearMeasurement(("age",), np.array([400.0, 600.0]), 5.0)
    replicates = synthdp.from_measurements(schema, [counted]).replicates(5, seed=0)
    with pytest.warns(CautionWarning, match="age: values are drawn inside its bins"):
        found = replicates.mean("age")
    assert found["estimate"].item() == pytest.approx(0.4 * 2 + 0.6 * 7, abs=0.3)


def test_results_are_near_what_the_counts_say(replicates):
    shares = CELLS.sum(axis=(0, 2, 3)) / CELLS.sum()
    found = replicates.proportion("b", 1)
    assert found.index.tolist() == ["b=1"]
    assert found["estimate"].item() == pytest.approx(shares[1], abs=0.03)
    assert replicates.mean("b")["estimate"].item() == pytest.approx(shares @ np.arange(3), abs=0.05)
    assert replicates.quantile("d", 0.5)["estimate"].item() in (1.0, 2.0)
    pair = CELLS.sum(axis=(2, 3))
    means = pair @ np.arange(3) / pair.sum(axis=1)
    assert replicates.difference("b", "a", 1, 0)["estimate"].item() == pytest.approx(
        means[1] - means[0], abs=0.1
    )
    own = replicates.combine(
        lambda t: (t[["a", "b"]].mean(), t[["a", "b"]].var() / len(t)), ["a", "b"]
    )
    assert own.index.tolist() == ["a", "b"]
    assert own.loc["b", "estimate"] == pytest.approx(
        replicates.mean("b")["estimate"].item(), abs=0.01
    )


def test_noise_makes_intervals_wider_than_the_table_s_own(replicates):
    population, table = replicates.mean("b"), replicates.mean("b", of="table")
    assert 0 < table["stderr"].item() < population["stderr"].item()


def test_analyses_without_a_finite_number_have_no_interval(replicates):
    with pytest.warns(CautionWarning, match="no finite number for 9 of 9 tables"):
        found = replicates.combine(lambda _: (np.nan, 0.0), ["a"])
    assert found[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize("engine", ["layered-consistency", "local-consistency"])
def test_other_engines_refit(synthesis, engine):
    assert len(synthesis.replicates(2, seed=0, engine=engine)[1]) == len(synthesis.sample())


def test_a_saved_release_gives_the_same_replicates(tmp_path, synthesis, replicates):
    synthesis.save(tmp_path / "a.synthdp")
    loaded = synthdp.load(tmp_path / "a.synthdp").replicates(5, seed=3)
    pd.testing.assert_frame_equal(loaded.mean("b"), replicates.mean("b"))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s: s.replicates(1), "m is 1; give a number of tables from 2 to 1000"),
        (lambda s: s.replicates(True), "m is True"),
        (lambda s: s.replicates(2, seed=-1), "seed is -1"),
        (lambda s: s.replicates(2, n_rows=-1), "n_rows is -1"),
        (lambda s: s.replicates(2, engine="nope"), "engine 'nope' is unknown"),
        (lambda s: s.replicates(2).mean("nope"), "no column 'nope'"),
        (lambda s: s.replicates(2).mean("a", level=1), "level is 1"),
        (lambda s: s.replicates(2).mean("a", of="rows"), "of is 'rows'"),
        (lambda s: s.replicates(2).quantile("a", 2), "share is 2"),
        (lambda s: s.replicates(2).proportion("a", 7), "no value 7; it has '0', '1'"),
        (lambda s: s.replicates(2).regression("a", ["a"], kind="linear"), "named twice"),
        (lambda s: s.replicates(2).regression("a", ["b"], kind="probit"), "kind is 'probit'"),
        (
            lambda s: s.replicates(2).regression("b", ["a"], kind="logistic"),
            "other values than 0 and 1; say with event=",
        ),
        (lambda s: s.replicates(2).combine(lambda _: (1.0, 1.0), []), "columns: there is none"),
        (
            lambda s: s.replicates(2).combine(lambda _: (np.ones(2), np.ones(3)), ["a"]),
            "a value and a variance for each",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_a_line(synthesis, ask, words):
    with pytest.raises(ParameterError, match=words) as refused:
        ask(synthesis)
    assert "\n" not in str(refused.value)


def test_a_release_whose_rows_noise_hides_has_no_replicates():
    hidden = synthdp.from_measurements(
        Domain(("a",), (2,)), [LinearMeasurement(("a",), np.array([3.0, 1.0]), 50.0)]
    )
    with pytest.raises(ParameterError, match="replicates: noise hides how many records"):
        hidden.replicates(3)
