"""The interface of all models: what a fit returns, and what may be asked of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self, TypedDict, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arrays import Array, Codes

Progress = Callable[[int, int], None]


@final
@dataclass(frozen=True, kw_only=True)
class FitStatus:
    """How a fit ended: whether the stopping rule was met, after how many iterations, at which loss."""

    converged: bool
    n_iterations: int
    loss: float


@final
class Fit(TypedDict):
    """What all models know of the fit that made them."""

    total: float
    status: FitStatus


State = dict[str, object]
Wanted = NDArray[np.bool_] | Array


class Model(ABC):
    """An estimated distribution over a domain, scaled to a number of records.

    Models hold released values only; everything they answer is post-processing.
    """

    kind: ClassVar[str]
    choice: str = ""
    """Which engine was chosen and why, if that was left to ``engine="auto"``."""

    def __init__(self, *, domain: Domain, total: float, status: FitStatus) -> None:
        self._domain = domain
        self._total = total
        self._status = status
        self.findings: dict[str, object] = {}
        """What else a recipe found, from released values; plain JSON values for the certificate."""

    @property
    def domain(self) -> Domain:
        """The attributes and their sizes."""
        return self._domain

    @property
    def total(self) -> float:
        """Estimated number of records."""
        return self._total

    @property
    def status(self) -> FitStatus:
        """How the fit ended."""
        return self._status

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """Sets of attributes whose tables the model holds whole; none if it is not made of tables."""
        return ()

    @abstractmethod
    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, axes in the order of ``clique``.

        Raises
        ------
        ParameterError
            If an attribute is unknown or repeats.
        """

    def marginals(self, cliques: Sequence[Sequence[str]]) -> list[Factor]:
        """Many marginals, in the order of ``cliques``; models that can share work between them do."""
        return [self.marginal(clique) for clique in cliques]

    @abstractmethod
    def sample(self, n_rows: int, *, seed: int | None = None, rounding: bool = True) -> Codes:
        """Draw records: for each attribute an integer array of codes of shape ``(n_rows,)``.

        Parameters
        ----------
        n_rows
            Number of records, at least 0.
        seed
            Makes the draw repeatable; this is post-processing, so it costs no privacy.
        rounding
            True: randomised rounding, which keeps the marginals of the table closer to the model's
            than chance would: within about one count a cell for each step of the draw. False:
            independent draws.
        """

    @abstractmethod
    def complete(self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None) -> Codes:
        """Complete partial records: draw the attributes that are not given, record by record.

        Given values are kept as they are, and constraints hold in every completed record.

        Parameters
        ----------
        given
            Codes of some attributes, each of shape ``(n_rows,)``; at least one.
        seed
            Makes the draw repeatable.

        Raises
        ------
        ParameterError
            If ``given`` does not fit the domain, or a record contradicts the constraints; for a
            Markov random field also if a record has probability 0.
        """

    @abstractmethod
    def sample_where(self, wanted: Mapping[str, Wanted], n_rows: int, *, seed: int | None = None) -> Codes:
        """Draw records of a slice: for some attributes only some levels are wanted.

        Parameters
        ----------
        wanted
            For each restricted attribute which of its levels are wanted, shape ``(n_levels,)``:
            booleans, or weights of at least 0 that multiply the probability of a level's records.
        n_rows
            Number of records, at least 0.
        seed
            Makes the draw repeatable.

        Raises
        ------
        ParameterError
            If the slice does not fit the domain, or has probability 0 under the model.
        """

    @abstractmethod
    def to_state(self) -> tuple[State, dict[str, Array]]:
        """What `from_state` needs to rebuild the model: plain JSON values, and arrays by name."""

    def _fit_to_state(self) -> State:
        """What all models save: the total and the status."""
        return {"total": self._total, "status": asdict(self._status)}

    @staticmethod
    def _fit_from_state(state: Mapping[str, object]) -> Fit:
        """The inverse of `_fit_to_state`."""
        status = FitStatus(**cast("dict[str, Any]", state["status"]))  # of a forged file the keys are refused
        return {"total": float(cast("float", state["total"])), "status": status}

    @classmethod
    @abstractmethod
    def from_state(cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Self:
        """Rebuild a saved model over ``domain``."""


def check_sample_size(n_rows: int) -> None:
    """Raise `ParameterError` unless ``n_rows`` is a number of rows."""
    if n_rows < 0:
        raise ParameterError(f"n_rows is {n_rows}; give 0 or more")


def check_given(domain: Domain, given: Mapping[str, NDArray[np.integer]]) -> None:
    """Raise `ParameterError` unless there are columns of codes of attributes, of one length."""
    if not check_clique(domain, tuple(given)):
        raise ParameterError("given: it has no columns; give at least one, or sample without it")
    check_columns(domain.project(tuple(given)), list(given.values()), what="given")


def check_columns(domain: Domain, columns: Sequence[NDArray[np.integer]], *, what: str = "columns") -> None:
    """Raise `ParameterError` unless there is a column of codes for each attribute, of one length."""
    if len(columns) != len(domain):
        raise ParameterError(f"{what}: {len(columns)} for {len(domain)} attributes; give one each")
    for column, name, size in zip(columns, domain.attributes, domain.shape, strict=True):
        if column.ndim != 1 or column.dtype.kind not in "iu" or len(column) != len(columns[0]):
            raise ParameterError(f"{what}: {name!r} is no 1-D array of integers, as long as the others")
        if int(column.min(initial=0)) < 0 or int(column.max(initial=0)) >= size:
            raise ParameterError(f"{what}: some codes of {name!r} lie outside 0 .. {size - 1}; use one schema")


def check_slice(domain: Domain, wanted: Mapping[str, Wanted]) -> dict[str, Array]:
    """How much each level is wanted, as weights of at most 1; raises `ParameterError` if they do not fit."""
    checked = {}
    for name in check_clique(domain, tuple(wanted)):
        weights = np.asarray(wanted[name], dtype=np.float64)
        if weights.shape != (domain[name],) or not (weights >= 0).all() or not np.isfinite(weights).all():
            raise ParameterError(f"where: {name!r} has {domain[name]} levels; give each a boolean or a weight from 0")
        if not weights.any():
            raise ParameterError(f"where: no level of {name!r} is wanted; allow at least one")
        checked[name] = weights / weights.max()
    return checked


def check_clique(domain: Domain, clique: Sequence[str]) -> Clique:
    """The clique as a tuple; raises `ParameterError` if an attribute is unknown or repeats."""
    names = tuple(clique)
    if len(set(names)) != len(names):
        raise ParameterError(f"clique {names}: an attribute repeats; name each attribute once")
    domain.project(names)
    return names
