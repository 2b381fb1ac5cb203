"""The one place where numpy and torch differ: the same array code runs on a CPU and on a GPU."""

from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_extra

DeviceArray: TypeAlias = Any
"""An array of the backend: a numpy array or a torch tensor of float64."""

DEVICES = ("numpy", "torch", "cuda")


@final
class ArrayBackend:
    """A module whose functions work on arrays of a device, and the ways in and out.

    Code that serves both keeps to what numpy and torch spell alike: operators, slices, methods
    such as ``sum(0)``, and functions of ``xp`` with positional arguments.

    Parameters
    ----------
    device
        ``"numpy"``; ``"torch"`` (torch on the CPU); or ``"cuda"`` (torch on a GPU).

    Raises
    ------
    ParameterError
        If the device is unknown or absent.
    MissingExtraError
        If torch is not installed.
    """

    def __init__(self, device: str) -> None:
        if device not in DEVICES:
            raise ParameterError(f"device is {device!r}; choose one of {', '.join(DEVICES)}")
        self.xp: Any = np if device == "numpy" else _torch()
        self._place = {"torch": "cpu"}.get(device, device)
        if device == "cuda" and not self.xp.cuda.is_available():
            raise ParameterError(
                "device is 'cuda', but torch finds no such device; use 'numpy' or 'torch'"
            )

    def array(self, table: NDArray[Any]) -> DeviceArray:
        """The numbers of a numpy array on the device, of the same type; may share memory."""
        return table if self.xp is np else self.xp.as_tensor(table, device=self._place)

    def zeros(self, shape: tuple[int, ...]) -> DeviceArray:
        """float64 zeros on the device."""
        return self.array(np.zeros(shape))

    def to_numpy(self, table: DeviceArray) -> NDArray[np.float64]:
        """The same numbers as a numpy array; may share memory."""
        return np.asarray(table if self.xp is np else table.cpu().numpy())

    def sorted(self, table: DeviceArray) -> DeviceArray:
        """Ascending along the first axis."""
        return np.sort(table, axis=0) if self.xp is np else self.xp.msort(table)


def _torch() -> Any:
    return import_extra(
        "torch",
        "device: torch is not installed; use device='numpy', or install it with pip install 'synthdp[torch]'",
    )
