"""Secure sums: of several tables only the sum is released, with the noise of one; see
docs/sites.md.

This runs all sites in one process, so it protects nobody from whoever runs it. It is the protocol
to the letter, for tests, for trials, and for those who put the messages on a network.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any, cast, final

import numpy as np

from synthdp.core.cliques import distinct
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import Coarsening, LinearMeasurement, clear_total
from synthdp.core.workload import Workload
from synthdp.data.rows import GivenTable, header_of, rows_of
from synthdp.inference.engine import Engine
from synthdp.learning.filling import Filling
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.events import exact_rho
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.shares.private_shares import Masks, PrivateShares
from synthdp.privacy.shares.share_event import MAX_SITES, ShareEvent
from synthdp.release.certificate.certificate import (
    guarantee_text,
    mechanism_facts,
    privacy_certificate,
    workload_facts,
)
from synthdp.release.certificate.fit_facts import count_cautions, fit_cautions, fit_facts
from synthdp.release.certificate.unprotected import unprotected_quantities
from synthdp.release.filled_table import FilledTable
from synthdp.release.fitting import fit_model
from synthdp.release.registry import as_engine
from synthdp.release.sites.combining import AT_ONE_SITE, DISJOINT, WHICH_SITE
from synthdp.release.sites.measuring import PlanLike, as_plan
from synthdp.release.sites.measuring_plan import MeasuringPlan
from synthdp.release.sites.messages import Message, opened
from synthdp.release.sites.planned import Planned
from synthdp.release.synthesis import Synthesis

ASSUMED = (
    "sites that leave the protocol: it assumes that all {n} follow it and answer, that at most {t} of them and whoever "
    "adds up put together what they know, and that nobody but the two sites that share a mask knows it"
)
"""What the guarantee of a secure sum stands on besides."""


def pairwise_masks(n_sites: int, shape: tuple[int, ...], randomness: Randomness) -> list[Masks]:
    """Masks of 64 bits for each site, uniform for each of them, that cancel in the sum.

    Every two sites share random numbers; the first of them adds these, the other takes them off.
    What a set of sites sends is therefore uniform, but for its sum, to whoever knows none of the
    numbers that two of the set share.
    """
    masks = [np.zeros(shape, dtype=np.uint64) for _ in range(n_sites)]
    n_cells = int(np.prod(shape))
    for one in range(n_sites):
        for other in range(one + 1, n_sites):
            shared = randomness.words(n_cells, np.uint64).reshape(shape)
            masks[one] = masks[one] + shared
            masks[other] = masks[other] - shared
    return masks


def securely_combined(
    tables: Sequence[Any],
    plan: PlanLike,
    *,
    colluding: int,
    engine: str | Engine = "auto",
    randomness: Randomness | None = None,
) -> Synthesis:
    """Make one release of the tables of several sites, of which only noisy sums are released.

    Parameters
    ----------
    tables
        The sensitive table of each site, as in `synthdp.measure`; at least two. Each person is in
        one of them.
    plan
        The plan, with accounting ``"zcdp"``: shares of noise are discrete.
    colluding
        How many sites may put together what they know, with whoever adds up. Each site is a reader
        that knows its own noise, so give at least 1 unless sites do not see the result. The other
        sites' shares make up all of the noise that the plan asks for.
    engine
        As in `synthdp.combine`.
    randomness
        For tests; anything but the default makes the result say NOT PRIVATE.

    Raises
    ------
    ParameterError
        If there are fewer than two tables or too many, all of them may collude, or the plan's
        accounting is another.
    """
    public = as_plan(plan)
    _check(tables, public, colluding)
    fitter = as_engine(engine)
    bits = SystemRandomness() if randomness is None else randomness
    schema = public.closed
    placed = schema.with_all_places()
    n_honest = len(tables) - colluding
    sites = [_site(table, public, n_honest=n_honest, randomness=bits) for table in tables]
    summed = SummedTables(sites, placed.domain, n_honest=n_honest, randomness=bits)
    table = FilledTable(cast(PrivateTable, summed), Filling(schema, placed.domain))
    mechanism = Planned.by(public)
    workload = Workload(dict.fromkeys((m.clique for m in public.marginals), 1.0))
    try:
        mechanism.release(cast(PrivateTable, table), Task(workload=workload, engine=fitter))
    finally:
        table.close()
    measurements = table.released
    model = fit_model(fitter, schema, measurements)
    stated = {
        "mechanism": mechanism_facts(mechanism),
        "workload": workload_facts(workload),
        "unprotected": unprotected_quantities(
            public.schema, summed.ledger.unit, has_public_dtypes=False
        ),
        "plan": {"sha256": public.fingerprint},
        "sites": {
            "people": DISJOINT,
            "each": [_stated(site.ledger) for site in sites],
            "colluding": colluding,
        },
    }
    certificate = privacy_certificate(
        ledger=summed.ledger,
        randomness=bits,
        release=stated | fit_facts(schema, fitter, model),
        findings=[*count_cautions(measurements), *fit_cautions(model)],
        n_rows=clear_total(measurements),
    )
    assumed = ASSUMED.format(n=len(tables), t=colluding)
    limits = [*cast(list[str], certificate["not_covered"]), assumed, AT_ONE_SITE, WHICH_SITE]
    return Synthesis(
        schema=schema,
        measurements=measurements,
        model=model,
        certificate=certificate | {"not_covered": limits},
    )


@final
class SummedTables:
    """The tables of all sites as one table: it answers as a `PrivateTable` does, by secure sums.

    Parameters
    ----------
    sites
        The tables, each behind a ledger of its own.
    domain
        The domain that all of them count.
    n_honest
        Sites whose noise nobody else knows.
    randomness
        Where masks come from.
    """

    def __init__(
        self,
        sites: Sequence[PrivateShares],
        domain: Domain,
        *,
        n_honest: int,
        randomness: Randomness,
    ) -> None:
        self._sites = tuple(sites)
        self._domain = domain
        self._n_honest = n_honest
        self._randomness = randomness
        self._session = randomness.random_bytes(16).hex()

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger of a site; all have paid the same."""
        return self._sites[0].ledger

    def measure(
        self, clique: Sequence[str], *, rho: Fraction | float, coarsening: Coarsening | None = None
    ) -> LinearMeasurement:
        """The noisy sum of one marginal over all sites; each of them pays ``rho`` at most."""
        names = distinct(clique)
        merging = coarsening.restricted(names) if coarsening else None
        shape = (merging.domain(self._domain) if merging else self._domain).project(names).shape
        n_cells = int(np.prod(shape))
        masks = pairwise_masks(len(self._sites), (n_cells + 1,), self._randomness)
        # No other sum has this name: a message of an earlier one, or of other sites, is found out.
        asked = f"{self._session}/{len(self.ledger.events)}"
        messages = [
            Message.with_checksum(
                site.share(names, rho=rho, masks=mask[1:].reshape(shape), coarsening=merging),
                zero=int(mask[0]),
                asked=asked,
                site=number,
                n_sites=len(self._sites),
            )
            for number, (site, mask) in enumerate(zip(self._sites, masks, strict=True))
        ]
        event = ShareEvent.costing(
            exact_rho(rho), clique=names, unit=self.ledger.unit, n_honest=self._n_honest
        )
        # A discrete Gaussian's variance is at most its parameter, and that of a share of all sites
        # is in the sum, whoever knows it.
        stddev = sqrt(float(len(self._sites) * event.share_sigma_squared))
        return LinearMeasurement(names, opened(messages).astype(np.float64), stddev, merging)

    def close(self) -> None:
        """Let go of all tables."""
        for site in self._sites:
            site.close()


def _check(tables: Sequence[Any], plan: MeasuringPlan, colluding: int) -> None:
    """Refuse what cannot be a secure sum."""
    if not 2 <= len(tables) <= MAX_SITES:
        raise ParameterError(f"tables: there are {len(tables)}; give 2 to {MAX_SITES:,}")
    if isinstance(colluding, bool) or not isinstance(colluding, int):
        raise ParameterError(f"colluding is {colluding!r}; give a number of sites")
    if not 0 <= colluding < len(tables):
        raise ParameterError(
            f"colluding is {colluding}; give 0 or more, and fewer than the {len(tables)} sites"
        )
    if plan.accounting is not Accounting.ZCDP:
        raise ParameterError(
            f"plan: its accounting is {plan.accounting.value!r}, and shares of noise are discrete; plan with 'zcdp'"
        )


def _site(
    table: Any,
    plan: MeasuringPlan,
    *,
    n_honest: int,
    randomness: Randomness,
) -> PrivateShares:
    """The table of one site behind a ledger of its own."""
    schema = plan.schema
    given = GivenTable(table)
    with given.opened(schema.dialect) as source:
        schema.check_header(header_of(source), unit=plan.unit)
        max_rows = 1 if plan.max_rows_per_unit is None else plan.max_rows_per_unit
        rows = rows_of(source, schema, unit=plan.unit, max_rows=max_rows)()
        counts = rows.counted(plan.closed.with_all_places())
    return PrivateShares(counts, plan.ledger(), n_honest=n_honest, randomness=randomness)


def _stated(ledger: PrivacyLedger) -> dict[str, Any]:
    """What the certificate says of one site."""
    return {
        "guarantee": guarantee_text(ledger.epsilon, ledger.delta),
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "rho_spent": float(ledger.spent),
    }
