"""Wrong kinds files, units and shares: one clear line, nothing read, nothing paid for, nothing
written.
"""

import json

import pytest
from helpers.cli_runs import CANARY, HEADER, ROWS, assert_one_line, invoke, lay_out, names_in, write
from helpers.kinds_runs import KINDS, kinds_arguments, lay_out_kinds

from synthdp.data import CsvFile
from synthdp.privacy import PrivacyLedger


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run in, where no row may be read and nothing may be paid for."""
    lay_out(tmp_path)
    lay_out_kinds(tmp_path)
    monkeypatch.chdir(tmp_path)

    def forbidden(*_arguments, **_options):
        pytest.fail("rows were read, or something was paid for")

    monkeypatch.setattr(CsvFile, "chunks", forbidden)
    monkeypatch.setattr(PrivacyLedger, "charge", forbidden)
    return tmp_path


def assert_refused(folder, arguments, code, fragment):
    before = names_in(folder)
    outcome = invoke(*arguments)
    assert_one_line(outcome, code)
    assert fragment in outcome.err
    assert outcome.out == b""
    assert names_in(folder) == before


KINDS_FILES = {
    "no JSON": ("{town: categorical}", "kinds 'kinds.json': it is not valid JSON in line 1"),
    "empty file": ("", "it is not valid JSON"),
    "not UTF-8": (b'{"t\xe9": "integer"}', "it is not UTF-8"),
    "a list": ('["town", "age", "code"]', "kinds: give a JSON object"),
    "a text": ('"integer"', "kinds: give a JSON object"),
    "null": ("null", "kinds: give a JSON object"),
    "a number": ("3", "kinds: give a JSON object"),
    "a schema": ({"fields": []}, "kinds: give a JSON object"),
    "no columns": ({}, "list at least one column"),
    "a column too many": (KINDS | {"pay": "number"}, "the schema has 'pay', the table has not"),
    "ignored and not there": (
        KINDS | {"note": "ignore"},
        "the schema has 'note', the table has not",
    ),
    "all ignored": (dict.fromkeys(KINDS, "ignore"), "the kind of all columns is 'ignore'"),
    "twice": (
        '{"town": "categorical", "age": "integer", "town": "integer"}',
        "the key 'town' stands twice",
    ),
    "a column lacks": (
        {"town": "categorical", "age": "integer"},
        "the table has 'code', the schema has not",
    ),
    "other capitals": ({"Town": "categorical", "age": "integer", "code": "categorical"}, "'Town'"),
    "an unknown kind": (
        KINDS | {"age": "float"},
        "column 'age': its kind is 'float'; use one of categorical",
    ),
    "a kind in capitals": (
        KINDS | {"age": "Integer"},
        "column 'age': its kind is 'Integer'; did you mean 'integer'?",
    ),
    "a kind as Python has it": (
        KINDS | {"age": "int"},
        "did you mean 'integer'? If not, use one of",
    ),
    "a kind under its name": (
        KINDS | {"age": {"kind": "integer"}},
        "has no 'type', which says the kind, but 'kind'",
    ),
    "free text": (
        KINDS | {"town": "text"},
        "column 'town': its kind is 'text', and free text cannot be synthesised",
    ),
    "a size": ({"town": 3, "age": 100, "code": 2}, "column 'town': its kind is the number 3"),
    "no kind": (
        KINDS | {"age": None},
        "column 'age': its kind is not filled in; use one of categorical",
    ),
    "a list of kinds": (KINDS | {"age": ["integer"]}, "column 'age': its kind is ['integer']"),
    "an object without kind": (KINDS | {"age": {}}, "column 'age': its kind is not filled in"),
    "true": (KINDS | {"age": True}, "column 'age': its kind is True"),
    "a name of its own": (KINDS | {"age": {"type": "integer", "name": "years"}}, "column 'age'"),
    "an unknown part": (
        KINDS | {"age": {"type": "integer", "synthdp": {"derive": ["levels"]}}},
        "column 'age'",
    ),
    "an unknown binning": (
        KINDS | {"age": {"type": "integer", "synthdp": {"binning": "best"}}},
        "column 'age'",
    ),
    "too few levels": (
        KINDS | {"town": {"type": "categorical", "synthdp": {"max_levels": 2}}},
        "max_levels is 2",
    ),
    "too many levels": (
        KINDS | {"town": {"type": "categorical", "synthdp": {"max_levels": 10**9}}},
        "max_levels is",
    ),
    "levels no number": (
        KINDS | {"town": {"type": "categorical", "synthdp": {"max_levels": "9"}}},
        "max_levels is",
    ),
    "a bound beyond all": (
        KINDS | {"age": {"type": "integer", "constraints": {"maximum": -(2**53)}}},
        "column 'age'",
    ),
    "bounds the wrong way": (
        KINDS | {"age": {"type": "integer", "constraints": {"minimum": 9, "maximum": 0}}},
        "column 'age'",
    ),
}


@pytest.mark.parametrize(("content", "fragment"), KINDS_FILES.values(), ids=KINDS_FILES)
def test_kinds_files_that_say_nothing_useful_fail(content, fragment, place):
    write(
        place / "kinds.json", content if isinstance(content, str | bytes) else json.dumps(content)
    )
    assert_refused(place, kinds_arguments(), 1, fragment)


@pytest.mark.parametrize(
    ("known", "code", "fragment"),
    [
        ((), 2, "one of the arguments -s/--schema --kinds is required"),
        (("-s", "schema.json", "--kinds", "kinds.json"), 2, "not allowed with"),
        (("--kinds", "none.json"), 1, "kinds 'none.json': it cannot be read: no such file"),
        (("--kinds", "folder"), 1, "kinds 'folder': it cannot be read: is a directory"),
        (("--kinds", ""), 1, "kinds '': it cannot be read"),
        (("--kinds", "k\0.json"), 1, "it cannot be read"),
        (("--kinds",), 2, "--kinds: expected one argument"),
        (
            ("-s", "kinds.json"),
            1,
            "it has no list 'fields', but kinds of columns; give it as kinds",
        ),
        (("--kinds", "schema.json"), 1, "give a schema as the schema"),
        (("--kinds", "in.csv"), 1, "it is not valid JSON"),
    ],
)
def test_the_file_must_be_there_and_of_its_kind(known, code, fragment, place):
    (place / "folder").mkdir()
    assert_refused(place, kinds_arguments(known=known), code, fragment)


def test_the_kinds_file_is_not_replaced(place):
    assert_refused(place, kinds_arguments("--force", "--save", "kinds.json"), 2, "named twice")


OPTIONS = {
    "share 0": (("--domain-share", "0"), 2, "domain_share is 0"),
    "share -0": (("--domain-share=-0.0",), 2, "domain_share is -0"),
    "share below 0": (("--domain-share=-0.5",), 2, "domain_share is -0.5"),
    "share 1": (("--domain-share", "1"), 2, "domain_share is 1"),
    "share above 1": (("--domain-share", "2"), 2, "domain_share is 2"),
    "share nan": (("--domain-share", "nan"), 2, "domain_share is nan"),
    "share inf": (("--domain-share", "inf"), 2, "domain_share is inf"),
    "share no number": (("--domain-share", "abc"), 2, "--domain-share"),
    "unit not in the table": (
        ("--unit", "who", "--max-rows-per-unit", "2"),
        1,
        "unit (--unit) is 'who': the table has no such column; it has '",
    ),
    "unit without a name": (
        ("--unit", "", "--max-rows-per-unit", "2"),
        1,
        "unit (--unit) is '': the table has no such column; it has '",
    ),
    "unit alone": (("--unit", "code"), 2, "--unit is given without --max-rows-per-unit; say"),
    "rows alone": (
        ("--max-rows-per-unit", "2"),
        2,
        "--max-rows-per-unit is given without --unit; name",
    ),
    "rows 0": (("--unit", "code", "--max-rows-per-unit", "0"), 2, "max_rows_per_unit is 0; give"),
    "rows below 0": (
        ("--unit", "code", "--max-rows-per-unit=-1"),
        2,
        "max_rows_per_unit is -1; give",
    ),
    "rows absurd": (
        ("--unit", "code", "--max-rows-per-unit", "1000000000"),
        2,
        "max_rows_per_unit is 1000000000",
    ),
    "rows beyond": (("--unit", "code", "--max-rows-per-unit", "9" * 40), 2, "at most"),
    "rows no number": (("--unit", "code", "--max-rows-per-unit", "many"), 2, "--max-rows-per-unit"),
    "rows a part": (("--unit", "code", "--max-rows-per-unit", "1.5"), 2, "--max-rows-per-unit"),
    "persons replaced": (
        ("--unit", "code", "--max-rows-per-unit", "2", "--adjacency", "replace-one"),
        2,
        "adjacency is 'replace-one', which is for records",
    ),
    "gdp that does not suit": (
        ("--accounting", "gdp", "--mechanism", "mst"),
        2,
        "mst selects by the exponential",
    ),
    "unknown mechanism": (("--mechanism", "magic"), 2, "mechanism 'magic' is unknown"),
    "unknown workload": (("--workload", "many"), 2, "workload 'many'"),
}


@pytest.mark.parametrize(("options", "code", "fragment"), OPTIONS.values(), ids=OPTIONS)
def test_options_that_do_not_fit_are_refused_before_a_row_is_read(options, code, fragment, place):
    assert_refused(place, kinds_arguments(*options), code, fragment)


@pytest.mark.parametrize("known", [("--kinds", "kinds.json"), ("-s", "schema.json")])
def test_a_unit_must_leave_something_to_synthesise(known, place):
    write(place / "in.csv", f"id\n{CANARY}\n")
    write(place / "kinds.json", '{"id": "categorical"}')
    fields = [{"name": "id", "type": "string", "constraints": {"enum": ["a", "b"]}}]
    write(place / "schema.json", json.dumps({"fields": fields}))
    more = ("--unit", "id", "--max-rows-per-unit", "2")
    assert_refused(place, kinds_arguments(*more, known=known), 1, "it has no column but 'id'")


def test_a_rule_cannot_name_the_unit(place):
    fields = [
        {"name": name, "type": "string", "constraints": {"enum": ["a", "b"]}}
        for name in ("town", "code")
    ]
    fields.insert(1, {"name": "age", "type": "integer", "synthdp": {"derive": True}})
    rules = {"constraints": [{"forbid": {"town": ["a"], "code": ["b"]}}]}
    write(place / "open.json", json.dumps({"fields": fields, "synthdp": rules}))
    more = ("--unit", "code", "--max-rows-per-unit", "2")
    assert_refused(
        place, kinds_arguments(*more, known=("-s", "open.json")), 1, "a rule names 'code'"
    )
    rules["constraints"][0]["forbid"] = {"town": ["a"], "age": [3]}
    write(place / "open.json", json.dumps({"fields": fields, "synthdp": rules}))
    assert_refused(
        place,
        kinds_arguments(known=("-s", "open.json")),
        1,
        "a rule names 'age', whose domain is derived",
    )


def test_gaussian_accounting_is_refused_with_privtree(place):
    tree = {"type": "integer", "synthdp": {"binning": "privtree"}}
    write(place / "kinds.json", json.dumps(KINDS | {"age": tree}))
    assert_refused(
        place, kinds_arguments("--accounting", "gdp"), 2, "binning 'privtree' has noise that is not"
    )


def test_an_engine_that_could_not_hold_the_largest_domain_refuses(place):
    names = [f"c{i}" for i in range(6)]
    write(place / "in.csv", ",".join(names) + "\n" + ",".join([CANARY] * 6) + "\n")
    write(place / "kinds.json", json.dumps(dict.fromkeys(names, "categorical")))
    assert_refused(place, kinds_arguments("--engine", "direct"), 1, "direct: the domain has")


def test_budgets_that_allow_nothing_are_refused_for_privacy(place):
    assert_refused(
        place, kinds_arguments(epsilon="1e-100", delta="1e-300"), 3, "allows nothing to be measured"
    )
    assert_refused(place, kinds_arguments(epsilon="0"), 2, "epsilon is 0")
    assert_refused(place, kinds_arguments(delta="1"), 2, "delta is 1")


@pytest.mark.parametrize("second", [HEADER + ROWS, HEADER + "B,1,02\n" * 3])
def test_a_damaged_row_is_refused_in_the_same_words_whatever_it_holds(
    second, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    lay_out_kinds(tmp_path, table=second + "A,1\n")
    assert_refused(tmp_path, kinds_arguments(), 1, "'in.csv': ")
    assert "as many fields" in invoke(*kinds_arguments()).err
