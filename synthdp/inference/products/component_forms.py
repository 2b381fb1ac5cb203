"""How a component's distributions are written as free parameters: softmax, or a projected table."""

from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias, final

from synthdp.core.domain import Domain
from synthdp.inference.products.array_backend import ArrayBackend, DeviceArray
from synthdp.inference.products.product_components import attribute_rows

Components = tuple[DeviceArray, DeviceArray]
"""Levels of shape ``(n_levels of all attributes, n_components)`` and weights of shape
``(n_components,)``.
"""

Pullback: TypeAlias = Callable[[Components], DeviceArray]
"""Makes derivatives by the parameters of those by the components."""


class ComponentForm(Protocol):
    """Parameters on a device, and the mixture they stand for."""

    def parameters(self, components: Components) -> DeviceArray:
        """Parameters that stand for (almost) these components, each of them above 0."""

    def components(self, parameters: DeviceArray) -> Components:
        """The components that parameters stand for."""

    def linearised(self, parameters: DeviceArray) -> tuple[Components, Pullback]:
        """The components that parameters stand for, and the pullback there."""

    def project(self, parameters: DeviceArray) -> DeviceArray:
        """The nearest parameters that are allowed."""

    def proper(self, components: Components) -> Components:
        """The components with every attribute's levels summing to 1."""


@final
class SoftmaxForm:
    """Logarithms of probabilities up to a constant; the last row holds those of the weights.

    Parameters
    ----------
    domain, backend
        All attributes, and where the arrays live.
    learn_weights
        False: weights stay as they start.
    """

    def __init__(self, domain: Domain, backend: ArrayBackend, *, learn_weights: bool) -> None:
        self._blocks = list(attribute_rows(domain).values())
        self._backend = backend
        self._learn_weights = learn_weights

    def parameters(self, components: Components) -> DeviceArray:
        """See `ComponentForm.parameters`."""
        levels, weights = components
        xp = self._backend.xp
        return xp.log(xp.clip(xp.concatenate([levels, weights[None]], 0), 1e-30, 1.0))

    def components(self, parameters: DeviceArray) -> Components:
        """See `ComponentForm.components`."""
        xp = self._backend.xp
        levels = self._backend.zeros((parameters.shape[0] - 1, parameters.shape[1]))
        for block in self._blocks:
            powers = xp.exp(parameters[block] - xp.amax(parameters[block], 0))
            levels[block] = powers / powers.sum(0)
        weights = xp.exp(parameters[-1] - parameters[-1].max())
        return levels, weights / weights.sum()

    def linearised(self, parameters: DeviceArray) -> tuple[Components, Pullback]:
        """See `ComponentForm.linearised`."""
        components = self.components(parameters)
        return components, partial(self._pullback, components)

    def _pullback(self, components: Components, slopes: Components) -> DeviceArray:
        levels, weights = components
        gradient = self._backend.zeros((levels.shape[0] + 1, levels.shape[1]))
        products = levels * slopes[0]
        for block in self._blocks:
            gradient[block] = products[block] - levels[block] * products[block].sum(0)
        if self._learn_weights:
            gradient[-1] = weights * (slopes[1] - (weights * slopes[1]).sum())
        return gradient

    def project(self, parameters: DeviceArray) -> DeviceArray:
        """All parameters are allowed."""
        return parameters

    def proper(self, components: Components) -> Components:
        """They are proper already."""
        return components


@final
class TableForm:
    """The probabilities themselves, with equal weights: the rows of a relaxed table [2103.06641].

    Parameters
    ----------
    domain, backend
        As `SoftmaxForm` has them.
    box
        True: each number is kept in [0, 1], as in the paper. False: each attribute's numbers are
        also kept summing to 1 (the Euclidean projection onto the simplex [Duchi et al. 2008]).
    """

    def __init__(self, domain: Domain, backend: ArrayBackend, *, box: bool) -> None:
        self._blocks = list(attribute_rows(domain).values())
        self._backend = backend
        self._box = box

    def parameters(self, components: Components) -> DeviceArray:
        """See `ComponentForm.parameters`."""
        return components[0]

    def components(self, parameters: DeviceArray) -> Components:
        """See `ComponentForm.components`."""
        n_components = parameters.shape[1]
        return parameters, self._backend.zeros((n_components,)) + 1 / n_components

    def linearised(self, parameters: DeviceArray) -> tuple[Components, Pullback]:
        """See `ComponentForm.linearised`; on simplices the derivatives along them."""
        components = self.components(parameters)
        return components, partial(self._pullback, components)

    def _pullback(self, components: Components, slopes: Components) -> DeviceArray:
        if self._box:
            return slopes[0]
        levels, _ = components
        products = levels * slopes[0]
        gradient = self._backend.zeros(tuple(levels.shape))
        for block in self._blocks:
            # A common part of an attribute's slopes means nothing here, but would hide in Adam's
            # step, which only knows signs and sizes, which way the levels differ.
            gradient[block] = slopes[0][block] - products[block].sum(0)
        return gradient

    def project(self, parameters: DeviceArray) -> DeviceArray:
        """See `ComponentForm.project`."""
        if self._box:
            return self._backend.xp.clip(parameters, 0.0, 1.0)
        projected = self._backend.zeros(tuple(parameters.shape))
        for block in self._blocks:
            projected[block] = self._on_simplex(parameters[block])
        return projected

    def proper(self, components: Components) -> Components:
        """See `ComponentForm.proper`; an attribute that is 0 all over becomes uniform."""
        levels, weights = components
        proper = self._backend.zeros(tuple(levels.shape))
        for block in self._blocks:
            sums = levels[block].sum(0)
            proper[block] = (levels[block] + 1e-12) / (sums + 1e-12 * len(levels[block]))
        return (proper, weights) if self._box else components

    def _on_simplex(self, table: DeviceArray) -> DeviceArray:
        """Each column less what makes its positive part sum to 1."""
        ascending = self._backend.sorted(table)
        running = ascending.cumsum(0)
        from_here_on = running[-1] - running + ascending
        counts = self._backend.zeros((len(table), 1)) + 1
        counts = counts.sum(0) - counts.cumsum(0) + counts
        # If the j largest stay positive they share the surplus; the right j gives the largest
        # threshold.
        threshold = self._backend.xp.amax((from_here_on - 1) / counts, 0)
        return self._backend.xp.clip(table - threshold, 0.0, 1.0)
