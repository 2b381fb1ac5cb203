"""The journal: every answer of the kernel comes back exactly, for the same question only, and no
record is touched.
"""

import json
import tracemalloc
from base64 import b64encode
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from helpers.tables import CLIQUES, DOMAIN, MERGING, ROWS, ledger, zero_score
from helpers.values import GRID, STARTS, Counts, Rows, Untouchable, book
from oracles.privacy import ArraySource, Replay, UntouchableSource

from synthdp.core import (
    BudgetExceededError,
    Coarsening,
    DataFileError,
    ParameterError,
    PrivacyError,
)
from synthdp.mechanisms import MST
from synthdp.privacy import MarginalL1Error, PrivateTable, PrivateValues
from synthdp.release import Journal, digest_of

SETTINGS = {"software": "synthdp", "epsilon": 1.0, "schema": "0" * 64, "unit": None}
RHO = Fraction(1, 7)
TEXTS = Counts(["a", "é", "\ud800", "x\ny"], np.array([10**6, 10**6, 10**6, 1]))
NUMBERS = Counts([-(1 << 62), 5, 7], np.array([10**6, 1, 10**6]))
NO_BITS = Replay(b"")


def asked_of_a_table(table):
    """All that can be asked of a table, as plain values."""
    cell = table.measure(("a", "c"), rho=RHO, coarsening=MERGING)
    total = table.measure((), rho=RHO)
    yield [cell.values.tolist(), cell.stddev, total.values.tolist()]
    yield table.select(CLIQUES, score=zero_score(), rho=RHO)
    yield table.scores(CLIQUES, score=zero_score(), rho=RHO)


def asked_of_values(values):
    found = values.histogram(GRID, STARTS, rho=RHO)
    yield [found.missing, found.below, found.counts.tolist(), found.stddev]
    yield values.split_tree(GRID, -8, 8, rho=RHO).tolist()


def test_every_answer_of_a_table_comes_back_exactly_without_records_or_noise(path):
    with Journal(path, SETTINGS) as journal:
        first = PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal)
        answers = list(asked_of_a_table(first))
        assert journal.n_made == 4
    with Journal(path, SETTINGS) as journal:
        again = PrivateTable(
            UntouchableSource(DOMAIN), ledger(), memory=journal, randomness=NO_BITS
        )
        assert list(asked_of_a_table(again)) == answers
        journal.finish()
        assert journal.n_made == 0
    assert again.ledger.events == first.ledger.events, "the certificate is as complete"
    assert len(again.released) == 2


def test_every_answer_about_values_comes_back_exactly_without_records_or_noise(path):
    delta = Fraction(1, 1000)
    with Journal(path, SETTINGS) as journal:
        answers = list(asked_of_values(PrivateValues(Rows([1, None, 7]), book(), memory=journal)))
        for source in (TEXTS, NUMBERS, Rows([])):
            found = PrivateValues(source, book(), memory=journal).frequent(
                GRID, rho=RHO, delta=delta
            )
            answers.append((found, list(found.counts)))
    for expected, (found, _) in zip(
        ({"a", "é", "\ud800"}, {-(1 << 62), 7}, set()), answers[2:], strict=True
    ):
        assert expected <= set(found.counts)
    with Journal(path, SETTINGS) as journal:
        silent = {"memory": journal, "randomness": NO_BITS}
        again = list(asked_of_values(PrivateValues(Untouchable(), book(), **silent)))
        for _ in range(3):
            found = PrivateValues(Untouchable(), book(), **silent).frequent(
                GRID, rho=RHO, delta=delta
            )
            again.append((found, list(found.counts)))
        assert again == answers


def other_questions(table):
    """Questions that differ a little from the first: by cost, columns, merging, candidates,
    estimates, kind.
    """
    score = zero_score()
    wrong = {
        clique: values + (clique == ("b",)) * 2.0**-30 for clique, values in score.estimates.items()
    }
    yield lambda: table.measure(("a", "c"), rho=RHO)
    yield lambda: table.measure(("a", "c"), rho=RHO + Fraction(1, 2**80), coarsening=MERGING)
    yield lambda: table.measure(("c", "a"), rho=RHO, coarsening=MERGING)
    merging = Coarsening(MERGING.groups | {"a": np.array([1, 0, 1])})
    yield lambda: table.measure(("a", "c"), rho=RHO, coarsening=merging)
    yield lambda: table.select(CLIQUES[::-1], score=score, rho=RHO)
    yield lambda: table.select(CLIQUES, score=MarginalL1Error(wrong), rho=RHO)
    yield lambda: table.select(
        CLIQUES, score=replace(score, weights=dict.fromkeys(CLIQUES, 1.5)), rho=RHO
    )
    yield lambda: table.scores(CLIQUES, score=MarginalL1Error(wrong), rho=RHO)


FIRST = [
    *[lambda table: table.measure(("a", "c"), rho=RHO, coarsening=MERGING)] * 4,
    *[lambda table: table.select(CLIQUES, score=zero_score(), rho=RHO)] * 3,
    lambda table: table.scores(CLIQUES, score=zero_score(), rho=RHO),
]


@pytest.mark.parametrize("number", range(len(FIRST)))
def test_another_question_is_refused_with_what_differs(path, number):
    with Journal(path, SETTINGS) as journal:
        FIRST[number](PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal))
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(UntouchableSource(DOMAIN), ledger(), memory=journal)
        with pytest.raises(
            PrivacyError,
            match=r"the run asks for .* (in another way|where it asked for).*; use the same",
        ):
            list(other_questions(table))[number]()
        FIRST[number](table)


@pytest.mark.parametrize("changed", [{"decimals": 1}, {"of": "exponents"}])
def test_another_grid_is_another_question(path, changed):
    with Journal(path, SETTINGS) as journal:
        PrivateValues(Rows([1, 2]), book(), memory=journal).histogram(GRID, STARTS, rho=RHO)
    with Journal(path, SETTINGS) as journal:
        values = PrivateValues(Untouchable(), book(), memory=journal)
        with pytest.raises(PrivacyError, match="the run asks for histogram of x"):
            values.histogram(replace(GRID, **changed), STARTS, rho=RHO)
        with pytest.raises(PrivacyError, match="the run asks for histogram of x in another way"):
            values.histogram(GRID, STARTS + 1, rho=RHO)


def test_candidates_without_one_of_the_score_are_another_question(path):
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal)
        table.scores(CLIQUES[:-1], score=zero_score(), rho=RHO)
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(UntouchableSource(DOMAIN), ledger(), memory=journal)
        for others in (CLIQUES[1:], CLIQUES[:-1][::-1]):
            with pytest.raises(PrivacyError, match="in another way"):
                table.scores(others, score=zero_score(), rho=RHO)


def test_another_range_of_a_tree_and_another_grid_of_values_are_other_questions(path):
    delta = Fraction(1, 1000)
    with Journal(path, SETTINGS) as journal:
        PrivateValues(Rows([1, 2]), book(), memory=journal).split_tree(GRID, -8, 8, rho=RHO)
    with Journal(path, SETTINGS) as journal:
        values = PrivateValues(Untouchable(), book(), memory=journal)
        for ends in ((-7, 8), (-8, 9)):
            with pytest.raises(PrivacyError, match="in another way"):
                values.split_tree(GRID, *ends, rho=RHO)
        values.split_tree(GRID, -8, 8, rho=RHO)
        PrivateValues(Rows([1, 2]), book(), memory=journal).frequent(GRID, rho=RHO, delta=delta)
    with Journal(path, SETTINGS) as journal:
        values = PrivateValues(Untouchable(), book(), memory=journal)
        values.split_tree(GRID, -8, 8, rho=RHO)
        with pytest.raises(PrivacyError, match="in another way"):
            values.frequent(replace(GRID, decimals=1), rho=RHO, delta=delta)


def test_a_remembered_answer_is_charged_and_only_within_the_budget(path):
    with Journal(path, SETTINGS) as journal:
        PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal).measure((), rho=RHO)
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(UntouchableSource(DOMAIN), ledger(), memory=journal)
        with pytest.raises(BudgetExceededError):
            table.measure((), rho=2 * table.ledger.budget)
        table.measure((), rho=RHO)
        assert table.ledger.spent == RHO


def test_an_answer_that_cannot_be_kept_is_never_seen_but_paid_for(path, monkeypatch):
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal)
        table.measure(("b",), rho=RHO)
        monkeypatch.setattr("os.fsync", failing_sync)
        with pytest.raises(DataFileError, match="cannot be written: no space"):
            table.measure(("a",), rho=RHO)
        monkeypatch.undo()
        assert [measurement.clique for measurement in table.released] == [("b",)]
        assert len(table.ledger.events) == 2
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal)
        table.measure(("b",), rho=RHO)
        table.measure(("a",), rho=RHO)
        assert journal.n_made == 1


def failing_sync(_descriptor):
    raise OSError(28, "No space left on device")


def test_an_answer_is_on_the_disk_before_it_is_returned_and_paid_for_before_it_is_made(path):
    order = []

    class Source(ArraySource):
        def counts_of(self, cliques):
            order.append(("counted", len(book.events)))
            return super().counts_of(cliques)

    book = ledger()
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(Source(DOMAIN, ROWS), book, memory=journal)
        keep = journal.keep
        journal.keep = lambda question, answer: (
            order.append(("kept", len(table.released))),
            keep(question, answer),
        )
        table.measure(("a",), rho=RHO)
    assert order == [("counted", 1), ("kept", 0)]


def test_noise_after_a_resumption_is_new(path):
    """Resumed twice from one copy, the run draws twice; no bit of it is repeated, within a run or
    across.
    """
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(ArraySource(DOMAIN, []), ledger(), memory=journal)
        first = table.measure(("a", "b", "c"), rho=1e-6).values
    kept, drawn = path.read_bytes(), []
    for _ in range(2):
        path.write_bytes(kept)
        with Journal(path, SETTINGS) as journal:
            table = PrivateTable(ArraySource(DOMAIN, []), ledger(), memory=journal)
            assert np.array_equal(table.measure(("a", "b", "c"), rho=1e-6).values, first)
            drawn.append(table.measure(("a", "b", "c"), rho=1e-6).values)
    assert not any(
        np.array_equal(one, other) for one, other in ((drawn[0], drawn[1]), (drawn[0], first))
    )
    assert len({*drawn[0].ravel(), *drawn[1].ravel(), *first.ravel()}) > 36, (
        "of 72 numbers with sigma 707"
    )


def test_whether_a_journal_holds_answers_is_known_after_it_was_closed(path):
    """A run that is stopped asks this of a journal that its end has closed already."""
    with Journal(path, SETTINGS) as journal:
        pass
    assert not journal.has_answers
    for _ in range(2):  # as the run that makes the answer, and as one that finds it
        with Journal(path, SETTINGS) as journal:
            table = PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal)
            table.measure((), rho=RHO)
        assert journal.has_answers
    with Journal(path, SETTINGS) as journal:
        assert journal.has_answers


def test_what_is_remembered_and_not_asked_for_is_an_error(path):
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal)
        table.measure(("a",), rho=RHO)
        table.measure(("b",), rho=RHO)
    with Journal(path, SETTINGS) as journal:
        PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal).measure(("a",), rho=RHO)
        with pytest.raises(PrivacyError, match="1 answers more than the run asked for"):
            journal.finish()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilon": 2.0}, r"epsilon 1.0 \(now 2.0\)"),
        ({"software": "synthdp 9"}, r"software synthdp \(now synthdp 9\)"),
        ({"schema": "1" * 64}, "another schema"),
        ({"unit": "p", "epsilon": 3.0}, r"epsilon 1.0 \(now 3.0\), unit None \(now p\)"),
        ({"new": 1}, r"new None \(now 1\)"),
    ],
)
def test_a_journal_of_another_run_is_refused_with_what_differs(path, change, said):
    Journal(path, SETTINGS).close()
    before = path.read_bytes()
    with pytest.raises(ParameterError, match=f"it is of another run: {said}; run the command"):
        Journal(path, SETTINGS | change)
    assert path.read_bytes() == before
    Journal(path, SETTINGS).close()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "<f8"},
        {"kind": "O"},
        {"numbers": "?"},
        {"numbers": "AAA"},
        {"numbers": 3},
        {"texts": [1]},
        {"texts": None},
        {"kind": ["<i8"]},
    ],
    ids=str,
)
def test_forged_answers_are_one_clear_error(path, change):
    with Journal(path, SETTINGS) as journal:
        PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal).measure(("a",), rho=RHO)
        entry = journal._file.entry(1)
    path.unlink()
    with Journal(path, SETTINGS) as journal:
        journal._file.append(entry | change)
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(UntouchableSource(DOMAIN), ledger(), memory=journal)
        with pytest.raises(DataFileError, match=r"line 2 is no answer"):
            table.measure(("a",), rho=RHO)


def kept_numbers(numbers):
    return {"kind": "<i8", "numbers": b64encode(np.array(numbers, dtype="<i8").tobytes()).decode()}


FREQUENT = {"rho": RHO, "delta": Fraction(1, 1000)}
ASKED = {
    "marginal": lambda table, _: table.measure(("a",), rho=RHO),
    "total": lambda table, _: table.measure((), rho=RHO),
    "choice": lambda table, _: table.select(CLIQUES, score=zero_score(), rho=RHO),
    "scores": lambda table, _: table.scores(CLIQUES, score=zero_score(), rho=RHO),
    "histogram": lambda _, values: values.histogram(GRID, STARTS, rho=RHO),
    "tree": lambda _, values: values.split_tree(GRID, -8, 8, rho=RHO),
    "values": lambda _, values: values.frequent(GRID, **FREQUENT),
}
FORGED = {
    "marginal": [[], [1, 2], [1, 2, 3, 4]],
    "total": [[], [1, 2]],
    "choice": [[], [-1], [len(CLIQUES)], [0, 0]],
    "scores": [[1] * (len(CLIQUES) - 1), [1] * (len(CLIQUES) + 1)],
    "histogram": [[], [1] * (len(STARTS) + 1), [1] * (len(STARTS) + 3)],
    "tree": [[], [-8], [-8, 7], [-7, 8], [-8, 3, 3, 8], [-8, 5, 3, 8]],
    "values": [[], [1, 2], [1, 2, 3, 4]],
}


@pytest.mark.parametrize(
    ("kind", "numbers"), [(kind, each) for kind in FORGED for each in FORGED[kind]], ids=str
)
def test_a_forged_answer_of_another_length_or_range_is_one_clear_error(path, kind, numbers):
    def ask(journal, table, values):
        silent = {"memory": journal, "randomness": None}
        return ASKED[kind](
            PrivateTable(table, ledger(), **silent), PrivateValues(values, book(), **silent)
        )

    with Journal(path, SETTINGS) as journal:
        ask(journal, ArraySource(DOMAIN, ROWS), Rows([1, 2, 7]))
        entry = journal._file.entry(1)
    for change, is_forged in (
        (kept_numbers(numbers), True),
        ({"texts": ["a"] * 9}, True),
        ({}, False),
    ):
        path.unlink()
        with Journal(path, SETTINGS) as journal:
            journal._file.append(entry | change)
        with Journal(path, SETTINGS) as journal:
            refused = (
                pytest.raises(DataFileError, match="line 2 is no answer")
                if is_forged
                else nullcontext()
            )
            with refused:
                ask(journal, UntouchableSource(DOMAIN), Untouchable())


def test_a_line_that_is_longer_than_the_question_allows_is_not_read(path):
    with Journal(path, SETTINGS) as journal:
        PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal).measure(("a",), rho=RHO)
        entry = journal._file.entry(1)
    path.unlink()
    with Journal(path, SETTINGS) as journal:
        journal._file.append(entry | {"numbers": "A" * (8 << 20)})
    with Journal(path, SETTINGS) as journal:
        table = PrivateTable(UntouchableSource(DOMAIN), ledger(), memory=journal)
        tracemalloc.start()
        try:
            with pytest.raises(
                DataFileError, match=r"line 2 has \d+ bytes where at most \d+ are expected"
            ):
                table.measure(("a",), rho=RHO)
            assert tracemalloc.get_traced_memory()[1] < 1 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("kind", ASKED)
def test_what_a_memory_is_given_nobody_can_change_afterwards(kind):
    """Neither who asked, through what the answer is made of, nor the memory, before the answer is
    used.
    """
    given = []

    class Holding:
        def get(self, _question, _n_numbers):
            return None

        def keep(self, _question, answer):
            given.append(answer.numbers)

    held = {"memory": Holding()}
    values = PrivateValues(Rows([1, 2, 7] * 99), book(), **held)
    ASKED[kind](PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), **held), values)
    assert len(given) == 1
    assert not given[0].flags.writeable


@pytest.mark.parametrize(
    "header", [{}, {"format": "x"}, {"format": "synthdp journal 1", "settings": 3, "run": ""}]
)
def test_another_format_is_refused(path, header):
    from synthdp.release import ChainedFile

    ChainedFile.create(path, header, what="journal")
    with pytest.raises(DataFileError, match="no journal of this version"):
        Journal(path, SETTINGS)


def test_a_journal_is_held_by_one_run_and_holds_nothing_but_answers(path):
    with Journal(path, SETTINGS) as journal:
        with pytest.raises(DataFileError, match="another run holds it"):
            Journal(path, SETTINGS)
        PrivateTable(ArraySource(DOMAIN, ROWS), ledger(), memory=journal).measure(("a",), rho=RHO)
    header, answer = (json.loads(line)["entry"] for line in path.read_text().splitlines())
    assert set(header) == {"format", "run", "when", "settings", "made_by", "facts"}
    assert set(answer) == {"asked", "question", "event", "kind", "numbers", "texts"}


def test_facts_that_are_no_json_are_kept_as_texts(path):
    facts = {
        "parameters": {
            "share": Fraction(1, 3),
            "most": float("inf"),
            "n": np.int64(3),
            "ok": [1, None],
        }
    }
    Journal(path, SETTINGS, facts).close()
    header = json.loads(path.read_text())["entry"]
    assert header["facts"] == {
        "parameters": {"share": "1/3", "most": "Infinity", "n": "3", "ok": [1, None]}
    }


def test_descriptions_are_equal_only_if_objects_are():
    values = [
        *[
            None,
            True,
            1,
            1.0,
            "1",
            b"1",
            Fraction(1),
            (1,),
            {1},
            {1: 1},
            {"1": 1},
            {1: "1"},
            [[1]],
            [1, 1],
        ],
        *[
            np.int64(3),
            np.float64(3),
            np.array([1]),
            np.array([1.0]),
            np.array([[1]]),
            np.array([1], dtype="i4"),
        ],
        *[
            np.nextafter(1.0, 2),
            -0.0,
            0.0,
            Fraction(1, 3),
            1 / 3,
            int,
            float,
            MST(),
            RHO,
            GRID,
            STARTS,
            MERGING,
        ],
    ]
    assert len({digest_of(value) for value in values}) == len(values)
    assert digest_of({"b": {2, 1}, "a": 0}) == digest_of({"a": 0, "b": {1, 2}})
    with pytest.raises(ParameterError, match="a function among the parameters cannot be compared"):
        digest_of([digest_of])
