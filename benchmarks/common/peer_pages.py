"""What peers' results become: means for a terminal, a page, and the tables and the plot of the
documentation.
"""

import html
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from common.results import Row, Rows

KEY = ("table", "peer", "settings", "epsilon", "seed")
ERRORS = ("2-way", "3-way", "4-way")
JUDGED = ("prediction", "AUC of real and drawn", "Spearman", "KS", "Wasserstein", "heavy")
COSTS = ("cpu s", "seconds", "peak MB")
COLUMNS = (*KEY, *ERRORS, *JUDGED, *COSTS, "version", "remarks", "note")
"""Of the CSV file of results."""
SHOWN = (*ERRORS, "prediction", "AUC of real and drawn", "Spearman", "KS", "cpu s", "peak MB")
REAL = "real"
"""The peer that is other records: what sampling alone gives."""
TITLES = {
    "adult": "Raw Adult, 32,561 x 15",
    "marriages": "Marriages, 4,458 x 9",
    "health": "Health, 14,289 x 10",
}
"""First cells of published tables: what the records are, without those that are held out."""
PUBLISHED_EPSILONS = ("0.1", "1", "10")


def means(rows: Rows) -> list[tuple[str, pd.DataFrame]]:
    """A frame of means over seeds for each table and epsilon, peers in the order of 3-way error."""
    frame = _frame(rows)
    tables = []
    for name, group in frame.groupby("table", sort=False):
        for epsilon in [each for each in group["epsilon"].unique() if each]:
            chosen = group[(group["epsilon"] == epsilon) | (group["epsilon"] == "")]
            each = chosen.groupby(["peer", "settings"])[list(SHOWN)].mean()
            tables.append((f"{name}, epsilon {epsilon}", each.sort_values("3-way")))
    return tables


def write_page(file: Path, rows: Rows, about: str) -> None:
    """A page with the tables, the remarks, and a plot of errors over epsilon of each table."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>synthdp and its peers</title>",
        "<style>body{font:16px/1.5 system-ui;max-width:75em;margin:2em auto;padding:0 1em}",
        "table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:right}</style>",
        "<h1>synthdp and its peers</h1>",
        f"<pre>{html.escape(about.strip())}</pre>",
        plot(rows),
    ]
    for title, each in means(rows):
        parts += [f"<h2>{html.escape(title)}</h2>", each.to_html(float_format="{:.4g}".format)]
    remarks = sorted(
        {(row["peer"], row.get("version") or "", row.get("remarks") or "") for row in rows.values()}
    )
    listed = pd.DataFrame(remarks, columns=["peer", "version", "remarks"])
    parts += ["<h2>Versions and remarks</h2>", listed.to_html(index=False)]
    file.write_text("\n".join(parts), encoding="utf-8")


def plot(rows: Rows) -> str:
    """Three-way errors over epsilon as SVG, a panel a table; a sentence without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return "<p>Plots need matplotlib: pip install matplotlib</p>"
    frame = _frame(rows)
    tables = list(frame["table"].unique())
    marks = {
        name: {"color": f"C{i}", "marker": mark}
        for i, (name, mark) in enumerate(zip(_peers(frame), "os^vD<>pP*Xhd" * 2, strict=False))
    }
    figure, axes = pyplot.subplots(
        1, len(tables), figsize=(4.2 * len(tables), 4), squeeze=False, sharey=True
    )
    for axis, table in zip(axes[0], tables, strict=True):
        of_table = frame[frame["table"] == table]
        for name, group in of_table.groupby("name", sort=False):
            private = group[group["epsilon"] != ""]
            errors = private.groupby(private["epsilon"].astype(float))["3-way"].mean().dropna()
            if len(errors):
                axis.loglog(errors.index, errors, **marks[str(name)], label=name)
            elif group["3-way"].notna().any():
                style = ":" if name == REAL else "--"
                axis.axhline(group["3-way"].mean(), color="grey", linestyle=style, label=name)
        axis.set(title=table, xlabel="epsilon", xticks=[0.1, 1, 10])
        axis.set_xticklabels(["0.1", "1", "10"])
    axes[0][0].set(ylabel="error of three columns together")
    handles = {
        name: handle
        for axis in axes[0]
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), fontsize=8, loc="center left", bbox_to_anchor=(0.91, 0.5)
    )
    stream = io.StringIO()
    # Neither a date nor names drawn by chance: the same results give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "peers", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    return stream.getvalue()


def published_table(rows: Rows, table: str) -> str:
    """The table of README and of the documentation: of each package what is best at epsilon 1.

    Three-way errors at epsilon .1, 1 and 10; prediction and processor seconds are at epsilon 1. Of
    ours both, what was handed levels and bounds and what was not.
    """
    frame = _frame(rows)
    frame = frame[frame["table"] == table]
    (records,) = frame.loc[frame["peer"] == REAL, "prediction"]
    best: dict[str, tuple[float, str]] = {}
    for name, group in frame[frame["peer"] != REAL].groupby("name", sort=False):
        by_epsilon = group.groupby("epsilon")[list(SHOWN)].mean()
        at_one = by_epsilon.loc["1" if "1" in by_epsilon.index else ""]
        if "" in by_epsilon.index:
            errors, title = _error(by_epsilon.loc["", "3-way"]), f"{name}, **not private**"
        else:
            asked = by_epsilon.reindex(PUBLISHED_EPSILONS)["3-way"]
            errors, title = " / ".join(map(_error, asked)), str(name)
        if not np.isnan(at_one["3-way"]):  # what failed has no line
            costs = f"{_error(at_one['prediction'])} | {at_one['cpu s']:.0f}"
            line = at_one["3-way"], f"| {title} | {errors} | {costs} |"
            package = str(name) if str(name).startswith("synthdp") else str(name).split()[0]
            best[package] = min(best.get(package, line), line)
    header = [
        TITLES[table],
        f"three columns together, epsilon {' / '.join(PUBLISHED_EPSILONS)}",
        f"AUC, of records {_error(records)}",
        "CPU s",
    ]
    return "\n".join(
        [
            f"| {' | '.join(header)} |",
            "|---|---|---|---|",
            *(line for _, line in sorted(best.values())),
        ]
    )


def replaced_table(text: str, table: str) -> str:
    """A text in which a published table, which is known by its first cell, is replaced."""
    lines, first = text.split("\n"), table.partition(" |")[0] + " |"
    (start,) = (i for i, line in enumerate(lines) if line.startswith(first))
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    return "\n".join([*lines[:start], table, *lines[end:]])


def blanks(row: Mapping[str, str], columns: Sequence[str] = COLUMNS) -> Row:
    """A row that has all columns."""
    return {name: row.get(name, "") for name in columns}


def _frame(rows: Rows) -> pd.DataFrame:
    """Results as a frame of numbers, with the name that a peer's settings go by."""
    frame = pd.DataFrame(list(rows.values()))
    frame[list(SHOWN)] = frame.reindex(columns=SHOWN).apply(pd.to_numeric, errors="coerce")
    is_default = frame["settings"] == "default"
    frame["name"] = frame["peer"].where(is_default, frame["peer"] + ", " + frame["settings"])
    return frame


def _peers(frame: pd.DataFrame) -> Iterable[str]:
    return sorted(frame["name"].unique())


def _error(share: float) -> str:
    """A share of the rows; a dash where nothing was run, or it failed."""
    return "\u2013" if np.isnan(share) else f"{share:.3f}".removeprefix("0")
