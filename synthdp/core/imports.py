"""Imports that wait until they are needed: of the package's own parts by name, and of extras."""

from importlib import import_module
from typing import Any

from synthdp.core.errors import MissingExtraError


def import_named(name: str) -> Any:
    """The function or class of a name such as ``synthdp.core.grid:Grid``; imports its module."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def import_extra(module: str, message: str) -> Any:
    """A module of a library that not everybody installs.

    Raises
    ------
    MissingExtraError
        If it cannot be imported; the message says what needs it, and how it is installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(message) from None
