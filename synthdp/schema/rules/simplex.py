"""An exact feasible point of linear inequalities, in fractions: the bounded-variable simplex
method.

Each inequality is a variable of its own, the sum, with an upper bound. Some variables follow from
all others; while one of those lies outside its bounds it changes places with one that can make up
for it. Where none can, nothing keeps to all inequalities. Of several the first is taken (the rule
of Bland), so that this ends ([DM06]).

No solver in floats takes its place: `scipy.optimize.milp` called 6 of 300 systems infeasible that
have a row (4 columns of whole numbers to 1e8, 3 equations of small factors), and proves nothing. A
schema that people can meet must not be refused, nor a run that was paid for end, for that.

References
----------
[DM06] Dutertre and de Moura, A fast linear-arithmetic solver for DPLL(T), CAV 2006.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

Row = tuple[Mapping[int, int], int]
"""What each variable is multiplied by, and what the sum is at most."""

Bound = int | None
"""None where there is none."""


def point_between(
    rows: Sequence[Row], lows: Sequence[Bound], highs: Sequence[Bound], near: Sequence[int]
) -> list[Fraction] | None:
    """Values of variables between bounds, both included, that keep to inequalities; None if there
    are none.

    Parameters
    ----------
    rows
        The inequalities.
    lows, highs
        Bounds of each variable, shape ``(n_variables,)``.
    near
        Between the bounds: where to begin. What already keeps to the inequalities stays.

    >>> point_between([({0: 1, 1: -1}, -1)], [0, 0], [9, 9], [3, 3])
    [Fraction(2, 1), Fraction(3, 1)]
    >>> point_between([({0: 2, 1: 2}, 1)], [1, 0], [9, 9], [1, 0]) is None
    True
    """
    tableau = _Tableau(rows, lows, highs, near)
    return tableau.values[: len(near)] if tableau.settle() else None


class _Tableau:
    """Variables that follow from others: the sum of ``factors[one][other] * other`` over all
    others.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        lows: Sequence[Bound],
        highs: Sequence[Bound],
        near: Sequence[int],
    ) -> None:
        sums = [sum(factor * near[i] for i, factor in factors.items()) for factors, _ in rows]
        self.values = [Fraction(value) for value in (*near, *sums)]
        # Each row gets a variable of its own that equals its sum: then every limit is a limit of
        # one variable.
        self._lows = [*lows, *[None for _ in rows]]
        self._highs = [*highs, *[most for _, most in rows]]
        self._factors = {
            len(near) + i: {variable: Fraction(factor) for variable, factor in factors.items()}
            for i, (factors, _) in enumerate(rows)
        }

    def settle(self) -> bool:
        """Bring all variables between their bounds, and tell whether that is possible."""
        # The least index first, on both sides (Bland's rule): it never comes back to a state where
        # it was, so that it ends.
        while (out := self._outside()) is not None:
            one, bound = out
            other = self._that_moves(one, up=bound > self.values[one])
            if other is None:
                return False
            self._exchange(one, other, bound)
        return True

    def _outside(self) -> tuple[int, int] | None:
        """The first variable that lies outside its bounds, and the bound that it should lie on."""
        for one in sorted(self._factors):
            low = self._lows[one]
            high = self._highs[one]
            if low is not None and self.values[one] < low:
                return one, low
            if high is not None and self.values[one] > high:
                return one, high
        return None

    def _that_moves(self, one: int, *, up: bool) -> int | None:
        """The first variable between its bounds that moves another one up or down."""
        for other, factor in sorted(self._factors[one].items()):
            end = (self._highs if (factor > 0) == up else self._lows)[other]
            if end is None or self.values[other] != end:
                return other
        return None

    def _exchange(self, one: int, other: int, bound: int) -> None:
        """Put a variable on its bound, and let another one follow from it."""
        row = self._factors.pop(one)
        factor = row.pop(other)
        # Fractions, so that "no solution" is a proof; with floats it would depend on a tolerance.
        moved = (bound - self.values[one]) / factor
        self.values[one] = Fraction(bound)
        self.values[other] += moved
        turned = {variable: -value / factor for variable, value in row.items()} | {one: 1 / factor}
        for follower, factors in self._factors.items():
            if by := factors.pop(other, None):
                self.values[follower] += by * moved
                for variable, value in turned.items():
                    # Zeros are removed: rows stay as sparse as checks are, and a pivot is never
                    # chosen where nothing moves.
                    if total := factors.get(variable, 0) + by * value:
                        factors[variable] = total
                    else:
                        del factors[variable]
        self._factors[other] = turned
