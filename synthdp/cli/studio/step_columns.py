"""Step 2: what each column holds, and what is to be learnt of it."""

from typing import Any

from synthdp.cli.projects.columns import ColumnAnswers
from synthdp.cli.projects.declared import check, checked, fixed_columns, missing_words
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import ParameterError
from synthdp.schema.code_books import code_book, with_levels_of_tables
from synthdp.schema.questions import ANSWERED_KINDS


def columns_view(visit: Visit) -> dict[str, Any]:
    """Every column with its inputs, and what is said of it."""
    asked = _answers(visit).asked()
    is_open = any(each.is_open for each in asked)
    facts, problem = ({}, "") if is_open else checked(visit.opened)
    return {
        "columns": asked,
        "kinds": ANSWERED_KINDS,
        "missing": visit.text("missing") or ", ".join(missing_words(visit.opened)),
        "problem": problem,
        "findings": [each for each in facts.get("findings", ()) if not each.get("columns")],
    }


def save_columns(visit: Visit) -> str:
    """Save all columns, or fill them in from a code book."""
    answers = _answers(visit)
    filled, errors = answers.kinds()
    if not any(filled.values()):
        raise visit.refusal("columns")
    if errors:
        raise ParameterError("; ".join(errors.values()))
    if visit.action == "book":
        levels = code_book(visit.text("book"), labels=visit.text("holds") == "labels")
        filled = with_levels_of_tables(filled, levels, fixed=fixed_columns(visit.opened))
    some = (visit.text("some_kind"), visit.texts_of("some"))
    rest = ("categorical", None)
    said, places = {"some": some, "rest": rest}.get(visit.action, (None, ()))
    words = visit.text("missing") if "missing" in visit.form else None
    visit = visit.saved()
    answers.save(filled, said=said, of=places, missing=words)
    if visit.action != "go_on":
        return "/columns"
    if not visit.project.is_linked:  # whose keys are named in the next step
        check(visit.opened)
    visit.saved(walked=2)
    return "/people"


def said_of_form(visit: Visit) -> dict[str, Any]:
    """What is said of the one column whose inputs are sent, as they are typed."""
    answers = _answers(visit)
    place = visit.text("id")
    return {"said": answers.said_of(place), "inputs": answers.of(place)}


def _answers(visit: Visit) -> ColumnAnswers:
    """What the form says of columns, and what readers of its language are used to."""
    usual = {"other": visit.texts("other_word"), "locale": visit.texts("locale")}
    written = dict(each.split("=") for each in visit.texts("proposed").split(";") if each)
    return ColumnAnswers(opened=visit.opened, answers=visit.answers, usual=usual, written=written)
