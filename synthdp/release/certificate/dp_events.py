"""The events of a release in the terms of Google's dp_accounting, whose accountants can check the
guarantee.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_extra

RELATION = "ADD_OR_REMOVE_ONE"
"""The accountants' default; each event's sensitivity already is that of the release's own unit of
privacy.
"""


def event_tree(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The events of a certificate as a ``ComposedDpEvent``, in plain JSON values.

    Gaussian noise is a ``GaussianDpEvent`` whose noise multiplier is sigma over the L2 sensitivity;
    selections by the exponential mechanism and trees are a ``ZCDpEvent`` of their rho, which is
    exact for zCDP [CR21] and the best that the library can say of a bounded range.

    ``failure_delta`` is the probability with which values of one person alone pass a threshold. No
    DpEvent can hold it: add it to the delta of whatever an accountant says of ``event``.

    Raises
    ------
    ParameterError
        If there are no events: measurements of another system.
    """
    accounting = certificate["accounting"]
    if accounting is None:
        raise ParameterError(
            "certificate: the measurements are another system's, which knows its events; ask it"
        )
    return {
        "neighboring_relation": RELATION,
        "failure_delta": accounting.get("failure_delta_spent", 0.0),
        "event": {
            "class_name": "ComposedDpEvent",
            "events": [_event(event) for event in certificate["events"]],
        },
    }


def dp_events(certificate: Mapping[str, Any]) -> tuple[Any, float]:
    """The events of a certificate, for the accountants of `dp_accounting`, and the delta to add to
    theirs.

    Parameters
    ----------
    certificate
        As `Synthesis.certificate` has it, or a ``.privacy.json`` file holds it.

    Returns
    -------
    tuple
        The ``dp_accounting.DpEvent``, and ``failure_delta``; see `event_tree`.

    Raises
    ------
    ParameterError
        If it has no events.
    MissingExtraError
        If dp_accounting is not installed.
    """
    tree = event_tree(certificate)
    library = import_extra(
        "dp_accounting", "dp_accounting is not installed; install it with pip install dp-accounting"
    )
    parts = [
        getattr(library, part["class_name"])(
            **{name: part[name] for name in part if name != "class_name"}
        )
        for part in tree["event"]["events"]
    ]
    return library.ComposedDpEvent(parts), tree["failure_delta"]


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    if "sigma" in event:
        multiplier = event["sigma"] / sqrt(event["sensitivity_l2_squared"])
        return {"class_name": "GaussianDpEvent", "noise_multiplier": multiplier}
    return {"class_name": "ZCDpEvent", "rho": event["rho"]}
