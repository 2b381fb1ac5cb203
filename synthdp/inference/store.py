"""Models as plain JSON values and arrays, so that they can be saved without pickle."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import cast

import numpy as np

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import DataFileError
from synthdp.inference.arithmetic import Array
from synthdp.inference.estimator import Model, State

KINDS = {
    "markov-random-field": "synthdp.inference.graphical_model:MarkovRandomField",
    "mixture-of-products": "synthdp.inference.mixture_model:MixtureModel",
    "pseudo-marginals": "synthdp.inference.pseudo_marginals:PseudoMarginalModel",
    "records": "synthdp.inference.record_update:RecordModel",
    "refined": "synthdp.inference.refinement:RefinedModel",
    "weighted-rows": "synthdp.inference.weighted_rows:WeightedRowsModel",
}
"""Where the class of each kind of model is; loaded when a model of it is."""


def model_to_state(model: Model) -> tuple[State, dict[str, Array]]:
    """What `model_from_state` needs to rebuild the model."""
    state, arrays = model.to_state()
    return {"kind": model.kind, **state}, arrays


def model_from_state(state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Model:
    """Rebuild a saved model.

    Raises
    ------
    DataFileError
        If the kind of model is unknown to this version.
    """
    kind = str(state.get("kind"))
    if kind not in KINDS:
        raise DataFileError(f"model: kind {kind!r} is unknown; update synthdp or save the model again")
    module, _, name = KINDS[kind].partition(":")
    found: type[Model] = getattr(import_module(module), name)
    return found.from_state(state, arrays, domain)


def constraints_to_state(constraints: Sequence[Constraint]) -> tuple[list[list[str]], dict[str, Array]]:
    """The constrained cliques, and what is allowed as arrays by name."""
    arrays = {f"allowed-{i}": constraint.allowed.astype(np.float64) for i, constraint in enumerate(constraints)}
    return [list(constraint.clique) for constraint in constraints], arrays


def constraints_from_state(state: Mapping[str, object], arrays: Mapping[str, Array]) -> list[Constraint]:
    """Rebuild the saved ``state["constraints"]``; models saved before they were kept have none."""
    cliques = cast("list[list[str]]", state.get("constraints", []))
    return [Constraint(tuple(clique), arrays[f"allowed-{i}"] > 0) for i, clique in enumerate(cliques)]
