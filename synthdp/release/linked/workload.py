"""What the views of a package should get right."""

from itertools import combinations

from synthdp.domain import Domain
from synthdp.table.package.view import View
from synthdp.workload import MAX_COLUMNS_FOR_TRIPLES, MAX_DEFAULT_CELLS, Workload


def workload_of(view: View, domain: Domain) -> Workload:
    """All pairs and triples with a column that is drawn; pairs only where there are many columns.

    What is above a row, or beside it, is there already when the row is drawn: how these depend on each other matters
    only as far as what is drawn depends on both.
    """
    own = set(view.own)
    n_columns = len(domain)
    for k in (3, 2) if n_columns <= MAX_COLUMNS_FOR_TRIPLES else (2,):
        cliques = [c for c in combinations(domain.attributes, min(k, n_columns)) if not own.isdisjoint(c)]
        if fitting := [clique for clique in cliques if domain.size(clique) <= MAX_DEFAULT_CELLS]:
            return Workload.of(domain, fitting)
    return Workload.of(domain, [(name,) for name in view.own])
