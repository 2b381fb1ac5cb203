"""Step 2: what each column holds, and what is to be learnt of it."""

from typing import Any

from synthdp.cli.projects.columns import ColumnAnswers, placed
from synthdp.cli.projects.declared import (
    check,
    checked,
    distances,
    fixed_columns,
    missing_words,
    rules_of,
    save_kinds,
)
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import ParameterError
from synthdp.schema.code_books import code_book, with_levels_of_tables
from synthdp.schema.questions import (
    ANSWERED_KINDS,
    QUESTIONS,
    answers_of_kind,
    kind_of_answers,
)


def columns_view(visit: Visit) -> dict[str, Any]:
    """Every column with its inputs, and what is said of it."""
    answers, fixed = _answers(visit), fixed_columns(visit.opened)
    kinds, errors = answers.kinds()
    tables = dict[str, list[dict[str, Any]]]((table, []) for table in kinds)
    is_open, n_proposed, undecided = False, 0, dict[str, str]()
    for place, table, name, kind in [*placed(kinds)]:
        mark, is_proposed = visit.project.mark, False
        inputs = answers.of(place) or answers_of_kind(kind, mark=mark)
        if kind is None and (table, name) not in fixed and not inputs["kind"]:
            proposed = {} if f"{place}.kind" in visit.form else answers.proposed(name)
            is_open, is_proposed, inputs = True, bool(proposed), proposed or inputs
            n_proposed += is_proposed
            kinds[table][name] = kind_of_answers(inputs)
        said = answers.said(name, kinds[table], errors.get(place))
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
    answers, fixed = _answers(visit), fixed_columns(visit.opened)
    filled, errors = answers.kinds()
    if not any(filled.values()):
        raise visit.refusal("columns")
    if errors:
        raise ParameterError("; ".join(errors.values()))
    if visit.action == "book":
        levels = code_book(visit.text("book"), labels=visit.text("holds") == "labels")
        filled = with_levels_of_tables(filled, levels, fixed=fixed)
    ticked = visit.texts_of("some") if visit.action == "some" else []
    for place, table, name, kind in [*placed(filled)]:
        is_rest = visit.action == "rest" and kind is None
        if (is_rest or place in ticked) and (table, name) not in fixed:
            said = {"kind": "categorical" if is_rest else visit.text("some_kind")}
            filled[table][name] = kind_of_answers(answers.with_usual(said))
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
    answers = _answers(visit)
    kinds, errors = answers.kinds()
    for place, table, name, _ in placed(kinds):
        if place == visit.text("id"):
            said = answers.said(name, kinds[table], errors.get(place))
            return {"said": said, "inputs": answers.of(place)}
    raise ParameterError("there is no such column; open the page again")


def _answers(visit: Visit) -> ColumnAnswers:
    """What the form says of columns, and what readers of its language are used to."""
    usual = {"other": visit.texts("other_word"), "locale": visit.texts("locale")}
    written = dict(each.split("=") for each in visit.texts("proposed").split(";") if each)
    return ColumnAnswers(opened=visit.opened, answers=visit.answers, usual=usual, written=written)
