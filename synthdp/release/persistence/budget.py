"""The budget of a population: one file, to which every release about the same people is charged
before it begins.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from os.path import lexists
from pathlib import Path
from typing import Any, Self, final

from synthdp.core.errors import BudgetExceededError, DataFileError, ParameterError, PrivacyError
from synthdp.core.version import __version__
from synthdp.privacy.accounting import Accounting, check_budget
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import Adjacency, PrivacyUnit
from synthdp.release.persistence.account import Account, Cost, Terms
from synthdp.release.persistence.budget_entries import (
    FORMAT,
    Entries,
    cost_to_dict,
    stated_cost,
    terms_to_dict,
)
from synthdp.release.persistence.chained_file import ChainedFile
from synthdp.release.persistence.checks import check_words, checked_path, member_of
from synthdp.release.persistence.journal import Journal
from synthdp.release.persistence.run_identity import new_run, now

WHAT = "budget"
PATIENCE = 60.0
"""Seconds to wait for other runs: each holds the file for a few thousandths of one."""


@final
class Budget:
    """One privacy budget for one population, across runs, files, processes and machines that share
    a file system.

    The file only grows. Each line is bound to those before it by a hash, and on the disk before the
    run that it charges reads a record. See ``docs/budgets.md`` for what adds up how.

    Parameters
    ----------
    path
        A file that `Budget.create` wrote.

    Raises
    ------
    DataFileError
        If it cannot be read, is damaged or no budget.
    ParameterError
        If it is no path.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> budget = Budget.create(
    ...     f"{folder.name}/patients.budget", epsilon=3, delta=1e-6, population="patients of 2026"
    ... )
    >>> budget.add(epsilon=1, delta=1e-7, note="table of the yearly report")
    >>> budget.show()["left"]
    {'epsilon': 2.0, 'delta': 9e-07}
    >>> folder.cleanup()
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = checked_path(path, "budget")
        self._read()

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        epsilon: float,
        delta: float,
        population: str,
        adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
        unit: str | None = None,
        accounting: str | Accounting | None = None,
    ) -> Self:
        """Write a new budget file; nothing is ever overwritten.

        Parameters
        ----------
        path
            The file.
        epsilon, delta
            The guarantee for everything that is charged to it, together.
        population
            Who is protected, in words.
        adjacency, unit
            What one unit of privacy is, as in `synthesize`: all releases must have the same.
        accounting
            ``"zcdp"``, ``"gdp"``, or what the first release has.

        Raises
        ------
        DataFileError
            If the file exists or cannot be written.
        ParameterError
            If another argument is out of range.
        """
        checked_path(path, "path")
        check_budget(epsilon=epsilon, delta=delta)
        check_words("population", population, "say in words whom the budget protects")
        if unit is not None and not isinstance(unit, str):
            raise ParameterError(
                f"unit is {unit!r}; give the name of the column that tells persons apart"
            )
        protected = PrivacyUnit(adjacency=member_of(Adjacency, "adjacency", adjacency), column=unit)
        header = {
            "format": FORMAT,
            "population": population,
            "epsilon": float(epsilon),
            "delta": float(delta),
            "adjacency": protected.adjacency.value,
            "unit": unit,
            "accounting": None
            if accounting is None
            else member_of(Accounting, "accounting", accounting).value,
            "when": now(),
            "id": new_run(),  # two budgets of the same words and the same second are two
            "software": f"synthdp {__version__}",
        }
        ChainedFile.create(path, header, what=WHAT)
        return cls(path)

    @property
    def path(self) -> str:
        """Where it is."""
        return str(self._path)

    @property
    def place(self) -> str:
        """Where it is, whatever folder one is in."""
        return str(Path(self._path).absolute())

    @property
    def first(self) -> str:
        """Hash of its first line, by which it is known wherever it is."""
        # It has a random identifier in it, so that no other budget begins alike.
        return self._read().hashes[0]

    @property
    def head(self) -> str:
        """Hash of all that is in it: who keeps it elsewhere will notice if lines are cut off; see
        `verify`.
        """
        return self._read().hashes[-1]

    def charge(
        self, ledger: PrivacyLedger, journal: Journal, *, schema: str, note: str = ""
    ) -> bool:
        """Charge all that a run may spend, unless that was done before it was stopped; whether it
        is charged now.

        Parameters
        ----------
        ledger
            The budget of the run: all of it is charged, spent or not, until `give_back`.
        journal
            The run's journal: by its identifier a run that is started again is known.
        schema
            Fingerprint of the schema.
        note
            For whoever reads the budget.

        Raises
        ------
        BudgetExceededError
            If too little is left.
        PrivacyError
            If the run has another unit of privacy, its kind of noise is not covered, or its journal
            is an old copy.
        DataFileError
            If the file cannot be read or written; nothing is charged then.
        """
        run = {
            "kind": "run",
            "run": journal.run,
            "note": note,
            "journal": journal.path,
            "schema": schema,
            "software": f"synthdp {__version__}",
            "guarantee": {"epsilon": ledger.epsilon, "delta": ledger.delta},
            "adjacency": ledger.unit.adjacency.value,
            "max_rows_per_unit": ledger.unit.max_rows,
        }
        # Read and appended to under one lock: two runs that start at once cannot both take what is
        # left for one.
        with self._open() as file:
            entries = self._entries(file)
            cost = self._cost_of(ledger, entries, ledger.budget, ledger.failure_delta)
            if journal.run in entries.runs:
                self._check_again(entries, journal, cost)
                left = entries.returned.get(journal.run)
                if left is None:
                    return False
                # It stopped, gave that back, and is to ask for it after all.
                self._append(file, entries, left, {"kind": "again", "run": journal.run})
                return True
            self._append(file, entries, cost, run)
        return True

    def check(self, ledger: PrivacyLedger, journal: Journal, *, asks_more: bool = True) -> None:
        """Raise what `charge` would raise now, and charge nothing.

        A run that stopped and gave back its rest has nothing to pay unless it ``asks_more``.
        """
        with self._open() as file:
            entries = self._entries(file)
            cost = self._cost_of(ledger, entries, ledger.budget, ledger.failure_delta)
            if journal.run not in entries.runs:
                self._settled(entries.account, cost)
                return
            self._check_again(entries, journal, cost)
            if journal.run in entries.returned and asks_more:
                self._settled(entries.account, entries.returned[journal.run])

    def gave_back(self, journal: Journal) -> bool:
        """Whether a run stopped, and its rest is to be charged again before it asks for more."""
        return journal.run in self._read().returned

    def end(self, journal: Journal) -> None:
        """Note that a run has ended, and with which answers; once for each run.

        Raises `PrivacyError` if its charge is gone, or it has ended with other answers in a copy of
        its journal, and `DataFileError` as `charge`.
        """
        with self._open() as file:
            entries = self._entries(file)
            self._check_there(entries, journal)
            self._check_answers(entries, journal.run, journal.hashes, journal.path)
            # Both are needed: the answers may be those that were released, and yet not be paid for
            # since.
            self._check_charged(entries, journal.run, journal.hashes, journal.path)
            if journal.run not in entries.ended:
                file.append(
                    {"kind": "end", "run": journal.run, "journal_head": journal.head, "when": now()}
                )

    def give_back(self, ledger: PrivacyLedger, journal: Journal, *, is_all: bool) -> bool:
        """Have back what a run that stops for good did not spend; whether it has anything back, now
        or before.

        To be called before the run says why it stopped, which makes its answers a release: no copy
        of its journal with other ones may become one then. Nothing is given back unless ``is_all``:
        the journal holds no answer that the ledger has not paid for. What may still be asked is
        charged again first, by `charge`. An entry follows from answers that were paid for, so it
        tells nothing of records besides.

        Raises as `end`.
        """
        with self._open() as file:
            entries = self._entries(file)
            run = journal.run
            self._check_there(entries, journal)
            self._check_answers(entries, run, journal.hashes, journal.path)
            if run in entries.ended:
                return False
            if run in entries.returned:
                return True
            whole = entries.runs[run]
            spent = self._cost_of(ledger, entries, ledger.spent, ledger.failure_delta_spent)
            left = Cost(
                accounting=whole.accounting,
                rho=whole.rho - spent.rho,
                delta=whole.delta - spent.delta,
            )
            if not is_all or left.rho <= 0:
                self._note_release(file, entries, run, journal.hashes, journal.n_asked)
                return False
            noted = {"kind": "returned", "run": run, "journal_head": journal.head}
            file.append({**noted, **cost_to_dict(left), "when": now()})
            return True

    def rescue(self, run: str, hashes: Sequence[str], path: str) -> None:
        """Let what a journal holds become a release without its run, and note it: no other copy may
        be one then.

        Parameters
        ----------
        run
            Identifier of the run.
        hashes
            Of each line of its journal.
        path
            Where the journal is, for messages.

        Raises
        ------
        PrivacyError
            If the run was never charged, or other answers of it were released.
        DataFileError
            If the file cannot be read or written.
        """
        with self._open() as file:
            entries = self._entries(file)
            if run not in entries.runs:
                raise PrivacyError(
                    f"budget {self.path!r}: the run of journal {path!r} was not charged to it, so nobody knows what "
                    "else was made of its answers: name the budget that it was charged to"
                )
            self._check_answers(entries, run, hashes, path)
            self._check_charged(entries, run, hashes, path)
            self._note_release(file, entries, run, hashes, len(hashes))

    def add(
        self,
        *,
        note: str,
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
        mu: float | None = None,
    ) -> None:
        """Enter a release by another system, which must be for the budget's unit of privacy.

        Parameters
        ----------
        note
            What was released, by whom and when.
        epsilon, rho, mu
            One of them: (epsilon, delta)-DP, rho-zCDP or mu-Gaussian DP.
        delta
            At least 0; with rho or mu the probability that these do not hold.

        Raises
        ------
        BudgetExceededError
            If too little is left.
        ParameterError
            If not one of the three is given, one is out of range, or there is no note.
        PrivacyError, DataFileError
            As in `charge`.
        """
        check_words("note", note, "say what was released, by whom and when")
        cost = stated_cost(epsilon=epsilon, rho=rho, mu=mu, delta=delta)
        with self._open() as file:
            self._append(file, self._entries(file), cost, {"kind": "other", "note": note})

    def verify(self, head: str | None = None) -> None:
        """Walk through the whole file; ``head``, if it is given, must be the hash of one of its
        lines.

        That whole lines were cut off its end only a hash tells that was kept elsewhere.

        Raises
        ------
        DataFileError
            If it is damaged, ends within a line, or the line of that hash is not there any more.
        ParameterError
            If ``head`` is no text.
        """
        if head is not None:
            check_words("head", head, "give a hash that `show` printed")
        # Any line's, not only the last one's: the file may have grown since the hash was kept.
        if head is not None and head.strip().lower() not in self._read().hashes:
            raise DataFileError(
                f"budget {self.path!r}: no line has the hash {head}; lines were cut off or replaced"
            )
        with self._open(is_writable=False) as file:
            self._entries(file)
            if file.cut:
                file.refuse(
                    f"{file.cut}: the file was cut, or a run was killed as it wrote that; restore a copy in which more "
                    "is there, else what runs enter next takes its place"
                )

    def show(self) -> dict[str, Any]:
        """All that is in it, what is spent and what is left, as plain JSON values."""
        return self._read().described()

    def _open(self, *, is_writable: bool = True) -> ChainedFile:
        if not lexists(self._path):
            raise DataFileError(
                f"budget {self.path!r}: there is no such file; `synthdp budget create` writes a new one, "
                "once for all releases about one population"
            )
        return ChainedFile(self._path, what=WHAT, patience=PATIENCE, is_writable=is_writable)

    def _read(self) -> Entries:
        with self._open(is_writable=False) as file:
            return self._entries(file)

    def _entries(self, file: ChainedFile) -> Entries:
        return Entries.from_file(file)

    def _append(
        self, file: ChainedFile, entries: Entries, cost: Cost, entry: Mapping[str, Any]
    ) -> None:
        """Charge a cost, or raise and leave the file as it was."""
        account: Account = entries.account
        terms = self._settled(account, cost)
        # The first charge that needs terms settles them for good: costs of two accountings cannot
        # be added up later.
        opened = (
            {} if account.terms is not None or terms is None else {"terms": terms_to_dict(terms)}
        )
        file.append({**entry, **cost_to_dict(cost), **opened, "when": now()})

    def _settled(self, account: Account, cost: Cost) -> Terms | None:
        """The terms under which a cost is charged; raises if it cannot be."""
        try:
            terms = account.settled(cost)
            account.check(cost, terms)
        except (BudgetExceededError, PrivacyError) as error:
            raise type(error)(f"budget {self.path!r}: {error}") from None
        return terms

    def _cost_of(
        self, ledger: PrivacyLedger, entries: Entries, rho: Fraction, delta: Fraction
    ) -> Cost:
        """What some of a ledger's budget costs in the budget's unit of privacy."""
        unit = ledger.unit
        own = entries.unit
        cost = Cost(accounting=ledger.accounting, rho=rho, delta=delta)
        if (unit.column, unit.adjacency) == (own.column, own.adjacency):
            return cost
        # The other way there is no theorem: a record that comes is not a replacement of any.
        if unit.column == own.column and own.adjacency is Adjacency.REPLACE_ONE and cost.delta == 0:
            # A record that is replaced goes and another comes: group privacy for two [BS16, Prop.
            # 1.9; DRS19, Thm. 3].
            return Cost(accounting=cost.accounting, rho=4 * cost.rho)
        names = [f"{each.adjacency.value} of {each.column or 'records'}" for each in (own, unit)]
        raise PrivacyError(
            f"budget {self.path!r}: it protects by {names[0]} and the run by {names[1]}; such costs do not add up: "
            "run with the unit and adjacency of the budget"
        )

    def _note_release(
        self, file: ChainedFile, entries: Entries, run: str, hashes: Sequence[str], n_asked: int
    ) -> None:
        """Note that the first lines of a journal are a release.

        The same answers a second time are no second release, so they get no second line.
        """
        noted = entries.noted_heads.get(run, ())
        if run not in entries.ended and not any(each in noted for each in hashes[n_asked - 1 :]):
            head = hashes[n_asked - 1]
            file.append({"kind": "rescued", "run": run, "journal_head": head, "when": now()})

    def _check_there(self, entries: Entries, journal: Journal) -> None:
        """Refuse a run whose charge is gone: a budget file that was restored from a backup lacks
        later ones, so that its answers are paid for nowhere, and must not be released.
        """
        if journal.run not in entries.runs:
            raise PrivacyError(
                f"budget {self.path!r}: the charge for the run of journal {journal.path!r} is gone, so this is an "
                "older copy: restore the budget, or give the same command again, which charges the run again"
            )

    def _check_again(self, entries: Entries, journal: Journal, cost: Cost) -> None:
        """Refuse a run that was charged before, but is not the same any more."""
        # Another cost means another noise: the answers in the journal would not be those that are
        # paid for.
        if entries.runs[journal.run] != cost:
            raise PrivacyError(
                f"budget {self.path!r}: it was charged for the run of journal {journal.path!r} with another cost; "
                "start anew with another journal"
            )
        self._check_answers(entries, journal.run, journal.hashes, journal.path)

    def _check_charged(self, entries: Entries, run: str, hashes: Sequence[str], path: str) -> None:
        """Refuse answers that a run got after it had given back what would have paid for them."""
        if run in entries.returned and entries.noted_heads[run][-1] != hashes[-1]:
            raise PrivacyError(
                f"budget {self.path!r}: the run of journal {path!r} stopped, and gave back what it had not spent, so "
                "that nothing pays for what else is in the journal: give its command again with --anyway and the "
                "budget, which charges it again"
            )

    def _check_answers(self, entries: Entries, run: str, hashes: Sequence[str], path: str) -> None:
        """Refuse a journal if its run was released with other answers: two releases for the price
        of one.

        What was released until now is known by the hashes that its journal had. A journal that goes
        on from there has them among its own.
        """
        if entries.ended.get(run, hashes[-1]) != hashes[-1]:
            raise PrivacyError(
                f"budget {self.path!r}: the run of journal {path!r} has ended with other answers, so this is "
                "an older copy: restore the journal, or start anew with another"
            )
        if not {*entries.noted_heads.get(run, ())} <= {*hashes}:
            raise PrivacyError(
                f"budget {self.path!r}: of the run of journal {path!r} other answers became a release already, so this "
                "is another copy: go on with that one, or start anew with another"
            )
