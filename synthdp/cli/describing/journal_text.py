"""The journal of a run, as people read it."""

import shlex
from collections.abc import Mapping
from typing import Any

from synthdp.report.texts.certificates import NOISE_IN_UNITS, event_row, in_units
from synthdp.report.texts.listing import table

_SETTINGS = (
    "software",
    "mechanism",
    "engine",
    "epsilon",
    "delta",
    "accounting",
    "adjacency",
    "unit",
)


def describe_journal(content: Mapping[str, Any], path: str) -> str:
    """The content of a journal, as `synthdp.release.persistence.kept_answers.KeptAnswers.described`
    returns it, in lines of text.
    """
    settings = content["settings"]
    quoted = shlex.quote(path)
    columns = ", ".join(
        f"{name} {settings[name]}" for name in _SETTINGS if settings.get(name) is not None
    )
    spent = f"{content['rho_spent']:.4g} of {content['rho_budget']:.4g}"
    lines = [
        f"Journal of a run: {columns}",
        f"  written by {content['made_by']}{', as here' if content['is_same_software'] else '; here it is another'}",
        *_dates(content),
        f"  {len(content['events'])} answers, rho {spent} spent; {len(content['learnt'])} columns learnt; "
        f"{'complete' if content['complete'] else 'not complete'}",
    ]
    if content["events"]:
        events = content["events"]
        noise = "noise"
        if content["is_linked"]:
            events = in_units(events)
            noise = NOISE_IN_UNITS
        lines += [
            "",
            table(("event", "what", noise, "rho"), [event_row(event) for event in events]),
        ]
    return "\n".join(
        [
            *lines,
            "",
            f"The same command with --journal {quoted} gives the same release again, and says so."
            if content["complete"]
            else "The same command goes on with it.",
            f"Without the run: synthdp journal rescue {quoted} -o OUT makes a release of what it holds.",
        ]
    )


def _dates(content: Mapping[str, Any]) -> list[str]:
    """When the run began and was gone on with, what it is charged to, and whether the file was cut."""
    began = [f"  run {content['run']}, begun {content['when']}"] if content["when"] else []
    if content["resumed"]:
        went_on = [f"  stopped, and gone on with on {', '.join(content['resumed'])}"]
    else:
        went_on = []
    charged = [
        f"  charged to budget {shlex.quote(budget['path'])}" for budget in content["budgets"]
    ]
    if content["cut"]:
        cut = [f"  {content['cut']}: the file was cut, or its run killed as it wrote that"]
    else:
        cut = []
    return [*began, *went_on, *charged, *cut]
