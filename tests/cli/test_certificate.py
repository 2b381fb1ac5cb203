"""``synthdp certificate``, and ``--about``: forms by endings, checks before anything is written or
paid for.
"""

import json
from collections import Counter

import numpy as np
import pytest
import yaml
from helpers.cli_runs import HEADER, ROWS, SCHEMA, assert_one_line, invoke, run_arguments
from helpers.mutated_files import odd_bytes, odd_json
from helpers.release_files import edited, members_of, summed, write_zip
from helpers.seldom import examples
from helpers.stated import ABOUT

from synthdp.cli import FORMS
from synthdp.core import sealed
from synthdp.release import SCHEMA_FILE, yaml_text

CERTIFICATE = "out.csv.privacy.json"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(HEADER + ROWS, encoding="utf-8")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    (tmp_path / "about.yaml").write_text(yaml_text(ABOUT), encoding="utf-8")
    return tmp_path


@pytest.fixture
def released(place):
    outcome = invoke(
        *run_arguments("--mechanism", "independent", "--about", "about.yaml", "--save", "m.synthdp")
    )
    assert outcome.code == 0, outcome.err
    return place


def test_what_the_curator_says_is_in_the_certificate_and_the_file(released):
    certificate = json.loads((released / CERTIFICATE).read_text(encoding="utf-8"))
    assert certificate["about"]["name"] == ABOUT["name"]
    of_model = json.loads(invoke("show", "m.synthdp", "--json").out)["certificate"]
    assert of_model == sealed({key: certificate[key] for key in certificate if key != "rows"})


def test_the_form_follows_the_ending_or_is_named(released):
    for output in ("page.html", "page.htm", "record.yaml", "record.yml", "copy.json"):
        assert invoke("certificate", CERTIFICATE, "-o", output).code == 0
    certificate = json.loads((released / CERTIFICATE).read_text(encoding="utf-8"))
    assert (released / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (
        yaml.safe_load((released / "record.yaml").read_text())["deployment"]["administrative"][
            "tier"
        ]
        == 3
    )
    assert json.loads((released / "copy.json").read_text(encoding="utf-8")) == certificate
    events = json.loads(invoke("certificate", "m.synthdp", "--as", "dp-events").out)
    assert len(events["event"]["events"]) == len(certificate["events"])


def test_what_is_said_later_comes_in_and_what_the_registry_lacks_is_told(released):
    (released / "more.json").write_text(json.dumps({"name": "Another name", "sector": "Fishing"}))
    outcome = invoke("certificate", CERTIFICATE, "-o", "r.yaml", "--about", "more.json")
    assert outcome.err == "synthdp: a draft for the registry, of tier 3\n"
    basic = yaml.safe_load((released / "r.yaml").read_text())["deployment"]["basic"]
    assert (basic["name"], basic["intended_use"]) == ("Another name", ABOUT["intended_use"])
    certificate = json.loads((released / CERTIFICATE).read_text(encoding="utf-8"))
    for key in ("actors", "name"):
        del certificate["about"][key]
    (released / "less.json").write_text(json.dumps(sealed(certificate)))
    outcome = invoke("certificate", "less.json", "-o", "none.yaml")
    assert (outcome.code, outcome.err) == (
        2,
        "synthdp: about: the registry needs name as well; say it in a file for --about [E20]\n",
    )
    outcome = invoke("certificate", "less.json", "-o", "tier.yaml", "--about", "more.json")
    assert outcome.err.endswith("of tier 2; for tier 3 say actors in --about\n")


def test_the_json_schema_is_printed():
    outcome = invoke("certificate", "--schema")
    assert (outcome.code, outcome.out) == (0, SCHEMA_FILE.read_bytes())


REFUSED = [
    ((), 2, "FILE is missing"),
    ((CERTIFICATE,), 2, "--output is '-'; end it in .html, .yaml or .json, or say --as FORM"),
    ((CERTIFICATE, "-o", "c.pdf"), 2, "--output is 'c.pdf'"),
    ((CERTIFICATE, "--as", "pdf"), 2, "--as is 'pdf'; give one of html, registry, json, dp-events"),
    ((CERTIFICATE, "-o", CERTIFICATE, "--as", "json", "--force"), 2, "named twice"),
    ((CERTIFICATE, "-o", "schema.json"), 1, "it exists; pass --force"),
    (("none.json", "-o", "c.html"), 1, "cannot be read"),
    (("schema.json", "-o", "c.html"), 1, "it holds no certificate"),
    (("in.csv", "-o", "c.html"), 1, "it is no schema"),
    (("damaged.json", "-o", "c.html"), 1, "the certificate is damaged, or was changed: its sha256"),
    (
        ("unsealed.json", "-o", "c.html"),
        1,
        "the certificate is damaged, or was changed: its sha256",
    ),
    (("tampered.json", "-o", "c.html"), 1, "its certificate is not as synthdp writes it"),
    (("half.json", "-o", "c.html"), 1, "the certificate was changed, or is too old"),
    (("unprivate.json", "-o", "c.yaml"), 3, "NOT PRIVATE"),
    (
        (CERTIFICATE, "-o", "c.html", "--about", "none.yaml"),
        1,
        "about 'none.yaml': it cannot be read",
    ),
]


def test_what_cannot_be_is_refused_in_a_line(released):
    certificate = json.loads((released / CERTIFICATE).read_text(encoding="utf-8"))
    for name, changed in {
        "tampered": {"accounting": {}},
        "half": {"meaning": [1]},
        "unprivate": {"is_private": False, "guarantee": "NOT PRIVATE: the noise can be predicted"},
    }.items():
        (released / f"{name}.json").write_text(json.dumps(sealed(certificate | changed)))
    (released / "damaged.json").write_text(json.dumps(certificate | {"epsilon": 0.1}))
    without = {name: value for name, value in certificate.items() if name != "sha256"}
    (released / "unsealed.json").write_text(json.dumps(without))
    for arguments, code, problem in REFUSED:
        outcome = invoke("certificate", *arguments)
        assert (outcome.code, len(outcome.lines)) == (code, 1), outcome.err
        assert problem in outcome.err
        assert not list(released.glob("c.*"))


def test_a_wrong_word_is_found_before_anything_is_read_or_paid_for(place, charged):
    (place / "about.yaml").write_text("nmae: x\n")
    outcome = invoke(*run_arguments("--about", "about.yaml"))
    assert (outcome.code, charged) == (2, [])
    assert (
        outcome.err == "synthdp: about: the key 'nmae' is not known; did you mean 'name'? [E12]\n"
    )
    assert not (place / "out.csv").exists()


@pytest.mark.usefixtures("place")
def test_what_is_read_is_not_replaced():
    outcome = invoke(*run_arguments("--about", "about.json", "--save", "about.json", "--force"))
    assert (outcome.code, "named twice" in outcome.err) == (2, True)


@pytest.mark.parametrize("is_forged", [False, True], ids=["damaged", "forged"])
def test_a_certificate_that_was_changed_anywhere_is_one_line_and_never_taken_for_what_it_was(
    released, is_forged
):
    """Damaged ones are refused whatever they say, and those with the right hash are written or
    refused.
    """
    whole = (released / CERTIFICATE).read_bytes()
    content, rng, codes = json.loads(whole), np.random.default_rng(7), Counter()
    for number in range(examples(90)):
        if is_forged:
            changed = json.dumps(sealed(odd_json(content, rng))).encode()
        else:
            changed = (
                odd_bytes(whole, rng) if number % 2 else json.dumps(odd_json(content, rng)).encode()
            )
        (released / "changed.json").write_bytes(changed)
        for command in (
            ("show", "changed.json", "--all"),
            *(("certificate", "changed.json", "--as", form) for form in FORMS),
        ):
            outcome = invoke(*command)
            codes[outcome.code] += 1
            assert "internal error" not in outcome.err, (command, changed)
            assert outcome.code == 0 or len(outcome.lines) == 1
            assert (
                outcome.code in ((0, 1, 2, 3) if is_forged else (1,))
                or json.loads(changed) == content
            )
    assert codes[1] > 15
    assert (codes[0] > 15) == is_forged


def test_a_model_whose_certificate_was_changed_is_refused_though_its_checksums_hold(released):
    found = members_of(released / "m.synthdp")
    edited(lambda manifest: manifest["certificate"].update(epsilon=0.1))(found)
    write_zip(released / "changed.synthdp", summed(found))
    for command in (
        ("sample", "changed.synthdp", "-o", "s.csv"),
        ("show", "changed.synthdp"),
        ("refit", "changed.synthdp", "--engine", "direct", "-o", "r.synthdp"),
        ("report", "--public", "changed.synthdp", "-o", "p.html"),
        ("certificate", "changed.synthdp", "-o", "c.html"),
    ):
        outcome = invoke(*command)
        assert_one_line(outcome, 1)
        assert "the certificate is damaged, or was changed" in outcome.err


def test_a_report_refuses_a_damaged_certificate_beside_a_table(released):
    content = json.loads((released / CERTIFICATE).read_text())
    for changed in (
        content | {"epsilon": 0.1},
        sealed(content | {"schema": 7}),
        sealed(content | {"events": [{"event": "marginal", "columns": 3}]}),
        sealed(content | {"events": [{"event": "marginal", "columns": ["town"], "sigma": 0}]}),
        [],
    ):
        (released / CERTIFICATE).write_text(json.dumps(changed))
        outcome = invoke("report", "in.csv", "out.csv", "-s", "schema.json", "--json")
        assert (outcome.code, len(outcome.lines)) in ((1, 2), (2, 2)), (
            changed
        )  # the first says that it is not private
        assert "internal error" not in outcome.err


def test_certificates_of_earlier_versions_have_no_hash_and_are_read(released):
    content = json.loads((released / CERTIFICATE).read_text())
    older = {name: value for name, value in content.items() if name not in ("sha256", "run")}
    for stated in ({"format": "synthdp-certificate/1"}, {}):
        (released / "older.json").write_text(
            json.dumps({n: v for n, v in older.items() if n != "format"} | stated)
        )
        assert invoke("show", "older.json").code == 0
        assert invoke("certificate", "older.json", "-o", "older.html", "--force").code == 0
