"""Which software made a release."""

import platform

from synthdp.core.version import __version__, version_of

_LIBRARIES = ("numpy", "scipy", "pandas")
"""They compute what is fitted and drawn."""


def versions() -> dict[str, str]:
    """Versions of what a release was computed with, by name."""
    installed = {name: version_of(name) for name in _LIBRARIES}
    return {"synthdp": __version__, "python": platform.python_version(), **installed}
