"""What the model says: shares of levels with intervals, and which columns depend on each other."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from synthdp.report.metrics.columns import bin_edges, written_levels
from synthdp.report.release_pages.noisy_release import NoisyRelease
from synthdp.report.rendering.charts import key_of
from synthdp.report.rendering.figures import Words
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.maps import graph_map
from synthdp.report.rendering.section import Key, Picture, Section
from synthdp.report.rendering.shares import Shares

if TYPE_CHECKING:
    from networkx import Graph

INTERVAL = 0.95
"""Probability that a count of the real table lies between the limits that are drawn."""

N_OPEN, MAX_NODES, MAX_EDGES = 12, 60, 120
"""Pictures of columns that are there at once; nodes that are placed by the distances between them,
and edges drawn.
"""


def column_section(view: NoisyRelease) -> Section:
    """The shares of each column's levels, with 95 % limits by the noise."""
    words = [
        f"Shares of the levels as the release knows them. With a probability of {100 * INTERVAL:g} % over the noise, "
        "the count of the real table lies within the dark line; where a column was not measured, the line is all "
        "that is possible."
    ]
    if view.n_rows is None:
        return Section(
            name="columns",
            title="Columns",
            words=[f"Noise hides how many {view.unit} there are, and so all shares."],
        )
    errors = view.errors[view.errors["k"] == 1]
    order = errors.sort_values("noise", ascending=False, kind="stable", na_position="first")
    pictures = [
        _picture(view, name, noise)
        for (name,), noise in zip(order["columns"], order["noise"], strict=True)
    ]
    keys = [key_of(-1, "share", "bar"), Key("95 % interval", "#333333", "line")]
    return Section(
        name="columns",
        title="Columns",
        words=words,
        keys=keys,
        pictures=pictures[:N_OPEN],
        more=pictures[N_OPEN:],
    )


def _picture(view: NoisyRelease, name: str, noise: float) -> Picture:
    column = view.synthesis.schema[name]
    counts = view.synthesis.marginal([name], interval=INTERVAL)
    total = float(counts["count"].sum()) or 1.0
    limits = np.minimum(counts[["low", "high"]].to_numpy().T / total, 1.0)
    shares = Shares(
        column=name,
        levels=written_levels(column),
        tables={"share": counts["count"].to_numpy() / total},
        edges=bin_edges(column),
        limits=limits,
    )
    return shares.picture("not measured" if np.isnan(noise) else f"expected error {noise:.3g}")


def graph_section(view: NoisyRelease) -> Section:
    """Which columns were measured together, and how strongly they depend on each other in the
    model.
    """
    graph = view.synthesis.graph()
    words = [
        "An edge joins columns that were measured together, or that the model holds in one table; the thicker and "
        "darker, the stronger they depend on each other (Cramer's V, from 0 to 1)."
    ]
    rows = [
        (
            *pair,
            edge["cramers_v"],
            edge["mutual_information"],
            min(edge["stddevs"], default=float("nan")),
        )
        for *pair, edge in graph.edges(data=True)
    ]
    if not rows:
        return Section(
            name="graph", title="Dependences", words=["In the model no column depends on another."]
        )
    names = {
        "one": "column",
        "other": "with",
        "cramers_v": "Cramer's V",
        "nats": "mutual information (nats)",
    }
    names |= {"sigma": "smallest sigma"}
    frame = pd.DataFrame(rows, columns=list(names)).sort_values(
        "cramers_v", ascending=False, kind="stable"
    )
    listing = Listing.from_frame(
        frame, names, "Dependences in the model; no sigma: not measured together."
    )
    return Section(
        name="graph",
        title="Dependences",
        words=words,
        pictures=[_graph_picture(graph, frame, view.about)],
        listings=[listing],
    )


def _graph_picture(graph: "Graph", frame: pd.DataFrame, about: str) -> Picture:
    """The strongest edges, and the columns that they join."""
    strengths = {(row.one, row.other): row.cramers_v for row in frame.head(MAX_EDGES).itertuples()}
    drawn = graph.edge_subgraph(strengths).copy()
    (one, other), most = next(iter(strengths.items()))
    note = f"{len(frame)} dependences. The strongest is {one} with {other}: {most:.2f}."
    if len(frame) > len(strengths):
        note += f" The {len(strengths)} strongest are drawn."
    if left_out := len(graph) - len(drawn):
        note += f" {left_out} columns without any of these are left out."
    words = Words(f"Dependence graph{about}", note)
    return Picture(
        svg=graph_map(words, list(drawn), strengths, _places(drawn)), title=words.title, note=note
    )


def _places(graph: "Graph") -> dict[str, list[float]]:
    """Where nodes lie, from -1 to 1: the nearer, the stronger they depend on each other."""
    import networkx as nx  # `graph` is one of its graphs

    for *_, edge in graph.edges(data=True):
        edge["length"] = 1.3 - edge["cramers_v"]
    if len(graph) <= MAX_NODES:
        layout = nx.kamada_kawai_layout(graph, weight="length")
    else:
        layout = nx.spring_layout(graph, weight="cramers_v", seed=0, k=2 / np.sqrt(len(graph)))
    points = np.array(list(layout.values()))
    low = points.min(axis=0)
    high = points.max(axis=0)
    spread = 2 * (points - low) / np.where(high > low, high - low, 1.0) - 1
    return dict(zip(layout, spread.tolist(), strict=True))
