"""Slow, obviously correct counterparts of the privacy kernel, and statistical tests that return
p-values.

Nothing in here shares code with the kernel: probabilities come from `decimal`, samples from
[CKS20]'s algorithms in fractions. Every p-value is compared with `ALPHA`; some 200 of them are
computed in a test run, so a correct kernel fails less than once in 1e9 runs.
"""

from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import count
from math import log, sqrt
from random import Random

import numpy as np
from scipy import stats

from synthdp.core import Domain
from synthdp.privacy import Randomness

ALPHA = 1e-13
DIGITS = 120


class Replay(Randomness):
    """Hands out chosen bytes, and fails when they run out."""

    is_private = False
    description = "chosen by a test"

    def __init__(self, data: bytes) -> None:
        self._data, self.n_used = data, 0

    @property
    def n_left(self) -> int:
        return len(self._data) - self.n_used

    def random_bytes(self, n_bytes: int) -> bytes:
        assert n_bytes <= self.n_left, "asked for more bits than the test has prepared"
        self.n_used += n_bytes
        return self._data[self.n_used - n_bytes : self.n_used]


class Seeded(Randomness):
    """Repeatable bytes."""

    is_private = False
    description = "a seeded generator, for tests"

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def random_bytes(self, n_bytes: int) -> bytes:
        return self._generator.bytes(n_bytes)


class ArraySource:
    """Exact counts of rows of codes, by a plain loop; counts how many marginals it was asked for."""

    def __init__(self, domain: Domain, rows) -> None:
        self.domain, self.rows, self.n_asked = domain, list(rows), 0

    def counts_of(self, cliques):
        self.n_asked += len(cliques)
        return map(self.counts, cliques)

    def counts(self, clique):
        counts = np.zeros(self.domain.project(clique).shape, dtype=np.int64)
        for row in self.rows:
            counts[tuple(row[self.domain.index(name)] for name in clique)] += 1
        return counts


class UntouchableSource:
    """A source that nobody may ask."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def counts_of(self, cliques):
        raise AssertionError(f"the records were touched for {cliques}")


# Exact probabilities


def to_decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def invert_bits(cdf: Sequence[Decimal], bits: str) -> int:
    """The k with ``F(k-1) <= 0.bits < F(k)``; refuses bit strings that end too close to a step."""
    with localcontext() as context:
        context.prec = DIGITS + 20
        low, high = (
            Decimal(int(bits, 2)) / 2 ** len(bits),
            Decimal(int(bits, 2) + 1) / 2 ** len(bits),
        )
        k = bisect_right(cdf, low)
        assert high <= cdf[k], "the bit string does not decide"
        return k


def layout(sign: int, bits: str) -> Replay:
    """The bytes from which the table sampler reads a sign and a bit string of 15 + 48 + 64 n bits."""
    assert (len(bits) - 63) % 64 == 0
    data = (sign << 15 | int(bits[:15], 2)).to_bytes(2, "little")
    data += (int(bits[15:63], 2) << 16 | 0xBEEF).to_bytes(
        8, "little"
    )  # the low 16 bits are not used
    for start in range(63, len(bits), 64):
        data += int(bits[start : start + 64], 2).to_bytes(8, "little")
    return Replay(data)


def bits_at_step(cdf: Sequence[Decimal], k: int, n_bits: int, distance: int) -> str:
    """``n_bits`` bits of F(k), off by ``distance`` in the last place."""
    with localcontext() as context:
        context.prec = DIGITS + 20
        return format(int(cdf[k] * 2**n_bits) + distance, f"0{n_bits}b")


def rounded_gaussian_pmf(sigma: float, reach: int) -> np.ndarray:
    """Probabilities of ``-reach .. reach`` in floating point, precise in both tails."""
    k = np.arange(reach + 1)
    half = stats.norm.sf((k - 0.5) / sigma) - stats.norm.sf((k + 0.5) / sigma)
    return np.concatenate([half[:0:-1], half])


# [CKS20] in fractions, one sample at a time


def cks_bernoulli_exp(gamma: Fraction, random: Random) -> bool:
    """Algorithm 1."""
    while gamma > 1:
        if not cks_bernoulli_exp(Fraction(1), random):
            return False
        gamma -= 1
    for k in count(1):
        if random.randrange(gamma.denominator * k) >= gamma.numerator:
            return k % 2 == 1
    raise AssertionError


def cks_discrete_laplace(t: int, random: Random) -> int:
    """Algorithm 2 with s = 1."""
    while True:
        u = random.randrange(t)
        if not cks_bernoulli_exp(Fraction(u, t), random):
            continue
        v = 0
        while cks_bernoulli_exp(Fraction(1), random):
            v += 1
        negative, magnitude = random.randrange(2), u + t * v
        if not (negative and magnitude == 0):
            return -magnitude if negative else magnitude


# Statistical tests: each gives a p-value, valid far into the tail


def merged(
    expected: np.ndarray, observed: np.ndarray, least: float = 100.0
) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring cells added up until each expects at least ``least``."""
    out, e, o = [], 0.0, 0.0
    for e_cell, o_cell in zip(expected, observed, strict=True):
        e, o = e + e_cell, o + o_cell
        if e >= least:
            out.append([e, o])
            e, o = 0.0, 0.0
    if not out:
        return np.array([e]), np.array([o])
    out[-1][0] += e
    out[-1][1] += o
    return tuple(np.array(out).T)


def p_chi_squared(observed: np.ndarray, probabilities: np.ndarray) -> float:
    expected, seen = merged(probabilities * observed.sum(), observed)
    if len(expected) == 1:
        return 1.0
    return float(stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), len(expected) - 1))


def p_binomial(n_hits: int, n: int, probability: float) -> float:
    """Exact, two-sided (twice the smaller tail)."""
    return min(
        1.0,
        2 * stats.binom.cdf(n_hits, n, probability),
        2 * stats.binom.sf(n_hits - 1, n, probability),
    )


def p_same_distribution(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sample chi-squared."""
    both = np.concatenate([first, second])
    values = np.unique(both)
    a, b = (np.searchsorted(values, x) for x in (first, second))
    a, b = np.bincount(a, minlength=len(values)), np.bincount(b, minlength=len(values))
    share = len(first) / len(both)
    total, a = merged((a + b) * min(share, 1 - share), a)
    expected = total / min(share, 1 - share) * share
    return float(
        stats.chi2.sf(((a - expected) ** 2 / (expected * (1 - share))).sum(), max(len(a) - 1, 1))
    )


def gaussian_p_values(draws: np.ndarray, sigma: float) -> dict[str, float]:
    """Every test of the rounded Gaussian: fit, mean, variance, symmetry, neighbours, tail."""
    n = draws.size
    # A Gaussian is sigma-subgaussian; rounding adds at most 1/2 [Hoeffding].
    p = {"mean": min(1.0, 2 * np.exp(-0.5 * n * (draws.mean() / (sigma + 0.5)) ** 2))}
    p["symmetry"] = p_binomial(int((draws > 0).sum()), int((draws != 0).sum()), 0.5)
    if sigma > 1000:
        edges = np.rint(stats.norm.ppf(np.linspace(0, 1, 201)[1:-1]) * sigma) + 0.5
        cdf = np.concatenate([[0.0], stats.norm.cdf(edges / sigma), [1.0]])
        p["fit"] = p_chi_squared(
            np.bincount(np.searchsorted(edges, draws), minlength=200), np.diff(cdf)
        )
        for modulus in (2, 7):
            p[f"mod {modulus}"] = p_chi_squared(
                np.bincount(draws % modulus, minlength=modulus), np.full(modulus, 1 / modulus)
            )
        variance, kurtosis, tail = (
            sigma**2,
            3.0,
            stats.norm.sf((np.ceil(4 * sigma) - 0.5) / sigma) * 2,
        )
    else:
        reach = int(6 * sigma) + 2
        pmf = rounded_gaussian_pmf(sigma, reach)
        k = np.arange(-reach, reach + 1)
        inside = draws[np.abs(draws) <= reach] + reach
        p["fit"] = p_chi_squared(np.bincount(inside, minlength=2 * reach + 1), pmf / pmf.sum())
        p["zero"] = p_binomial(int((draws == 0).sum()), n, pmf[reach])
        for j in {0, 1, round(sigma), round(2 * sigma)}:
            near, next_one = int((np.abs(draws) == j).sum()), int((np.abs(draws) == j + 1).sum())
            ratio = pmf[reach + j + 1] / pmf[reach + j] * (2 if j == 0 else 1)
            p[f"neighbours {j}"] = p_binomial(next_one, near + next_one, ratio / (1 + ratio))
        variance = float((pmf * k**2.0).sum())
        kurtosis = float((pmf * k**4.0).sum()) / variance**2
        tail = 2 * float(pmf[k >= np.ceil(4 * sigma)].sum())
    p["tail"] = p_binomial(int((np.abs(draws) >= np.ceil(4 * sigma)).sum()), n, tail)
    if kurtosis < 100:  # else nearly every draw is 0, and the other tests say more
        z = (np.square(draws.astype(float)).mean() / variance - 1) / sqrt((kurtosis - 1) / n)
        p["variance"] = float(2 * stats.norm.sf(abs(z)))
    return p


def failed(p_values: dict[str, float]) -> dict[str, float]:
    return {name: p for name, p in p_values.items() if not p >= ALPHA}


# The accountant's infimum


def log_delta_infimum(rho: float | Fraction, epsilon: float) -> Decimal:
    """``inf over alpha`` of the logarithm of [CKS20, Prop. 12], by bisection of its derivative in
    60 digits.
    """
    with localcontext() as context:
        context.prec = 60
        r, e = to_decimal(Fraction(rho)), to_decimal(Fraction(epsilon))
        low, high = Decimal("1e-60"), (e + 1) / (2 * r) + 1
        for _ in range(400):
            a = (low * high).sqrt() if high > 2 * low else (low + high) / 2
            if (2 * a + 1) * r - e - (1 + 1 / a).ln() < 0:
                low = a
            else:
                high = a
        return a * ((1 + a) * r - e) - a.ln() - (1 + a) * (1 + 1 / a).ln()


def log_delta_on_grid(rho: float, epsilon: float) -> float:
    """The same by brute force over a fine grid of alpha, without any cleverness."""
    a = np.geomspace(1e-3, 1e6, 2_000_001)
    alpha = 1 + a
    return float(np.min(a * (alpha * rho - epsilon) - np.log(a) + alpha * np.log1p(-1 / alpha)))


def naive_epsilon(rho: float, delta: float) -> float:
    """The older conversion [BS16]."""
    return rho + 2 * sqrt(rho * log(1 / delta))
