# What synthdp.report offers: the only list (synthdp/core/faces.py).
from synthdp.report.evaluation import NOT_PRIVATE as NOT_PRIVATE
from synthdp.report.evaluation import Evaluation as Evaluation
from synthdp.report.linked.linked_marginals import KINDS as KINDS
from synthdp.report.linked.linked_marginals import LinkedMarginals as LinkedMarginals
from synthdp.report.linked.linked_sections import LinkedView as LinkedView
from synthdp.report.metrics.associations import associations as associations
from synthdp.report.metrics.associations import compared_associations as compared_associations
from synthdp.report.metrics.associations import correlation_ratio as correlation_ratio
from synthdp.report.metrics.associations import cramers_v as cramers_v
from synthdp.report.metrics.associations import rank_correlations as rank_correlations
from synthdp.report.metrics.columns import compared_columns as compared_columns
from synthdp.report.metrics.columns import distributions as distributions
from synthdp.report.metrics.distribution import kolmogorov_smirnov as kolmogorov_smirnov
from synthdp.report.metrics.groups import group_errors as group_errors
from synthdp.report.metrics.marginal_error import total_variation as total_variation
from synthdp.report.metrics.marginal_error import workload_error as workload_error
from synthdp.report.metrics.marginals import MarginalErrors as MarginalErrors
from synthdp.report.metrics.marginals import chosen_marginals as chosen_marginals
from synthdp.report.metrics.marginals import k_marginal_score as k_marginal_score
from synthdp.report.metrics.marginals import null_pmse as null_pmse
from synthdp.report.metrics.marginals import pair_propensity as pair_propensity
from synthdp.report.metrics.matches import exact_matches as exact_matches
from synthdp.report.metrics.queries import answered as answered
from synthdp.report.metrics.queries import parse_queries as parse_queries
from synthdp.report.metrics.read_table import ReadTable as ReadTable
from synthdp.report.metrics.read_table import read_table as read_table
from synthdp.report.metrics.references import Measured as Measured
from synthdp.report.metrics.references import SamplingError as SamplingError
from synthdp.report.metrics.references import (
    deviations_with_replacement as deviations_with_replacement,
)
from synthdp.report.metrics.references import (
    deviations_without_replacement as deviations_without_replacement,
)
from synthdp.report.metrics.references import noise_error as noise_error
from synthdp.report.metrics.references import subsample_share as subsample_share
from synthdp.report.metrics.rule_breaks import broken_rules as broken_rules
from synthdp.report.observed_schema import evaluation_schema as evaluation_schema
from synthdp.report.pages.columns import pictures as pictures
from synthdp.report.pages.marginals import curve_section as curve_section
from synthdp.report.pages.marginals import marginal_section as marginal_section
from synthdp.report.pages.relations import association_section as association_section
from synthdp.report.pages.view import View as View
from synthdp.report.prediction.design import Design as Design
from synthdp.report.prediction.design import predictors as predictors
from synthdp.report.prediction.linear_fit import independent_terms as independent_terms
from synthdp.report.prediction.linear_fit import least_squares as least_squares
from synthdp.report.prediction.linear_fit import logistic as logistic
from synthdp.report.prediction.prediction import Split as Split
from synthdp.report.prediction.prediction import compared_predictions as compared_predictions
from synthdp.report.prediction.propensity import main_effects as main_effects
from synthdp.report.prediction.propensity import propensity_scores as propensity_scores
from synthdp.report.prediction.regression import compared_coefficients as compared_coefficients
from synthdp.report.prediction.regression import interval_overlap as interval_overlap
from synthdp.report.prediction.targets import Target as Target
from synthdp.report.prediction.targets import chosen_targets as chosen_targets
from synthdp.report.prediction.targets import suitable as suitable
from synthdp.report.release_pages.certificate_page import MAX_ROWS as MAX_ROWS
from synthdp.report.release_pages.certificate_page import certificate_page as certificate_page
from synthdp.report.release_pages.release_page import release_page as release_page
from synthdp.report.rendering.charts import Curve as Curve
from synthdp.report.rendering.charts import Words as Words
from synthdp.report.rendering.charts import curves as curves
from synthdp.report.rendering.charts import histograms as histograms
from synthdp.report.rendering.charts import paired_marks as paired_marks
from synthdp.report.rendering.charts import rows_of_shares as rows_of_shares
from synthdp.report.rendering.charts import steps_of_shares as steps_of_shares
from synthdp.report.rendering.figures import drawn as drawn
from synthdp.report.rendering.listing import Listing as Listing
from synthdp.report.rendering.maps import graph_map as graph_map
from synthdp.report.rendering.maps import heat_map as heat_map
from synthdp.report.rendering.page import rendered as rendered
from synthdp.report.rendering.section import Section as Section
from synthdp.report.rendering.shares import Shares as Shares
from synthdp.report.texts.certificates import certificate_text as certificate_text
from synthdp.report.texts.listing import WIDTH as WIDTH
from synthdp.report.texts.numbers import at_most as at_most
