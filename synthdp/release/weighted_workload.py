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

    Raises `ParameterError` if the column has no numbers, or is none.
    """
    name = schema.weight if weight is None else weight
    if name is None:
        return schema
    types = {field["name"]: field["type"] for field in schema.to_dict()["fields"]}
    if types.get(name) not in ("integer", "number"):
        problem = f"it is of type {types[name]}" if name in types else "there is no such column"
        raise ParameterError(f"{called} is {name!r}: {problem}; name a column of numbers")
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
    return Workload(weights, workload.are_named)
