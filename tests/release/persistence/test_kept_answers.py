"""A release of what a journal holds, without its run: all that was paid for, and no more than that
is claimed.
"""

import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest
from helpers import stopped_runs
from helpers.homes import home

import synthdp
from synthdp.core import CautionWarning, DataFileError, ParameterError, PrivacyError, import_named
from synthdp.privacy import Adjacency, HistogramEvent, PartitionEvent, PrivacyUnit
from synthdp.release import (
    EVENTS,
    ChainedFile,
    Journal,
    KeptAnswers,
    LearntDomain,
    event_in,
    event_to_dict,
    on_demand,
)

journals = home(Journal)


def run(path, **options):
    """A run whose schema is declared, unless kinds are given."""
    table = (
        stopped_runs.frame(300) if "kinds" in options else stopped_runs.frame(300)[["u", "v", "w"]]
    )
    given = (
        {"mechanism": "independent"}
        | ({} if "kinds" in options else {"schema": stopped_runs.SCHEMA})
        | stopped_runs.RUN
        | options
    )
    return synthdp.synthesize(table, journal=path, **given)


@pytest.mark.parametrize("mechanism", ["auto", "mst"])
def test_a_release_is_made_of_what_any_mechanism_has_measured(mechanism, path):
    whole = run(path, mechanism=mechanism)
    before = path.read_bytes()
    found = synthdp.from_journal(path)
    assert path.read_bytes() == before
    for one, other in zip(found.measurements, whole.measurements, strict=True):
        assert (one.clique, one.stddev, one.values.tolist()) == (
            other.clique,
            other.stddev,
            other.values.tolist(),
        )
        assert {name: groups.tolist() for name, groups in one.groups.items()} == {
            name: groups.tolist() for name, groups in other.groups.items()
        }
    own = ("engine", "findings", "cautions", "quality", "run", "not_covered", "sha256")
    said = {name: value for name, value in whole.certificate.items() if name not in own}
    assert {name: value for name, value in found.certificate.items() if name not in own} == said
    assert (
        found.certificate["complete"] is KeptAnswers.from_file(path).described()["complete"] is True
    )
    assert found.sample(5, seed=1).columns.tolist() == ["u", "v", "w"]


def test_of_a_run_that_was_stopped_it_is_what_was_paid_for_until_then(path):
    assert stopped_runs.stops(lambda: run(path, mechanism="gaussian", workload="2-way"), 2)
    found = synthdp.from_journal(path)
    assert (
        len(found.measurements)
        == len(found.certificate["events"])
        == len(stopped_runs.answers(path))
        == 2
    )
    accounting = found.certificate["accounting"]
    spent = sum(event["rho"] for event in found.certificate["events"])
    assert accounting["rho_spent"] == pytest.approx(spent)
    assert accounting["rho_left"] > 0
    assert not found.certificate["complete"]
    whole = run(path, mechanism="gaussian", workload="2-way")
    for one, other in zip(whole.measurements[:2], found.measurements, strict=True):
        assert one.values.tolist() == other.values.tolist()


def test_a_run_that_was_killed_after_its_last_answer_is_complete_once_it_went_on(path):
    n_columns, n_quality = 3, 4  # columns, pairs, the worst of them, triples
    assert stopped_runs.stops(lambda: run(path), n_columns + n_quality)
    assert not synthdp.from_journal(path).certificate["complete"]
    with pytest.warns(CautionWarning, match="all answers were there"):
        run(path)
    assert synthdp.from_journal(path).certificate["complete"]


def test_what_was_wanted_is_that_of_the_domain_that_was_learnt(path):
    assert stopped_runs.stops(lambda: run(path, kinds=stopped_runs.KINDS, epsilon=3.0), 9)
    early = synthdp.from_journal(path).certificate["workload"]
    whole = run(path, kinds=stopped_runs.KINDS, epsilon=3.0).certificate["workload"]
    found = synthdp.from_journal(path).certificate
    assert early != whole == found["workload"]
    assert found["complete"]


def stopping(original, is_last):
    """A method of a journal that is the last that happens if its argument is the last."""

    def method(self, *arguments):
        original(self, *arguments)
        if is_last(*arguments):
            raise stopped_runs.StopError

    return method


@pytest.mark.parametrize("step", ["learning", "measuring"])
def test_columns_that_were_learnt_come_back_as_they_were(path, step, monkeypatch):
    is_learning, rescued = step == "learning", []
    if is_learning:
        monkeypatch.setattr(
            Journal, "note", stopping(Journal.note, lambda note: is_column(note, "x"))
        )
    else:
        monkeypatch.setattr(
            Journal,
            "keep",
            stopping(Journal.keep, lambda question, _: is_marginal_of(question, "v")),
        )
    with pytest.raises(stopped_runs.StopError):
        run(path, kinds=stopped_runs.KINDS, epsilon=3.0, rescue=rescued.append)
    (expected,) = rescued
    found = synthdp.from_journal(path)
    assert isinstance(found, LearntDomain) == isinstance(expected, LearntDomain) == is_learning
    assert found.schema.to_dict() == expected.schema.to_dict()
    assert found.certificate["domain"]["derived"] == expected.certificate["domain"]["derived"]
    assert found.certificate["domain"].get("heaping") == expected.certificate["domain"].get(
        "heaping"
    )
    assert found.certificate["events"] == expected.certificate["events"]
    assert len(found.certificate["domain"]["derived"]) == (
        4 if is_learning else len(stopped_runs.KINDS)
    )


def is_column(note, name):
    return note["learnt"]["fields"][0]["name"] == name


def is_marginal_of(question, name):
    return question[0].to_dict().get("columns") == [name]


def test_what_was_learnt_against_the_rules_is_kept_as_a_failed_run_keeps_it(path, monkeypatch):
    table = stopped_runs.frame(300)[["x"]].assign(y=lambda known: known["x"] + 1e6)
    kinds = synthdp.OpenSchema.from_kinds({"x": "number", "y": "number"}).to_dict()
    schema, rescued = kinds | {"synthdp": {"constraints": [{"check": "x > y"}]}}, []
    monkeypatch.setattr(Journal, "note", stopping(Journal.note, lambda note: is_column(note, "y")))
    with pytest.raises(stopped_runs.StopError):
        synthdp.synthesize(
            table,
            schema,
            mechanism="independent",
            journal=path,
            rescue=rescued.append,
            **stopped_runs.RUN,
        )
    assert synthdp.from_journal(path).schema.to_dict() == rescued[0].schema.to_dict()


# --- a journal that cannot be resumed any more ----------------------------------------------------


def test_after_an_update_the_run_is_refused_and_the_message_says_how_to_have_its_answers(
    path, monkeypatch
):
    assert stopped_runs.stops(lambda: run(path, mechanism="gaussian", workload="2-way"), 2)
    monkeypatch.setattr(journals, "made_by", lambda: "Python 9, numpy 9")
    monkeypatch.setattr(journals, "digest_of", lambda _question: "rounded in another way")
    with pytest.raises(
        PrivacyError,
        match=r"it was written by Python 3.* numpy .*; synthdp journal rescue .* -o OUT",
    ):
        run(path, mechanism="gaussian", workload="2-way")
    monkeypatch.undo()
    monkeypatch.setattr("synthdp.release.persistence.journaled_run.__version__", "99")
    with pytest.raises(
        ParameterError, match=r"software synthdp .* \(now synthdp 99\); .*; synthdp journal rescue"
    ):
        run(path, mechanism="gaussian", workload="2-way")
    assert len(synthdp.from_journal(path).measurements) == 2


def test_what_follows_from_answers_must_follow_again(path, monkeypatch):
    assert stopped_runs.stops(lambda: run(path, kinds=stopped_runs.KINDS), 9)
    names = import_named(on_demand.LEARN_DOMAIN).__globals__
    monkeypatch.setitem(names, "learnt_to_dict", lambda *_: {"learnt": {}, "caution": ""})
    with pytest.raises(
        PrivacyError, match=r"its answers are read in another way; use the same files"
    ):
        run(path, kinds=stopped_runs.KINDS)


def bare(path):
    """A journal as an earlier version wrote it: the same answers, and nothing for others."""
    header, *entries = (json.loads(line)["entry"] for line in path.read_text().splitlines())
    path.unlink()
    del header["facts"]
    ChainedFile.create(path, header | {"format": "synthdp journal 1"}, what="journal")
    with ChainedFile(path, what="journal", patience=0) as file:
        for entry in entries:
            if not {"learnt", "workload", "ended", "resumed"} & entry.keys():
                file.append(
                    {
                        name: value
                        for name, value in entry.items()
                        if name not in ("event", "merged")
                    }
                )


@pytest.mark.parametrize(
    "options", [{"kinds": stopped_runs.KINDS}, {"mechanism": "mst"}], ids=["learnt", "declared"]
)
def test_a_journal_of_the_earlier_format_goes_on_but_is_not_read_without_its_run(path, options):
    assert stopped_runs.stops(lambda: run(path, **options), 5)
    bare(path)
    with pytest.raises(
        DataFileError,
        match=r"of an earlier version, .* where software is the same \(synthdp .* numpy",
    ):
        synthdp.from_journal(path)
    before = len(stopped_runs.answers(path))
    whole = run(path, **options)
    assert len(whole.certificate["events"]) == len(stopped_runs.answers(path)) > before
    with pytest.warns(CautionWarning, match="all answers were there"):
        assert stopped_runs.of_the_release(
            run(path, **options).certificate
        ) == stopped_runs.of_the_release(whole.certificate)
    with pytest.raises(ParameterError, match=r"or name another journal$"):
        run(path, epsilon=9.0, **options)


# --- what is refused ------------------------------------------------------------------------------


def test_a_journal_without_a_marginal_or_a_column_is_refused(path):
    assert stopped_runs.stops(lambda: run(path, kinds=stopped_runs.KINDS), 1)
    with pytest.raises(
        DataFileError, match="it holds no marginal yet, and no column that was learnt to its end"
    ):
        synthdp.from_journal(path)
    assert KeptAnswers.from_file(path).described()["learnt"] == []


def forged(path, change, line):
    """The journal with one line changed, and hashes that are right."""
    entries = [json.loads(each)["entry"] for each in path.read_text().splitlines()]
    entries[line] = change(entries[line])
    path.unlink()
    ChainedFile.create(path, entries[0], what="journal")
    with ChainedFile(path, what="journal", patience=0) as file:
        for entry in entries[1:]:
            file.append(entry)


def test_noise_that_can_be_predicted_protects_nobody(path):
    run(path)
    forged(
        path, lambda header: header | {"settings": header["settings"] | {"randomness": "a seed"}}, 0
    )
    with pytest.raises(PrivacyError, match="its noise can be predicted"):
        synthdp.from_journal(path)


def of_event(**change):
    return lambda entry: entry | {"event": entry["event"] | change}


def of_facts(**change):
    return lambda header: header | {"facts": header["facts"] | change}


def of_settings(**change):
    return lambda header: header | {"settings": header["settings"] | change}


HEADERS = [
    of_facts(schema=5),
    of_facts(schema={"u": 2}),
    of_facts(domain_share="x"),
    of_facts(public=[]),
    of_facts(failure_delta=2.0),
    of_facts(failure_delta=10**400),
    of_settings(epsilon="x"),
    of_settings(epsilon=1e-9),
    of_settings(adjacency=[]),
    of_settings(max_rows_per_unit="x"),
    lambda header: {name: header[name] for name in ("format", "run", "settings")},
]
ANSWERS = [
    lambda _entry: {},
    of_event(**{"class": "Event"}),
    of_event(**{"class": ["MarginalEvent"]}),
    of_event(sigma_squared="0"),
    of_event(sigma_squared="1/0"),
    of_event(sigma_squared="-5"),
    of_event(sigma_squared="1e9"),
    of_event(sigma_squared="9" * 3000),
    of_event(sensitivity_squared=True),
    of_event(clique="u"),
    of_event(clique=["nobody"]),
    of_event(clique=["u", "u"]),
    lambda entry: entry | {"merged": []},
    lambda entry: entry | {"merged": {"u": [0, 5]}},
    lambda entry: entry | {"merged": {"u": [0, 10**30]}},
    lambda entry: entry | {"merged": {"u": [[0], [1, 2]]}},
    lambda entry: entry | {"numbers": ""},
    lambda entry: entry | {"kind": "O"},
    lambda _entry: {"workload": 3},
    lambda _entry: {"workload": {"n_marginals": "3", "columns_at_most": 2}},
    lambda _entry: {"ended": True},
    lambda _entry: {"ended": 2},
]


@pytest.mark.parametrize(
    ("change", "line"),
    [*((each, 0) for each in HEADERS), *((each, 1) for each in ANSWERS)],
    ids=range(33),
)
def test_what_is_forged_is_one_clear_error(path, change, line):
    run(path)
    forged(path, change, line)
    with pytest.raises(DataFileError, match=r"give a file that synthdp wrote$"):
        synthdp.from_journal(path)
    with suppress(DataFileError):
        KeptAnswers.from_file(path).described()


def test_events_are_written_exactly():
    from helpers.values import GRID, STARTS, Rows, book

    from synthdp.privacy import PrivateValues

    ledger = book()
    values = PrivateValues(Rows([1, 2, 7]), ledger)
    values.histogram(GRID, STARTS, rho=0.1)
    values.frequent(GRID, rho=0.1, delta=1e-3)
    values.split_tree(GRID, -8, 8, rho=0.1)
    for event in ledger.events:
        assert event_in(json.loads(json.dumps(event_to_dict(event)))) == event
    assert {type(event).__name__ for event in ledger.events} < set(EVENTS)


def test_of_how_many_values_a_record_counts_earlier_versions_wrote_nothing():
    event = PartitionEvent(
        column="jobs.title",
        of="values",
        sigma_squared=Fraction(5 << 20, 3),
        sensitivity_squared=1 << 20,
        threshold=9000,
        failure_probability=Fraction(1, 10**7),
        most_values=16,
    )
    written = json.loads(json.dumps(event_to_dict(event)))
    assert event_in(written) == event
    del written["most_values"], written["record"]
    assert event_in(written) == replace(event, most_values=1)
    for name in written:
        with pytest.raises(ValueError, match="not an event"):
            event_in({key: value for key, value in written.items() if key != name})


@pytest.mark.parametrize("record", ["rows", "", "<b>everybody</b>", 1, None])
def test_events_about_records_of_no_kind_are_no_events(record):
    event = HistogramEvent.costing(
        Fraction(1, 100),
        column="x",
        of="values",
        n_cells=3,
        unit=PrivacyUnit(adjacency=Adjacency.ADD_REMOVE),
    )
    written = event_to_dict(event)
    assert event_in(written | {"record": "unit"}) == replace(event, record="unit")
    with pytest.raises(ValueError, match="not an event"):
        event_in(written | {"record": record})


@pytest.mark.parametrize("most_values", [0, -3, True, 1025, 10**9, 10**30])
def test_events_of_impossible_numbers_of_values_are_no_events(most_values):
    event = PartitionEvent(
        column="x",
        of="values",
        sigma_squared=Fraction(5),
        sensitivity_squared=1,
        threshold=100,
        failure_probability=Fraction(1, 1000),
    )
    written = event_to_dict(event)
    assert event_in(written) == event
    with pytest.raises(ValueError, match="not an event"):
        event_in(written | {"most_values": most_values})
