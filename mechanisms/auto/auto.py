"""Auto: two looks with noise, and batches of measurements that are planned; docs/auto.md has it in
detail.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from synthdp.core.constraint import Constraint
from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report
from synthdp.core.workload import Workload
from synthdp.inference.estimator import Estimator
from synthdp.inference.model import Model
from synthdp.mechanisms.auto.survey import Survey
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.rough_fit import rough_fit
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class Auto(Mechanism):
    """The default recipe: what depends on what, and what is it worth to measure it how well?

    1. MEASURE all columns.
    2. Look at the errors that independence makes on all pairs, with Gaussian noise; SELECT a batch
       of cliques of any width, and how precisely to measure each, so that the expected error of the
       workload is least; MEASURE it with a part of the budget, and GENERATE.
    3. Look at the errors of that model on pairs and triples; plan, MEASURE and GENERATE again.

    Step 2 looks at all pairs that the workload holds (of up to 2^20 cells), step 3 at the 2,000 of
    them that depended most and at wider marginals of the workload whose pairs did; what was
    considered and what the noise hides is in ``findings["rounds"]``. In tables of more than 40
    columns the first look may cost up to a tenth of the budget, and pairs matter more that depend
    more. A look whose noise would hide everything is left out: what it would have cost is measured
    with. All noise is Gaussian, so that Gaussian DP accounts for it.

    Parameters
    ----------
    one_way_share
        Share of the budget for step 1.
    look_share
        Share of the budget for each look; in wide tables the first may cost more.
    first_share
        Share of what is left after columns and looks for the measurements of step 2.
    clarity
        A look is taken if the standard deviation of its noise is at most this share of the records.
    doubt
        Standard deviation of the error that a model is expected to have, as a part of it: in step 3
        the look is weighed against that.
    max_candidates
        Most marginals to look at in step 3: the pairs that depended most (up to 2,000 of them in
        any case), then the wider ones whose pairs did.
    max_cells
        Most cells of the junction tree, for engines that need one.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    """

    name: ClassVar[str] = "auto"
    reference: ClassVar[str] = "synthdp's own: docs/auto.md"
    is_gaussian: ClassVar[bool] = True
    default_engine: ClassVar[str] = "layered-consistency"
    default_accounting: ClassVar[Accounting] = Accounting.GDP
    one_way_share: float = 0.08
    look_share: float = 0.03
    first_share: float = 0.4
    clarity: float = 0.25
    doubt: float = 0.5
    max_candidates: int = 600
    max_cells: int = 1 << 19

    def __post_init__(self) -> None:
        check_shares(self, "one_way_share", "look_share", "first_share")
        check_counts(self, "max_candidates", "max_cells")
        if not self.one_way_share + 2 * self.look_share < 1:
            raise ParameterError(
                "auto: one_way_share and two look_shares leave nothing; their sum must be below 1"
            )
        if not (self.clarity > 0 and self.doubt > 0):
            raise ParameterError("auto: clarity and doubt must be above 0")

    def release(
        self,
        table: PrivateTable,
        *,
        workload: Workload,
        engine: Estimator,
        constraints: Sequence[Constraint] = (),
        report: Report,
    ) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        budget, look = table.ledger.remaining, table.ledger.remaining * Fraction(self.look_share)
        survey = Survey(
            table, workload, engine, constraints, clarity=self.clarity, max_cells=self.max_cells
        )
        fit = rough_fit(engine, table.domain, constraints, report)
        report("selecting and measuring", 0, 1)
        survey.measure_columns(budget * Fraction(self.one_way_share))
        cost = survey.first_cost(look)
        if not survey.is_clear(survey.pairs, cost):
            survey.measure_only_columns()
            return survey.told(fit(table.released))
        errors = survey.first_look(cost)
        candidates = survey.promising(self.max_candidates)
        again = survey.is_clear(candidates, look)
        rest = table.ledger.remaining - (look if again else 0)
        left = survey.measure_batch(errors, rest * Fraction(self.first_share) if again else rest)
        model = fit(table.released)
        if again:
            errors = survey.second_look(model, candidates, left, look, doubt=self.doubt)
            survey.measure_batch(errors, table.ledger.remaining)
            model = fit(table.released, warm_start=model)
        return survey.told(model)
