"""`synthdp show` of what was learnt and what is to be learnt: certificates, models, open schemas,
kinds.
"""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import assert_one_line, invoke
from helpers.failing_runs import failing
from helpers.fields import derived
from helpers.homes import home
from helpers.stated import release_of

import synthdp
from synthdp.cli import describe
from synthdp.core import DataFileError, sealed
from synthdp.learning import learn_columns
from synthdp.privacy import Accounting
from synthdp.release import DOMAIN_SHARE, Protection
from synthdp.report import at_most, certificate_text
from synthdp.schema import OpenSchema

learner = home(learn_columns)

SEX = {"type": "string", "constraints": {"enum": ["f", "m"], "required": True}}
TREE = {"type": "integer", "synthdp": {"derive": True, "binning": "privtree"}}
KINDS = {"town": "categorical", "code": "integer", "pay": "number", "age": TREE, "sex": SEX}
SHARE = f"at most {100 * DOMAIN_SHARE:g} % of the budget"


def frame():
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "person": np.arange(3000) // 2,
            "town": rng.choice(list("ABC"), 3000),
            "code": rng.integers(0, 10**6, 3000),
            "pay": rng.normal(0, 1000, 3000).round(2),
            "age": rng.integers(17, 90, 3000),
            "sex": rng.choice(["f", "m"], 3000),
        }
    )


def show(path):
    """The lines that people see, with one space between words, and what machines see."""
    text, content = invoke("show", path, "--all"), invoke("show", path, "--json")
    assert (text.code, text.err, content.code) == (0, "", 0)
    return [" ".join(line.split()) for line in text.out.decode().splitlines()], json.loads(
        content.out
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(place, content, name="file.json"):
    """A file of JSON; certificates, and those in schemas, as if synthdp had written them."""
    own = content.get("synthdp", {}) if isinstance(content, dict) else {}
    if isinstance(own.get("certificate"), dict):
        content = content | {"synthdp": own | {"certificate": sealed(own["certificate"])}}
    elif isinstance(content, dict) and "guarantee" in content:
        content = sealed(content)
    (place / name).write_text(json.dumps(content))
    return name


def learnt(place, *, kinds=None, unit=None):
    """The certificate of a run on the records, as a file, and as it is."""
    schema = OpenSchema.from_kinds(KINDS if kinds is None else kinds)
    table = frame()[[*schema.names, *([unit] if unit else [])]]
    rows = {"unit": unit, "max_rows_per_unit": 3} if unit else {}
    synthesis = synthdp.synthesize(table, schema, epsilon=8, delta=1e-6, workload="1-way", **rows)
    synthesis.save("model.synthdp", force=True)
    path = save(place, synthesis.certificate)
    return path, json.loads((place / path).read_text())


def test_a_certificate_says_which_columns_were_learnt_and_with_what(place):
    path, certificate = learnt(place)
    lines, content = show(path)
    assert content == certificate
    assert f"domain 4 columns learnt with {SHARE}; 1 column declared as a whole" in lines
    accounting = certificate["accounting"]
    spent = f"{accounting['failure_delta_spent']:.4g} of 1e-06 spent on thresholds"
    assert f"delta {spent}, {accounting['failure_delta']:.4g} at most" in lines
    events = [event for event in certificate["events"] if "column" in event]
    town = next(event for event in events if event["column"] == "town")
    n_levels = {column["name"]: column["n_levels"] for column in certificate["schema"]["columns"]}
    sigma, threshold = f"sigma {town['sigma']:.4g}", f"threshold {town['threshold']}"
    (counted,) = (e for e in events if (e["column"], e["event"]) == ("town", "histogram"))
    noise = f"{sigma} to {counted['sigma']:.4g}, {threshold}"
    assert f"town derived {n_levels['town']} levels, missing {noise} records" in lines
    assert f"partition selection town {sigma}, {threshold} {town['rho']:.4g}" in lines
    assert f"sex declared {n_levels['sex']}" in lines
    sigmas = [event["sigma"] for event in events if event["column"] == "code"]
    (code,) = (line for line in lines if line.startswith("code derived"))
    # Numbers are looked for by histograms alone, which need no threshold.
    assert code.endswith(f"bins, bounds, missing sigma {min(sigmas):.4g} to {max(sigmas):.4g}")
    first, tree = (event for event in events if event["column"] == "age")
    (age,) = (line for line in lines if line.startswith("age derived"))
    assert age.endswith(f"sigma {first['sigma']:.4g}, Laplace scale {tree['scale']}")
    assert f"tree age Laplace scale {tree['scale']} {tree['rho']:.4g}" in lines
    decimals = next(event for event in events if event["of"] == "decimals")
    assert (
        f"histogram 19 cells of pay (decimals) sigma {decimals['sigma']:.4g} {decimals['rho']:.4g}"
        in lines
    )
    kinds = ("histogram ", "partition selection ", "tree ", "marginal ", "selection ", "scores ")
    assert sum(line.startswith(kinds) for line in lines) == len(certificate["events"])


def test_a_model_says_so_too_and_shows_the_schema_that_was_learnt(place):
    learnt(place)
    lines, content = show("model.synthdp")
    assert f"domain 4 columns learnt with {SHARE}; 1 column declared as a whole" in lines
    assert any(line.startswith("schema of 5 columns, sha256 ") for line in lines)
    assert {"certificate", "schema"} <= set(content)


def test_the_unit_of_privacy_names_the_column_and_the_rows_of_a_person(place):
    path, _certificate = learnt(place, kinds={"town": "categorical"}, unit="person")
    (unit,) = (line for line in show(path)[0] if line.startswith("unit of privacy"))
    assert "one person, told apart by column 'person', with at most 3 records" in unit
    assert f"domain 1 column learnt with {SHARE}; none declared as a whole" in show(path)[0]


def test_certificates_without_anything_learnt_and_older_ones_have_no_table_of_it(place):
    path, certificate = learnt(place, kinds={"sex": SEX})
    lines, _content = show(path)
    assert "domain 1 column declared as a whole, none learnt" in lines
    assert not [line for line in lines if line.startswith(("column ", "delta "))]
    for column in certificate["schema"]["columns"]:
        del column["domain"]
    for name in ("failure_delta", "failure_delta_spent"):
        del certificate["accounting"][name]
    older = [line for line in lines if not line.startswith("domain ")]
    assert show(save(place, certificate))[0] == older


def test_an_open_schema_says_what_is_declared_and_what_will_be_learnt(place):
    bounds = {"minimum": 0, "maximum": 120, "required": True}
    months = {"derive": ["bounds"], "resolution": "month", "parts": ["month"]}
    fields = [
        derived("town", "string", max_levels=90, other="elsewhere"),
        {
            "name": "sex",
            "type": "string",
            "constraints": {"enum": ["f", "m"]},
            "synthdp": {"derive": ["missing"]},
        },
        {
            "name": "age",
            "type": "integer",
            "constraints": bounds,
            "synthdp": {"derive": ["bins"], "bins": 20},
        },
        derived("pay", "number", binning="equal-width"),
        {
            "name": "rate",
            "type": "number",
            "constraints": bounds,
            "synthdp": {"derive": ["decimals"]},
        },
        {
            "name": "fee",
            "type": "number",
            "constraints": bounds,
            "synthdp": {"derive": ["bins"], "decimals": 1},
        },
        {
            "name": "cost",
            "type": "number",
            "synthdp": {"derive": ["bounds", "bins"], "decimals": 2},
        },
        {"name": "born", "type": "date", "format": "%Y/%m/%d", "synthdp": months},
        {"name": "job", "type": "string", "constraints": {"enum": ["a", "b"], "required": True}},
    ]
    rules = [{"forbid": {"job": ["a"]}}]
    path = save(place, {"fields": fields, "synthdp": {"constraints": rules}})
    lines, content = show(path)
    assert content == OpenSchema.load(path).to_dict()
    assert lines[0] == "schema of 9 columns, 8 of them with something to learn"
    assert lines[3:13] == [
        "town string up to 90 to be learnt levels to be learnt, else elsewhere",
        "sex string up to 3 to be learnt f, m",
        "age integer up to 20 no 0 to 120, bins by quantiles to be learnt",
        "pay number up to 33 to be learnt bounds to be learnt, bins of equal width to be learnt, decimals to be learnt",
        "rate number up to 32 no 0.0 to 120.0, decimals to be learnt",
        "fee number up to 32 no 0.0 to 120.0, 1 decimals, bins by quantiles to be learnt",
        "cost number up to 33 yes 2 decimals, bounds to be learnt, bins by quantiles to be learnt",
        "born date up to 65 yes by month, written as %Y/%m/%d, bounds to be learnt",
        "job string 2 no a, b",
        'rule: {"forbid": {"job": ["a"]}}',
    ]
    share = f"by default at most {100 * DOMAIN_SHARE:g} %"
    assert lines[-1].endswith(f"{share}; levels that were not found may take half as much again")


def test_kinds_are_told_from_schemas_and_from_sizes(place):
    lines, content = show(save(place, KINDS))
    assert lines[0] == "kinds of 5 columns, 4 of them with something to learn"
    assert content == OpenSchema.from_kinds(KINDS).to_dict()
    assert show(save(place, content))[0] == ["schema" + lines[0].removeprefix("kinds"), *lines[1:]]
    assert show(save(place, {"age": 85, "sex": 2}))[0][0].startswith("schema of 2 columns, sha256 ")
    assert show(save(place, {"sex": SEX}))[0][0].startswith("kinds of 1 columns, sha256 ")
    assert show(save(place, {"fields": "categorical"}))[0][0].startswith(
        "kinds of 1 columns, 1 of them"
    )


def stopped(at):
    """Save what a run had learnt that was interrupted before column number ``at``."""

    def report(_what, step, _most):
        if step == at:
            raise KeyboardInterrupt

    schema = OpenSchema.from_kinds(KINDS)
    path = "x.rescued.schema.json"
    with pytest.raises(KeyboardInterrupt):
        synthdp.synthesize(
            frame()[[*KINDS]],
            schema,
            epsilon=8,
            delta=1e-6,
            report=report,
            rescue=lambda rescued: rescued.save(path),
        )
    return path


@pytest.mark.usefixtures("place")
def test_what_a_stopped_run_had_learnt_is_shown_with_what_it_cost():
    lines, content = show(stopped(at=2))
    assert "incomplete the run was stopped; only what it had paid for is here" in lines
    assert f"domain 2 columns learnt with {SHARE}; 2 columns still open" in lines
    assert any(line.startswith("town derived levels, missing sigma ") for line in lines)
    assert "pay still open nothing paid yet" in lines
    assert "age still open nothing paid yet" in lines
    assert "schema of 5 columns, 2 of them with something to learn" in lines
    assert any(
        line.startswith("town string ") and line.endswith(" A, B, C; else other") for line in lines
    )
    assert (
        "pay number up to 33 to be learnt bounds to be learnt, bins by quantiles to be learnt, decimals to be learnt"
        in (lines)
    )
    assert set(content) == {"certificate", "schema"}
    assert "certificate" not in content["schema"].get("synthdp", {})


def stopped_while_paying():
    """Save what a run had learnt that was interrupted after the first question about its first
    column.
    """
    schema, path = (
        OpenSchema.from_kinds({"code": "integer", "town": "categorical"}),
        "y.rescued.schema.json",
    )
    table = frame()[["code", "town"]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner, "learnt_missing", failing(None, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            synthdp.synthesize(
                table, schema, epsilon=8, delta=1e-6, rescue=lambda rescued: rescued.save(path)
            )
    return path


def test_what_was_only_paid_for_is_not_called_learnt(place):
    path = stopped_while_paying()
    lines, content = show(path)
    assert content["certificate"]["domain"]["open"] == ["code", "town"]
    assert f"domain 0 columns learnt with {SHARE}; 2 columns still open" in lines
    assert any(line.startswith("code still open sigma ") for line in lines)
    assert "town still open nothing paid yet" in lines
    assert "schema of 2 columns, 2 of them with something to learn" in lines
    older = json.loads((place / path).read_text())
    domain = older["synthdp"]["certificate"]["domain"]
    del domain["open"]
    domain["derived"] = {"code": ["bins", "bounds", "missing"], "town": ["levels", "missing"]}
    lines, _content = show(save(place, older))
    assert f"domain 2 columns to be learnt with {SHARE}" in lines
    assert "town to be derived levels, missing nothing paid yet" in lines
    del domain["derived"]
    assert f"domain 0 columns to be learnt with {SHARE}" in show(save(place, older))[0]


def test_words_come_before_numbers(place):
    learnt(place)
    lines, _content = show("model.synthdp")
    begins = [
        "guarantee ",
        "unit of privacy ",
        "for one person ",
        "domain ",
        "column domain",
        "not covered",
        "made by ",
    ]
    begins += ["rho ", "event "]
    places = [next(i for i, line in enumerate(lines) if line.startswith(begin)) for begin in begins]
    assert places == sorted(places)
    assert places[:4] == [0, 1, 2, 3]


def test_what_it_means_for_one_person_is_said_where_there_is_a_guarantee(place):
    path, certificate = learnt(place, kinds={"town": "categorical"})

    def said(**changed):
        save(place, certificate | changed)
        return [line for line in show(path)[0] if line.startswith("for one person ")]

    accounting = certificate["accounting"]
    most = Protection(
        epsilon=8,
        delta=1e-6,
        accounting=Accounting(accounting["currency"]),
        rho=accounting["rho_budget"],
        failure_delta=accounting["failure_delta"],
    ).true_positives(0.01)
    begin = "for one person an attacker who is wrong about 1 % of"
    assert said() == [
        f"{begin} those not in the table recognises at most {at_most(most)} of those in it"
    ]
    assert said(adjacency="replace-one") == [
        f"{begin} records of one content recognises at most {at_most(most)} of the other"
    ]
    assert said(is_private=False) == []


def test_levels_are_counted_alike_in_the_certificate_and_the_schema(place):
    learnt(
        place,
        kinds=KINDS
        | {"sex": {"type": "string", "constraints": {"enum": ["f", "m"], "required": False}}},
    )
    lines, content = show("model.synthdp")
    n_levels = {
        column["name"]: column["n_levels"] for column in content["certificate"]["schema"]["columns"]
    }
    assert n_levels["sex"] == 3  # both, and "missing"
    for name, number in n_levels.items():
        first, *_, last = (line.split() for line in lines if line.split()[:1] == [name])
        assert first[2] == last[2] == str(number)
    assert sum("levels (with missing)" in line for line in lines) == 2


DAMAGED = {
    "open is a number": lambda certificate: certificate["domain"].update(open=7),
    "kind of event": lambda certificate: certificate["events"][0].update(event="unheard of"),
    "no column": lambda certificate: certificate["events"][0].pop("column"),
    "no sigma": lambda certificate: certificate["events"][0].pop("sigma"),
    "derived is a number": lambda certificate: certificate["domain"].update(derived=7),
    "no delta but failure": lambda certificate: certificate["accounting"].update(failure_delta=1.0),
    "no share": lambda certificate: certificate["domain"].pop("share_of_budget"),
    "columns are no objects": lambda certificate: certificate["schema"].update(columns=[3]),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_damaged_certificates_are_refused_in_one_line(damage, place):
    path, certificate = learnt(place, kinds={"town": "categorical"})
    damage(certificate)
    save(place, certificate)
    assert_one_line(invoke("show", path), 1)


WRONG = {
    "unknown kind": (
        {"a": "intger"},
        "'intger'; did you mean 'integer'? If not, use one of categorical",
    ),
    "a size among kinds": ({"a": 2, "b": "integer"}, "the number 2"),
    "a list": ([1], "kinds file"),
    "certificate is no object": (
        {"fields": [{"name": "a", "type": "string"}], "synthdp": {"certificate": 7}},
        "constraints.enum is missing",
    ),
    "damaged certificate of a stopped run": (
        {"fields": [{"name": "a", "type": "boolean"}], "synthdp": {"certificate": {"events": [1]}}},
        "its certificate is not as synthdp writes it",
    ),
}


@pytest.mark.parametrize(("content", "fragment"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_one_line(content, fragment, place):
    outcome = invoke("show", save(place, content))
    assert_one_line(outcome, 1)
    assert fragment in outcome.err


def test_what_matters_most_of_a_certificate_or_model_fits_a_screen(place):
    path, certificate = learnt(place)
    for name in (path, "model.synthdp"):
        short = invoke("show", name).out.decode().splitlines()
        assert len(short) <= 34
        assert max(map(len, short)) <= 100
        for words in (
            certificate["guarantee"],
            "not covered by the guarantee",
            "--all shows everything",
        ):
            assert words in "\n".join(short)
    marginals = [event for event in certificate["events"] if event["event"] == "marginal"]
    line = next(line for line in short if line.startswith("marginal")).split()
    assert line[1] == str(len(marginals))
    assert float(line[-1]) == pytest.approx(sum(event["rho"] for event in marginals), rel=1e-3)


def test_damaged_models_budgets_and_journals_are_told_apart(tmp_path):
    path = tmp_path / "cut.synthdp"
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(DataFileError, match="it is no saved synthesis, or is damaged"):
        describe(str(path))
    budget = tmp_path / "people.budget"
    synthdp.Budget.create(budget, epsilon=1, delta=1e-6, population="people")
    with pytest.raises(
        DataFileError, match="synthdp budget show explains it, or synthdp journal show"
    ):
        describe(str(budget))
    with pytest.raises(DataFileError, match="it exists, and is never replaced; give another name"):
        synthdp.Budget.create(budget, epsilon=1, delta=1e-6, population="people")


def test_all_of_a_certificate_is_told_with_what_its_curator_says():
    certificate = release_of(
        about={"intended_use": "teaching", "curators": [{"name": "An office"}]}
    ).certificate
    text = certificate_text(certificate)
    assert "  - intended_use: teaching" in text
    assert '  - curators: [{"name": "An office"' in text
    assert "released without noise:" in text
    assert "teaching" not in certificate_text(certificate, is_whole=False)


def test_of_looks_it_is_told_what_they_considered_and_what_shows():
    certificate = dict(release_of().certificate)
    look = {
        "looked_at": 120,
        "rule": "all pairs",
        "left_out": 3,
        "stddev_records": 9.5,
        "visible_distance": 0.0123,
    }
    certificate["findings"] = {"rounds": [look | {"measured": 7, "over_merged_levels": 0}]}
    told = "120 marginals looked at and 3 left out (all pairs; seen from a distance of 0.012), then 7 measured"
    assert told in certificate_text(certificate)
    certificate["findings"] = {
        "rounds": [{"looked_at": 120, "measured": 7}]
    }  # of an earlier version
    assert "120 marginals looked at, then 7 measured" in certificate_text(certificate)


def test_columns_that_were_taken_for_names_are_told():
    certificate = dict(release_of().certificate)
    certificate["findings"] = {"taken_for_names": ["city", "airport"]}
    told = certificate_text(certificate)
    assert "city, airport: neighbours in their lists are not taken to be alike" in told
    assert "declare categoriesOrdered" in told
