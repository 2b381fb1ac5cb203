"""The relaxed tabular engine (RAP): a table of reals instead of rows, by projected gradients
[2103.06641].

A table of n' rows, one-hot encoded, is relaxed to real numbers; its marginals are averages of
products of its numbers, and their derivatives are as easy. Each relaxed row is a product
distribution, so this engine differs from the mixture engine in its parameters only.

Relaxed to the box [0, 1], as in the paper, the numbers of an attribute need not sum to 1 in a
row. The table can then fit marginals that no distribution has ("spurious points"), and what is
lost when the rows are made proper shows: on discretised Adult with 32 random 2-way marginals the
mean error of the model is 1.5 to 9 times that of the fit on simplices, which is the default.
"""

from dataclasses import dataclass, field
from typing import ClassVar, final

from synthdp.core.domain import Domain
from synthdp.inference.engines.mixture_fit import ComponentEngine
from synthdp.inference.model import Model
from synthdp.inference.optimisers.adaptive_descent import AdaptiveDescent
from synthdp.inference.products.array_backend import ArrayBackend
from synthdp.inference.products.component_forms import TableForm


@final
@dataclass(frozen=True, kw_only=True)
class RelaxedTabularEngine(ComponentEngine):
    """Relaxed table of rows of equal weight that explains noisy marginals (RAP) [2103.06641].

    `ComponentEngine` explains the parameters that are not here.

    Parameters
    ----------
    n_components
        Number of relaxed rows: more express more, and cost time and memory in proportion.
    box
        True: keep each number in [0, 1] only, as the paper does, and make rows proper at the end:
        the model is then not what was fitted (its ``status.loss`` is that of the model). False:
        keep each attribute of each row on the probability simplex all along.
    """

    name: ClassVar[str] = "relaxed-tabular"
    box: bool = False
    driver: AdaptiveDescent = field(default_factory=lambda: AdaptiveDescent(learning_rate=0.1))

    def _form(self, domain: Domain, backend: ArrayBackend, warm_start: Model | None) -> TableForm:  # noqa: ARG002
        return TableForm(domain, backend, box=self.box)
