"""Made-up tables, each a function of its seed: what depends on what is known, and nothing has to be
downloaded.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from synthdp.core import Domain
from synthdp.data import CodedTable
from synthdp.schema import Schema

Codes = NDArray[np.integer]


def wide(n_columns: int, n_rows: int, seed: int) -> tuple[CodedTable, list[tuple[str, str]]]:
    """Columns of 2 to 20 levels, and the pairs of a column and one that it depends on.

    Each column depends on an earlier one (one in five: on two) with a strength between 0.2 and 0.8.
    """
    generator = np.random.default_rng(seed)
    names = tuple(f"x{i}" for i in range(n_columns))
    shape = tuple(int(size) for size in generator.integers(2, 21, n_columns))
    columns: list[NDArray[np.uint8]] = []
    planted: list[tuple[str, str]] = []
    for i, size in enumerate(shape):
        column = generator.choice(size, n_rows, p=generator.dirichlet(np.full(size, 2.0)))
        n_parents = min(i, 2 if generator.random() < 0.2 else 1)
        parents = (
            sorted(generator.choice(i, n_parents, replace=False).tolist()) if n_parents else []
        )
        if parents:
            cells = np.zeros(n_rows, dtype=np.int64)
            for parent in parents:
                cells = cells * shape[parent] + columns[parent]
            follow = generator.integers(
                0, size, int(np.prod([shape[parent] for parent in parents]))
            )
            copied = generator.random(n_rows) < generator.uniform(0.2, 0.8)
            column = np.where(copied, follow[cells], column)
            planted += [(names[parent], names[i]) for parent in parents]
        columns.append(column.astype(np.uint8))
    return CodedTable(Domain(names, shape), tuple(columns)), planted


class Planted(NamedTuple):
    """Columns that depend on each other, and in which share of the rows they do."""

    clique: tuple[str, ...]
    strength: float


def groups(n_columns: int, n_rows: int, seed: int) -> tuple[CodedTable, list[Planted]]:
    """Columns of 2 to 50 levels in groups that know nothing of each other, and what depends inside
    of them.

    Of 20 columns eight are two chains of four, six a star (each but the first follows the first),
    three the parity of two others modulo 2 to 6 (no two of them depend), and three are alone. A
    column follows the one that it depends on, by a map of levels drawn at random, in a share of
    0.1, 0.2, 0.4 or 0.8 of the rows, in turns.
    """
    generator = np.random.default_rng(seed)
    names = tuple(f"x{i}" for i in range(n_columns))
    parents = {1: 0, 2: 1, 3: 2, 5: 4, 6: 5, 7: 6, 9: 8, 10: 8, 11: 8, 12: 8, 13: 8}
    shape: list[int] = []
    columns: list[Codes] = []
    planted: list[Planted] = []
    for i in range(n_columns):
        place, strength = i % 20, (0.1, 0.2, 0.4, 0.8)[len(planted) % 4]
        is_uniform, is_parity = place in (14, 15), place == 16
        size = (
            shape[i - 1]
            if place in (15, 16)
            else int(generator.integers(2, 7 if is_uniform else 51))
        )
        column = generator.choice(
            size, n_rows, p=None if is_uniform else generator.dirichlet(np.full(size, 2.0))
        )
        if is_parity:
            column = np.where(
                generator.random(n_rows) < strength,
                (columns[i - 1] + columns[i - 2]) % size,
                column,
            )
            planted.append(Planted(names[i - 2 : i + 1], strength))
        elif place in parents:
            parent = i - place + parents[place]
            follow = generator.integers(0, size, shape[parent])[columns[parent]]
            column = np.where(generator.random(n_rows) < strength, follow, column)
            planted.append(Planted((names[parent], names[i]), strength))
        shape.append(size)
        columns.append(column.astype(np.uint8))
    return CodedTable(Domain(names, tuple(shape)), tuple(columns)), planted


@dataclass(frozen=True, kw_only=True)
class Node:
    """An attribute of a Bayesian network: in a share of the rows it follows its parents, else it is
    drawn.

    Parameters
    ----------
    levels
        How many; level ``i`` has weight ``1 / (i + 1)**tail``.
    parents, strength
        What it depends on, and the share of rows that follow a map from the parents' levels to its
        own.
    is_sum
        The map is the sum of the parents' codes, modulo ``levels`` (an exclusive or): what one
        parent says is hidden by a uniform other one. Otherwise the map is drawn, with the weights.
    """

    levels: int
    tail: float = 0.0
    parents: tuple[str, ...] = ()
    strength: float = 0.0
    is_sum: bool = False


VISITS: Mapping[str, Node] = {
    "shift": Node(levels=2),
    "weekday": Node(levels=7),
    "site": Node(levels=60, tail=1.1),
    "region": Node(levels=12, tail=0.6, parents=("site",), strength=0.65),
    "diagnosis": Node(levels=50, tail=1.3, parents=("site",), strength=0.05),
    "group": Node(levels=9, tail=0.8, parents=("diagnosis",), strength=0.75),
    "age": Node(levels=18, tail=0.5, parents=("diagnosis",), strength=0.2),
    "ward": Node(levels=15, tail=0.9, parents=("group", "age"), strength=0.6),
    "urgent": Node(levels=2, parents=("shift", "weekday"), strength=0.8, is_sum=True),
    "insurer": Node(levels=7, parents=("weekday", "region"), strength=0.5, is_sum=True),
    "stay": Node(levels=24, tail=1.3, parents=("ward", "urgent"), strength=0.5),
    "outcome": Node(levels=4, tail=1.5, parents=("stay",), strength=0.1),
}
"""Two near-functional dependences, two exclusive ors, two maps of a pair, and three weak
dependences.
"""


def visits(seed: int, n_rows: int = 200_000) -> tuple[CodedTable, Schema]:
    """Visits to clinics: a Bayesian network of 12 attributes with 2 to 60 levels and heavy-tailed
    margins.
    """
    generator = np.random.default_rng(seed)
    codes: dict[str, Codes] = {}
    for name, node in VISITS.items():
        weights = (1.0 + np.arange(node.levels)) ** -node.tail
        weights /= weights.sum()
        drawn = generator.choice(node.levels, n_rows, p=weights)
        parents = [codes[parent] for parent in node.parents]
        if node.is_sum:
            followed = sum(parents) % node.levels
        else:
            shape = tuple(VISITS[parent].levels for parent in node.parents)
            followed = generator.choice(node.levels, shape, p=weights)[tuple(parents)]
        codes[name] = np.where(generator.random(n_rows) < node.strength, followed, drawn)
    return _coded(codes, {name: node.levels for name, node in VISITS.items()})


SURVEY_LEVELS = (32, 2, 7, 32, 5, 32, 2, 32, 4, 32, 5, 2, 32, 7, 32, 2, 12, 32, 2, 5)
"""Of each question; those of 32 are numbers."""

SURVEY_SKEWS = (1.0, 2.0, 0.6, 3.0)
"""In turns; a share of ``q**(1 / skew)`` of the answers is in the lowest share ``q`` of the levels."""


def survey(seed: int, n_rows: int = 6_000) -> tuple[CodedTable, Schema]:
    """Answers to 20 ordered questions of 2 to 32 levels: a Gaussian copula with one factor and
    skewed margins.

    Correlations of the copula are .9 (of the first two) to .1 (of the last two).
    """
    generator = np.random.default_rng(seed)
    loadings = np.linspace(0.97, 0.3, len(SURVEY_LEVELS))
    factor = generator.standard_normal(n_rows)
    codes: dict[str, Codes] = {}
    for i, (levels, loading) in enumerate(zip(SURVEY_LEVELS, loadings, strict=True)):
        latent = loading * factor + np.sqrt(1 - loading**2) * generator.standard_normal(n_rows)
        codes[f"q{i + 1}"] = (levels * ndtr(latent) ** SURVEY_SKEWS[i % len(SURVEY_SKEWS)]).astype(
            np.int64
        )
    return _coded(codes, dict(zip(codes, SURVEY_LEVELS, strict=True)), numbers=survey_numbers())


def survey_numbers() -> list[str]:
    """The questions of `survey` that are answered by a number."""
    return [f"q{i}" for i, levels in enumerate(SURVEY_LEVELS, 1) if levels == max(SURVEY_LEVELS)]


def schema_of(domain: Domain, numbers: Collection[str] = ()) -> Schema:
    """A schema whose columns have the levels 0, 1, 2, ...: texts, or whole numbers with a bin each."""
    fields = []
    for name, size in zip(domain.attributes, domain.shape, strict=True):
        if name in numbers:
            limits = {"minimum": 0, "maximum": size - 1, "required": True}
            fields.append(
                {"name": name, "type": "integer", "constraints": limits, "synthdp": {"bins": size}}
            )
        else:
            levels = {"enum": [str(level) for level in range(size)], "required": True}
            fields.append({"name": name, "type": "string", "constraints": levels})
    return Schema.from_dict({"fields": fields})


def _coded(
    codes: Mapping[str, Codes], levels: Mapping[str, int], numbers: Collection[str] = ()
) -> tuple[CodedTable, Schema]:
    schema = schema_of(Domain.from_sizes(levels), numbers)
    return CodedTable(schema.domain, tuple(codes.values())), schema


MADE_UP = {"visits": visits, "survey": survey}
"""The tables that stand beside those of others."""
