"""Chance that is the same in every run, for all tests but those of chance itself."""

import secrets
from base64 import urlsafe_b64encode
from zlib import crc32

FRESH = ("tests/audit/test_game", "tests/privacy/")
"""Where tests are about the noise itself, and say themselves how seldom chance fails them."""


class RepeatableChance:
    """What a test draws that is about something else: the same in every run, whatever ran before
    it.

    By design a column has missing values that nobody has once in 700 times (`levels.BELIEVED`), and
    a selection is now and then not the best one. Each of thousands of tests would have to allow for
    all of that. So would they for samples without a seed, and for the key by which rows of persons
    are chosen.
    """

    def __init__(self):
        self._generator, self._is_there = None, False

    def begin(self, node, name=""):
        """Begin anew for a test, or for what is set up for it; each has a seed of its own."""
        import numpy as np

        self._take_its_place()
        is_fresh = (
            node.nodeid.startswith(FRESH) or node.get_closest_marker("fresh_noise") is not None
        )
        self._generator = (
            None if is_fresh else np.random.default_rng(crc32(f"{node.nodeid} {name}".encode()))
        )

    def _take_its_place(self):
        """Be asked in place of the operating system, but for names of files, which are to differ."""
        from numpy.random import bit_generator

        from synthdp.privacy import SystemRandomness

        if self._is_there:
            return
        bits, key, noise = secrets.randbits, secrets.token_urlsafe, SystemRandomness.random_bytes

        def randbits(n_bits):
            if self._generator is None:
                return bits(n_bits)
            return int.from_bytes(self._generator.bytes(n_bits // 8 + 1), "little") % 2**n_bits

        def token_urlsafe(n_bytes):
            if self._generator is None:
                return key(n_bytes)
            return urlsafe_b64encode(self._generator.bytes(n_bytes)).rstrip(b"=").decode()

        def random_bytes(source, n_bytes):
            return (
                noise(source, n_bytes)
                if self._generator is None
                else self._generator.bytes(n_bytes)
            )

        secrets.randbits = bit_generator.randbits = randbits
        secrets.token_urlsafe, SystemRandomness.random_bytes = token_urlsafe, random_bytes
        self._is_there = True


CHANCE = RepeatableChance()
