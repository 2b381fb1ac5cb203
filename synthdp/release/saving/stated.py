"""What a certificate in a file must be for others to read it: as it was written, and values of the
right kinds.
"""

from collections.abc import Mapping
from types import UnionType
from typing import Any

from synthdp.core.errors import DataFileError
from synthdp.core.sealing import DAMAGED, is_damaged

_ALWAYS = {"guarantee", "is_private", "epsilon", "delta", "accounting", "events"}
"""What every certificate has."""

_KINDS: dict[str, type | UnionType] = {
    **dict.fromkeys(("epsilon", "delta"), int | float | None),
    **dict.fromkeys(("cautions", "events"), list),
    **dict.fromkeys(
        ("about", "accounting", "domain", "engine", "mechanism", "package", "run", "schema"),
        dict | None,
    ),
    "complete": bool,
    "guarantee": str,
    "is_private": bool | None,
    "refitted": dict,
}
"""The types of these and of others, where they are there."""


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
    known = content.keys() & _KINDS.keys()
    if not known >= _ALWAYS or not all(isinstance(content[key], _KINDS[key]) for key in known):
        raise ValueError("no certificate")
    if not all(isinstance(caution, str) for caution in content.get("cautions", [])):
        raise ValueError("cautions are no texts")
    derived = (content.get("domain") or {}).get("derived", {})
    if not isinstance(derived, dict) or not all(
        isinstance(parts, list) for parts in derived.values()
    ):
        raise ValueError("what was learnt is no list for each column")
    return dict(content)
