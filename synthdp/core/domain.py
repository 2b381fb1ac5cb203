"""The public description of a coded table: attribute names and their numbers of levels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from numbers import Integral
from typing import Self, final

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError


@final
@dataclass(frozen=True)
class Domain:
    """Attributes of a coded table, each with the levels ``0 .. size - 1``.

    Parameters
    ----------
    attributes
        Names, each once; their order is the order of axes and columns.
    shape
        Number of levels of each attribute, a whole number of at least 1.
    special
        Of some attributes the levels that have no place among the others, such as "missing": they
        are not merged with their neighbours. Domains that differ in it only are equal.
    ordered
        The attributes whose other levels are in the order of a number, a date or a time. Domains
        that differ in it only are equal.

    Raises
    ------
    ParameterError
        If a name repeats, a size is no whole number or below 1, or the lengths differ.

    >>> domain = Domain(("sex", "region"), (2, 5))
    >>> domain["region"], domain.size(), domain.size(("sex",))
    (5, 10, 2)
    """

    attributes: tuple[str, ...]
    shape: tuple[int, ...]
    special: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    ordered: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.attributes, str):
            raise ParameterError(
                f"domain: attributes is the text {self.attributes!r}; give a tuple of names"
            )
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "shape", tuple(self.shape))
        if len(self.attributes) != len(self.shape):
            raise ParameterError(
                f"domain: {len(self.attributes)} attributes but {len(self.shape)} sizes; give one size each"
            )
        if len(set(self.attributes)) != len(self.attributes):
            raise ParameterError(
                f"domain: attribute names repeat in {self.attributes}; name each attribute once"
            )
        for name, size in zip(self.attributes, self.shape, strict=True):
            if isinstance(size, bool) or not isinstance(size, Integral):
                raise ParameterError(
                    f"domain: attribute {name!r} has size {size!r}; give a whole number"
                )
            if size < 1:
                raise ParameterError(
                    f"domain: attribute {name!r} has size {size}; it needs at least one level"
                )
        object.__setattr__(self, "shape", tuple(map(int, self.shape)))

    @classmethod
    def from_sizes(cls, sizes: Mapping[str, int]) -> Self:
        """Build a domain from ``{attribute: number of levels}``."""
        return cls(tuple(sizes), tuple(sizes.values()))

    def __getitem__(self, attribute: str) -> int:
        """Number of levels of one attribute."""
        return self.shape[self.index(attribute)]

    def __len__(self) -> int:
        return len(self.attributes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.attributes)}

    def index(self, attribute: str) -> int:
        """Position of an attribute; raises `ParameterError` if there is none of that name."""
        try:
            return self._places[attribute]
        except KeyError:
            raise ParameterError(
                f"attribute {attribute!r} is not in the domain; it has {', '.join(map(repr, self.attributes))}"
            ) from None

    def project(self, attributes: Iterable[str]) -> Self:
        """The domain of some attributes, in the order given."""
        names = tuple(attributes)
        shape = tuple(self[name] for name in names)
        special = {name: self.special[name] for name in names if name in self.special}
        ordered = self.ordered.intersection(names)
        if len(set(names)) < len(names):
            return type(self)(names, shape, special, ordered)  # which refuses it
        # What was checked is not checked again: rounds ask for thousands of marginals of wide
        # tables.
        part = object.__new__(type(self))
        vars(part).update(attributes=names, shape=shape, special=special, ordered=ordered)
        return part

    def size(self, attributes: Iterable[str] | None = None) -> int:
        """Number of cells of the marginal of ``attributes`` (default: of the whole domain)."""
        return prod(self.shape if attributes is None else (self[name] for name in attributes))

    def varying(self, attributes: Iterable[str]) -> Clique:
        """Those of some attributes that have two levels or more, in the order given; of the others
        all is known.

        >>> Domain(("sex", "planet", "region"), (2, 1, 5)).varying(("region", "planet"))
        ('region',)
        """
        return tuple(name for name in attributes if self[name] > 1)

    def canonical(self, attributes: Iterable[str]) -> Clique:
        """The attributes, each once, in the order of this domain."""
        return tuple(sorted(set(attributes), key=self.index))
