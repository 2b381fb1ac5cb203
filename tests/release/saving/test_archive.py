"""Saved releases: the same synthesis comes back, as the same bytes."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import HEADER, ROWS, SCHEMA
from helpers.homes import home

import synthdp
from synthdp.core import DataFileError
from synthdp.data import CodedSource, encode
from synthdp.mechanisms import Mechanism
from synthdp.release import Release, RunSettings, mechanism_named, read_schema
from synthdp.schema import Schema

archive = home(read_schema)

FRAME = pd.read_csv(io.StringIO(HEADER + ROWS), dtype=str, keep_default_na=False)


def synthesize(**options):
    return synthdp.synthesize(FRAME, SCHEMA, **{"epsilon": 2, "delta": 1e-6} | options)


@pytest.fixture(scope="module")
def refined():
    """A release with merged levels: so little budget that all rare levels are merged."""
    fields = [SCHEMA["fields"][1] | {"synthdp": {"bins": 50}}, {"name": "y", "type": "integer"}]
    fields[1]["constraints"] = {"minimum": 0, "maximum": 40}
    frame = pd.DataFrame({"age": [3] * 400, "y": [4] * 400})
    synthesis = synthdp.synthesize(
        frame, {"fields": fields}, epsilon=1, delta=1e-6, mechanism="mst"
    )
    assert any(measurement.coarsening for measurement in synthesis.measurements)
    return synthesis


class Unfinished(Mechanism):
    """Measures two columns and is interrupted."""

    name = "unfinished"
    reference = "none"

    def release(self, table, task):  # noqa: ARG002
        table.measure(("town",), rho=table.ledger.remaining / 3)
        table.measure(("age",), rho=table.ledger.remaining / 2)
        raise KeyboardInterrupt


@pytest.fixture
def partial():
    kept = []
    schema = Schema.from_dict(SCHEMA)
    mechanism = mechanism_named("independent")
    object.__setattr__(mechanism, "release", Unfinished().release)
    settings = RunSettings(epsilon=2, delta=1e-6, mechanism=mechanism, engine="graphical-model")
    release = Release(schema=schema, settings=settings)
    with pytest.raises(KeyboardInterrupt):
        release.of(CodedSource(encode(FRAME, schema)), rescue=kept.append)
    assert kept[0].existing_model is None
    return kept[0]


@pytest.fixture(params=["mst", "independent", "direct", "refined", "partial"])
def synthesis(request):
    if request.param in ("refined", "partial"):
        return request.getfixturevalue(request.param)
    return (
        synthesize(engine="direct")
        if request.param == "direct"
        else synthesize(mechanism=request.param)
    )


def test_what_is_saved_comes_back(synthesis, tmp_path):
    synthesis.save(tmp_path / "m")
    loaded = synthdp.load(tmp_path / "m")
    pd.testing.assert_frame_equal(loaded.sample(300, seed=3), synthesis.sample(300, seed=3))
    names = list(synthesis.schema.names)
    for columns in ([names[0]], [names[1]], names[:2], names[::-1]):
        pd.testing.assert_series_equal(
            loaded.marginal(columns), synthesis.marginal(columns), rtol=1e-12
        )
    assert loaded.certificate == json.loads(json.dumps(synthesis.certificate))
    assert loaded.schema.to_dict() == synthesis.schema.to_dict()
    assert len(loaded.measurements) == len(synthesis.measurements)
    for ours, theirs in zip(loaded.measurements, synthesis.measurements, strict=True):
        assert ours.clique == theirs.clique
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_array_equal(ours.stddev, theirs.stddev)
        groups = [m.coarsening.groups if m.coarsening else {} for m in (ours, theirs)]
        assert groups[0].keys() == groups[1].keys()
        for name, merged in groups[0].items():
            np.testing.assert_array_equal(merged, groups[1][name])


def test_the_same_synthesis_gives_the_same_bytes(synthesis, tmp_path):
    synthesis.save(tmp_path / "a")
    synthesis.save(tmp_path / "b")
    again = synthdp.load(tmp_path / "a")
    again.save(tmp_path / "c")
    assert (
        (tmp_path / "a").read_bytes()
        == (tmp_path / "b").read_bytes()
        == (tmp_path / "c").read_bytes()
    )


def test_a_partial_synthesis_is_fitted_when_it_is_asked(partial, tmp_path):
    partial.save(tmp_path / "m")
    loaded = synthdp.load(tmp_path / "m")
    assert loaded.existing_model is None
    assert loaded.certificate["complete"] is False
    assert loaded.sample(9, seed=1).shape == (9, 3)
    assert (
        0
        < loaded.certificate["accounting"]["rho_spent"]
        < loaded.certificate["accounting"]["rho_budget"]
    )


def test_a_file_holds_json_and_numbers_only(synthesis, tmp_path):
    synthesis.save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as content:
        for name in content.namelist():
            data = content.read(name)
            if name.endswith(".npy"):
                assert np.load(io.BytesIO(data), allow_pickle=False).dtype.kind in "fi"
            elif name == "synthesis.json":
                assert json.loads(data)["format"] == archive.FORMAT
            else:
                assert name == "SHA256SUMS"
                assert {len(line.split()[0]) for line in data.decode().splitlines()} == {64}


def test_nothing_is_replaced_without_force(tmp_path):
    synthesis = synthesize(mechanism="independent")
    synthesis.save(tmp_path / "m")
    with pytest.raises(DataFileError, match="it exists"):
        synthesis.save(tmp_path / "m")
    synthesis.save(tmp_path / "m", force=True)
    with pytest.raises(DataFileError, match="cannot be read"):
        synthdp.load(tmp_path / "none")
