"""Tables in several files: which ones they are, in which order, and that rows know nothing of their
file.
"""

import gzip
import json
from itertools import pairwise

import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.reach import errors_of
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp import synthesize
from synthdp.core import DataFileError
from synthdp.data import FileSet, is_part, open_table, parts_of, read_coded
from synthdp.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "fields": [
            {"name": "city", "type": "string", "constraints": {"enum": ["Rome", "Ulm"]}},
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 50}},
        ]
    }
)


def written(folder, **contents):
    folder.mkdir(exist_ok=True)
    for name, content in contents.items():
        path = folder / name.replace("__", ".")
        packed = gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode()
        path.write_bytes(packed)
    return folder


def rows_of(path):
    return [*zip(*(codes.tolist() for codes in read_coded(path, SCHEMA).columns), strict=True)]


def test_files_of_a_folder_are_one_table_in_the_order_of_their_names(tmp_path):
    people = written(
        tmp_path / "people",
        b__csv="age,city\n1,Ulm\n",
        a__csv__gz="city,age\nRome,2\n",
        c__csv="city,age\n",
        _SUCCESS="",
        __hidden__crc="x",
    )
    assert rows_of(people) == rows_of(str(people / "*.csv*")) == [(0, 2), (1, 1)]
    assert rows_of(people / "b.*") == [(1, 1)]
    with open_table(people) as table:
        assert table.names == ("city", "age")
        assert [list(chunk.columns) for chunk in table.chunks()] == [["city", "age"]] * 2
        assert table.fraction == 1.0


def test_folders_of_parquet_and_patterns_through_folders(tmp_path):
    for name, ages in {"x/1.parquet": [3, None], "y/0.parquet": [4.0, 51.0]}.items():
        (tmp_path / name).parent.mkdir()
        pd.DataFrame({"age": ages, "city": "Ulm"}).to_parquet(tmp_path / name)
    assert rows_of(tmp_path / "**" / "*.parquet") == [(1, 3), (1, 51), (1, 4), (1, 50)]
    with open_table(tmp_path / "*" / "*.parquet") as table:
        assert list(table.declared.columns) == ["age", "city"]


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    written(tmp_path / "t", **{"a[1]__csv": "city,age\nUlm,1\n", "a1__csv": "city,age\nUlm,2\n"})
    assert rows_of(tmp_path / "t" / "a[1].csv") == [(1, 1)]
    assert rows_of(tmp_path / "t" / "a[123].csv") == [(1, 2)]


BROKEN = {
    "nothing in it": ({}, "directory is empty"),
    "no table": (
        {"a__csv": "city,age\n", "README__md": "SeCrEt"},
        "README.md.*ending is not known.*pattern",
    ),
    "several kinds": ({"a__csv": "city,age\n", "b__parquet": ""}, "several kinds"),
    "twice": ({"a__csv": "city,age\nUlm,1\n", "a__csv__gz": "city,age\nUlm,1\n"}, "count twice"),
    "other columns": (
        {"a__csv": "city,age\n", "b__csv": "city,SeCrEt\n"},
        "b.csv' has other columns than .*a.csv",
    ),
    "one column more": (
        {"a__csv": "city,age\n", "b__csv": "city,age,SeCrEt\n"},
        "b.csv' has other columns",
    ),
    "an empty one": ({"a__csv": "city,age\n", "b__csv": ""}, "b.csv': it is empty"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_files_that_are_no_table_are_refused_in_one_line_without_values(case, tmp_path):
    contents, expected = BROKEN[case]
    with pytest.raises(DataFileError, match=expected) as caught:
        read_coded(written(tmp_path / "people", **contents), SCHEMA)
    assert "SeCrEt" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folders_in_folders_and_links_to_the_same_file_are_refused(tmp_path):
    people = written(tmp_path / "people", a__csv="city,age\n")
    (people / "b.csv").symlink_to("a.csv")
    with pytest.raises(DataFileError, match="count twice"):
        parts_of(people)
    (people / "b.csv").unlink()
    written(people / "2020", a__csv="age\n1\n")
    with pytest.raises(
        DataFileError, match=r"not called like year=2020.* to read no names of folders"
    ):
        parts_of(people)
    for missing in (tmp_path / "none*.csv", tmp_path / "none" / "*"):
        with pytest.raises(DataFileError, match="no file has such a name"):
            parts_of(missing)


NOTHING = "__HIVE_DEFAULT_PARTITION__"
FLAT = "city,age\nRome,1\nRome,2\n,3\nBad/Ort =1,50\nUlm,7\nUlm,\nulm,8\n"
"""The rows of `partitioned`, as one file."""


def partitioned(folder, ending=".csv"):
    """A table whose cities are in the names of folders."""
    ages = {"Rome": [1, 2], NOTHING: [3], "Bad%2FOrt%20=1": [50], "Ulm": [7, None], "%75lm": [8]}
    for city, column in ages.items():
        part = folder / f"city={city}" / f"part-0{ending}"
        part.parent.mkdir(parents=True)
        frame = pd.DataFrame({"age": pd.Series(column, dtype="Int64")})
        frame.to_csv(part, index=False) if ending == ".csv" else frame.to_parquet(part)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").mkdir()
    return folder


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_value_in_the_name_of_a_folder_is_that_of_each_row_below_it(ending, tmp_path):
    people = partitioned(tmp_path / "people", ending)
    (tmp_path / "flat.csv").write_text(FLAT)
    assert sorted(rows_of(people)) == sorted(rows_of(tmp_path / "flat.csv"))
    with open_table(people) as table:
        assert table.names == ("age", "city")
        whole = table.whole()
        assert list(whole["city"]) == ["ulm", "Bad/Ort =1", "Rome", "Rome", "Ulm", "Ulm", None]
    with open_table(people) as table:
        for chunk in table.coded_chunks():
            assert (
                chunk["city"].cat.codes.dtype == "int8"
            )  # so that a file takes no more memory than without


def test_several_columns_in_the_names_of_folders_are_read_as_the_schema_says(tmp_path):
    fields = [
        {
            "name": "day",
            "type": "date",
            "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-09"},
        },
        {
            "name": "pay",
            "type": "number",
            "decimalChar": ",",
            "constraints": {"minimum": 0, "maximum": 9},
        },
        {"name": "city", "type": "string", "constraints": {"enum": ["Rome", "Ulm"]}},
    ]
    schema = Schema.from_dict({"fields": fields})
    rows = [
        ("2020-01-03", "1,5", "Rome"),
        ("2020-01-09", "x", "Ulm"),
        ("", "2,5", ""),
        ("2020-01-03", "9", "Ulm"),
    ]
    lines = ["day;pay;city", *(";".join(row) for row in rows)]
    (tmp_path / "flat.csv").write_text("\n".join(lines))
    for number, (day, pay, city) in enumerate(rows):
        folder = tmp_path / "people" / f"day={day}" / f"pay={pay}"
        folder.mkdir(parents=True)
        pd.DataFrame({"city": [city]}).to_parquet(folder / f"{number}.parquet")
    flat = read_coded(
        tmp_path / "flat.csv", Schema.from_dict({"fields": fields, "dialect": {"delimiter": ";"}})
    )
    found = read_coded(tmp_path / "people", schema)
    assert sorted(zip(*found.columns, strict=True)) == sorted(zip(*flat.columns, strict=True))


BROKEN_FOLDERS = {
    "other keys": (
        {"city=SeCrEt/a.csv": "age\n1\n", "town=Ulm/a.csv": "age\n1\n"},
        "other columns than",
    ),
    "none": (
        {"city=SeCrEt/a.csv": "age\n1\n", "a.csv": "age,city\n1,Ulm\n"},
        "a.csv.*has other columns than",
    ),
    "twice in files": (
        {"city=SeCrEt/a.csv": "city,age\nUlm,1\n"},
        "is also what folders are called after",
    ),
    "twice in folders": ({"city=SeCrEt/city=Ulm/a.csv": "age\n1\n"}, "not called like year=2020"),
    "twice by two names": ({"city=SeCrEt/c%69ty=Ulm/a.csv": "age\n1\n"}, "name a column twice"),
    "no text": ({"city=SeCrEt%FF/a.csv": "age\n1\n"}, "no texts in UTF-8"),
    "NUL": ({"city=SeCrEt%00/a.csv": "age\n1\n"}, "no texts in UTF-8"),
    "folders of another kind": ({"city=SeCrEt/b/a.csv": "age\n1\n"}, "not called like year=2020"),
    "damaged": ({"city=SeC'rEt/a.csv": "age\n1,2\n"}, r"city=\*/a.csv': not every record"),
    "empty": ({"city=SeCrEt\n/a.csv": ""}, r"city=\*/a.csv': it is empty"),
    "no table": ({"city=SeCrEt/a.md": ""}, r"city=\*/a.md': its ending is not known"),
    "no Parquet": ({"city=SeCrEt/a.parquet": "x"}, r"city=\*/a.parquet': it is not a Parquet file"),
}


@pytest.mark.parametrize("case", BROKEN_FOLDERS)
def test_folders_that_are_no_partitions_are_refused_in_one_line_without_values(case, tmp_path):
    contents, expected = BROKEN_FOLDERS[case]
    for name, content in contents.items():
        (tmp_path / "people" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "people" / name).write_text(content)
    with pytest.raises(DataFileError, match=expected) as caught:
        read_coded(tmp_path / "people", SCHEMA)
    assert "SeC" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert all(
        "SeC" not in str(error) for error in errors_of(caught.value)
    )  # what is behind it, too


def test_partitions_that_lead_back_to_their_folder_are_refused(tmp_path):
    people = partitioned(tmp_path / "people")
    for name in ("x=1", "x=2", "y=1"):
        (people / "city=Ulm" / name).symlink_to(people, target_is_directory=True)
    with pytest.raises(DataFileError, match="folders in it"):
        parts_of(people)


def test_a_draft_of_a_folder_with_partitions_is_that_of_one_table(tmp_path):
    for ending, kind in ((".csv", None), (".parquet", "string")):
        people = partitioned(tmp_path / ending[1:], ending)
        drafted = invoke("schema", "draft", people, "-o", tmp_path / f"{ending[1:]}.json")
        assert drafted.code == 0, drafted.err
        fields = json.loads((tmp_path / f"{ending[1:]}.json").read_text())["fields"]
        assert [(field["name"], field["type"]) for field in fields][1] == ("city", kind)


def test_a_file_that_is_changed_after_it_was_opened_is_found(tmp_path):
    people = written(tmp_path / "people", a__csv="city,age\nUlm,1\n", b__csv="city,age\nUlm,1\n")
    with open_table(people) as table:
        written(people, b__csv="city,pay\nUlm,1\n")
        with pytest.raises(DataFileError, match="other columns"):
            list(table.chunks())
    written(people, b__csv="city,age\n")
    with open_table(people) as table:
        (people / "b.csv").unlink()
        with pytest.raises(DataFileError, match="no such file"):
            list(table.chunks())


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Rome", " Ulm", "", "?"]), st.sampled_from(["1", "1.0", "-7", "x", ""])
        )
    ),
    st.lists(st.integers(0, 20), max_size=4),
)
def test_the_codes_of_a_row_do_not_depend_on_its_file(tmp_path_factory, rows, cuts):
    lines = [f"{city},{age}\n" for city, age in rows]
    folder = tmp_path_factory.mktemp("people")
    bounds = [0, *sorted(min(cut, len(lines)) for cut in cuts), len(lines)]
    for number, (start, end) in enumerate(pairwise(bounds)):
        (folder / f"part-{number}.csv").write_text("city,age\n" + "".join(lines[start:end]))
    alone = []
    for line in lines:
        (folder.parent / "row.csv").write_text(f"city,age\n{line}")
        alone += rows_of(folder.parent / "row.csv")
    assert rows_of(folder) == alone


def test_outputs_that_would_be_read_the_next_time(tmp_path):
    people = written(tmp_path / "people", a__csv="city,age\n")
    assert is_part(people, str(people / "out.csv"))
    assert is_part(people, str(people / "year=2020" / "out.csv"))
    assert is_part(people / "*.csv", str(tmp_path / "x" / ".." / "people" / "out.csv"))
    assert not is_part(people / "a*.csv", str(people / "out.csv"))
    assert not is_part(people, str(tmp_path / "out.csv"))
    assert not is_part(people, str(people / "_out" / "out.csv"))
    assert not is_part(people / "a.csv", str(people / "out.csv"))
    for pattern, beside in (
        ("*/*.csv", "x/out.csv"),
        ("**/*.csv", "x/y/out.csv"),
        ("**/*.csv", "out.csv"),
    ):
        assert is_part(
            tmp_path / pattern, str(tmp_path / beside)
        )  # in a folder that holds no table yet
        assert not is_part(tmp_path / pattern, str(tmp_path / beside) + ".gz")
    assert not is_part(tmp_path / "*/*.csv", str(tmp_path / "x" / "y" / "out.csv"))


def test_a_run_on_a_folder(tmp_path):
    people = written(
        tmp_path / "people",
        a__csv="city,age\n" + "Ulm,3\n" * 200,
        b__csv="age,city\n" + "9,Rome\n" * 300,
    )
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA.to_dict()))

    def run(output, *more, source=people):
        named = (
            "-s",
            tmp_path / "s.json",
            "-o",
            output,
            "--epsilon=9",
            "--delta=1e-6",
            "--mechanism",
            "gaussian",
        )
        return invoke("run", source, *named, *more)

    done = run(tmp_path / "out.csv", "--delimiter", ",")
    assert done.code == 0, done.err
    for output in (people / "out.csv", f"{people}/../people/b2.csv"):
        assert run(output).code == 2
        assert "the next time" in run(output).err
    assert run(people / "b.csv", "--force", source=people / "*.csv").code == 2
    synthesis = synthesize(people, SCHEMA, epsilon=9.0, delta=1e-6, mechanism="gaussian")
    assert abs(synthesis.marginal(["city"])["Rome"] - 300) < 60


def test_a_set_of_no_files_is_refused():
    with pytest.raises(DataFileError, match="it stands for no file; give a folder"):
        FileSet("empty", [], open_table)
