"""The version of the package, in one place, and those of the libraries that it computes with."""

from functools import cache
from importlib import metadata

__version__ = "0.2.0"


@cache  # its whole description is read for it: 2 ms, in every certificate and journal
def version_of(library: str) -> str:
    """The version of an installed library."""
    return metadata.version(library)
