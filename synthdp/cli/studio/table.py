"""What the studio loads of linked tables when they are chosen."""

from collections.abc import Callable
from typing import Any

from synthdp.release.on_demand import OnDemand

PACKAGE_FACTS: OnDemand[Callable[..., dict[str, Any]]] = OnDemand(
    "synthdp.cli.describing.packages:package_facts"
)
"""What `synthdp schema check` says of a package."""
