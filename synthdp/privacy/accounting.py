"""Conversion of (epsilon, delta) to the ledger's currency, by zCDP [BS16, CKS20] or Gaussian DP
[DRS19].

Every budget that is returned has been proven in integers: all numbers that the proof takes are
fractions, or brackets of a logarithm, an exponential or an error function whose ends are fractions,
rounded outwards. Nothing is assumed of floating-point functions; they only suggest where to look,
and a bad suggestion makes the budget smaller, never too large.
"""

from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt, log, log1p, nextafter
from numbers import Real

from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.privacy.noise.exact import erf_bounds, exp_bounds

MAX_EPSILON = 1e9
"""Far beyond any protection; larger numbers are taken for mistakes."""

MIN_RHO = Fraction(1, 2**70)
"""Budgets below this cannot be split into measurements whose noise fits into 64-bit counts."""

_SPARE_BITS = 128
"""Bits beyond those of the answer: what cancels when delta is a difference is far less than half of
them.
"""

_INVERSE_ROOT_PI = tuple(
    Fraction(564189583547756286948079451560772585 + end, 10**36) for end in (0, 1)
)
"""The ends of a bracket of ``1 / sqrt(pi)``, by its first 36 decimals."""

_DIGITS = 52
"""Binary digits of a budget after the first, as many as floating point has."""

_LEVELS = 128
"""Levels of the continued fraction of erfc: from z = 2 on its bracket is narrower than 1e-19 of it."""


class Accounting(Enum):
    """Which theorem turns epsilon and delta into a budget of rho.

    Both add up rho, also over events that are chosen in view of earlier answers: in zCDP
    [Whitehouse 2023, Feldman-Zrnic 2021], and in Gaussian DP, where rho is mu^2 / 2 [Smith-Thakurta
    2022, arXiv:2210.17520]. Gaussian DP is tighter, and holds for Gaussian noise only.
    """

    ZCDP = "zcdp"
    GDP = "gdp"

    def rho(self, *, epsilon: float, delta: float) -> Fraction:
        """The budget for (epsilon, delta)."""
        convert = gdp_rho if self is Accounting.GDP else zcdp_rho
        return convert(epsilon=epsilon, delta=delta)


def check_budget(*, epsilon: float, delta: float) -> None:
    """Raise `ParameterError` unless epsilon is above 0 and at most 1e9, and 0 < delta < 1."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ParameterError(f"{name} is {value!r}; give a number")
    if not 0 < epsilon <= MAX_EPSILON:
        raise ParameterError(
            f"epsilon is {epsilon}; give a finite number above 0 and at most 1e9, for instance 1"
        )
    if not 0 < delta < 1:
        raise ParameterError(
            f"delta is {delta}; give a number above 0 and far below 1 / (number of records), for instance 1e-9"
        )


def zcdp_rho(*, epsilon: float, delta: float) -> Fraction:
    """Largest rho, within 1e-9 of itself, for which rho-zCDP gives (epsilon, delta)-DP [CKS20];
    never larger.

    rho-zCDP gives it if ``exp(a ((1 + a) rho - epsilon)) / a * (1 + 1/a)^-(1 + a) <= delta`` for
    any one ``a = alpha - 1 > 0`` [CKS20, Prop. 12], that is for every rho up to

        (log delta + a epsilon + (1 + a) log(1 + a) - a log a) / (a (1 + a)).

    Floating point looks for the a that makes this largest; the value itself comes from brackets of
    the logarithms, and is rounded down.

    Raises
    ------
    ParameterError
        If epsilon is not above 0 and at most 1e9, or delta not strictly between 0 and 1.
    PrivacyError
        If they are so small that noise would drown any count.

    >>> round(float(zcdp_rho(epsilon=1.0, delta=1e-9)), 6)
    0.014973
    """
    check_budget(epsilon=epsilon, delta=delta)
    # Any a proves some rho; a poor one only costs utility.
    a = Fraction(best_order(epsilon, log(delta)))
    known = (
        _log_bounds(Fraction(delta))[0] + (1 + a) * _log_bounds(1 + a)[0] - a * _log_bounds(a)[1]
    )
    return _enough((known + a * Fraction(epsilon)) / (a * (1 + a)), epsilon, delta)


def best_order(epsilon: float, log_delta: float) -> float:
    """About the ``a`` that proves the largest rho: where both the bound is delta and its derivative
    in a is 0.

    The derivative of the bound's logarithm, ``(2a + 1) rho - epsilon - log(1 + 1/a)``, gives rho
    for an a, and the bound for both falls as a grows.
    """
    low, high = 1e-30, 1e30  # far beyond the best a of any budget that is not refused
    for _ in range(100):
        a = low**0.5 * high**0.5
        rho = (epsilon + log1p(1 / a)) / (2 * a + 1)
        bound = a * ((1 + a) * rho - epsilon) + a * log(a) - (1 + a) * log1p(a)
        low, high = (a, high) if bound > log_delta else (low, a)
    return high


def _log_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    """Ends of a bracket of the natural logarithm of x > 0.

    ``log x = y + log r`` for any y and ``r = x exp(-y)``, and ``1 - 1/r <= log r <= r - 1``; with y
    near log x both ends are within (r - 1)^2 of it.
    """
    if x < 1:
        lower, upper = _log_bounds(1 / x)
        return -upper, -lower
    # Logarithms of integers of any size: their quotient may be beyond any float.
    y = Fraction(max(log(x.numerator) - log(x.denominator), 0.0))
    bits = _SPARE_BITS + 2 * int(y)  # more than enough: exp(y) < 2^(2y)
    smaller, larger = (Fraction(bound, 1 << bits) * x for bound in exp_bounds(y, bits))
    return y + 1 - 1 / smaller, y + larger - 1


def gdp_rho(*, epsilon: float, delta: float) -> Fraction:
    """Largest rho = mu^2 / 2, within 1e-9 of itself, for which mu-GDP gives (epsilon, delta)-DP
    [DRS19]; never larger.

    Each rho tried is decided by `_is_gdp_proven`, in integers. Raises as `zcdp_rho`.

    >>> round(float(gdp_rho(epsilon=1.0, delta=1e-9)), 6)
    0.016557
    """
    check_budget(epsilon=epsilon, delta=delta)
    return _enough(_largest_gdp_rho(Fraction(epsilon), Fraction(delta)), epsilon, delta)


@lru_cache(maxsize=64)
def _largest_gdp_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest proven rho, or less than `MIN_RHO`; kept, because a run asks for the same one
    several times.
    """
    proven = partial(_is_gdp_proven, epsilon=epsilon, delta=delta)
    rho = MIN_RHO / 2
    # Bisection on the exponent, then on digits: rho only moves to where the proof holds.
    for exponent in (64, 32, 16, 8, 4, 2, 1):  # up to 2^56, far more than any budget
        rho *= 2**exponent if proven(rho * 2**exponent) else 1
    step = rho
    for _ in range(_DIGITS):
        step /= 2
        rho += step if proven(rho + step) else 0
    return rho


def _is_gdp_proven(rho: Fraction, *, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether mu-GDP with ``mu^2 = 2 rho`` gives (epsilon, delta)-DP, as far as brackets can tell.

    It does if ``Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2) <= delta`` [DRS19, Cor.
    1]. With ``erfcx(z) = exp(z^2) erfc(z)``, ``a^2 = (epsilon - rho)^2 / (4 rho)`` and ``b^2 =
    (epsilon + rho)^2 / (4 rho)``, which is ``a^2 + epsilon``, the left side is ``exp(-a^2)
    (erfcx(a) - erfcx(b)) / 2``; beyond rho = epsilon it is ``1 - exp(-a^2) (erfcx(a) + erfcx(b)) /
    2``, because ``erfc(-a) = 2 - erfc(a)``.
    """
    square = (epsilon - rho) ** 2 / (4 * rho)
    bits = _SPARE_BITS + int(1 / delta).bit_length()
    least, most = (Fraction(bound, 1 << bits) for bound in exp_bounds(square, bits))
    near, far = _erfcx_bounds(square), _erfcx_bounds(square + epsilon)
    # Each end of the bracket is taken from the side that makes the claim harder.
    if rho <= epsilon:
        return most * (near[1] - far[0]) <= 2 * delta
    return least * (near[0] + far[0]) >= 2 * (1 - delta)


def _erfcx_bounds(square: Fraction) -> tuple[Fraction, Fraction]:
    """Ends of a bracket of ``exp(z^2) erfc(z)`` for ``z = sqrt(square) >= 0``.

    From z = 2 on by the continued fraction ``sqrt(pi) exp(z^2) erfc(z) = 1 / T_1`` with ``T_n = z +
    (n/2) / T_{n+1}`` [DLMF 7.9.1]. All T_n lie between z and ``z + n / (2z)``; from the last level
    up each bracket follows from the one below it. Integers count units of 2^-`_SPARE_BITS`.
    """
    if square < 4:
        decay, erf = exp_bounds(square, _SPARE_BITS), erf_bounds(square, _SPARE_BITS)
        one = 1 << _SPARE_BITS
        return Fraction(one - erf[1], decay[1]), Fraction(one - erf[0], decay[0])
    # z lies between root and root + 1.
    root = isqrt((square.numerator << 2 * _SPARE_BITS) // square.denominator)
    half = 1 << 2 * _SPARE_BITS - 1
    lower, upper = root, root + 2 + _LEVELS * half // root
    for n in range(_LEVELS - 1, 0, -1):
        lower, upper = root + n * half // upper, root + 2 + n * half // lower
    smaller, larger = _INVERSE_ROOT_PI
    return smaller * (1 << _SPARE_BITS) / upper, larger * (1 << _SPARE_BITS) / lower


def _enough(rho: Fraction, epsilon: float, delta: float) -> Fraction:
    """The largest floating-point number up to a proven rho, refused if it is too small for any use."""
    if rho < MIN_RHO:
        raise PrivacyError(
            f"epsilon {epsilon} with delta {delta} allows nothing to be measured; give more of either"
        )
    rounded = float(rho)
    # float() rounds to the nearest, which may be above.
    while rounded > rho:
        rounded = nextafter(rounded, 0.0)
    return Fraction(rounded)
