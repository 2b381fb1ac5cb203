"""The mixture engine: a weighted sum of product distributions, each written through a softmax.

With equal weights this is the softmax variant of the relaxed tabular method (RAP-softmax), which
[2106.07153, "Generative networks with the exponential mechanism"] compares with; the weights are
learned here by default. No part of the fit grows with the size of a junction tree: only the
measured marginals are ever made, so dense sets of cliques cost no more than others of their size.
"""

from dataclasses import dataclass, field
from typing import ClassVar, final

from synthdp.core.domain import Domain
from synthdp.inference.engines.mixture_fit import ComponentEngine
from synthdp.inference.model import Model
from synthdp.inference.optimisers.adaptive_descent import AdaptiveDescent
from synthdp.inference.products.array_backend import ArrayBackend
from synthdp.inference.products.component_forms import SoftmaxForm


@final
@dataclass(frozen=True, kw_only=True)
class MixtureEngine(ComponentEngine):
    """Mixture of product distributions that explains noisy marginals [2106.07153].

    See `ComponentEngine` for the rest.

    >>> import numpy as np
    >>> from synthdp.core.measurement import LinearMeasurement
    >>> domain = Domain(("a", "b"), (2, 2))
    >>> noisy = LinearMeasurement(("a", "b"), np.array([[40.0, 0.0], [0.0, 60.0]]), 0.01)
    >>> model = MixtureEngine(n_components=10).estimate(domain, [noisy])
    >>> model.marginal(("b",)).values.round(1).tolist()
    [40.0, 60.0]
    """

    name: ClassVar[str] = "mixture-of-products"
    learn_weights: bool = True
    """False: all components weigh the same."""
    driver: AdaptiveDescent = field(default_factory=lambda: AdaptiveDescent(learning_rate=0.3))

    def _form(self, domain: Domain, backend: ArrayBackend, warm_start: Model | None) -> SoftmaxForm:  # noqa: ARG002
        return SoftmaxForm(domain, backend, learn_weights=self.learn_weights)
