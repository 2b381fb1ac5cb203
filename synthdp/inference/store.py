"""Models as plain JSON values and arrays, so that they can be saved without pickle."""

from collections.abc import Mapping

from synthdp.domain import Domain
from synthdp.errors import DataFileError
from synthdp.inference.arithmetic import Array
from synthdp.inference.estimator import Model, State


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
    from synthdp.inference.graphical_model import MarkovRandomField
    from synthdp.inference.refinement import RefinedModel

    kinds: dict[str, type[Model]] = {cls.kind: cls for cls in (MarkovRandomField, RefinedModel)}
    kind = str(state.get("kind"))
    if kind not in kinds:
        raise DataFileError(f"model: kind {kind!r} is unknown; update synthdp or save the model again")
    return kinds[kind].from_state(state, arrays, domain)
