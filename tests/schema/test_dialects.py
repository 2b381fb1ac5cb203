"""Dialects: ways in which CSV files are written, what cannot be followed, and files that are not as
declared.
"""

import csv
import gzip
import io
import sys

import pandas as pd
import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import DataFileError, MissingExtraError, SchemaError
from synthdp.data import checked_block, open_table, write_frame
from synthdp.schema import USUAL, Dialect, dialect_of, properties_of

csvblocks_module = home(checked_block)

SECRET = "SeCrEt"


def dialect(**properties):
    return Dialect.from_properties(properties)


def rows_of(path, dialect):
    with open_table(path, dialect) as table:
        return [
            list(table.names),
            *(row for chunk in table.chunks() for row in chunk.to_numpy().tolist()),
        ]


SEMICOLON, TAB, PIPE = dialect(delimiter=";"), dialect(delimiter="\t"), dialect(delimiter="|")
TABLE = [["Größe", "b"], ["1,5", "x y"], ["", "é€"]]

# how it is written, the name of the file, what is in it
GOOD = {
    "semicolons": (SEMICOLON, "t.csv", 'Größe;b\n1,5;x y\n"";é€\n'.encode()),
    "semicolons and a byte-order mark": (SEMICOLON, "t.csv", "\ufeffGröße;b\r\n1,5;x y\r\n;é€\r\n".encode()),
    "tabs": (TAB, "t.csv", "Größe\tb\n1,5\tx y\n\té€".encode()),
    "tabs by name": (dialect(delimiter="tab"), "t.csv", "Größe\tb\n1,5\tx y\n\té€".encode()),
    "tabs by ending": (USUAL, "t.TSV", "Größe\tb\n1,5\tx y\n\té€".encode()),
    "tabs of old": (USUAL, "t.tab", "Größe\tb\r1,5\tx y\r\té€".encode()),
    "semicolons in what is called tabs": (SEMICOLON, "t.tsv", "Größe;b\n1,5;x y\n;é€".encode()),
    "pipes": (PIPE, "t.csv", "Größe|b\n1,5|x y\n|é€\n\n".encode()),
    "blanks": (dialect(delimiter=" "), "t.csv", 'Größe b\n1,5 "x y"\n"" é€\n'.encode()),
    "other quotes": (dialect(quoteChar="'"), "t.csv", "Größe,'b'\n'1,5',x y\n'',é€\n".encode()),
    "Windows": (dialect(delimiter=";", encoding="cp1252"), "t.csv", "Größe;b\r\n1,5;x y\r\n;é€\r\n".encode("cp1252")),
    "UTF-16": (dialect(delimiter="\t", encoding="utf-16"), "t.csv", "Größe\tb\r\n1,5\tx y\r\n\té€".encode("utf-16")),
    "UTF-16 BE": (
        dialect(delimiter="\t", encoding="utf-16-be"), "t.csv", "\ufeffGröße\tb\n1,5\tx y\n\té€".encode("utf-16-be")
    ),
    "EBCDIC": (dialect(delimiter=";", encoding="cp1140"), "t.csv", "Größe;b\n1,5;x y\n;é€\n".encode("cp1140")),
    "Frictionless": (
        dialect_of({"dialect": {"delimiter": ";", "header": True, "doubleQuote": True, "lineTerminator": "\r\n"}}),
        "t.csv", "Größe;b\r\n1,5;x y\r\n;é€".encode(),
    ),
    "Excel": (dialect_of({"dialect": "excel-semicolon"}), "t.csv", "\ufeffGröße;b\r\n1,5;x y\r\n;é€".encode()),
}  # fmt: skip


@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("block_bytes", [1, 2**23])
def test_files_are_read_as_they_are_whatever_the_blocks(case, block_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr(csvblocks_module, "BLOCK_BYTES", block_bytes)
    declared, name, content = GOOD[case]
    (tmp_path / name).write_bytes(content)
    assert rows_of(tmp_path / name, declared) == TABLE


@pytest.mark.parametrize("block_bytes", [1, 5, 2**23])
def test_packed_files_are_read_in_their_dialect(block_bytes, tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(csvblocks_module, "BLOCK_BYTES", block_bytes)
    for case in ("tabs by ending", "Windows", "UTF-16"):
        declared, name, content = GOOD[case]
        for ending, packed in (
            (".gz", gzip.compress(content)),
            (".zst", pyarrow.compress(content, "zstd", asbytes=True)),
        ):
            path = tmp_path / (name + ending)
            path.write_bytes(packed)
            assert rows_of(path, declared) == TABLE


def test_without_quotes_a_quote_is_a_character(tmp_path):
    (tmp_path / "t.tsv").write_bytes(b'a\tb\n5" pipe\t"x\n"\t""\n')
    assert rows_of(tmp_path / "t.tsv", dialect(quoteChar="")) == [
        ["a", "b"],
        ['5" pipe', '"x'],
        ['"', '""'],
    ]
    with pytest.raises(DataFileError, match="declare another quote, or none: --quote ''"):
        rows_of(tmp_path / "t.tsv", USUAL)


MARKS = st.sampled_from(";\t|, ^~:")
QUOTES = st.sampled_from("\"'`")
ENCODINGS = st.sampled_from(
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "gb18030", "shift_jis"]
)
CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
ROWS = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), max_size=5)
)


def sayable(text, encoding):
    """What an encoding can say of a text."""
    said = text.encode(encoding, "ignore").decode(encoding)
    return "".join(each for each in said if each.encode(encoding).decode(encoding) == each)


@settings(deadline=None, max_examples=examples(60))
@given(rows=ROWS, delimiter=MARKS, quote=QUOTES, encoding=ENCODINGS, block_bytes=st.integers(1, 50))
def test_what_the_csv_module_writes_is_read_as_it_was(
    rows, delimiter, quote, encoding, block_bytes, tmp_path_factory
):
    rows = [[f"c{i}" for i in range(len(rows[0]) if rows else 2)], *rows]
    rows = [[sayable(cell, encoding) for cell in row] for row in rows]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quotechar=quote, quoting=csv.QUOTE_ALL).writerows(rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvblocks_module, "BLOCK_BYTES", block_bytes)
        assert (
            rows_of(path, dialect(delimiter=delimiter, quoteChar=quote, encoding=encoding)) == rows
        )


@settings(deadline=None, max_examples=30)
@given(
    rows=ROWS,
    delimiter=MARKS,
    quote=QUOTES,
    encoding=ENCODINGS,
    packing=st.sampled_from(["", ".gz", ".zst"]),
)
def test_what_is_written_is_read_as_it_was(
    rows, delimiter, quote, encoding, packing, tmp_path_factory
):
    rows = [[sayable(cell, encoding) for cell in row] for row in rows]
    frame = pd.DataFrame(
        rows, columns=[f"c{i}" for i in range(len(rows[0]) if rows else 2)], dtype=object
    )
    declared = dialect(delimiter=delimiter, quoteChar=quote, encoding=encoding)
    path = tmp_path_factory.mktemp("csv") / f"t.csv{packing}"
    if packing == ".zst":
        pytest.importorskip("pyarrow")
    write_frame(frame, path, force=False, dialect=declared)
    assert rows_of(path, declared) == [list(frame.columns), *rows]


CP1252, ASCII = dialect(encoding="cp1252"), dialect(encoding="ascii")
BROKEN = {
    "no character of the encoding": (CP1252, b"a,b\nSeCrEt\x81,3\n", "it is not CP1252 text; save it as UTF-8, or co"),
    "one that would be UTF-8": (ASCII, "a,b\nSeCrEté,3\n".encode(), "it is not ASCII text"),
    "half a character at the end": (dialect(encoding="utf-16"), "a,b\nSeCrEt,3".encode("utf-16")[:-1], "not UTF-16"),
    "a lone surrogate": (dialect(encoding="utf-16-le"), "a,b\nSeCrEt".encode("utf-16-le") + b"\0\xd8,\0", "not UTF-16"),
    "UTF-16 that is UTF-8": (dialect(encoding="utf-16"), b"a,b\nSeCrEt,3", "not UTF-16-? text|has no|end"),
    "UTF-8 that is UTF-16": (USUAL, "a,b\nSeCrEt,3".encode("utf-16"), "UTF-8 text; save it as UTF-8, or declare its"),
    "UTF-8 that is cp1252": (USUAL, "a,b\nSeCrEté,3".encode("cp1252"), 'declare its encoding: --encoding, in a schema'),
    "a NUL": (CP1252, b"a,b\nSeCrEt\0,3\n", "NUL"),
    "ragged": (SEMICOLON, b"a;b\nSeCrEt;3;4\n", "with fields that hold ';' in quotes"),
    "an open quote": (dialect(quoteChar="'"), b"a,b\n'SeCrEt,3\n", "not closed"),
    "a stray quote": (dialect(quoteChar="'"), b"a,b\nSe'Cr'Et,3\n", "quote stands inside"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_not_as_declared_is_refused_in_one_line_without_values(case, tmp_path):
    declared, content, expected = BROKEN[case]
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataFileError, match=expected) as caught:
        rows_of(tmp_path / "t.csv", declared)
    message = str(caught.value)
    assert "t.csv" in message
    assert "\n" not in message
    assert SECRET.lower() not in message.lower()


def test_bytes_that_are_no_text_are_found_where_they_stand(tmp_path):
    """The header is read, and a schema drafted of it, whatever is wrong with a record, as with
    UTF-8.
    """
    (tmp_path / "t.csv").write_bytes(b"a,b\n\x81,3\n")
    with open_table(tmp_path / "t.csv", CP1252) as table:
        assert table.names == ("a", "b")


@pytest.mark.parametrize("marks", [("a;b", ";"), ("a\tb", "\t"), ("a|b", "|")])
def test_an_undeclared_delimiter_is_named_and_not_guessed(marks, tmp_path):
    header, mark = marks
    (tmp_path / "t.csv").write_text(f"{header}\nSeCrEt{mark}4\n")
    with pytest.raises(DataFileError) as caught:
        rows_of(tmp_path / "t.csv", USUAL)
    shown = "tab" if mark == "\t" else mark
    assert f"if {mark!r} separates the columns, declare it: --delimiter " in str(caught.value)
    assert f'in a schema "dialect": {{"delimiter": "{shown}"}}' in str(caught.value)
    assert ("--dialect excel-semicolon" in str(caught.value)) == (mark == ";")
    (tmp_path / "t.csv").write_text("a,b\nSeCrEt,4\n")
    with pytest.raises(DataFileError, match=r"--delimiter ,, in"):
        rows_of(tmp_path / "t.csv", SEMICOLON)


REFUSED = {
    "two characters": (
        {"delimiter": ";;"},
        r"delimiter \(--delimiter\) is ';;'; give one ASCII character",
    ),
    "no delimiter": ({"delimiter": ""}, "delimiter"),
    "a letter": ({"delimiter": "x"}, "delimiter"),
    "a line end": ({"delimiter": "\n"}, "delimiter"),
    "not ASCII": ({"delimiter": "§"}, "delimiter"),
    "a number": ({"delimiter": 7}, "give a text"),
    "quotes that separate": ({"delimiter": ";", "quoteChar": ";"}, "neither the delimiter"),
    "quotes that separate by default": ({"quoteChar": ","}, "neither the delimiter"),
    "white quotes": ({"quoteChar": "\t"}, "nor white space"),
    "a decimal digit": ({"decimalChar": "1"}, r"decimalChar \(--decimal\)"),
    "no decimal mark": ({"decimalChar": ""}, "decimalChar"),
    "many group marks": ({"groupChar": ".."}, r"groupChar \(--thousands\)"),
    "no encoding": ({"encoding": "utf-9"}, r"encoding \(--encoding\) 'utf-9' is not known"),
    "bytes": ({"encoding": "hex"}, "is not known"),
    "escapes": ({"encoding": "unicode_escape"}, "is not known"),
    "encodings with a state": (
        {"encoding": "iso2022_jp"},
        "lets one value change how the next ones are read",
    ),
    "UTF-7": ({"encoding": "UTF7"}, "lets one value change how the next ones are read"),
    "a sheet that cannot be": ({"sheetName": "a/b"}, r"sheetName \(--sheet\)"),
    "no header": ({"header": False}, "write the column names into the first line"),
    "a later header": ({"headerRows": [3]}, "headerRows"),
    "backslashes": ({"escapeChar": "\\"}, "doubles quotes"),
    "single quotes inside": ({"doubleQuote": False}, "doubles quotes"),
    "comments": ({"commentChar": "#"}, "remove the comments"),
    "blanks": ({"skipInitialSpace": True}, "white space around values is ignored"),
    "null": ({"nullSequence": "\\N"}, "missingValues"),
    "nested": ({"csv": {"delimiter": ";"}}, "into the dialect itself"),
    "sep": ({"sep": ";"}, "did you mean 'delimiter'"),
    "decimal": ({"decimal": ","}, "did you mean 'decimalChar'"),
    "quotechar": ({"quotechar": "'"}, "did you mean 'quoteChar'"),
    "something": ({"colour": "red"}, "it may have delimiter, quoteChar, encoding"),
    "no dialect": ("excel", "give 'csv', 'excel-semicolon', or properties"),
    "a list": ([";"], "give 'csv'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_followed_is_refused_with_a_way_out(case):
    properties, expected = REFUSED[case]
    with pytest.raises(SchemaError, match=expected) as caught:
        dialect_of({"dialect": properties})
    assert str(caught.value).startswith("dialect")
    assert "\n" not in str(caught.value)


def test_names_stand_for_all_properties():
    semicolon = dialect_of({"dialect": "excel-semicolon"})
    assert (semicolon.delimiter, semicolon.decimal_char, semicolon.group_char) == (";", ",", ".")
    assert Dialect.from_properties(
        properties_of("excel-semicolon") | properties_of("csv")
    ) == dialect_of({"dialect": "csv"})
    assert (
        dialect_of({})
        == dialect_of({"dialect": None})
        == dialect_of({"dialect": {"header": True}})
        == USUAL
    )


def test_what_the_encoding_has_not_is_refused_without_repeating_it(tmp_path):
    frame = pd.DataFrame({"a": [SECRET, "\N{SNOWMAN}"]}, dtype=object)
    with pytest.raises(DataFileError, match="characters that cp1252 has not") as caught:
        write_frame(frame, tmp_path / "t.csv", force=False, dialect=CP1252)
    assert "\N{SNOWMAN}" not in str(caught.value)
    frame = pd.DataFrame({"a": [SECRET, "x\ty"]}, dtype=object)
    with pytest.raises(DataFileError, match="cannot be written without quotes"):
        write_frame(frame, tmp_path / "t.tsv", force=False, dialect=dialect(quoteChar=""))
    assert not list(tmp_path.iterdir())


def test_what_is_called_tsv_has_tabs_in_any_dialect(tmp_path):
    frame = pd.DataFrame({"a": ["1"], "b": ["2;"]}, dtype=object)
    write_frame(frame, tmp_path / "t.tsv", force=False, dialect=SEMICOLON)
    assert (tmp_path / "t.tsv").read_bytes() == b"a\tb\n1\t2;\n"


@pytest.mark.parametrize("cut", [0.5, -1])
def test_a_truncated_zst_file_is_not_read_short(cut, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    content = pyarrow.compress(
        b"a,b\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(20000)), "zstd", asbytes=True
    )
    (tmp_path / "t.csv.zst").write_bytes(content[: int(len(content) * cut) if cut > 0 else cut])
    with pytest.raises(DataFileError, match="it is damaged, or not compressed"):
        rows_of(tmp_path / "t.csv.zst", USUAL)


def test_zst_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.csv.zst").touch()
    for use in (
        lambda path: rows_of(path, USUAL),
        lambda path: write_frame(pd.DataFrame({"a": []}), path, force=True),
    ):
        with pytest.raises(MissingExtraError, match="synthdp\\[zstd\\]"):
            use(tmp_path / "t.csv.zst")
