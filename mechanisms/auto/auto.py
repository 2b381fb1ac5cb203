"""Auto: two rounds of noisy scores, each followed by a planned batch of measurements; docs/auto.md
has it in detail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, cast, final

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import estimate_total
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.mechanisms.auto.candidates import Candidates
from synthdp.mechanisms.auto.findings import Findings
from synthdp.mechanisms.auto.heavy_values import HeavyValues
from synthdp.mechanisms.auto.joint_dependences import JointScores, joint_sets
from synthdp.mechanisms.auto.named_marginals import NamedMarginals
from synthdp.mechanisms.auto.resolutions import Groups
from synthdp.mechanisms.auto.survey import (
    Dependences,
    SquaredErrors,
    Survey,
    first_score_rho,
    is_informative,
)
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.mechanisms.shared.knowing_table import KnowingTable
from synthdp.mechanisms.shared.mechanism import Mechanism, check_counts, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import PrivateTable

if TYPE_CHECKING:
    from synthdp.mechanisms.auto.drifting import Drifting


@final
@dataclass(frozen=True, kw_only=True)
class Auto(Mechanism):
    """The default mechanism: what depends on what, what is worth measuring, and how precisely?

    1. MEASURE all columns.
    2. SELECT: score how far all pairs are from independence, with Gaussian noise.
       MEASURE what a person named in the workload, as finely as its share of the budget allows
       (`NamedMarginals`), and how often numbers that mostly have one value have others together
       (`HeavyValues`).
       Plan a batch of cliques of any width, and how precisely to measure each, so that the expected
       error of the workload is least. MEASURE it with a part of the budget, and GENERATE.
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
    # The numbers below were chosen by comparisons on Adult, NLTCS, Titanic and six more public
    # tables. Most differences between neighbouring choices were within the spread of the runs: none
    # of them is tuned to the last digit, and tuning them on the table that is released would itself
    # cost privacy.
    one_way_share: float = 0.08
    """Share of the budget for step 1."""
    score_share: float = 0.03
    """Share of the budget for the scores of step 2 and of step 3; in wide tables the first may
    cost more.
    """
    first_share: float = 0.4
    """Share for the batch of step 2 of what is left once all that goes before is paid, and what the
    scores of step 3 and the look for joint dependences cost is kept back.
    """
    named_share: float = 0.5
    """Share of what columns, scores and looks leave that may go to the marginals that a workload
    names, whatever scores show, and later to those that the look for joint dependences found; see
    `NamedMarginals`.
    """
    joint_share: float = 0.01
    """Share of the budget for the look for columns that depend all together and not two by two."""
    heavy_share: float = 0.01
    """Share of the budget for which numbers that mostly have one value, such as 0, have others
    together; see `HeavyValues`.
    """
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
            self,
            "one_way_share",
            "score_share",
            "first_share",
            "named_share",
            "joint_share",
            "heavy_share",
        )
        check_counts(self, "max_candidates", "max_cells")
        extra = self.joint_share + self.heavy_share
        if not self.one_way_share + 2 * self.score_share + extra < 1:
            raise ParameterError(
                "auto: one_way_share, two score_shares, joint_share and heavy_share leave nothing; "
                "their sum must be below 1"
            )
        if not (self.max_noise_share > 0 and self.relative_model_error > 0):
            raise ParameterError("auto: max_noise_share and relative_model_error must be above 0")

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        return self.release_after(None, table, task)

    def release_after(self, earlier: "Drifting | None", table: PrivateTable, task: Task) -> Model:
        """As `release`, when an earlier release about an overlapping population says roughly what
        is to be found: the first scores are of how far pairs moved since, and what it measured is
        fitted beside what is measured now (`synthdp.mechanisms.auto.drifting`).
        """
        run = _Run(self, earlier, table, task)
        table = run.table
        task.report("selecting and measuring", 0, 1)

        # MEASURE all columns: they say how many records there are, and what independence expects.
        # Few measurements are as useful as these. Without them nothing could be called independent,
        # no levels could be merged, and no share of the records could be distinguished from noise.
        run.measure_columns(run.part_of_budget(self.one_way_share))
        first_rho = run.first_score_rho()
        survey = run.survey()
        # Floors are settled before anything is scored. Nobody's choice of a floor may depend on
        # scores: who names a marginal may know what scores of pairs cannot show.
        named = run.named_marginals(survey, table.ledger.remaining - first_rho - run.reserved)
        # Scores whose noise is larger than what they could show would cost their share and then
        # mislead the plan: Titanic at epsilon 0.3 did better without.
        if not self._is_informative(table, run.candidates.pairs, first_rho):
            run.findings.measured_only_columns(n_named=len(named.floors))
            named.measure()
            run.measure_columns(table.ledger.remaining)
            return run.result(run.fitted(), named)

        # SELECT by the distance of pairs from independence, or from an earlier release.
        # All pairs, not the tree of the strongest: the batch is planned over the whole workload at
        # once, and a floor under all pairs follows from their posterior means.
        survey, (errors, strengths) = run.score_pairs(survey, first_rho)
        run.findings.took_for_names(survey.resolutions.merged_names)
        weights = run.candidates.weights_by(strengths)
        strongest = run.candidates.strongest(strengths, self.max_candidates)
        # Triples have not been scored yet. Their guesses are not used by the first plan, which has
        # pairs only, but are what the second scores are weighed against.
        guesses = run.guess_wider(survey, strongest, strengths)

        # MEASURE what the workload names, and all there is to measure or the first of two batches,
        # and GENERATE.
        named.measure()
        run.measure_heavy_values(survey)
        # The plan must know of the floors, or it would measure the same marginals once more.
        errors = survey.after_floors(named.floors, errors, weights)
        # It is asked before the first batch is planned: without second scores there is nothing to
        # keep budget back for.
        if not self._is_informative(table, strongest, run.score_rho):
            survey.measure_batch(errors, weights, table.ledger.remaining)
            return run.result(run.fitted(), named)
        joint = run.joint_scores(survey)
        kept_back = run.score_rho + joint.cost
        first_batch = (table.ledger.remaining - kept_back) * Fraction(self.first_share)
        expected = survey.measure_batch(errors, weights, first_batch)
        model = run.fitted()

        # SELECT sets of columns that depend all together, MEASURE them as if they were named, and
        # GENERATE. Mostly there are none; only then it costs a fit.
        if run.measure_joint(survey, joint, model):
            model = run.fitted(model)

        # SELECT by the errors of that model, MEASURE and GENERATE again.
        # What the plan expected comes last in the union: where both know a part, what the batch
        # left of it is newer than the guess.
        errors = survey.score_model(
            model,
            strongest,
            {**guesses, **expected},
            run.score_rho,
            relative_model_error=self.relative_model_error,
        )
        # The last batch spends exactly what is left, whatever was spent before: a budget that
        # remains would have bought precision.
        survey.measure_batch(errors, weights, table.ledger.remaining)
        return run.result(run.fitted(model), named)

    def _is_informative(self, table: PrivateTable, scored: Sequence[Clique], rho: Fraction) -> bool:
        return is_informative(table, scored, rho, max_noise_share=self.max_noise_share)


@final
class _Run:
    """The steps of one release by `Auto`, and what does not change between them.

    Everything here follows from public input until `measure_columns` is called.

    Parameters
    ----------
    mechanism
        The shares of the budget, and the limits.
    earlier, table, task
        As in `Auto.release_after`.
    """

    def __init__(
        self, mechanism: Auto, earlier: "Drifting | None", table: PrivateTable, task: Task
    ) -> None:
        engine = task.engine
        self._mechanism = mechanism
        self._earlier = earlier
        self._asked = table
        self._task = task
        self._budget = table.ledger.remaining
        self.score_rho = self.part_of_budget(mechanism.score_share)
        """What the second scores cost, and the first ones at least."""
        extra = mechanism.joint_share, mechanism.heavy_share
        self.reserved = self.score_rho + sum(map(self.part_of_budget, extra))
        """What is kept back from the first scores and from named marginals for what follows."""
        # What an engine knows of columns anyway need not be measured, neither now nor by a batch:
        # of linked tables most columns of a view are those of rows that were drawn before. What it
        # knows of wider marginals, published totals, is neither scored nor measured.
        known = {marginal.clique for marginal in engine.known if len(marginal.clique) == 1}
        self.table = table
        """The table, beside whose answers stands what the engine knows of columns."""
        if known and not isinstance(table, KnowingTable):
            self.table = cast(PrivateTable, KnowingTable(table, engine))
        self.candidates = Candidates(table.domain, task.workload, engine.known_sets)
        """What may be scored."""
        self.findings = Findings(self.candidates)
        """What the release says of itself."""
        weights = self.candidates.column_weights
        unknown = {clique: weight for clique, weight in weights.items() if clique not in known}
        self._column_shares = measurement_shares(table.domain, unknown)
        # The fits of a release are rough ones: between the batches a model is only what errors are
        # measured against, and a last one to the last digit would follow the noise.
        self._fit = task.rough_fit(table.domain)

    def part_of_budget(self, share: float) -> Fraction:
        """A share of what there was to spend at the start.

        It is exact. With floats the last measurement could ask for a rounding error more than the
        ledger has, and would be refused.
        """
        return self._budget * Fraction(share)

    def measure_columns(self, rho: Fraction) -> None:
        """Measure all columns, with the split of ``rho`` that has the least expected L1 error."""
        for clique, share in self._column_shares.items():
            self.table.measure(clique, rho=rho * share)

    def first_score_rho(self) -> Fraction:
        """What the first scores cost, once columns are measured.

        The second ones keep `score_rho` even where the first cost more: they are of 2,000 pairs at
        most, so their noise does not grow with the width of the table.
        """
        return first_score_rho(
            self.table,
            self.candidates,
            self.score_rho,
            budget=self._budget,
            reserved=self.reserved,
        )

    def survey(self) -> Survey:
        """What scores and measures the table, at resolutions that an earlier release had, too."""
        if self._earlier is None:
            return self._survey_by({})
        self._earlier.compare_columns(self.table.released)
        return self._survey_by(self._earlier.groups)

    def _survey_by(self, groups: Groups) -> Survey:
        return Survey(
            self.table,
            self.candidates,
            engine=self._task.engine,
            constraints=self._task.constraints,
            max_cells=self._mechanism.max_cells,
            findings=self.findings,
            groups=groups,
        )

    def named_marginals(self, survey: Survey, rho: Fraction) -> NamedMarginals:
        """The marginals that the workload names, which have their share of ``rho``."""
        return self._in_full(self._task.workload, survey, rho)

    def _in_full(self, workload: Workload, survey: Survey, rho: Fraction) -> NamedMarginals:
        """The sets of columns of a workload, as finely as a share of ``rho`` allows."""
        return NamedMarginals(
            self.table,
            workload,
            shares=survey.shares,
            rho=rho * Fraction(self._mechanism.named_share),
            can_merge=self._task.engine.takes_merged,
            is_allowed=survey.is_allowed,
            known=self._task.engine.known_sets,
            names=survey.resolutions.names,
        )

    def measure_heavy_values(self, survey: Survey) -> None:
        """Measure which numbers that mostly have one value have others together."""
        heavy = HeavyValues(
            self.table,
            self.candidates.pairs,
            shares=survey.shares,
            rho=self.part_of_budget(self._mechanism.heavy_share),
        )
        if self._task.engine.takes_merged and survey.is_allowed(heavy.pairs):
            heavy.measure()
            self.findings.measured_heavy_values(heavy.pairs)

    def score_pairs(self, survey: Survey, rho: Fraction) -> tuple[Survey, Dependences]:
        """Score how much all pairs depend, and say by which survey to go on.

        With an earlier release it is scored how far pairs are from what that says, unless columns
        show that everything has moved. If it has, the rest goes as if there had been none.
        """
        if self._earlier is None:
            return survey, survey.score_independence(rho)
        if not self._earlier.has_moved:
            drifted = self._earlier.score_drift(survey, self.candidates, rho)
            if not self._earlier.has_moved:
                return survey, drifted
        afresh = self._survey_by({})
        return afresh, afresh.score_independence(rho)

    def guess_wider(
        self, survey: Survey, strongest: Sequence[Clique], strengths: Mapping[Clique, float]
    ) -> SquaredErrors:
        """Expected squared errors of marginals wider than pairs, before any of them is scored."""
        guesses = survey.guess_wider(strongest, strengths)
        return guesses if self._earlier is None else {**guesses, **self._earlier.wider}

    def joint_scores(self, survey: Survey) -> JointScores:
        """The look for columns that depend all together, which nothing has been paid for yet."""
        return JointScores(
            self.table,
            joint_sets(self.table.domain, self._task.workload),
            shares=survey.shares,
            rho=self.part_of_budget(self._mechanism.joint_share),
        )

    def measure_joint(self, survey: Survey, joint: JointScores, model: Model) -> bool:
        """Score the sets of columns that may depend all together, and measure the strong ones;
        whether there were any.
        """
        if not joint.scored:
            return False
        strong = joint.strong(model)
        total = estimate_total(self.table.released)
        self.findings.looked_for_joint(joint.scored, strong, stddev=joint.stddev, total=total)
        if not strong:
            return False
        workload = Workload(dict.fromkeys(strong, 1.0), are_named=True)
        self._in_full(workload, survey, self.table.ledger.remaining - self.score_rho).measure()
        return True

    def fitted(self, warm_start: Model | None = None) -> Model:
        """A model of all that was measured, and of what an earlier release still says."""
        released = self._asked.released
        carried = () if self._earlier is None else self._earlier.carry(released)
        return self._fit([*released, *carried], warm_start=warm_start)

    def result(self, model: Model, named: NamedMarginals) -> Model:
        """The last model, with findings and cautions of all rounds."""
        return self.findings.attached_to(model, named.cautions())
