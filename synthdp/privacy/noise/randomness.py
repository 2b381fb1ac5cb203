"""Random bits for privacy: from the operating system, never from a seed."""

import os
from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray


class Randomness(ABC):
    """A source of independent fair bits."""

    @property
    @abstractmethod
    def is_private(self) -> bool:
        """Whether noise made of these bits protects anybody."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The source in words, for the certificate."""

    @abstractmethod
    def random_bytes(self, n_bytes: int) -> bytes:
        """That many random bytes."""

    def words(self, n_words: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        """Uniform unsigned integers over the full range of ``dtype``, shape ``(n_words,)``."""
        return np.frombuffer(self.random_bytes(n_words * np.dtype(dtype).itemsize), dtype=dtype)

    def integer(self, n_bits: int) -> int:
        """A uniform integer of ``n_bits`` bits; ``n_bits`` is a multiple of 8."""
        return int.from_bytes(self.random_bytes(n_bits // 8), "little")


@final
class SystemRandomness(Randomness):
    """The operating system's cryptographically secure generator (``os.urandom``)."""

    @property
    def is_private(self) -> bool:
        """True: nobody can predict or repeat these bits."""
        return True

    @property
    def description(self) -> str:
        """The source in words."""
        return "operating system CSPRNG (os.urandom), unseeded"

    def random_bytes(self, n_bytes: int) -> bytes:
        """That many bytes of ``os.urandom``."""
        return os.urandom(n_bytes)
