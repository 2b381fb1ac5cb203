"""What a release needs only at times, by name: each is loaded when it is first asked for.

Whoever makes a release, or draws from it, loads none of this. Names go down like imports, and no
other file of this folder names a module that is still to be loaded, but `registry` its mechanisms
and engines.
"""

from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from synthdp.core.imports import import_named

if TYPE_CHECKING:
    import pandas as pd
    from networkx import Graph

    from synthdp.core.known_marginal import KnownMarginal
    from synthdp.core.measurement import LinearMeasurement
    from synthdp.core.workload import Workload
    from synthdp.inference.engine import Engine
    from synthdp.inference.model import Model
    from synthdp.learning.learner import LearntColumn
    from synthdp.privacy.scores import MarginalL1Error
    from synthdp.release.acceptance import Criterion
    from synthdp.release.persistence.journaled_run import JournaledRun
    from synthdp.release.uncertainty.replicates import Replicates
    from synthdp.schema.open_schema import OpenSchema

Named = TypeVar("Named", covariant=True)


@final
@dataclass(frozen=True)
class OnDemand(Generic[Named]):
    """A function or class by its module and name."""

    name: str

    def load(self) -> Named:
        """The function or class itself; its module is imported if it was not yet."""
        loaded: Named = import_named(self.name)
        return loaded


PARSE_CRITERIA: OnDemand["Callable[..., tuple[Criterion, ...]]"] = OnDemand(
    "synthdp.release.acceptance:parse_criteria"
)
"""Criteria that a release is to meet; for runs with ``accept``."""

CHECK_CRITERIA: OnDemand[Callable[..., None]] = OnDemand(
    "synthdp.release.acceptance:check_criteria"
)
"""Whether a table can be measured by them; for the same."""

VERDICTS: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.acceptance:verdicts")
"""What measured quality says of them; for the same."""

BY_WEIGHT: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.drawing.weighting:by_weight")
"""Rows of the population; for `Synthesis.sample` with ``weighted``."""

ARCHIVE: OnDemand[Callable[..., None]] = OnDemand("synthdp.release.saving.archive:write")
"""The file of a release; for `Synthesis.save`."""

BATCHES: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.drawing.batches:arrow_batches")
"""Long tables as a stream of Arrow, which needs pyarrow; for `Synthesis.sample_batches`."""

CALIBRATED: OnDemand["Callable[..., pd.DataFrame]"] = OnDemand(
    "synthdp.release.calibrating:calibrated_table"
)
"""Rows with calibrated weights; for `Synthesis.sample` of surveys."""

WEIGHT_CAUTIONS: OnDemand["Callable[..., list[str]]"] = OnDemand(
    "synthdp.release.weight_cautions:weight_cautions"
)
"""What to say of weights that are of little use; for runs with a column of weights."""

WEIGHTED_MARGINAL: OnDemand[Callable[..., Any]] = OnDemand(
    "synthdp.release.uncertainty.weighted:weighted_marginal"
)
"""Weighted counts; for `Synthesis.marginal` with ``weighted``."""

WITH_KNOWN: OnDemand["Callable[..., list[LinearMeasurement]]"] = OnDemand(
    "synthdp.release.uncertainty.known_counts:with_known"
)
"""Published counts beside measurements; for limits of releases with ``known``."""

EXACTLY: OnDemand["Callable[..., pd.DataFrame]"] = OnDemand(
    "synthdp.release.uncertainty.known_counts:exactly"
)
"""Limits without width, of counts that are published; for the same."""

READING_CHECK: OnDemand["Callable[..., dict[str, float]]"] = OnDemand(
    "synthdp.release.stopping:reading_check"
)
"""Whether single columns are read; for runs of mechanisms that do not begin with these."""

STOP: OnDemand["Callable[..., Exception]"] = OnDemand("synthdp.release.stopping:stop")
"""Why a run stops; for runs of which a column is not read."""

STOP_UNREAD: OnDemand[Callable[..., None]] = OnDemand("synthdp.release.stopping:stop_unread")
"""The same, of columns that were counted."""

WEIGHED: OnDemand["Callable[..., OpenSchema]"] = OnDemand(
    "synthdp.release.weighted_workload:weighed"
)
"""Schemas with a column of weights, which is checked; for the same runs."""

WITH_WEIGHT: OnDemand["Callable[..., Workload]"] = OnDemand(
    "synthdp.release.weighted_workload:with_weight"
)
"""Workloads that keep what depends on a weight; for runs with a column of weights."""

CANDIDATES: OnDemand["Callable[..., tuple[Engine, ...]]"] = OnDemand(
    "synthdp.release.choice:candidates_of"
)
"""What there is to choose from; for runs with ``choose``."""

LABELLED: OnDemand["Callable[[Engine], str]"] = OnDemand("synthdp.release.choice:labelled")
"""An engine in words; for the same."""

CHOSEN_MODEL: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.choosing:chosen_model")
"""A private choice among models of the same measurements; for the same."""

COMPARED: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.comparing:compared")
"""Drawn tables held against the records; for runs with a share for quality, or with ``choose``."""

COMPLETION: OnDemand["Callable[..., tuple[pd.DataFrame, Collection[str]]]"] = OnDemand(
    "synthdp.release.drawing.completing:completed_table"
)
"""Partial records of any form, completed; for `Synthesis.sample` with ``given``."""

CHECK_QUESTIONS: OnDemand["Callable[..., None]"] = OnDemand(
    "synthdp.release.domain_learning:check_questions"
)
"""Whether a budget is large enough to learn a domain with; for a schema that leaves something open.
"""

DIFFERENCES: OnDemand["Callable[..., pd.DataFrame]"] = OnDemand(
    "synthdp.release.uncertainty.differences:difference_between"
)
"""How a marginal changed since an earlier release; for `Synthesis.difference`."""

FIT: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.rows_check:fit_summary")
"""How a fit ended, and how far rows are from it; for `Synthesis.fit`."""

INTERVALS: OnDemand["Callable[..., pd.DataFrame]"] = OnDemand(
    "synthdp.release.uncertainty.intervals:with_intervals"
)
"""Counts of a marginal with limits; for `Synthesis.marginal` with ``interval``."""

JOURNALED_RUN: OnDemand["Callable[..., AbstractContextManager[JournaledRun]]"] = OnDemand(
    "synthdp.release.persistence.journaled_run:journaled_run"
)
"""A run whose answers are kept, and that is charged to a budget; for `synthesize` with ``journal``.
"""

FURTHER_FIT: OnDemand["Callable[..., Model]"] = OnDemand("synthdp.release.further_fits:further_fit")
"""A model of what was measured; for releases that have none yet."""

KNOWN_ENGINE: OnDemand["Callable[..., Engine]"] = OnDemand(
    "synthdp.inference.engines.known_totals:KnownTotalsEngine"
)
"""Fits that meet published totals; for runs with ``known``."""

KNOWING_TABLE: OnDemand[Callable[..., Any]] = OnDemand(
    "synthdp.mechanisms.shared.knowing_table:KnowingTable"
)
"""A private table that is not asked what is published; for runs with ``known``."""

LEARNT_SO_FAR: OnDemand[Callable[..., Any]] = OnDemand(
    "synthdp.release.learnt_domain:learnt_so_far"
)
"""What a run had learnt when it failed; for a schema that leaves something open."""

LEARNING_NEEDS: OnDemand["Callable[..., tuple[bool, bool]]"] = OnDemand(
    "synthdp.release.domain_learning:learning_needs"
)
"""What learning takes besides Gaussian noise; for a schema that leaves something open."""

LEARN_DOMAIN: OnDemand["Callable[..., Generator[LearntColumn]]"] = OnDemand(
    "synthdp.release.domain_learning:learn_domain"
)
"""What a schema leaves open, by noisy answers; for a schema that leaves something open."""

MEASURED_PREDICTION: OnDemand[Callable[..., dict[str, Any]]] = OnDemand(
    "synthdp.release.prediction_quality:measured_prediction"
)
"""How well a model of drawn rows predicts a column of the records; for runs with a target."""

MERGED_FIT: OnDemand["Callable[..., Model]"] = OnDemand(
    "synthdp.inference.engines.refinement:estimate_refined"
)
"""Fits of measurements of which some are over merged levels."""

NOTEBOOK_SUMMARY: OnDemand[Callable[..., str]] = OnDemand(
    "synthdp.release.notebook_summary:notebook_summary"
)
"""A release as HTML; for notebooks."""

PLACED_SCORE: OnDemand["Callable[..., MarginalL1Error]"] = OnDemand(
    "synthdp.learning.placed_scores:placed_score"
)
"""Scores with places for unread values; for mechanisms that select or score."""

POSSIBILITY: OnDemand[Callable[..., None]] = OnDemand(
    "synthdp.inference.graphical.possible_rows:check_possible"
)
"""Whether any row keeps to all constraints, which needs their junction tree; asked if there are
some.
"""

READ_ABOUT: OnDemand["Callable[..., dict[str, Any]]"] = OnDemand(
    "synthdp.release.certificate.about:read_about"
)
"""What only the curator knows of a release; for `synthesize` with ``about``."""

PRIOR_RELEASE: OnDemand[Callable[..., Any]] = OnDemand(
    "synthdp.release.prior_release:prior_release"
)
"""An earlier release, read and checked; for runs with ``prior``."""

REFITTED: OnDemand["Callable[..., tuple[Model, dict[str, Any]]]"] = OnDemand(
    "synthdp.release.further_fits:refitted"
)
"""Another engine's model, and what a certificate says of it; for `Synthesis.refit`."""

REFILLED: OnDemand["Callable[..., list[LinearMeasurement]]"] = OnDemand(
    "synthdp.learning.refilling:refilled"
)
"""Unread values of a column filled alike in all marginals; for tables that have some."""

PUBLISHED_TOTALS: OnDemand[Callable[..., Any]] = OnDemand(
    "synthdp.release.known_tables:published_totals"
)
"""Published tables, read and checked; for runs with ``known``."""

REPLICATES: OnDemand["Callable[..., Replicates]"] = OnDemand(
    "synthdp.release.replicating:replicates_of"
)
"""Tables that differ as much as the noise left open; for `Synthesis.replicates`."""

SAVED_KNOWN: OnDemand["Callable[..., tuple[KnownMarginal, ...]]"] = OnDemand(
    "synthdp.release.known_tables:saved_known"
)
"""Published totals as files keep them; for releases without a model."""

STRUCTURE: OnDemand["Callable[..., Graph]"] = OnDemand(
    "synthdp.release.certificate.structure:structure_graph"
)
"""A release as a graph, which needs networkx; for `Synthesis.graph`."""

TARGET_LAST: OnDemand["Callable[..., Model]"] = OnDemand(
    "synthdp.inference.models.target_drawn_last:with_target_last"
)
"""Rows that get what is to be predicted last; for runs with a target."""

TOTALS_SAID: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.known_tables:totals_said")
"""What a certificate says of published totals, and cautions; for runs with ``known``."""

UNUSED_LEVELS: OnDemand[Callable[..., dict[str, tuple[int, ...]]]] = OnDemand(
    "synthdp.learning.unused_levels:levels_without_records"
)
"""Levels of which only noise is left; for a release of columns that were learnt."""

VERIFY: OnDemand[Callable[..., Any]] = OnDemand("synthdp.release.verification:verify")
"""Questions held against the real table; for `Synthesis.verify`."""
