"""Learning what a schema leaves open, for a share of a run's budget."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from math import sqrt

from synthdp.core.reporting import Report
from synthdp.learning.budgets import column_budgets, is_gaussian, min_mass, takes_thresholds
from synthdp.learning.learner import LearntColumn, learn_columns
from synthdp.learning.questions import questions
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness
from synthdp.privacy.values.private_values import PrivateValues, ValueSource
from synthdp.release.learnt_domain import learnt_to_dict
from synthdp.release.observer import Observer
from synthdp.release.persistence.kept_run import KeptRun
from synthdp.schema.open_schema import OpenSchema


def learning_needs(schema: OpenSchema) -> tuple[bool, bool]:
    """Whether learning has noise that is not Gaussian, and whether it takes a part of delta."""
    return not is_gaussian(schema), takes_thresholds(schema) > 0


def check_questions(schema: OpenSchema, ledger: PrivacyLedger, *, rho: Fraction) -> None:
    """Raise `ParameterError` if a share of the budget, or of delta, is too small to learn with."""
    for budget in column_budgets(schema, rho=rho, delta=ledger.failure_delta):
        questions(budget, unit=ledger.unit)
        if budget.delta_again:
            questions(replace(budget, delta=budget.delta_again), unit=ledger.unit)


def again(ledger: PrivacyLedger, *, rho: Fraction) -> Fraction:
    """What asking again about levels that noise hid may cost: half as much as asking first, and no
    more than half of what that leaves.
    """
    return min(rho, ledger.budget - rho) / 2


def learn_domain(
    schema: OpenSchema,
    source: ValueSource,
    ledger: PrivacyLedger,
    *,
    rho: Fraction,
    n_columns: int | None = None,
    randomness: Randomness | None,
    kept: KeptRun,
    observer: Observer | None,
    report: Report,
) -> Generator[LearntColumn]:
    """Close the open columns one by one; the records are let go of at the end, or when this is
    closed. A column of which more was found later comes a second time.

    Parameters
    ----------
    schema
        What is declared.
    source, ledger, randomness
        Those of the run, as `PrivateValues` takes them.
    kept
        What is kept of the run: answers, and each column once the caller has it.
    rho
        What asking about each column once may cost; the rest of the ledger's budget is for the
        model, and for asking `again`.
    n_columns
        Among how many columns the rest is divided, if it is not the number of those of the schema.
    observer
        Sees each question and its answer; for audits.
    report
        Called with the progress.
    """
    mass = min_mass(ledger.unit, rho=ledger.budget - rho, n_columns=n_columns or len(schema.names))
    if source.is_by_unit:
        # Persons are counted, and rows are measured: each has one to ``max_rows`` of them.
        mass /= sqrt(ledger.unit.max_rows)
    values = PrivateValues(source, ledger, randomness=randomness, memory=kept.memory)
    values = values if observer is None else observer.values(values)
    with closing(values):
        for learnt in learn_columns(
            schema,
            values,
            rho=rho,
            rho_again=again(ledger, rho=rho),
            delta=ledger.failure_delta,
            min_mass=mass,
            is_by_unit=source.is_by_unit,
            report=report,
        ):
            # Noted only once the caller has it: a run that fails in between learns the column
            # again, from the same answers, for nothing.
            yield learnt
            kept.note(learnt_to_dict(schema, learnt.column, learnt.caution))
