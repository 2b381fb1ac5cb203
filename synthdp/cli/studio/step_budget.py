"""Step 4: how much is to be spent, what may be expected of it, and what it means for one person."""

from functools import partial
from typing import Any

from synthdp.cli.projects.columns import open_parts, places_of, save_parts
from synthdp.cli.projects.commands import budget_in, budgets_in
from synthdp.cli.projects.expected import budget_row, expected, view_row, with_answers
from synthdp.cli.projects.project import ProjectError
from synthdp.cli.projects.runs import protected
from synthdp.cli.projects.spending import (
    USUAL_EPSILON,
    budget_made,
    check_spending,
    spending_said,
)
from synthdp.cli.studio.visit import Visit


def budget_view(visit: Visit) -> dict[str, Any]:
    """What was chosen, what is to be expected, and the budgets that there are."""
    project = visit.project
    number = partial(visit.texts.number, form="%.6g")
    chosen: dict[str, Any] = {"budget": project.budget, "note": project.note}
    chosen |= {"rows": project.rows or "", "delta": number(project.delta) if project.delta else ""}
    chosen |= {"epsilon": number(project.epsilon or USUAL_EPSILON)}
    chosen |= {name: visit.text(name) for name in chosen if name in visit.form}
    budgets = {name: budget_in(visit.opened, name) for name in budgets_in(visit.opened)}
    chosen = {"chosen": chosen, "budgets": budgets, "protected": protected(visit.opened)}
    return chosen | {"parts": open_parts(visit.opened, visit.answers)} | expected_view(visit)


def expected_view(visit: Visit) -> dict[str, Any]:
    """What is to be expected of the numbers that are typed or were saved."""
    opened, kinds, error = with_answers(visit.opened, visit.answers)
    said = expected(opened, kinds)
    said |= {"delta": opened.project.delta, "places": places_of(visit.opened)}
    said |= {"views": [view_row(each, opened, visit.texts) for each in said["views"]]}
    plan = said["plan"] or {"budgets": ()}
    said |= {"budgets_of_plan": [budget_row(each, visit.texts) for each in plan["budgets"]]}
    said |= {"lacks": error if isinstance(error, ProjectError) else None}
    return said | ({"why_not": str(error)} if error and not said["lacks"] else {})


def save_budget(visit: Visit) -> str:
    """Choose what is spent, say what it would not learn, make a budget file for the population if
    asked to, and go on if asked to.
    """
    creates = visit.action == "create"
    goes_on = visit.action == "go_on"
    said = spending_said(visit.opened, visit.answers)
    check_spending(said, is_charged=not creates)
    changed = {each: getattr(said.project, each) for each in ("rows", "epsilon", "delta", "note")}
    visit = visit.saved(**changed | ({"max_rows": 1} if visit.action == "once" else {}))
    budget = budget_made(visit.opened, visit.answers) if creates else said.project.budget
    save_parts(visit.opened, visit.answers)
    visit.saved(budget=budget, walked=4 if goes_on else 3)
    return "/run" if goes_on else "/budget#charged" if creates else "/budget"
