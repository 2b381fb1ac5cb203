"""Step 4: how much is to be spent, what may be expected of it, and what it means for one person."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from synthdp.cli.planning.plan_text import describe_plan
from synthdp.cli.projects.commands import budget_in, budgets_in, new_budget
from synthdp.cli.projects.declared import check, declared_path, kinds_of, learnt_levels
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import SynthdpError
from synthdp.release.certificate.certificate import LARGE_EPSILON, advised_delta

USUAL_EPSILON = 1.0
"""Where the slider stands at first."""

USUAL_FAMILIES_DELTA = 1e-9
"""Of linked tables, whose number of families nobody is asked."""


def budget_view(visit: Visit) -> dict[str, Any]:
    """What was chosen, what is to be expected, and the budgets that there are."""
    project = visit.project
    number = partial(visit.texts.number, form="%.6g")
    chosen: dict[str, Any] = {"budget": project.budget, "note": project.note}
    chosen |= {"rows": project.rows or "", "delta": number(project.delta) if project.delta else ""}
    chosen |= {"epsilon": number(project.epsilon or USUAL_EPSILON)}
    chosen |= {name: visit.text(name) for name in chosen if name in visit.form}
    budgets = {name: budget_in(visit.opened, name) for name in budgets_in(visit.opened)}
    return {"chosen": chosen, "budgets": budgets, **expected_view(visit)}


def expected_view(visit: Visit) -> dict[str, Any]:
    """What `synthdp plan` says of the numbers that are typed or were saved; of linked tables what
    `schema check` says.
    """
    project = visit.project
    parts = ("plan", "views", "delta", "recognised", "why_not", "large", "over", "rows")
    view: dict[str, Any] = dict.fromkeys(parts, "") | {
        "learnt": learnt_levels(kinds_of(visit.opened).get("", {}))
    }
    try:
        rows = visit.whole("rows", usual=project.rows)
        epsilon = visit.number("epsilon", usual=project.epsilon or USUAL_EPSILON)
        delta = visit.number("delta", usual=project.delta) or _delta(rows)
        view |= {"delta": delta, "large": LARGE_EPSILON if epsilon > LARGE_EPSILON else 0}
        budget = visit.text("budget") if "budget" in visit.form else project.budget
        view |= {"rows": rows, "over": _left_below(visit, budget, epsilon)}
        if project.is_linked:
            facts = check(visit.opened, epsilon=epsilon, delta=delta)
            view |= {"views": [_view_row(visit, each, rows) for each in facts["views"]]}
            view |= {"recognised": facts["best_true_positives"]}
        elif rows:
            view["plan"], _ = describe_plan(
                str(declared_path(visit.opened)),
                rows=rows,
                epsilon=epsilon,
                delta=delta,
                unit=project.unit or None,
                max_rows_per_unit=project.max_rows,
            )
            (here,) = (each for each in view["plan"]["budgets"] if each["epsilon"] == epsilon)
            view |= {"here": here, "recognised": here["best_true_positives"]}
            rows_of_plan = [_budget_row(visit, each) for each in view["plan"]["budgets"]]
            view |= {"budgets_of_plan": rows_of_plan}
    except SynthdpError as error:
        view["why_not"] = str(error)
    return view


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
    """Choose what is spent, and make a budget file for the population if asked to."""
    rows, epsilon, budget = visit.whole("rows"), visit.number("epsilon"), visit.text("budget")
    if not rows and not visit.project.is_linked:
        raise visit.refusal("rows")
    if not 0 < epsilon <= 100:
        raise visit.refusal("epsilon", epsilon=visit.texts.number(epsilon, "%g"))
    if budget and budget not in budgets_in(visit.opened):
        raise visit.refusal("budget_gone", name=budget)
    left = 0.0 if visit.action == "create" else _left_below(visit, budget, epsilon)
    if left:
        raise visit.refusal("over", left=visit.texts.number(left, "%.3g"))
    delta, goes_on = visit.number("delta") or _delta(rows), visit.action == "go_on"
    visit = visit.saved(rows=rows, epsilon=epsilon, delta=delta, note=visit.text("note"))
    budget = _created(visit) if visit.action == "create" else budget
    visit.saved(budget=budget, walked=4 if goes_on else 3)
    return "/run" if goes_on else "/budget#charged"


def _left_below(visit: Visit, name: str, epsilon: float) -> float:
    """What is left of a budget if a run would ask for more, else 0."""
    left = budget_in(visit.opened, name).get("left", {}).get("epsilon", epsilon)
    return float(left) if epsilon > left else 0.0


def _delta(rows: int) -> float:
    return advised_delta(rows) if rows else USUAL_FAMILIES_DELTA


def _created(visit: Visit) -> str:
    """The name of a new budget file."""
    population = visit.text("population")
    if not population:
        raise visit.refusal("population")
    # Where nothing is said of delta, there is room for several releases.
    delta = visit.number("all_delta") or float(f"{10 * visit.project.delta:.9g}")
    return new_budget(visit.opened, population, epsilon=visit.number("all_epsilon"), delta=delta)
