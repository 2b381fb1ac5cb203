"""The deterministic audit: every claim of a mechanism, on neighbouring tables with frozen noise."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, final

import numpy as np
import pandas as pd

from synthdp.audit.asking.neighbours import DOMAINS, Neighbours, worst_case
from synthdp.audit.claims import ledger_excess
from synthdp.audit.frozen import FrozenRandomness
from synthdp.audit.kernel_draws import draw_excess
from synthdp.audit.replay import Recorder, Replayer, excess
from synthdp.core.cliques import all_k_way
from synthdp.core.sealing import SEAL
from synthdp.inference.engine import Engine
from synthdp.learning.budgets import is_gaussian
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency
from synthdp.release.registry import as_mechanism
from synthdp.release.release import Release
from synthdp.release.run_settings import RunSettings
from synthdp.release.synthesis import Synthesis

QUICK_ENGINE = "graphical-model"
"""Exact where the others are not, and quick on small tables: an audit is about what an engine is
given.
"""

EPSILONS = (1.0, 20.0)
"""Budgets at which noise hides everything, and nothing."""

DELTA = 1e-2


def check_mechanism(
    mechanism: str | Mechanism,
    *,
    neighbours: Sequence[Neighbours] = (),
    engine: str | Engine = QUICK_ENGINE,
    epsilons: Sequence[float] = EPSILONS,
    seed: int = 0,
) -> list[str]:
    """Run a mechanism on neighbouring tables with frozen noise, and say what contradicts its
    guarantee.

    A run is recorded; then the same run on a neighbouring table is given the same answers. All that
    it asks and makes of them must be the same, for it may see released values only. The exact
    answers to each question may differ by what its event declares, the noisy ones must have the
    noise that the event says, with bits of its own for each question, and what is charged must add
    up to a budget that gives the guarantee.

    What it finds is wrong for sure; what it does not try it cannot find. Noise is frozen and
    protects nobody: use tables that are made up.

    Parameters
    ----------
    mechanism
        A mechanism, or the name of one.
    neighbours
        Pairs of tables; by default worst cases of declared and derived domains, with records that
        come or are replaced and with persons, also of several levels, and a table of dependent
        columns.
    engine
        Fits the measurements.
    epsilons
        The budgets, at delta 1e-2, by each accounting that the mechanism allows.
    seed
        Which noise.

    Returns
    -------
    list of str
        What is wrong; empty if nothing was found.

    Raises
    ------
    ParameterError
        If the mechanism is unknown, or does not take the tables.

    >>> check_mechanism("independent", epsilons=[1.0])
    []
    """
    mechanism = as_mechanism(mechanism)
    excesses = list(draw_excess())
    for pair in neighbours or default_neighbours():
        all_noise_is_gaussian = mechanism.is_gaussian and is_gaussian(pair.open_schema)
        for accounting, epsilon in product(Accounting, epsilons):
            # Gaussian accounting is no claim about a mechanism with other noise; a release would
            # refuse it.
            if accounting is Accounting.GDP and not all_noise_is_gaussian:
                continue
            budget = {"epsilon": epsilon, "accounting": accounting}
            runs = _Runs(mechanism, pair, engine, budget, seed)
            about = f"{mechanism.name}, {pair.name}, {accounting.value}, epsilon {epsilon:g}"
            excesses += [f"{about}: {text}" for text in runs.excess()]
    return excesses


@final
@dataclass(frozen=True)
class _Runs:
    """A run and its replay on a neighbour, under one budget."""

    mechanism: Mechanism
    pair: Neighbours
    engine: str | Engine
    budget: dict[str, Any]
    seed: int
    steps: tuple[list[tuple[str, int, int]], ...] = field(default_factory=lambda: ([], []))

    def excess(self) -> Iterator[str]:
        """What is wrong, question by question, then with the ledger and the outcome."""
        # The noise is the same in both runs, and so are the answers: whatever still differs can
        # only come from the records.
        table, neighbour = self.pair.truths
        recorder = Recorder(table, FrozenRandomness(self.seed))
        release = self._release(recorder)
        one = release.of(table.rows, observer=recorder, report=self._report(0))
        replayer = Replayer(neighbour, FrozenRandomness(self.seed), recorder.asked)
        try:
            replayed = self._release(replayer)
            other = replayed.of(neighbour.rows, observer=replayer, report=self._report(1))
        # The same answers were given, so only the records can be to blame.
        except Exception as error:  # whatever it is, it did not happen on the first table
            yield f"the neighbour, given the same answers, fails with {type(error).__name__}"
            other = None
        yield from excess(recorder, replayer, release.ledger.unit)
        yield from ledger_excess(release.ledger)
        # Every charge belongs to a question; one that does not is for something nobody saw.
        if len(release.ledger.events) != sum(len(asked.events) for asked in recorder.asked):
            yield "something was charged that was not asked for"
        if other is not None:
            shown = visible(one)
            again = visible(other)
            for what, value in shown.items():
                if again[what] != value:
                    yield (
                        f"the {what} of the neighbour, given the same answers, differs: it depends "
                        "on the records"
                    )
        # Progress is on the screen of whoever runs it, and in the log.
        if self.steps[0] != self.steps[1]:
            yield "progress depends on the records"

    def _release(self, recorder: Recorder) -> Release:
        settings = RunSettings(
            delta=DELTA,
            mechanism=self.mechanism,
            engine=self.engine,
            adjacency=self.pair.adjacency,
            unit=self.pair.unit,
            max_rows_per_unit=self.pair.max_rows_per_unit,
            **self.budget,
        )
        return Release(schema=self.pair.open_schema, settings=settings, randomness=recorder.bits)

    def _report(self, run: int) -> Any:
        return lambda *step: self.steps[run].append(step)


def visible(synthesis: Synthesis) -> dict[str, object]:
    """Everything that a release shows, in values that can be compared."""
    attributes = synthesis.model.domain.attributes
    cliques = [*all_k_way(attributes, 1), *all_k_way(attributes, min(2, len(attributes)))]
    marginals = [factor.values.tolist() for factor in synthesis.model.marginals(cliques)]
    measurements = []
    for each in synthesis.measurements:
        groups = {name: levels.tolist() for name, levels in each.groups.items()}
        stddev = np.asarray(each.stddev).tolist()
        measurements.append((each.clique, each.values.tolist(), stddev, groups))
    return {
        "schema": json.dumps(synthesis.schema.to_dict()),
        "certificate": json.dumps(without_run(synthesis.certificate), default=str),
        "set of measurements": measurements,
        "model": [float(synthesis.model.total), *marginals],
    }


def without_run(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """What a certificate says but for when its run began and how that is called, which no record
    has to do with.
    """
    return {name: value for name, value in certificate.items() if name not in ("run", SEAL)}


def default_neighbours() -> list[Neighbours]:
    """Worst cases, a person of several levels, and a table of dependent columns of many levels that
    gets a record of rare ones.
    """
    of_records = [worst_case(domain, adjacency) for domain in DOMAINS for adjacency in Adjacency]
    of_persons = [worst_case(domain, max_rows=3) for domain in DOMAINS]
    return [*of_records, *of_persons, several_levels(), dependent_columns()]


def several_levels(max_rows: int = 3) -> Neighbours:
    """Persons of one row each, and one whose rows have a level each that nobody else has: of equal
    rows nobody sees whether levels share the weight of their person.
    """
    alike = worst_case("derived", max_rows=max_rows)
    assert alike.unit is not None
    # One row more than may be used, so that the audit notices if the limit were not kept.
    rows = [
        {**alike.one.iloc[0], "town": f"canary {number}", alike.unit: "canary"}
        for number in range(max_rows + 1)
    ]
    return replace(
        alike,
        name=f"several levels, {max_rows} rows a person",
        other=pd.concat([alike.one, pd.DataFrame(rows, dtype=object)], ignore_index=True),
    )


def dependent_columns() -> Neighbours:
    """Columns of 2, 4 and 9 levels that follow one hidden number; the record that comes has the
    rarest of all.
    """
    n_rows = 400
    sizes = {"a": 2, "b": 4, "c": 9}
    # A table must be the same in every run, or a finding could not be looked into.
    rng = np.random.default_rng(0)
    hidden = rng.random(n_rows)[:, None] + rng.normal(0, 0.1, (n_rows, len(sizes)))
    # Other powers for other columns, so that none is a copy of another.
    powers = np.arange(1, len(sizes) + 1)
    codes = (np.clip(hidden, 0, 0.999) ** powers * list(sizes.values())).astype(int)
    one = pd.DataFrame(codes.astype(str), columns=list(sizes), dtype=object)
    rare = {name: str(size - 1 if name == "b" else 0) for name, size in sizes.items()}
    fields = []
    for name, size in sizes.items():
        constraints = {"enum": list(map(str, range(size))), "required": True}
        fields.append({"name": name, "type": "string", "constraints": constraints})
    return Neighbours(
        name="dependent columns, add-remove",
        schema={"fields": fields},
        one=one,
        other=pd.concat([one, pd.DataFrame([rare], dtype=object)], ignore_index=True),
    )
