"""The two interfaces of this floor: an Estimator fits noisy marginals, a Model is what it returns."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arithmetic import Array
from synthdp.inference.mirror_descent import FitStatus, Progress
from synthdp.measurement import LinearMeasurement

Codes = tuple[NDArray[np.unsignedinteger], ...]
State = dict[str, object]


class Model(ABC):
    """An estimated distribution over a domain, scaled to a number of records.

    Models hold released values only; everything they answer is post-processing.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The attributes and their sizes."""

    @property
    @abstractmethod
    def total(self) -> float:
        """Estimated number of records."""

    @property
    @abstractmethod
    def status(self) -> FitStatus:
        """How the fit ended."""

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
        warm_start
            An earlier model of this engine over the same domain, to start from.
        progress
            Called with (iterations done, iterations at most).

        Raises
        ------
        ParameterError
            If there are no measurements, or one does not fit the domain.
        ModelTooLargeError
            If the model would need more cells than the engine may use.
        """


def check_measurements(domain: Domain, measurements: Sequence[LinearMeasurement]) -> None:
    """Raise `ParameterError` unless there are measurements, they fit, and none is coarsened."""
    if len(domain) == 0:
        raise ParameterError("domain: it has no attributes; give at least one")
    if not measurements:
        raise ParameterError("measurements: there is none; measure at least one marginal")
    for measurement in measurements:
        if measurement.coarsening is not None:
            raise ParameterError(f"measurement of {measurement.clique}: levels are merged; use estimate_refined")
        measurement.check_fits(domain)


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
