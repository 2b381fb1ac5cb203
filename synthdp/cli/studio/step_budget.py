"""Step 4: how much is to be spent, what may be expected of it, and what it means for one person."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from synthdp.cli.projects.columns import places_of
from synthdp.cli.projects.commands import budget_in, budgets_in, new_budget
from synthdp.cli.projects.expected import check_spending, expected, left_below, usual_delta
from synthdp.cli.projects.project import OpenProject
from synthdp.cli.projects.runs import protected
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import SynthdpError

USUAL_EPSILON = 1.0
"""Where the slider stands at first."""


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
    return chosen | expected_view(visit)


def expected_view(visit: Visit) -> dict[str, Any]:
    """What is to be expected of the numbers that are typed or were saved."""
    try:
        opened, why_not = _typed(visit), ""
    except SynthdpError as error:
        opened, why_not = visit.opened.changed(epsilon=0.0, rows=0), str(error)
    said, rows = expected(opened), opened.project.rows
    said |= {"delta": opened.project.delta, "places": places_of(visit.opened)}
    said |= {"views": [_view_row(visit, each, rows) for each in said["views"]]}
    plan = said["plan"] or {"budgets": ()}
    said |= {"budgets_of_plan": [_budget_row(visit, each) for each in plan["budgets"]]}
    return said | ({"why_not": why_not} if why_not else {})


def _typed(visit: Visit) -> OpenProject:
    """The project with the numbers of the form."""
    project = visit.project
    rows = visit.whole("rows", usual=project.rows)
    return visit.opened.changed(
        rows=rows,
        epsilon=visit.number("epsilon", usual=project.epsilon or USUAL_EPSILON),
        delta=visit.number("delta", usual=project.delta) or usual_delta(rows),
        budget=visit.text("budget") if "budget" in visit.form else project.budget,
    )


def _budget_row(visit: Visit, said: Mapping[str, Any]) -> list[str]:
    """What a budget gives: its epsilon, and shares."""
    number, names = visit.texts.number, ("columns", "pairs", "best_true_positives")
    shares = [said[name] for name in names]
    shown = ["" if each is None else f"{number(100 * each)} %" for each in shares]
    return [number(said["epsilon"], "%g"), *shown]


def _view_row(visit: Visit, said: Mapping[str, Any], families: int) -> list[str]:
    """What a linked table gets: its share of the budget, and the noise of counts of families."""
    number, noise = visit.texts.number, said["noise_families"]
    is_later = said["view"].startswith("later ")
    name = visit.texts("expected.later", name=said["table"]) if is_later else said["view"]
    share = f" ({number(100 * noise / families)} %)" if families else ""
    shown = f"{number(100 * said['share_of_budget'], '%.0f')} %"
    return [name, shown, f"± {number(noise, '%.0f')}{share}"]


def save_budget(visit: Visit) -> str:
    """Choose what is spent, make a budget file for the population if asked to, and go where the
    button that was pressed leads: on, or to a column such as ``columns#c0-2.levels``.
    """
    project, creates = _typed(visit).project, visit.action == "create"
    epsilon, delta = visit.number("epsilon"), visit.number("delta") or usual_delta(project.rows)
    check_spending(_typed(visit).changed(rows=visit.whole("rows"), epsilon=epsilon))
    if not creates and (left := left_below(_typed(visit))):
        raise visit.refusal("over", left=visit.texts.number(left, "%.3g"))
    note, goes_on = visit.text("note"), visit.action == "go_on"
    visit = visit.saved(rows=project.rows, epsilon=epsilon, delta=delta, note=note)
    budget = _created(visit) if creates else project.budget
    visit.saved(budget=budget, walked=4 if goes_on else 3)
    to_column = f"/{visit.action}" if visit.action.startswith("columns#") else ""
    return to_column or ("/run" if goes_on else "/budget#charged")


def _created(visit: Visit) -> str:
    """The name of a new budget file."""
    population = visit.text("population")
    if not population:
        raise visit.refusal("population")
    # Where nothing is said of delta, there is room for several releases.
    delta = visit.number("all_delta") or float(f"{10 * visit.project.delta:.9g}")
    return new_budget(visit.opened, population, epsilon=visit.number("all_epsilon"), delta=delta)
