"""The contract of results: whatever was released is sampled, counted, saved and shown alike."""

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp import DataFileError, ParameterError, Result

NUMBER = {"name": "id", "type": "integer"}
YES = {"type": "boolean", "constraints": {"required": True}}
DAY = {
    "name": "day",
    "type": "integer",
    "constraints": {"minimum": 1, "maximum": 4, "required": True},
}
RUN = {"epsilon": 20.0, "delta": 1e-6, "mechanism": "independent", "engine": "graphical-model"}
IDS = np.arange(300)
FEW = {**RUN, "epsilon": 0.01}
"""So much noise that nobody can tell how many there were."""


def one_table(run):
    schema = {"fields": [{"name": "rents", **YES}, DAY]}
    table = pd.DataFrame({"rents": IDS % 2 == 0, "day": IDS % 4 + 1})
    return synthdp.synthesize(table, schema, **run)


def linked_tables(run):
    homes = {"fields": [NUMBER, {"name": "rents", **YES}], "primaryKey": "id"}
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    people = {"fields": [{"name": "home"}, {"name": "smokes", **YES}], "foreignKeys": [link]}
    package = {
        "resources": [
            {"name": "homes", "schema": homes},
            {"name": "people", "schema": people, "synthdp": {"max_children": 2}},
        ]
    }
    tables = {
        "homes": pd.DataFrame({"id": IDS, "rents": IDS % 2 == 0}),
        "people": pd.DataFrame({"home": IDS, "smokes": IDS % 2 == 0}),
    }
    return synthdp.synthesize(tables, package, **run)


def persons(run):
    table = pd.DataFrame({"who": np.repeat(IDS, 2), "day": np.tile([1, 3], len(IDS))})
    schema = {"fields": [DAY]}
    return synthdp.synthesize(table, schema, unit="who", max_rows_per_unit=2, order="day", **run)


RELEASES = {"one table": one_table, "linked tables": linked_tables, "persons": persons}
TABLES = {
    "one table": {"table": ("rents", "day")},
    "linked tables": {"homes": ("id", "rents"), "people": ("home", "smokes")},
    "persons": {"rows": ("who", "day")},
}
COLUMN = {"one table": "rents", "linked tables": "homes.rents", "persons": "day"}
UNIT = {"one table": "records", "linked tables": "families", "persons": "persons"}
NOT_TAKEN = {"one table": [], "linked tables": ["where"], "persons": ["where", "given"]}


@pytest.fixture(scope="module", params=RELEASES)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def result(kind):
    return RELEASES[kind](RUN)


def drawn_tables(result, *n, **options):
    """What is drawn by the names of tables, also of one."""
    drawn = result.sample(*n, **options)
    return drawn if len(result.tables) > 1 else dict(zip(result.tables, [drawn], strict=True))


def test_it_says_what_it_is_of(kind, result):
    assert isinstance(result, Result)
    assert result.tables == TABLES[kind]
    assert result.can_sample
    assert result.knows_size
    assert not result.is_schema
    assert result.n_measured == sum(len(part.answers.measurements) for part in result.fitted_parts)
    assert result.cautions == tuple(result.certificate["cautions"])


def test_it_draws_what_it_says_it_is_of(result):
    drawn = drawn_tables(result, 7, seed=0)
    assert {name: tuple(table.columns) for name, table in drawn.items()} == result.tables
    root = next(iter(drawn.values()))
    key = next(iter(root.columns))
    assert len(root) == 7 or root[key].nunique() == 7


def test_a_seed_repeats_what_is_drawn_and_texts_are_texts(result):
    first, again = drawn_tables(result, seed=3), drawn_tables(result, seed=3)
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, again[name])
    texts = drawn_tables(result, 5, seed=3, text=True)
    assert all(
        isinstance(value, str) for table in texts.values() for value in table.to_numpy().ravel()
    )


@pytest.mark.parametrize("n", [-1, 2.5, "3", True])
def test_a_number_that_is_none_is_refused(result, n):
    with pytest.raises(ParameterError):
        result.sample(n)


def test_what_it_does_not_take_is_refused_by_name(kind, result):
    for name in NOT_TAKEN[kind]:
        with pytest.raises(ParameterError, match=f"{name}: "):
            result.sample(3, **{name: {"day": [1]}})


def test_where_noise_hides_how_many_there_are_it_is_to_be_told(kind):
    hidden = RELEASES[kind](FEW)
    assert not hidden.knows_size
    with pytest.raises(ParameterError, match="noise"):
        hidden.sample()
    assert all(len(table.columns) for table in drawn_tables(hidden, 2).values())


def test_it_counts(kind, result):
    counts = result.marginal([COLUMN[kind]])
    assert isinstance(counts, pd.Series)
    assert counts.sum() == pytest.approx(600 if kind == "persons" else 300, rel=0.2)
    assert result.marginal(COLUMN[kind]).equals(counts)
    with pytest.raises(ParameterError):
        result.marginal(["nothing"])


def test_its_file_restores_it_and_is_not_written_over(result, tmp_path):
    path = tmp_path / "saved.synthdp"
    result.save(path)
    again = synthdp.load(path)
    assert type(again) is type(result)
    assert again.certificate == result.certificate
    assert (again.tables, again.n_measured) == (result.tables, result.n_measured)
    for name, table in drawn_tables(again, 9, seed=1).items():
        pd.testing.assert_frame_equal(table, drawn_tables(result, 9, seed=1)[name])
    with pytest.raises(DataFileError):
        result.save(path)
    result.save(path, force=True)


def test_its_page_tells_of_every_part(kind, result):
    page = synthdp.release_page(result)
    assert all(part.label in page and part.rows in page for part in result.fitted_parts)
    assert {part.unit for part in result.fitted_parts} == {UNIT[kind]}
