"""What the model says: shares of levels with intervals, and which columns depend on each other."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from synthdp.evaluation.metrics.columns import level_texts
from synthdp.explain.pages.noisy_release import NoisyRelease
from synthdp.rendering.charts import Words, key_of
from synthdp.rendering.listing import Listing
from synthdp.rendering.maps import graph_map
from synthdp.rendering.section import Key, Picture, Section
from synthdp.rendering.shares import Shares
from synthdp.table.columns.binned import BinnedColumn

INTERVAL = 0.95
"""Probability that a count of the real table lies between the limits that are drawn."""

N_OPEN, MAX_NODES, MAX_EDGES = 12, 60, 200
"""Pictures of columns that are there at once; nodes that are placed by the distances between them, and edges drawn."""


def column_section(view: NoisyRelease) -> Section:
    """The shares of each column's levels, with 95 % limits by the noise."""
    words = [
        f"Shares of the levels as the release knows them. With a probability of {100 * INTERVAL:g} % over the noise, "
        "the count of the real table lies within the dark line; where a column was not measured, the line is all "
        "that is possible."
    ]
    if view.n_rows is None:
        return Section(name="columns", title="Columns", words=[UNKNOWN_ROWS])
    errors = view.errors[view.errors["k"] == 1]
    order = errors.sort_values("noise", ascending=False, kind="stable", na_position="first")
    pictures = [_picture(view, name, noise) for (name,), noise in zip(order["columns"], order["noise"], strict=True)]
    keys = [key_of(-1, "share", "bar"), Key("95 % interval", "#333333", "line")]
    return Section(
        name="columns", title="Columns", words=words, keys=keys, pictures=pictures[:N_OPEN], more=pictures[N_OPEN:]
    )


UNKNOWN_ROWS = "Noise hides how many records there are, and so all shares."


def _picture(view: NoisyRelease, name: str, noise: float) -> Picture:
    column = view.synthesis.schema[name]
    found = view.synthesis.marginal([name], interval=INTERVAL)
    total = float(found["count"].sum()) or 1.0
    limits = np.minimum(found[["low", "high"]].to_numpy().T / total, 1.0)
    shares = Shares(
        column=name,
        levels=level_texts(column),
        tables={"share": found["count"].to_numpy() / total},
        is_ordered=isinstance(column, BinnedColumn),
        limits=limits,
    )
    return shares.picture("not measured" if np.isnan(noise) else f"expected error {noise:.3g}")


def graph_section(view: NoisyRelease) -> Section:
    """Which columns were measured together, and how strongly they depend on each other in the model."""
    import networkx as nx

    graph = view.synthesis.graph()
    words = [
        "An edge joins columns that were measured together, or that the model holds in one table; the thicker and "
        "darker, the stronger they depend on each other (Cramer's V, from 0 to 1)."
    ]
    rows = [
        (*pair, edge["cramers_v"], edge["mutual_information"], min(edge["stddevs"], default=float("nan")))
        for *pair, edge in graph.edges(data=True)
    ]
    names = ["one", "other", "cramers_v", "mutual_information", "sigma"]
    frame = pd.DataFrame(rows, columns=names).sort_values("cramers_v", ascending=False, kind="stable")
    drawn = graph.edge_subgraph([(row.one, row.other) for row in frame.head(MAX_EDGES).itertuples()]).copy()
    drawn.add_nodes_from(graph.nodes)
    for *_, edge in drawn.edges(data=True):
        edge["length"] = 1.3 - edge["cramers_v"]
    if len(graph) <= MAX_NODES:
        places = nx.kamada_kawai_layout(drawn, weight="length")
    else:
        places = nx.spring_layout(drawn, weight="cramers_v", seed=0, k=2 / np.sqrt(len(graph)))
    strengths = {(row.one, row.other): row.cramers_v for row in frame.head(MAX_EDGES).itertuples()}
    picture = _graph_picture(list(graph.nodes), strengths, places, len(frame))
    shown = {
        "one": "column",
        "other": "with",
        "cramers_v": "Cramer's V",
        "mutual_information": "mutual information (nats)",
    }
    shown["sigma"] = "smallest sigma"
    listings = [Listing.of(frame, shown, "Dependences in the model; no sigma: not measured together.")] if rows else []
    return Section(name="graph", title="Dependences", words=words, pictures=[picture], listings=listings)


def _graph_picture(
    nodes: Sequence[str],
    strengths: Mapping[tuple[str, str], float],
    places: Mapping[str, Sequence[float]],
    n_edges: int,
) -> Picture:
    said = f"{len(nodes)} columns and {n_edges} dependences."
    if strengths:
        (one, other), most = max(strengths.items(), key=lambda each: each[1])
        said += f" The strongest is {one} with {other}: {most:.2f}."
    if n_edges > len(strengths):
        said += f" The {len(strengths)} strongest are drawn."
    words = Words("Dependence graph", said)
    points = np.array([places[name] for name in nodes])
    low, high = points.min(axis=0), points.max(axis=0)
    spread = 2 * (points - low) / np.where(high > low, high - low, 1.0) - 1
    filled = dict(zip(nodes, spread.tolist(), strict=True))
    return Picture(svg=graph_map(words, nodes, strengths, filled), title=words.title, note=said)
