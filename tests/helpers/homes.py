"""Where a name is defined, for tests that patch what stands beside it."""

import sys
from types import ModuleType


def home(thing: type | object) -> ModuleType:
    """The module of a class or function, wherever it stands.

    A test that lowers a limit, or has a step fail, patches the module that uses it. It says which
    by a name of the room's face, so that the patch moves with the code.
    """
    return sys.modules[thing.__module__]
