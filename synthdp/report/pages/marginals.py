"""Marginals: how large their errors are, what they stand between, and the worst ones cell by cell."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from synthdp.core.cliques import Clique
from synthdp.report.metrics.columns import level_texts
from synthdp.report.pages.cells import pair_pictures
from synthdp.report.pages.view import PageView, worst_first
from synthdp.report.rendering.charts import Curve, curves, histograms, key_of
from synthdp.report.rendering.figures import Words
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.section import Picture, Section

MAX_POINTS = 150
"""Marginals of a size that are drawn as points: the worst third of them, and others evenly."""

N_LISTED, N_PAIRS = 60, 4
"""Marginals of a size in the table; worst pairs that are drawn."""

NAMES = {
    "k": "columns",
    "columns": "marginal",
    "tvd": "TVD",
    "sampling": "sampling",
    "noise": "noise",
    "measured": "measured",
}
_AXES = {"sampling": "TVD that sampling causes", "noise": "TVD that noise causes (at 1: or more)"}
_OF_NOISE = (
    "In the third, of marginals that were measured, the line is what the noise would cause; below it the engine made "
    "use of other measurements. Points at its right end have noise of 1 or more: as much as there are rows, or many "
    "times that."
)
WAYS = [key_of(k - 1, f"{k}-way marginals", "both") for k in (1, 2, 3)]


def curve_section(view: PageView) -> Section | None:
    """Errors against epsilon, where the certificates of several tables say it."""
    epsilons = view.facts.get("epsilon", {})
    names = sorted(
        (name for name in view.names if name in epsilons), key=lambda name: float(epsilons[name])
    )
    if len({epsilons[name] for name in names}) < 2:
        return None
    means = view.sections["marginals"].groupby(["k", "table"])[["tvd", "sampling"]].mean()
    x = [float(epsilons[name]) for name in names]
    lines, rows = [], []
    for place, k in enumerate(means.index.get_level_values("k").unique()):
        y = means.loc[k].loc[names]
        # Several tables may have one epsilon: points show all of them, the line the best, as a mean
        # would hide that one mechanism is worse.
        best = y.groupby(x).min()
        lines.append(Curve(x=best.index, y=best["sampling"], place=-1))
        lines.append(Curve(x=x, y=y["tvd"], place=place, is_line=False, is_marked=True))
        lines.append(Curve(x=best.index, y=best["tvd"], place=place, is_marked=True))
        rows += [(int(k), name, each, *y.loc[name]) for name, each in zip(names, x, strict=True)]
    frame = pd.DataFrame(rows, columns=["k", "table", "epsilon", "tvd", "sampling"])
    shown = {
        "k": "columns",
        "table": "table",
        "epsilon": "epsilon",
        "tvd": "mean TVD",
        "sampling": "sampling",
    }
    words = Words(
        "Error by epsilon",
        f"Mean total variation distance at epsilon {', '.join(f'{each:g}' for each in x)}.",
    )
    svg = curves(words, lines, labels=("epsilon", "mean TVD"), logarithmic="x")
    picture = Picture(
        svg=svg,
        title=words.title,
        numbers=Listing.from_frame(frame, shown, "Mean errors by epsilon."),
    )
    return Section(
        name="epsilon",
        title="Epsilon and utility",
        words=[
            "What privacy costs: less epsilon is safer, and has larger errors. Each point is one table, made once; "
            "lines join the best at each epsilon."
        ],
        keys=[*WAYS, key_of(-1, "sampling")],
        pictures=[picture],
    )


def marginal_section(view: PageView) -> Section:
    """Errors of all marginals: how they are spread, and their references."""
    words = [
        "How often the values of one, two or three columns occur together. In the second picture a point is a "
        "marginal: on the dashed line its error is what sampling would cause, above it is more.",
        *([_OF_NOISE] if view.sections["marginals"]["noise"].notna().any() else ()),
        *view.notes("marginals"),
        *view.notes("noise"),
    ]
    frame = view.sections["marginals"]
    pictures, more = view.own_pictures(lambda name: [*_error_pictures(view, name)])
    worst = frame.groupby(["table", "k"], sort=False).head(N_LISTED)
    whose = {"table": "table"} if len(view.names) > 1 else {}
    caption = (
        f"The worst {N_LISTED} marginals of each size; Evaluation.marginals has all {len(frame):,}."
    )
    listing = Listing.from_frame(worst, whose | NAMES, caption, most=1000)
    return Section(
        name="marginals",
        title="Marginals",
        words=words,
        keys=WAYS,
        pictures=pictures,
        listings=[listing],
        more=more,
    )


def _error_pictures(view: PageView, name: str) -> Iterator[Picture]:
    frame = view.of("marginals", name)
    by_size = [frame[frame["k"] == k] for k in (1, 2, 3)]
    about = f" of {name}" if len(view.names) > 1 else ""
    means = ", ".join(
        f"{part['tvd'].mean():.3g} of {k} columns" for k, part in enumerate(by_size, 1) if len(part)
    )
    words = Words(
        f"Spread of errors{about}", f"Total variation distances of marginals; on average {means}."
    )
    # Of all tables and not of this one: pictures side by side must have one scale.
    end = float(view.sections["marginals"][["tvd", "sampling"]].to_numpy().max())
    marks = [part["sampling"].mean() for part in by_size]
    svg = histograms(words, [part["tvd"] for part in by_size], marks, label="TVD", end=end)
    note = "thick marks: what sampling causes on average"
    yield Picture(svg=svg, title=words.title, note=note, begins_row=True)
    for reference in ("sampling", "noise"):
        shown = [_points(_positive(part, reference)) for part in by_size]
        if not sum(map(len, shown)):
            continue
        n_above = int((frame["tvd"] > frame[reference]).sum())
        n_known = int(frame[reference].notna().sum())
        note = f"{n_above} of {n_known} marginals have a larger error than {reference} alone would cause."
        words = Words(f"Error against {reference}{about}", note)
        if reference == "noise" and (n_drowned := int((frame["noise"] >= 1).sum())):
            note += f" Of {n_drowned} it is 1 or more."
        numbers = _positive(view.sections["marginals"], reference)[["tvd", reference]].to_numpy()
        ends = (float(numbers.min()) / 1.3, float(numbers.max()) * 1.3)
        lines = [Curve(x=ends, y=ends, place=-1)]
        lines += [Curve(x=part[reference], y=part["tvd"], place=place, is_line=False, is_marked=True)
                  for place, part in enumerate(shown) if len(part)]  # fmt: skip
        svg = curves(words, lines, labels=(_AXES[reference], "TVD"), logarithmic="xy", fixed=ends)
        yield Picture(svg=svg, title=words.title, note=note)


def _positive(frame: pd.DataFrame, reference: str) -> pd.DataFrame:
    """The marginals that logarithmic axes can show."""
    return frame[(frame[reference] > 0) & (frame["tvd"] > 0)]


def _points(part: pd.DataFrame) -> pd.DataFrame:
    """The worst of some marginals, which come first, and others evenly."""
    if len(part) <= MAX_POINTS:
        return part
    # Worst ones must be seen, and the others show what is usual; thousands of points would make the
    # page slow and show a blot.
    n_worst = MAX_POINTS // 3
    others = np.linspace(n_worst, len(part) - 1, MAX_POINTS - n_worst).round().astype(int)
    return part.iloc[np.r_[np.arange(n_worst), np.unique(others)]]


def pair_section(view: PageView) -> Section | None:
    """The worst pairs of columns, cell by cell."""
    pairs = view.sections["marginals"][view.sections["marginals"]["k"] == 2]
    if pairs.empty:
        return None
    pictures = []
    for clique in worst_first(pairs, ["columns"], "tvd")["columns"].head(N_PAIRS):
        own = (
            pairs[pairs["columns"] == clique]
            .sort_values("tvd", ascending=False, kind="stable")
            .iloc[0]
        )
        pictures += list(_pair_pictures(view, clique, own["table"], own["tvd"]))
    words = [
        "Shares of the cells of the pairs with the largest errors, in the table that is worst at them. Colours of "
        "shares grow with their square roots, so that rare cells can be seen."
    ]
    return Section(name="pairs", title="Worst pairs", words=words, pictures=pictures)


def _pair_pictures(view: PageView, clique: Clique, name: str, tvd: float) -> Iterator[Picture]:
    schema = view.tables[""].schema
    shares = [table.counts(clique) / table.size for table in (view.tables[""], view.tables[name])]
    return pair_pictures(
        clique, [level_texts(schema[column]) for column in clique], shares, name=name, tvd=tvd
    )
