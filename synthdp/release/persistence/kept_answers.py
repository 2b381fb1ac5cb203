"""What a journal tells without its run: what was asked, at what cost, and the answers, all of it
paid for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from os import PathLike
from typing import Any, NoReturn, Self, TypeAlias, final

import numpy as np

from synthdp.core.domain import Domain
from synthdp.core.errors import DataFileError, SynthdpError
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.data.records.derived_column import names_of_prediction
from synthdp.learning.filling import Filling, UnreadCount
from synthdp.learning.reading_check import CHECK
from synthdp.learning.refilling import refilled
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.events import Event, MarginalEvent
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.queryable import Answer
from synthdp.privacy.unit import Adjacency
from synthdp.release.persistence.chained_file import ChainedFile
from synthdp.release.persistence.checks import checked_path
from synthdp.release.persistence.journal import (
    BARE_FORMAT,
    WHAT,
    check_header,
    has_ended,
    made_by,
    remark_at,
    when_in,
)
from synthdp.release.persistence.kept_events import (
    MAX_ANSWER_BYTES,
    answer_in,
    event_in,
    merging_in,
)
from synthdp.schema.schema import Schema

NO_RUN = "its lines are no run's; give a file that synthdp wrote"


KeptAnswer: TypeAlias = tuple[Event, Answer, Coarsening | None]
"""What was asked, what came back, and which levels were merged before counting."""


@final
class _Entries:
    """What the lines of a journal say, collected one after the other."""

    def __init__(self) -> None:
        self.answers: list[KeptAnswer] = []
        self.notes: list[Mapping[str, Any]] = []
        self.views: list[tuple[str, int]] = []
        self.workload: Mapping[str, object] | None = None
        self.stated_views: Mapping[str, Any] | None = None
        self.checks = slice(0, 0)
        """Which of the answers are of a check whether columns are read."""

    def add(self, entry: Mapping[str, Any]) -> None:
        """Take the next line; raises `ValueError` if it says nothing that a journal can."""
        if "learnt" in entry:
            self.notes.append(entry)
        elif "view" in entry:
            # A view is noted before its answers: how many answers there were by then says where
            # they begin.
            self.views.append((str(entry["view"]), len(self.answers)))
        elif "views" in entry:
            self.stated_views = {**(self.stated_views or {}), **_views_in(entry["views"])}
        elif "workload" in entry:
            self.workload = _workload_in(entry["workload"])
        elif CHECK in entry:
            first = len(self.answers)
            self.checks = slice(first, first + _number_in(entry[CHECK]))
        else:
            self.answers.append((event_in(entry.get("event")), answer_in(entry), merging_in(entry)))


@final
@dataclass(frozen=True, kw_only=True)
class KeptAnswers:
    """A journal that is read and not gone on with."""

    path: str
    """Where it is."""
    header: Mapping[str, Any]
    """Its first line: ``settings`` and ``facts`` of the run, and the software that it was
    ``made_by``.
    """
    answers: tuple[KeptAnswer, ...]
    """What was asked, and what came back, in order."""
    notes: tuple[Mapping[str, Any], ...]
    """Columns that were learnt, as plain JSON values, in order."""
    workload: Mapping[str, object] | None = None
    """What a certificate says of the workload over the domain that was learnt; None if none was,
    or none yet.
    """
    has_ended: bool = False
    """Whether the run asked for all that it wanted."""
    hashes: tuple[str, ...] = ()
    """The hash of each line."""
    resumed: tuple[str, ...] = ()
    """The days, in UTC, on which the run was gone on with."""
    budgets: tuple[Mapping[str, str], ...] = ()
    """Of each budget that the run is charged to the ``path``, and the hash of its ``first`` line.
    """
    cut: str = ""
    """Where the file ends within a line, in words."""
    checked: tuple[Event, ...] = ()
    """What was asked to see whether columns are read at all: paid for, and no part of a release."""
    views: tuple[tuple[str, int], ...] = ()
    """Of linked tables each view that was begun, with the number of answers before it."""
    stated_views: Mapping[str, Any] | None = None
    """What each of these may cost and is asked, as it was said last; those that it was not said of
    again are in the header.
    """

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Self:
        """Read a journal.

        Raises
        ------
        DataFileError
            If it cannot be read, a run holds it, it is damaged, or it holds too little to be read
            without its run.
        """
        with ChainedFile(
            checked_path(path, WHAT), what=WHAT, patience=0, is_writable=False
        ) as file:
            # The first line says what all others mean, so it is checked before any of them is read.
            header = file.entry(0)
            check_header(file, header)
            _check_has_schema(file, header)
            ended = has_ended(file)
            remarks = list[dict[str, Any]]()
            entries = _Entries()
            # A journal that ended has one line more than answers: the one that says so.
            for number in range(1, len(file) - ended):
                if (remark := remark_at(file, number)) is not None:
                    remarks.append(remark)
                    continue
                # The file may be anybody's, and a line is read whole: so its length is limited
                # before it is parsed.
                entry = file.entry(number, most_bytes=MAX_ANSWER_BYTES)
                try:
                    entries.add(entry)
                except ValueError:
                    file.refuse(f"line {number + 1} is no answer; give a file that synthdp wrote")
            # Taken while the file is open: nobody can have added a line in between.
            hashes = file.hashes
            cut = file.cut
        # They come once, after what is learnt and before all views.
        checked = [event for event, _, _ in entries.answers[entries.checks]]
        del entries.answers[entries.checks]
        return cls(
            path=str(path),
            header=header,
            answers=tuple(entries.answers),
            notes=tuple(entries.notes),
            workload=entries.workload,
            has_ended=ended,
            hashes=hashes,
            resumed=tuple(each["resumed"] for each in remarks if "resumed" in each),
            budgets=tuple(each["budget"] for each in remarks if "budget" in each),
            cut=cut,
            checked=tuple(checked),
            views=tuple((label, number - len(checked)) for label, number in entries.views),
            stated_views=entries.stated_views,
        )

    @property
    def run(self) -> str:
        """Identifier of the run."""
        return str(self.header["run"])

    @property
    def when(self) -> str | None:
        """When the run began, in UTC; None if an earlier version began it."""
        return when_in(self.header)

    @property
    def is_linked(self) -> bool:
        """Whether it is of linked tables, whose answers come view by view."""
        facts = self.header.get("facts")
        return isinstance(facts, Mapping) and "package" in facts

    @property
    def before_views(self) -> tuple[Event, ...]:
        """Of linked tables what was asked before their first view: to learn open columns."""
        first = self.views[0][1] if self.views else len(self.answers)
        return tuple(event for event, _, _ in self.answers[:first])

    def by_view(self) -> dict[str, Self]:
        """What it holds of each view of linked tables; raises `ValueError` if an answer of one
        comes before it, or a view comes twice.
        """
        # The answers of a view reach from its note to the next one. Before the first one marginals
        # are nobody's.
        ends = [*(first for _, first in self.views), len(self.answers)]
        is_learning = not any(isinstance(event, MarginalEvent) for event in self.before_views)
        if not is_learning or len({label for label, _ in self.views}) < len(self.views):
            raise ValueError("not the answers of views")
        return {
            label: replace(self, answers=self.answers[first:end], views=())
            for (label, first), end in zip(self.views, ends[1:], strict=True)
        }

    def ledger(self) -> PrivacyLedger:
        """The ledger of the run, charged with all that was answered.

        Raises `SynthdpError`, `ArithmeticError`, `KeyError`, `TypeError` or `ValueError` if the
        answers are not those of such a run.
        """
        settings = self.header["settings"]
        # Charged anew, event by event: a journal that claims answers beyond its budget is refused
        # here, and the sum in the file need not be believed.
        ledger = PrivacyLedger(
            epsilon=settings["epsilon"],
            delta=settings["delta"],
            adjacency=Adjacency(settings["adjacency"]),
            accounting=Accounting(settings["accounting"]),
            max_rows_per_unit=settings["max_rows_per_unit"],
            unit_column=settings["unit"],
            failure_delta=float(self.header["facts"]["failure_delta"]),
        )
        for event in self.events:
            ledger.charge(event)
        return ledger

    @property
    def events(self) -> tuple[Event, ...]:
        """All that was paid for, checks first."""
        return (*self.checked, *(event for event, _, _ in self.answers))

    def measurements(
        self, schema: Schema, placed: Domain
    ) -> tuple[list[LinearMeasurement], dict[str, UnreadCount]]:
        """The marginals that were measured, and what they say of unread values.

        Parameters
        ----------
        schema
            As it was declared, or learnt.
        placed
            Its domain with places for unread values, by which rows were counted; counts from
            elsewhere have none.

        Raises
        ------
        SynthdpError, ValueError
            If they do not fit it.
        """
        asked: list[LinearMeasurement | None] = []
        answered: list[LinearMeasurement] = []
        # Of an earlier version unread values alone had places.
        fewer = schema.with_unread_places(
            name for name in schema.names if placed[name] > schema.domain[name]
        ).domain
        # How well a target is predicted is asked of columns that no schema has.
        target = self.header["settings"].get("target")
        of_quality = set() if target is None else {*names_of_prediction(target)} - {*schema.names}
        marginals = [
            (event, answer, merging)
            for event, answer, merging in self.answers
            if isinstance(event, MarginalEvent) and of_quality.isdisjoint(event.clique)
        ]
        for domain in (placed, fewer):
            if any(_is_over(domain, *each) for each in marginals):
                placed = domain
                break
        filling = Filling(schema, placed)
        for event, answer, merging in marginals:
            # An answer is a flat list of numbers. Its length tells whether rows were counted with
            # places for unread values, which the event alone does not say.
            has_places = not _is_over(schema.domain, event, answer, merging)
            domain = placed if has_places else schema.domain
            shape = (merging.domain(domain) if merging else domain).project(event.clique).shape
            values = answer.numbers.reshape(shape).astype(np.float64)
            measurement = LinearMeasurement(event.clique, values, event.stddev, merging)
            asked.append(measurement if has_places else None)
            answered.append(filling.answered(measurement) if has_places else measurement)
        return refilled(filling, asked, answered), filling.unread

    def described(self) -> dict[str, Any]:
        """All that is in it but the answers themselves, as plain JSON values.

        Raises `DataFileError` if it is not as synthdp writes it.
        """
        try:
            ledger = self.ledger()
            learnt = [field["name"] for note in self.notes for field in note["learnt"]["fields"]]
            budget = {"rho_spent": float(ledger.spent), "rho_budget": float(ledger.budget)}
        except (ArithmeticError, KeyError, SynthdpError, TypeError, ValueError):
            self.refuse(NO_RUN)
        # Other software may plan other questions, so that a run could go on only with the same.
        same = self.header.get("made_by") == made_by()
        return {
            "run": self.header["run"],
            "settings": dict(self.header["settings"]),
            "made_by": str(self.header.get("made_by")),
            "is_same_software": same,
            "when": self.when,
            "resumed": list(self.resumed),
            "budgets": [dict(budget) for budget in self.budgets],
            "cut": self.cut or None,
            "complete": self.has_ended,
            "is_linked": self.is_linked,
            "learnt": learnt,
            "events": [event.to_dict() for event in self.events],
            **budget,
        }

    def refuse(self, problem: str) -> NoReturn:
        """Raise `DataFileError` with the name of the file."""
        raise DataFileError(f"{WHAT} {self.path!r}: {problem}")


def _is_over(
    domain: Domain, event: MarginalEvent, answer: Answer, merging: Coarsening | None
) -> bool:
    """Whether an answer, a flat list of numbers, is of the cells that a domain has."""
    groups = merging.groups if merging else {}
    size = prod(
        int(groups[name].max()) + 1 if name in groups else domain[name] for name in event.clique
    )
    return answer.numbers.size == size and all(len(groups[name]) == domain[name] for name in groups)


def _number_in(content: Any) -> int:
    """How many answers are a check whether columns are read; raises `ValueError` if it is something
    else.
    """
    if type(content) is not int or content < 0:
        raise ValueError("no number of answers")
    return content


def _views_in(value: object) -> dict[str, Any]:
    """What is noted of views; raises `ValueError` if it is no such note."""
    if not isinstance(value, dict):
        raise ValueError("a note of views is an object")
    return value


def _check_has_schema(file: ChainedFile, header: Mapping[str, Any]) -> None:
    """Refuse a journal that kept no schema beside its answers."""
    if header["format"] == BARE_FORMAT:
        before = header.get("made_by")
        file.refuse(
            f"it is of an earlier version, which kept no schema beside answers: go on with it, by the command "
            f"that it is of, where software is the same ({header['settings'].get('software')}; {before})"
        )


def _workload_in(content: Any) -> dict[str, object]:
    """What a run noted of its workload; raises `ValueError` if it is something else."""
    kinds = {"n_marginals": int, "columns_at_most": int, "target": str}
    if (
        not isinstance(content, dict)
        or {*content} | {"target"} != {*kinds}
        or any(type(each) is not kinds[name] for name, each in content.items())
    ):
        raise ValueError("no workload")
    return content
