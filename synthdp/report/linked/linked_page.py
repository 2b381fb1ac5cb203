"""NOT PRIVATE. The page of an evaluation of linked tables: what was found, in pictures and tables
that sort.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from synthdp.report.linked.linked_marginals import (
    ACROSS,
    OWN,
    SIBLINGS,
    TRANSITIONS,
    LinkedMarginals,
)
from synthdp.report.linked.linked_sections import (
    LinkedPageView,
    column_section,
    number_section,
    pair_section,
)
from synthdp.report.pages.evaluation_page import page_of
from synthdp.report.pages.verdict import verdict_section
from synthdp.report.pages.verdicts import Verdict
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.section import Section

_PAIRS = {
    OWN: ("Pairs of one table", "Two columns of one row."),
    ACROSS: (
        "Pairs across tables",
        "A column of a row, and one of a row above it: of its parent, or further up.",
    ),
    SIBLINGS: (
        "Siblings",
        "A column of a row, and one of any other row of the same parent: what the rows of a parent have in common.",
    ),
    TRANSITIONS: (
        "Transitions",
        "A column of a row, and one of the next row of the same parent, in their order.",
    ),
}


def linked_page(
    distances: pd.DataFrame,
    summary: pd.DataFrame,
    broken_links: Mapping[str, int],
    facts: Mapping[str, Any],
    marginals: Mapping[str, tuple[LinkedMarginals, LinkedMarginals]],
    verdicts: Mapping[str, Verdict],
) -> str:
    """NOT PRIVATE. A page of HTML that needs nothing else: no network, no font, no script but its
    own.

    Parameters
    ----------
    distances, broken_links, facts, marginals, verdicts
        As `LinkedEvaluation` has them.
    summary
        What its method of that name gives.

    Raises
    ------
    MissingExtraError
        If Jinja or matplotlib is not installed.
    """
    view = LinkedPageView(distances, marginals)
    sections = [
        verdict_section(verdicts),
        _summary(summary),
        _guarantee(facts["release"]),
        column_section(view),
        number_section(view),
        *(pair_section(view, kind, title, words) for kind, (title, words) in _PAIRS.items()),
        _links(broken_links, facts["rows"]),
    ]
    root = next(iter(marginals))
    what = f"{len(marginals)} synthetic tables beside the real ones"
    return page_of("linked_evaluation", f"{root} and what hangs on them", what, facts, sections)


def _summary(summary: pd.DataFrame) -> Section:
    names = {
        "kind": "marginals",
        "mean": "mean TVD",
        "sampling": "sampling",
        "max": "worst TVD",
        "count": "how many",
    }
    frame = summary.rename_axis("kind").reset_index()
    words = (
        "TVD, total variation distance, is the share of rows (of pairs of rows, for siblings and transitions) that "
        "would have to change for a marginal to be right: 0 is the same, 1 has nothing in common. Sampling is the TVD "
        "of as many families drawn at random from the real tables: an error near it cannot be told from chance.",
    )
    listing = Listing.from_frame(
        frame, names, "One row a kind of marginal; press a heading to sort by it."
    )
    return Section(name="summary", title="Summary", words=words, listings=[listing])


def _guarantee(release: Mapping[str, Any]) -> Section:
    if not release:
        words = [
            "No certificate was given. It lies beside a synthetic package as datapackage.json.privacy.json."
        ]
        return Section(name="guarantee", title="Guarantee of the release", words=words)
    words = [
        f"{release['guarantee']}. Protected as one: {release.get('unit_of_privacy', 'not stated')}."
    ]
    words.append("That holds for the synthetic tables, and not for this page.")
    words += [f"Caution: {caution}." for caution in release.get("cautions", ())]
    return Section(name="guarantee", title="Guarantee of the release", words=words)


def _links(broken_links: Mapping[str, int], rows: list[dict[str, Any]]) -> Section:
    frame = pd.DataFrame(rows)
    frame["broken"] = [broken_links[name] for name in frame["table"]]
    frame["left_real"] = frame["real"] - frame["real_used"]
    frame["left_synthetic"] = frame["synthetic"] - frame["synthetic_used"]
    names = {"table": "table", "broken": "broken links", "left_real": "real rows left out"}
    names |= {"left_synthetic": "synthetic rows left out"}
    words = (
        "A link of a synthetic row is broken if it refers to no row of its parent, or has a key that another row has. "
        "Left out of all comparisons are rows without a parent, rows beyond the most of a parent that the package "
        "declares, and all rows below these.",
    )
    listing = Listing.from_frame(frame, names, "Table by table.")
    return Section(name="links", title="Broken links", words=words, listings=[listing])
