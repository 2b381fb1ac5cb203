"""Runs over linked tables whose journal holds all answers say the same whatever the tables hold by
then.

What is released is in the journal; all else that comes out must not depend on records: exit code,
streams, logs, tables, certificate, saved release and warnings. And a run without a journal succeeds
whatever the tables hold.
"""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.families import description, field, link, random_tables
from helpers.homes import home
from helpers.linked_non_interference import CELLS, TEXTS, swapped, told_in_python, told_in_shell
from helpers.seldom import examples, often
from helpers.small_packages import KEYS, SHAPES, small_description, small_tables

import synthdp
from synthdp.linked import LinkedTableReader, Package
from synthdp.release import MECHANISMS

linked_rows = home(LinkedTableReader)

pytestmark = pytest.mark.usefixtures(
    "one_run"
)  # a hash in a certificate differs where a second does

RUN = {"epsilon": 1.0, "delta": 1e-6, "engine": "graphical-model"}
DAYS = {
    "name": "day",
    "type": "integer",
    "constraints": {"minimum": 1, "maximum": 9, "required": True},
}


def pair():
    """Homes and their pets, whose kinds are a public table."""
    found = description()
    pets = found["resources"][3]
    pets["schema"] |= {"fields": [{"name": "owner"}, {"name": "kind", "type": "string"}]}
    pets["schema"]["foreignKeys"].append(link("kind", "kinds", "kind"))
    kinds = {
        "fields": [{"name": "kind", "type": "string"}, {"name": "legs", "type": "string"}],
        "primaryKey": "kind",
    }
    rows = [{"kind": "cat", "legs": "four"}, {"kind": "dog", "legs": "four"}]
    public = {"name": "kinds", "schema": kinds, "data": rows, "synthdp": {"public": True}}
    tables = random_tables(30)
    return {**found, "resources": [found["resources"][0], pets, public]}, {
        n: tables[n] for n in ("homes", "pets")
    }


def tree():
    """Three levels, keys of several columns, rows with an order and without."""
    return description(people=2), random_tables(30)


def opened():
    """Homes and their pets, of which all but the keys is learnt."""
    content, tables = pair()
    found = description()
    content = {**content, "resources": [found["resources"][0], found["resources"][3]]}
    rng = np.random.default_rng(2)
    pets = tables["pets"].assign(age=rng.integers(0, 20, len(tables["pets"])).astype(str))
    for resource in content["resources"]:
        for each in resource["schema"]["fields"][1:]:
            each["constraints"], each["synthdp"] = {}, {"derive": True}
    age = {"name": "age", "type": "number", "synthdp": {"derive": True}}
    content["resources"][1]["schema"]["fields"].append(age)
    return content, {**tables, "pets": pets}


def small(shape):
    rng = np.random.default_rng(3)
    content = small_description(rng, shape)
    return content, small_tables(rng, Package.from_dict(content), KEYS, most=20)


PACKAGES = {
    "pair": pair,
    "tree": tree,
    "opened": opened,
    **{shape: lambda shape=shape: small(shape) for shape in SHAPES},
}
HARD = ("no row", "the ugliest", "one key")


def keys_of(content):
    found = Package.from_dict(content)
    return {table.name: table.keys for table in found.tables}


def check_frames(run, tables, keys, tmp_path, caplog, *, only=None):
    """``run`` takes tables, and the file of a journal."""
    run(tables, tmp_path / "first.journal")
    told = {}
    for what, changed in swapped(tables, keys, CELLS):
        if only is None or what in (*only, "as they were"):
            shutil.copyfile(tmp_path / "first.journal", tmp_path / "kept.journal")
            told[what] = told_in_python(
                lambda given=changed: run(given, tmp_path / "kept.journal"), tmp_path, caplog
            )
    assert len(told) > len(only or ())
    assert {what for what, said in told.items() if said != told["as they were"]} == set()
    return told


ALL = [(name, "pair") for name in MECHANISMS if name not in ("independent", "mst")]
CASES = often(
    ("independent", "pair"),
    ("auto", "chain"),
    ("mst", "pair"),
    ("independent", "opened"),
    seldom=[*((name, shape) for name in ("aim", "auto") for shape in PACKAGES), *ALL],
)


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)
@pytest.mark.parametrize(("mechanism", "shape"), CASES)
def test_a_replayed_run_says_the_same_whatever_the_frames_hold(mechanism, shape, tmp_path, caplog):
    content, tables = PACKAGES[shape]()

    def run(given, journal):
        return synthdp.synthesize(given, content, mechanism=mechanism, journal=journal, **RUN)

    told = check_frames(run, tables, keys_of(content), tmp_path, caplog)
    ((frames, _, _, _), warned, logged) = told["no row"]
    assert frames.keys() == tables.keys()
    assert any("nothing was asked of the records" in text for _, text in warned)
    assert len(logged) > 5, "logs are looked at"


def as_texts(frame):
    """A table whose columns are texts in every library."""
    return frame.astype(object).where(frame.notna(), None).astype("string")


def in_parquet(frame, path):
    as_texts(frame).to_parquet(path)
    return str(path)


def in_polars(frame, _path):
    return pytest.importorskip("polars").from_pandas(as_texts(frame))


def in_arrow(frame, path):
    return in_polars(frame, path).to_arrow()


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)
@pytest.mark.parametrize("source", [in_parquet, in_polars, in_arrow])
def test_a_replayed_run_says_the_same_whatever_tables_of_any_source_hold(source, tmp_path, caplog):
    content, tables = PACKAGES["pair"]()

    def run(given, journal):
        made = {name: source(frame, tmp_path / f"{name}.parquet") for name, frame in given.items()}
        return synthdp.synthesize(made, content, mechanism="independent", journal=journal, **RUN)

    run(tables, tmp_path / "first.journal")
    told = {}
    for what, changed in swapped(tables, keys_of(content), TEXTS):
        shutil.copyfile(tmp_path / "first.journal", tmp_path / "kept.journal")
        told[what] = told_in_python(
            lambda given=changed: run(given, tmp_path / "kept.journal"), tmp_path, caplog
        )
    assert {what for what, said in told.items() if said != told["as they were"]} == set()
    ((frames, *_), _, _) = told["as they were"]
    assert frames.keys() == tables.keys(), "it is released"


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)
def test_a_replayed_run_over_four_levels_says_the_same_whatever_the_frames_hold(tmp_path, caplog):
    content, tables = PACKAGES["tree"]()

    def run(given, journal):
        return synthdp.synthesize(given, content, mechanism="independent", journal=journal, **RUN)

    check_frames(run, tables, keys_of(content), tmp_path, caplog, only=HARD)


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)
def test_a_replayed_run_over_histories_says_the_same_whatever_the_frame_holds(tmp_path, caplog):
    rng = np.random.default_rng(0)
    schema = {"fields": [DAYS, field("ward", "eyes", "heart")]}
    table = pd.DataFrame(
        {"patient": rng.integers(0, 30, 90), "day": rng.integers(1, 10, 90), "ward": "eyes"}
    )

    def run(given, journal):
        return synthdp.synthesize(
            given["rows"],
            schema,
            unit="patient",
            max_rows_per_unit=3,
            order="day",
            mechanism="independent",
            journal=journal,
            **RUN,
        )

    check_frames(run, {"rows": table}, {"rows": ["patient"]}, tmp_path, caplog, only=HARD)


def unread_kinds(tables):
    return {**tables, "pets": tables["pets"].assign(kind="KAT")}


def old_pets(tables):
    return {**tables, "pets": tables["pets"].assign(age="old")}


def strange_owners(tables):
    return {**tables, "pets": tables["pets"].assign(owner="nobody")}


@pytest.mark.parametrize(
    ("shape", "broken", "why"),
    [
        (pair, unread_kinds, "column 'pets.kind': about 100 % of its values could not be read"),
        (pair, strange_owners, "table 'pets': by noisy counts at most "),
        (opened, old_pets, "column 'pets.age': about "),
    ],
)
def test_a_run_that_stopped_stops_whatever_the_frames_hold_and_tells_the_same(
    shape, broken, why, tmp_path, caplog, monkeypatch
):
    """Also what it hands over, and what its budget has back."""
    content, _ = shape()
    homes = random_tables(600)
    tables = broken({name: homes[name] for name in ("homes", "pets")})
    monkeypatch.chdir(tmp_path)
    synthdp.Budget.create("new", epsilon=60.0, delta=1e-5, population="homes", unit="home")
    shutil.copyfile("new", "budget")

    def run(frames):
        more = {"epsilon": 50.0, "delta": 1e-6, "mechanism": "independent", "rescue": handed.append}
        synthdp.synthesize(frames, content, journal="journal", budget="budget", **more)

    def all_told(frames):
        handed.clear()
        said = told_in_python(lambda: run(frames), tmp_path, caplog)
        entries = synthdp.Budget("budget").show()["entries"]
        charges = [(each["kind"], each.get("rho")) for each in entries]
        return said, charges, [each.certificate for each in handed], Path("journal").read_bytes()

    handed = []
    all_told(tables)
    shutil.copyfile("journal", "first")
    shutil.copyfile("budget", "charged")
    told = {}
    for what, changed in swapped(tables, keys_of(content), CELLS):
        shutil.copyfile("first", "journal")
        shutil.copyfile("charged", "budget")
        told[what] = all_told(changed)
    assert {what for what, said in told.items() if said != told["as they were"]} == set()
    ((name, text), *_), charges, *_ = told["no row"]
    assert name == "UnreadColumnError"
    assert why in text
    assert {kind for kind, _ in charges} - {"rescued"} == {"run", "returned"}, "paid once"


@pytest.mark.parametrize("options", often("", "--json", seldom=["--mechanism aim"]))
def test_a_replayed_command_says_the_same_whatever_the_files_hold(options, tmp_path, monkeypatch):
    content, tables = tree() if "aim" in options else pair()
    options = (
        "--mechanism",
        "independent",
        "--engine",
        "graphical-model",
        "--rows",
        "9",
        *options.split(),
    )
    first = told_in_shell(tmp_path / "first", content, tables, None, monkeypatch, *options)
    assert first[0] == 0, first[2]
    told = {}
    for number, (what, changed) in enumerate(swapped(tables, keys_of(content), TEXTS)):
        folder = tmp_path / str(number)
        told[what] = told_in_shell(
            folder, content, changed, tmp_path / "first/kept.journal", monkeypatch, *options
        )
    assert {what for what, said in told.items() if said != told["as they were"]} == set()
    code, out, err, files = told["as they were"]
    n_files = len({name.partition(": ")[0] for name in files})
    assert (code, n_files) == (0, 3 + len(tables)), err
    assert "measuring" in err
    assert bool(out) is ("--json" in options)


def test_whose_rows_replace_others_is_refused_whatever_the_tables_hold(tmp_path, monkeypatch):
    content, tables = pair()
    told = [
        told_in_shell(
            tmp_path / str(number),
            content,
            changed,
            None,
            monkeypatch,
            "--adjacency",
            "replace-one",
        )
        for number, (_, changed) in enumerate(swapped(tables, keys_of(content), TEXTS))
    ]
    assert all(said == told[0] for said in told)
    assert told[0][0] == 2


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
def test_a_run_that_failed_by_what_tables_hold_would_be_found(tmp_path, caplog, monkeypatch):
    """As one did whose root kept no row."""
    content, tables = PACKAGES["pair"]()
    above = linked_rows.LinkedTableReader.family_rows

    def failing(self, parent):
        if parent is not None and not parent.n_rows:
            raise IndexError
        return above(self, parent)

    def run(given, journal):
        return synthdp.synthesize(given, content, mechanism="independent", journal=journal, **RUN)

    monkeypatch.setattr(linked_rows.LinkedTableReader, "family_rows", failing)
    with pytest.raises(IndexError):
        check_frames(run, tables, keys_of(content), tmp_path, caplog, only=HARD)


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.CautionWarning", "ignore::synthdp.core.errors.FitWarning"
)
@pytest.mark.parametrize("shape", SHAPES)
def test_whether_a_run_succeeds_is_decided_by_the_description_alone(shape):
    for seed in range(examples(9)):
        rng = np.random.default_rng(seed)
        content = small_description(rng, shape)
        tables = small_tables(rng, Package.from_dict(content), [*KEYS, *CELLS], values=CELLS)
        if seed % 3 == 0:
            lost = list(tables)[rng.integers(len(tables))]
            tables[lost] = tables[lost].iloc[:0]
        synthesis = synthdp.synthesize(tables, content, mechanism="independent", **RUN)
        assert synthesis.sample(3, seed=0).keys() == tables.keys()
