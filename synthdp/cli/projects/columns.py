"""What is answered about the columns of a project, in a form.

Answers are texts by the place of a column and the name of a question, such as ``c0-2.kind`` for the
third column of the first table; the questions are `QUESTIONS`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, final

from synthdp.cli.planning.column_check import ColumnCheck, checked_column
from synthdp.cli.projects.declared import (
    Kind,
    content_of,
    distances,
    fixed_columns,
    kinds_of,
    rules_of,
    save_checked,
    save_kinds,
)
from synthdp.cli.projects.former import BOUNDS, before_distance, relative_to
from synthdp.cli.projects.project import OpenProject, ProjectError
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.linked.histories.history_package import ROWS
from synthdp.schema.kinds import IGNORE
from synthdp.schema.proposals import proposed_kind
from synthdp.schema.questions import (
    LOCALISED,
    MAX_SERIES,
    POSTCODE,
    QUESTIONS,
    FieldQuestion,
    SeriesError,
    answers_of_kind,
    kind_of_answers,
)

ASKED = ("kind", "more", *(each.name for each in QUESTIONS))
"""What is asked of a column."""

LEARNT = ("levels", "minimum", "maximum")
"""The questions whose answers are learnt, for a budget that is large enough, if nothing is said."""


def placed(tables: Mapping[str, Mapping[str, Kind]]) -> Iterator[tuple[str, str, str, Kind]]:
    """The place of each column, its table, its name and its kind."""
    for number, (table, kinds) in enumerate(tables.items()):
        for place, (name, kind) in enumerate(kinds.items()):
            yield f"c{number}-{place}", table, name, kind


def places_of(opened: OpenProject) -> dict[str, str]:
    """The places of columns by their names, of linked tables by both; what is said of one table
    with several rows a person calls it `ROWS`.
    """
    places = dict[str, str]()
    for place, table, name, _ in placed(kinds_of(opened)):
        places.setdefault(name, place)
        places.setdefault(f"{table or ROWS}.{name}", place)
    return places


def columns_named(opened: OpenProject, names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Those of the names that columns have: as their tables call them, as they were given, and
    their places.
    """
    places = places_of(opened)
    shortest = {place: name for name, place in [*places.items()][::-1]}
    found = {places[name]: name for name in names if name in places}
    return [
        (shortest[at] if name.startswith(f"{ROWS}.") else name, name, at)
        for at, name in found.items()
    ]


@final
class OpenPart(NamedTuple):
    """A column of which levels or bounds are left to be learnt."""

    place: str
    name: str
    given: Mapping[str, str]
    """The answers that stand there."""
    questions: Sequence[FieldQuestion]
    """What may be said in place of learning it."""


def open_parts(opened: OpenProject, answers: Mapping[str, Sequence[str]]) -> list[OpenPart]:
    """What of a table is left to be learnt, with what is answered; of linked tables, and of columns
    that are measured from others, nothing is asked so.
    """
    parts = list[OpenPart]()
    mark = opened.project.mark
    for place, table, name, kind in placed(kinds_of(opened)):
        given = answers_of_kind(kind, mark=mark)
        asked = [each for each in QUESTIONS if each.name in LEARNT and given["kind"] in each.kinds]
        is_open = not any(given.get(each.name) for each in asked)
        if (
            asked
            and is_open
            and not table
            and name != opened.project.unit
            and not relative_to(kind)
        ):
            typed = {
                each.name: next(iter(answers.get(f"{place}.{each.name}", ())), "") for each in asked
            }
            parts.append(OpenPart(place, name, given | typed, asked))
    return parts


def parts_said(
    opened: OpenProject, answers: Mapping[str, Sequence[str]]
) -> tuple[dict[str, dict[str, Kind]], ProjectError | None]:
    """The kinds of all columns with what is answered of `open_parts`, or that one is left out,
    whatever else is answered of that; and what refuses the last answer that is none, whose column
    stays as it was.
    """
    tables, refused = kinds_of(opened), None
    for part in open_parts(opened, answers):
        if IGNORE in answers.get(f"{part.place}.kind", ()):
            tables[""][part.name] = IGNORE
        elif any(part.given.get(each.name) for each in part.questions):
            try:
                tables[""][part.name] = kind_of_answers(part.given, mark=opened.project.mark)
            except ParameterError as error:
                refused = _refusal(part, error)
    return tables, refused


def _refusal(part: OpenPart, error: ParameterError) -> ProjectError:
    """What refuses the answers about a column, and which of them is looked at first."""
    text = f"column {part.name!r}: {error}"
    named = {"name": part.name, "field": part.questions[0].name}
    if isinstance(error, SeriesError):
        return ProjectError("series", text, **named, line=error.line, most=MAX_SERIES)
    return ProjectError("part", text, **named, said=f"{error}")


def save_parts(opened: OpenProject, answers: Mapping[str, Sequence[str]]) -> None:
    """Write what is answered of `open_parts`, if anything is.

    Raises `SynthdpError` if an answer is none, or if columns and rules contradict each other then.
    """
    kinds, refused = parts_said(opened, answers)
    if refused:
        raise refused
    if kinds != kinds_of(opened):
        save_checked(opened, content_of(opened), rules_of(opened), kinds=kinds)


@final
@dataclass(frozen=True, kw_only=True)
class AskedColumn:
    """A column that a form asks about."""

    place: str
    table: str
    name: str
    fixed: str
    """Why nothing need be said of it; empty if it need."""
    given: Mapping[str, str]
    """The answers that stand there."""
    said: ColumnCheck
    is_open: bool
    """Whether nothing was answered yet."""
    is_undecided: bool
    """Whether somebody should look at it once more."""

    @property
    def shown(self) -> list[FieldQuestion]:
        """The questions that stand in view: neither those that few columns need, nor those of what
        may be learnt, which of one table `open_parts` asks again where it matters.
        """
        return [each for each in QUESTIONS if not self._is_folded(each)]

    @property
    def folded(self) -> list[FieldQuestion]:
        """The others."""
        return [each for each in QUESTIONS if self._is_folded(each)]

    def _is_folded(self, question: FieldQuestion) -> bool:
        beside = BOUNDS if question.name in BOUNDS else (question.name,)
        is_learnt = question.name in LEARNT and not self.table
        return question.is_rare or (is_learnt and not any(map(self.given.get, beside)))


@final
@dataclass(frozen=True, kw_only=True)
class ColumnAnswers:
    """The answers of a form, with what its readers are used to where nothing is said."""

    opened: OpenProject
    answers: Mapping[str, Sequence[str]]
    """All that was answered of each name."""
    usual: Mapping[str, str] = field(default_factory=dict)
    """The word for what is rare (``other``), and where made-up persons live (``locale``)."""
    written: Mapping[str, str] = field(default_factory=dict)
    """How values of a kind are usually written, where numbers have a comma."""

    def of(self, place: str) -> dict[str, str]:
        """What was answered of a column; empty if nothing was."""
        if f"{place}.kind" not in self.answers:
            return {}
        given = {name: self.answers.get(f"{place}.{name}", ()) for name in ASKED}
        said = {name: next(iter(each), "") for name, each in given.items()}
        return self.with_usual(said | self._own_bounds(place, said))

    def _own_bounds(self, place: str, said: Mapping[str, str]) -> dict[str, str]:
        """The bounds of a column of which the answers take back that it is measured from another:
        as they were before, as those that were shown are of the distance, unless others are typed.
        """
        if said["relative_to"]:
            return {}
        mark = self.opened.project.mark
        for at, table, name, kind in placed(kinds_of(self.opened)):
            if at == place and isinstance(kind, Mapping) and relative_to(kind):
                shown = answers_of_kind(kind, mark=mark)
                typed = {key: said[key] for key in BOUNDS if said[key] != shown.get(key, "")}
                if any(typed.values()):
                    return {key: typed.get(key, "") for key in BOUNDS}
                own = before_distance(self.opened, table, name, kind)[0]
                return {key: answers_of_kind(own, mark=mark).get(key, "") for key in BOUNDS}
        return {}

    def proposed(self, name: str) -> dict[str, str]:
        """The answers that the name of a column suggests, which is public; empty without any."""
        kind = proposed_kind(name)
        if not kind:
            return {}
        asked = "words" if kind == "boolean" else "format"
        is_written = kind in self.written
        more = {asked: self.written[kind]} if self.opened.project.mark == "," and is_written else {}
        more |= {"bare": "on"} if kind == "number" else {}  # a unit may stand there, or none
        return self.with_usual({"kind": kind} | more)

    def with_usual(self, answers: dict[str, str]) -> dict[str, str]:
        """The answers about a column with what is usual."""
        if answers["kind"] == "categorical" and not answers.get("levels"):
            answers["other"] = answers.get("other") or self.usual.get("other", "")
        if answers["kind"] in LOCALISED:
            answers["locale"] = answers.get("locale") or self.usual.get("locale", "")
        return answers

    def kinds(self) -> tuple[dict[str, dict[str, Kind]], dict[str, str]]:
        """The kinds of all columns with those answered, and what refuses others, by places."""
        tables = kinds_of(self.opened)
        fixed = fixed_columns(self.opened)
        mark = self.opened.project.mark
        errors = dict[str, str]()
        for place, table, name, _ in [*placed(tables)]:
            try:
                if (given := self.of(place)) and (table, name) not in fixed:
                    tables[table][name] = kind_of_answers(given, mark=mark)
            except SynthdpError as error:
                errors[place] = f"column {name!r}: {error}"
        return tables, errors

    def asked(self) -> list[AskedColumn]:
        """Every column with what is answered of it, else declared, else suggested by its name."""
        tables, errors = self.kinds()
        fixed = fixed_columns(self.opened)
        mark = self.opened.project.mark
        asked = []
        for place, table, name, kind in [*placed(tables)]:
            given = self.of(place)
            kinds = tables[table]
            is_fixed = (table, name) in fixed
            given = given or answers_of_kind(kind, mark=mark)
            is_open = kind is None and not is_fixed and not given["kind"]
            is_seen = f"{place}.kind" in self.answers
            proposed = self.proposed(name) if is_open and not is_seen else {}
            if is_open:
                given = proposed or given
                kinds[name] = kind_of_answers(given)
            said = self._said(name, kinds, errors.get(place))
            is_decided = is_fixed or kinds[name]
            asked.append(
                AskedColumn(
                    place=place,
                    table=table,
                    name=name,
                    fixed=fixed.get((table, name), ""),
                    given=given,
                    said=said,
                    is_open=is_open,
                    is_undecided=bool(said.error or said.findings or not is_decided),
                )
            )
        return asked

    def said_of(self, place: str) -> ColumnCheck:
        """What is said of the column of a place; raises `ParameterError` if there is none."""
        tables, errors = self.kinds()
        for each, table, name, _ in placed(tables):
            if each == place:
                return self._said(name, tables[table], errors.get(place))
        raise ParameterError("there is no such column; open the page again")

    def save(
        self,
        tables: Mapping[str, Mapping[str, Kind]],
        *,
        said: str | None = None,
        of: Collection[str] | None = None,
        missing: str | None = None,
    ) -> None:
        """Write the kinds of all columns, with one that is ``said`` of those of some places, or of
        all that have none; of words for "missing" see `save_kinds`.
        """
        fixed = fixed_columns(self.opened)
        filled = {table: {**kinds} for table, kinds in tables.items()}
        for place, table, name, kind in [*placed(filled)]:
            is_meant = kind is None if of is None else place in of
            if said is not None and is_meant and (table, name) not in fixed:
                filled[table][name] = kind_of_answers(self.with_usual({"kind": said}))
        rules = rules_of(self.opened)
        save_kinds(self.opened, *distances(filled, rules), missing=missing)

    def _said(self, name: str, kinds: Mapping[str, Kind], error: str | None) -> ColumnCheck:
        """What is said of a column as it is declared, with those that it is relative to."""
        if error:
            return ColumnCheck(error=error)
        project = self.opened.project
        said = checked_column(name, kinds, dialect=project.dialect)
        shown = answers_of_kind(kinds[name])
        # Their bins are many, which is said of others: so many are what was chosen with the kind.
        is_usual = shown["kind"] == POSTCODE and "bins" not in shown
        return replace(said, findings=()) if is_usual else said
