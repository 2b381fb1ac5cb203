"""Models as plain JSON values and arrays, so that they can be saved without pickle."""

from collections.abc import Mapping

from synthdp.core.domain import Domain
from synthdp.core.errors import DataFileError
from synthdp.core.imports import import_named
from synthdp.inference.arrays import Array
from synthdp.inference.model import Model, State

KINDS = {
    "known-totals": "synthdp.inference.models.known_totals:KnownTotalsModel",
    "markov-random-field": "synthdp.inference.graphical.markov_random_field:MarkovRandomField",
    "mixture-of-products": "synthdp.inference.models.mixture_model:MixtureModel",
    "pseudo-marginals": "synthdp.inference.models.pseudo_marginals:PseudoMarginalModel",
    "records": "synthdp.inference.models.weighted_rows:WeightedRowsModel",
    "refined": "synthdp.inference.models.refined_model:RefinedModel",
    "target-last": "synthdp.inference.models.target_drawn_last:TargetLastModel",
    "weighted-rows": "synthdp.inference.models.weighted_rows:WeightedRowsModel",
}
"""Where the class of each kind of model is; loaded when a model of it is. Files of earlier versions
hold "records".
"""


def model_to_state(model: Model) -> tuple[State, dict[str, Array]]:
    """What `model_from_state` needs to rebuild the model."""
    state, arrays = model.to_state()
    return {"kind": model.kind, **state}, arrays


def model_from_state(
    state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
) -> Model:
    """Rebuild a saved model.

    Raises
    ------
    DataFileError
        If the kind of model is unknown to this version.
    """
    kind = str(state.get("kind"))
    if kind not in KINDS:
        raise DataFileError(
            f"model: kind {kind!r} is unknown; update synthdp or save the model again"
        )
    model: type[Model] = import_named(KINDS[kind])
    return model.from_state(state, arrays, domain)
