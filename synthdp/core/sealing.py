"""The hash that a certificate has of itself, so that damage shows; it is no signature."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

SEAL = "sha256"
"""The key of a certificate that holds the hash of all others."""

DAMAGED = "the certificate is damaged, or was changed: its sha256 is not that of what it says; restore it from a copy"


def sealed(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate with its hash, in place of one that it may have, as plain JSON values.

    The hash is SHA-256 of the rest as JSON with sorted keys, without white space, in ASCII: what a
    reader of the file computes, whatever the file is indented by.

    >>> sealed({"b": [1.0, "é"], "a": None})["sha256"] == sealed({"a": None, "b": [1.0, "é"]})[
    ...     "sha256"
    ... ]
    True
    """
    rest = {name: value for name, value in certificate.items() if name != SEAL}
    # What a reader of the file has.
    plain: dict[str, Any] = json.loads(json.dumps(rest, default=str))
    return plain | {SEAL: _digest(plain)}


def is_damaged(certificate: Mapping[str, Any]) -> bool:
    """Whether a certificate says other things than its hash stands for, or lacks the hash that its
    format has.

    Certificates of format 1, and of none, are of versions that wrote no hash.
    """
    if SEAL not in certificate:
        kind, _, number = str(certificate.get("format", "")).partition("/")
        return kind == "synthdp-certificate" and number != "1"
    rest = {name: value for name, value in certificate.items() if name != SEAL}
    return bool(certificate[SEAL] != _digest(rest))


def _digest(content: Mapping[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
