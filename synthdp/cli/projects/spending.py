"""What is to be spent on a project, and of which budget, as it is answered and before it is."""

from collections.abc import Mapping, Sequence

from synthdp.cli.projects.asked import number_said, text_said, whole_said
from synthdp.cli.projects.commands import budget_in, budgets_in, new_budget
from synthdp.cli.projects.project import OpenProject, Project, ProjectError
from synthdp.release.certificate.certificate import advised_delta

USUAL_EPSILON = 1.0
"""Where it begins."""

MOST_EPSILON = 100
"""More protects nobody."""

FAMILIES_DELTA = 1e-9
"""Usual of linked tables, whose number of families need not be guessed."""

_RELEASES = 10
"""For how many releases a new budget file has delta, if nothing is said of it."""


def usual_delta(rows: int) -> float:
    """The delta of a project that names none."""
    return advised_delta(rows) if rows else FAMILIES_DELTA


def left_below(opened: OpenProject) -> float:
    """What is left in the project's budget file if a run would ask for more, else 0."""
    epsilon = opened.project.epsilon
    budget = budget_in(opened, opened.project.budget)
    left = budget.get("left", {}).get("epsilon", epsilon)
    return float(left) if epsilon > left else 0.0


def spending_said(
    opened: OpenProject, answers: Mapping[str, Sequence[str]], *, stands: bool = False
) -> OpenProject:
    """The project with what is answered of the number of records, epsilon, delta, the budget file
    and the note in it. If what is said already ``stands``, it is not taken back by no answer, and
    epsilon begins as usual.

    Raises `ProjectError` if a number is none.
    """
    now = opened.project if stands else Project()
    epsilon = now.epsilon or (USUAL_EPSILON if stands else 0.0)
    rows = whole_said(answers, "rows", usual=now.rows)
    texts = {name: text_said(answers, name) for name in ("budget", "note") if name in answers}
    return opened.changed(
        rows=rows,
        epsilon=number_said(answers, "epsilon", usual=epsilon),
        delta=number_said(answers, "delta", usual=now.delta) or usual_delta(rows),
        **texts,
    )


def check_spending(opened: OpenProject, *, is_charged: bool = True) -> None:
    """Raise `ProjectError` if what is to be spent is open, too much, of a budget that is gone, or,
    if it ``is_charged`` to that, more than is left.
    """
    project = opened.project
    if not project.rows and not project.is_linked:
        raise ProjectError("rows", "nothing is said of the number of records; guess it")
    if not 0 < project.epsilon <= MOST_EPSILON:
        problem = f"epsilon is {project.epsilon}; give one above 0, at most {MOST_EPSILON}"
        raise ProjectError("epsilon", problem, epsilon=project.epsilon)
    if project.budget and project.budget not in budgets_in(opened):
        problem = f"{project.budget!r} is not in {str(opened.place)!r}; choose a budget file"
        raise ProjectError("budget_gone", problem, name=project.budget)
    if is_charged and (left := left_below(opened)):
        problem = f"epsilon is {project.epsilon}, and {left:.3g} is left; choose a smaller one"
        raise ProjectError("over", problem, left=float(f"{left:.3g}"))


def budget_made(opened: OpenProject, answers: Mapping[str, Sequence[str]]) -> str:
    """The name of a new budget file, as it is answered; without a delta there is room for several
    releases.

    Raises `ProjectError` if nobody says whose data they are, else as `new_budget` does.
    """
    if not (population := text_said(answers, "population")):
        raise ProjectError("population", "nothing is said of whose data they are; say it")
    delta = number_said(answers, "all_delta") or float(f"{_RELEASES * opened.project.delta:.9g}")
    epsilon = number_said(answers, "all_epsilon")
    return new_budget(opened, population, epsilon=epsilon, delta=delta)
