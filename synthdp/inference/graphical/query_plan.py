"""How to make marginals across the cliques of a junction tree: which edge splits each set of
attributes.

With ``S`` the separator of an edge, ``A`` the queried attributes strictly on one side and ``B`` the
others, ``P(A, B) = sum over S of P(A | S) P(B, S)``. Both parts are marginals of smaller subtrees
and are split in turn, until each is within one clique. A marginal is known by its set of
attributes, so whatever is needed in several places is planned, and later computed, once.
"""

from collections.abc import Sequence
from math import inf
from operator import and_
from typing import NamedTuple, final

from synthdp.inference.trees.attribute_sets import AttributeSet, AttributeSets, Folded
from synthdp.inference.trees.junction_tree import JunctionTree

# What writing, ordering and dividing a cell takes, in multiplications of a matrix product.
_CELL_COST = 30.0
# Edges for a split that are followed up; more gained nothing on 40-clique models of Adult.
_MAX_TRIED = 3
# Edges for a split, those with the smallest separators, whose costs are looked at.
_MAX_COMPARED = 12
_MAX_SEARCHED = 32  # edges that separate a query; beyond, the plan is greedy


class _Cut(NamedTuple):
    """An edge of the tree: its separator, and the attributes strictly on either side."""

    separator: AttributeSet
    below: AttributeSet
    above: AttributeSet


class Split(NamedTuple):
    """How a marginal is made: ``P(given part | separator)`` times the joint part, summed over the
    separator.

    The given part, which is divided, is the smaller one; both contain the separator.
    """

    separator: AttributeSet
    given: AttributeSet
    joint: AttributeSet


@final
class QueryPlan:
    """Chooses for each set of attributes across cliques the edge that splits it.

    Parameters
    ----------
    tree
        The junction tree.
    sets
        Sets of its attributes.
    """

    def __init__(self, tree: JunctionTree, sets: AttributeSets) -> None:
        self._size = sets.n_cells
        self._positions = sets.positions
        self.cliques = [sets.of(clique) for clique in tree.cliques]
        self._costs: dict[AttributeSet, float] = {}
        # Sets of attributes and of cliques are bit masks: plans of thousands of triples ask for
        # unions and intersections, and integers answer at once.
        holders = dict.fromkeys(sets.bits[sets.of(tree.domain.attributes)], 0)
        for i, clique in enumerate(self.cliques):
            for bit in sets.bits[clique]:
                holders[bit] |= 1 << i
        # The cliques that contain a set, as a bit mask of their positions in the tree.
        self._holders = Folded(holders, and_, (1 << len(self.cliques)) - 1)
        self.splits: dict[AttributeSet, Split] = {}
        separators = [sets.of(separator) for separator in tree.separators]
        # What lies below each edge, itself included: gathered from the leaves up in one pass.
        below = list(self.cliques)
        for child in range(len(below) - 1, 0, -1):  # children come after their parents
            below[tree.parents[child]] |= below[child]
        everything = below[0]
        self._cuts = [
            _Cut(s, b & ~s, everything & ~b) for s, b in zip(separators[1:], below[1:], strict=True)
        ]

    def home(self, members: AttributeSet) -> int:
        """Position of the smallest clique that contains a set."""
        # The smallest one, for the sum runs over it.
        return min(
            self._positions[self._holders[members]], key=lambda i: self._size[self.cliques[i]]
        )

    def add(self, query: AttributeSet) -> None:
        """Plan one marginal, with all that it is made of."""
        open_sets = [(query, self._cuts)]
        while open_sets:
            members, cuts = open_sets.pop()
            # Only edges with members on both sides split a query; of a part even fewer do, so the
            # list shrinks on the way down.
            cuts = [cut for cut in cuts if members & cut.below and members & cut.above]
            if not cuts or members in self.splits:
                continue
            # The search is recursive and tries several edges at each step: of a long chain it would
            # take for ever.
            if len(cuts) <= _MAX_SEARCHED:
                self._search(members, cuts)
                continue
            # Greedy by the lower bound; halves first where edges cost the same, so that parts are
            # shared.
            split = self.splits[members] = min(self._candidates(members, cuts))[2]
            open_sets += [(split.given, cuts), (split.joint, cuts)]

    def _search(self, members: AttributeSet, cuts: Sequence[_Cut]) -> float:
        """The least cost found of a marginal, with all that it is made of; edges beyond ``cuts`` do
        not split it.
        """
        if members in self._costs:
            return self._costs[members]
        cuts = [cut for cut in cuts if members & cut.below and members & cut.above]
        least = inf if cuts else 0.0
        for bound, products, split in sorted(self._candidates(members, cuts))[:_MAX_TRIED]:
            # Candidates come by their lower bounds, so no later one can be better.
            if bound >= least:
                break
            cost = products + self._search(split.given, cuts) + self._search(split.joint, cuts)
            if cost < least:
                least, self.splits[members] = cost, split
        # Remembered by set: triples across the same cliques have their pairs in common.
        self._costs[members] = least + (_CELL_COST * self._size[members] if cuts else 0.0)
        return self._costs[members]

    def _candidates(
        self, members: AttributeSet, cuts: Sequence[_Cut]
    ) -> list[tuple[float, int, Split]]:
        """For promising edges a lower bound of the cost, the multiplications of the last step, and
        the split.
        """
        if len(cuts) > _MAX_COMPARED:
            added = [self._size[cut.separator & ~members] for cut in cuts]
            middle = (len(cuts) - 1) / 2  # where edges cost the same, halves make the plan short
            order = sorted(range(len(cuts)), key=lambda i: (added[i], abs(i - middle)))
            cuts = [cuts[i] for i in order[:_MAX_COMPARED]]
        candidates = []
        for separator, below, _ in cuts:
            inner = (members & below) | separator
            outer = (members & ~below) | separator
            products = self._size[inner | outer]
            # A part inside of a clique is a sum of a table that is there; only others have to be
            # made.
            cells = sum(self._size[part] for part in (inner, outer) if not self._holders[part])
            if self._size[inner] <= self._size[outer]:
                split = Split(separator, inner, outer)
            else:
                split = Split(separator, outer, inner)
            candidates.append((products + _CELL_COST * cells, products, split))
        return candidates
