"""What a curator may say of a release, and what is refused."""

import json
import sys

import pytest
from helpers.stated import ABOUT

from synthdp.core import DataFileError, MissingExtraError, ParameterError
from synthdp.release import KEYS, MAX_BYTES, MAX_LINE, MAX_TEXT, load_yaml, read_about, yaml_text


def test_all_that_may_be_said_comes_back_from_yaml_and_json(tmp_path):
    assert set(ABOUT) == set(KEYS)
    (tmp_path / "a.yaml").write_text(yaml_text(ABOUT), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(ABOUT), encoding="utf-8")
    said = read_about(ABOUT)
    assert said == read_about(tmp_path / "a.yaml") == read_about(str(tmp_path / "a.json"))
    assert said == ABOUT | {"sources": [ABOUT["sources"][0] | {"year": "2026"}]}
    assert read_about({}) == {}


def test_yaml_as_people_write_it(tmp_path):
    path = tmp_path / "a.yml"
    path.write_text(
        "publication_date: 2026-11-22\nnotes: |\n  one\n  two\ncurators:\n- name: Büro\n",
        "utf-8-sig",
    )
    found = {"publication_date": "2026-11-22", "notes": "one\ntwo", "curators": [{"name": "Büro"}]}
    assert read_about(path) == found
    assert read_about({"name": "B\u200cro\u00a0", "notes": "a\r\n\tb"}) == {
        "name": "B\u200cro",
        "notes": "a\n\tb",
    }


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"curator": "x"}, "'curator' is not known; did you mean 'curators'?"),
        ({"xyz": "x"}, "'xyz' is not known; it may have name"),
        ({1: "x"}, "'1' is not known"),
        ({"curators": "Office"}, "about: curators is 'Office'; give a list of 1 to 50 entries"),
        ({"curators": []}, r"curators is \[\]; give a list of 1 to 50"),
        ({"curators": [{"name": "x"}] * 51}, "give a list of 1 to 50"),
        ({"curators": ["Office"]}, r"curators\[0\] is 'Office'; give keys such as 'name"),
        ({"curators": [{"type": "Government"}]}, r"curators\[0\].name is not given; give a text"),
        (
            {"curators": [{"name": "x", "tpye": "Industry"}]},
            r"'curators\[0\].tpye' is not known; did you mean 'type'",
        ),
        (
            {"curators": [{"name": "x", "type": "Church"}]},
            r"type is 'Church'; give one of 'Government'",
        ),
        ({"region": False}, "region is False; give a text in quotes"),
        (
            {"release_type": ["One release"]},
            "release_type is .*give one of 'One release', 'Many releases'",
        ),
        ({"publication_date": "22.11.2026"}, "give a day as 2026-12-31"),
        ({"publication_date": "20261122"}, "give a day as 2026-12-31"),
        ({"publication_date": 2026}, "give a day as 2026-12-31"),
        ({"name": "x" * (MAX_LINE + 1)}, "has 201 characters; write 1 to 200"),
        ({"notes": "x" * (MAX_TEXT + 1)}, "has 10001 characters"),
        ({"notes": " "}, "has 0 characters"),
        ({"name": "one\ntwo"}, "control characters or line feeds"),
        ({"notes": "one\x1b[31m"}, "control characters in it"),
        ({"notes": "\ud800"}, "control characters in it"),
        ({"registry_authors": [1]}, r"registry_authors\[0\] is 1; give a text in quotes"),
    ],
)
def test_anything_else_is_refused_in_a_line(said, problem):
    with pytest.raises(ParameterError, match=problem) as refusal:
        read_about(said)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "a.yaml",
            "name: x\nname: y\n",
            "line 2: it is not valid YAML: the key 'name' stands twice",
        ),
        ("a.yaml", "name: [x\n", "it is not valid YAML"),
        ("a.yaml", "a: &x [1]\nb: *x\n", "line 2: .*references"),
        ("a.yaml", "name: !!python/object/apply:os.system ['true']\n", "it is not valid YAML"),
        ("a.yaml", "[" * 5000, "it is nested too deep"),
        ("a.yaml", "{[a]: b}", "it is not valid YAML"),
        ("a.yaml", "name: \x07\n", "it is not valid YAML"),
        ("a.yaml", "publication_date: 2026-02-30", "it is not valid YAML"),
        ("a.yaml", "- x\n", "about: it is a list; give keys"),
        ("a.yaml", "", "about: it is not given; give keys"),
        ("a.yaml", "#" * (MAX_BYTES + 1), "larger than 256 KiB"),
        ("a.json", '{"name": 1, "name": 2}', "the key 'name' stands twice"),
        ("a.json", "{", "it is not valid JSON"),
        ("a.txt", "name: x", "give a file that ends in .yaml, .yml or .json"),
    ],
)
def test_files_that_hold_something_else(tmp_path, name, text, problem):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match=problem) as refusal:
        read_about(path)
    assert "\n" not in str(refusal.value)


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path / "none.json", f"{tmp_path}/\0.yaml"):
        with pytest.raises(DataFileError, match="cannot be read"):
            read_about(path)
    (tmp_path / "latin.yaml").write_bytes(b"name: B\xfcro\n")
    with pytest.raises(ParameterError, match="not UTF-8"):
        read_about(tmp_path / "latin.yaml")
    with pytest.raises(ParameterError, match="about is a int"):
        read_about(1)


def test_without_yaml_json_does(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "a.json").write_text('{"name": "x"}')
    assert read_about(tmp_path / "a.json") == {"name": "x"}
    (tmp_path / "a.yaml").write_text("name: x")
    with pytest.raises(MissingExtraError, match=r"synthdp\[publish\]"):
        load_yaml(tmp_path / "a.yaml", "about")


def test_texts_of_several_lines_stay_readable():
    assert yaml_text({"a": "x\n- y: z", "b": 1e-9}) == "a: |-\n  x\n  - y: z\nb: 1.0e-09\n"
