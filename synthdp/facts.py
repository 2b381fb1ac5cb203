"""What a certificate says beside the privacy statement: software, recipe, engine, fit and schema."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from types import MappingProxyType

from synthdp.inference.estimator import Estimator, Model
from synthdp.mechanism import Mechanism
from synthdp.table.columns import Column
from synthdp.table.schema import Schema
from synthdp.version import __version__


def fit_facts(
    schema: Schema,
    engine: Estimator,
    model: Model | None,
    *,
    derived: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, object]:
    """What a certificate says of software, engine, fit and schema, as plain JSON values.

    ``derived`` names, for each column that was not fully declared, what was derived under the budget.
    """
    columns = [_column_facts(column, derived.get(column.source, ())) for column in schema.columns]
    return {
        "software": f"synthdp {__version__}",
        "engine": {"name": engine.name, **_fit_status(model)},
        "complete": model is not None,
        "schema": {"sha256": schema.fingerprint, "columns": columns},
        "post_processing": "fit, sampling and decoding use released values only and cost no privacy",
    }


def _fit_status(model: Model | None) -> dict[str, object]:
    """How the fit ended, and which engine was chosen if that was left open."""
    if model is None:
        return {"converged": False}
    return asdict(model.status) | ({"choice": model.choice} if model.choice else {})


def unfinished_facts() -> dict[str, object]:
    """What a certificate says of a run that ended before its schema was known."""
    return {"software": f"synthdp {__version__}", "complete": False}


def mechanism_facts(mechanism: Mechanism) -> dict[str, object]:
    """Name, source and public parameters of a recipe."""
    parameters = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}  # type: ignore[arg-type]
    return {"name": mechanism.name, "reference": mechanism.reference, "parameters": parameters}


def _column_facts(column: Column, derived: Sequence[str]) -> dict[str, object]:
    """What a certificate says of one column."""
    facts = {"name": column.name, "type": column.field()["type"], "n_levels": column.size}
    return facts | ({"domain": "derived", "derived": list(derived)} if derived else {"domain": "declared"})
