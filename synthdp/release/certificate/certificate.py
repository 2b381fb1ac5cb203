"""The certificate: what a release must say about its guarantee [NIST SP 800-226]."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import floor, log10
from pathlib import Path
from types import MappingProxyType
from typing import Any

from synthdp.core.version import __version__
from synthdp.core.workload import Workload
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.gaussian import GAUSSIAN
from synthdp.privacy.noise.randomness import Randomness
from synthdp.privacy.unit import Adjacency, PrivacyUnit
from synthdp.release.certificate.fit_facts import FORMAT
from synthdp.release.certificate.meaning import protection_of_ledger, stated_meaning
from synthdp.release.certificate.software import versions

THEOREMS = {
    Accounting.ZCDP: (
        "zCDP of Gaussian, Laplace and exponential mechanisms, composed by a privacy filter; "
        "epsilon and delta by [CKS20]"
    ),
    Accounting.GDP: (
        "Gaussian DP of Gaussian noise, rounded afterwards, composed by a privacy filter "
        "[Smith-Thakurta 2022]; epsilon and delta by [DRS19]"
    ),
}
"""What the guarantee stands on."""

RECORDS = {
    Adjacency.ADD_REMOVE: "one record, present or absent; the number of records is protected",
    Adjacency.REPLACE_ONE: "the content of one record; the number of records is not protected",
}
"""The unit of privacy where each record is one."""


def unit_in_words(unit: PrivacyUnit) -> str:
    """The unit of privacy in words."""
    if unit.column is None:
        return RECORDS[unit.adjacency]
    return (
        f"one person, told apart by column {unit.column!r}, with at most {unit.max_rows} records, present or "
        "absent; the number of records is protected"
    )


SCHEMA_FILE = Path(__file__).with_name("certificate.schema.json")
"""JSON Schema (draft 2020-12) of every certificate that this version writes."""

NOT_COVERED = (
    "the time a run takes and the memory it uses, which depend on the records",
    "the computer and its operating system: whoever controls them sees the records",
    "anything the schema declares: declared levels and bounds are taken to be public knowledge",
    "other releases about the same people: their losses add up unless they share one budget",
)
_MANY_RECORDS = "people with more than one record: the guarantee is for one record"

RESUMED = (
    "the run was stopped and gone on with: each answer protects the records as they were when it was given. If they "
    "had changed by then, the guarantee is for all answers together, to whoever is in one version, another or several, "
    "with what is there in each; what is drawn mixes the versions, and under replace-one the number of records of none "
    "of them is protected"
)
"""What is guaranteed then; whether the records had changed nobody can know, for it would have to be
paid for.
"""

LARGE_EPSILON = 10.0
LARGE_DELTA, LARGE_DELTA_SHARE = 1e-4, 0.1
"""Beyond these a certificate warns its reader, of delta also beyond that share of 1 / (number of
people); all are common advice [NIST SP 800-226].
"""


def privacy_certificate(
    *,
    ledger: PrivacyLedger,
    randomness: Randomness,
    release: Mapping[str, object],
    run: Mapping[str, Any] = MappingProxyType({}),
    findings: Sequence[str] = (),
    n_rows: float | None = None,
) -> dict[str, object]:
    """The privacy statement of a release, as plain JSON values.

    Parameters
    ----------
    ledger
        Budget and events, at the time of the release.
    randomness
        Where the noise came from; decides what ``guarantee`` may claim.
    release
        Public facts from above: version, mechanism, engine, schema. They cannot replace what the
        kernel states.
    run
        Which run it is of, and when its answers were given, as
        `synthdp.release.persistence.run_identity.RunIdentity.to_dict` says it.
    findings
        Further cautions, from released values.
    n_rows
        Number of records, by the noisy counts; None if they do not tell.
    """
    # What is said here follows from the ledger, from how random bits are made, and from released
    # numbers; nothing in it may follow from the records.
    weak = cautions(
        epsilon=ledger.epsilon, delta=ledger.delta, n_rows=n_rows, max_rows=ledger.unit.max_rows
    )
    statement = {
        "format": FORMAT,
        "guarantee": (
            guarantee_text(ledger.epsilon, ledger.delta)
            if randomness.is_private
            else "NOT PRIVATE: the noise can be predicted"
        ),
        "is_private": randomness.is_private,
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "adjacency": ledger.unit.adjacency.value,
        "unit_of_privacy": unit_in_words(ledger.unit),
        "max_rows_per_unit": ledger.unit.max_rows,
        "meaning": _meaning(ledger) if randomness.is_private else None,
        **({"run": {**run, **({"meaning": RESUMED} if "resumed" in run else {})}} if run else {}),
        "cautions": [*weak, *findings],
        "accounting": {
            "currency": ledger.accounting.value,
            "theorem": THEOREMS[ledger.accounting],
            "rho_budget": float(ledger.budget),
            "rho_spent": float(ledger.spent),
            "rho_left": float(ledger.remaining),
            "failure_delta": float(ledger.failure_delta),
            "failure_delta_spent": float(ledger.failure_delta_spent),
        },
        "noise": {
            "kind": f"{_mechanisms(ledger)}, sampled exactly: no rounding of floating-point numbers reaches it",
            "randomness": randomness.description,
        },
    }
    details = {
        "versions": versions(),
        "events": [event.to_dict() for event in ledger.events],
        "not_covered": [
            *NOT_COVERED,
            *([_MANY_RECORDS] if ledger.unit.column is None else []),
            *(
                [_copied(ledger)]
                if {"resumed", "rescued"} & run.keys() and not run["is_charged_to_budget"]
                else []
            ),
        ],
    }
    # The statement comes first for readers, and once more so that no fact of a release can replace
    # a word of the guarantee.
    return statement | dict(release) | statement | details


def _copied(ledger: PrivacyLedger) -> str:
    """What this release and one of another copy of its journal mean together: what two releases do."""
    # Basic composition, which holds whatever the two have in common.
    both = f"({_shortest(2 * ledger.epsilon)}, {_shortest(2 * ledger.delta)})"
    return (
        "another copy of the journal that this was made from: if the run went on there as well, that is a second "
        f"release, and both together are {both}-differentially private; only a budget notices that"
    )


def _meaning(ledger: PrivacyLedger) -> list[dict[str, Any]]:
    """What the guarantee means, for one unit of privacy and for groups."""
    return stated_meaning(protection_of_ledger(ledger))


def _mechanisms(ledger: PrivacyLedger) -> str:
    """The kinds of noise and selection that a ledger can pay for."""
    if ledger.accounting is Accounting.GDP:
        others = ""
    else:
        others = ", discrete Laplace and exponential mechanism"
    return GAUSSIAN + others


def cautions(
    *, epsilon: float, delta: float, n_rows: float | None = None, max_rows: int = 1
) -> list[str]:
    """What a reader should know about a weak guarantee.

    Parameters
    ----------
    epsilon, delta
        The guarantee.
    n_rows
        Number of records, by noisy counts; None if it is unknown.
    max_rows
        Most records of a person: there are at least ``n_rows / max_rows`` people.
    """
    sentences = []
    if epsilon > LARGE_EPSILON:
        sentences.append(
            f"epsilon is {_shortest(epsilon)}, above {LARGE_EPSILON:g}: this protects against little"
        )
    # With several rows a person only a lower limit of the number of people is known, and a delta
    # that is too large for fewer people is too large for more.
    n_people = None if n_rows is None else n_rows / max_rows
    if n_people is not None and delta * n_people > LARGE_DELTA_SHARE:
        number = f"{'at least ' if max_rows > 1 else ''}about {max(round(n_people), 1):,}"
        sentences.append(
            f"delta is {_shortest(delta)}, above 1 / (10 x number of people), who are {number}: this would allow for "
            f"publishing somebody's whole record; give {advised_delta(n_people):.0e} or less"
        )
    elif delta > LARGE_DELTA:
        sentences.append(
            f"delta is {_shortest(delta)}, above {LARGE_DELTA:g}: it should be far below 1 / (number of people)"
        )
    return sentences


def advised_delta(n_people: float) -> float:
    """A delta for so many people: a power of ten, between a thousandth and a hundredth of 1 / n, or
    1e-4 for few.

    >>> advised_delta(50_000)
    1e-07
    """
    return min(float(10.0 ** floor(log10(LARGE_DELTA_SHARE**2 / n_people))), LARGE_DELTA)


def guarantee_text(epsilon: float, delta: float) -> str:
    """A guarantee in words.

    >>> guarantee_text(1.0, 1e-9)
    '(1, 1e-09)-differential privacy'
    """
    return f"({_shortest(epsilon)}, {_shortest(delta)})-differential privacy"


def _shortest(number: float) -> str:
    """The shortest text that is exactly this number: rounding it would claim too much."""
    return repr(number).removesuffix(".0")


def unfinished_facts() -> dict[str, object]:
    """What a certificate says of a run that ended before its schema was known."""
    return {"software": f"synthdp {__version__}", "complete": False}


def workload_facts(workload: Workload) -> dict[str, object]:
    """How much is wanted, and what is to be predicted, if anything is; as plain JSON values."""
    return {
        "n_marginals": len(workload.cliques),
        "columns_at_most": max(map(len, workload.cliques)),
        **({} if workload.target is None else {"target": workload.target}),
    }


def mechanism_facts(mechanism: Mechanism) -> dict[str, object]:
    """Name, source and public parameters of a mechanism."""
    parameters: dict[str, object] = (
        {"mechanisms": [mechanism_facts(part) for part in mechanism.parts]}
        if mechanism.parts
        else {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}  # type: ignore[arg-type]
    )
    return {"name": mechanism.name, "reference": mechanism.reference, "parameters": parameters}
