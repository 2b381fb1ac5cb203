"""`synthdp show` of a saved release: what is inside, and with `--all` each measurement."""

import json
from hashlib import sha256

import numpy as np
import pytest
from helpers.cli_runs import invoke
from helpers.release_files import edited, members_of, summed, write_zip

import synthdp
from synthdp.core import Coarsening, LinearMeasurement, sealed

NAMES = tuple(f"c{i}" for i in range(12))


@pytest.fixture
def saved(tmp_path):
    counts = [LinearMeasurement((name,), np.array([60.0, 40.0]), 1.5) for name in NAMES[1:]]
    merged = Coarsening({"c0": np.array([0, 1, 1])})
    stddev = np.array([[2.0, 1.0], [1.0, 1.0]])
    counts.append(
        LinearMeasurement(("c0", "c1"), np.array([[30.0, 20.0], [30.0, 20.0]]), stddev, merged)
    )
    domain = synthdp.Domain(NAMES, (3, *[2] * 11))
    synthdp.from_measurements(domain, counts, engine="mixture-of-products").save(tmp_path / "m")
    return tmp_path / "m"


def lines_of(*arguments):
    shown = invoke("show", *arguments)
    assert (shown.code, shown.err) == (0, "")
    return [" ".join(line.split()) for line in shown.out.decode().splitlines()]


def test_measurements_and_checksums_are_listed_with_all(saved):
    few, whole = lines_of(saved), lines_of(saved, "--all")
    members = members_of(saved)
    start = f"file synthdp-synthesis/2, {len(members) + 1} members, saved by synthdp {synthdp.__version__}"
    for lines in (few, whole):
        assert any(line.startswith(start) for line in lines)
        assert any(line.startswith("model refined, by mixture-of-products: 1") for line in lines)
    assert "measured 12 marginals of up to 2 columns" in few
    assert "c11 2 1.5" in whole
    assert "c0 x c1 4 1 to 2 c0 3 to 2" in whole
    digests = dict(line.split(" ") for line in whole if line.split(" ")[0] in members)
    assert digests == {name: sha256(data).hexdigest() for name, data in members.items()}
    assert not {line.split(" ")[0] for line in few} & members.keys()


def test_json_holds_everything(saved):
    content = json.loads(invoke("show", saved, "--json").out)
    assert content["file"]["sha256"].keys() == {*members_of(saved), "SHA256SUMS"}
    assert len(content["measurements"]) == 12
    assert content["measurements"][-1] == {
        "columns": ["c0", "c1"],
        "shape": [2, 2],
        "stddev": [1.0, 2.0],
        "merged": {"c0": {"levels": 3, "groups": 2}},
    }
    assert content["model"]["kind"] == "refined"
    assert {"certificate", "schema"} <= content.keys()


def test_a_release_without_a_model_and_a_refitted_one_say_so(saved, tmp_path):
    members = members_of(saved)
    edited(lambda m: m.update(model=None))(members)
    write_zip(tmp_path / "none", summed(members))
    assert "model none; one is fitted, by auto, when rows are asked for" in lines_of(
        tmp_path / "none"
    )
    assert (
        invoke("refit", tmp_path / "none", "--engine", "direct", "-o", tmp_path / "new").code == 0
    )
    assert any(
        line.startswith("model ") and ", by direct, refitted: " in line
        for line in lines_of(tmp_path / "new")
    )


def test_a_terminal_obeys_nothing_that_a_file_holds(saved, tmp_path):
    evil = "\x1b[2J\x9b2J\u202eprivate\r\x08"
    members = members_of(saved)
    edited(
        lambda m: m.update(
            certificate=sealed(m["certificate"] | {"guarantee": evil, "cautions": [evil]})
        )
    )(members)
    path = write_zip(tmp_path / "evil", summed(members))
    shown = invoke("show", path).out.decode()
    assert {character for character in shown if not character.isprintable()} == {"\n"}
    assert r"\u001b[2J\u009b2J\u202eprivate" in shown
    assert json.loads(invoke("show", path, "--json").out)["certificate"]["guarantee"] == evil
