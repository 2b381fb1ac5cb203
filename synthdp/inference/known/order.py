"""An order in which known marginals can be met one after the other, if there is one."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

import numpy as np

from synthdp.core.domain import Domain
from synthdp.core.known_marginal import KnownMarginal
from synthdp.inference.known.partitions import Partition, is_refinement, refined

_MAX_TRIED = 2000
"""Marginals that are tried as the next one: of six all orders, of more those that are likely."""


class Step(NamedTuple):
    """A known marginal that is met next, and what earlier ones have settled of its attributes."""

    position: int
    settled: Mapping[str, Partition]
    """Whoever changes a row for this marginal keeps each attribute in its group here."""


def order_of(domain: Domain, known: Sequence[KnownMarginal]) -> list[Step] | None:
    """Steps that meet all marginals and never undo an earlier one; None if these go in a circle.

    Each marginal shares with the earlier ones nothing but what one of them says by itself, as the
    cliques of a junction tree do: meeting it then asks for exchanges inside of what is settled.
    """
    search = _Search(domain, known)
    # Coarse ones first: what is finer may follow, and not the other way round.
    sizes = [marginal.values.size for marginal in known]
    return search.steps([], sorted(range(len(known)), key=sizes.__getitem__))


@final
class _Search:
    """Tries one marginal after the other, and goes back where none can follow."""

    def __init__(self, domain: Domain, known: Sequence[KnownMarginal]) -> None:
        self._domain = domain
        self._known = known
        self._left = _MAX_TRIED

    def steps(self, done: Sequence[int], left: Sequence[int]) -> list[Step] | None:
        """Steps that meet what is left; None if there are none, or they are not found soon."""
        if not left:
            return []
        earlier = [self._known[position] for position in done]
        for position in left:
            if self._left == 0:
                return None
            self._left -= 1
            others = [other for other in left if other != position]
            if any(_implies(one, self._known[position]) for one in earlier):
                # Nothing is to be done for it, so that nothing is lost by taking it now.
                return self.steps([*done, position], others)
            step = _step(self._domain, self._known, position, earlier)
            if step is None:
                continue
            rest = self.steps([*done, position], others)
            if rest is not None:
                return [step, *rest]
        return None


def _implies(one: KnownMarginal, other: KnownMarginal) -> bool:
    """Whether a marginal says all that another one does."""
    return set(other.clique) <= set(one.clique) and all(
        is_refinement(one.groups(name), other.groups(name)) for name in other.clique
    )


def _step(
    domain: Domain,
    known: Sequence[KnownMarginal],
    position: int,
    earlier: Sequence[KnownMarginal],
) -> Step | None:
    marginal = known[position]
    settled: dict[str, Partition] = {}
    for name in marginal.clique:
        nothing = np.zeros(domain[name], dtype=np.int64)
        groupings = [one.groups(name) for one in earlier if name in one.clique]
        settled[name] = refined([nothing, *groupings])
        if not is_refinement(marginal.groups(name), settled[name]):
            return None
    shared = [name for name, groups in settled.items() if groups.any()]
    is_said_by_one = not shared or any(
        set(shared) <= set(one.clique)
        and all(is_refinement(one.groups(name), settled[name]) for name in shared)
        for one in earlier
    )
    return Step(position, settled) if is_said_by_one else None
