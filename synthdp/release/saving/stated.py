"""What a certificate in a file must be for others to read it: values of the right kinds."""

from collections.abc import Mapping
from typing import Any

_KINDS: dict[str, tuple[type, ...]] = {
    "guarantee": (str,),
    "is_private": (bool, type(None)),
    "epsilon": (int, float, type(None)),
    "delta": (int, float, type(None)),
    "accounting": (dict, type(None)),
    "events": (list,),
}
"""Of each value that every certificate has the types that it can be of."""


def checked_certificate(content: Any) -> dict[str, Any]:
    """A certificate that was read; raises `ValueError` unless it has what all of them have, of the right types."""
    if not isinstance(content, Mapping) or not all(isinstance(content[key], kinds) for key, kinds in _KINDS.items()):
        raise ValueError("no certificate")
    cautions = content.get("cautions", [])
    if not isinstance(cautions, list) or not all(isinstance(caution, str) for caution in cautions):
        raise ValueError("cautions are no texts")
    return dict(content)
