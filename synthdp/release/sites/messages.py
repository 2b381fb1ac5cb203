"""What sites send for a secure sum, and the sum: of all of them, or of none."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.privacy.shares.private_shares import Masks


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Message:
    """The masked numbers of one site, and the sum that they are a part of.

    Nothing of it is secret: masked numbers are uniform to all who do not know the site's masks.
    """

    asked: str
    """Which sum it is for: the same of all its messages, and of no other sum."""
    site: int
    """Which of the sites sent it, from 0."""
    n_sites: int
    """How many sites masks were made for: with fewer messages they do not cancel."""
    numbers: Masks
    zero: int
    """0 under a mask of its own, modulo 2^64: those of one sum add up to 0, as masks cancel."""
    checksum: str
    """A hash of all else: what was cut off or altered on its way is found out, if not on purpose.
    """

    @classmethod
    def with_checksum(
        cls, numbers: Masks, *, zero: int, asked: str, site: int, n_sites: int
    ) -> Self:
        """A message with its checksum."""
        checksum = _checksum(numbers, zero, asked, site, n_sites)
        return cls(
            asked=asked,
            site=site,
            n_sites=n_sites,
            numbers=numbers,
            zero=zero,
            checksum=checksum,
        )

    def check(self) -> None:
        """Raise `ParameterError` if it is not as it was sent."""
        sent = _checksum(self.numbers, self.zero, self.asked, self.site, self.n_sites)
        if self.checksum != sent:
            raise ParameterError(
                f"secure sum: the message of site {self.site} was altered on its way; have it sent again"
            )


def opened(messages: Sequence[Message]) -> NDArray[np.int64]:
    """The noisy sum of what all sites sent: masks cancel modulo 2^64.

    Raises
    ------
    ParameterError
        If a site's message is missing, there twice, altered, or of another sum; or masks did not
        cancel. What is left of them would look like counts.
    """
    if not messages:
        raise ParameterError("secure sum: there is no message; give that of each site")
    for message in messages:
        message.check()
    first = messages[0]
    for message in messages:
        if _sum_of(message) != _sum_of(first):
            raise ParameterError(
                f"secure sum: sites {first.site} and {message.site} sent parts of different sums; give those of one"
            )
    sites = [message.site for message in messages]
    if sorted(sites) != list(range(first.n_sites)):
        missing = sorted(set(range(first.n_sites)) - set(sites))
        problem = f"that of site {missing[0]} is missing" if missing else "one is there twice"
        raise ParameterError(
            f"secure sum: there are {len(messages)} messages of {first.n_sites} sites, and {problem}; masks cancel "
            "in the sum of all"
        )
    # Masks that are left make this 0 once in 2^64, however few cells there are.
    if sum(message.zero for message in messages) % 2**64:
        raise ParameterError(
            "secure sum: masks did not cancel, so that there is no sum; sites have to use masks of this sum alone"
        )
    total = np.zeros_like(first.numbers)
    for message in messages:
        total = total + message.numbers
    signed: NDArray[np.int64] = total.view(np.int64)
    return signed


def _sum_of(message: Message) -> tuple[object, ...]:
    """What messages of one sum have in common."""
    return message.asked, message.n_sites, message.numbers.shape


def _checksum(numbers: Masks, zero: int, asked: str, site: int, n_sites: int) -> str:
    header = repr((asked, site, n_sites, zero, numbers.shape, str(numbers.dtype)))
    return sha256(header.encode() + np.ascontiguousarray(numbers).tobytes()).hexdigest()
