"""Step 2: what each column holds, and what is to be learnt of it."""

from collections.abc import Iterator
from typing import Any

from synthdp.cli.planning.column_check import ColumnCheck, checked_column
from synthdp.cli.projects.declared import (
    Kind,
    check,
    checked,
    distances,
    kinds_of,
    missing_words,
    resources,
    rules_of,
    save_kinds,
)
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.linked.histories.history_package import ROWS
from synthdp.linked.package.kinds import keys_of, kinds_in
from synthdp.schema.code_books import code_book, with_levels_of_tables
from synthdp.schema.keys import OWN
from synthdp.schema.proposals import proposed_kind
from synthdp.schema.questions import (
    ANSWERED_KINDS,
    LOCALISED,
    QUESTIONS,
    answers_of_kind,
    kind_of_answers,
)

GENERAL = ("kind", "more", *(each.name for each in QUESTIONS))
"""What is asked of a column."""


def columns_view(visit: Visit) -> dict[str, Any]:
    """Every column with its inputs, and what is said of it."""
    (kinds, errors), fixed = _typed(visit), _fixed(visit)
    tables = dict[str, list[dict[str, Any]]]((table, []) for table in kinds)
    is_open, n_proposed, undecided = False, 0, dict[str, str]()
    for place, table, name, kind in [*_placed(kinds)]:
        inputs, is_proposed = _sent(visit, place) or answers_of_kind(kind, mark=visit.mark), False
        if kind is None and (table, name) not in fixed and not inputs["kind"]:
            proposed = {} if f"{place}.kind" in visit.form else _proposed(visit, name)
            is_open, is_proposed, inputs = True, bool(proposed), proposed or inputs
            n_proposed += is_proposed
            kinds[table][name] = kind_of_answers(inputs)
        said = _said(visit, name, kinds[table], errors.get(place))
        if said.error or said.findings or not (kinds[table][name] or (table, name) in fixed):
            undecided[place] = name
        column = {"id": place, "name": name, "fixed": fixed.get((table, name), ""), "said": said}
        tables[table].append({**column, "inputs": inputs, "is_proposed": is_proposed})
    facts, problem = ({}, "") if is_open else checked(visit.opened)
    found = facts.get("findings", ())
    return {
        "tables": tables,
        "kinds": ANSWERED_KINDS,
        "questions": QUESTIONS,
        "is_open": is_open,
        "n_proposed": n_proposed,
        "undecided": undecided,
        "missing": visit.text("missing") or ", ".join(missing_words(visit.opened)),
        "book": visit.text("book"),
        "holds": visit.text("holds") or "codes",
        "problem": problem,
        "findings": [
            f"{each['what']}; {each['way_out']}" for each in found if not each.get("columns")
        ],
    }


def save_columns(visit: Visit) -> str:
    """Save all columns, or fill them in from a code book."""
    (filled, errors), fixed = _typed(visit), _fixed(visit)
    if not any(filled.values()):
        raise visit.refusal("columns")
    if errors:
        raise ParameterError("; ".join(errors.values()))
    if visit.action == "book":
        filled = _with_code_book(visit, filled)
    ticked = visit.texts_of("some") if visit.action == "some" else []
    for place, table, name, kind in [*_placed(filled)]:
        is_rest = visit.action == "rest" and kind is None
        if (is_rest or place in ticked) and (table, name) not in fixed:
            said = {"kind": "categorical" if is_rest else visit.text("some_kind")}
            filled[table][name] = kind_of_answers(_with_usual(visit, said))
    visit = visit.saved()
    words = visit.text("missing") if "missing" in visit.form else None
    save_kinds(visit.opened, *distances(filled, rules_of(visit.opened)), missing=words)
    if visit.action != "go_on":
        return "/columns"
    if not visit.project.is_linked:  # whose keys are named in the next step
        check(visit.opened)
    visit.saved(walked=2)
    return "/people"


def said_of_form(visit: Visit) -> dict[str, Any]:
    """What is said of the one column whose inputs are sent, as they are typed."""
    kinds, errors = _typed(visit)
    for place, table, name, _ in _placed(kinds):
        if place == visit.text("id"):
            said = _said(visit, name, kinds[table], errors.get(place))
            return {"said": said, "inputs": _sent(visit, place)}
    raise ParameterError("there is no such column; open the page again")


def places_of(visit: Visit) -> dict[str, str]:
    """Where columns stand on the page, by their names, of linked tables by both; what is said of one
    table with several rows a person calls it `ROWS`.
    """
    places = dict[str, str]()
    for place, table, name, _ in _placed(kinds_of(visit.opened)):
        places.setdefault(name, place)
        places.setdefault(f"{table or ROWS}.{name}", place)
    return places


def _placed(tables: dict[str, dict[str, Kind]]) -> Iterator[tuple[str, str, str, Kind]]:
    """Where each column stands on the page, its table, its name and its kind."""
    for number, (table, kinds) in enumerate(tables.items()):
        for place, (name, kind) in enumerate(kinds.items()):
            yield f"c{number}-{place}", table, name, kind


def _said(visit: Visit, name: str, kinds: dict[str, Kind], error: str | None) -> ColumnCheck:
    """What is said of a column as it is declared, with those that it is relative to."""
    if error:
        return ColumnCheck(error=error)
    learns_bins = not visit.project.is_linked
    return checked_column(name, kinds, dialect=visit.project.dialect, learns_bins=learns_bins)


def _fixed(visit: Visit) -> dict[tuple[str, str], str]:
    """The columns of linked tables of which nothing is asked: keys, and those of public tables."""
    keys = {(each["name"], key): "key" for each in resources(visit.opened) for key in keys_of(each)}
    listed = [each for each in resources(visit.opened) if each.get(OWN, {}).get("public")]
    return {(each["name"], name): "public" for each in listed for name in kinds_in(each)} | keys


def _sent(visit: Visit, place: str) -> dict[str, str]:
    """The inputs of a column as they were sent; empty if they were not."""
    if f"{place}.kind" not in visit.form:
        return {}
    return _with_usual(visit, {name: visit.text(f"{place}.{name}") for name in GENERAL})


def _proposed(visit: Visit, name: str) -> dict[str, str]:
    """The inputs that the name of a column suggests, which is public; empty if it suggests none."""
    kind = proposed_kind(name)
    if not kind:
        return {}
    usual = dict(each.split("=") for each in visit.texts("proposed").split(";") if each)
    asked = "words" if kind == "boolean" else "format"
    more = {asked: usual[kind]} if visit.mark == "," and kind in usual else {}
    more |= {"bare": "on"} if kind == "number" else {}  # a unit may stand there, or none
    return _with_usual(visit, {"kind": kind} | more)


def _with_usual(visit: Visit, sent: dict[str, str]) -> dict[str, str]:
    """The inputs with what the readers of the page are used to, where nothing is said: the word for
    what is rare, and where made-up persons live.
    """
    if sent["kind"] == "categorical" and not sent.get("levels"):
        sent["other"] = sent.get("other") or visit.texts("other_word")
    if sent["kind"] in LOCALISED:
        sent["locale"] = sent.get("locale") or visit.texts("locale")
    return sent


def _typed(visit: Visit) -> tuple[dict[str, dict[str, Kind]], dict[str, str]]:
    """The kinds with those that the form says, and what refuses others, by where columns stand."""
    tables, fixed, errors = kinds_of(visit.opened), _fixed(visit), dict[str, str]()
    for place, table, name, _ in [*_placed(tables)]:
        try:
            if (sent := _sent(visit, place)) and (table, name) not in fixed:
                tables[table][name] = kind_of_answers(sent, mark=visit.mark)
        except SynthdpError as error:
            errors[place] = f"column {name!r}: {error}"
    return tables, errors


def _with_code_book(visit: Visit, tables: dict[str, dict[str, Kind]]) -> dict[str, dict[str, Kind]]:
    """The kinds with the levels that a code book lists for columns of these names."""
    levels, fixed = (
        code_book(visit.text("book"), labels=visit.text("holds") == "labels"),
        _fixed(visit),
    )
    return with_levels_of_tables(tables, levels, fixed=fixed)
