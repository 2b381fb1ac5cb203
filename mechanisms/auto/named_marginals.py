"""The floor under marginals that a workload names: each is measured as finely as its share of the
budget allows, whatever scores show, or a caution says what it would take.

A plan believes what scores show. Who names a marginal may know what no score shows, such as
columns that depend all together and not two by two.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import NamedTuple, final

from synthdp.core.cliques import Clique
from synthdp.core.measurement import CLEAR_TOTAL, Coarsening, total_and_noise
from synthdp.core.workload import MAX_DEFAULT_CELLS, Workload
from synthdp.mechanisms.auto.candidates import MAX_COLUMNS
from synthdp.mechanisms.auto.level_groups import FloatArray, merged_to
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable

_MOST_GROUPS = (2, 4, 8, 16, 32)
"""Groups of levels that a column has at most, from coarse to fine; beyond, all levels."""
_MAX_NOISE = 0.1
"""Expected total variation distance of its noise up to which a marginal is measured. The parity of
some columns is five times as far from what smaller marginals say.
"""
_ENOUGH_NOISE = 0.02
"""The same that a floor need not go below: what more is worth is for the plan to say."""
_MAX_EPSILON = 1e6
"""No caution asks for more."""
_MOST_NAMED = 3
"""Marginals that a caution names; of more it says how many there are."""


class Floor(NamedTuple):
    """How a named marginal is measured before anything is planned."""

    clique: Clique
    coarsening: Coarsening | None
    rho: Fraction


@final
class NamedMarginals:
    """The marginals of two columns and more that a workload names, and the floor under each.

    Parameters
    ----------
    table
        The table, whose columns are measured.
    workload
        What is wanted.
    shares
        For each column about what share of the records each level has.
    rho
        What all floors together may cost.
    can_merge
        Whether the engine takes merged levels.
    is_allowed
        Whether a model over some cliques can be fitted.
    known
        Sets of columns of which all is public.
    names
        Columns whose levels have nothing in common with those beside them: they are merged only
        where noise hides all of their levels, however few groups the others have.

    Attributes
    ----------
    floors
        What is to be measured.
    """

    def __init__(
        self,
        table: PrivateTable,
        workload: Workload,
        *,
        shares: Mapping[str, FloatArray],
        rho: Fraction,
        can_merge: bool,
        is_allowed: Callable[[Sequence[Clique]], bool],
        known: Collection[frozenset[str]] = (),
        names: Collection[str] = (),
    ) -> None:
        self._table = table
        # The default workload names nothing: floors under all triples would take half of the budget
        # from the plan.
        weights = workload.weights if workload.are_named else {}
        self._weights = {
            clique: weight
            for clique, weight in weights.items()
            if 2 <= len(clique) <= MAX_COLUMNS and frozenset(clique) not in known
        }
        total, stddev = total_and_noise(table.released)
        # Of a table in which not even the number of records stands out of the noise, no share of
        # the records can be estimated.
        self._is_clear = total >= CLEAR_TOTAL * stddev
        self._total = max(total, CLEAR_TOTAL * stddev)
        self._coarsenings: list[Coarsening | None] = [None]
        if self._weights and can_merge:
            # Finest first: the first one that is quiet enough is taken.
            self._coarsenings += [
                merged_to(table.domain, shares, most, but=but)
                for but in ((names, ()) if names else ((),))
                for most in reversed(_MOST_GROUPS)
            ]
        self._all_rho = rho
        self._whole_weight = sum(map(Fraction, self._weights.values()))
        self.floors: list[Floor] = []
        self._not_held: set[Clique] = set()
        for clique in self._weights:
            floor = self._floor(clique)
            # One after the other, in the order of the workload; two floors may fit one by one and
            # not together.
            if floor and not is_allowed([*(each.clique for each in self.floors), clique]):
                self._not_held.add(clique)
            else:
                self.floors += floor

    def measure(self) -> None:
        """Measure all floors."""
        for clique, coarsening, rho in self.floors:
            self._table.measure(clique, rho=rho, coarsening=coarsening)

    def cautions(self) -> list[str]:
        """Cautions about named marginals that no measurement covers in the end."""
        released = [set(measurement.clique) for measurement in self._table.released]
        missed = [
            clique
            for clique in self._weights
            # The plan may have measured a wider marginal that holds it: then nothing is missed.
            if not any(measured >= set(clique) for measured in released)
        ]
        too_large = [clique for clique in missed if self._is_too_large(clique)]
        not_held = [clique for clique in missed if clique in self._not_held]
        # Three reasons have three ways out, so each has a sentence of its own.
        drowned = [clique for clique in missed if clique not in {*too_large, *not_held}]
        cautions = []
        if too_large:
            cautions.append(
                f"workload: {_listed(too_large)} not measured: there are more than {MAX_DEFAULT_CELLS} cells; "
                "give the columns fewer levels or bins, or name fewer columns"
            )
        if not_held:
            cautions.append(
                f"workload: {_listed(not_held)} not measured: the model of this engine would be too large; "
                "name fewer marginals, or take the engine layered-consistency"
            )
        if drowned:
            # The largest: at that epsilon all of them would be measured.
            epsilon = max(map(self._epsilon_needed, drowned))
            cautions.append(
                f"workload: {_listed(drowned)} not measured: noise would hide the counts; an epsilon of about "
                f"{epsilon:.2g} would do, or more records, fewer marginals or fewer levels"
            )
        return cautions

    def _is_too_large(self, clique: Clique) -> bool:
        return self._table.domain.size(clique) > MAX_DEFAULT_CELLS

    def _floor(self, clique: Clique) -> list[Floor]:
        """The floor under a marginal at the finest merging that noise allows; none if there is
        none.
        """
        if self._is_too_large(clique) or not self._is_clear:
            return []
        fair = self._fair_rho(clique)
        for coarsening in self._coarsenings:
            noise = self._noise(clique, coarsening, fair)
            if noise <= _MAX_NOISE:
                # Noise falls with the square root of the budget, so this much of the share brings
                # it to `_ENOUGH_NOISE`.
                share = Fraction(min((noise / _ENOUGH_NOISE) ** 2, 1.0))
                merging = coarsening.restricted(clique) if coarsening else None
                return [Floor(clique, merging, fair * share)]
        return []

    def _fair_rho(self, clique: Clique) -> Fraction:
        return self._all_rho * Fraction(self._weights[clique]) / self._whole_weight

    def _noise(self, clique: Clique, coarsening: Coarsening | None, rho: Fraction) -> float:
        """Expected total variation distance that noise makes of a marginal; above 1 it drowns the
        records.
        """
        domain = self._table.domain
        merged = coarsening.domain(domain) if coarsening else domain
        unit = self._table.ledger.unit
        stddev = sqrt(unit.sigma_squared(rho))
        # Half of the expected L1 norm: a total variation distance, as the score of a table is read.
        return L1_OF_NOISE * stddev * merged.size(clique) / (2.0 * self._total)

    def _epsilon_needed(self, clique: Clique) -> float:
        """About the epsilon from which on a marginal would be measured over its coarsest levels."""
        noise = self._noise(clique, self._coarsenings[-1], self._fair_rho(clique))
        return epsilon_for(self._table.ledger, times=max((noise / _MAX_NOISE) ** 2, 1.0))


def epsilon_for(ledger: PrivacyLedger, *, times: float) -> float:
    """About the least epsilon that gives so many times the ledger's budget, at the same delta.

    >>> from synthdp.privacy.unit import Adjacency
    >>> ledger = PrivacyLedger(epsilon=1.0, delta=1e-9, adjacency=Adjacency.ADD_REMOVE)
    >>> round(epsilon_for(ledger, times=4), 1)
    2.1
    """
    delta = ledger.delta
    wanted = float(ledger.accounting.rho(epsilon=ledger.epsilon, delta=delta)) * times
    low = ledger.epsilon
    high = low
    # Doubled until it is enough, then bisected in logarithms to 2 %: a caution says "about".
    while high < _MAX_EPSILON and ledger.accounting.rho(epsilon=high, delta=delta) < wanted:
        low = high
        high *= 2.0
    while high / low > 1.02:
        middle = sqrt(low * high)
        if ledger.accounting.rho(epsilon=middle, delta=delta) < wanted:
            low = middle
        else:
            high = middle
    return high


def _listed(cliques: Sequence[Clique]) -> str:
    """Marginals in words, as the start of a sentence that goes on with "not measured"."""
    named = "; ".join(" and ".join(map(repr, clique)) for clique in cliques[:_MOST_NAMED])
    more = len(cliques) - _MOST_NAMED
    if more > 0:
        return f"the marginals of {named}, and {more} more, are"
    if len(cliques) > 1:
        return f"the marginals of {named} are"
    return f"the marginal of {named} is"
