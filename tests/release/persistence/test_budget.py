"""The budget of a population: what adds up how, what is refused, and a file that forgets nothing."""

import subprocess
import sys
from fractions import Fraction
from hashlib import sha256
from math import exp, log, sqrt
from statistics import NormalDist
from types import SimpleNamespace

import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import synthdp
from synthdp.core import (
    BudgetExceededError,
    DataFileError,
    ParameterError,
    PrivacyError,
    SynthdpError,
)
from synthdp.privacy import Accounting, Adjacency, PrivacyLedger
from synthdp.release import RESERVED, Account, Budget, ChainedFile, Cost, Entries, epsilon_of

budget_entries = home(Entries)

POPULATION = {"epsilon": 1.0, "delta": 1e-6, "population": "people"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget"


@pytest.fixture
def budget(path):
    return Budget.create(path, **POPULATION)


def ledger(epsilon=0.25, delta=1e-7, accounting=Accounting.GDP, failure_share=0.0, **unit):
    unit = {"adjacency": Adjacency.ADD_REMOVE} | unit
    return PrivacyLedger(
        epsilon=epsilon,
        delta=delta,
        accounting=accounting,
        failure_delta=delta * failure_share,
        **unit,
    )


def journal(name="1", head="h"):
    return SimpleNamespace(run=name, path=f"{name}.journal", head=head, hashes=("first", head))


def charge(budget, run="1", head="h", **options):
    return budget.charge(ledger(**options), journal(run, head), schema="s")


def spent(budget):
    return Fraction(budget._read().account.rho)


# --- what adds up how -----------------------------------------------------------------------------


@pytest.mark.parametrize("accounting", Accounting)
def test_all_that_a_run_may_spend_is_charged_exactly(budget, accounting):
    books = [ledger(epsilon=0.1 * n, accounting=accounting) for n in (1, 2, 3)]
    for number, book in enumerate(books):
        assert budget.charge(book, journal(str(number)), schema="s")
    assert spent(budget) == sum(book.budget for book in books)
    assert {entry["currency"] for entry in budget.show()["entries"]} == {accounting.value}


@pytest.mark.parametrize("accounting", Accounting)
@pytest.mark.parametrize("failure_share", [0.0, 0.25, 0.6])
def test_one_run_may_have_all_of_it_to_the_last_bit(budget, accounting, failure_share):
    assert charge(
        budget, epsilon=1.0, delta=1e-6, accounting=accounting, failure_share=failure_share
    )
    for epsilon in (1e-3, 1.0):
        with pytest.raises(
            BudgetExceededError,
            match=f"budget '{budget.path}': this costs rho .* but only 0 is left",
        ):
            charge(budget, "2", epsilon=epsilon, delta=1e-6, accounting=accounting)
    assert not charge(
        budget, epsilon=1.0, delta=1e-6, accounting=accounting, failure_share=failure_share
    )


@pytest.mark.parametrize("accounting", Accounting)
def test_more_than_all_of_it_is_refused_and_leaves_the_file_as_it_was(budget, path, accounting):
    before = path.read_bytes()
    for epsilon, delta in ((1.001, 1e-6), (1.0, 1.001e-6)):
        with pytest.raises(BudgetExceededError, match=r"costs rho"):
            charge(budget, epsilon=epsilon, delta=delta, accounting=accounting)
    with pytest.raises(BudgetExceededError, match="delta of its own"):
        charge(budget, epsilon=0.01, delta=9e-6, failure_share=0.5)
    assert path.read_bytes() == before


def test_what_the_refusal_says_would_fit_does(budget):
    charge(budget, epsilon=0.5, delta=1e-6)
    with pytest.raises(BudgetExceededError, match="about epsilon") as refused:
        charge(budget, "2", epsilon=1.0, delta=1e-6)
    said = float(str(refused.value).partition("about epsilon ")[2].split()[0])
    assert charge(budget, "3", epsilon=said, delta=1e-6)
    assert said > 0.8, "1 and .5 in quadrature leave .866, less what the reserve costs"


def test_gaussian_dp_takes_gaussian_runs_only_and_zcdp_takes_both(budget, path):
    charge(budget)
    with pytest.raises(
        PrivacyError, match="its accounting is Gaussian DP, which its first release settled"
    ):
        charge(budget, "2", accounting=Accounting.ZCDP)
    with pytest.raises(PrivacyError, match="Gaussian DP"):
        budget.add(rho=1e-6, note="elsewhere")
    other = Budget.create(path.with_name("other"), **POPULATION, accounting="zcdp")
    charge(other)
    charge(other, "2", accounting=Accounting.ZCDP)
    assert other.show()["spent"]["currency"] == "zcdp"
    assert spent(other) == ledger().budget + ledger(accounting=Accounting.ZCDP).budget


def test_deltas_of_thresholds_add_up_within_their_part_of_delta(budget):
    for number in range(10):
        charge(budget, str(number), epsilon=0.01, delta=1e-7, failure_share=0.25)
    assert budget.show()["spent"]["delta"] == pytest.approx(2.5e-7)
    with pytest.raises(BudgetExceededError, match="delta of its own"):
        charge(budget, "more", epsilon=0.01, delta=1e-9, failure_share=0.25)
    charge(budget, "without", epsilon=0.01, delta=1e-7)


@pytest.mark.parametrize("stated", [(0.4, 0.0), (0.4, 3e-7), (0.9, 9e-7)])
def test_what_others_stated_before_comes_off_as_it_is(budget, stated):
    epsilon, delta = stated
    budget.add(epsilon=epsilon, delta=delta, note="elsewhere")
    left = budget.show()["left"]
    assert left == {"epsilon": pytest.approx(1.0 - epsilon), "delta": pytest.approx(1e-6 - delta)}
    rest = {"epsilon": left["epsilon"] * (1 - 1e-12), "delta": left["delta"] * (1 - 1e-12)}
    with pytest.raises(BudgetExceededError):
        charge(budget, epsilon=left["epsilon"] * 1.001, delta=left["delta"])
    assert charge(budget, **rest)


def test_others_cannot_state_more_than_there_is(budget):
    budget.add(epsilon=0.75, note="elsewhere")
    for asked in ({"epsilon": 0.2500001}, {"epsilon": 0.1, "delta": 1.1e-6}):
        with pytest.raises(BudgetExceededError, match=r"\(0.25, 1e-06\) is left"):
            budget.add(note="elsewhere", **asked)
    budget.add(epsilon=0.25, note="elsewhere")
    with pytest.raises(BudgetExceededError, match="all of it is spent"):
        charge(budget, epsilon=1e-6)


@given(st.floats(0.01, 3), st.sampled_from(Accounting))
@settings(max_examples=40, deadline=None)
def test_what_others_state_later_counts_as_at_least_its_worst_mechanism(epsilon, accounting):
    """Randomised response is the worst epsilon-DP mechanism: Renyi divergences, and the trade-off
    curve, by hand.
    """
    account = Account(epsilon=Fraction(3), delta=Fraction(1, 10**6))
    first = Cost(accounting=accounting, rho=Fraction(1, 10**6))
    terms = account.settled(first)
    rho = float(terms.rho_of(Cost(accounting=None, epsilon=Fraction(epsilon))))
    p = 1 / (1 + exp(-epsilon))
    if accounting is Accounting.ZCDP:
        order = float(terms.order)
        divergence = log(
            p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)
        ) / (order - 1)
        assert divergence <= order * rho * (1 + 1e-9)
        assert rho <= epsilon**2 / 2 * (1 + 1e-9)
        assert order * rho <= epsilon * (1 + 1e-9)
    else:
        mu, normal = sqrt(2 * rho), NormalDist()
        for alpha in (1e-6, 1e-3, 0.1, 1 - p, 0.4, 0.5, p, 0.99):
            curve = max(0.0, 1 - exp(epsilon) * alpha, exp(-epsilon) * (1 - alpha))
            assert normal.cdf(normal.inv_cdf(1 - alpha) - mu) <= curve + 1e-9


def test_the_terms_do_not_change_with_what_comes_later(budget):
    """One theorem and one split of delta for all: to choose afterwards could double delta."""
    charge(budget, epsilon=0.1)
    terms = budget._read().account.terms
    budget.add(epsilon=0.05, delta=1e-8, note="elsewhere")
    budget.add(mu=0.05, note="elsewhere")
    account = budget._read().account
    assert account.terms == terms
    assert (account.epsilon, account.delta) == (1, Fraction(1e-6))
    assert terms.capacity == Accounting.GDP.rho(epsilon=1.0, delta=1e-6 - 1e-6 * RESERVED)
    assert account.rho > ledger(epsilon=0.1).budget + Fraction(0.05) ** 2 / 2


def test_epsilon_of_what_is_left_is_never_too_large():
    for accounting in Accounting:
        rho = accounting.rho(epsilon=0.37, delta=1e-7)
        found = epsilon_of(accounting, rho, 1e-7, most=1.0)
        assert 0.36 < found <= 0.37
        assert epsilon_of(accounting, Fraction(0), 1e-7, most=1.0) == 0
        assert epsilon_of(accounting, rho, 1e-7, most=0.2) == 0.2


# --- the unit of privacy --------------------------------------------------------------------------


def test_only_runs_with_the_unit_of_the_budget_add_up(path):
    rows = Budget.create(path, **POPULATION)
    persons = Budget.create(path.with_name("persons"), **POPULATION, unit="person")
    of_person = {"unit_column": "person", "max_rows_per_unit": 3}
    for budget, options in ((rows, of_person), (persons, {}), (persons, {"unit_column": "other"})):
        with pytest.raises(PrivacyError, match="such costs do not add up"):
            charge(budget, **options)
    with pytest.raises(
        PrivacyError, match="add-remove of records and the run by replace-one of records"
    ):
        charge(rows, adjacency=Adjacency.REPLACE_ONE)
    charge(persons, **of_person)
    charge(
        persons, "2", unit_column="person", max_rows_per_unit=5
    )  # a person is protected with all rows in both


def test_a_replaced_record_is_two_that_come_and_go(path):
    budget = Budget.create(path, **POPULATION, adjacency="replace-one")
    charge(budget, epsilon=0.1, adjacency=Adjacency.REPLACE_ONE)
    charge(budget, "2", epsilon=0.1)
    assert spent(budget) == 5 * ledger(epsilon=0.1).budget
    with pytest.raises(PrivacyError, match="do not add up"):
        charge(budget, "3", epsilon=0.1, failure_share=0.1)


# --- runs -----------------------------------------------------------------------------------------


def test_a_run_is_known_by_its_journal_and_charged_once(budget):
    assert charge(budget)
    assert not charge(Budget(budget.path))
    with pytest.raises(PrivacyError, match="with another cost"):
        charge(budget, epsilon=0.24)
    assert charge(budget, "2")
    assert budget.show()["unfinished_runs"] == ["1", "2"]
    for _ in range(2):
        budget.end(journal("1"))
    with pytest.raises(PrivacyError, match="is gone"):
        budget.end(journal("unknown"))
    assert budget.show()["unfinished_runs"] == ["2"]
    assert [entry["kind"] for entry in budget.show()["entries"]] == ["run", "run", "end"]
    assert not charge(budget)
    with pytest.raises(PrivacyError, match="older copy"):
        charge(budget, head="another")


def test_the_last_entry_counts_as_every_other(budget, path):
    """Also for whoever opens the file anew, and if its line feed is missing."""
    charge(budget, epsilon=0.99, delta=1e-6)
    with pytest.raises(BudgetExceededError):
        charge(Budget(budget.path), "2", epsilon=0.5)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BudgetExceededError):
        charge(Budget(budget.path), "2", epsilon=0.5)


@pytest.mark.parametrize(
    ("n_processes", "n_charges"),
    [(2, 40), pytest.param(8, 200, marks=pytest.mark.slow)],
    ids=["two", "eight"],
)
def test_processes_race(path, n_processes, n_charges):
    Budget.create(path, epsilon=float(n_charges), delta=1e-6, population="people")
    command = [sys.executable, "-P", "-c", RACE, path]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n_processes)
    ]
    n_said = sum(len(process.communicate()[0].splitlines()) for process in processes)
    assert [process.returncode for process in processes] == [0] * n_processes
    assert n_said == len(Budget(path).show()["entries"]) == n_charges


RACE = """
import sys
from synthdp.core import BudgetExceededError
from synthdp.release import Budget
try:
    while True:
        Budget(sys.argv[1]).add(epsilon=1.0, note="race")
        print("charged")
except BudgetExceededError:
    pass
"""


# --- the file -------------------------------------------------------------------------------------


def test_a_head_that_was_kept_shows_what_was_cut_off(budget, path):
    charge(budget)
    head = budget.head
    whole = path.read_bytes()
    charge(budget, "2")
    budget.verify(head)
    budget.verify(budget.head.upper())
    path.write_bytes(whole[: whole.index(b"\n") + 1])
    budget.verify()  # of itself the file cannot tell
    with pytest.raises(DataFileError, match="no line has the hash"):
        budget.verify(head)


def test_nothing_is_overwritten_and_arguments_are_checked(budget, path):
    with pytest.raises(DataFileError, match="it exists"):
        Budget.create(path, **POPULATION)
    new = path.with_name("new")
    for change in ({"epsilon": 0}, {"delta": 1}, {"epsilon": True}, {"population": " "}):
        with pytest.raises(ParameterError, match=next(iter(change))):
            Budget.create(new, **(POPULATION | change))
    with pytest.raises(ParameterError, match="replace-one"):
        Budget.create(new, **POPULATION, adjacency="replace-one", unit="person")
    assert not new.exists()
    for asked in (
        *(
            {},
            {"epsilon": 1, "rho": 1},
            {"epsilon": -1},
            {"rho": 0},
            {"mu": float("nan")},
            {"epsilon": float("inf")},
        ),
        *({"mu": -1}, {"mu": 0}, {"epsilon": 1, "delta": 1}, {"rho": 1, "delta": -0.1}),
    ):
        with pytest.raises(ParameterError, match=r"epsilon|rho|mu|delta"):
            budget.add(note="x", **asked)
    with pytest.raises(ParameterError, match="note is empty"):
        budget.add(epsilon=0.1, note=" ")
    assert budget.show()["entries"] == []
    assert synthdp.Budget is Budget


FORGED = [
    {},
    {"kind": "run"},
    {"kind": "end"},
    {"kind": "gift", "currency": "gdp", "rho": "1/9", "own_delta": "0"},
    {
        "kind": "other",
        "currency": "gdp",
        "rho": "1/9",
        "own_delta": "0",
    },  # nothing has settled the terms
    {"kind": "other", "epsilon": "-1", "own_delta": "0"},
    {"kind": "other", "epsilon": "1e999999999", "own_delta": "0"},
    {"kind": "other", "epsilon": "1/0", "own_delta": "0"},
    {"kind": "other", "epsilon": "9" * 5000, "own_delta": "0"},
    {"kind": "other", "epsilon": 1, "own_delta": "0"},
    {"kind": "other", "epsilon": "1/2/3", "own_delta": "0"},
    {"kind": "other", "epsilon": "/2", "own_delta": "0"},
    {"kind": "other", "currency": "euro", "rho": "1", "own_delta": "0"},
    {"kind": "other", "currency": "gdp", "rho": "1/9", "own_delta": "0", "terms": {}},
    {"kind": "other", "currency": "gdp", "rho": "1/9", "own_delta": "0", "terms": 3},
]


@pytest.mark.parametrize("entry", FORGED, ids=range(len(FORGED)))
def test_forged_entries_are_one_clear_error(budget, path, entry):
    with ChainedFile(path, what="budget", patience=0) as file:
        file.append(entry)
    for work in (budget.show, budget.verify, lambda: charge(budget), lambda: Budget(path)):
        with pytest.raises(DataFileError, match="line 2 is no entry"):
            work()


@pytest.mark.parametrize(
    "change",
    [
        *(
            {"format": "synthdp budget 2"},
            {"epsilon": "1"},
            {"epsilon": -1},
            {"epsilon": True},
            {"delta": None},
        ),
        *(
            {"adjacency": "x"},
            {"unit": 3},
            {"accounting": "x"},
            {"population": None},
            {"epsilon": [1]},
        ),
    ],
    ids=str,
)
def test_a_forged_first_line_is_one_clear_error(budget, path, change):
    header = {"format": "synthdp budget 1"} | {
        k: v for k, v in budget._read().header.items() if k != "format"
    }
    path.unlink()
    ChainedFile.create(path, header | change, what="budget")
    with pytest.raises(DataFileError, match="first line is no budget's of this version"):
        Budget(path)


@pytest.mark.parametrize("cost", [{"epsilon": "4"}, {"currency": "zcdp", "rho": "9"}])
def test_a_forged_line_that_overspends_is_one_clear_error(budget, path, cost):
    budget.add(rho=1e-3, note="settles the terms")
    with ChainedFile(path, what="budget", patience=0) as file:
        file.append({"kind": "other", "note": "x", "own_delta": "0", "when": ""} | cost)
    with pytest.raises(DataFileError, match="line 3 is no entry"):
        Budget(path).show()


@pytest.mark.usefixtures("budget")
def test_a_forged_line_that_overspends_before_there_are_terms_is_one_clear_error(path):
    with ChainedFile(path, what="budget", patience=0) as file:
        file.append({"kind": "other", "note": "x", "own_delta": "0", "when": "", "epsilon": "4"})
    with pytest.raises(DataFileError, match="line 2 is no entry"):
        Budget(path).show()


def test_a_file_that_is_far_too_large_is_not_read(budget, monkeypatch):
    monkeypatch.setattr(budget_entries, "MAX_BYTES", 400)
    budget.add(epsilon=0.1, note="x" * 200)
    with pytest.raises(DataFileError, match="a budget has at most 400"):
        budget.show()


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_any_damage_is_one_clear_error_or_an_end_that_was_cut_short(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "budget"
    budget = Budget.create(path, **POPULATION)
    budget.add(epsilon=0.5, note="x")
    budget.add(epsilon=0.25, note="y")
    whole = path.read_bytes()
    first, last = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))
    inserted = data.draw(st.binary(max_size=20))
    changed = whole[:first] + inserted + whole[last:]
    path.write_bytes(changed)
    try:
        left = Budget(path).show()["left"]["epsilon"]
    except SynthdpError:
        return
    sound = [line for line in whole.splitlines() if line in changed.splitlines()]
    assert left == (None, 1.0, 0.5, 0.25)[len(sound)], (
        "what is whole counts, and nothing else is there"
    )
    assert whole.startswith(b"\n".join(sound))


def test_the_chain_is_that_of_plain_sha256(budget, path):
    previous = b""
    charge(budget)
    for line in path.read_bytes().splitlines():
        start, _, raw = line.partition(b',"entry":')
        previous = sha256(previous + raw[:-1]).hexdigest().encode()
        assert start == b'{"hash":"' + previous + b'"'
    assert budget.head == previous.decode()


def test_the_epsilon_that_is_said_to_fit_fits_the_runs_own_theorem(tmp_path):
    budget = Budget.create(
        tmp_path / "zcdp.budget", epsilon=1.0, delta=1e-6, population="p", accounting="zcdp"
    )
    with pytest.raises(
        BudgetExceededError,
        match=r"about epsilon [.0-9]+ fits \(gdp\); more with --accounting zcdp",
    ) as no:
        charge(budget, epsilon=1.0, delta=1e-6, accounting=Accounting.GDP)
    fits = float(str(no.value).partition("about epsilon ")[2].split()[0])
    assert 0.5 < fits < 1.0
    assert charge(budget, epsilon=fits, delta=1e-6, accounting=Accounting.GDP)


def test_two_budgets_of_one_second_are_two(tmp_path, monkeypatch):
    monkeypatch.setattr(home(Budget), "now", lambda: "2026-01-01T00:00:00+00:00")
    settings = {"population": "pupils", "epsilon": 1, "delta": 1e-6, "adjacency": "add-remove"}
    one, other = (Budget.create(tmp_path / name, **settings) for name in ("one", "other"))
    assert one.first != other.first
