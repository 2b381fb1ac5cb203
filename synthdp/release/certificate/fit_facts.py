"""What a certificate says of a fit and of the schema it is for, first fitted or by another engine;
nothing of privacy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from synthdp.core.measurement import LinearMeasurement, clear_total
from synthdp.core.version import __version__
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.mechanisms.shared.mechanism import Mechanism

FORMAT = "synthdp-certificate/2"
"""Stands in every certificate; another number is another ``certificate.schema.json``."""

UNKNOWN_ROWS = (
    "noise hides how many records there are, and most of what is in them: "
    "the budget is too small, or they are too few"
)

PLAIN = (bool, int, float, str)
"""What certificates state of parameters as it is."""


def fit_facts(
    schema: Schema,
    engine: Engine,
    model: Model | None,
    *,
    derived: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, object]:
    """What a certificate says of software, engine, fit and schema, as plain JSON values.

    ``derived`` names, for each column that was not fully declared, what was derived under the
    budget.
    """
    changed = changed_parameters(engine)
    parameters = {"parameters": changed} if changed else {}
    columns = [_column_facts(column, derived.get(column.source, ())) for column in schema.columns]
    made_up = [{"name": column.name, "kind": column.kind} for column in schema.generated.columns]
    return {
        "software": f"synthdp {__version__}",
        "engine": {"name": engine.name, **parameters, **fit_status(model)},
        "complete": model is not None,
        "schema": {
            "sha256": schema.fingerprint,
            "columns": columns,
            "definition": schema.to_dict(),
        }
        | ({"generated": made_up} if made_up else {}),
        "post_processing": "fit, sampling and decoding use released values only and cost no privacy",
    }


def changed_parameters(engine: "Engine | Mechanism") -> dict[str, Any]:
    """The parameters of an engine or a mechanism that are not its defaults, by name; of objects
    their texts, in lists.

    >>> from synthdp.inference import MixtureEngine
    >>> changed_parameters(MixtureEngine(n_components=50))
    {'n_components': 50}
    """
    changed: dict[str, Any] = {}
    if not is_dataclass(engine):
        return changed
    for each in fields(engine):
        usual = each.default if each.default_factory is MISSING else each.default_factory()
        value = getattr(engine, each.name)
        # Compared as texts, for some are arrays.
        if repr(value) != repr(usual):
            changed[each.name] = value if isinstance(value, PLAIN) else [repr(value)]
    return changed


def fit_status(model: Model | None) -> dict[str, object]:
    """How the fit ended, which engine was chosen if that was left open, and how a target is drawn."""
    if model is None:
        return {}
    status = asdict(model.status)
    del status["caution"]  # it is among the certificate's
    said = {"choice": model.choice, "target": model.target}
    return status | {name: text for name, text in said.items() if text}


def fit_cautions(model: Model | None) -> list[str]:
    """What users should know of a fit that did not end as its engine's do, and of what its
    mechanism left out.
    """
    if model is None:
        return []
    return [*([model.status.caution] if model.status.caution else []), *model.cautions]


def count_cautions(measurements: Sequence[LinearMeasurement]) -> list[str]:
    """What users should know of a number of records that noise hides."""
    return [UNKNOWN_ROWS] if measurements and clear_total(measurements) is None else []


def _column_facts(column: Column, derived: Sequence[str]) -> dict[str, object]:
    """What a certificate says of one column."""
    facts = {"name": column.name, "type": column.field()["type"], "n_levels": column.size}
    return facts | (
        {"domain": "derived", "derived": list(derived)} if derived else {"domain": "declared"}
    )
