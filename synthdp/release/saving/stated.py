"""What a certificate in a file must be for others to read it: as it was written, and values of the
right kinds.
"""

from collections.abc import Mapping
from typing import Any

from synthdp.core.errors import DataFileError
from synthdp.core.sealing import DAMAGED, is_damaged

_KINDS: dict[str, tuple[type, ...]] = {
    "guarantee": (str,),
    "is_private": (bool, type(None)),
    "epsilon": (int, float, type(None)),
    "delta": (int, float, type(None)),
    "accounting": (dict, type(None)),
    "events": (list,),
}
"""Of each value that every certificate has the types that it can be of."""

_MORE_KINDS: dict[str, tuple[type, ...]] = {
    "cautions": (list,),
    "complete": (bool,),
    "refitted": (dict,),
    **dict.fromkeys(
        ("about", "domain", "engine", "mechanism", "package", "run", "schema"), (dict, type(None))
    ),
}
"""The same of values that some have."""


def checked_certificate(content: Any) -> dict[str, Any]:
    """A certificate that was read.

    Raises
    ------
    DataFileError
        If it has another hash than it should: it is damaged, or somebody changed it.
    ValueError
        If it lacks what all of them have, or something in it is of another type.
    """
    if not isinstance(content, Mapping):
        raise ValueError("no certificate")
    if is_damaged(content):
        raise DataFileError(DAMAGED)
    kinds = _KINDS | {key: types for key, types in _MORE_KINDS.items() if key in content}
    if not all(key in content and isinstance(content[key], types) for key, types in kinds.items()):
        raise ValueError("no certificate")
    if not all(isinstance(caution, str) for caution in content.get("cautions", [])):
        raise ValueError("cautions are no texts")
    derived = (content.get("domain") or {}).get("derived", {})
    if not isinstance(derived, dict) or not all(
        isinstance(parts, list) for parts in derived.values()
    ):
        raise ValueError("what was learnt is no list for each column")
    return dict(content)
