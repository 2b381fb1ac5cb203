"""The first screen: how good the table is, in a sentence and a few numbers, and what to look at."""

from collections.abc import Mapping

import pandas as pd

from synthdp.report.pages.verdicts import BY_CHANCE, Verdict
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.section import Mark, Section

FIRST = "What to look at first"


def verdict_section(verdicts: Mapping[str, Verdict]) -> Section:
    """The verdict on one table; of several their marks side by side, and the verdict on the
    nearest.
    """
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
        name: {
            _short(mark): mark.value.removesuffix(" %")
            for group in each.marks.values()
            for mark in group
        }
        for name, each in verdicts.items()
    }
    frame = pd.DataFrame(marks).T.rename_axis("table").reset_index()
    caption = "The same marks of all tables, in per cent."
    return Section(
        name="verdict",
        title="Verdict",
        lead=(f"The nearest to the real table is {nearest}: {best.grade}", best.sentence),
        marks=best.marks,
        points=(f"{FIRST} in {nearest}", best.points),
        words=[BY_CHANCE],
        listings=[Listing.from_frame(frame, {name: name for name in frame}, caption)],
    )


def _short(mark: Mark) -> str:
    """What a mark is called over a narrow column: "shapes", "trends", "pairs"."""
    return mark.name.removesuffix(" of columns").split()[-1]
