"""The event of a share: what a sum over sites costs whoever is at one of them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError
from synthdp.privacy.events import Event
from synthdp.privacy.shares.discrete_gaussian import (
    DISCRETE_GAUSSIAN,
    MIN_SIGMA_SQUARED,
    closeness,
)
from synthdp.privacy.unit import PrivacyUnit

MAX_SITES = 1 << 16
"""Most sites of one sum."""

_SLACKS = (Fraction(1, 1 << 30), *(Fraction(j, 256) for j in range(1, 256)))
"""Parts of a cost that are tried, until one holds what a sum of shares is off a discrete Gaussian:
mostly the first.
"""


@final
@dataclass(frozen=True, kw_only=True)
class ShareEvent(Event):
    """The sum over sites of one marginal's counts, with discrete Gaussian noise in shares.

    Each of ``n_honest`` sites adds noise of parameter ``share_sigma_squared`` that whoever attacks
    does not know; noise of other sites is left out. A unit moves the counts by at most
    ``sensitivity_squared`` in squared L2 norm, in at most ``n_cells`` cells.

    Cost. Let P and Q be the distributions of the noisy sum on two neighbours, and N and M those
    with discrete Gaussian noise of the sum's parameter, ``s = n_honest share_sigma_squared``. Cell
    by cell ``P / N`` and ``Q / M`` lie within ``exp(-+tau)`` (`closeness`), and where a cell does
    not move they are one function of the noise and cancel. So ``P / Q <= exp(2 tau n_cells) N / M``.
    ``log N / M`` is linear in the noise, which is a sum of draws that are each subgaussian with
    their parameter [CKS20, Lemma 8], so that for all orders alpha > 1

        D_alpha(P || Q) <= alpha sensitivity_squared / (2 s) + 2 tau n_cells.

    As alpha > 1, the sum is ``(sensitivity_squared / (2 s) + 2 tau n_cells)``-zCDP [cf. KLS21, Thm.
    1, whose term grows with all cells].
    """

    is_gaussian: ClassVar[bool] = False  # no theorem on real Gaussian noise covers it
    clique: Clique
    share_sigma_squared: Fraction
    n_honest: int
    sensitivity_squared: int
    n_cells: int

    @classmethod
    def costing(
        cls, rho: Fraction, *, clique: Clique, unit: PrivacyUnit, n_honest: int
    ) -> "ShareEvent":
        """The event of least noise, or nearly, that costs at most ``rho``.

        Raises `ParameterError` if the number of sites is out of range.
        """
        if not 1 <= n_honest <= MAX_SITES:
            raise ParameterError(f"sites: {n_honest} of them are honest; give 1 to {MAX_SITES:,}")
        squared = unit.marginal_l2_squared
        events = (
            cls(
                clique=clique,
                share_sigma_squared=max(
                    squared / (2 * n_honest * rho * (1 - slack)), MIN_SIGMA_SQUARED / (1 - slack)
                ),
                n_honest=n_honest,
                sensitivity_squared=squared,
                # A record that comes or goes changes one cell, one that is replaced two; a unit's
                # records may all be in cells of their own.
                n_cells=unit.marginal_l1,
            )
            for slack in _SLACKS
        )
        return next(event for event in events if event.rho <= rho)

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP."""
        gaussian = self.sensitivity_squared / (2 * self.n_honest * self.share_sigma_squared)
        return gaussian + 2 * self.n_cells * closeness(self.share_sigma_squared, self.n_honest)

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        return {
            "event": "marginal",
            "mechanism": f"{DISCRETE_GAUSSIAN}, in shares of {self.n_honest} sites",
            "columns": list(self.clique),
            "sigma": float(self.n_honest * self.share_sigma_squared) ** 0.5,
            "sensitivity_l2_squared": self.sensitivity_squared,
            "rho": float(self.rho),
        }
