"""Fitting a mixture of products to noisy marginals, whatever form its components are written in."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import FitWarning, ModelTooLargeError, ParameterError
from synthdp.core.measurement import LinearMeasurement, estimate_total
from synthdp.inference.arrays import Array
from synthdp.inference.engine import Engine, FitProblem, check_warm_start, concluded
from synthdp.inference.graphical.possible_rows import check_possible
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import FitStatus, Model, Progress
from synthdp.inference.models.mixture_model import MixtureModel
from synthdp.inference.optimisers.adaptive_descent import AdaptiveDescent
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.products.array_backend import DEVICES, ArrayBackend, DeviceArray
from synthdp.inference.products.component_forms import ComponentForm
from synthdp.inference.products.product_components import ProductComponents, attribute_rows
from synthdp.inference.shrinkage import one_way_counts

_MAX_FORBIDDEN = 1e-3
"""Share of the mixture in forbidden cells that is left to drawing again: it costs a row in a
thousand.
"""
_CAUTIONED = 1e-2
"""Share of the mixture in forbidden cells, of each constraint's clique and all together, that is
worth a word.
"""
_MAX_RISES = 5
"""Stages of a fit, each with forbidden records ten times dearer; at 10^4 times the first price
little else counts.
"""
_SCATTER = 0.3
"""Standard deviation of the first logits: components differ enough to part, and start near the
one-way marginals.
"""


@dataclass(frozen=True, kw_only=True)
class ComponentEngine(Engine):
    """What the mixture engines share: everything but the form of their parameters.

    The problem is not convex: the fit ends near a good local minimum, which depends on ``seed``.
    Constraints enter the fit as a price on forbidden records, which leaves little of the mixture
    impossible (mostly below a thousandth); every drawn row keeps to them exactly.

    Raises
    ------
    ParameterError
        If a number is out of range or the device is unknown.
    """

    n_components: int = 400
    """Number of product distributions: more express more; time and memory grow with it."""
    driver: AdaptiveDescent
    """The optimiser and its stopping rule."""
    seed: int = 0
    """Seed of the starting point; it is post-processing, so it costs no privacy."""
    device: str = "numpy"
    """``"numpy"``, ``"torch"``, or ``"cuda"`` for torch on a GPU. Results agree to rounding error,
    which iterations may blow up.
    """
    max_cells: int = 50_000_000
    """Refuse problems with more numbers than this in the table of components (``n_components``
    times the levels of all attributes) and the measured marginals together. A fit needs about
    120 bytes for each of them and 0.4 GB for temporary tables.
    """

    def __post_init__(self) -> None:
        if self.n_components < 1:
            raise ParameterError(f"n_components is {self.n_components}; give 1 or more")
        if self.device not in DEVICES:
            raise ParameterError(f"device is {self.device!r}; choose one of {', '.join(DEVICES)}")

    @abstractmethod
    def _form(
        self, domain: Domain, backend: ArrayBackend, warm_start: Model | None
    ) -> ComponentForm:
        """How this engine writes its components."""

    def check_domain(self, domain: Domain) -> None:
        """Raise `ModelTooLargeError` if the table of components alone has more than ``max_cells``
        numbers.
        """
        self._check_size(domain)

    def _check_size(self, domain: Domain, n_measured: int = 0) -> None:
        n_cells = self.n_components * sum(domain.shape) + n_measured
        if n_cells > self.max_cells:
            raise ModelTooLargeError(
                f"{self.name}: components and measured marginals have {n_cells} cells, "
                f"at most {self.max_cells} are allowed; use fewer n_components or smaller cliques, or raise max_cells"
            )

    def fit(self, problem: FitProblem) -> MixtureModel:
        """Fit the model."""
        domain = problem.domain
        measurements = problem.measurements
        constraints = problem.constraints
        # A mixture never has probability 0 anywhere, so it cannot find out by itself that no row is
        # possible.
        check_possible(domain, constraints)
        allowed = possible_cells(domain, constraints)
        # Constraints are evaluated on cliques of their own, and their cells count towards the size.
        cliques = {domain.canonical(measurement.clique) for measurement in measurements} | set(
            allowed
        )
        self._check_size(domain, sum(map(domain.size, cliques)))
        backend = ArrayBackend(self.device)
        form = self._form(domain, backend, problem.warm_start)
        loss = MarginalLoss(domain, measurements)
        total = estimate_total(measurements)
        target = _target(loss, domain, allowed)
        objective = _Objective(
            target, ProductComponents(domain, target.cliques, backend), form, backend, total
        )
        levels, weights, driver = self._start(domain, target, measurements, problem.warm_start)
        # All forms of parameters start from the same components, so engines differ in what they can
        # express only.
        start = form.parameters((backend.array(levels), backend.array(weights)))
        best, status = _descend(objective, start, driver, loss.n_cells, backend, problem.progress)
        # A relaxed table's rows need not be distributions; the model is what is left when they are
        # made so, and the loss that is reported is the model's.
        proper = form.proper(form.components(best))
        levels, weights = (backend.to_numpy(part) for part in proper)
        flat = backend.to_numpy(objective.products.marginals(*proper))
        final_loss = loss.of_tables(loss.split(total * flat[: loss.n_cells]))
        status = concluded(self.name, replace(status, loss=final_loss), wanted="stalled")
        return MixtureModel(
            domain=domain,
            levels=levels,
            weights=weights,
            total=total,
            status=_with_forbidden(self.name, status, float(target.forbidden @ flat)),
            constraints=constraints,
        )

    def _start(
        self,
        domain: Domain,
        target: "_Target",
        measurements: Sequence[LinearMeasurement],
        warm_start: Model | None,
    ) -> tuple[Array, Array, AdaptiveDescent]:
        """Components and weights to start from, and the driver that suits them."""
        measured = {name for clique in target.cliques for name in clique}
        levels = _random_levels(
            domain, measurements, measured, self.n_components, np.random.default_rng(self.seed)
        )
        earlier = check_warm_start(warm_start, MixtureModel, domain)
        if earlier is None:
            return levels, np.full(self.n_components, 1 / self.n_components), self.driver
        if len(earlier.weights) != self.n_components:
            raise ParameterError(
                f"warm_start: it has {len(earlier.weights)} components, this engine {self.n_components}; "
                "give a model with as many"
            )
        for rows in attribute_rows(domain).values():
            # An attribute that the earlier model knew nothing of needs a start that tells
            # components apart.
            # All components alike: their gradients would be alike as well, and they would never
            # part.
            if np.ptp(earlier.levels[rows]) > 1e-9:
                levels[rows] = earlier.levels[rows]
        return (
            levels,
            earlier.weights,
            # At the full rate Adam's first steps would throw away what the earlier fit had learnt.
            replace(self.driver, learning_rate=self.driver.learning_rate / 4),
        )


class _Target(NamedTuple):
    """The cells to fit: noisy counts, their weights, and 1 for each forbidden cell."""

    cliques: list[Clique]
    noisy: Array
    weights: Array
    forbidden: Array


def _target(
    loss: MarginalLoss, domain: Domain, allowed: Mapping[Clique, NDArray[np.bool_]]
) -> _Target:
    """The cells of the measured cliques, then those of other cliques that constraints speak of."""
    cliques = list(dict.fromkeys([*loss.cliques, *allowed]))
    forbidden = [
        ~allowed[clique].ravel() if clique in allowed else np.zeros(domain.size(clique))
        for clique in cliques
    ]
    by_cell = np.concatenate(forbidden).astype(np.float64)
    more = np.zeros(by_cell.size - loss.n_cells)
    noisy = -loss.residual(np.zeros(loss.n_cells))
    return _Target(cliques, np.append(noisy, more), np.append(loss.weights, more), by_cell)


@final
class _Objective:
    """The loss plus the price of forbidden records, and its gradient by the parameters.

    The price is in proportion to the number of forbidden records, so that many little shares do
    not slip through as they would through squares. At first a record costs what a cell's noise
    of one standard deviation would gain by it.
    """

    def __init__(
        self,
        target: _Target,
        products: ProductComponents,
        form: ComponentForm,
        backend: ArrayBackend,
        total: float,
    ) -> None:
        self.products = products
        self.form = form
        # One over the least noise: moving one record out of a forbidden cell then gains as much as
        # one standard deviation of the most exact cell.
        self.price = float(np.sqrt(target.weights.max(initial=0.0)))
        self._total = total
        self._noisy, self._weights, self._forbidden = (backend.array(part) for part in target[1:])

    def __call__(self, parameters: DeviceArray) -> tuple[float, DeviceArray]:
        components, pullback = self.form.linearised(parameters)
        counts = self._total * self.products.marginals(*components)
        residual = counts - self._noisy
        weighted = self._weights * residual
        # Linear in the forbidden records: squares would let many little shares through.
        value = 0.5 * float(weighted @ residual) + self.price * float(self._forbidden @ counts)
        slopes = self.products.gradient(
            *components, self._total * (weighted + self.price * self._forbidden)
        )
        return value, pullback(slopes)

    def forbidden_share(self, parameters: DeviceArray) -> float:
        """Share of the mixture that is in forbidden cells."""
        return float(self._forbidden @ self.products.marginals(*self.form.components(parameters)))


def _descend(
    objective: _Objective,
    start: DeviceArray,
    driver: AdaptiveDescent,
    n_cells: int,
    backend: ArrayBackend,
    progress: Progress | None,
) -> tuple[DeviceArray, FitStatus]:
    """Minimise; while too much is forbidden, again from there at ten times the price.

    A price that is high from the start would drive components apart before they have learned
    anything, into a poor local minimum.
    """
    best = start
    done = 0
    most = driver.max_iterations
    for rise in range(_MAX_RISES):
        shifted = None if progress is None else partial(_report, progress, done, most)
        # From a fitted point on, smaller steps: a quarter, as for warm starts.
        rate = driver.learning_rate if rise == 0 else driver.learning_rate / 4
        stage = replace(driver, max_iterations=most - done, learning_rate=rate)
        best, status = stage.minimise(
            objective,
            objective.form.project,
            best,
            n_cells=n_cells,
            backend=backend,
            progress=shifted,
        )
        done += status.n_iterations
        # A thousandth is left to drawing again, row by row.
        if done >= most or objective.forbidden_share(best) <= _MAX_FORBIDDEN:
            break
        objective.price *= 10
    return best, replace(status, n_iterations=done)


def _with_forbidden(engine: str, status: FitStatus, share: float) -> FitStatus:
    """The status, short of what it should be if too much of the mixture is what constraints rule
    out.
    """
    if share <= _CAUTIONED:
        return status
    caution = (
        f"the fit ({engine}) left {min(share, 1.0):.0%} of its table in combinations that constraints rule out: rows "
        "are drawn without them, but marginals of the model hold them; use another engine or fewer constraints"
    )
    warnings.warn(caution, FitWarning, stacklevel=3)
    return replace(
        status, ended="stopped", caution=". ".join(filter(None, (status.caution, caution)))
    )


def _report(progress: Progress, before: int, most: int, done: int, _: int) -> None:
    progress(before + done, most)


def _random_levels(
    domain: Domain,
    measurements: Sequence[LinearMeasurement],
    measured: set[str],
    n_components: int,
    generator: np.random.Generator,
) -> Array:
    """Components scattered around the measured one-way marginals; uniform without any."""
    levels = np.empty((sum(domain.shape), n_components))
    for name, rows in attribute_rows(domain).items():
        counts = one_way_counts(name, domain[name], measurements, unknown=1.0)
        # The logarithm of a noisy count below 1 would say more than the noise allows.
        logits = np.log(np.maximum(counts, 1.0))[:, None]
        scatter = _SCATTER * generator.standard_normal((domain[name], n_components))
        # Nobody measured it: components that differ there would make up a dependence.
        powers = np.exp(logits - logits.max() + (scatter if name in measured else 0.0 * scatter))
        levels[rows] = powers / powers.sum(axis=0)
    return levels
