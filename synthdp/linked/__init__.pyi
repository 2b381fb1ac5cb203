# What synthdp.linked offers: the only list (synthdp/core/faces.py).
from synthdp.linked.families.child_numbers import SeenNumbers as SeenNumbers
from synthdp.linked.families.fitted_view import FittedView as FittedView
from synthdp.linked.histories.history_release import HistoryRelease as HistoryRelease
from synthdp.linked.histories.history_synthesis import HistorySynthesis as HistorySynthesis
from synthdp.linked.linked_release import LinkedRelease as LinkedRelease
from synthdp.linked.linking.linked_rows import LinkedTableReader as LinkedTableReader
from synthdp.linked.linking.linked_rows import linked_sources as linked_sources
from synthdp.linked.linking.weighted_source import WeightedSource as WeightedSource
from synthdp.linked.package.joined import Joined as Joined
from synthdp.linked.package.joined import regrouped as regrouped
from synthdp.linked.package.limits import limits_of as limits_of
from synthdp.linked.package.linked_table import LinkedTable as LinkedTable
from synthdp.linked.package.matching import check_matching as check_matching
from synthdp.linked.package.package import Package as Package
from synthdp.linked.package.view import LinkedView as LinkedView
from synthdp.linked.package.view import views_of as views_of
from synthdp.linked.workload import workload_of as workload_of
