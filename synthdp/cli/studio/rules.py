"""Rules, and limits of linked tables, as they are clicked together on the page."""

from typing import Any

from synthdp.cli.projects.declared import Kind
from synthdp.cli.projects.rules import columns_of
from synthdp.cli.studio.visit import Visit
from synthdp.schema.rule_answers import FORMS, MOST_CASES, asked_of_column, rule_of_answers


def builder(visit: Visit) -> dict[str, Any] | None:
    """What is asked of a rule whose form and columns are chosen; None if none are."""
    form, columns = visit.text("rule"), _chosen(visit)
    if form not in FORMS or not columns:
        return None
    n_cases = min(max(visit.whole("cases", usual=2), 1), MOST_CASES) if form == "allow" else 1
    asked = {name: asked_of_column(kind) for name, kind in columns.items()}
    return {"form": form, "columns": asked, "names": list(columns), "cases": range(n_cases)}


def _chosen(visit: Visit) -> dict[str, Kind]:
    """The columns that a rule is about."""
    known = columns_of(visit.opened)
    names = [name for name in dict.fromkeys(visit.texts_of("column")) if name in known]
    is_turned = visit.text("rule") == "determines" and visit.text("turned")
    return {name: known[name] for name in (names[::-1] if is_turned else names)}


def rule_of(visit: Visit) -> tuple[str, dict[str, Any]]:
    """The rule that was clicked together, and the linked table that it is a limit of, else ''.

    Raises `ParameterError`, of the page `ProjectError`, if it is not complete.
    """
    form, columns = visit.text("rule"), _chosen(visit)
    if form not in FORMS or not columns:
        raise visit.refusal("rule")
    answers = {name: visit.texts_of(name) for name in visit.form}
    rule = rule_of_answers(form, columns, answers, mark=visit.mark)
    is_limit = form == "limit"
    return next(iter(columns)).removeprefix("other ").partition(".")[0] if is_limit else "", rule
