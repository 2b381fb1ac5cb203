"""The mixture engine: a weighted sum of product distributions, each written through a softmax.

With equal weights this is the softmax variant of the relaxed tabular method (RAP-softmax), which
[2106.07153, "Generative networks with the exponential mechanism"] compares with; the weights are
learned here by default. No part of the fit grows with the size of a junction tree: only the
measured marginals are ever made, so dense sets of cliques cost no more than others of their size.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.inference.adaptive_descent import AdaptiveDescent
from synthdp.inference.component_forms import SoftmaxForm
from synthdp.inference.estimator import Estimator, Model
from synthdp.inference.mirror_descent import Progress
from synthdp.inference.mixture_fit import MixtureFit
from synthdp.inference.mixture_model import MixtureModel
from synthdp.measurement import LinearMeasurement


@final
@dataclass(frozen=True, kw_only=True)
class MixtureEstimator(Estimator):
    """Mixture of product distributions that explains noisy marginals [2106.07153].

    The problem is not convex: the fit ends near a good local minimum, which depends on ``seed``.
    Constraints enter the fit as a price on forbidden records, which leaves little of the
    mixture impossible (mostly below a thousandth); every drawn row keeps to them exactly.

    Parameters
    ----------
    n_components
        Number of product distributions: more express more, and cost time and memory in proportion.
    learn_weights
        False: all components weigh the same.
    driver
        The optimiser and its stopping rule.
    seed
        Seed of the starting point; it is post-processing, so it costs no privacy.
    device
        ``"numpy"``, ``"torch"``, or ``"cuda"`` for torch on a GPU. Results agree to rounding error,
        which iterations may blow up.
    max_cells
        Refuse problems with more numbers than this in the table of components (``n_components``
        times the levels of all attributes) and the measured marginals together. A fit needs about
        120 bytes for each of them and 0.4 GB for temporary tables.

    Raises
    ------
    ParameterError
        If a number is out of range or the device is unknown.

    >>> import numpy as np
    >>> domain = Domain(("a", "b"), (2, 2))
    >>> noisy = LinearMeasurement(("a", "b"), np.array([[40.0, 0.0], [0.0, 60.0]]), 0.01)
    >>> model = MixtureEstimator(n_components=10).estimate(domain, [noisy])
    >>> model.marginal(("b",)).values.round(1).tolist()
    [40.0, 60.0]
    """

    name: ClassVar[str] = "mixture-of-products"
    n_components: int = 400
    learn_weights: bool = True
    driver: AdaptiveDescent = field(default_factory=lambda: AdaptiveDescent(learning_rate=0.3))
    seed: int = 0
    device: str = "numpy"
    max_cells: int = 50_000_000

    def __post_init__(self) -> None:
        self._fit()

    def check_domain(self, domain: Domain) -> None:
        """Raise `ModelTooLargeError` if the table of components alone has more than ``max_cells`` numbers."""
        self._fit().check_size(domain)

    def estimate(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        *,
        constraints: Sequence[Constraint] = (),
        warm_start: Model | None = None,
        progress: Progress | None = None,
    ) -> MixtureModel:
        """Fit the model; see `Estimator.estimate`."""
        return self._fit().run(
            domain,
            measurements,
            lambda domain, backend: SoftmaxForm(domain, backend, learn_weights=self.learn_weights),
            constraints=constraints,
            warm_start=warm_start,
            progress=progress,
        )

    def _fit(self) -> MixtureFit:
        return MixtureFit(
            engine=self.name,
            n_components=self.n_components,
            driver=self.driver,
            seed=self.seed,
            device=self.device,
            max_cells=self.max_cells,
        )
