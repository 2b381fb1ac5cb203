"""Rows: those of small groups, those that break rules, those that queries ask for, and those that
equal real ones.
"""

from collections.abc import Iterator, Mapping

from synthdp.report.pages.view import PageView
from synthdp.report.rendering.charts import paired_marks
from synthdp.report.rendering.figures import Words, shortened
from synthdp.report.rendering.section import Key, Picture, Section

MAX_GROUPS = 20
"""Groups of a column in a picture, the worst ones."""

GROUPS = {
    "by": "column",
    "level": "group",
    "rows_real": "real rows",
    "rows_synthetic": "synthetic rows",
    "tvd_1": "TVD of columns",
    "sampling_1": "its sampling",
    "tvd_2": "TVD of pairs",
    "sampling_2": "its sampling",
    "worst_column": "worst column",
    "worst_tvd": "its TVD",
}
QUERIES = {
    "query": "query",
    "kind": "of",
    "real": "real share",
    "synthetic": "synthetic share",
    "error": "error",
    "sampling": "sampling",
}
RULES = {
    "rule": "rule",
    "broken_real": "real rows",
    "broken_synthetic": "synthetic rows",
    "share_real": "share, real",
    "share_synthetic": "share, synthetic",
}
MATCHES = {
    "real_row": "real row",
    "rows": "synthetic rows",
    "share": "share",
    "expected": "rows by chance",
    "expected_share": "share by chance",
}


def group_section(view: PageView) -> Section:
    """Who is hurt: errors within groups."""
    words = [
        "Errors within each level of a chosen column, the worst first. Small groups have large errors by chance "
        "alone: hold each against its own sampling, the upright mark.",
        *view.notes("groups"),
    ]
    if view.sections["groups"].empty:
        return Section(name="groups", title="Who is hurt", words=words)
    keys = view.keys(Key("sampling", "#777777", "tick"), "mark")
    return Section(
        name="groups",
        title="Who is hurt",
        words=words,
        keys=keys,
        pictures=list(_group_pictures(view)),
        listings=[view.listing("groups", GROUPS, "Groups, the worst first.", most=200)],
    )


def _group_pictures(view: PageView) -> Iterator[Picture]:
    for by, groups in view.sections["groups"].groupby("by", sort=False):
        tables = {
            name: part.set_index("level") for name, part in groups.groupby("table", sort=False)
        }
        first = tables[view.names[0]].head(MAX_GROUPS)
        values = {
            place: tables[name]["tvd_1"].reindex(first.index).to_numpy()
            for place, name in enumerate(view.names)
        }
        labels = [
            f"{shortened(level, 14)} ({rows:,})" for level, rows in first["rows_real"].items()
        ]
        note = f"Mean TVD of columns is largest for {first.index[0]}: {first['tvd_1'].iloc[0]:.3g}."
        words = Words(f"Errors by {by}", note)
        svg = paired_marks(
            words, labels, values, first["sampling_1"].to_numpy(), label="mean TVD of columns"
        )
        yield Picture(svg=svg, title=words.title, note="real rows in brackets")


def query_section(view: PageView) -> Section:
    """The user's own questions."""
    return _listed(view, "queries", QUERIES, "Your queries, the largest error first.")


def rule_section(view: PageView) -> Section:
    """Rows that break rules of the schema."""
    return _listed(view, "rules", RULES, "Rules, those that most synthetic rows break first.")


def _listed(view: PageView, name: str, columns: Mapping[str, str], caption: str) -> Section:
    """A section that is one table."""
    listings = view.listings(name, columns, caption, most=500)
    return Section(name=name, title=name.title(), words=view.notes(name), listings=listings)


def match_section(view: PageView) -> Section:
    """Synthetic rows that equal real ones."""
    words = [
        "Synthetic rows whose levels and bins are all those of a real row, or of a real row like no other, and how "
        "many a new sample of the same people would have. This does not measure privacy: many matches can be "
        "harmless, and none can hide leakage. What protects people is what the certificate says.",
    ]
    listings = [view.listing("matches", MATCHES, "Exact matches, and those to expect by chance.")]
    return Section(name="matches", title="Exact matches", words=words, listings=listings)
