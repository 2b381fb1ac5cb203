"""Criteria that a release is to meet, and what its privately measured quality says of them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, final

from synthdp.core.errors import ParameterError
from synthdp.core.percent import percent

MARGIN = 2.0
"""Standard deviations that an error has to be below or above its limit before a verdict is given.
"""

WRONG = 0.5 * erfc(MARGIN / sqrt(2.0))
"""Each verdict is wrong in at most so many releases, 2.3 %: noise is Gaussian, and would have to be
that much in one direction.
"""

MET, NOT_MET, UNCLEAR = "met", "not met", "too noisy to tell"

_CRITERION = re.compile(
    r"\s*(?:(columns|pairs|triples)|column\s+(.+?))\s+within\s+(\d{1,3}(?:\.\d+)?)\s*%\s*", re.ASCII
)
_NEEDED = {"pairs": 2, "triples": 3}


@final
@dataclass(frozen=True, kw_only=True)
class Criterion:
    """An error that a table may have at most."""

    what: str | None
    """``"columns"``, ``"pairs"`` or ``"triples"``, whose mean error it is about; None for one
    column.
    """
    column: str | None
    """The name of that column."""
    within: float
    """The largest error, as a share of rows."""

    def measured(self, quality: Mapping[str, Any]) -> Mapping[str, float] | None:
        """The error that it is about, and the standard deviation of its noise; None if it was not
        measured, as all such marginals have too many cells.
        """
        if self.column is None:
            return quality.get(str(self.what))
        each: Mapping[str, Mapping[str, float]] = quality.get("columns", {}).get("each", {})
        return each.get(self.column)

    def __str__(self) -> str:
        what = self.what if self.column is None else f"column {self.column}"
        return f"{what} within {100 * self.within:g} %"


def parse_criteria(text: str, called: str = "accept") -> tuple[Criterion, ...]:
    """Read criteria, separated by commas or semicolons; raises `ParameterError` if one is none.

    >>> [str(each) for each in parse_criteria("pairs within 3 %, column income within 1%")]
    ['pairs within 3 %', 'column income within 1 %']
    """
    if not isinstance(text, str):
        raise ParameterError(f"{called} is {text!r}; write 'pairs within 3 %'")
    criteria = []
    for part in re.split(r"[;,](?=\s*(?:columns|pairs|triples|column\s))", text):
        match = _CRITERION.fullmatch(part)
        if match is None or not 0 < float(match[3]) < 100:
            raise ParameterError(
                f"{called} is {part.strip()!r}; write 'pairs within 3 %', 'triples within 8 %' or "
                "'column NAME within 1 %', with commas between several"
            )
        criteria.append(Criterion(what=match[1], column=match[2], within=float(match[3]) / 100))
    return tuple(criteria)


def check_criteria(
    criteria: Sequence[Criterion], columns: Collection[str], called: str = "accept"
) -> None:
    """Refuse criteria that a table of these columns cannot be measured by; raises
    `ParameterError`.
    """
    for criterion in criteria:
        if criterion.column is not None and criterion.column not in columns:
            raise ParameterError(
                f"{called}: there is no column {criterion.column!r}; name one of the schema"
            )
        if len(columns) < _NEEDED.get(criterion.what or "", 1):
            raise ParameterError(
                f"{called} is '{criterion}', but the table has too few columns for {criterion.what}"
            )


def verdicts(
    criteria: Sequence[Criterion], quality: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """What a measured quality says of each criterion, as plain JSON values.

    A criterion is met if the error is below its limit by `MARGIN` standard deviations, and not met
    if it is above it by as many. If no quality could be estimated, noise hides it all.
    """
    verdicts = []
    for criterion in criteria:
        verdict = UNCLEAR
        error = None
        stddev = None
        measured = None if quality is None else criterion.measured(quality)
        if measured is not None:
            error = measured["error"]
            stddev = measured["stddev"]
            # The errors are noisy answers: within the margin noise alone could decide, and then
            # nothing is claimed.
            if error + MARGIN * stddev <= criterion.within:
                verdict = MET
            elif error - MARGIN * stddev > criterion.within:
                verdict = NOT_MET
        verdicts.append(
            {
                "criterion": str(criterion),
                "verdict": verdict,
                "error": error,
                "stddev": stddev,
                "wrong_in_at_most": WRONG,
            }
        )
    return verdicts


def is_accepted(certificate: Mapping[str, Any]) -> bool:
    """Whether all criteria of a release are met; also if it has none."""
    return all(each["verdict"] == MET for each in certificate.get("acceptance", ()))


def acceptance_lines(certificate: Mapping[str, Any]) -> list[str]:
    """A line for each criterion: its verdict, and what was measured."""
    lines = []
    for each in certificate.get("acceptance", ()):
        measured = ""
        if each["error"] is not None:
            margin = 100 * MARGIN * each["stddev"]
            measured = f" ({percent(each['error'])} +- {margin:.2g})"
        lines.append(f"{each['criterion']}: {each['verdict']}{measured}")
    return lines
