"""NOT PRIVATE. The page of an evaluation: what was found, in pictures and tables that sort."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.metrics.unread import unread_lines
from synthdp.report.pages.columns import column_section
from synthdp.report.pages.learning import prediction_section, regression_section
from synthdp.report.pages.marginals import curve_section, marginal_section, pair_section
from synthdp.report.pages.relations import association_section, propensity_section
from synthdp.report.pages.rows import group_section, match_section, query_section, rule_section
from synthdp.report.pages.verdict import verdict_section
from synthdp.report.pages.verdicts import Verdict
from synthdp.report.pages.view import PageView
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.page import rendered
from synthdp.report.rendering.section import Section

SUMMARY = {"metric": "metric", "value": "value", "sampling": "sampling", "noise": "noise"}
_BETTER = {"lower": " Less is better.", "higher": " More is better.", "": ""}


def evaluation_page(
    sections: Mapping[str, pd.DataFrame],
    facts: Mapping[str, Any],
    tables: Mapping[str, ReadTable],
    verdicts: Mapping[str, Verdict],
) -> str:
    """NOT PRIVATE. A page of HTML that needs nothing else: no network, no font, no script but its
    own.

    Parameters
    ----------
    sections, facts, tables, verdicts
        As `TableEvaluation` has them.

    Raises
    ------
    MissingExtraError
        If Jinja or matplotlib is not installed.
    """
    view = PageView(sections, facts, tables)
    built = [
        verdict_section(verdicts),
        _summary(view),
        curve_section(view),
        column_section(view),
        marginal_section(view),
        pair_section(view),
        association_section(view),
        propensity_section(view),
        prediction_section(view),
        regression_section(view),
        group_section(view),
        query_section(view),
        rule_section(view),
        match_section(view),
        _notes(view),
    ]
    what = ", ".join(view.names) if len(view.names) <= 3 else f"{len(view.names)} synthetic tables"
    return page_of("evaluation", what, f"{what} beside the real table", facts, built)


def page_of(
    template: str, of: str, what: str, facts: Mapping[str, Any], sections: Iterable[Section | None]
) -> str:
    """A page of an evaluation, by a template of this folder; sections of nothing are left out."""
    content = {
        "title": f"NOT PRIVATE: evaluation of {of}",
        "what": what,
        "facts": facts,
        "unread": unread_lines(facts),
        "sections": [section for section in sections if section is not None],
    }
    return rendered(f"{template}.html", content, folder=Path(__file__).parent)


def _summary(view: PageView) -> Section:
    words = (
        "Each error stands between two references: sampling is the error of as many rows drawn at random from the "
        "real table, noise what the noise of the release alone would cause. An error near sampling cannot be told "
        "from chance. TVD, total variation distance, is the share of rows that would have to change for a marginal to "
        "be right: 0 is the same, 1 has nothing in common.",
    )
    return Section(name="summary", title="Summary", words=words, listings=[_side_by_side(view)])


def _side_by_side(view: PageView) -> Listing:
    """The summary; of several tables each in a column of its own."""
    frame = view.of("summary", view.names[0])
    sentences = frame["sentence"] + frame["better"].map(_BETTER)
    if len(view.names) == 1:
        return Listing.from_frame(
            frame.assign(sentences=sentences),
            SUMMARY,
            "One row a metric; press a heading to sort by it.",
            detail="sentences",
        )
    shown = frame[["metric", "sampling"]].assign(better=frame["better"].map(_BETTER).str.strip())
    names = {"metric": "metric"}
    for name in view.names:
        values = view.of("summary", name).set_index("metric")["value"]
        shown[f"value of {name}"] = values.reindex(frame["metric"]).to_numpy()
        names[f"value of {name}"] = name
    caption = (
        f"One row a metric; press a heading to sort by it. Sampling is that of {view.names[0]}."
    )
    return Listing.from_frame(shown, names | {"sampling": "sampling"}, caption, detail="better")


def _notes(view: PageView) -> Section:
    names = {"section": "section", "note": "note"}
    return Section(
        name="notes",
        title="Notes",
        listings=[
            Listing.from_frame(
                view.sections["notes"], names, "What was sampled, and why sections are empty."
            )
        ],
    )
