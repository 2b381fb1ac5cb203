"""Step 4: how much is to be spent, what may be expected of it, and what it means for one person."""

from typing import Any

from synthdp.cli.planning.plan_text import describe_plan
from synthdp.cli.studio.commands import budgets_in
from synthdp.cli.studio.descriptions import check, declared_file
from synthdp.cli.studio.pictures import people_in_a_hundred
from synthdp.cli.studio.visits import Visit
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
    chosen = {"rows": project.rows or "", "epsilon": project.epsilon or USUAL_EPSILON}
    chosen |= {"delta": project.delta or "", "budget": project.budget, "note": project.note}
    if visit.form:
        chosen |= {name: visit.text(name) for name in chosen}
    return {
        "chosen": chosen,
        "budgets": {name: _state_of(visit, name) for name in budgets_in(visit.folder)},
        **expected(visit, rows=project.rows, epsilon=project.epsilon or USUAL_EPSILON),
    }


def expected_view(visit: Visit) -> dict[str, Any]:
    """What may be expected of the numbers that are typed, before they are saved."""
    rows = visit.whole("rows")
    return expected(visit, rows=rows, epsilon=visit.number("epsilon", usual=USUAL_EPSILON))


def expected(visit: Visit, *, rows: int, epsilon: float) -> dict[str, Any]:
    """What `synthdp plan` says of an epsilon; of linked tables what `schema check` says."""
    project = visit.project
    found: dict[str, Any] = {"plan": None, "views": None, "problem": "", "epsilon": epsilon}
    try:
        delta = visit.number("delta", usual=project.delta) or _delta(rows)
        found["delta"] = delta
        if project.is_linked:
            found["views"] = check(visit.folder, project, epsilon=epsilon, delta=delta)["views"]
        elif rows:
            content, _ = describe_plan(
                declared_file(visit.folder, project),
                rows=rows,
                epsilon=epsilon,
                delta=delta,
                unit=project.unit or None,
                max_rows_per_unit=project.max_rows if project.unit else 1,
            )
            found["plan"] = content
            (here,) = (each for each in content["budgets"] if each["epsilon"] == epsilon)
            found["here"] = here
            found["people"] = people_in_a_hundred(here["best_true_positives"])
    except SynthdpError as error:
        found["problem"] = str(error)
    return found


def save_budget(visit: Visit) -> str:
    """Choose what is spent, or make a budget file for the population."""
    if visit.text("action") == "create":
        return _create(visit)
    rows = visit.whole("rows")
    if not rows and not visit.project.is_linked:
        raise ParameterError("rows is not given; give a guess of the number of records")
    epsilon = visit.number("epsilon")
    if not 0 < epsilon <= 100:
        raise ParameterError(f"epsilon is {epsilon:g}; give a number above 0, at most 100")
    delta = visit.number("delta") or _delta(rows)
    budget = visit.text("budget")
    if budget and budget not in budgets_in(visit.folder):
        raise ParameterError(f"{budget!r} is no budget of the folder; choose one of the list")
    goes_on = visit.text("action") == "go_on"
    visit.save(
        rows=rows,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        note=visit.text("note"),
        walked=max(visit.project.walked, 4 if goes_on else 3),
    )
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
    visit.save(budget=name)
    Budget.create(
        visit.folder.place / name,
        epsilon=visit.number("all_epsilon"),
        delta=visit.number("all_delta") or visit.project.delta or _delta(visit.project.rows),
        population=population,
        unit=visit.project.unit or None,
    )
    return "/budget#population"


def _state_of(visit: Visit, name: str) -> dict[str, Any]:
    """Whose budget it is, and what is left of it."""
    try:
        content = Budget(visit.folder.place / name).show()
    except SynthdpError as error:
        return {"problem": str(error)}
    return {
        "problem": "",
        "population": content["population"],
        "epsilon": content["epsilon"],
        "left": content["left"]["epsilon"],
        "n_releases": sum(each["kind"] == "run" for each in content["entries"]),
    }
