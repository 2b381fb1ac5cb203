"""``synthdp sample`` with ``--where`` and ``--given``."""

import json

import pandas as pd
import pytest

import synthdp
from tests.helpers.cli_runs import (
    FIELDS,
    assert_one_line,
    invoke,
    lay_out,
    names_in,
    run_arguments,
    saved_model,
    write,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A saved model, and an empty folder beside it."""
    folder = tmp_path_factory.mktemp("model")
    return saved_model(folder, FIELDS)


@pytest.fixture
def place(model, tmp_path, monkeypatch):
    write(tmp_path / "m.synthdp", model)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sample(*options, output="out.csv", stdin=b""):
    return invoke("sample", "m.synthdp", "-o", output, *options, stdin=stdin)


def table(path="out.csv"):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize("in_file", [False, True])
def test_where_draws_from_a_slice(in_file, place):
    conditions = json.dumps(
        {"town": ["B", "C"], "age": {"minimum": 33, "maximum": 47}, "code": [1]}
    )
    conditions = conditions.replace("[1]", '["01"]')
    write(place / "where.json", conditions)
    outcome = sample("--where", "@where.json" if in_file else conditions, "--rows", "1e3")
    assert (outcome.code, outcome.notes) == (0, [])
    drawn = table()
    assert len(drawn) == 1000
    assert set(drawn["town"]) == {"B", "C"}
    assert set(drawn["age"].astype(int)) == set(range(33, 48))
    assert set(drawn["code"]) == {"01"}


def test_where_alone_draws_as_many_rows_as_the_slice_has(place):
    assert sample("--where", '{"town": ["B"]}').code == 0
    assert len(table()) == pytest.approx(800, abs=80)
    assert (place / "out.csv.privacy.json").exists()


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("source", ["partial.csv", "partial.csv.gz", "partial.parquet", "-"])
@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_given_records_are_completed_and_keep_their_values(source, output):
    partial = pd.DataFrame({"code": ["01", "02", ""] * 10, "age": ["7", "+8", "33"] * 10})
    if source == "partial.parquet":
        pd.DataFrame({"code": ["01", "02", None] * 10, "age": [7, 8, 33] * 10}).to_parquet(source)
    elif source != "-":
        partial.to_csv(source, index=False)
    outcome = sample("--given", source, output=output, stdin=partial.to_csv(index=False).encode())
    assert (outcome.code, outcome.notes) == (0, [])
    if output == "out.csv":
        drawn = table()
        expected = partial if source != "partial.parquet" else partial.replace("+8", "8")
        assert drawn["age"].tolist() == expected["age"].tolist()
        assert drawn["code"].mask(expected["code"] == "", "").tolist() == expected["code"].tolist()
    else:
        drawn = pd.read_parquet(output)
        assert drawn["age"].tolist() == [7, 8, 33] * 10
        assert drawn["code"].tolist()[:2] == ["01", "02"]
    assert list(drawn.columns) == [field["name"] for field in FIELDS]
    assert set(drawn["town"]) <= {"A", "B", "C"}


@pytest.mark.usefixtures("place")
def test_given_and_where_go_together_and_seeds_repeat():
    pd.DataFrame({"code": ["01", "02"] * 200}).to_csv("partial.csv", index=False)
    where = json.dumps({"age": {"minimum": 33, "maximum": 47}})
    contents = []
    for _ in range(2):
        assert (
            sample("--given", "partial.csv", "--where", where, "--seed", "5", "--force").code == 0
        )
        contents.append(table())
    pd.testing.assert_frame_equal(*contents)
    assert contents[0]["code"].tolist() == ["01", "02"] * 200
    assert contents[0]["age"].astype(int).between(33, 47).all()


REFUSED = {
    "no JSON": (
        ("--where", '{"town": [A]}'),
        "--where: it is not valid JSON in line 1, column 11; correct it",
    ),
    "no JSON in a file": (
        ("--where", "@bad.json"),
        "--where 'bad.json': it is not valid JSON in line 2, column 3",
    ),
    "a key twice": (
        ("--where", '{"town": ["A"], "town": ["B"]}'),
        "--where: the key 'town' stands twice",
    ),
    "no object": (
        ("--where", '["A"]'),
        '--where: it is a list; give conditions as {"sex": ["F"]',
    ),
    "nothing": (("--where", "null"), "--where: it is not given; give conditions as"),
    "no condition": (
        ("--where", '{"town": "A"}'),
        "where: town is 'A'; give conditions such as",
    ),
    "unknown column": (
        ("--where", '{"twon": ["A"]}'),
        "where: there is no column 'twon'; there are 'town', 'age'",
    ),
    "unknown level": (
        ("--where", '{"code": ["09"]}'),
        "where: column 'code': it has no level '09'",
    ),
    "given: unknown column": (
        ("--given", "unknown.csv"),
        "given: there is no column 'twon'; there are 'town', 'age'",
    ),
    "given: unknown level": (
        ("--given", "level.csv"),
        "given: column 'code': value 1 (from 0) is '09', which is none",
    ),
    "given: zeros in front": (
        ("--given", "zeros.csv"),
        "'08', which is no number between 0 and 99, written as the",
    ),
    "given and rows": (
        ("--given", "level.csv", "--rows", "3"),
        "--given: each of its rows is completed once",
    ),
    "over what is given": (("--given", "out.csv", "--force"), "'out.csv' is named twice"),
    "over the conditions": (("--where", "@out.csv", "--force"), "'out.csv' is named twice"),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_asked_is_wrong_usage(options, said, place):
    write(place / "bad.json", '{"town":\n [A]}')
    write(place / "unknown.csv", "twon\nA\n")
    write(place / "level.csv", "code\n01\n09\n")
    write(place / "zeros.csv", "age\n08\n")
    before = names_in(place)
    outcome = sample(*options)
    assert_one_line(outcome, 2)
    assert said in outcome.err
    assert names_in(place) == before


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "options", [("--where", "@none.json"), ("--given", "none.csv"), ("--given", "none.txt")]
)
def test_files_that_cannot_be_read_are_failures(options):
    assert_one_line(sample(*options), 1)


def test_a_run_draws_from_no_slice(place):
    lay_out(place)
    outcome = invoke(*run_arguments("--where", "{}"))
    assert_one_line(outcome, 2)
    assert "unknown option --where" in outcome.err


def test_the_command_and_the_library_draw_the_same(place):
    assert sample("--where", '{"age": {"minimum": 33}}', "--rows", "50", "--seed", "3").code == 0
    drawn = synthdp.load(place / "m.synthdp").sample(
        50, seed=3, where={"age": {"minimum": 33}}, text=True
    )
    assert table().to_dict("list") == drawn.to_dict("list")
