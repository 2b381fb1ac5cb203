"""Whole runs under the audit: one is recorded, and replayed on a neighbouring table that is told the
same answers.
"""

import pytest

from synthdp.audit import FrozenRandomness, Recorder, Replayer, excess, ledger_excess, worst_case
from synthdp.data import CodedSource
from synthdp.privacy import Adjacency
from synthdp.release import Release, RunSettings

PAIRS = {
    "add-remove": {"adjacency": Adjacency.ADD_REMOVE},
    "replace-one": {"adjacency": Adjacency.REPLACE_ONE},
    "persons": {"max_rows": 3},
}
"""Neighbours, by the unit of privacy."""


def asked_and_paid(released):
    """How many marginals a run asks the records for, and of how many its ledger knows."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        counts = CodedSource.counts_of
        patch.setattr(
            CodedSource,
            "counts_of",
            lambda self, cliques: asked.extend(cliques) or counts(self, cliques),
        )
        events = released().certificate["events"]
    return len(asked), sum(event.get("n_candidates", 1) for event in events)


def problems(case, said, *, asked, **settings):
    """What the audit says of a run and its replay.

    Parameters
    ----------
    case
        One of `PAIRS`.
    said
        An entry of the certificate that has to be there, and the same in both.
    asked
        A text in the key of a question that has to be asked.
    settings
        Of the run, over columns a, b and c.
    """
    pair = worst_case("declared", **PAIRS[case])
    of_the_pair = {
        "adjacency": pair.adjacency,
        "unit": pair.unit,
        "max_rows_per_unit": pair.max_rows_per_unit,
    }

    def run(witness, table):
        release = Release(
            schema=pair.open_schema,
            settings=RunSettings(epsilon=1.0, delta=1e-2, **of_the_pair, **settings),
            randomness=witness.bits,
        )
        return release, release.of(table.rows, observer=witness).certificate[said]

    recorder = Recorder(pair.truths[0], FrozenRandomness(0))
    release, one = run(recorder, pair.truths[0])
    replayer = Replayer(pair.truths[1], FrozenRandomness(0), recorder.asked)
    _, other = run(replayer, pair.truths[1])
    found = [*excess(recorder, replayer, release.ledger.unit), *ledger_excess(release.ledger)]
    if len(release.ledger.events) != sum(len(each.events) for each in recorder.asked):
        found.append("something was charged that was not asked for, or not charged")
    if one != other:
        found.append(f"{said} depends on the records")
    keys = [str(each.question.key) for each in recorder.asked]
    assert any(asked in key for key in keys), keys
    return found, one
