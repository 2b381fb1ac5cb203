"""What the lines of a budget file say, read from a file that need not be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self, final

from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.privacy.accounting import Accounting, check_budget
from synthdp.privacy.events import exact_rho
from synthdp.privacy.ledger import exact_delta
from synthdp.privacy.unit import Adjacency, PrivacyUnit
from synthdp.release.persistence.account import Account, Cost, Terms, epsilon_of
from synthdp.release.persistence.chained_file import ChainedFile
from synthdp.release.persistence.checks import check_number
from synthdp.release.persistence.kept_events import fraction_in

FORMAT = "synthdp budget 1"
MAX_BYTES = 1 << 23
"""Some 10,000 releases: more than any population should bear, and little enough to be read at once.
"""


@final
@dataclass(frozen=True, kw_only=True)
class Entries:
    """A budget file at one time: its first line, what was entered since, and what that leaves."""

    header: Mapping[str, Any]
    """The first line."""
    entered: tuple[Mapping[str, Any], ...]
    """All other lines, oldest first."""
    hashes: tuple[str, ...]
    """Of each line."""
    unit: PrivacyUnit
    """What is protected as one."""
    account: Account
    """What is spent."""
    runs: Mapping[str, Cost] = field(default_factory=dict)
    """For each run that was charged, by its identifier, its cost."""
    ended: Mapping[str, str] = field(default_factory=dict)
    """For each of those that have ended the hash of its journal."""
    noted_heads: Mapping[str, list[str]] = field(default_factory=dict)
    """For each of those whose journal became a release without its run, or which stopped and said
    why, the hash that the journal had, each time.
    """
    returned: Mapping[str, Cost] = field(default_factory=dict)
    """For each of those that stopped what it gave back, unless it was charged again."""

    @classmethod
    def from_file(cls, file: ChainedFile) -> Self:
        """Read an open file; raises `DataFileError` if a line is not one that synthdp wrote."""
        if file.n_bytes > MAX_BYTES:
            file.refuse(f"it has {file.n_bytes} bytes; a budget has at most {MAX_BYTES}")
        # The lines are replayed in order as they were once entered: what is spent is never read
        # from the file, but follows from what was charged.
        number = 0
        runs: dict[str, Cost] = {}
        ended: dict[str, str] = {}
        noted_heads: dict[str, list[str]] = {}
        returned: dict[str, Cost] = {}
        header, *entered = file.entries()
        try:
            unit, account = _opened(header)
            for entry in entered:
                number += 1
                if _is_note(entry, ended, noted_heads):
                    continue
                cost = _cost_in(entry)
                if entry["kind"] == "returned":
                    run = str(entry["run"])
                    if run in ended or run in returned or not _is_part(cost, runs[run]):
                        raise ValueError("nothing to give back")
                    account = account.given_back(cost)
                    returned[run] = cost
                    continue
                if entry["kind"] == "again" and returned.pop(str(entry["run"])) != cost:
                    raise ValueError("another cost than was given back")
                terms = _terms_in(entry["terms"]) if "terms" in entry else account.terms
                if terms is None and cost.accounting is not None:
                    raise ValueError("nothing says how such costs add up")
                # A file that was edited to hold more than its budget fails as the charge itself
                # would have.
                account.check(cost, terms)
                account = account.charged(cost, terms)
                if entry["kind"] == "run":
                    runs[str(entry["run"])] = cost
        except (ArithmeticError, KeyError, SynthdpError, TypeError, ValueError):
            problem = (
                "the first line is no budget's" if number == 0 else f"line {number + 1} is no entry"
            )
            file.refuse(
                f"{problem} of this version of synthdp; update it, or give the file that it wrote"
            )
        return cls(
            header=header,
            entered=tuple(entered),
            hashes=file.hashes,
            unit=unit,
            account=account,
            runs=runs,
            ended=ended,
            noted_heads=noted_heads,
            returned=returned,
        )

    def described(self) -> dict[str, Any]:
        """Header, entries, what is spent and left, and the hash of the last line, as plain JSON
        values.
        """
        account = self.account
        open_runs = [run for run in self.runs if run not in {*self.ended, *self.returned}]
        content = {name: value for name, value in self.header.items() if name != "format"}
        content |= {
            "entries": [dict(entry) for entry in self.entered],
            "unfinished_runs": open_runs,
            "stopped_runs": list(self.returned),
        }
        return content | {
            "spent": _spent(account, self.header),
            "left": _left(account),
            "head": self.hashes[-1],
        }


def _is_note(
    entry: Mapping[str, Any], ended: dict[str, str], noted_heads: dict[str, list[str]]
) -> bool:
    """Whether an entry says what became of a run, and charges nothing; that is noted."""
    if entry["kind"] == "end":
        ended[str(entry["run"])] = str(entry["journal_head"])
        return True
    # A journal may be rescued more than once, each time with more answers, and a run may stop
    # before: all of them are one release.
    if entry["kind"] in ("rescued", "returned"):
        noted_heads.setdefault(str(entry["run"]), []).append(str(entry["journal_head"]))
    return bool(entry["kind"] == "rescued")


def _opened(header: Mapping[str, Any]) -> tuple[PrivacyUnit, Account]:
    """The unit of privacy, and the account before anything was entered."""
    if header["format"] != FORMAT or not isinstance(header["population"], str):
        raise ValueError("another format")
    check_budget(epsilon=header["epsilon"], delta=header["delta"])
    column = header["unit"]
    if not isinstance(column, str | None):
        raise TypeError("not the name of a column")
    unit = PrivacyUnit(adjacency=Adjacency(header["adjacency"]), column=column)
    accounting = None if header["accounting"] is None else Accounting(header["accounting"])
    return unit, Account(
        epsilon=Fraction(header["epsilon"]), delta=Fraction(header["delta"]), accounting=accounting
    )


def _spent(account: Account, header: Mapping[str, Any]) -> dict[str, Any]:
    """What is spent: what other systems stated, and under the terms, with the epsilon that it
    makes.
    """
    stated = (
        Fraction(header["epsilon"]) - account.epsilon,
        Fraction(header["delta"]) - account.delta,
    )
    spent: dict[str, Any] = {"stated_epsilon": float(stated[0]), "stated_delta": float(stated[1])}
    if account.terms is None:
        return spent
    return spent | {
        "currency": account.terms.accounting.value,
        "rho": float(account.rho),
        "rho_at_most": float(account.terms.capacity),
        "delta": float(account.failed),
        "delta_at_most": float(account.terms.reserve),
    }


def _left(account: Account) -> dict[str, float]:
    """About the largest release that still fits: its epsilon at the delta of the budget."""
    if account.terms is None:
        return {"epsilon": float(account.epsilon), "delta": float(account.delta)}
    delta = float(account.delta)
    left = account.terms.capacity - account.rho
    epsilon = epsilon_of(account.terms.accounting, left, delta, most=float(account.epsilon))
    return {"epsilon": epsilon, "delta": delta, "rho": float(left)}


def stated_cost(
    *, epsilon: float | None, rho: float | None, mu: float | None, delta: float
) -> Cost:
    """The cost of a release by another system; raises `ParameterError` unless one of the three is
    given, in range.
    """
    given = [
        name
        for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu))
        if value is not None
    ]
    if len(given) != 1:
        raise ParameterError(
            f"epsilon, rho, mu: {' and '.join(given) or 'none'} given; give one of them"
        )
    for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu), ("delta", delta)):
        if value is not None:
            check_number(name, value)
    own = exact_delta(delta)
    try:
        if epsilon is not None:
            return Cost(accounting=None, epsilon=exact_rho(epsilon), delta=own)
        if rho is not None:
            return Cost(accounting=Accounting.ZCDP, rho=exact_rho(rho), delta=own)
        return Cost(accounting=Accounting.GDP, rho=exact_rho(mu or 0) ** 2 / 2, delta=own)
    except ParameterError as error:
        raise ParameterError(str(error).replace("rho", given[0], 1)) from None


def cost_to_dict(cost: Cost) -> dict[str, str]:
    """A cost as plain JSON values, exactly."""
    own = {"own_delta": str(cost.delta)}
    if cost.accounting is None:
        return {"epsilon": str(cost.epsilon)} | own
    return {"currency": cost.accounting.value, "rho": str(cost.rho)} | own


def _cost_in(entry: Mapping[str, Any]) -> Cost:
    delta = fraction_in(entry["own_delta"])
    if entry["kind"] not in ("run", "other", "returned", "again"):
        raise ValueError("another kind of entry")
    if "currency" not in entry:
        return Cost(accounting=None, epsilon=fraction_in(entry["epsilon"]), delta=delta)
    return Cost(
        accounting=Accounting(entry["currency"]), rho=fraction_in(entry["rho"]), delta=delta
    )


def _is_part(cost: Cost, whole: Cost) -> bool:
    """Whether a cost may be left of that of a run."""
    return (
        cost.accounting is whole.accounting
        and 0 < cost.rho <= whole.rho
        and 0 <= cost.delta <= whole.delta
    )


def terms_to_dict(terms: Terms) -> dict[str, str]:
    """Terms as plain JSON values, exactly."""
    return {
        "accounting": terms.accounting.value,
        "capacity": str(terms.capacity),
        "reserve": str(terms.reserve),
        "order": str(terms.order),
    }


def _terms_in(entry: Mapping[str, Any]) -> Terms:
    return Terms(
        accounting=Accounting(entry["accounting"]),
        capacity=fraction_in(entry["capacity"]),
        reserve=fraction_in(entry["reserve"]),
        order=fraction_in(entry["order"]),
    )
