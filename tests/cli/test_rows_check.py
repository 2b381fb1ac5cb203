"""The certificate of a table says how far its rows are from the model, also of long tables; rows that
are far are a caution.
"""

import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from helpers.cli_runs import invoke, lay_out, run_arguments, write
from helpers.homes import home

from synthdp.cli.shared import outputs
from synthdp.inference import Model, cell_counts
from synthdp.release import SCHEMA_FILE, arrow_batches, load

batches = home(arrow_batches)
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    lay_out(folder)
    paths = {name: folder / name for name in ("in.csv", "schema.json", "out.csv", "m.synthdp")}
    arguments = run_arguments(
        "--save",
        paths["m.synthdp"],
        "--seed",
        5,
        source=paths["in.csv"],
        schema=paths["schema.json"],
        output=paths["out.csv"],
        epsilon="20",
    )
    done = invoke(*arguments)
    assert done.code == 0, done.err
    return paths


@pytest.fixture
def place(files, tmp_path, monkeypatch):
    write(tmp_path / "m.synthdp", files["m.synthdp"].read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sample(*options):
    return invoke("sample", "m.synthdp", "-o", "out.csv", "--seed", 5, *options)


def certificate(path="out.csv"):
    found = json.loads(Path(f"{path}.privacy.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(found)
    return found


def recounted(synthesis, codes, clique):
    counts = cell_counts(synthesis.model.domain, clique, codes)
    wanted = synthesis.model.marginal(clique).values
    return 0.5 * np.abs(counts / counts.sum() - wanted / wanted.sum()).sum()


@pytest.mark.usefixtures("place")
def test_run_and_sample_say_how_far_rows_are(files, monkeypatch):
    drawn = []
    for kind in (Model, *all_below(Model)):
        if "sample" in vars(kind):
            monkeypatch.setattr(kind, "sample", keeping(kind.sample, drawn))
    assert sample().code == 0
    found = certificate()["rows"]
    assert found == certificate(files["out.csv"])["rows"]
    synthesis = load("m.synthdp")
    codes = next(codes for codes in reversed(drawn) if len(codes[0]) == found["n_rows"])
    worst = recounted(synthesis, codes, tuple(found["worst_table"]))
    assert found["worst"] == pytest.approx(worst)
    assert 0 <= found["mean"] <= found["worst"] < 1.5 * found["worst_by_chance"] + 0.01
    shown = invoke("show", "out.csv.privacy.json", "--all").out.decode()
    assert "distance from the model" in shown


def keeping(draw, drawn):
    def sampled(*args, **options):
        drawn.append(draw(*args, **options))
        return drawn[-1]

    return sampled


def all_below(kind):
    for below in kind.__subclasses__():
        yield below
        yield from all_below(below)


@pytest.mark.usefixtures("place")
def test_a_long_table_says_it_too_and_a_part_of_it_says_its_own(monkeypatch):
    monkeypatch.setattr(batches, "BLOCK_ROWS", 100)
    monkeypatch.setattr(outputs, "MAX_ROWS_AT_ONCE", 300)
    assert sample("--rows", 450).code == 0
    assert certificate()["rows"]["n_rows"] == 450
    assert certificate()["rows"]["worst"] > 0
    assert sample("--rows", 130, "--offset", 90, "--force").code == 0
    assert certificate()["rows"]["n_rows"] == 130


def test_slices_given_records_and_no_rows_are_left_out(place):
    assert sample("--where", json.dumps({"town": ["A"]}), "--rows", 50).code == 0
    assert "rows" not in certificate()
    write(place / "given.csv", "town\nA\nB\n")
    assert sample("--given", "given.csv", "--force").code == 0
    assert "rows" not in certificate()
    assert sample("--rows", 0, "--force").code == 0
    assert "rows" not in certificate()


@pytest.mark.usefixtures("place")
def test_far_rows_are_a_caution_wherever_they_are_told(monkeypatch):
    for kind in all_below(Model):
        if "sample" in vars(kind):
            monkeypatch.setattr(kind, "sample", zeros)
    done = sample("--rows", 1000)
    assert done.code == 0
    [line] = [line for line in done.lines if "caution: rows: " in line]
    assert "would have to change" in line
    found = certificate()
    excess = float(*re.findall(r"([0-9.]+) % of them", line)) - 1.5 * float(
        *re.findall(r"([0-9.]+) % by", line)
    )
    assert excess > 1, "it is about the table that chance does not explain"
    assert found["rows"]["n_far_tables"] > 0
    assert found["rows"]["worst"] > 0.4
    assert any(text in line for text in found["cautions"])
    told = sample("--rows", 1000, "--force", "--json")
    assert any(text.startswith("rows: ") for text in json.loads(told.out)["cautions"])


def zeros(self, n_rows, **_):
    return tuple(np.zeros(n_rows, dtype=np.uint8) for _ in self.domain.attributes)


@pytest.mark.usefixtures("place")
def test_fit_says_how_it_ended_and_how_far_rows_of_its_own_size_are():
    synthesis = load("m.synthdp")
    fit = synthesis.fit
    assert (fit.ended, fit.loss) == (synthesis.model.status.ended, synthesis.model.status.loss)
    assert fit.rows.n_rows == round(synthesis.model.total)
    assert 0 < fit.rows.worst < 1.5 * fit.rows.worst_by_chance + 0.01
    assert synthesis.fit is fit
    assert load("m.synthdp").fit == fit
