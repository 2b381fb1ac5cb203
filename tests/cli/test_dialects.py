"""Files of every dialect on the command line and from Python: what comes out is written as what
went in.
"""

import csv
import io
import json

import pandas as pd
import pytest
from helpers.cli_runs import assert_one_line, invoke

import synthdp
from synthdp.data import open_table
from synthdp.schema import Dialect, OpenSchema, schema_of_kinds

N_ROWS = 2000
TOWNS = ["München", "Köln; Süd", 'the "Hague"', "Aix, Var"]
KINDS = {
    "town": "categorical",
    "pay": "number",
    "born": {"type": "date", "format": "%d.%m.%Y"},
    "in": "boolean",
}
BUDGET = ("--epsilon=1000", "--delta=1e-6", "--mechanism", "independent", "--seed", "1")
HEADER = list(KINDS)


def rows(mark=".", group=""):
    """Rows as texts, pay with a decimal mark and a mark between groups."""
    for row in range(N_ROWS):
        pay = f"{(row * 7919 % N_ROWS) * 2.5 + 0.25:,.2f}".translate(
            {ord(","): group, ord("."): mark}
        )
        yield [
            TOWNS[row % 4],
            pay,
            f"{row % 28 + 1:02d}.05.{1990 + row % 20}",
            ("yes", "no")[row % 3 > 0],
        ]


def file_of(path, *, encoding="utf-8", mark=".", group="", **marks):
    text = io.StringIO(newline="")
    csv.writer(text, **marks).writerows([HEADER, *rows(mark, group)])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


# how the file is made; the options; the same in a schema
FILES = {
    "Excel in German": (
        {"delimiter": ";", "encoding": "utf-8-sig", "mark": ",", "group": "."},
        ("--dialect", "excel-semicolon"), "excel-semicolon",
    ),
    "Excel of Windows": (
        {"delimiter": ";", "encoding": "cp1252", "mark": ","},
        ("--dialect", "excel-semicolon", "--encoding", "cp1252"),
        {"delimiter": ";", "encoding": "cp1252", "decimalChar": ",", "groupChar": "."},
    ),
    "Unicode text": (
        {"delimiter": "\t", "encoding": "utf-16"},
        ("--delimiter", "tab", "--encoding", "utf-16"), {"delimiter": "\t", "encoding": "utf-16"},
    ),
    "pipes and apostrophes": (
        {"delimiter": "|", "quotechar": "'", "group": ","},
        ("--delimiter=|", "--quote", "'", "--thousands=,"), {"delimiter": "|", "quoteChar": "'", "groupChar": ","},
    ),
    "commas for decimals, too": ({"mark": ","}, ("--decimal", ","), {"decimalChar": ","}),
}  # fmt: skip


FILES_OF_A_RUN = ("--kinds", "kinds.json", "-o", "out.csv", "--save", "m.synthdp")


@pytest.mark.parametrize("case", FILES)
def test_what_comes_out_is_written_as_what_went_in(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made, options, properties = FILES[case]
    file_of(tmp_path / "in.csv", **made)
    (tmp_path / "kinds.json").write_text(json.dumps(KINDS))
    files = (*FILES_OF_A_RUN, "--save-schema", "learnt.json")
    outcome = invoke("run", "in.csv", *files, *BUDGET, *options)
    assert (outcome.code, outcome.notes) == (0, []), outcome.err
    assert_looks_like("in.csv", "out.csv", made)
    # the saved model and schema know it all, and a schema can say the same as the options
    assert invoke("sample", "m.synthdp", "-o", "more.csv").code == 0
    assert_looks_like("in.csv", "more.csv", made)
    assert ("dialect: " in invoke("show", "m.synthdp", "--all").out.decode()) == (
        made.keys() != {"mark"}
    )
    learnt = json.loads((tmp_path / "learnt.json").read_text())
    pay = next(field for field in learnt["fields"] if field["name"] == "pay")
    assert pay.get("decimalChar", ".") == made.get("mark", ".")
    by_options = OpenSchema.from_dict(schema_of_kinds(KINDS) | {"dialect": properties})
    assert (
        by_options.dialect
        == synthdp.load("m.synthdp").schema.dialect
        == synthdp.Schema.load("learnt.json").dialect
    )
    assert by_options.to_dict()["fields"][1].get("groupChar", "") == pay.get("groupChar", "")


def assert_looks_like(source, target, made):
    """Bytes of the same encoding, marks and header, and cells that are spelt as those of the
    source.
    """
    encoding, delimiter, quote = (
        made.get("encoding", "utf-8"),
        made.get("delimiter", ","),
        made.get("quotechar", '"'),
    )
    texts = []
    for name in (source, target):
        with open(name, encoding=encoding, newline="") as stream:  # noqa: PTH123
            texts.append(list(csv.reader(stream, delimiter=delimiter, quotechar=quote)))
    (header, *given), (drawn_header, *drawn) = texts
    assert drawn_header == header
    with open(source, "rb") as stream, open(target, "rb") as other:  # noqa: PTH123
        assert stream.read(2) == other.read(2)  # a byte-order mark or none
    assert {row[0] for row in drawn} == set(TOWNS)
    amounts = [pd.Series([row[1] for row in each]) for each in (given, drawn)]
    mark = made.get("mark", ".")
    assert amounts[1].str.fullmatch(rf"\d+[{mark}]\d\d").all()
    group = made.get("group") or "_"
    means = [
        each.str.replace(group, "").str.replace(mark, ".").astype(float).mean() for each in amounts
    ]
    assert means[1] == pytest.approx(means[0], rel=0.1)
    assert all(len(row[2]) == 10 for row in drawn)


def test_a_file_is_released_from_python_as_it_is(tmp_path):
    path = file_of(tmp_path / "in.csv", delimiter=";", encoding="cp1252", mark=",")
    schema = synthdp.OpenSchema.from_kinds(KINDS)
    dialect = {"delimiter": ";", "encoding": "cp1252", "decimalChar": ","}
    budget = {"epsilon": 1000.0, "delta": 1e-6, "mechanism": "independent"}
    release = synthdp.synthesize(str(path), schema, dialect=dialect, **budget)
    assert set(release.sample(500, seed=1)["town"]) == set(TOWNS)
    assert release.sample(5, seed=1, text=True)["pay"].str.fullmatch(r"\d+,\d\d").all()
    assert (
        release.in_dialect("csv")
        .sample(5, seed=1, text=True)["pay"]
        .str.fullmatch(r"\d+\.\d\d")
        .all()
    )
    # texts in a data frame are read by it as well
    frame = pd.read_csv(path, sep=";", encoding="cp1252", dtype=str)
    of_frame = synthdp.synthesize(frame, release.schema, dialect="excel-semicolon", **budget)
    assert not [
        caution for caution in of_frame.certificate["cautions"] if caution.startswith("column")
    ]
    for wrong, expected in (
        ("excel", "dialect is 'excel'"),
        ({"delimiter": ";;"}, "one ASCII character"),
    ):
        with pytest.raises(synthdp.ParameterError, match=expected):
            synthdp.synthesize(frame, schema, dialect=wrong, **budget)
    with pytest.raises(synthdp.DataFileError, match="not UTF-8 text"):
        synthdp.synthesize(path, schema, dialect={"delimiter": ";"}, **budget)
    with pytest.raises(synthdp.DataFileError, match="no such file"):
        synthdp.synthesize(tmp_path / "none.csv", schema, **budget)


def test_what_a_field_says_of_its_numbers_stays():
    bounded = {"constraints": {"minimum": 0, "maximum": 9}, "synthdp": {"bins": 9}}
    numbers = [
        {"name": "a", "type": "number"} | bounded,
        {"name": "b", "type": "number", "decimalChar": "."} | bounded,
        {"name": "c", "type": "number", "constraints": {"enum": [0.5, 1.5]}},
        {"name": "d", "type": "integer", "synthdp": {"derive": True}},
        {"name": "e", "type": "year", "constraints": {"minimum": 1900, "maximum": 1999}},
    ]
    schema = synthdp.OpenSchema.from_dict({"fields": numbers, "dialect": "excel-semicolon"})
    written = {field["name"]: field.get("decimalChar") for field in schema.to_dict()["fields"]}
    assert written == {"a": ",", "b": None, "c": ",", "d": ",", "e": None}
    again = synthdp.OpenSchema.from_dict(
        schema.to_dict()
    )  # where the plain one must not be taken for undeclared
    assert again == schema
    assert again.to_dict() == schema.to_dict()


EXCEL = {"code": "categorical", "pay": "number", "born": "date", "in": "boolean"}


def test_excel_in_and_out(tmp_path, monkeypatch):
    pytest.importorskip("python_calamine")
    xlsxwriter = pytest.importorskip("xlsxwriter")
    monkeypatch.chdir(tmp_path)
    book = xlsxwriter.Workbook("in.xlsx", {"default_date_format": "dd/mm/yy"})
    book.add_worksheet("Notes").write_string(0, 0, "made by hand")
    sheet = book.add_worksheet("People")
    for row, cells in enumerate([EXCEL, *excel_rows()]):
        for column, cell in enumerate(cells):
            (sheet.write_string if isinstance(cell, str) else sheet.write)(row, column, cell)
    book.close()
    (tmp_path / "kinds.json").write_text(json.dumps(EXCEL))
    outcome = invoke("run", "in.xlsx", "--kinds", "kinds.json", "-o", "out.xlsx", *BUDGET)
    assert_one_line(outcome, 1)
    assert "name one: --sheet NAME" in outcome.err
    run = ("run", "in.xlsx", "--kinds", "kinds.json", "--sheet", "People", *BUDGET)
    outcome = invoke(*run, "-o", "out.xlsx", "--save", "m.synthdp")
    assert (outcome.code, outcome.notes) == (0, []), outcome.err
    with open_table("out.xlsx", Dialect(sheet="People")) as table:
        (drawn,) = table.chunks()
    assert list(drawn.columns) == list(EXCEL)
    assert set(drawn["code"]) == {"01", "02"}
    assert drawn["pay"].mean() == pytest.approx(500, rel=0.1)
    assert set(drawn["in"]) == {True, False}
    assert drawn["born"].map(lambda day: day.year).between(2000, 2003).all()
    assert_one_line(invoke("sample", "m.synthdp", "-o", "x.xlsx", "--rows", "2e6"), 1)
    (tmp_path / "given.csv").write_text("in\n" + "true\n" * 3)
    assert invoke("sample", "m.synthdp", "-o", "three.csv", "--given", "given.csv").code == 0
    assert (tmp_path / "three.csv").read_text().count("true") == 3


def excel_rows():
    day = pd.Timestamp("2000-01-01")
    return [
        [
            f"0{row % 2 + 1}",
            row % 1000 + 0.5,
            (day + pd.Timedelta(days=row % 1200)).to_pydatetime().date(),
            row % 4 == 0,
        ]
        for row in range(N_ROWS)
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ("--encoding", "latin-1"),
            "the table holds characters that latin-1 has not; give another --encoding",
        ),
        (("--quote", "", "--delimiter", "|"), "texts that cannot be written without quotes"),
    ],
)
def test_what_a_schema_declares_and_no_output_could_hold_is_refused_beforehand(
    options, expected, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("town\nA\n")
    field = {"name": "town", "type": "string", "constraints": {"enum": ["10 €", "a|b"]}}
    (tmp_path / "s.json").write_text(json.dumps({"fields": [field]}))
    outcome = invoke(
        "run", "in.csv", "-s", "s.json", "-o", "out.csv", "--save", "m.synthdp", *BUDGET, *options
    )
    assert_one_line(outcome, 2)
    assert expected in outcome.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.csv",
        "s.json",
    ]  # nothing was paid for
    rows = ("--rows", "9")  # two records are none, as far as anybody can tell
    assert (
        invoke("run", "in.csv", "-s", "s.json", "-o", "out.parquet", *BUDGET, *rows, *options).code
        == 0
    )


def test_records_to_complete_are_read_in_the_dialect_of_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path / "in.csv", delimiter=";", encoding="utf-8-sig", mark=",")
    (tmp_path / "kinds.json").write_text(json.dumps(KINDS))
    files = (*FILES_OF_A_RUN, "--dialect", "excel-semicolon")
    assert invoke("run", "in.csv", *files, *BUDGET).code == 0
    (tmp_path / "given.csv").write_text(
        "town;pay\nMünchen;1.000,5\nKöln; 70\n".replace("Köln;", '"Köln; Süd";'), "utf-8"
    )
    assert invoke("sample", "m.synthdp", "-o", "new.csv", "--given", "given.csv").code == 0
    lines = (tmp_path / "new.csv").read_text("utf-8-sig").splitlines()
    assert [line.split(";")[:2] for line in lines] == [
        ["town", "pay"],
        ["München", "1.000,5"],
        ['"Köln', ' Süd"'],
    ]
    # and in another one that is given
    (tmp_path / "given.csv").write_text("pay\n1000.5\n")
    options = ("--given", "given.csv", "--dialect", "csv")
    assert invoke("sample", "m.synthdp", "-o", "plain.csv", *options).code == 0
    assert (tmp_path / "plain.csv").read_bytes().startswith(b"town,pay,born,in\n")
    (tmp_path / "given.csv").write_text("pay\n1000,5\n")
    outcome = invoke(
        "sample", "m.synthdp", "-o", "wrong.csv", "--given", "given.csv", "--decimal", "."
    )
    assert_one_line(outcome, 2)


def test_a_draft_says_the_dialect_that_it_was_read_by(tmp_path):
    path = file_of(tmp_path / "in.csv", delimiter=";", encoding="utf-16")
    outcome = invoke("schema", "draft", path, "--delimiter", ";", "--encoding", "utf-16")
    draft = json.loads(outcome.out)
    assert [field["name"] for field in draft["fields"]] == HEADER
    assert draft["dialect"] == {"delimiter": ";", "encoding": "utf-16"}
    assert "dialect" not in json.loads(
        invoke("schema", "draft", file_of(tmp_path / "plain.csv")).out
    )
    outcome = invoke("schema", "draft", path, "--delimiter", ";", "--encoding", "utf-16", "--kinds")
    kinds = json.loads(outcome.out)
    assert kinds.pop("synthdp") == {"dialect": draft["dialect"]}
    assert list(kinds) == HEADER


WRONG = {
    "--delimiter": (";;", 2, "give one ASCII character"),
    "--encoding": ("utf-9", 2, "is not known"),
    "--decimal": ("x", 2, "decimalChar (--decimal) is 'x'"),
    "--thousands": ("..", 2, "groupChar (--thousands) is '..'"),
    "--quote": ("ab", 2, "quoteChar (--quote) is 'ab'"),
    "--dialect": ("excel", 2, "--dialect is 'excel'; give one of csv, excel-semicolon"),
    "--sheet": ("a:b", 2, "sheetName (--sheet) is 'a:b'"),
}


@pytest.mark.parametrize("option", WRONG)
def test_wrong_options_are_refused_in_one_line(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("town\nA\n")
    (tmp_path / "kinds.json").write_text(json.dumps({"town": "categorical"}))
    value, code, expected = WRONG[option]
    output = "out.xlsx" if option == "--sheet" else "out.csv"
    outcome = invoke("run", "in.csv", "--kinds", "kinds.json", "-o", output, *BUDGET, option, value)
    assert_one_line(outcome, code)
    assert expected in outcome.err


@pytest.mark.parametrize(
    ("option", "source", "output"),
    [
        ("--sheet", "in.csv", "out.parquet"),
        *((o, "in.xlsx", "out.pq") for o in ("--delimiter", "--encoding", "--quote")),
    ],
)
def test_options_that_say_nothing_of_any_file_are_refused(
    option, source, output, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kinds.json").write_text(json.dumps({"town": "categorical"}))
    known = {"--encoding": "utf-16"}.get(option, "x" if option == "--sheet" else "|")
    for command in (
        ("run", source, "--kinds", "kinds.json", "-o", output, *BUDGET),
        ("schema", "draft", source),
    ):
        outcome = invoke(*command, option, known)
        assert_one_line(outcome, 2)
        files = "Excel files (.xlsx)" if option == "--sheet" else "CSV files (.csv, .tsv, -)"
        assert f"{option} is for {files}, and no table here is in one; leave it out" in outcome.err


def test_a_kinds_file_may_say_the_dialect():
    properties = {"delimiter": ";", "encoding": "cp1252", "decimalChar": ","}
    kinds = {
        "pay": "number",
        "synthdp": {"dialect": properties, "constraints": [{"check": "pay >= 0"}]},
    }
    schema = OpenSchema.from_kinds(kinds)
    assert schema == OpenSchema.from_dict(
        {
            "dialect": properties,
            "fields": [{"name": "pay", "type": "number", "synthdp": {"derive": True}}],
        }
        | {"synthdp": {"constraints": [{"check": "pay >= 0"}]}}
    )
    assert (
        OpenSchema.from_kinds(
            {"pay": "number", "synthdp": {"dialect": "excel-semicolon"}}
        ).dialect.delimiter
        == ";"
    )


@pytest.mark.parametrize("key", ["delimiter", "encoding", "quoteChar", "decimalChar", "sheetName"])
def test_properties_beside_the_dialect_are_told_where_they_belong(key):
    field = {"name": "a", "type": "string", "constraints": {"enum": ["x"]}}
    with pytest.raises(synthdp.SchemaError, match="under dialect"):
        synthdp.Schema.from_dict({"fields": [field], key: ";"})
