"""The generative-network engine (GEM): a neural network that turns noise into product distributions
[2106.07153].

The network's input is a fixed table of Gaussian noise with one row a component; its output, a
softmax for each attribute, are the components of a mixture of equal weights. So the model is that
of the mixture engines, and so are loss, gradients by the components and driver; what differs is
that the components hang together through the network's weights, which are what is fitted.

Differences from the paper: the inputs are drawn once, which makes the objective (and the model)
deterministic; the gradient is exact; and the driver keeps the best weights that it met and halves
the learning rate when it stalls, where the paper averages weights over the last iterations.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, final

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.inference.engines.mixture_fit import ComponentEngine
from synthdp.inference.model import Model
from synthdp.inference.models.mixture_model import MixtureModel
from synthdp.inference.optimisers.adaptive_descent import AdaptiveDescent
from synthdp.inference.products.array_backend import ArrayBackend
from synthdp.inference.products.network_form import NetworkForm

ROUGH_HALVINGS, ROUGH_TOLERANCE = 1, 1e-2
"""When a rough fit has converged; see `AdaptiveDescent`."""


@final
@dataclass(frozen=True, kw_only=True)
class GenerativeNetworkEngine(ComponentEngine):
    """Neural network that generates a mixture of product distributions (GEM) [2106.07153].

    A warm start begins at the components of an earlier mixture (of any engine) with as many of
    them: the network, new, learns what to change.

    `ComponentEngine` explains the parameters that are not here.

    Parameters
    ----------
    n_components
        Number of inputs, and with them of product distributions.
    n_inputs
        Numbers in each input.
    hidden
        Widths of the hidden layers, one or more.
    """

    name: ClassVar[str] = "generative-network"
    n_inputs: int = 64
    hidden: tuple[int, ...] = (128, 128)
    driver: AdaptiveDescent = field(default_factory=lambda: AdaptiveDescent(learning_rate=0.003))

    def __post_init__(self) -> None:
        if self.n_inputs < 1:
            raise ParameterError(f"n_inputs is {self.n_inputs}; give 1 or more")
        if not self.hidden or min(self.hidden) < 1:
            raise ParameterError(
                f"hidden is {self.hidden}; give one width or more, each at least 1"
            )
        super().__post_init__()

    def rough(self) -> "GenerativeNetworkEngine":
        """The same engine with a looser stopping rule."""
        # A fit that goes on from the last round's has one marginal more to learn: with seven
        # halvings of the rate it took 160 iterations even where the first 20 had reached the noise.
        driver = replace(self.driver, halvings=ROUGH_HALVINGS, tolerance=ROUGH_TOLERANCE)
        return replace(self, driver=driver)

    def _form(self, domain: Domain, backend: ArrayBackend, warm_start: Model | None) -> NetworkForm:
        return NetworkForm(
            domain,
            backend,
            n_components=self.n_components,
            n_inputs=self.n_inputs,
            hidden=self.hidden,
            seed=self.seed,
            reproduce=isinstance(warm_start, MixtureModel),
        )
