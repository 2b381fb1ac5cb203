"""Making a release of the journal of an abandoned run."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from synthdp.core.errors import DataFileError, PrivacyError, SynthdpError
from synthdp.core.imports import import_named
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.engine import Engine
from synthdp.learning.filling import UnreadCount
from synthdp.privacy.noise.randomness import SystemRandomness
from synthdp.release.certificate.run_facts import RunFacts
from synthdp.release.learnt_domain import LearntDomain, closed_so_far, learnt_in
from synthdp.release.on_demand import SAVED_KNOWN
from synthdp.release.persistence.budget import Budget
from synthdp.release.persistence.described import digest_of
from synthdp.release.persistence.kept_answers import NO_RUN, KeptAnswers
from synthdp.release.persistence.run_identity import RunIdentity, now
from synthdp.release.registry import ENGINES, engine_named
from synthdp.release.synthesis import Synthesis
from synthdp.schema.public_files import schema_in

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal

Released = TypeVar("Released")

SEVERAL = "several"
"""The name of several mechanisms in one run, which is no name that anybody gives."""

NOT_CHOSEN = (
    "models were to be compared, and a rescued release is fitted without a choice: finish the run "
    "with its journal, or refit the release by the engine that you want"
)
"""Said of what is rescued of a run that chooses among models."""


def rescued(
    kept: KeptAnswers,
    make: Callable[[KeptAnswers, RunIdentity], Released],
    *,
    budget: Budget | str | PathLike[str] | None,
    unchecked: bool,
) -> Released:
    """What is made of the answers in a journal, if the budgets that its run is charged to allow for
    it.

    Raises as `synthdp.from_journal`.
    """
    given = budget if budget is None or isinstance(budget, Budget) else Budget(budget)
    asked = [] if unchecked else [_budget_of(kept, each, given) for each in kept.budgets]
    if given is not None and not asked:
        asked += [given]
    identity = RunIdentity(
        run=kept.run, when=kept.when, resumed=kept.resumed, rescued=now(), is_asked=bool(asked)
    )
    # Before the budget notes it: of some journals nothing can be made.
    release = make(kept, identity)
    for each in asked:
        each.rescue(kept.run, kept.hashes, kept.path)
    return release


def _budget_of(kept: KeptAnswers, named: Mapping[str, str], given: Budget | None) -> Budget:
    """A budget that a journal names: the one that was given if it is that, else where the journal
    says.
    """
    # A budget is known by its first line and not by its path: files move, and other files take
    # their place.
    if given is not None and given.first == named["first"]:
        return given
    way_out = "name it with --budget (in Python budget=), or do without it by --unchecked (unchecked=True)"
    try:
        budget = Budget(named["path"])
    except DataFileError:
        raise PrivacyError(
            f"journal {kept.path!r}: its run is charged to budget {named['path']!r}, which cannot be read there, so "
            f"that nobody knows whether another copy of the journal was released; {way_out}"
        ) from None
    if budget.first != named["first"]:
        raise PrivacyError(
            f"journal {kept.path!r}: the budget that its run is charged to is not at {named['path']!r} any more, but "
            f"another one; {way_out}"
        )
    return budget


def private_answers(path: str | PathLike[str]) -> KeptAnswers:
    """The answers in a journal; raises as `synthdp.from_journal`, and `PrivacyError` if its noise
    can be predicted.
    """
    kept = KeptAnswers.from_file(path)
    if kept.header["settings"].get("randomness") != SystemRandomness().description:
        raise PrivacyError(
            f"journal {kept.path!r}: its noise can be predicted, so that it protects nobody; remove it"
        )
    return kept


def _engine_of(asked: Mapping[str, Any]) -> Engine:
    """The engine that a run had; the one called ``"auto"`` where it was not ours as it is by default."""
    name = asked["engine"]
    engine = engine_named(name if name in ENGINES else "auto")
    is_same = digest_of(engine) == asked["parameters of the engine"]
    return engine if is_same else engine_named("auto")


def release_of(kept: KeptAnswers, identity: RunIdentity) -> Synthesis | LearntDomain:
    """What `synthdp.from_journal` makes of the answers about one table; raises as it does."""
    try:
        stated = kept.header["facts"]
        declared = RunFacts.from_dict(stated, schema_in(stated["schema"], None))
        facts = declared.with_workload(kept.workload)
        ledger = kept.ledger()
        learnt = [learnt_in(note) for note in kept.notes]
        columns = {column.name: column for column, _ in learnt}
        findings = [caution for _, caution in learnt if caution]
        asked = kept.header["settings"]
        if asked.get("choose") or asked["mechanism"] == SEVERAL:
            findings += [NOT_CHOSEN]
        closed = closed_so_far(facts.schema, columns)
        # A run may have stopped while it was learning. What it had learnt is worth keeping, but
        # there is no table yet that could be counted.
        schema = None if closed.is_open else facts.schema.resolved(columns)
        measured: list[LinearMeasurement] = []
        unread: dict[str, UnreadCount] = {}
        known: Sequence[KnownMarginal] = ()
        if schema is not None:
            measured, unread = kept.measurements(schema, schema.with_all_places().domain)
            known = import_named(SAVED_KNOWN)(facts.known, schema.domain) if facts.known else ()
        drawn = None if schema is None else facts.drawn_schema(schema, measured, unread)
        certificate = facts.certificate(
            ledger=ledger,
            randomness=SystemRandomness(),
            engine=_engine_of(asked),
            learnt=columns,
            run=identity.to_dict(),
            findings=findings,
            schema=schema,
            drawn=drawn,
            measurements=measured,
            unread=unread,
        )
    except (ArithmeticError, AttributeError, KeyError, SynthdpError, TypeError, ValueError):
        kept.refuse(NO_RUN)
    if drawn is not None and measured:
        # A model of fewer marginals than planned looks like any other, so that the certificate has
        # to say it.
        certificate |= {"complete": kept.has_ended}
        return Synthesis(
            schema=drawn,
            measurements=measured,
            model=None,
            certificate=certificate,
            known=known,
        )
    if not columns:
        kept.refuse(
            "it holds no marginal yet, and no column that was learnt to its end: nothing can be made of it"
        )
    return LearntDomain(closed, certificate)
