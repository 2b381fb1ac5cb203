"""The private table of one site in a secure sum: it tells its counts under noise and masks only."""

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import distinct
from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.core.measurement import Coarsening
from synthdp.privacy.events import exact_rho
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness
from synthdp.privacy.private_table import MAX_CELLS, CountSource
from synthdp.privacy.queryable import Answer, Queryable
from synthdp.privacy.shares.discrete_gaussian import discrete_gaussian
from synthdp.privacy.shares.share_event import ShareEvent

Masks = NDArray[np.uint64]


@final
class PrivateShares(Queryable[CountSource]):
    """A sensitive table that gives its part of sums over several sites.

    What it pays is the cost of the *sum*: its own noise is a share, too little to protect by
    itself. So all that it tells is masked, and the guarantee assumes what `synthdp.combine`'s secure
    sums assume: masks are uniform, of which nobody knows all but their site; at least ``n_honest``
    sites, this one among them, add their share and keep it to themselves; and all answer.

    Parameters
    ----------
    source, ledger, randomness
        As for `PrivateTable`.
    n_honest
        Sites that add noise which whoever attacks does not know.
    """

    __slots__ = ("_n_honest",)
    _purpose: ClassVar[str] = "for a sum"

    def __init__(
        self,
        source: CountSource,
        ledger: PrivacyLedger,
        *,
        n_honest: int,
        randomness: Randomness | None = None,
    ) -> None:
        super().__init__(source, ledger, randomness=randomness)
        self._n_honest = n_honest

    def share(
        self,
        clique: Sequence[str],
        *,
        rho: Fraction | float,
        masks: Masks,
        coarsening: Coarsening | None = None,
    ) -> Masks:
        """Counts of a marginal with a share of noise and a mask on each, modulo 2^64.

        Parameters
        ----------
        clique, rho, coarsening
            As for `PrivateTable.measure`; ``rho`` is what the sum of all sites costs.
        masks
            One for each cell, uniform on 0 .. 2^64 - 1 to all but this site.

        Raises
        ------
        BudgetExceededError
            If the ledger has less left; the records are not touched then.
        ParameterError
            If an attribute repeats, the marginal has too many cells, masks have another shape, or
            rho is out of range.
        """
        domain = self._source.domain
        names = distinct(clique)
        merging = coarsening.restricted(names) if coarsening else None
        shape = (merging.domain(domain) if merging else domain).project(names).shape
        if domain.size(names) > MAX_CELLS:
            raise ParameterError(f"clique {names}: it has too many cells to count")
        if masks.dtype != np.uint64 or masks.shape != shape:
            raise ParameterError(
                f"masks of {names}: give one of 64 bits for each cell, shape {shape}"
            )
        event = ShareEvent.costing(
            exact_rho(rho), clique=names, unit=self._ledger.unit, n_honest=self._n_honest
        )
        self._check_scale(event.share_sigma_squared, exact_rho(rho))

        def masked() -> Answer:
            (counts,) = self._source.counts_of([names])
            if counts.dtype != np.int64 or counts.shape != domain.project(names).shape:
                raise PrivacyError(f"source: counts of {names} are not those of its domain")
            counts = merging.apply(names, counts) if merging else counts
            noise = discrete_gaussian(
                sigma_squared=event.share_sigma_squared,
                size=counts.size,
                randomness=self._randomness,
            )
            # Of unsigned integers sums wrap, and wrapping is a function of the sum: masks cancel.
            noisy = counts.astype(np.uint64) + noise.astype(np.uint64).reshape(counts.shape)
            return Answer((noisy + masks).view(np.int64))

        return self._answer(event, masked, int(np.prod(shape)), merging).numbers.view(np.uint64)

    def __repr__(self) -> str:
        return f"PrivateShares(one of {self._n_honest} honest sites)"
