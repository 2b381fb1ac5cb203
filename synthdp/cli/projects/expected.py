"""What is to be expected of a project, before anything is spent."""

from typing import Any

from synthdp.cli.planning.plan_text import describe_plan
from synthdp.cli.projects.commands import budget_in, budgets_in
from synthdp.cli.projects.declared import check, declared_path, kinds_of, learnt_levels
from synthdp.cli.projects.project import OpenProject, ProjectError
from synthdp.core.errors import SynthdpError
from synthdp.release.certificate.certificate import LARGE_EPSILON, advised_delta

MOST_EPSILON = 100
"""More protects nobody."""

FAMILIES_DELTA = 1e-9
"""Usual of linked tables, whose number of families need not be guessed."""


def usual_delta(rows: int) -> float:
    """The delta of a project that names none."""
    return advised_delta(rows) if rows else FAMILIES_DELTA


def left_below(opened: OpenProject) -> float:
    """What is left in the project's budget file if a run would ask for more, else 0."""
    epsilon, budget = opened.project.epsilon, budget_in(opened, opened.project.budget)
    left = budget.get("left", {}).get("epsilon", epsilon)
    return float(left) if epsilon > left else 0.0


def check_spending(opened: OpenProject) -> None:
    """Raise `ProjectError` if what is to be spent is open, too much, or of a budget that is gone."""
    project = opened.project
    if not project.rows and not project.is_linked:
        raise ProjectError("rows", "nothing is said of the number of records; guess it")
    if not 0 < project.epsilon <= MOST_EPSILON:
        problem = f"epsilon is {project.epsilon}; give one above 0, at most {MOST_EPSILON}"
        raise ProjectError("epsilon", problem, epsilon=project.epsilon)
    if project.budget and project.budget not in budgets_in(opened):
        problem = f"{project.budget!r} is not in {str(opened.place)!r}; choose a budget file"
        raise ProjectError("budget_gone", problem, name=project.budget)


def expected(opened: OpenProject) -> dict[str, Any]:
    """What `synthdp plan` says of a project of so many rows, of linked tables `schema check`.

    ``here`` is what the plan says at the project's epsilon, ``most_levels`` how many equally
    frequent levels of a column can be learnt, ``learnt`` the columns whose levels are; ``over`` is
    what is left of a budget that is too small, ``large`` the epsilon above which little is
    protected, and ``why_not`` says why nothing can be expected.
    """
    project = opened.project
    large = LARGE_EPSILON if project.epsilon > LARGE_EPSILON else 0
    said: dict[str, Any] = {"over": left_below(opened), "large": large, "plan": None, "views": []}
    said |= {"recognised": 0.0, "most_levels": None, "why_not": ""}
    said |= {"learnt": learnt_levels(kinds_of(opened).get("", {}))}
    try:
        if project.is_linked:
            facts = check(opened, epsilon=project.epsilon, delta=project.delta)
            return said | {"views": facts["views"], "recognised": facts["best_true_positives"]}
        if not project.rows:
            return said
        plan, _ = describe_plan(
            str(declared_path(opened)),
            rows=project.rows,
            epsilon=project.epsilon,
            delta=project.delta,
            unit=project.unit or None,
            max_rows_per_unit=project.max_rows,
        )
    except SynthdpError as error:
        return said | {"why_not": str(error)}
    (here,) = (each for each in plan["budgets"] if each["epsilon"] == project.epsilon)
    needs = here["level_needs_records"]
    most = int(project.rows / needs) if needs else None
    seen = {"recognised": here["best_true_positives"], "most_levels": most}
    return said | {"plan": plan, "here": here} | seen
