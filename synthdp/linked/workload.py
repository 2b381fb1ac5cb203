"""What the views of a package should get right."""

from itertools import combinations

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.workload import MAX_DEFAULT_CELLS, Workload
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view import LinkedView

PLACE_WEIGHT = 8.0
"""Weight of a column that is drawn beside how many rows the parent has, or which of them this is:
rows weigh one part of so many, so all that is said of rows would be off by what is not known of
that.
"""

ORDER_WEIGHT = 3.0
"""How much more such a pair with the column of order weighs: a chain is drawn along it, so that all
columns of later rows are off where it has run ahead.
"""

OWN_WEIGHT = 4.0
"""Weight of a pair of the table's own columns: beside pairs with ancestors and siblings, of which
there are several times as many, they would have less than if the table stood alone. With both
weights own pairs of flights and patients had 3 to 10 % less error at epsilon 3 and 10, and no
statistic more.
"""

NUMBER_SHARE = 0.5
"""Weight of numbers of children by themselves, as a share of that of all pairs and triples: what
they are off by, all that is below is, and pairs alone leave them with the noise of pairs.
"""


def workload_of(view: LinkedView, domain: Domain) -> Workload:
    """All pairs with a column that is drawn, all triples of such columns, which together matter as
    much, numbers of children, which levels of columns of many repeat, and how far ordered rows are
    from the row before.

    What is above a row, or beside it, is there already when the row is drawn: how these depend on
    each other need not be measured; see `synthdp.linked.ancestor_marginals`.
    """
    own = set(view.drawn)
    cliques = [
        c
        for k in (2, 3)
        for c in combinations(domain.attributes, k)
        if len(own.intersection(c)) >= k - 1 and not view.comparing & {*c}
    ]
    for name, repeated in view.repeats.items():
        cliques += [domain.canonical((name, each)) for each in (repeated, OTHER + repeated)]
    fitting = [clique for clique in cliques if domain.size(clique) <= MAX_DEFAULT_CELLS]
    n_triples = max(sum(len(clique) == 3 for clique in fitting), 1)
    n_pairs = len(fitting) - sum(len(clique) == 3 for clique in fitting)
    weights = [
        _pair_weight(view, clique) if len(clique) == 2 else n_pairs / n_triples
        for clique in fitting
    ]
    numbers = [(name,) for name in view.counts]
    weights += [NUMBER_SHARE * sum(weights) / max(len(numbers), 1)] * len(numbers)
    if fitting:
        # Which bins gaps are beside follows from which of them fit in between.
        alone = [] if view.gap is None else [(view.gap,)]
        return Workload.from_cliques(
            domain, [*fitting, *numbers, *alone], [*weights, *(1.0 for _ in alone)]
        )
    return Workload.from_cliques(domain, [(name,) for name in view.drawn])


def _pair_weight(view: LinkedView, pair: Clique) -> float:
    """How much a pair matters beside one with an ancestor or a sibling."""
    if {*view.steps, view.position}.intersection(pair):
        is_ordered = view.table.order is not None and f"{view.name}.{view.table.order}" in pair
        return PLACE_WEIGHT * (ORDER_WEIGHT if is_ordered else 1.0)
    return OWN_WEIGHT if {*view.table.attributes}.issuperset(pair) else 1.0
