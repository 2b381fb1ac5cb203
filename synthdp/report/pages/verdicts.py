"""NOT PRIVATE. What an evaluation says first: a sentence, a few marks, and what to look at."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pandas as pd

from synthdp.report.metrics.own_units import value_text
from synthdp.report.metrics.similarity import TV, marks_of
from synthdp.report.rendering.section import Mark

MAX_POINTS = 3
"""Columns, and pairs of columns, that are named as what to look at first."""

COLUMNS, OWN_PAIRS = "columns", "own pairs"
"""Kinds of marginals of linked tables; see `synthdp.report.linked.linked_marginals`."""

KIND_NAMES = {
    OWN_PAIRS: "pairs of one table",
    "siblings": "two rows of one parent",
    "transitions": "a row and the next",
}
WHOSE_SECOND = {"siblings": " of another row of its parent", "transitions": " of the next row"}
"""What kinds of marginals are called where nothing was explained, and whose the second column is.
"""

CHANCE = 1.5
"""Another sample of the population has about 2 ** .5 times the error of rows drawn from the real
ones.
"""

CLOSE, FAIR = 0.05, 0.15
"""Up to this share of rows that pairs are off, a table is called close, or fair."""

GRADES = (
    "As good as another sample of the same population.",
    "Close to the real table.",
    "Fair: broad patterns are right, details are not.",
    "Far from the real table: use it to try out programs, not to learn about the people.",
)
"""What a table is called, the best first."""

OWN = "Rows that would have to change"

STANDS_OUT = {1: 3.0, 2: 2.0}
"""By its number of columns how many times the error of sampling a marginal has that is named: that
of a few cells varies more.
"""

LEAST = 0.01
"""Smaller shares of rows are not named."""

MOVED = 0.05
"""Numbers that move by fewer standard deviations on average are not named, if their bins are right.
"""


@final
@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What an evaluation of one synthetic table, or of one package, says first."""

    grade: str
    """How good the table is, in a few words."""
    sentence: str
    """What that is from."""
    marks: Mapping[str, Sequence[Mark]]
    """Groups of numbers: those that others know, and ours."""
    points: Sequence[str]
    """What to look at first, the worst first."""
    error: float
    """The mean error that the sentence is about, a share of rows."""


def table_verdict(sections: Mapping[str, pd.DataFrame], moved: Mapping[str, str]) -> Verdict:
    """The verdict on one synthetic table.

    Parameters
    ----------
    sections
        The tables of an evaluation, of this synthetic table only.
    moved
        Of numbers and dates how their mean differs, in words.
    """
    marginals = sections["marginals"]
    means = marginals.groupby("k")[["tvd", "sampling"]].mean()
    # Pairs, for columns alone are nearly right in any table, and triples mostly repeat what pairs
    # say.
    k = min(2, int(means.index.max()))
    error, chance = means.loc[k]
    what = "a pair of columns" if k == 2 else "a column"
    grade, sentence = judged(float(error), float(chance), what)
    # What the schema merges is right in its bins and levels, and need not be in what people read.
    by_value, chance_by_value = _by_single_values(marginals[marginals["k"] == k], sections)
    graded = judged(by_value, chance_by_value, what)[0]
    if GRADES.index(graded) > GRADES.index(grade):
        grade = graded
        sentence += (
            f" Value by value, in place of the schema's bins and levels, it is {as_error(by_value)} or more "
            f"({as_error(chance_by_value)} by chance): that is what is judged."
        )
    return Verdict(
        grade=grade,
        sentence=sentence,
        marks={
            _sdmetrics_heading(sections["similarity"]): list(
                _sdmetrics_marks(sections["similarity"])
            ),
            OWN: list(_error_marks(means)),
        },
        points=list(_points(sections, moved)) or [NOTHING],
        error=float(error),
    )


def _by_single_values(
    marginals: pd.DataFrame, sections: Mapping[str, pd.DataFrame]
) -> tuple[float, float]:
    """Mean error of some marginals, none less than that of its columns' own values, and by chance."""
    similarity = sections["similarity"]
    columns = similarity[similarity["columns"].map(len) == 1]
    errors = []
    for error, score in {"tvd": "score", "sampling": "sampling"}.items():
        # SDMetrics compares values as they are written: shares of levels, or ranks of numbers.
        own = {row["columns"][0]: 1.0 - row[score] for row in columns.to_dict("records")}
        rows = marginals.to_dict("records")
        least = [max((own.get(name, 0.0) for name in row["columns"]), default=0.0) for row in rows]
        pairs = zip((row[error] for row in rows), least, strict=True)
        # NaN: a column that SDMetrics cannot compare.
        errors.append(float(np.mean([np.nanmax(pair) for pair in pairs])))
    return errors[0], errors[1]


BY_CHANCE = (
    "By chance: what as many rows would have that are drawn at random from the real table. An error near it cannot be "
    "told from chance."
)

NOTHING = (
    "Nothing stands out: no column and no pair of columns is much further off than chance explains."
)


def linked_verdict(
    summary: pd.DataFrame, distances: pd.DataFrame, broken_links: Mapping[str, int]
) -> Verdict:
    """The verdict on the synthetic tables of a package.

    Parameters
    ----------
    summary, distances, broken_links
        As `LinkedEvaluation` has them.
    """
    # Tables of one column each have no pairs.
    kind = OWN_PAIRS if OWN_PAIRS in summary.index else summary.index[0]
    error, chance = (float(summary.loc[kind, key]) for key in ("mean", "sampling"))
    what = "a pair of columns of one table" if kind == OWN_PAIRS else "a column"
    grade, sentence = judged(error, chance, what)
    marks = [
        Mark(
            name=KIND_NAMES.get(str(name), str(name)),
            value=as_error(row["mean"]),
            beside=f"by chance: {as_error(row['sampling'])}",
        )
        for name, row in summary.iterrows()
    ]
    points = [
        f"Broken links: {number:,} rows of {table!r} refer to no row, or have a key twice."
        for table, number in broken_links.items()
        if number
    ]
    points += _linked_points(distances)
    return Verdict(
        grade=grade,
        sentence=sentence,
        marks={OWN: marks},
        points=points or [NOTHING],
        error=error,
    )


def _linked_points(distances: pd.DataFrame) -> list[str]:
    """The columns and pairs that stand out, in words."""
    columns = distances[distances["kind"] == COLUMNS]
    alone = {row["columns"][0]: row for row in columns.to_dict("records")}
    pairs = distances[distances["kind"] != COLUMNS]
    rows = [*_standing_out(columns, {}), *_standing_out(pairs, alone)]
    points = []
    for _, row in sorted(rows, key=lambda each: -each[0]):
        named = " with ".join(map(repr, row["columns"])) + WHOSE_SECOND.get(row["kind"], "")
        named = f"Column {named}" if row["kind"] == COLUMNS else named
        points.append(f"{named}: {_off(row)}.")
    return points


def judged(error: float, chance: float, what: str) -> tuple[str, str]:
    """How good a table is by one mean error: a grade, and the sentence that says what it is from.

    >>> judged(0.021, 0.02, "a pair of columns")  # doctest: +ELLIPSIS
    ('As good as another sample of the same population.', 'On average 2.1 % of the rows would...')
    """
    # Chance comes first: a small table may be as good as can be and still be far off in per cent.
    far = 1 + (error > CLOSE) + (error > FAIR)
    grade = GRADES[0 if error <= CHANCE * chance else far]
    sentence = (
        f"On average {as_error(error)} of the rows would have to change for {what} to be right "
        f"({as_error(chance)} by chance alone)."
    )
    return grade, sentence


def _sdmetrics_heading(similarity: pd.DataFrame) -> str:
    n_pairs = int((similarity["columns"].map(len) == 2).sum())
    counted = "1 related pair" if n_pairs == 1 else f"{n_pairs} related pairs"
    return f"SDV's quality report (pair trends: {counted})"


def _sdmetrics_marks(similarity: pd.DataFrame) -> Iterator[Mark]:
    """The marks of SDMetrics, which SDV shows."""
    marks = marks_of(similarity)
    sampled = marks_of(similarity, "sampling")
    for name, mark in marks.items():
        beside = f"by chance: {as_mark(sampled[name])}"
        # NaN: the mean of no pairs.
        if mark != mark:
            beside = "no pair depends enough to count"
        yield Mark(name=name, value=as_mark(mark), beside=beside)


def as_mark(share: float) -> str:
    """A mark in per cent; a dash if there is none.

    >>> as_mark(0.9704), as_mark(float("nan"))
    ('97.0 %', '-')
    """
    return f"{100 * share:.1f} %" if share == share else "-"


def as_error(share: float) -> str:
    """A share of rows in per cent, as precisely as it matters.

    >>> as_error(0.03), as_error(0.126), as_error(0.00042), as_error(0.0)
    ('3.0 %', '13 %', '0.042 %', '0 %')
    """
    # Rounded to a tenth of a per cent it would read 0.0, as if there were no error.
    if 0 < share < 0.00095:
        return f"{100 * share:.2g} %"
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{100 * share:.0f} %"


def _error_marks(means: pd.DataFrame) -> Iterator[Mark]:
    names = {2: "pairs of columns", 3: "triples of columns"}
    for k, name in names.items():
        if k in means.index:
            error, chance = means.loc[k]
            yield Mark(name=name, value=as_error(error), beside=f"by chance: {as_error(chance)}")


def _points(sections: Mapping[str, pd.DataFrame], moved: Mapping[str, str]) -> Iterator[str]:
    marginals = sections["marginals"]
    columns, pairs = (marginals[marginals["k"] == k] for k in (1, 2))
    alone = {row["columns"][0]: row for row in columns.to_dict("records")}
    standing_out = [*_standing_out(columns, {}), *_standing_out(pairs, alone)]
    states_measured = bool(marginals["measured"].any())
    for _, row in sorted(standing_out, key=lambda each: -each[0]):
        if len(row["columns"]) == 1:
            (name,) = row["columns"]
            more = f" Its mean is {moved[name]}." if name in moved else ""
            yield f"Column {name!r}: {_off(row)}.{more}"
        else:
            one, other = row["columns"]
            more = " They were not measured together; a workload can name them."
            yield f"{one!r} with {other!r}: {_off(row)}.{more if states_measured and not row['measured'] else ''}"
    named = {name for _, row in standing_out for name in row["columns"]}
    yield from _moved_within_bins(sections, moved, named)
    yield from _merged(sections["similarity"], alone)
    rules = sections["rules"]
    if len(rules):
        # Real rows break rules, too, by typing errors; what matters is what synthesis made worse.
        rules = rules[rules["share_synthetic"] > STANDS_OUT[2] * rules["share_real"]]
    for row in rules.head(1).to_dict("records"):
        yield f"Rule {row['rule']}: {as_error(row['share_synthetic'])} of the synthetic rows break it."


def _moved_within_bins(
    sections: Mapping[str, pd.DataFrame], moved: Mapping[str, str], named: Collection[str]
) -> Iterator[str]:
    """Numbers of which shares of bins are right, and the values in them are not: largest ones that
    were cut off, say.
    """
    deviations = sections["columns"].set_index("column")["wasserstein"]
    far = [
        (deviations[row["column"]], row)
        for row in sections["values"].to_dict("records")
        if row["column"] not in named
        and deviations[row["column"]] > MOVED
        and row["moved"] > STANDS_OUT[1] * row["moved_sampling"]
    ]
    for _, row in sorted(far, key=lambda each: -each[0])[:MAX_POINTS]:
        name = row["column"]
        unit = f" {row['unit']}" if row["unit"] else ""
        mean = f" Its mean is {moved[name]}." if name in moved else ""
        yield (
            f"Column {name!r}: values are {value_text(row['moved'])}{unit} off on average "
            f"({value_text(row['moved_sampling'])} by chance), though its bins are right.{mean}"
        )


def _merged(similarity: pd.DataFrame, alone: Mapping[str, Any]) -> Iterator[str]:
    """Columns whose rare values are one level here, and values of their own to SDMetrics."""
    merged = {}
    for row in similarity[similarity["metric"] == TV].to_dict("records"):
        name = row["columns"][0]
        # What SDMetrics takes off beyond our own distance can only come from values that the schema
        # merged, as both compare all others alike.
        more = 1 - row["score"] - alone[name]["tvd"] if name in alone else 0.0
        if more > LEAST:
            merged[name] = more
    if merged:
        largest = sorted(merged, key=lambda name: -merged[name])[:MAX_POINTS]
        named = ", ".join(f"{as_error(merged[name])} of the rows in {name!r}" for name in largest)
        yield (
            f"Rare values are written as one: {named}. SDMetrics counts them as wrong, which lowers its marks; "
            "our errors compare them as one level."
        )


def _off(row: Mapping[str, Any]) -> str:
    chance = as_error(row["sampling"])
    return f"{as_error(row['tvd'])} of the rows would have to change ({chance} by chance)"


def _standing_out(
    marginals: pd.DataFrame, alone: Mapping[str, Any]
) -> list[tuple[float, dict[str, Any]]]:
    """The marginals that are further off than chance, and than their columns are by themselves, and
    by how much.
    """
    rows = []
    for row in marginals.to_dict("records"):
        # A pair is off by at least as much as its columns are: it stands out only by what its
        # columns do not explain, or one wrong column would fill the list with all of its pairs.
        known = [alone[name]["tvd"] for name in row["columns"] if name in alone]
        expected = max([row["sampling"], *known])
        factor = STANDS_OUT[len(row["columns"])]
        if row["tvd"] > factor * row["sampling"] and row["tvd"] - expected > LEAST:
            rows.append((row["tvd"] - expected, row))
    rows.sort(key=lambda each: -each[0])
    return rows[:MAX_POINTS]
