"""Auto: two rounds of noisy scores, each followed by a planned batch of measurements; docs/auto.md
has it in detail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast, final

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import LinearMeasurement, estimate_total
from synthdp.core.reporting import Report
from synthdp.core.workload import Workload
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.mechanisms.auto.candidates import Candidates
from synthdp.mechanisms.auto.findings import Findings
from synthdp.mechanisms.auto.joint_dependences import JointScores, joint_sets
from synthdp.mechanisms.auto.named_marginals import NamedMarginals
from synthdp.mechanisms.auto.survey import Survey, first_score_rho, is_informative
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.mechanisms.shared.knowing_table import KnowingTable
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.rough_fit import rough_fit
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import PrivateTable

if TYPE_CHECKING:
    from synthdp.mechanisms.auto.drifting import Drifting


@final
@dataclass(frozen=True, kw_only=True)
class Auto(Mechanism):
    """The default mechanism: what depends on what, and what is it worth to measure it how well?

    1. MEASURE all columns.
       Marginals that a person named in the workload are measured next, as finely as their share
       of the budget allows (`NamedMarginals`).
    2. SELECT: score how far all pairs are from independence, with Gaussian noise; plan a batch of
       cliques of any width, and how precisely to measure each, so that the expected error of the
       workload is least. MEASURE it with a part of the budget, and GENERATE.
       Then SELECT: score sets of three and four columns over a few groups of their levels, as
       many as noise allows, and MEASURE those that depend clearly beyond what smaller ones say.
    3. SELECT: score the errors of that model on pairs and triples; plan, MEASURE and GENERATE
       again.

    Step 2 scores all pairs that the workload holds (of up to 2^20 cells), step 3 the 2,000 of them
    that depended most and wider marginals of the workload whose pairs did; what was considered and
    what the noise hides is in ``findings["rounds"]``. In tables of more than 40 columns the first
    scores may cost up to a tenth of the budget, and pairs matter more that depend more. Where noise
    would hide everything, nothing is scored: what that would have cost is measured with. All noise
    is Gaussian, so that Gaussian DP accounts for it.
    """

    name: ClassVar[str] = "auto"
    reference: ClassVar[str] = "synthdp's own: docs/auto.md"
    is_gaussian: ClassVar[bool] = True
    default_engine: ClassVar[str] = "layered-consistency"
    default_accounting: ClassVar[Accounting] = Accounting.GDP
    # The nine numbers below were chosen by comparisons on Adult, NLTCS, Titanic and six more public
    # tables; the table of constants in docs/auto.md says what their neighbours gave. Most
    # differences were within the spread of the runs: none of them is tuned to the last digit, and
    # tuning them on the table that is released would itself cost privacy.
    one_way_share: float = 0.08
    """Share of the budget for step 1."""
    score_share: float = 0.03
    """Share of the budget for the scores of step 2 and of step 3; in wide tables the first may
    cost more.
    """
    first_share: float = 0.4
    """Share of what is left after columns and scores for the measurements of step 2."""
    named_share: float = 0.5
    """Share of what columns and first scores leave that may go to the marginals that a workload
    names, whatever scores show; see `NamedMarginals`.
    """
    joint_share: float = 0.01
    """Share of the budget for the look for columns that depend all together and not two by two."""
    max_noise_share: float = 0.25
    """Scores are released if the standard deviation of their noise is at most this share of the
    records.
    """
    relative_model_error: float = 0.5
    """How wrong the plan's own estimate of a model's error may be, as a share of it (one standard
    deviation): in step 3 the scores are combined with that estimate by inverse variance.
    """
    max_candidates: int = 600
    """Most marginals to score in step 3: the pairs that depended most (up to 2,000 of them in any
    case), then the wider ones whose pairs did.
    """
    max_cells: int = 1 << 19
    """Most cells of the junction tree, for engines that need one."""

    def __post_init__(self) -> None:
        check_shares(
            self, "one_way_share", "score_share", "first_share", "named_share", "joint_share"
        )
        check_counts(self, "max_candidates", "max_cells")
        if not self.one_way_share + 2 * self.score_share < 1:
            raise ParameterError(
                "auto: one_way_share and two score_shares leave nothing; their sum must be below 1"
            )
        if not (self.max_noise_share > 0 and self.relative_model_error > 0):
            raise ParameterError("auto: max_noise_share and relative_model_error must be above 0")

    def share_of_columns(self, domain: Domain) -> float:  # noqa: ARG002
        """The share of the columns, the first that are asked."""
        return self.one_way_share

    def release(
        self,
        table: PrivateTable,
        *,
        workload: Workload,
        engine: Engine,
        constraints: Sequence[Constraint] = (),
        report: Report,
    ) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        return self.release_after(
            None,
            table,
            workload=workload,
            engine=engine,
            constraints=constraints,
            report=report,
        )

    def release_after(
        self,
        earlier: "Drifting | None",
        table: PrivateTable,
        *,
        workload: Workload,
        engine: Engine,
        constraints: Sequence[Constraint],
        report: Report,
    ) -> Model:
        """As `release`, when an earlier release about an overlapping population says roughly what is
        to be found: the first scores are of how far pairs moved since, and what it measured is fitted
        beside what is measured now (`synthdp.mechanisms.auto.drifting`).
        """
        budget = table.ledger.remaining
        asked = table
        # What an engine knows of columns anyway need not be measured, neither now nor by a batch:
        # of linked tables most columns of a view are those of rows that were drawn before.
        known = [marginal for marginal in engine.known if len(marginal.clique) == 1]
        # Wider ones, published totals, are neither scored nor measured.
        known_sets = engine.known_sets
        if known and not isinstance(table, KnowingTable):
            table = cast(PrivateTable, KnowingTable(asked, engine))
        # Shares are taken as exact fractions of an exact budget. With floats the last measurement
        # could ask for a rounding error more than the ledger has, and would be refused.
        score_rho = budget * Fraction(self.score_share)
        # Everything up to the first call of `table.measure` follows from public input alone.
        candidates = Candidates(table.domain, workload, known_sets)
        findings = Findings(candidates)
        # The fits of a release are rough ones: between the batches a model is only what errors are
        # measured against, and a last one to the last digit would follow the noise.
        fit = rough_fit(engine, table.domain, constraints, report)
        report("selecting and measuring", 0, 1)

        # MEASURE all columns: they say how many records there are, and what independence expects.
        # Few measurements are as useful as these. Without them nothing could be called independent,
        # no levels could be merged, and no share of the records could be distinguished from noise.
        known_columns = {marginal.clique for marginal in known}
        columns = measurement_shares(
            table.domain,
            {
                clique: weight
                for clique, weight in candidates.column_weights.items()
                if clique not in known_columns
            },
        )
        _measure_columns(table, columns, budget * Fraction(self.one_way_share))
        # The second scores keep `score_rho` even where the first cost more: they are of 2,000 pairs
        # at most, so their noise does not grow with the width of the table.
        first_rho = first_score_rho(table, candidates, score_rho, budget=budget)
        after_scores = table.ledger.remaining - first_rho - score_rho
        surveyed = partial(
            Survey,
            table,
            candidates,
            engine=engine,
            constraints=constraints,
            max_cells=self.max_cells,
            findings=findings,
        )
        survey = surveyed() if earlier is None else surveyed(groups=earlier.groups)
        if earlier is not None:
            earlier.compare_columns(table.released)
        # Floors are settled before anything is scored. Nobody's choice of a floor may depend on
        # scores: who names a marginal may know what scores of pairs cannot show.
        named = NamedMarginals(
            table,
            workload,
            shares=survey.shares,
            rho=after_scores * Fraction(self.named_share),
            can_merge=engine.takes_merged,
            is_allowed=survey.is_allowed,
            known=known_sets,
        )
        # Scores whose noise is larger than what they could show would cost their share and then
        # mislead the plan: Titanic at epsilon 0.3 did better without.
        if not self._is_informative(table, candidates.pairs, first_rho):
            findings.measured_only_columns(n_named=len(named.floors))
            named.measure()
            _measure_columns(table, columns, table.ledger.remaining)
            return findings.attached_to(fit(_evidence(asked, earlier)), named.cautions())

        # SELECT by the distance of pairs from independence.
        # All pairs, not the tree of the strongest: the batch is planned over the whole workload at
        # once, and a floor under all pairs follows from their posterior means.
        errors, strengths = (
            survey.score_independence(first_rho)
            if earlier is None
            else earlier.score_drift(survey, candidates, first_rho)
        )
        if earlier is not None and earlier.has_moved:
            # It is as if there were none, but for what the look at its drift cost.
            survey = surveyed()
            errors, strengths = survey.score_independence(first_rho)
        weights = candidates.weights_by(strengths)
        strongest = candidates.strongest(strengths, self.max_candidates)
        # Triples have not been scored yet. Their guesses are not used by the first plan, which has
        # pairs only, but are what the second scores are weighed against.
        guesses = survey.guess_wider(strongest, strengths)
        if earlier is not None:
            guesses = {**guesses, **earlier.wider}

        # MEASURE what the workload names, and all there is to measure or the first of two batches,
        # and GENERATE.
        named.measure()
        # The plan must know of the floors, or it would measure the same marginals once more.
        errors = survey.after_floors(named.floors, errors, weights)
        # It is asked before the first batch is planned: without second scores there is nothing to
        # keep budget back for.
        has_second_round = self._is_informative(table, strongest, score_rho)
        if not has_second_round:
            survey.measure_batch(errors, weights, table.ledger.remaining)
            return findings.attached_to(fit(_evidence(asked, earlier)), named.cautions())
        joint_rho = budget * Fraction(self.joint_share)
        look = JointScores(
            table, joint_sets(table.domain, workload), shares=survey.shares, rho=joint_rho
        )
        # Where nothing would be seen nothing is looked for, and nothing paid.
        joint_rho = joint_rho if look.scored else Fraction(0)
        first_batch = (table.ledger.remaining - score_rho - joint_rho) * Fraction(self.first_share)
        expected = survey.measure_batch(errors, weights, first_batch)
        model = fit(_evidence(asked, earlier))

        # SELECT sets of columns that depend all together, MEASURE them as if they were named, and
        # GENERATE. Mostly there are none; only then it costs a fit.
        strong = look.strong(model) if look.scored else []
        if look.scored:
            findings.looked_for_joint(
                look.scored, strong, stddev=look.stddev, total=estimate_total(table.released)
            )
        if strong:
            joint = NamedMarginals(
                table,
                Workload(dict.fromkeys(strong, 1.0), are_named=True),
                shares=survey.shares,
                rho=(table.ledger.remaining - score_rho) * Fraction(self.named_share),
                can_merge=engine.takes_merged,
                is_allowed=survey.is_allowed,
            )
            joint.measure()
            model = fit(_evidence(asked, earlier), warm_start=model)

        # SELECT by the errors of that model, MEASURE and GENERATE again.
        # What the plan expected comes last in the union: where both know a part, what the batch
        # left of it is newer than the guess.
        errors = survey.score_model(
            model,
            strongest,
            {**guesses, **expected},
            score_rho,
            relative_model_error=self.relative_model_error,
        )
        survey.measure_batch(errors, weights, table.ledger.remaining)
        # The last batch spends exactly what is left, whatever was spent before: a budget that
        # remains would have bought precision.
        last = fit(_evidence(asked, earlier), warm_start=model)
        return findings.attached_to(last, named.cautions())

    def _is_informative(self, table: PrivateTable, scored: Sequence[Clique], rho: Fraction) -> bool:
        return is_informative(table, scored, rho, max_noise_share=self.max_noise_share)


def _evidence(table: PrivateTable, earlier: "Drifting | None") -> list[LinearMeasurement]:
    """All that a model is fitted to: what was measured, and what an earlier release still says."""
    return [*table.released, *(() if earlier is None else earlier.carry(table.released))]


def _measure_columns(table: PrivateTable, shares: Mapping[Clique, Fraction], rho: Fraction) -> None:
    """Measure all columns, with the split of ``rho`` that has the least expected L1 error."""
    for clique, share in shares.items():
        table.measure(clique, rho=rho * share)
