"""The first screen: how good the table is, in a sentence and a few numbers, and what to look at."""

from collections.abc import Mapping, Sequence

import pandas as pd

from synthdp.report.pages.verdicts import BY_CHANCE, Verdict
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.section import Mark, Section

FIRST = "What to look at first"


def verdict_section(verdicts: Mapping[str, Verdict]) -> Section:
    """The verdict on one table; of several their marks side by side, and the verdict on the nearest."""
    nearest = min(verdicts, key=lambda name: verdicts[name].error)
    best = verdicts[nearest]
    if len(verdicts) == 1:
        return Section(
            name="verdict",
            title="Verdict",
            lead=(best.grade, best.sentence),
            marks=best.marks,
            points=(FIRST, best.points),
            words=[BY_CHANCE],
        )
    marks = {
        name: {mark.name: mark.value for group in each.marks.values() for mark in group}
        for name, each in verdicts.items()
    }
    frame = pd.DataFrame(marks).T.rename_axis("table").reset_index()
    groups = "; ".join(f"{name}: {_named(marks)}" for name, marks in best.marks.items() if marks)
    return Section(
        name="verdict",
        title="Verdict",
        lead=(f"The nearest to the real table is {nearest}: {best.grade}", best.sentence),
        marks=best.marks,
        points=(f"{FIRST} in {nearest}", best.points),
        words=[BY_CHANCE],
        listings=[
            Listing.from_frame(frame, {name: name for name in frame}, f"All tables. {groups}.")
        ],
    )


def _named(marks: Sequence[Mark]) -> str:
    return ", ".join(mark.name for mark in marks)
