"""Answers to questions about the real table, and their texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

COEFFICIENT = "coefficient of "
"""How the numbers of a regression are called."""


@final
@dataclass(frozen=True, kw_only=True)
class Verification:
    """Answers about the real table, and what they cost."""

    answers: tuple[dict[str, Any], ...]
    """For each question, as plain JSON values: ``question``, and ``numbers``, each with its
    ``name``, the ``synthetic`` and the noisy ``real`` value, and ``within``: the true value lies
    so near to ``real`` with 95 %. Where noise hides it, the latter two are None.
    """
    certificate: dict[str, Any]
    """What certifies them: events, budget and guarantee, as of any release."""
    cautions: tuple[str, ...]
    """What users should know."""

    @property
    def lines(self) -> list[str]:
        """A line for each number."""
        return [
            line(each["question"], number) for each in self.answers for number in each["numbers"]
        ]


def line(question: str, number: Mapping[str, Any]) -> str:
    """One answer in words.

    >>> number = {"name": "mean of age", "synthetic": 38.512, "real": 38.6381, "within": 0.1412}
    >>> line("mean age", number)
    'mean of age: 38.64 in the real table, within 0.14 with 95 %; 38.51 in synthetic rows: no difference can be told'
    """
    name = number["name"] or question
    synthetic = number["synthetic"]
    drawn = "none" if synthetic is None else f"{synthetic:.4g}"
    if number["real"] is None:
        return f"{name}: too noisy to tell; {drawn} in synthetic rows"
    real = number["real"]
    within = number["within"]
    outcome = "" if synthetic is None else f": {verdict(number)}"
    sign = f", {number['sign']}" if "sign" in number else ""
    return (
        f"{name}: {real:.4g} in the real table{sign}, within {within:.2g} with 95 %; "
        f"{drawn} in synthetic rows{outcome}"
    )


def verdict(number: Mapping[str, Any]) -> str:
    """Whether a difference stands out of the noise."""
    if abs(number["real"] - number["synthetic"]) > number["within"]:
        return "they differ"
    return "no difference can be told"
