"""Files that somebody forged or that were damaged: a line each, no code run, nothing written
anywhere.
"""

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import HEADER, ROWS, SCHEMA, assert_one_line, invoke
from helpers.release_files import (
    MANIFEST,
    SUMS,
    edited,
    header_only,
    members_of,
    npy,
    replaced,
    summed,
    write_zip,
)

import synthdp
from synthdp.core import DataFileError
from synthdp.release import read_schema

FRAME = pd.read_csv(io.StringIO(HEADER + ROWS), dtype=str, keep_default_na=False)
LOADED = []


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return LOADED.append, ("a pickle ran",)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A release of single columns, and one with merged levels: so little budget that all rare
    levels are merged.
    """
    path = tmp_path_factory.mktemp("saved") / "plain"
    synthdp.synthesize(FRAME, SCHEMA, epsilon=2, delta=1e-6, mechanism="independent").save(path)
    return path


@pytest.fixture(scope="module")
def refined(tmp_path_factory):
    fields = [SCHEMA["fields"][1] | {"synthdp": {"bins": 50}}, {"name": "y", "type": "integer"}]
    fields[1]["constraints"] = {"minimum": 0, "maximum": 40}
    frame = pd.DataFrame({"age": [3] * 400, "y": [4] * 400})
    path = tmp_path_factory.mktemp("saved") / "refined"
    synthdp.synthesize(frame, {"fields": fields}, epsilon=1, delta=1e-6, mechanism="mst").save(path)
    return path


POTENTIAL, VALUES, STDDEV = (
    "model/potential-0.npy",
    "measurement-0/values.npy",
    "measurement-0/stddev.npy",
)
FORGERIES = {
    "newer format": edited(lambda m: m.update(format="synthdp-synthesis/3", schema=None)),
    "format of version 0": edited(lambda m: m.update(format="synthdp-synthesis/0")),
    "format with more": edited(lambda m: m.update(format="synthdp-synthesis/2 ")),
    "format is a list": edited(lambda m: m.update(format=["synthdp-synthesis/2"])),
    "no format": edited(lambda m: m.pop("format")),
    "no model": edited(lambda m: m.pop("model")),
    "model is a list": edited(lambda m: m.update(model=[1])),
    "model of a new kind": edited(lambda m: m["model"].update(kind="diffusion")),
    "model without tree": edited(lambda m: m["model"].pop("tree")),
    "tree of foreign names": edited(lambda m: m["model"].update(tree=[["os", "system"]])),
    "tree that is none": edited(lambda m: m["model"].update(tree=[["town"], ["age"]])),
    "cliques outside of the tree": edited(
        lambda m: m["model"]["cliques"].__setitem__(0, ["town", "age", "code"])
    ),
    "total is nan": edited(lambda m: m["model"].update(total=float("nan"))),
    "total is inf": edited(lambda m: m["model"].update(total=float("inf"))),
    "total is text": edited(lambda m: m["model"].update(total="many")),
    "status with foreign keys": edited(lambda m: m["model"]["status"].update(evil=1)),
    "schema is broken": edited(lambda m: m["schema"].update(fields=[])),
    "schema of other columns": edited(lambda m: m.update(schema={"x": 2})),
    "schema of other sizes": edited(lambda m: m.update(schema={"town": 99, "age": 99, "code": 99})),
    "certificate without a guarantee": edited(lambda m: m["certificate"].pop("guarantee")),
    "certificate without accounting": edited(lambda m: m["certificate"].pop("accounting")),
    "guarantee is a list": edited(lambda m: m["certificate"].update(guarantee=["x"])),
    "cautions are one text": edited(lambda m: m["certificate"].update(cautions="none")),
    "cautions are numbers": edited(lambda m: m["certificate"].update(cautions=[7])),
    "certificate is a number": edited(lambda m: m.update(certificate=7)),
    "measurements are text": edited(lambda m: m.update(measurements="abc")),
    "measurement without columns": edited(lambda m: m["measurements"][0].pop("columns")),
    "manifest is a list": replaced("synthesis.json", b"[]"),
    "manifest is deep": replaced("synthesis.json", b"[" * 200_000),
    "manifest is deep and valid": edited(
        lambda m: m["certificate"].update(x=json.loads("[" * 60 + "]" * 60))
    ),
    "a key stands twice": lambda files: files.update(
        {
            MANIFEST: files[MANIFEST].replace(
                b'"format"', b'"format": "synthdp-synthesis/2", "format"', 1
            )
        }
    ),
    "a number of 5,000 digits": lambda files: files.update(
        {MANIFEST: files[MANIFEST].replace(b'"total": ', b'"total": ' + b"9" * 5000, 1)}
    ),
    "manifest is no text": replaced("synthesis.json", b"\xff\xfe\xfd"),
    "manifest is gone": lambda files: files.pop("synthesis.json"),
    "potential is gone": lambda files: files.pop(POTENTIAL),
    "potential of objects": replaced(
        POTENTIAL, npy(np.array([Bomb()], dtype=object), allow_pickle=True)
    ),
    "potential is a pickle": replaced(POTENTIAL, pickle.dumps(Bomb())),
    "values are a pickle": replaced(VALUES, pickle.dumps(Bomb())),
    "potential of another shape": replaced(POTENTIAL, npy(np.zeros(77))),
    "potential of texts": replaced(POTENTIAL, npy(np.array(["a", "b"]))),
    "potential of complex numbers": replaced(POTENTIAL, npy(np.zeros(3, complex))),
    "potential cut": replaced(POTENTIAL, npy(np.zeros(9))[:-8]),
    "potential empty": replaced(POTENTIAL, b""),
    "absurd shape": replaced(POTENTIAL, header_only((10**15,))),
    "more absurd shape": replaced(POTENTIAL, header_only((10**30, 10**30))),
    "shape of two numbers for one": replaced(STDDEV, header_only((2,), values=bytes(8))),
    "shape of nothing": replaced(VALUES, header_only((0, 10**15))),
    "shape of 70 axes": replaced(VALUES, header_only((1,) * 70, values=bytes(8))),
    "header longer than it says": replaced(
        STDDEV, npy(np.float64(1)).replace(b"\x76\x00", b"\x77\x00")
    ),
    "columns of Fortran": replaced(POTENTIAL, npy(np.asfortranarray(np.ones((2, 2))))),
    "other byte order": replaced(POTENTIAL, npy(np.zeros(3, ">f8"))),
    "narrow floats": replaced(POTENTIAL, npy(np.zeros(3, "<f4"))),
    "structured values": replaced(POTENTIAL, npy(np.zeros(3, [("a", "<f8")]))),
    "potential is inf": replaced(POTENTIAL, npy(np.full(3, np.inf))),
    "potential is nan": replaced(POTENTIAL, npy(np.full(3, np.nan))),
    "potential of one for all": replaced(POTENTIAL, npy(np.zeros((1,)))),
    "negative shape": replaced(POTENTIAL, header_only((-5, -1))),
    "header runs code": replaced(POTENTIAL, header_only((3,), descr="__import__('os')")),
    "header of objects": replaced(VALUES, header_only((3,), descr="|O")),
    "newer array format": replaced(POTENTIAL, header_only((3,), version=(9, 9))),
    "values are nan": replaced(VALUES, npy(np.full(3, np.nan))),
    "stddev is 0": replaced(STDDEV, npy(np.float64(0))),
    "stddev of another shape": replaced(STDDEV, npy(np.ones(7))),
}


def forged(saved, forge, path):
    """A forgery whose checksums hold."""
    members = members_of(saved)
    forge(members)
    return write_zip(path, summed(members))


def assert_refused(path):
    with pytest.raises(DataFileError):
        synthdp.load(path)
    assert_one_line(invoke("show", path), 1)
    assert_one_line(invoke("sample", path, "-o", path.with_name("more.csv")), 1)
    assert_one_line(invoke("refit", path, "--engine", "auto", "-o", path.with_name("again")), 1)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert LOADED == []


def test_what_is_not_forged_is_read(plain, refined, tmp_path):
    for saved in (plain, refined):
        path = forged(saved, lambda _: None, tmp_path / "same")
        assert synthdp.load(path).sample(3, seed=1).equals(synthdp.load(saved).sample(3, seed=1))


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_forged_files_are_refused_and_run_nothing(forge, plain, tmp_path):
    assert_refused(forged(plain, forge, tmp_path / "forged"))


REFINED = {
    "merged is a number": edited(lambda m: m["model"].update(merged=3)),
    "merged names are foreign": edited(lambda m: m["model"].update(merged=["x"])),
    "coarse model is gone": edited(lambda m: m["model"].pop("coarse")),
    "coarse model is itself": edited(
        lambda m: m["model"].update(coarse=m["model"] | {"coarse": {}})
    ),
    "groups with gaps": replaced("model/groups-0.npy", npy(np.full(51, 7.0))),
    "groups of nan": replaced("model/groups-0.npy", npy(np.full(51, np.nan))),
    "shares of another shape": replaced("model/shares-0.npy", npy(np.ones(3))),
    "other groups were measured": replaced(
        "measurement-2/groups-0.npy", npy(np.zeros(4, np.int64))
    ),
}


@pytest.mark.parametrize("forge", REFINED.values(), ids=REFINED)
def test_forged_refined_models_are_refused(forge, refined, tmp_path):
    assert_refused(forged(refined, forge, tmp_path / "forged"))


def test_a_newer_format_is_named_in_a_sentence(plain, tmp_path):
    path = forged(plain, FORGERIES["newer format"], tmp_path / "forged")
    with pytest.raises(
        DataFileError, match=r"its format synthdp-synthesis/3 is newer than .*/2, .*; update"
    ):
        synthdp.load(path)
    members = members_of(path)  # also where all else is of another kind
    write_zip(path, {MANIFEST: members[MANIFEST], "values.parquet": b"PAR1"})
    with pytest.raises(DataFileError, match="is newer"):
        synthdp.load(path)


def with_sums(change):
    """A forgery of members and checksums; pairs where a name stands twice."""
    return lambda whole: change(whole, whole[SUMS])


CHECKSUMS = {
    "none": with_sums(
        lambda whole, _: [(name, data) for name, data in whole.items() if name != SUMS]
    ),
    "one is wrong": with_sums(lambda whole, sums: whole | {SUMS: sums.replace(sums[:4], b"beef")}),
    "one is not there": with_sums(lambda whole, sums: whole | {SUMS: sums.split(b"\n", 1)[1]}),
    "one too many": with_sums(
        lambda whole, sums: whole | {SUMS: sums + sums[:64] + b"  model/other.npy\n"}
    ),
    "values changed": with_sums(lambda whole, _: whole | {VALUES: whole[VALUES][:-1] + b"\x01"}),
    "a member that is not listed": with_sums(
        lambda whole, _: whole | {"more.npy": npy(np.zeros(3))}
    ),
    "a name stands twice": with_sums(lambda whole, _: [*whole.items(), (VALUES, whole[VALUES])]),
    "a manifest stands twice": with_sums(lambda whole, _: [(MANIFEST, b"{}"), *whole.items()]),
    "no text": with_sums(lambda whole, _: whole | {SUMS: b"\xff"}),
}


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize("change", CHECKSUMS.values(), ids=CHECKSUMS)
def test_checksums_cover_all_members_and_nothing_else(change, plain, tmp_path):
    path = write_zip(tmp_path / "forged", change(summed(members_of(plain))))
    with pytest.raises(DataFileError, match="it is no saved synthesis"):
        synthdp.load(path)


def test_the_schema_alone_is_read_with_the_same_care(plain, tmp_path):
    members = members_of(plain)
    assert (
        read_schema(write_zip(tmp_path / "plain", members)).names
        == synthdp.load(plain).schema.names
    )
    for name, content, says in (
        (
            "newer",
            members[MANIFEST].replace(b"synthdp-synthesis/2", b"synthdp-synthesis/3"),
            "newer",
        ),
        ("deep", b"[" * 200_000, "no saved synthesis"),
        ("large", b" " * 2**23 + members[MANIFEST], "larger than"),
    ):
        with pytest.raises(DataFileError, match=says):
            read_schema(write_zip(tmp_path / name, members | {MANIFEST: content}))


def test_what_a_later_version_may_add_is_left_alone(plain, tmp_path):
    def add(members):
        edited(lambda m: m.update(later={"x": 1}))(members)
        members |= {"model/later/x.npy": npy(np.zeros(3, np.float32)), "about.yaml": b"region: EU"}

    path = forged(plain, add, tmp_path / "later")
    assert synthdp.load(path).sample(5, seed=2).equals(synthdp.load(plain).sample(5, seed=2))


@pytest.mark.parametrize("name", ["../../evil.npy", "/evil", "C:\\evil", "model/../../evil.npy"])
def test_names_that_climb_out_of_the_folder_write_nothing(name, plain, tmp_path):
    before = sorted(tmp_path.parent.rglob("*"))
    path = forged(
        plain, lambda members: members.update({name: npy(np.zeros(3))}), tmp_path / "forged"
    )
    assert synthdp.load(path).sample(3).shape == (3, 3)
    assert sorted(tmp_path.parent.rglob("*")) == sorted([*before, path])


def test_files_of_version_1_need_no_checksums(plain, tmp_path):
    members = members_of(plain)
    edited(lambda m: (m.update(format="synthdp-synthesis/1"), m.pop("software")))(members)
    path = write_zip(
        tmp_path / "old", members | {"../../evil.npy": npy(np.zeros(3)), "/evil": b"x"}
    )
    assert synthdp.load(path).sample(5, seed=2).equals(synthdp.load(plain).sample(5, seed=2))


def test_a_damaged_file_is_refused_wherever_the_damage_is(plain, tmp_path):
    content = plain.read_bytes()
    generator = np.random.default_rng(0)
    path = tmp_path / "damaged"
    for length in generator.integers(0, len(content), 40):
        path.write_bytes(content[:length])
        with pytest.raises(DataFileError):
            synthdp.load(path)
    expected = synthdp.load(plain).sample(3, seed=1)
    for position in generator.integers(0, len(content), 300):
        path.write_bytes(
            content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :]
        )
        try:  # checksums do not cover dates of members
            found = synthdp.load(path).sample(3, seed=1)
        except DataFileError:
            continue
        assert found.equals(expected)


def test_other_zips_are_refused(tmp_path):
    write_zip(tmp_path / "empty", {})
    write_zip(tmp_path / "other", {"a.txt": b"x"})
    write_zip(tmp_path / "lzma", {MANIFEST: b"{}"}, method=zipfile.ZIP_LZMA)
    write_zip(tmp_path / "bzip2", {MANIFEST: b"{}"}, method=zipfile.ZIP_BZIP2)
    data = bytearray(
        write_zip(tmp_path / "encrypted", {MANIFEST: b"{}"}, method=zipfile.ZIP_STORED).read_bytes()
    )
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "encrypted").write_bytes(data)
    data = bytearray(write_zip(tmp_path / "unknown", {MANIFEST: b"{}"}).read_bytes())
    data[8] = data[data.index(b"PK\x01\x02") + 10] = 99
    (tmp_path / "unknown").write_bytes(data)
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(DataFileError, match="saved synthesis"):
            synthdp.load(path)
        assert_one_line(invoke("show", path), 1)
