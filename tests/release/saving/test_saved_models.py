"""Files that earlier versions saved: they load, and answer as they did.

The files in ``saved/`` hold one model of each kind, fitted to noisy pairs of a made-up table of 400
rows and saved before the models of weighted rows became one, or when the kind was new;
``expected.json`` holds what that version then answered.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import synthdp
from synthdp.inference import KINDS

SAVED = Path(__file__).parent / "saved"
EXPECTED = json.loads((SAVED / "expected.json").read_text())
N_ROWS = 4000


@pytest.fixture(params=sorted(EXPECTED))
def name(request):
    return request.param


@pytest.fixture
def synthesis(name):
    return synthdp.load(SAVED / f"{name}.synthdp")


def test_each_kind_of_model_has_a_file():
    inner = "markov-random-field"  # under the refined model
    assert {expected["kind"] for expected in EXPECTED.values()} | {inner} == set(KINDS)


def test_marginals_are_as_they_were(name, synthesis):
    expected = EXPECTED[name]
    assert synthesis.model.total == expected["total"]
    assert synthesis.model.status.n_iterations == expected["iterations"]
    for clique, values in expected["marginals"].items():
        # Rounding error of sums in another order.
        found = synthesis.model.marginal(clique.split(",")).values
        np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9 * expected["total"])


def test_drawn_rows_have_these_marginals_and_keep_to_the_rule(name, synthesis):
    frame = synthesis.sample(N_ROWS, seed=1)
    assert list(frame.columns) == ["sex", "age", "town", "marital"]
    assert not ((frame["age"] < 18) & (frame["marital"] == "married")).any()
    domain, columns = synthesis.model.domain, synthesis.model.sample(N_ROWS, seed=1)
    shares = np.asarray(EXPECTED[name]["marginals"]["sex,town"]) / EXPECTED[name]["total"]
    drawn = np.zeros(shares.shape)
    np.add.at(
        drawn, tuple(columns[domain.index(attribute)] for attribute in ("sex", "town")), 1 / N_ROWS
    )
    # Seven standard errors of a share drawn at random; rounding only brings it closer.
    assert np.abs(drawn - shares).max() <= 7 * np.sqrt(0.25 / N_ROWS)


def test_rows_are_completed_and_slices_drawn(synthesis):
    domain = synthesis.model.domain
    given = np.arange(60) % domain["town"]
    assert np.array_equal(
        synthesis.model.complete({"town": given}, seed=1)[domain.index("town")], given
    )
    rows = synthesis.model.sample_where({"marital": np.array([False, True])}, 60, seed=1)
    assert rows[domain.index("marital")].tolist() == [1] * 60
    assert rows[domain.index("age")].min() > 0


def test_a_model_that_is_saved_again_answers_the_same(synthesis, tmp_path):
    path = tmp_path / "again.synthdp"
    synthesis.save(path)
    again = synthdp.load(path)
    assert again.sample(200, seed=3).equals(synthesis.sample(200, seed=3))
    assert again.model.kind == synthesis.model.kind


def test_a_file_of_the_first_version_that_wrote_any_loads_and_is_saved_anew(tmp_path):
    """Written by the commit that brought `save`: 500 rows of towns and ages, at epsilon 1."""
    oldest = synthdp.load(SAVED / "oldest.synthdp")
    assert oldest.certificate["epsilon"] == 1
    assert [measurement.clique for measurement in oldest.measurements[:2]] == [("town",), ("age",)]
    assert list(oldest.sample(20, seed=1).columns) == ["town", "age"]
    oldest.save(tmp_path / "now")
    assert synthdp.load(tmp_path / "now").sample(20, seed=1).equals(oldest.sample(20, seed=1))
