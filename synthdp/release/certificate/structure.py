"""The structure of a release as a graph: which columns were measured together, and how strongly
they depend.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from synthdp.core.imports import import_extra
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.model import Model

if TYPE_CHECKING:
    from networkx import Graph


def structure_graph(
    model: Model, measurements: Sequence[LinearMeasurement], sources: Mapping[str, str]
) -> "Graph":
    """Attributes as nodes; as edges the pairs that lie in a measured clique or in one of the
    model's.

    Parameters
    ----------
    model
        Whose two-way marginals say how strongly a pair depends.
    measurements
        What was measured, over the model's attributes.
    sources
        For each attribute the column of the table that it is, or is a part of.

    Returns
    -------
    networkx.Graph
        See `synthdp.Synthesis.graph` for its attributes.

    Raises
    ------
    MissingExtraError
        If networkx is not installed.
    """
    nx = import_extra("networkx", "a graph needs networkx; run: pip install 'synthdp[graph]'")
    graph = nx.Graph(n_rows=float(model.total))
    for name, n_levels in zip(model.domain.attributes, model.domain.shape, strict=True):
        graph.add_node(name, column=sources[name], n_levels=n_levels, stddevs=[])
    measured = [measurement.clique for measurement in measurements]
    for clique in (*model.cliques, *measured):
        for pair in combinations(clique, 2):
            graph.add_edge(*pair, cliques=[], stddevs=[])
    for measurement in measurements:
        # The root of the mean variance, as cells may have noise of their own scales.
        stddev = float(np.sqrt(np.mean(np.square(measurement.stddev))))
        if len(measurement.clique) == 1:
            graph.nodes[measurement.clique[0]]["stddevs"].append(stddev)
        for pair in combinations(measurement.clique, 2):
            graph.edges[pair]["cliques"].append(measurement.clique)
            graph.edges[pair]["stddevs"].append(stddev)
    # All at once: a model answers many marginals in one walk over its tree.
    pairs = list(graph.edges)
    for pair, marginal in zip(pairs, model.marginals(pairs), strict=True):
        information, cramers_v = dependence(marginal.values)
        graph.edges[pair]["mutual_information"] = information
        graph.edges[pair]["cramers_v"] = cramers_v
    return graph


def dependence(counts: NDArray[np.float64]) -> tuple[float, float]:
    """Mutual information in nats, and Cramér's V, of a table of counts of two attributes; zeros for
    an empty table.

    Levels that do not occur take no part in either.

    >>> [round(value, 3) for value in dependence(np.array([[50.0, 0.0], [0.0, 50.0]]))]
    [0.693, 1.0]
    """
    # Cramér's V divides by the number of levels: those that never occur would make it too small.
    has_rows = counts.sum(axis=1) > 0
    has_columns = counts.sum(axis=0) > 0
    occurring = counts[np.ix_(has_rows, has_columns)]
    n_levels = min(occurring.shape)
    if n_levels < 2:
        return 0.0, 0.0
    joint = occurring / occurring.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    ratio = joint / independent
    log_ratio = np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0)  # 0 log 0 is 0
    information = float(np.sum(joint * log_ratio))
    chi_squared = float(np.sum(np.square(joint - independent) / independent))
    cramers_v = (chi_squared / (n_levels - 1)) ** 0.5
    # Rounding alone would show an independent pair as a negative number, or a copy as above 1.
    return max(information, 0.0), min(cramers_v, 1.0)
