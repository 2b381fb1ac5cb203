"""What a release needs only at times, by name: each is loaded when it is first asked for.

Whoever makes a release, or draws from it, loads none of this. Names go down like imports, and no
other file of this folder names a module that is still to be loaded, but `registry` its mechanisms
and engines.
"""

PARSE_CRITERIA = "synthdp.release.acceptance:parse_criteria"
"""Criteria that a release is to meet; for runs with ``accept``."""

CHECK_CRITERIA = "synthdp.release.acceptance:check_criteria"
"""Whether a table can be measured by them; for the same."""

VERDICTS = "synthdp.release.acceptance:verdicts"
"""What measured quality says of them; for the same."""

BY_WEIGHT = "synthdp.release.drawing.weighting:by_weight"
"""Rows of the population; for `Synthesis.sample` with ``weighted``."""

ARCHIVE = "synthdp.release.saving.archive:write"
"""The file of a release; for `Synthesis.save`."""

BATCHES = "synthdp.release.drawing.batches:arrow_batches"
"""Long tables as a stream of Arrow, which needs pyarrow; for `Synthesis.sample_batches`."""

CALIBRATED = "synthdp.release.calibrating:calibrated_table"
"""Rows with calibrated weights; for `Synthesis.sample` of surveys."""

WEIGHT_CAUTIONS = "synthdp.release.weight_cautions:weight_cautions"
"""What to say of weights that are of little use; for runs with a column of weights."""

WEIGHTED_MARGINAL = "synthdp.release.uncertainty.weighted:weighted_marginal"
"""Weighted counts; for `Synthesis.marginal` with ``weighted``."""

WITH_KNOWN = "synthdp.release.uncertainty.known_counts:with_known"
"""Published counts beside measurements; for limits of releases with ``known``."""

EXACTLY = "synthdp.release.uncertainty.known_counts:exactly"
"""Limits without width, of counts that are published; for the same."""

READING_CHECK = "synthdp.release.stopping:reading_check"
"""Whether single columns are read; for runs of mechanisms that do not begin with these."""

STOP = "synthdp.release.stopping:stop"
"""Why a run stops; for runs of which a column is not read."""

STOP_UNREAD = "synthdp.release.stopping:stop_unread"
"""The same, of columns that were counted."""

WEIGHED = "synthdp.release.weighted_workload:weighed"
"""Schemas with a column of weights, which is checked; for the same runs."""

WITH_WEIGHT = "synthdp.release.weighted_workload:with_weight"
"""Workloads that keep what depends on a weight; for runs with a column of weights."""

CANDIDATES = "synthdp.release.choice:candidates_of"
"""What there is to choose from; for runs with ``choose``."""

LABELLED = "synthdp.release.choice:labelled"
"""An engine in words; for the same."""

CHOSEN_MODEL = "synthdp.release.choosing:chosen_model"
"""A private choice among models of the same measurements; for the same."""

COMPARED = "synthdp.release.comparing:compared"
"""Drawn tables held against the records; for runs with a share for quality, or with ``choose``."""

COMPLETION = "synthdp.release.drawing.completing:completed_table"
"""Partial records of any form, completed; for `Synthesis.sample` with ``given``."""

CHECK_QUESTIONS = "synthdp.release.domain_learning:check_questions"
"""Whether a budget is large enough to learn a domain with; for a schema that leaves something open.
"""

DIFFERENCES = "synthdp.release.uncertainty.differences:difference_between"
"""How a marginal changed since an earlier release; for `Synthesis.difference`."""

FIT = "synthdp.release.rows_check:fit_summary"
"""How a fit ended, and how far rows are from it; for `Synthesis.fit`."""

INTERVALS = "synthdp.release.uncertainty.intervals:with_intervals"
"""Counts of a marginal with limits; for `Synthesis.marginal` with ``interval``."""

JOURNALED_RUN = "synthdp.release.persistence.journaled_run:journaled_run"
"""A run whose answers are kept, and that is charged to a budget; for `synthesize` with ``journal``.
"""

FURTHER_FIT = "synthdp.release.further_fits:further_fit"
"""A model of what was measured; for releases that have none yet."""

KNOWN_ENGINE = "synthdp.inference.engines.known_totals:KnownTotalsEngine"
"""Fits that meet published totals; for runs with ``known``."""

KNOWING_TABLE = "synthdp.mechanisms.shared.knowing_table:KnowingTable"
"""A private table that is not asked what is published; for runs with ``known``."""

LEARNT_SO_FAR = "synthdp.release.learnt_domain:learnt_so_far"
"""What a run had learnt when it failed; for a schema that leaves something open."""

LEARNING_NEEDS = "synthdp.release.domain_learning:learning_needs"
"""What learning takes besides Gaussian noise; for a schema that leaves something open."""

LEARN_DOMAIN = "synthdp.release.domain_learning:learn_domain"
"""What a schema leaves open, by noisy answers; for a schema that leaves something open."""

MEASURED_PREDICTION = "synthdp.release.prediction_quality:measured_prediction"
"""How well a model of drawn rows predicts a column of the records; for runs with a target."""

MERGED_FIT = "synthdp.inference.engines.refinement:estimate_refined"
"""Fits of measurements of which some are over merged levels."""

NOTEBOOK_SUMMARY = "synthdp.release.notebook_summary:notebook_summary"
"""A release as HTML; for notebooks."""

PLACED_SCORE = "synthdp.learning.placed_scores:placed_score"
"""Scores with places for unread values; for mechanisms that select or score."""

POSSIBILITY = "synthdp.inference.graphical.possible_rows:check_possible"
"""Whether any row keeps to all constraints, which needs their junction tree; asked if there are
some.
"""

READ_ABOUT = "synthdp.release.certificate.about:read_about"
"""What only the curator knows of a release; for `synthesize` with ``about``."""

PRIOR_RELEASE = "synthdp.release.prior_release:prior_release"
"""An earlier release, read and checked; for runs with ``prior``."""

REFITTED = "synthdp.release.further_fits:refitted"
"""Another engine's model, and what a certificate says of it; for `Synthesis.refit`."""

REFILLED = "synthdp.learning.refilling:refilled"
"""Unread values of a column filled alike in all marginals; for tables that have some."""

PUBLISHED_TOTALS = "synthdp.release.known_tables:published_totals"
"""Published tables, read and checked; for runs with ``known``."""

REPLICATES = "synthdp.release.replicating:replicates_of"
"""Tables that differ as much as the noise left open; for `Synthesis.replicates`."""

SAVED_KNOWN = "synthdp.release.known_tables:saved_known"
"""Published totals as files keep them; for releases without a model."""

STRUCTURE = "synthdp.release.certificate.structure:structure_graph"
"""A release as a graph, which needs networkx; for `Synthesis.graph`."""

TARGET_LAST = "synthdp.inference.models.target_drawn_last:with_target_last"
"""Rows that get what is to be predicted last; for runs with a target."""

TOTALS_SAID = "synthdp.release.known_tables:totals_said"
"""What a certificate says of published totals, and cautions; for runs with ``known``."""

UNUSED_LEVELS = "synthdp.learning.unused_levels:levels_without_records"
"""Levels of which only noise is left; for a release of columns that were learnt."""

VERIFY = "synthdp.release.verification:verify"
"""Questions held against the real table; for `Synthesis.verify`."""
