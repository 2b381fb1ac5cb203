"""No third sex: what was learnt as a level for all others is not drawn where it has nothing but
noise.
"""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from helpers.html_pages import Page

import synthdp
from synthdp.core import Domain, LinearMeasurement, ParameterError
from synthdp.inference import DirectEngine
from synthdp.release import SCHEMA_FILE, redrawn, without_unused
from synthdp.report import certificate_page, certificate_text

KINDS = {"sex": "string", "town": "string"}


@pytest.fixture(scope="module")
def synthesis():
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M"], 4000)
    town = np.where(
        rng.random(4000) < 0.1, [f"t{i}" for i in range(4000)], np.where(sex == "F", "Bonn", "Ulm")
    )
    table = pd.DataFrame({"sex": sex, "town": town})
    return synthdp.synthesize(
        table, kinds=KINDS, epsilon=5.0, delta=1e-6, mechanism="gaussian", engine="direct"
    )


def test_samples_slices_completions_and_marginals_agree(synthesis, tmp_path):
    assert synthesis.schema["sex"].labels.tolist() == ["F", "M", "other"]
    synthesis.save(tmp_path / "model.synthdp")
    for each in (synthesis, synthdp.load(tmp_path / "model.synthdp")):
        table = each.sample(20_000, seed=1)
        assert set(table["sex"]) == {"F", "M"}
        assert set(table["town"]) == {"Bonn", "Ulm", "other"}  # which has a tenth of the records
        assert set(each.sample(2000, seed=1, where={"town": ["other"]})["sex"]) == {"F", "M"}
        assert set(each.sample(given={"town": ["Bonn"] * 2000}, seed=1)["sex"]) <= {"F", "M"}
        counts = each.marginal(["sex", "town"])
        assert (counts["other"] == 0).all()
        assert counts.sum() == pytest.approx(each.model.total)
        assert counts.groupby("sex").sum().to_dict() == pytest.approx(
            each.marginal("sex").to_dict(), rel=0.01
        )
        with pytest.raises(ParameterError, match="the condition on 'sex'") as caught:
            each.sample(5, where={"sex": ["other"]})
        assert "\n" not in str(caught.value)
        assert each.sample(given={"sex": ["x"]}, seed=1)["sex"].tolist() == [
            "x"
        ]  # what is given stays


def test_the_certificate_says_which_level_is_not_drawn(synthesis):
    certificate = synthesis.certificate
    assert certificate["domain"]["not_drawn"] == {"sex": "other"}
    assert synthesis.unused == {"sex": (2,)}
    jsonschema.validate(certificate, json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    for is_whole in (True, False):
        text = certificate_text(certificate, is_whole=is_whole)
        assert "not drawn          sex: other (noise alone was measured there)" in text
        assert "round values" not in text
    page = Page(certificate_page(certificate))
    assert [
        "Not drawn",
        "sex: other (noise alone was measured there)",
    ] in page.rows
    heaped = certificate | {
        "domain": certificate["domain"] | {"heaping": {"age": {"5": 0.25, "10": 0.5}}}
    }
    (said,) = (row[1] for row in Page(certificate_page(heaped)).rows if row[0] == "Round values")
    assert said == "found, and drawn as often, as multiples: 'age' 25 % of 5 and 50 % of 10"


def test_the_level_would_be_drawn_otherwise(synthesis):
    codes = synthesis.model.sample(200_000, seed=1)
    used = redrawn(synthesis.model, codes, {"sex": (2,)}, seed=1)
    assert not (used[0] == 2).any()
    assert np.array_equal(used[0][codes[0] != 2], codes[0][codes[0] != 2])
    assert np.array_equal(used[1], codes[1])


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_records_are_drawn_again_given_the_rest(shape):
    domain = Domain(("sex", "town")[: len(shape)], shape)
    counts = (
        np.array([90.0, 0.0, 30.0])
        if len(shape) == 1
        else np.array([[900.0, 0.0], [0.0, 900.0], [100.0, 100.0]])
    )
    model = DirectEngine().estimate(domain, [LinearMeasurement(domain.attributes, counts, 1.0)])
    codes = model.sample(1000, seed=1)
    used = redrawn(model, codes, {"sex": (2,)}, seed=1)
    assert (codes[0] == 2).sum() > 50
    assert (used[0] == (0 if len(shape) == 1 else used[1])).all()


def test_marginals_lose_nothing():
    values = np.random.default_rng(1).random((3, 4, 2))
    values[:, :3, 0] = 0  # nothing but the unused level: the others have even shares
    found = without_unused(values, ["a", "b", "c"], {"b": (3,), "d": (0,)})
    assert np.allclose(found.sum(axis=1), values.sum(axis=1))
    assert np.allclose(found[:, :3, 0], values[:, 3, 0, None] / 3)
    assert not found[:, 3].any()
