"""Step 4: how much is to be spent, what may be expected of it, and what it means for one person."""

from math import ceil
from typing import Any

from synthdp.cli.planning.plan_text import describe_plan
from synthdp.cli.studio.commands import budgets_in
from synthdp.cli.studio.declared import check, declared_path, unit_of
from synthdp.cli.studio.project import Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.release.certificate.certificate import advised_delta
from synthdp.release.persistence.budget import Budget

USUAL_EPSILON = 1.0
"""Where the slider stands at first."""

USUAL_FAMILIES_DELTA = 1e-9
"""Of linked tables, whose number of families nobody is asked."""


def budget_view(visit: Visit) -> dict[str, Any]:
    """What was chosen, what is to be expected, and the budgets that there are."""
    project = visit.project
    chosen: dict[str, Any] = {"budget": project.budget, "note": project.note}
    chosen |= {"rows": project.rows or "", "delta": project.delta or ""}
    chosen |= {"epsilon": f"{project.epsilon or USUAL_EPSILON:g}"}
    chosen |= {name: visit.text(name) for name in chosen if name in visit.form}
    budgets = {name: _state_of(visit, name) for name in budgets_in(visit)}
    return {"chosen": chosen, "budgets": budgets, **expected_view(visit)}


def expected_view(visit: Visit) -> dict[str, Any]:
    """What `synthdp plan` says of the numbers that are typed or were saved; of linked tables what
    `schema check` says.
    """
    project = visit.project
    view: dict[str, Any] = {"plan": None, "views": None, "problem": ""}
    try:
        rows = visit.whole("rows", usual=project.rows)
        epsilon = visit.number("epsilon", usual=project.epsilon or USUAL_EPSILON)
        delta = visit.number("delta", usual=project.delta) or _delta(rows)
        view["delta"] = delta
        if project.is_linked:
            view["views"] = check(visit, epsilon=epsilon, delta=delta)["views"]
        elif rows:
            view["plan"], _ = describe_plan(
                str(declared_path(visit)),
                rows=rows,
                epsilon=epsilon,
                delta=delta,
                unit=project.unit or None,
                max_rows_per_unit=project.max_rows,
            )
            (here,) = (each for each in view["plan"]["budgets"] if each["epsilon"] == epsilon)
            seen = min(ceil(100 * here["best_true_positives"]), 100)
            view |= {"here": here, "n_seen": seen}
    except SynthdpError as error:
        view["problem"] = str(error)
    return view


def save_budget(visit: Visit) -> str:
    """Choose what is spent, or make a budget file for the population."""
    if visit.text("action") == "create":
        return _create(visit)
    rows, epsilon = visit.whole("rows"), visit.number("epsilon")
    if not rows and not visit.project.is_linked:
        raise ParameterError("rows is not given; give a guess of the number of records")
    if not 0 < epsilon <= 100:
        raise ParameterError(f"epsilon is {epsilon:g}; give a number above 0, at most 100")
    delta, budget = visit.number("delta") or _delta(rows), visit.text("budget")
    if budget and budget not in budgets_in(visit):
        raise ParameterError(f"{budget!r} is no budget of the folder; choose one of the list")
    chosen = {"rows": rows, "epsilon": epsilon, "delta": delta, "budget": budget}
    goes_on = visit.text("action") == "go_on"
    walked = max(visit.project.walked, 4 if goes_on else 3)
    visit.saved(**chosen, note=visit.text("note"), walked=walked)
    return "/run" if goes_on else "/budget"


def _delta(rows: int) -> float:
    return advised_delta(rows) if rows else USUAL_FAMILIES_DELTA


def _create(visit: Visit) -> str:
    """A new budget file beside the table: it outlives the project."""
    population = visit.text("population")
    if not population:
        raise ParameterError("population is not given; say in words whose data it is about")
    plain = "".join(each if each.isalnum() else "-" for each in population.lower()).strip("-")
    name = f"{plain[:40] or 'population'}.budget"
    Budget.create(
        visit.folder.place / name,
        epsilon=visit.number("all_epsilon"),
        delta=visit.number("all_delta") or visit.project.delta or _delta(visit.project.rows),
        population=population,
        unit=unit_of(visit),
    )
    visit.saved(budget=name)
    return "/budget#population"


def _state_of(visit: Visit, name: str) -> dict[str, Any]:
    """Whose budget it is, and what is left of it; or why it cannot be used."""
    try:
        return {"problem": "", **Budget(visit.folder.place / name).show()}
    except SynthdpError as error:
        return {"problem": str(error)}
