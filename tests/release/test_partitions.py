"""Tables in partitions go in at every door, or are refused in a line; no error says what is in
them.
"""

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import CANARY

import synthdp
from synthdp.core import ParameterError, SourceError
from synthdp.report import evaluation_schema, read_table

dd = pytest.importorskip("dask.dataframe")

PERSONS = pd.DataFrame(
    {
        "person": np.repeat(np.arange(600), 2),
        "year": [1, 2] * 600,
        "ill": np.repeat(np.arange(600) % 2 == 0, 2),
    }
)
YEAR = {
    "name": "year",
    "type": "integer",
    "constraints": {"minimum": 1, "maximum": 2, "required": True},
}
ILL = {"name": "ill", "type": "boolean", "constraints": {"required": True}}
SCHEMA = {"fields": [YEAR, ILL]}
RUN = {"epsilon": 9.0, "delta": 1e-6, "mechanism": "independent"}


def in_parts(frame, n=3):
    return dd.from_pandas(frame, npartitions=n, sort=False)


def test_dtypes_that_are_declared_public_come_back():
    synthesis = synthdp.synthesize(in_parts(PERSONS.drop(columns="person")), kinds="dtypes", **RUN)
    assert synthesis.sample(3, seed=1).dtypes.astype(str).to_dict() == {
        "year": "int64",
        "ill": "bool",
    }
    assert len(synthesis.sample(given=in_parts(pd.DataFrame({"year": [1, 2]}), 2), seed=1)) == 2


def test_persons_are_bounded_over_all_partitions():
    scattered = in_parts(PERSONS.sort_values("year"), 4)
    synthesis = synthdp.synthesize(
        scattered, SCHEMA, unit="person", max_rows_per_unit=1, **RUN | {"epsilon": 100}
    )
    assert abs(synthesis.model.total - 600) < 60  # and not 1200


def test_histories_of_persons_whose_rows_are_scattered():
    whose = {"unit": "person", "max_rows_per_unit": 2, "order": "year"}
    steps = []
    synthesis = synthdp.synthesize(
        in_parts(PERSONS.sort_values("year"), 4),
        SCHEMA,
        **whose,
        **RUN,
        report=lambda *step: steps.append(step),
    )
    assert 1.8 < len(synthesis.sample(600, seed=0)) / 600 <= 2
    assert [step for step in steps if step[0] == "reading"] == [
        ("reading", 100, 100)
    ]  # and not of how many partitions


def test_tables_of_a_package_and_their_evaluation():
    roots = pd.DataFrame({"person": np.arange(600), "sex": np.arange(600) % 2 == 0})
    sex = {"name": "sex", "type": "boolean", "constraints": {"required": True}}
    key = {"name": "person", "type": "integer"}
    links = [{"fields": ["person"], "reference": {"resource": "roots", "fields": ["person"]}}]
    most = {"max_children": 2}
    package = {
        "synthdp": {"root": "roots"},
        "resources": [
            {"name": "roots", "schema": {"fields": [key, sex], "primaryKey": ["person"]}},
            {
                "name": "rows",
                "schema": {"fields": [key, YEAR, ILL], "foreignKeys": links},
                "synthdp": most,
            },
        ],
    }
    tables = {"roots": in_parts(roots), "rows": in_parts(PERSONS)}
    synthesis = synthdp.synthesize(tables, package, **RUN)
    drawn = synthesis.sample(600, seed=1)
    found, expected = (
        synthdp.evaluate(truth, drawn, package, seed=1).distances
        for truth in (tables, {"roots": roots, "rows": PERSONS})
    )
    pd.testing.assert_frame_equal(found, expected)


def test_evaluation_reads_partitions_as_memory():
    codes = []
    for given in (PERSONS, in_parts(PERSONS), in_parts(PERSONS, 1)):
        schema, _ = evaluation_schema(None, given)  # read off all rows
        codes.append(
            [column.tolist() for column in read_table(given, schema, "real").codes.columns]
        )
    assert codes[0] == codes[1] == codes[2]
    with pytest.raises(ParameterError, match="real: it has no rows"):
        read_table(in_parts(PERSONS[:0], 1), schema, "real")


def test_a_dataset_of_arrow_gives_tables_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset").dataset
    table = arrow.table({"word": ["a", "b"] * 500})
    drawn = synthdp.synthesize(
        dataset([dataset(table), dataset(table)]), kinds={"word": "categorical"}, **RUN
    ).sample()
    assert isinstance(drawn, arrow.Table)
    assert abs(drawn.num_rows - 2000) < 20


def test_what_dask_has_beside_data_frames_is_refused():
    with pytest.raises(
        ParameterError, match=r"data is a dask.Series; compute it: data.compute\(\)"
    ):
        synthdp.synthesize(in_parts(PERSONS)["year"], SCHEMA, **RUN)


def test_an_error_of_a_partition_holds_nothing_of_it():
    def fails(part):
        raise ValueError(CANARY, part)

    data = in_parts(PERSONS.drop(columns="person")).map_partitions(
        fails, meta=PERSONS[["year", "ill"]][:0]
    )
    with pytest.raises(SourceError, match="dask: reading rows failed") as caught:
        synthdp.synthesize(data, SCHEMA, **RUN)
    assert CANARY not in str(caught.value)
    frames, trace = [], caught.value.__traceback__
    while trace is not None:
        frames += (
            [] if trace.tb_frame.f_code.co_name.startswith("test_") else [trace.tb_frame.f_locals]
        )
        trace = trace.tb_next
    assert not [
        name for held in frames for name, value in held.items() if isinstance(value, pd.DataFrame)
    ]
