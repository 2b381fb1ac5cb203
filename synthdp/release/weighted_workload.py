"""Workloads of surveys: what depends on the weight matters, too."""

from dataclasses import replace

from synthdp.core.errors import ParameterError
from synthdp.core.workload import Workload
from synthdp.schema.open_schema import OpenSchema

_SHARE = 0.5
"""Weight of all pairs with the column of weights together, as a share of the workload's."""


def weighed(schema: OpenSchema, weight: str | None, called: str) -> OpenSchema:
    """The schema with its column of weights, which may be named beside it.

    Parameters
    ----------
    schema
        What is public of the table.
    weight
        The column; by default the one that the schema marks.
    called
        What errors call the setting.

    Raises `ParameterError` if the column has no numbers, or is none, or is declared to have weights
    below 0, or none above.
    """
    name = schema.weight if weight is None else weight
    if name is None:
        return schema
    fields = {field["name"]: field for field in schema.to_dict()["fields"]}
    kind = fields[name]["type"] if name in fields else None
    if kind not in ("integer", "number"):
        problem = "there is no such column" if kind is None else f"it is of type {kind}"
        raise ParameterError(f"{called} is {name!r}: {problem}; name a column of numbers")
    limits = fields[name].get("constraints", {})
    declared = [*limits.get("enum", ()), limits.get("minimum"), limits.get("maximum")]
    known = [float(each) for each in declared if isinstance(each, int | float | str)]
    if known and min(known) < 0.0:
        raise ParameterError(
            f"{called} is {name!r}: a weight of {min(known):g} is declared, and a row stands for nobody less; declare "
            "a minimum of 0, and codes below as missingValues"
        )
    if known and max(known) <= 0.0 and (limits.get("maximum") is not None or "enum" in limits):
        raise ParameterError(
            f"{called} is {name!r}: no weight above 0 is declared; correct its maximum or its levels"
        )
    return replace(schema, weight=name)


def with_weight(workload: Workload, columns: tuple[str, ...], weight: str) -> Workload:
    """A workload in which each pair with the column of weights matters, too: a weighted count of a
    column is as right as that pair.
    """
    pairs = [tuple(n for n in columns if n in (name, weight)) for name in columns if name != weight]
    if not pairs:
        return workload
    weights = dict(workload.weights)
    each = _SHARE * sum(weights.values()) / len(pairs)
    for pair in pairs:
        weights[pair] = weights.get(pair, 0.0) + each
    return replace(workload, weights=weights)
