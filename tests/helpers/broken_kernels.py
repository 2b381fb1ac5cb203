"""The kernel and its neighbours, broken on purpose: each of these an audit must notice."""

from fractions import Fraction

import numpy as np
from helpers.homes import home
from helpers.values import listed

from synthdp.core import Grid, LinearMeasurement
from synthdp.data import HeldTableReader, UnitRows
from synthdp.inference import GraphicalModelEngine
from synthdp.learning import FoundLevels, learn_columns
from synthdp.mechanisms import Independent
from synthdp.privacy import (
    Accounting,
    Adjacency,
    FrequentValues,
    MarginalEvent,
    NoisyHistogram,
    PrivateTable,
    PrivateValues,
    PrivTreeEvent,
    Queryable,
    ScoresEvent,
    SelectionEvent,
    ledger,
)
from synthdp.release import FilledTable
from synthdp.release.certificate import run_facts

graphical_model = home(GraphicalModelEngine)
held_table = home(HeldTableReader)
learner = home(learn_columns)
private_table = home(PrivateTable)
private_values = home(PrivateValues)
queryable = home(Queryable)


def noise_by(monkeypatch, change):
    draw = queryable.gaussian_noise
    monkeypatch.setattr(queryable, "gaussian_noise", lambda **asked: change(draw, **asked))


def halve_the_noise(monkeypatch):
    noise_by(
        monkeypatch,
        lambda draw, *, sigma_squared, **rest: draw(sigma_squared=sigma_squared / 4, **rest),
    )


def share_noise_between_cells(monkeypatch):
    def share(draw, **asked):
        noise = draw(**asked)
        return np.full_like(noise, noise[0])

    noise_by(monkeypatch, share)


def share_noise_between_two_cells(monkeypatch):
    def share(draw, **asked):
        noise = draw(**asked)
        noise[-1] = noise[0]
        return noise

    noise_by(monkeypatch, share)


def use_noise_again_for_the_next_question(monkeypatch):
    kept = {}
    noise_by(
        monkeypatch, lambda draw, *, size, **rest: kept.setdefault(size, draw(size=size, **rest))
    )


def charge_selections_as_half(monkeypatch):
    monkeypatch.setattr(SelectionEvent, "rho", property(lambda self: self.epsilon**2 / 16))


def take_twice_the_epsilon_of_a_selection(monkeypatch):
    costing = SelectionEvent.costing
    monkeypatch.setattr(SelectionEvent, "costing", lambda rho, **about: costing(4 * rho, **about))
    monkeypatch.setattr(SelectionEvent, "rho", property(lambda self: self.epsilon**2 / 32))


def select_twice_as_sharply(monkeypatch):
    draw = private_table.exponential_mechanism
    monkeypatch.setattr(
        private_table,
        "exponential_mechanism",
        lambda gaps, per_unit, bits: draw(gaps, 2 * per_unit, bits),
    )


def charge_marginals_as_half(monkeypatch):
    halved = property(lambda self: self.sensitivity_squared / (4 * self.sigma_squared))
    monkeypatch.setattr(MarginalEvent, "rho", halved)


def charge_scores_as_one(monkeypatch):
    monkeypatch.setattr(
        ScoresEvent, "rho", property(lambda self: self.sensitivity**2 / (2 * self.sigma_squared))
    )


def charge_trees_as_half(monkeypatch):
    monkeypatch.setattr(PrivTreeEvent, "rho", property(lambda self: self.epsilon**2 / 16))


def forget_to_charge_one_marginal(monkeypatch):
    charge = ledger.PrivacyLedger.charge
    monkeypatch.setattr(
        ledger.PrivacyLedger,
        "charge",
        lambda self, event: None if getattr(event, "clique", 0) == ("b",) else charge(self, event),
    )


def charge_one_marginal_in_secret(monkeypatch):
    def charge(self, event):
        original(self, event)
        self._events[-1:] = [] if getattr(event, "clique", None) == ("b",) else [event]

    original = ledger.PrivacyLedger.charge
    monkeypatch.setattr(ledger.PrivacyLedger, "charge", charge)


def forget_that_a_record_is_replaced(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l2_squared", 1)


def forget_that_a_record_is_replaced_in_scores(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l1", 1)


def forget_that_a_record_is_replaced_in_the_values_of(name):
    """A mutant that derives the domain of one column as if records came and went; all else is
    sound.
    """

    def mutate(monkeypatch):
        def forgetting(original):
            def ask(self, grid, *rest, **asked):
                with monkeypatch.context() as patch:
                    if grid.column == name:
                        patch.setattr(Adjacency, "marginal_l2_squared", 1)
                    return original(self, grid, *rest, **asked)

            return ask

        for question in ("histogram", "frequent"):
            monkeypatch.setattr(
                PrivateValues, question, forgetting(getattr(PrivateValues, question))
            )

    return mutate


def keep_all_rows_of_a_person(monkeypatch):
    monkeypatch.setattr(
        UnitRows,
        "ranks",
        lambda self, *_eligible: np.zeros(len(self._ids.rows.joined()), dtype=int),
    )


def halve_the_threshold(monkeypatch):
    original = private_values.partition_threshold
    monkeypatch.setattr(
        private_values, "partition_threshold", lambda **asked: original(**asked) // 2
    )


def convert_to_twice_the_budget(monkeypatch):
    original = Accounting.rho
    monkeypatch.setattr(Accounting, "rho", lambda self, **asked: 2 * original(self, **asked))


def read_the_levels(monkeypatch):
    def find_levels(values, budget):
        levels = listed(values._source.frequencies(Grid(column=budget.column.name)))[0]
        return FoundLevels(
            budget=budget,
            frequent=FrequentValues(dict.fromkeys(levels, 1e9), 0.0, 1.0, 1.0),
            reading=NoisyHistogram(np.empty(0), 0.0, 0.0, np.zeros(1), 1.0),
        )

    monkeypatch.setattr(learner, "find_levels", find_levels)


def estimate_with_the_exact_number(monkeypatch):
    def released(self):
        n = next(iter(self._table._kernel._source.counts_of([()])))
        return (*original.fget(self), LinearMeasurement((), n, 1e-3))

    original = FilledTable.released
    monkeypatch.setattr(FilledTable, "released", property(released))


def _noted_lengths(monkeypatch):
    """A list that gets the exact number of rows of each table that is read."""
    counted = []
    source = held_table.source_of
    monkeypatch.setattr(
        held_table,
        "source_of",
        lambda coded, schema: counted.append(len(coded.columns[0])) or source(coded, schema),
    )
    return counted


def state_the_exact_number(monkeypatch):
    counted = _noted_lengths(monkeypatch)
    monkeypatch.setattr(run_facts, "clear_total", lambda _: counted[-1])


def take_bits_by_the_records(monkeypatch):
    original = PrivateTable._counts

    def counts(self, cliques, coarsening):
        self._randomness.random_bytes(64 * int(next(iter(self._source.counts_of([()])))))
        return original(self, cliques, coarsening)

    monkeypatch.setattr(PrivateTable, "_counts", counts)


def charge_by_the_records(monkeypatch):
    original = PrivateTable.measure

    def measure(self, clique, *, rho, coarsening=None):
        n = int(next(iter(self._source.counts_of([()]))))
        return original(self, clique, rho=rho * Fraction(n + 1, 10**6), coarsening=coarsening)

    monkeypatch.setattr(PrivateTable, "measure", measure)


def fit_the_exact_number(monkeypatch):
    counted = _noted_lengths(monkeypatch)
    monkeypatch.setattr(graphical_model, "estimate_total", lambda _: float(counted[-1]))


def measure_once_more_without_a_charge(monkeypatch):
    original = Independent.release

    def measure_more(self, table, task):
        with monkeypatch.context() as patch:
            patch.setattr(ledger.PrivacyLedger, "charge", lambda *_: None)
            table.measure(table.domain.attributes, rho=40 * table.ledger.budget)
        return original(self, table, task)

    monkeypatch.setattr(Independent, "release", measure_more)
