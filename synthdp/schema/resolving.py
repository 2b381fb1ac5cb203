"""Completing the field of an open column with learnt parts, which need not fit it exactly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from synthdp.core.errors import SchemaError
from synthdp.schema.axes.points import MAX_SHOWN_DECIMALS
from synthdp.schema.columns.column import Column
from synthdp.schema.frictionless import parse_field

Findings = Mapping[str, Any]

MAX_DIGITS = 15
"""Decimal digits that every float of so many holds."""


@final
@dataclass(frozen=True, kw_only=True)
class Resolver:
    """What is declared of an open column, and how findings are put into it."""

    declared: Findings = field(hash=False)
    """The field as far as it is declared."""
    missing_values: Sequence[str]
    """Texts that mean "missing"."""
    open_bounds: bool
    """Whether bounds are found rather than declared."""

    def column(self, constraints: Findings, own: Findings) -> Column:
        """The column with these further constraints and own keys, None for none.

        Where they do not fit what is declared, what was found gives way: outer edges become the
        declared bounds; declared bins become as many as there are values between derived bounds;
        derived decimals become as many as declared bounds and bins allow and need. Nothing that
        a noisy finding can be should end a run that was paid for.

        Raises the `SchemaError` of what was found as it is, if no way out is one.
        """
        constraints = _given(constraints)
        own = _given(own)
        problem: SchemaError | None = None
        for attempt in self._attempts(constraints, own):
            try:
                return parse_field(attempt, ())
            except SchemaError as error:
                problem = problem or error
        assert problem is not None
        raise problem

    def field(self, constraints: Findings, own: Findings) -> dict[str, Any]:
        """The field with further constraints and own keys; declared bins give way to edges."""
        declared = dict(self.declared.get("synthdp") or {})
        if "edges" in own:
            declared.pop("bins", None)
        stated = dict(self.declared.get("constraints") or {})
        if self.open_bounds:  # one of them is a limit, which what was found keeps to
            stated = {
                key: value for key, value in stated.items() if key not in ("minimum", "maximum")
            }
        constraints = stated | dict(constraints)
        complete = dict(self.declared) | {
            "missingValues": list(self.missing_values),
            "constraints": constraints,
        }
        return complete | {"synthdp": declared | dict(own)}

    def _attempts(self, constraints: Findings, own: Findings) -> Iterator[dict[str, Any]]:
        """Fields of the closed column: with what was found as it is, then giving way more and more."""
        decimals = own.get("decimals")
        grids: list[dict[str, Any]] = (
            [{}] if decimals is None else [{"decimals": d} for d in _nearest(decimals)]
        )
        # Steps of a grid that was found fit no coarser one.
        if decimals is not None and "heaping" in own:
            grids += [grid | {"heaping": None} for grid in grids]
        for grid in grids:
            for bounds, edges in self._with_declared_bounds(constraints, own):
                yield self.field(bounds, edges | grid)
            if (
                self.open_bounds
                and not {"edges", "bins"} & set(own)
                and (self.declared.get("synthdp") or {}).get("bins")
            ):
                yield self.field(
                    constraints, dict(own) | grid | {"bins": self._n_values(constraints, grid)}
                )

    def _with_declared_bounds(
        self, constraints: Findings, own: Findings
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Constraints and own keys whose edges, and shape, run from one declared bound to the
        other.
        """
        yield dict(constraints), dict(own)
        declared = self.declared.get("constraints") or {}
        if self.open_bounds or "edges" not in own or "minimum" not in declared:
            return
        first = declared["minimum"]
        last = declared["maximum"]
        begun = dict(own) | {"edges": [first, *own["edges"][1:]]}
        if "shape" in own:
            begun["shape"] = dict(own["shape"]) | {"starts": [first, *own["shape"]["starts"][1:]]}
        yield dict(constraints), begun | {"edges": [*begun["edges"][:-1], last]}
        # the last bin may hold the last value alone: edges can say that only with an end beyond it
        yield dict(constraints) | {"maximum": own["edges"][-1]}, begun

    def _n_values(self, constraints: Findings, own: Findings) -> int:
        """How many values there are between derived bounds."""
        declared = {
            key: value
            for key, value in (self.declared.get("synthdp") or {}).items()
            if key != "bins"
        }
        column = parse_field(self.field(constraints, own) | {"synthdp": declared | dict(own)}, ())
        assert column.axis is not None
        return column.axis.n_values


def _given(column: Findings) -> dict[str, Any]:
    return {key: value for key, value in column.items() if value is not None}


def _nearest(decimals: int) -> list[int]:
    """Decimals in the order in which they are tried: as found, more, fewer."""
    return [
        decimals,
        *range(decimals + 1, MAX_SHOWN_DECIMALS),
        *range(min(decimals, MAX_SHOWN_DECIMALS) - 1, -MAX_SHOWN_DECIMALS, -1),
    ]
