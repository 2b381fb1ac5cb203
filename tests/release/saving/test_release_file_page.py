"""What docs/release-file.md says of the file: a reader written from it alone reads what synthdp
wrote.
"""

import io
import json
import re
import zipfile
from datetime import date
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from helpers.fields import ranged
from helpers.homes import home
from helpers.paths import ROOT
from helpers.release_files import members_of

import synthdp
from synthdp.core import Coarsening, LinearMeasurement
from synthdp.inference import KINDS
from synthdp.release import Members, read_schema
from synthdp.schema import MAX_ALL_LEVELS, MAX_FORMAT, MAX_RULE_CELLS

archive = home(read_schema)
members = home(Members)

PAGE = ROOT / "docs/release-file.md"
SAVED = sorted((Path(__file__).parent / "saved").glob("*.synthdp"))

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="no checkout: the page is not there")

FIELDS = [
    {
        "name": "town",
        "type": "string",
        "constraints": {"enum": ["A", "B"]},
        "synthdp": {"other": "C"},
    },
    {"name": "mark", "type": "string", "constraints": {"enum": ["x"], "required": True}}
    | {"synthdp": {"merged": {"levels": ["y", "z"], "weights": [2, 1]}}},
    {"name": "sick", "type": "boolean"},
    ranged("age", 0, 99, bins=4),
    {
        "name": "pay",
        "type": "number",
        "constraints": {"required": True},
        "synthdp": {"edges": [0, 1, 10, 100]},
    },
    ranged("born", "2000-01-01", "2000-12-31", kind="date", bins=3, parts=["weekday", "month"]),
    {"name": "id", "type": "id"},
]


class Reader:
    """Knows zips, JSON, numpy and the page, and nothing of synthdp."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as content:
            found = {name: content.read(name) for name in content.namelist()}
        for line in found.pop("SHA256SUMS").decode().splitlines():
            digest, name = line.split("  ", 1)
            assert sha256(found[name]).hexdigest() == digest
        self.manifest = json.loads(found.pop("synthesis.json").decode("ascii"))
        assert self.manifest["format"] == "synthdp-synthesis/2"
        self.arrays = {
            name: np.load(io.BytesIO(data), allow_pickle=False) for name, data in found.items()
        }
        self.fields = {field["name"]: field for field in self.manifest["schema"]["fields"]}

    def measurements(self):
        for i, entry in enumerate(self.manifest["measurements"]):
            groups = {
                name: self.arrays[f"measurement-{i}/groups-{j}.npy"]
                for j, name in enumerate(entry["merged"])
            }
            values, stddev = (
                self.arrays[f"measurement-{i}/{name}.npy"] for name in ("values", "stddev")
            )
            yield entry["columns"], values, stddev, groups

    def n_levels(self, attribute):
        date_, _, part = attribute.rpartition(":")
        field = self.fields[date_ or attribute]
        own, constraints = field.get("synthdp", {}), field.get("constraints", {})
        if date_:
            n = {"weekday": 7, "month": 12, "hour": 24}[part]
        elif "enum" in constraints:
            listed = constraints["enum"]
            n = len(listed) + ("merged" in own) + (own.get("other", listed[0]) not in listed)
        elif field["type"] == "boolean":
            n = 2
        else:
            n = own["bins"] if "bins" in own else len(own["edges"]) - 1
        return n + (not constraints.get("required", False))


@pytest.fixture
def released(tmp_path):
    """A release with columns of all kinds, merged levels and a scale of noise for each cell, and
    its file.
    """
    schema = synthdp.Schema.from_dict({"fields": FIELDS})
    domain, rng = schema.domain, np.random.default_rng(0)
    counts = [((name,), None) for name in domain.attributes]
    counts += [(("pay", "town"), None), (("age", "sick"), {"age": np.array([0, 0, 1, 1, 2])})]
    measurements = []
    for clique, groups in counts:
        merged = Coarsening(groups) if groups else None
        shape = (merged.domain(domain) if merged else domain).project(clique).shape
        stddev = rng.uniform(1, 2, shape) if len(clique) > 1 else 1.5
        measurements.append(LinearMeasurement(clique, rng.normal(300, 2, shape), stddev, merged))
    synthesis = synthdp.from_measurements(schema, measurements, engine="mixture-of-products")
    synthesis.save(tmp_path / "release.synthdp")
    return synthesis, Reader(tmp_path / "release.synthdp")


def test_a_reader_written_from_the_page_gets_the_same_measurements(released):
    synthesis, reader = released
    found = list(reader.measurements())
    assert len(found) == len(synthesis.measurements) == len(synthesis.schema.names) + 2
    for (columns, values, stddev, groups), wanted in zip(
        found, synthesis.measurements, strict=True
    ):
        assert tuple(columns) == wanted.clique
        np.testing.assert_array_equal(values, wanted.values)
        np.testing.assert_array_equal(stddev, wanted.stddev)
        assert groups.keys() == wanted.groups.keys()
        for name, merging in groups.items():
            np.testing.assert_array_equal(merging, wanted.groups[name])
        sizes = [
            groups[name].max() + 1 if name in groups else reader.n_levels(name) for name in columns
        ]
        assert values.shape == tuple(sizes)


def test_levels_come_in_the_order_that_the_page_says(released):
    schema, reader = released[0].schema, released[1]
    assert list(reader.fields) == [field["name"] for field in FIELDS]
    assert list(schema["town"].labels[:3]) == ["A", "B", "C"]
    assert list(schema["mark"].labels) == ["x", "y | z"]
    assert list(schema["sick"].labels[:2]) == [False, True]
    assert [interval.left for interval in schema["pay"].labels] == [0, 1, 10]
    assert schema["born"].labels[0].left.date() == date(2000, 1, 1)
    assert list(schema["born:weekday"].labels[:7])[::6] == ["Monday", "Sunday"]
    assert all(
        schema[name].labels.isna()[-1] for name in ("town", "sick", "age", "born", "born:month")
    )


def rows_under(heading, text):
    """The first two cells of each row of the first table under a heading."""
    table = text.split(f"\n{heading}\n", 1)[1].split("\n|---", 1)[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:]] for line in table.splitlines()[1:]]


def names_in(cell):
    return set(re.findall(r"`([\w<>./-]+)`", cell))


def test_the_page_names_each_key_and_member(released):
    text, manifest = PAGE.read_text(encoding="utf-8"), released[1].manifest
    assert {
        key for row in rows_under("## synthesis.json", text) for key in names_in(row[0])
    } == manifest.keys()
    keys = {key for row in rows_under("### Measurements", text) for key in names_in(row[0])}
    keys.remove("is_carried")  # of releases with an earlier one alone
    assert [entry.keys() for entry in manifest["measurements"]] == [keys] * len(
        manifest["measurements"]
    )
    patterns = {name for row in rows_under("## The container", text) for name in names_in(row[0])}
    patterns |= {
        f"measurement-<i>/{name}" for name in patterns if name in ("stddev.npy", "groups-<j>.npy")
    }
    plain = "|".join(
        re.sub(r"<\w+>", "[a-z0-9-]+", re.escape(name).replace(r"\-", "-")) for name in patterns
    )
    assert [name for name in released[1].arrays if not re.fullmatch(plain, name)] == []


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_the_page_names_each_part_of_a_model(path, tmp_path):
    rows = rows_under("### Models", PAGE.read_text(encoding="utf-8"))
    known = {
        kind: (names_in(keys), names_in(arrays))
        for cell, keys, arrays, _ in rows
        for kind in names_in(cell)
    }
    assert known.keys() | {"records"} == KINDS.keys()
    synthdp.load(path).save(tmp_path / "again")
    found = members_of(tmp_path / "again")
    model = json.loads(found["synthesis.json"])["model"]
    arrays = {re.sub(r"\d+", "", name[6:-4]) for name in found if name.startswith("model/")}
    listed = set()
    while model is not None:
        keys, names = known[model["kind"]]
        assert model.keys() - {"kind", "total", "status"} == keys
        listed |= {re.sub(r"<\w>", "", name) for name in names}
        model = model.get("coarse") or model.get("inner")
    assert arrays <= listed


def test_the_page_says_the_limits():
    text = PAGE.read_text(encoding="utf-8")
    said = (
        f"{MAX_ALL_LEVELS:,} levels",
        f"{MAX_RULE_CELLS:,} combinations",
        f"{MAX_FORMAT} characters",
        archive.FORMAT,
    )
    assert [each for each in said if each not in text] == []
    assert (members.MAX_RATIO, members.ALWAYS_ALLOWED, members.MAX_BYTES) == (
        1000,
        16 << 20,
        4 << 30,
    )
    assert (archive._MAX_MANIFEST, archive._MANIFEST_RATIO, archive._MAX_TABLES) == (
        2 << 20,
        100,
        512 << 20,
    )
