"""What is answered about the columns of a project, in a form.

Answers are texts by the place of a column and the name of a question, such as ``c0-2.kind`` for the
third column of the first table; the questions are `QUESTIONS`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from synthdp.cli.planning.column_check import ColumnCheck, checked_column
from synthdp.cli.projects.declared import Kind, fixed_columns, kinds_of
from synthdp.cli.projects.project import OpenProject
from synthdp.core.errors import SynthdpError
from synthdp.linked.histories.history_package import ROWS
from synthdp.schema.proposals import proposed_kind
from synthdp.schema.questions import LOCALISED, QUESTIONS, kind_of_answers

ASKED = ("kind", "more", *(each.name for each in QUESTIONS))
"""What is asked of a column."""


def placed(tables: Mapping[str, Mapping[str, Kind]]) -> Iterator[tuple[str, str, str, Kind]]:
    """The place of each column, its table, its name and its kind."""
    for number, (table, kinds) in enumerate(tables.items()):
        for place, (name, kind) in enumerate(kinds.items()):
            yield f"c{number}-{place}", table, name, kind


def places_of(opened: OpenProject) -> dict[str, str]:
    """The places of columns by their names, of linked tables by both; what is said of one table with
    several rows a person calls it `ROWS`.
    """
    places = dict[str, str]()
    for place, table, name, _ in placed(kinds_of(opened)):
        places.setdefault(name, place)
        places.setdefault(f"{table or ROWS}.{name}", place)
    return places


def columns_named(opened: OpenProject, names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Those of the names that columns have: as their tables call them, as they were given, and their
    places.
    """
    places = places_of(opened)
    shortest = {place: name for name, place in [*places.items()][::-1]}
    found = {places[name]: name for name in names if name in places}
    return [
        (shortest[at] if name.startswith(f"{ROWS}.") else name, name, at)
        for at, name in found.items()
    ]


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
        return self.with_usual({name: next(iter(each), "") for name, each in given.items()})

    def proposed(self, name: str) -> dict[str, str]:
        """The answers that the name of a column suggests, which is public; empty without any."""
        kind = proposed_kind(name)
        if not kind:
            return {}
        asked, is_written = "words" if kind == "boolean" else "format", kind in self.written
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
        tables, fixed = kinds_of(self.opened), fixed_columns(self.opened)
        mark, errors = self.opened.project.mark, dict[str, str]()
        for place, table, name, _ in [*placed(tables)]:
            try:
                if (given := self.of(place)) and (table, name) not in fixed:
                    tables[table][name] = kind_of_answers(given, mark=mark)
            except SynthdpError as error:
                errors[place] = f"column {name!r}: {error}"
        return tables, errors

    def said(self, name: str, kinds: Mapping[str, Kind], error: str | None) -> ColumnCheck:
        """What is said of a column as it is declared, with those that it is relative to."""
        if error:
            return ColumnCheck(error=error)
        project = self.opened.project
        learns = not project.is_linked
        return checked_column(name, kinds, dialect=project.dialect, learns_bins=learns)
