"""Conditional draws from pseudo-marginals: from rows that match all regions, or else from the
region tree.

Only rows that were moved until they match all regions' tables tell how the regions act together.
Where enough of them agree with what is given, they are drawn from. For what is rarer the region
tree's distribution, which knows most of what the regions say, is conditioned exactly.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, IntArray
from synthdp.inference.graphical.contradictions import Possible
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.graphical.tree_fit import potentials_of
from synthdp.inference.model import FitStatus
from synthdp.inference.rows.matching_rows import AgreeingRows
from synthdp.inference.rows.partial_records import Given
from synthdp.inference.rows.record_moves import Records
from synthdp.inference.trees.junction_tree import JunctionTree
from synthdp.inference.value_drawing import order_of_alike, round_counts

_MIN_ALIKE = 20
"""Rows that must agree with what is given: fewer would be drawn again and again as if nothing else
occurred.
"""
_MAX_ROWS = 1_000_000
"""Rows that are drawn to find those of a slice; they take seconds."""


def field_of(tree: JunctionTree, beliefs: Sequence[Array], possible: Possible) -> MarkovRandomField:
    """The distribution whose cliques have given marginals, see `potentials_of`."""
    status = FitStatus(ended="optimal", n_iterations=0, loss=0.0)
    potentials = potentials_of(tree, beliefs, possible)
    return MarkovRandomField(tree=tree, log_potentials=potentials, total=1.0, status=status)


def drawn_given(
    field: MarkovRandomField, pool: Records | None, given: Given, generator: np.random.Generator
) -> Mapping[str, IntArray]:
    """Partial records completed by rows of the pool if at least 20 agree with them, else by the
    field.
    """
    domain = field.domain
    n_records = len(next(iter(given.values())))
    whole = np.empty((len(domain), n_records), dtype=np.int64)
    rest = np.arange(n_records)
    if pool is not None:
        agreeing = AgreeingRows(domain, tuple(pool), np.ones(pool.shape[1]), given)
        common = np.flatnonzero(agreeing.n_agreeing >= _MIN_ALIKE)
        whole[:, common] = pool[:, agreeing.drawn(common, generator)]
        # Completed by the field: rarer, so less of what other regions say is lost.
        rest = np.flatnonzero(agreeing.n_agreeing < _MIN_ALIKE)
    if rest.size:
        seed = int(generator.integers(1 << 62))
        whole[:, rest] = field.complete(
            {name: codes[rest] for name, codes in given.items()}, seed=seed
        )
    return dict(zip(domain.attributes, whole, strict=True))


def moved_inside(
    draw: Callable[[int], Records],
    pool: Records,
    wanted: Mapping[str, Array],
    n_rows: int,
    *,
    domain: Domain,
    generator: np.random.Generator,
) -> Records | None:
    """The rows of a slice out of a table that matches all regions; None if too few of its rows
    would be inside.

    Parameters
    ----------
    draw
        Makes a table of some number of rows.
    pool
        Such a table, which tells how rare the slice is.
    wanted
        For each restricted attribute how much each level is wanted, 0 to 1.
    n_rows
        Number of rows wanted.
    domain
        The attributes of the rows.
    generator
        Source of (seeded, not private) randomness.
    """
    n_inside = float(_wanted(pool, wanted, domain).sum())
    if n_inside < _MIN_ALIKE:
        return None
    # A fifth and 100 rows more than expected: the share inside is itself an estimate, from 20 rows
    # or more.
    n_drawn = int(1.2 * (n_rows + 100) * pool.shape[1] / n_inside)
    if n_drawn > _MAX_ROWS:
        return None
    records = draw(n_drawn)
    inside = np.flatnonzero(generator.random(n_drawn) < _wanted(records, wanted, domain))
    # The share inside was an estimate; rather than drawing again and again, the field takes over.
    if inside.size < n_rows:
        return None
    return some_of(records[:, inside], n_rows, generator)


def some_of(records: Records, n_rows: int, generator: np.random.Generator) -> Records:
    """Some rows of a table, no more than it has, in random order: each by the same chance, and much
    like all of it.
    """
    # Systematic, along an order of alike rows: a part then looks like the whole.
    alike = order_of_alike(tuple(records), np.ones(records.shape[1]))
    kept = round_counts(np.ones((1, alike.size)), np.array([n_rows]), generator=generator)[0] > 0
    return records[:, generator.permutation(alike[kept])]


def _wanted(records: Records, wanted: Mapping[str, Array], domain: Domain) -> Array:
    """How much each row is wanted, shape ``(n_rows,)``."""
    weights = np.ones(records.shape[1])
    for name, scale in wanted.items():
        weights *= scale[records[domain.index(name)]]
    return weights
