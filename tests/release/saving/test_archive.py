"""Saved models: the same synthesis comes back, as the same bytes, and a forged file does nothing."""

import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import HEADER, ROWS, SCHEMA, assert_one_line, invoke

import synthdp
from synthdp.errors import DataFileError
from synthdp.release.registry import mechanism_named
from synthdp.release.release import Release
from synthdp.release.saving import archive
from synthdp.selection.mechanism import Mechanism
from synthdp.table.records.codec import encode
from synthdp.table.records.coded_source import CodedSource
from synthdp.table.schema.schema import Schema

FRAME = pd.read_csv(io.StringIO(HEADER + ROWS), dtype=str, keep_default_na=False)


def synthesize(**options):
    return synthdp.synthesize(FRAME, SCHEMA, **{"epsilon": 2, "delta": 1e-6} | options)


@pytest.fixture(scope="module")
def refined():
    """A release with merged levels: so little budget that all rare levels are merged."""
    fields = [SCHEMA["fields"][1] | {"synthdp": {"bins": 50}}, {"name": "y", "type": "integer"}]
    fields[1]["constraints"] = {"minimum": 0, "maximum": 40}
    frame = pd.DataFrame({"age": [3] * 400, "y": [4] * 400})
    synthesis = synthdp.synthesize(frame, {"fields": fields}, epsilon=1, delta=1e-6, mechanism="mst")
    assert any(measurement.coarsening for measurement in synthesis.measurements)
    return synthesis


class Unfinished(Mechanism):
    """Measures two columns and is interrupted."""

    name = "unfinished"
    reference = "none"

    def release(self, table, *, workload, engine, constraints=(), report):  # noqa: ARG002
        table.measure(("town",), rho=table.ledger.remaining / 3)
        table.measure(("age",), rho=table.ledger.remaining / 2)
        raise KeyboardInterrupt


@pytest.fixture
def partial():
    kept = []
    schema = Schema.from_dict(SCHEMA)
    release = Release(
        schema=schema, epsilon=2, delta=1e-6, mechanism="mst", engine="graphical-model", adjacency="add-remove"
    )
    release._mechanism = mechanism_named("independent")
    object.__setattr__(release._mechanism, "release", Unfinished().release)
    with pytest.raises(KeyboardInterrupt):
        release.of(CodedSource(encode(FRAME, schema)), rescue=kept.append)
    assert kept[0].fitted is None
    return kept[0]


@pytest.fixture(params=["mst", "independent", "direct", "refined", "partial"])
def synthesis(request):
    if request.param in ("refined", "partial"):
        return request.getfixturevalue(request.param)
    return synthesize(engine="direct") if request.param == "direct" else synthesize(mechanism=request.param)


def test_what_is_saved_comes_back(synthesis, tmp_path):
    synthesis.save(tmp_path / "m")
    loaded = synthdp.load(tmp_path / "m")
    pd.testing.assert_frame_equal(loaded.sample(300, seed=3), synthesis.sample(300, seed=3))
    names = list(synthesis.schema.names)
    for columns in ([names[0]], [names[1]], names[:2], names[::-1]):
        pd.testing.assert_series_equal(loaded.marginal(columns), synthesis.marginal(columns), rtol=1e-12)
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
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_partial_synthesis_is_fitted_when_it_is_asked(partial, tmp_path):
    partial.save(tmp_path / "m")
    loaded = synthdp.load(tmp_path / "m")
    assert loaded.fitted is None
    assert loaded.certificate["complete"] is False
    assert loaded.sample(9, seed=1).shape == (9, 3)
    assert 0 < loaded.certificate["accounting"]["rho_spent"] < loaded.certificate["accounting"]["rho_budget"]


def test_a_file_holds_json_and_numbers_only(synthesis, tmp_path):
    synthesis.save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as content:
        for name in content.namelist():
            data = content.read(name)
            if name.endswith(".npy"):
                assert np.load(io.BytesIO(data), allow_pickle=False).dtype.kind in "fi"
            else:
                assert name == "synthesis.json"
                assert json.loads(data)["format"] == archive.FORMAT


def test_nothing_is_replaced_without_force(tmp_path):
    synthesis = synthesize(mechanism="independent")
    synthesis.save(tmp_path / "m")
    with pytest.raises(DataFileError, match="it exists"):
        synthesis.save(tmp_path / "m")
    synthesis.save(tmp_path / "m", force=True)
    with pytest.raises(DataFileError, match="cannot be read"):
        synthdp.load(tmp_path / "none")


# ---- forged and damaged files

LOADED = []


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return LOADED.append, ("a pickle ran",)


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), **options)
    return stream.getvalue()


def header_only(shape, descr="<f8", version=(1, 0)):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H", len(text)) + text


def edited(change):
    """A forgery that changes the JSON."""

    def forge(files):
        manifest = json.loads(files["synthesis.json"])
        change(manifest)
        files["synthesis.json"] = json.dumps(manifest).encode()

    return forge


def replaced(name, content):
    def forge(files):
        assert name in files
        files[name] = content

    return forge


POTENTIAL, VALUES, STDDEV = "model/potential-0.npy", "measurement-0/values.npy", "measurement-0/stddev.npy"
FORGERIES = {
    "newer format": edited(lambda m: m.update(format="synthdp-synthesis/2", schema=None)),
    "no format": edited(lambda m: m.pop("format")),
    "no model": edited(lambda m: m.pop("model")),
    "model is a list": edited(lambda m: m.update(model=[1])),
    "model of a new kind": edited(lambda m: m["model"].update(kind="diffusion")),
    "model without tree": edited(lambda m: m["model"].pop("tree")),
    "tree of foreign names": edited(lambda m: m["model"].update(tree=[["os", "system"]])),
    "tree that is none": edited(lambda m: m["model"].update(tree=[["town"], ["age"]])),
    "cliques outside of the tree": edited(lambda m: m["model"]["cliques"].__setitem__(0, ["town", "age", "code"])),
    "total is nan": edited(lambda m: m["model"].update(total=float("nan"))),
    "total is inf": edited(lambda m: m["model"].update(total=float("inf"))),
    "total is text": edited(lambda m: m["model"].update(total="many")),
    "status with foreign keys": edited(lambda m: m["model"]["status"].update(evil=1)),
    "schema is broken": edited(lambda m: m["schema"].update(fields=[])),
    "schema of other columns": edited(lambda m: m.update(schema={"x": 2})),
    "schema of other sizes": edited(lambda m: m.update(schema={"town": 99, "age": 99, "code": 99})),
    "certificate is a number": edited(lambda m: m.update(certificate=7)),
    "measurements are text": edited(lambda m: m.update(measurements="abc")),
    "measurement without columns": edited(lambda m: m["measurements"][0].pop("columns")),
    "manifest is a list": replaced("synthesis.json", b"[]"),
    "manifest is deep": replaced("synthesis.json", b"[" * 200_000),
    "manifest is no text": replaced("synthesis.json", b"\xff\xfe\xfd"),
    "manifest is gone": lambda files: files.pop("synthesis.json"),
    "potential is gone": lambda files: files.pop(POTENTIAL),
    "potential of objects": replaced(POTENTIAL, npy(np.array([Bomb()], dtype=object), allow_pickle=True)),
    "potential is a pickle": replaced(POTENTIAL, pickle.dumps(Bomb())),
    "values are a pickle": replaced(VALUES, pickle.dumps(Bomb())),
    "potential of another shape": replaced(POTENTIAL, npy(np.zeros(77))),
    "potential of texts": replaced(POTENTIAL, npy(np.array(["a", "b"]))),
    "potential of complex numbers": replaced(POTENTIAL, npy(np.zeros(3, complex))),
    "potential cut": replaced(POTENTIAL, npy(np.zeros(9))[:-8]),
    "potential empty": replaced(POTENTIAL, b""),
    "absurd shape": replaced(POTENTIAL, header_only((10**15,))),
    "more absurd shape": replaced(POTENTIAL, header_only((10**30, 10**30))),
    "negative shape": replaced(POTENTIAL, header_only((-5, -1))),
    "header runs code": replaced(POTENTIAL, header_only((3,), descr="__import__('os')")),
    "header of objects": replaced(VALUES, header_only((3,), descr="|O")),
    "newer array format": replaced(POTENTIAL, header_only((3,), version=(9, 9))),
    "values are nan": replaced(VALUES, npy(np.full(3, np.nan))),
    "stddev is 0": replaced(STDDEV, npy(np.float64(0))),
    "stddev of another shape": replaced(STDDEV, npy(np.ones(7))),
}


def forged(tmp_path, forge, synthesis=None):
    (synthesis or synthesize(mechanism="independent")).save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as content:
        files = {name: content.read(name) for name in content.namelist()}
    forge(files)
    with zipfile.ZipFile(tmp_path / "forged", "w", zipfile.ZIP_DEFLATED) as content:
        for name, data in files.items():
            content.writestr(name, data)
    return tmp_path / "forged"


def assert_refused(path):
    with pytest.raises(DataFileError):
        synthdp.load(path)
    assert_one_line(invoke("show", path), 1)
    assert_one_line(invoke("sample", path, "-o", path.with_name("more.csv")), 1)
    assert not path.with_name("more.csv").exists()
    assert LOADED == []


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_forged_files_are_refused_and_run_nothing(forge, tmp_path):
    assert_refused(forged(tmp_path, forge))


REFINED = {
    "merged is a number": edited(lambda m: m["model"].update(merged=3)),
    "merged names are foreign": edited(lambda m: m["model"].update(merged=["x"])),
    "coarse model is gone": edited(lambda m: m["model"].pop("coarse")),
    "coarse model is itself": edited(lambda m: m["model"].update(coarse=m["model"] | {"coarse": {}})),
    "groups with gaps": replaced("model/groups-0.npy", npy(np.full(51, 7.0))),
    "groups of nan": replaced("model/groups-0.npy", npy(np.full(51, np.nan))),
    "shares of another shape": replaced("model/shares-0.npy", npy(np.ones(3))),
    "other groups were measured": replaced("measurement-2/groups-0.npy", npy(np.zeros(4, np.int64))),
}


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("forge", REFINED.values(), ids=REFINED)
def test_forged_refined_models_are_refused(forge, refined, tmp_path):
    assert_refused(forged(tmp_path, forge, refined))


def test_another_version_is_named(tmp_path):
    path = forged(tmp_path, FORGERIES["newer format"])
    with pytest.raises(DataFileError, match="another version of synthdp"):
        synthdp.load(path)


def test_names_that_climb_out_of_the_folder_write_nothing(tmp_path):
    path = forged(tmp_path, lambda files: files.update({"../../evil.npy": npy(np.zeros(3)), "/evil": b"x"}))
    before = sorted(tmp_path.parent.rglob("*"))
    assert synthdp.load(path).sample(3).shape == (3, 3)
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_a_damaged_file_is_refused_wherever_the_damage_is(tmp_path):
    synthesize().save(tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    generator = np.random.default_rng(0)
    path = tmp_path / "damaged"
    for length in generator.integers(0, len(content), 40):
        path.write_bytes(content[:length])
        with pytest.raises(DataFileError):
            synthdp.load(path)
    for position in generator.integers(0, len(content), 300):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :])
        try:  # a checksum does not cover everything: a date may be another one
            synthdp.load(path).sample(3)
        except DataFileError:
            continue


def zip_file(path, *, method=zipfile.ZIP_DEFLATED, **files):
    with zipfile.ZipFile(path, "w", method) as content:
        for name, data in files.items():
            content.writestr(name.replace("__", "."), data)


def test_other_zips_and_bombs_are_refused(tmp_path, monkeypatch):
    zip_file(tmp_path / "empty")
    zip_file(tmp_path / "other", a__txt="x")
    zip_file(tmp_path / "packed", method=zipfile.ZIP_LZMA, synthesis__json="{}")
    encrypted = tmp_path / "encrypted"
    zip_file(encrypted, method=zipfile.ZIP_STORED, synthesis__json="{}")
    data = bytearray(encrypted.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    encrypted.write_bytes(data)
    zip_file(tmp_path / "unknown", synthesis__json="{}")
    data = bytearray((tmp_path / "unknown").read_bytes())
    data[8:10] = data[data.index(b"PK\x01\x02") + 10 :][:2] = b"\x63\x00"
    data[data.index(b"PK\x01\x02") + 10] = 99
    (tmp_path / "unknown").write_bytes(data)
    for name in ("empty", "other", "packed", "encrypted", "unknown"):
        assert_refused(tmp_path / name)
    monkeypatch.setattr(archive, "MAX_BYTES", 10**6)
    zip_file(tmp_path / "bomb", synthesis__json=b" " * 10**7)
    assert (tmp_path / "bomb").stat().st_size < 20_000
    assert_refused(tmp_path / "bomb")
    with pytest.raises(DataFileError, match="too large"):
        synthdp.load(tmp_path / "bomb")
