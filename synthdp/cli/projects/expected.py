"""What is to be expected of a project, before anything is spent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from synthdp.cli.planning.expected_accuracy import Accuracy
from synthdp.cli.planning.plan_text import describe_plan, plan_of
from synthdp.cli.projects.columns import open_parts, parts_said
from synthdp.cli.projects.declared import (
    Kind,
    check,
    content_of,
    declared_path,
    kinds_of,
    learnt_levels,
    rules_of,
    save_kinds,
)
from synthdp.cli.projects.project import KINDS, OpenProject
from synthdp.cli.projects.spending import left_below, spending_said
from synthdp.core.errors import SynthdpError
from synthdp.release.certificate.certificate import LARGE_EPSILON
from synthdp.schema.proposals import proposed_kind

NARROW, NARROW_AMOUNTS = 0.25, 0.1
"""The share of rows that a range needs to be seen, from which on bounds will be too narrow; less
will do for amounts, which thin out upwards. Of an export of 18 columns, three of four runs at .15
cut an amount in 17 % of the rows, and no ages or years; at .44 most bounds were cautioned of.
"""


def with_answers(
    opened: OpenProject, answers: Mapping[str, Sequence[str]]
) -> tuple[OpenProject, dict[str, dict[str, Kind]], SynthdpError | None]:
    """A project with what is answered of its spending and the kinds of its columns, as far as it
    can be, and what refuses the rest: without numbers nothing is to be expected.
    """
    kinds = kinds_of(opened)
    spent = opened.changed(epsilon=0.0, rows=0)
    try:
        spent = spending_said(opened, answers, stands=True)
    except SynthdpError as error:
        return spent, kinds, error
    return spent, *parts_said(opened, answers)


def expected(
    opened: OpenProject, kinds: Mapping[str, Mapping[str, Kind]] | None = None
) -> dict[str, Any]:
    """What `expected_of` says if the ``kinds`` of its columns were these, which are not saved."""
    if kinds is None or kinds == kinds_of(opened):
        return expected_of(opened)
    with TemporaryDirectory() as folder:
        typed = replace(opened, path=Path(folder))
        typed.save_public(KINDS, content_of(opened))
        save_kinds(typed, kinds, rules_of(opened))
        return expected_of(typed)


def expected_of(opened: OpenProject) -> dict[str, Any]:
    """What `synthdp plan` says of a project of so many rows, of linked tables `schema check`.

    ``here`` is what the plan says at the project's epsilon, ``most_levels`` how many equally
    frequent levels of a column can be learnt, ``learnt`` the columns whose levels are, and
    ``narrow`` those whose bounds are and will be too narrow, ``once`` the accuracy if one row of
    each person was used, where they may have several; ``over`` is what is left of a budget
    that is too small, ``large`` the epsilon above which little is protected, and ``why_not`` says
    why nothing can be expected.
    """
    project = opened.project
    large = LARGE_EPSILON if project.epsilon > LARGE_EPSILON else 0
    said: dict[str, Any] = {"over": left_below(opened), "large": large, "plan": None, "views": []}
    said |= {"recognised": 0.0, "most_levels": None, "why_not": ""}
    learnt = learnt_levels(kinds_of(opened).get("", {}))
    said |= {"learnt": learnt, "narrow": [], "once": None}
    try:
        if project.is_linked:
            facts = check(opened, epsilon=project.epsilon, delta=project.delta)
            return said | {"views": facts["views"], "recognised": facts["best_true_positives"]}
        if not project.rows:
            return said
        plan, _ = describe_plan(
            str(declared_path(opened)), epsilon=project.epsilon, **_planned(opened)
        )
        seen: dict[str, Any] = {"narrow": _narrow(opened)}
        if project.max_rows > 1 and project.unit and not project.keeps_persons:
            seen |= {"once": _once(opened)}
    except SynthdpError as error:
        return said | {"why_not": str(error)}
    (here,) = (each for each in plan["budgets"] if each["epsilon"] == project.epsilon)
    needs = here["level_needs_records"]
    most = int(project.rows / needs) if needs else None
    seen |= {"recognised": here["best_true_positives"], "most_levels": most}
    return said | {"plan": plan, "here": here} | seen


def _planned(opened: OpenProject) -> dict[str, Any]:
    """What a plan of one table takes besides its file."""
    project = opened.project
    return {
        "rows": project.rows,
        "delta": project.delta,
        "unit": project.unit or None,
        "max_rows_per_unit": project.max_rows,
    }


def _once(opened: OpenProject) -> Accuracy:
    """The accuracy to expect if one row of each person was used."""
    taken = {**_planned(opened), "max_rows_per_unit": 1}
    return plan_of(str(declared_path(opened)), **taken).at(opened.project.epsilon).accuracy


def _narrow(opened: OpenProject) -> list[str]:
    """The columns whose learnt bounds will be too narrow, and which a step can ask for. Beyond
    those of columns in checks nothing is drawn.
    """
    plan = plan_of(str(declared_path(opened)), **_planned(opened))
    needed = {
        each.column: (each.least_records or 0) / plan.rows
        for each in plan.questions(plan.ledger(opened.project.epsilon))
        if each.about == "bounds"
    }
    checks = "".join(rule["check"] for rule in rules_of(opened) if "check" in rule)
    cut = [
        part.name
        for part in open_parts(opened, {})
        if "number" in (part.given["kind"], proposed_kind(part.name)) or part.name in checks
    ]
    return [
        part.name
        for part in open_parts(opened, {})
        if needed.get(part.name, 0) > (NARROW_AMOUNTS if part.name in cut else NARROW)
    ]


class Words(Protocol):
    """The sentences of a language, by key, and numbers as it writes them."""

    def __call__(self, key: str, **given: object) -> str:
        """A sentence, with what is given in its places."""

    def number(self, value: float, form: str = "%.2g") -> str:
        """A number by a form of ``%``."""


def budget_row(said: Mapping[str, Any], words: Words) -> list[str]:
    """What a budget gives, in words: its epsilon, and shares."""
    shares = [said[name] for name in ("columns", "pairs", "best_true_positives")]
    shown = ["" if each is None else f"{words.number(100 * each)} %" for each in shares]
    return [words.number(said["epsilon"], "%g"), *shown]


def view_row(said: Mapping[str, Any], opened: OpenProject, words: Words) -> list[str]:
    """What a linked table gets, in words: its share of the budget, and the noise of counts of
    families, of which there are as many as the project says.
    """
    noise = said["noise_families"]
    families = opened.project.rows
    is_later = said["view"].startswith("later ")
    name = words("expected.later", name=said["table"]) if is_later else said["view"]
    share = f" ({words.number(100 * noise / families)} %)" if families else ""
    shown = f"{words.number(100 * said['share_of_budget'], '%.0f')} %"
    return [name, shown, f"± {words.number(noise, '%.0f')}{share}"]
