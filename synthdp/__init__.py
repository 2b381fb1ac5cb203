"""synthdp: a sensitive table in, a synthetic table out, under differential privacy.

The approach is select - measure - generate: a mechanism selects low-dimensional marginals, the
privacy kernel measures them with exact Gaussian noise, and an engine rebuilds a table that
explains the noisy counts. `synthesize` does all of it; the command line is ``synthdp``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from synthdp.core.version import __version__

if TYPE_CHECKING:
    from synthdp.core.cliques import Clique
    from synthdp.core.domain import Domain
    from synthdp.core.errors import (
        BudgetExceededError,
        CautionWarning,
        DataFileError,
        FitWarning,
        MissingExtraError,
        ModelTooLargeError,
        ParameterError,
        PrivacyError,
        SchemaError,
        SynthdpError,
    )
    from synthdp.core.factor import Factor
    from synthdp.core.measurement import LinearMeasurement
    from synthdp.core.workload import Workload
    from synthdp.linked.doors.loading import from_journal, load
    from synthdp.linked.doors.lomas import LomasQuerier
    from synthdp.linked.doors.synthesize import synthesize
    from synthdp.linked.doors.synthesizer import Synthesizer
    from synthdp.linked.histories.history_synthesis import HistorySynthesis
    from synthdp.linked.linked_synthesis import LinkedSynthesis
    from synthdp.linked.package.package import Package
    from synthdp.release.certificate.dp_events import dp_events
    from synthdp.release.external import from_measurements
    from synthdp.release.persistence.budget import Budget
    from synthdp.release.result import Result
    from synthdp.release.sites.combining import combine
    from synthdp.release.sites.measuring import measure
    from synthdp.release.sites.measuring_plan import MeasuringPlan
    from synthdp.release.sites.planning import plan_measurements
    from synthdp.release.synthesis import Synthesis
    from synthdp.report.doors.evaluate import evaluate
    from synthdp.report.evaluation import Evaluation
    from synthdp.report.linked.linked_evaluation import LinkedEvaluation
    from synthdp.report.release_pages.release_page import release_page
    from synthdp.report.table_evaluation import TableEvaluation
    from synthdp.schema.open_schema import OpenSchema
    from synthdp.schema.schema import Schema

__all__ = [
    "Budget",
    "BudgetExceededError",
    "CautionWarning",
    "Clique",
    "DataFileError",
    "Domain",
    "Evaluation",
    "Factor",
    "FitWarning",
    "HistorySynthesis",
    "LinearMeasurement",
    "LinkedEvaluation",
    "LinkedSynthesis",
    "LomasQuerier",
    "MeasuringPlan",
    "MissingExtraError",
    "ModelTooLargeError",
    "OpenSchema",
    "Package",
    "ParameterError",
    "PrivacyError",
    "Result",
    "Schema",
    "SchemaError",
    "SynthdpError",
    "Synthesis",
    "Synthesizer",
    "TableEvaluation",
    "Workload",
    "__version__",
    "combine",
    "dp_events",
    "evaluate",
    "from_journal",
    "from_measurements",
    "load",
    "measure",
    "plan_measurements",
    "release_page",
    "synthesize",
]

# Names are loaded when they are first used: importing the package costs next to nothing.
_HOMES = {
    "Budget": "synthdp.release.persistence.budget",
    "Clique": "synthdp.core.cliques",
    "Domain": "synthdp.core.domain",
    "Evaluation": "synthdp.report.evaluation",
    "Factor": "synthdp.core.factor",
    "HistorySynthesis": "synthdp.linked.histories.history_synthesis",
    "LinearMeasurement": "synthdp.core.measurement",
    "LinkedEvaluation": "synthdp.report.linked.linked_evaluation",
    "LinkedSynthesis": "synthdp.linked.linked_synthesis",
    "LomasQuerier": "synthdp.linked.doors.lomas",
    "MeasuringPlan": "synthdp.release.sites.measuring_plan",
    "OpenSchema": "synthdp.schema.open_schema",
    "Package": "synthdp.linked.package.package",
    "Result": "synthdp.release.result",
    "Schema": "synthdp.schema.schema",
    "Synthesis": "synthdp.release.synthesis",
    "Synthesizer": "synthdp.linked.doors.synthesizer",
    "TableEvaluation": "synthdp.report.table_evaluation",
    "Workload": "synthdp.core.workload",
    "combine": "synthdp.release.sites.combining",
    "dp_events": "synthdp.release.certificate.dp_events",
    "evaluate": "synthdp.report.doors.evaluate",
    "from_journal": "synthdp.linked.doors.loading",
    "from_measurements": "synthdp.release.external",
    "load": "synthdp.linked.doors.loading",
    "measure": "synthdp.release.sites.measuring",
    "plan_measurements": "synthdp.release.sites.planning",
    "release_page": "synthdp.report.release_pages.release_page",
    "synthesize": "synthdp.linked.doors.synthesize",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'synthdp' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "synthdp.core.errors")), name)


def __dir__() -> list[str]:
    return __all__
