"""synthdp: a sensitive table in, a synthetic table out, under differential privacy.

The recipe is select - measure - generate: a mechanism selects low-dimensional marginals, the
privacy kernel measures them with exact Gaussian noise, and an engine rebuilds a table that
explains the noisy counts. `synthesize` does all of it; the command line is ``synthdp``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from synthdp.version import __version__

if TYPE_CHECKING:
    from synthdp.cliques import Clique
    from synthdp.domain import Domain
    from synthdp.errors import (
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
    from synthdp.evaluation.evaluate import evaluate
    from synthdp.evaluation.evaluation import Evaluation
    from synthdp.evaluation.linked_evaluation import LinkedEvaluation
    from synthdp.evaluation.linked_tables import evaluate_tables
    from synthdp.explain.pages.release_page import release_page
    from synthdp.factor import Factor
    from synthdp.measurement import LinearMeasurement
    from synthdp.release.external import from_measurements
    from synthdp.release.histories.history_synthesis import HistorySynthesis
    from synthdp.release.histories.loading import from_journal, load
    from synthdp.release.histories.synthesize_histories import synthesize_histories
    from synthdp.release.keeping.budget import Budget
    from synthdp.release.linked.linked_synthesis import LinkedSynthesis
    from synthdp.release.linked.synthesize_tables import synthesize_tables
    from synthdp.release.stating.dp_events import dp_events
    from synthdp.release.synthesis import Synthesis
    from synthdp.release.synthesize import synthesize
    from synthdp.release.synthesizer import Synthesizer
    from synthdp.table.package.package import Package
    from synthdp.table.schema.open_schema import OpenSchema
    from synthdp.table.schema.schema import Schema
    from synthdp.workload import Workload

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
    "MissingExtraError",
    "ModelTooLargeError",
    "OpenSchema",
    "Package",
    "ParameterError",
    "PrivacyError",
    "Schema",
    "SchemaError",
    "SynthdpError",
    "Synthesis",
    "Synthesizer",
    "Workload",
    "__version__",
    "dp_events",
    "evaluate",
    "evaluate_tables",
    "from_journal",
    "from_measurements",
    "load",
    "release_page",
    "synthesize",
    "synthesize_histories",
    "synthesize_tables",
]

# Names are loaded when they are first used: importing the package costs next to nothing.
_HOMES = {
    "Budget": "synthdp.release.keeping.budget",
    "Clique": "synthdp.cliques",
    "Domain": "synthdp.domain",
    "Evaluation": "synthdp.evaluation.evaluation",
    "Factor": "synthdp.factor",
    "HistorySynthesis": "synthdp.release.histories.history_synthesis",
    "LinearMeasurement": "synthdp.measurement",
    "LinkedEvaluation": "synthdp.evaluation.linked_evaluation",
    "LinkedSynthesis": "synthdp.release.linked.linked_synthesis",
    "OpenSchema": "synthdp.table.schema.open_schema",
    "Package": "synthdp.table.package.package",
    "Schema": "synthdp.table.schema.schema",
    "Synthesis": "synthdp.release.synthesis",
    "Synthesizer": "synthdp.release.synthesizer",
    "Workload": "synthdp.workload",
    "dp_events": "synthdp.release.stating.dp_events",
    "evaluate": "synthdp.evaluation.evaluate",
    "evaluate_tables": "synthdp.evaluation.linked_tables",
    "from_journal": "synthdp.release.histories.loading",
    "from_measurements": "synthdp.release.external",
    "load": "synthdp.release.histories.loading",
    "release_page": "synthdp.explain.pages.release_page",
    "synthesize": "synthdp.release.synthesize",
    "synthesize_histories": "synthdp.release.histories.synthesize_histories",
    "synthesize_tables": "synthdp.release.linked.synthesize_tables",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'synthdp' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "synthdp.errors")), name)


def __dir__() -> list[str]:
    return __all__
