# What synthdp.inference offers: the only list (synthdp/core/faces.py).
from synthdp.inference.arrays import Array as Array
from synthdp.inference.arrays import Codes as Codes
from synthdp.inference.arrays import cell_counts as cell_counts
from synthdp.inference.arrays import compact as compact
from synthdp.inference.arrays import distinct_rows as distinct_rows
from synthdp.inference.arrays import stable_order as stable_order
from synthdp.inference.column_priors import column_counts as column_counts
from synthdp.inference.compiled import Compiled as Compiled
from synthdp.inference.engine import MAX_RATIO as MAX_RATIO
from synthdp.inference.engine import Engine as Engine
from synthdp.inference.engine import FitProblem as FitProblem
from synthdp.inference.engine import checked_problem as checked_problem
from synthdp.inference.engines.auto import AutoEngine as AutoEngine
from synthdp.inference.engines.direct import DirectEngine as DirectEngine
from synthdp.inference.engines.generative_network import (
    GenerativeNetworkEngine as GenerativeNetworkEngine,
)
from synthdp.inference.engines.graphical_model import GraphicalModelEngine as GraphicalModelEngine
from synthdp.inference.engines.gum import RecordUpdateEngine as RecordUpdateEngine
from synthdp.inference.engines.known_totals import KnownTotalsEngine as KnownTotalsEngine
from synthdp.inference.engines.layered_consistency import (
    LayeredConsistencyEngine as LayeredConsistencyEngine,
)
from synthdp.inference.engines.layered_consistency import parts_of as parts_of
from synthdp.inference.engines.local_consistency import (
    LocalConsistencyEngine as LocalConsistencyEngine,
)
from synthdp.inference.engines.mixture_fit import ComponentEngine as ComponentEngine
from synthdp.inference.engines.mixture_of_products import MixtureEngine as MixtureEngine
from synthdp.inference.engines.public_data import PublicDataEngine as PublicDataEngine
from synthdp.inference.engines.refinement import estimate_refined as estimate_refined
from synthdp.inference.engines.relaxed_tabular import RelaxedTabularEngine as RelaxedTabularEngine
from synthdp.inference.gaussian_pairs import CORRELATIONS as CORRELATIONS
from synthdp.inference.gaussian_pairs import cut_gaussians as cut_gaussians
from synthdp.inference.graphical.arithmetic import LinearArithmetic as LinearArithmetic
from synthdp.inference.graphical.arithmetic import LogArithmetic as LogArithmetic
from synthdp.inference.graphical.arithmetic import UnderflowDetected as UnderflowDetected
from synthdp.inference.graphical.belief_propagation import BeliefPropagation as BeliefPropagation
from synthdp.inference.graphical.clique_groups import grouped as grouped
from synthdp.inference.graphical.marginal_oracle import MarginalOracle as MarginalOracle
from synthdp.inference.graphical.markov_random_field import MarkovRandomField as MarkovRandomField
from synthdp.inference.graphical.possible_rows import check_possible as check_possible
from synthdp.inference.graphical.tree_completion import complete_records as complete_records
from synthdp.inference.graphical.tree_marginals import TreeMarginals as TreeMarginals
from synthdp.inference.graphical.tree_sampling import sample_tree as sample_tree
from synthdp.inference.graphical.variable_elimination import (
    VariableElimination as VariableElimination,
)
from synthdp.inference.jobs import each as each
from synthdp.inference.jobs import thread_count as thread_count
from synthdp.inference.known.consistency import check_known as check_known
from synthdp.inference.known.implied_rules import implied_rules as implied_rules
from synthdp.inference.known.order import order_of as order_of
from synthdp.inference.known.rounding import counts_of as counts_of
from synthdp.inference.known.rounding import rounded as rounded
from synthdp.inference.log_ratios import posterior_means as posterior_means
from synthdp.inference.log_ratios import posterior_medians as posterior_medians
from synthdp.inference.loss import MarginalLoss as MarginalLoss
from synthdp.inference.model import FitStatus as FitStatus
from synthdp.inference.model import Model as Model
from synthdp.inference.models.known_totals import KnownTotalsModel as KnownTotalsModel
from synthdp.inference.models.log_linear_conditional import (
    LogLinearConditional as LogLinearConditional,
)
from synthdp.inference.models.log_linear_conditional import scale_terms as scale_terms
from synthdp.inference.models.mixture_model import MixtureModel as MixtureModel
from synthdp.inference.models.pseudo_marginals import PseudoMarginalModel as PseudoMarginalModel
from synthdp.inference.models.pseudo_slices import field_of as field_of
from synthdp.inference.models.public_support import SupportReport as SupportReport
from synthdp.inference.models.public_support import judge_support as judge_support
from synthdp.inference.models.refined_model import RefinedModel as RefinedModel
from synthdp.inference.models.row_network import RowNetwork as RowNetwork
from synthdp.inference.models.row_network import Scopes as Scopes
from synthdp.inference.models.row_network import draw_attribute as draw_attribute
from synthdp.inference.models.row_network import fit as fit
from synthdp.inference.models.row_network import locate as locate
from synthdp.inference.models.saved_models import KINDS as KINDS
from synthdp.inference.models.saved_models import model_from_state as model_from_state
from synthdp.inference.models.saved_models import model_to_state as model_to_state
from synthdp.inference.models.target_drawn_last import TargetLastModel as TargetLastModel
from synthdp.inference.models.target_drawn_last import draw_evenly as draw_evenly
from synthdp.inference.models.target_drawn_last import with_target_last as with_target_last
from synthdp.inference.models.weighted_rows import WeightedRowsModel as WeightedRowsModel
from synthdp.inference.noisy_tables import NoisyTables as NoisyTables
from synthdp.inference.optimisers.adaptive_descent import AdaptiveDescent as AdaptiveDescent
from synthdp.inference.optimisers.dual_newton import DualNewton as DualNewton
from synthdp.inference.optimisers.mirror_descent import MirrorDescent as MirrorDescent
from synthdp.inference.optimisers.multipliers import minimise as minimise
from synthdp.inference.pair_priors import gaussian_prior as gaussian_prior
from synthdp.inference.products.array_backend import ArrayBackend as ArrayBackend
from synthdp.inference.products.component_forms import SoftmaxForm as SoftmaxForm
from synthdp.inference.products.component_forms import TableForm as TableForm
from synthdp.inference.products.network_form import NetworkForm as NetworkForm
from synthdp.inference.products.product_components import ProductComponents as ProductComponents
from synthdp.inference.projection import projected as projected
from synthdp.inference.rank_dependence import with_rank_dependence as with_rank_dependence
from synthdp.inference.regions.local_polytope import LocalPolytope as LocalPolytope
from synthdp.inference.regions.region_graph import RegionGraph as RegionGraph
from synthdp.inference.regions.region_masks import possible_masks as possible_masks
from synthdp.inference.regions.region_tables import RegionTables as RegionTables
from synthdp.inference.rows.constraint_repair import repaired as repaired
from synthdp.inference.rows.distance import RowsTally as RowsTally
from synthdp.inference.rows.distance import chance_distances as chance_distances
from synthdp.inference.rows.matching_rows import AgreeingRows as AgreeingRows
from synthdp.inference.rows.move_kernel import count as count
from synthdp.inference.rows.move_kernel import price as price
from synthdp.inference.rows.move_kernel import sweep as sweep
from synthdp.inference.rows.move_kernel import tally as tally
from synthdp.inference.rows.record_moves import RecordMoves as RecordMoves
from synthdp.inference.rows.wanted_tables import WantedTables as WantedTables
from synthdp.inference.rows.wanted_tables import layout_of as layout_of
from synthdp.inference.rows.wanted_tables import strong_pairs as strong_pairs
from synthdp.inference.rows.wanted_tables import trends_of as trends_of
from synthdp.inference.shrinkage import deviation as deviation
from synthdp.inference.shrinkage import expected_shares as expected_shares
from synthdp.inference.shrinkage import on_simplex as on_simplex
from synthdp.inference.shrinkage import one_way_shares as one_way_shares
from synthdp.inference.shrinkage import posterior as posterior
from synthdp.inference.shrinkage import raked as raked
from synthdp.inference.shrinkage import shares_of_groups as shares_of_groups
from synthdp.inference.shrinkage import shrunk as shrunk
from synthdp.inference.summation import marginal_inside as marginal_inside
from synthdp.inference.summation import summed as summed
from synthdp.inference.summation import widened as widened
from synthdp.inference.trees.attribute_sets import AttributeSets as AttributeSets
from synthdp.inference.trees.attribute_sets import Folded as Folded
from synthdp.inference.trees.junction_tree import JunctionTree as JunctionTree
from synthdp.inference.trees.junction_tree import fit_bytes as fit_bytes
from synthdp.inference.trees.tree_growth import TreeGrowth as TreeGrowth
from synthdp.inference.trees.triangulation import Triangulation as Triangulation
from synthdp.inference.value_drawing import draw_counts as draw_counts
from synthdp.inference.value_drawing import draw_each as draw_each
from synthdp.inference.value_drawing import draw_values as draw_values
from synthdp.inference.value_drawing import round_counts as round_counts
