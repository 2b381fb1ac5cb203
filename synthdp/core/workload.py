"""Workloads: the marginals that a synthetic table should get right, as public input."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb, isfinite
from os import PathLike
from typing import Any, Self, final

from synthdp.core.cliques import Clique, all_k_way, subsets
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.json_value import JsonValue
from synthdp.core.strict_json import parse_json, read_text

MAX_WEIGHT = 1e9
"""Sums of weights stay exact to nine digits, and no other weight is needed to mean "only this"."""

MIN_USE = 0.05
"""Even what the workload does not ask for is used a little: other marginals depend on it."""

MAX_DEFAULT_CELLS = 1 << 20
"""Most cells of a marginal in the default workload: above a million, its noise drowns any table
people have.
"""

MAX_COLUMNS_FOR_TRIPLES = 40
"""The default workload has triples for up to so many columns: 40 have 9,880, which take seconds to
score.
"""

MAX_MEASURED_CELLS = 1 << 24
"""Most cells of a marginal that is measured whole: 128 MB of counts."""

MAX_MARGINALS = 500_000
"""Most marginals of a workload: mechanisms score each of them, for hours where there are more."""

MAX_WIDTH = 31
"""Most columns of a marginal: arrays of numpy before version 2 have 32 axes, and linked tables need
one of them.
"""


@final
@dataclass(frozen=True)
class Workload:
    """Marginals and how much each of them matters.

    Parameters
    ----------
    weights
        For each clique (attributes in the order of the domain) a weight above 0 and at most 1e9.
    are_named
        Whether a person named the marginals one by one: mechanism `auto` then measures each of
        them, or says which it could not.
    target
        The attribute that is to be predicted, if one is.

    Raises
    ------
    ParameterError
        If there is no clique, a clique repeats an attribute or has more than 31, or a weight is out
        of range.

    >>> domain = Domain(("a", "b", "c"), (2, 3, 4))
    >>> Workload.all_k_way(domain, 2, max_cells=8).weights
    {('a', 'b'): 1.0, ('a', 'c'): 1.0}
    >>> Workload.from_cliques(domain, [("c", "a"), ("b",)]).importance
    {'a': 1.0, 'b': 1.0, 'c': 1.0}
    """

    weights: Mapping[Clique, float]
    are_named: bool = False
    target: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "weights", {tuple(c): float(weight) for c, weight in self.weights.items()}
        )
        if not self.weights:
            raise ParameterError("workload: it is empty; ask for at least one marginal")
        for clique, weight in self.weights.items():
            if not (isfinite(weight) and 0 < weight <= MAX_WEIGHT):
                raise ParameterError(
                    f"workload: the weight of {clique} is {weight}; give a number above 0, up to 1e9"
                )
            if not clique or len(set(clique)) < len(clique):
                raise ParameterError(
                    f"workload: {clique} is no set of columns; name at least one, each once"
                )
            if len(clique) > MAX_WIDTH:
                raise ParameterError(
                    f"workload: a marginal has {len(clique)} columns; name at most {MAX_WIDTH}"
                )

    @classmethod
    def all_k_way(
        cls, domain: Domain, k: int, *, target: str | None = None, max_cells: int | None = None
    ) -> Self:
        """All marginals of ``k`` attributes (of all attributes if there are fewer), each with
        weight 1.

        Parameters
        ----------
        domain
            The attributes.
        k
            Number of attributes of a marginal, at least 1.
        target
            Keep only marginals with this attribute.
        max_cells
            Leave out marginals with more cells than this.

        Raises
        ------
        ParameterError
            If ``k`` is below 1, the target is unknown, or there are more than 500,000 such
            marginals.
        """
        if k < 1:
            raise ParameterError(f"workload: k is {k}; give 1 or more")
        _check_target(domain, target)
        # Counted before they are listed: of 1,000 columns there are 166 million triples.
        n_marginals = comb(len(domain), k) if target is None else comb(len(domain) - 1, k - 1)
        if n_marginals > MAX_MARGINALS:
            way_out = "give a smaller k, or list the marginals that matter"
            raise ParameterError(
                f"workload: {k}-way of {len(domain)} columns are {n_marginals:,} marginals; {way_out}"
            )
        return cls(dict.fromkeys(_k_way(domain, k, target, max_cells), 1.0), target=target)

    @classmethod
    def default(cls, domain: Domain, *, target: str | None = None) -> Self:
        """All triples of up to 2^20 cells; all pairs where there are over 40 attributes, or triples
        are too large.

        With a ``target`` only those that hold it; the single attribute if even its pairs are too
        large.
        """
        _check_target(domain, target)
        for k in (3, 2) if len(domain) <= MAX_COLUMNS_FOR_TRIPLES else (2,):
            if fitting := _k_way(domain, k, target, MAX_DEFAULT_CELLS):
                return cls(dict.fromkeys(fitting, 1.0), target=target)
        return cls.all_k_way(domain, 1, target=target)

    @classmethod
    def from_cliques(
        cls,
        domain: Domain,
        cliques: Iterable[Sequence[str]],
        weights: Iterable[float] | None = None,
        *,
        are_named: bool = False,
    ) -> Self:
        """The marginals of some sets of columns; a set that comes twice counts twice."""
        sets = [tuple(clique) for clique in cliques]
        total: dict[Clique, float] = {}
        for names, weight in zip(
            sets, [1.0] * len(sets) if weights is None else weights, strict=True
        ):
            if len(set(names)) < len(names):
                raise ParameterError(f"workload: a column repeats in {names}; name each once")
            clique = domain.canonical(names)
            total[clique] = total.get(clique, 0.0) + weight
        return cls(total, are_named)

    @classmethod
    def parse(
        cls,
        domain: Domain,
        description: "Workload | Mapping[str, Any] | str | PathLike[str] | None",
        *,
        target: str | None = None,
    ) -> "Workload":
        """The workload itself, or the one that a mapping, a text such as ``"2-way"`` or a JSON file
        describes.

        With a ``target`` only its marginals that hold that attribute; it has to be one that takes a
        target.

        Raises
        ------
        ParameterError
            If it cannot be understood, does not fit the domain, or takes no target.
        """
        if description is None:
            return cls.default(domain, target=target)
        if isinstance(description, Workload):
            _check_takes(target, lists=True)
            return description.checked(domain)
        if isinstance(description, Mapping):
            return cls.from_dict(domain, description, target=target)
        if isinstance(description, str) and (
            short := re.fullmatch(r"([0-9]{1,9})-way", description)
        ):
            return cls.all_k_way(domain, int(short[1]), target=target)
        if not isinstance(description, str | PathLike):
            raise ParameterError(
                f"workload is {description!r}; give a Workload, a mapping, a file, or 3-way"
            )
        return cls.from_dict(domain, _object_in(description), target=target)

    def checked(self, domain: Domain) -> "Workload":
        """The same with cliques in the order of a domain; raises `ParameterError` if an attribute
        is unknown to it.
        """
        _check_target(domain, self.target)
        cliques, weights = self.weights, self.weights.values()
        ordered = Workload.from_cliques(domain, cliques, weights, are_named=self.are_named)
        return replace(ordered, target=self.target)

    def check_cells(self, domain: Domain, most: int) -> None:
        """Raise `ParameterError` if a marginal has more cells than a mechanism that measures all of
        them can count.
        """
        for clique in self.weights:
            if (n_cells := domain.size(clique)) > most:
                raise ParameterError(
                    f"workload: {clique} has {n_cells} cells, at most {most} can be measured whole; "
                    "leave it out, or set max_cells"
                )

    @classmethod
    def from_dict(
        cls, domain: Domain, content: Mapping[str, Any], *, target: str | None = None
    ) -> Self:
        """The workload that a JSON file or a mapping describes.

        Either ``{"k": 3, "target": "income", "max_cells": 100000}`` (the last two may be left out),
        or ``{"marginals": [{"columns": ["age", "sex"], "weight": 2}, ...]}`` (weights may be left
        out). A ``target`` given here suits the first form, if that has none of its own.
        """
        given = JsonValue(content, "workload", error=ParameterError)
        given.check_keys(("k", "target", "max_cells", "marginals"))
        k = given["k"]
        most = given["max_cells"]
        marginals = given["marginals"]
        if k.is_given == marginals.is_given:
            raise ParameterError("workload: give either k or marginals")
        _check_takes(target, lists=marginals.is_given, own=content.get("target"))
        if k.is_given:
            target = content.get("target") if target is None else target
            max_cells = most.whole(1) if most.is_given else None
            return cls.all_k_way(domain, k.whole(1), target=target, max_cells=max_cells)
        if len(content) > 1:
            raise ParameterError("workload: marginals stands alone; remove the other keys")
        cliques, weights = [], []
        for each in marginals.entries():
            each.check_keys(("columns", "weight"))
            cliques.append(each["columns"].texts("a list of names"))
            weight = each["weight"].default(1)
            weights.append(float(weight.number("a number above 0, up to 1e9", most=MAX_WEIGHT)))
        return cls.from_cliques(domain, cliques, weights, are_named=True)

    @cached_property
    def cliques(self) -> tuple[Clique, ...]:
        """The marginals."""
        return tuple(self.weights)

    @cached_property
    def importance(self) -> dict[str, float]:
        """For each attribute the summed weight of the marginals that hold it."""
        weights: dict[str, float] = {}
        for clique, weight in self.weights.items():
            for name in clique:
                weights[name] = weights.get(name, 0.0) + weight
        return dict(sorted(weights.items()))

    @property
    def shared(self) -> frozenset[str]:
        """The attributes that all of several marginals hold; none of a single marginal."""
        is_one = len(self.weights) == 1
        return frozenset() if is_one else frozenset.intersection(*map(frozenset, self.weights))

    def weight_of(self, clique: Iterable[str]) -> float:
        """``sum over s of weight(s) |clique and s|``, the use of a clique for the workload
        [2201.12677].
        """
        return sum(self.importance.get(name, 0.0) for name in clique)

    def relative_weights(self, cliques: Iterable[Clique]) -> dict[Clique, float]:
        """The use of cliques for the workload, the largest as 1 and none below `MIN_USE`."""
        uses = {clique: self.weight_of(clique) for clique in cliques}
        # A candidate of no use keeps a little: nothing that may be selected has a weight of 0.
        # Where none is of any use all weigh alike.
        largest = max(uses.values(), default=0.0) or 1.0
        return {clique: max(use / largest, MIN_USE) for clique, use in uses.items()}

    def downward_closure(self) -> list[Clique]:
        """All non-empty subsets of the marginals, small ones first."""
        parts = {part for clique in self.weights for part in subsets(clique)}
        return sorted(parts, key=lambda clique: (len(clique), clique))

    def __repr__(self) -> str:
        return f"<Workload of {len(self.weights)} marginals of up to {max(map(len, self.weights))} columns>"


def _object_in(path: str | PathLike[str]) -> dict[str, Any]:
    """The JSON object in a file."""
    name = repr(os.fspath(path))
    try:
        content = parse_json(read_text(path), f"workload {name}")
    except (OSError, ValueError):
        # Whoever writes "3way" or "3 ways" means no file.
        near = re.fullmatch(r"\s*([0-9])[\s_-]*ways?\s*", os.fspath(path), re.IGNORECASE)
        if near:
            way_out = f"did you mean {near[1]}-way?"
        else:
            way_out = "give a JSON file in UTF-8, or for instance 3-way"
        raise ParameterError(f"workload {name}: it cannot be read; {way_out}") from None
    except SchemaError as error:
        raise ParameterError(f"{error}; see docs/workload.md") from None
    if not isinstance(content, dict):
        raise ParameterError(f"workload {name}: it holds no JSON object; see docs/workload.md")
    return content


def _k_way(domain: Domain, k: int, target: str | None, max_cells: int | None) -> list[Clique]:
    """Sets of ``k`` attributes, or of all if there are fewer, with the target and of up to so many
    cells.
    """
    k = min(k, len(domain))
    cliques = all_k_way(domain.attributes, k) if target is None else _with_target(domain, k, target)
    return [clique for clique in cliques if max_cells is None or domain.size(clique) <= max_cells]


def _with_target(domain: Domain, k: int, target: str) -> list[Clique]:
    """All sets of ``k`` attributes that hold the target."""
    others = [name for name in domain.attributes if name != target]
    return [domain.canonical((target, *rest)) for rest in combinations(others, k - 1)]


def _check_target(domain: Domain, target: str | None) -> None:
    """Refuse a target that no marginal could hold; says how the part of a date is named."""
    if target is None or target in domain.attributes:
        return
    if not isinstance(target, str):
        raise ParameterError("workload: target is not a text; name a column")
    date, _, part = target.rpartition(":")
    if date in domain.attributes:
        way_out = (
            f"the schema declares no part {part!r} of {date!r}; add it there, or name {date!r}"
        )
    elif parts := [name for name in domain.attributes if name.endswith(f":{part}")]:
        way_out = f"name the part of a date with its date: {' or '.join(map(repr, parts))}"
    else:
        way_out = f"name one of {', '.join(map(repr, domain.attributes))}"
    raise ParameterError(f"workload: target {target!r} is no column of the model; {way_out}")


def _check_takes(target: str | None, *, lists: bool, own: object = None) -> None:
    """Refuse a target beside a workload that says by itself which columns its marginals hold."""
    if target is not None and (lists or own is not None):
        what = "lists its marginals" if lists else f"has the target {own!r}"
        raise ParameterError(
            f"workload: it {what}, so it takes no target {target!r}; leave one of the two out"
        )
