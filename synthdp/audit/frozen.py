"""Frozen noise: for audits, and never private."""

from typing import final

import numpy as np

from synthdp.privacy.noise.randomness import Randomness


@final
class FrozenRandomness(Randomness):
    """The same bits for the n-th question of every run.

    They begin anew with each question, so that one more value in one answer shifts the noise of
    no other. Certificates of runs with it say NOT PRIVATE.

    Parameters
    ----------
    seed
        Which bits.
    question
        Number of the question that they are for.
    """

    def __init__(self, seed: int, question: int = 0) -> None:
        self._seed = seed
        self.begin(question)

    @property
    def is_private(self) -> bool:
        """False: anybody can repeat these bits."""
        return False

    @property
    def description(self) -> str:
        """The source in words."""
        return "frozen, for an audit"

    def begin(self, question: int) -> None:
        """Hand out the bits of a question from now on."""
        self._question = question
        self._generator = np.random.default_rng((self._seed, question))
        self.n_bytes = 0

    def at(self, question: int) -> "FrozenRandomness":
        """The bits of a question, to draw them once more."""
        return FrozenRandomness(self._seed, question)

    def again(self) -> "FrozenRandomness":
        """The bits of this question from their beginning."""
        return self.at(self._question)

    def random_bytes(self, n_bytes: int) -> bytes:
        """That many bytes."""
        self.n_bytes += n_bytes
        return self._generator.bytes(n_bytes)
