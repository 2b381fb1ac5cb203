"""The two interfaces of this floor: an Estimator fits noisy marginals, a Model is what it returns."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arithmetic import Array
from synthdp.inference.mirror_descent import FitStatus, Progress
from synthdp.measurement import LinearMeasurement

Codes = tuple[NDArray[np.unsignedinteger], ...]
State = dict[str, object]

_MOST_REJECTED = 1_000_000


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

    def complete(
        self,
        given: Mapping[str, NDArray[np.integer]],  # noqa: ARG002 - kinds of models that can override this
        *,
        seed: int | None = None,  # noqa: ARG002
    ) -> Codes:
        """Complete partial records: draw the attributes that are not given, record by record.

        Parameters
        ----------
        given
            Codes of some attributes, each of shape ``(n_rows,)``; at least one.
        seed
            Makes the draw repeatable.

        Raises
        ------
        ParameterError
            If the kind of model cannot, or a record has probability 0.
        """
        raise ParameterError(f"given: a model of kind {self.kind} cannot complete records; use engine graphical-model")

    def sample_where(self, possible: Mapping[str, NDArray[np.bool_]], n_rows: int, *, seed: int | None = None) -> Codes:
        """Draw records of a slice: for some attributes only some levels are wanted.

        Parameters
        ----------
        possible
            For each restricted attribute which of its levels are wanted, shape ``(n_levels,)``.
        n_rows
            Number of records, at least 0.
        seed
            Makes the draw repeatable.

        Raises
        ------
        ParameterError
            If the slice is too rare under the model to be drawn from.
        """
        check_sample_size(n_rows)
        return rejected_until(self, possible, n_rows, seed)

    @abstractmethod
    def to_state(self) -> tuple[State, dict[str, Array]]:
        """What `from_state` needs to rebuild the model: plain JSON values, and arrays by name."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Self:
        """Rebuild a saved model over ``domain``."""


class Estimator(ABC):
    """An engine: finds a distribution that explains noisy marginals."""

    name: ClassVar[str]

    def check_domain(self, domain: Domain) -> None:  # noqa: B027 - engines without such a limit need not care
        """Raise `ModelTooLargeError` if no model over this domain could be fitted, whatever is measured."""

    @abstractmethod
    def estimate(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        *,
        constraints: Sequence[Constraint] = (),
        warm_start: Model | None = None,
        progress: Progress | None = None,
    ) -> Model:
        """Fit a model to noisy marginals.

        Parameters
        ----------
        domain
            All attributes of the table, measured or not.
        measurements
            Noisy marginals, at least one. Where some are coarsened, use
            `synthdp.inference.refinement.estimate_refined`.
        constraints
            Combinations of levels that public knowledge rules out. No sampled record breaks one;
            exact engines give forbidden combinations probability 0.
        warm_start
            An earlier model of this engine over the same domain, to start from.
        progress
            Called with (iterations done, iterations at most).

        Raises
        ------
        ParameterError
            If there are no measurements, or one or a constraint does not fit the domain, or the
            constraints together rule out everything.
        ModelTooLargeError
            If the model would need more cells than the engine may use.
        """


def check_problem(
    domain: Domain, measurements: Sequence[LinearMeasurement], constraints: Sequence[Constraint] = ()
) -> None:
    """Raise `ParameterError` unless there are measurements, all fit, and none is coarsened."""
    if len(domain) == 0:
        raise ParameterError("domain: it has no attributes; give at least one")
    if not measurements:
        raise ParameterError("measurements: there is none; measure at least one marginal")
    for measurement in measurements:
        if measurement.coarsening is not None:
            raise ParameterError(f"measurement of {measurement.clique}: levels are merged; use estimate_refined")
        measurement.check_fits(domain)
    for constraint in constraints:
        constraint.check_fits(domain)


def rejected_until(model: Model, possible: Mapping[str, NDArray[np.bool_]], n_rows: int, seed: int | None) -> Codes:
    """Draw records until enough of them lie in a slice."""
    generator = np.random.default_rng(seed)
    kept: list[Codes] = []
    n_missing, n_drawn, batch = n_rows, 0, 2 * n_rows + 100
    while n_missing > 0:
        if n_drawn > _MOST_REJECTED + 1000 * n_rows:
            raise ParameterError("where: the slice is too rare under the model to be drawn from; widen it")
        columns = model.sample(batch, seed=int(generator.integers(1 << 62)))
        inside = np.ones(batch, dtype=np.bool_)
        for name, wanted in possible.items():
            inside &= wanted[columns[model.domain.index(name)]]
        rows = np.flatnonzero(inside)[:n_missing]
        kept.append(tuple(column[rows] for column in columns))
        n_missing, n_drawn = n_missing - rows.size, n_drawn + batch
        batch = min(4 * batch, 1 << 20)
    if not kept:
        return model.sample(0, seed=0)
    return tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))


def check_sample_size(n_rows: int) -> None:
    """Raise `ParameterError` unless ``n_rows`` is a number of rows."""
    if n_rows < 0:
        raise ParameterError(f"n_rows is {n_rows}; give 0 or more")


def check_clique(domain: Domain, clique: Sequence[str]) -> Clique:
    """The clique as a tuple; raises `ParameterError` if an attribute is unknown or repeats."""
    names = tuple(clique)
    if len(set(names)) != len(names):
        raise ParameterError(f"clique {names}: an attribute repeats; name each attribute once")
    domain.project(names)
    return names
