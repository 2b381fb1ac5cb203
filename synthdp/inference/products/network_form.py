"""Components written as the output of a neural network, one fixed random input a component."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.inference.products.array_backend import ArrayBackend, DeviceArray
from synthdp.inference.products.component_forms import Components, Pullback
from synthdp.inference.products.product_components import attribute_rows

_FLOOR = 1e-6
"""Probabilities below this start as it: a softmax would hardly move them."""


@final
class NetworkForm:
    """A multilayer perceptron from Gaussian inputs to the logits of each attribute's levels.

    The logits are the network's output plus an offset, which stays as it starts. The flat vector
    of parameters holds the network's matrices and biases layer by layer, then the offset and the
    logarithms of the components' weights; the derivatives by these two are 0.

    Parameters
    ----------
    domain, backend
        All attributes, and where the arrays live.
    n_components
        Number of inputs, and with them of components.
    n_inputs
        Length of an input.
    hidden
        Widths of the hidden layers (rectified linear units).
    seed
        Seed of inputs and initial weights.
    reproduce
        True: the offset makes the network start at the given components. False: it makes it
        start scattered around their mean.
    """

    def __init__(
        self,
        domain: Domain,
        backend: ArrayBackend,
        *,
        n_components: int,
        n_inputs: int,
        hidden: Sequence[int],
        seed: int,
        reproduce: bool,
    ) -> None:
        self._blocks = list(attribute_rows(domain).values())
        self._backend = backend
        self._reproduce = reproduce
        self._generator = np.random.default_rng(seed)
        self._inputs = backend.array(self._generator.standard_normal((n_inputs, n_components)))
        self._widths = [n_inputs, *hidden, sum(domain.shape)]
        self._n_weights = sum((before + 1) * after for before, after in pairwise(self._widths))

    def parameters(self, components: Components) -> DeviceArray:
        """See `ComponentForm.parameters`; draws the network's initial weights."""
        levels, weights = (self._backend.to_numpy(part) for part in components)
        network = self._backend.array(self._initial_weights(levels))
        # An offset on the network's output makes it start at given components; their zeros would be
        # minus infinity.
        offset = np.log(np.maximum(levels, _FLOOR))
        if self._reproduce:
            offset -= self._backend.to_numpy(self._forward(network)[-1])
        else:
            offset[:] = offset.mean(axis=1, keepdims=True)
        fixed = np.concatenate([offset.ravel(), np.log(np.maximum(weights, 1e-300))])
        return self._backend.xp.concatenate([network, self._backend.array(fixed)], 0)

    def components(self, parameters: DeviceArray) -> Components:
        """See `ComponentForm.components`."""
        return self._components(parameters, self._forward(parameters)[-1])

    def linearised(self, parameters: DeviceArray) -> tuple[Components, Pullback]:
        """See `ComponentForm.linearised`; the pullback is backpropagation."""
        *activations, output = self._forward(parameters)
        components = self._components(parameters, output)
        return components, partial(self._pullback, parameters, activations, components)

    def _components(self, parameters: DeviceArray, output: DeviceArray) -> Components:
        """What the network's output stands for."""
        xp = self._backend.xp
        n_components = self._inputs.shape[1]
        offset = parameters[self._n_weights : -n_components].reshape(-1, n_components)
        logits = output + offset
        levels = self._backend.zeros(tuple(logits.shape))
        for block in self._blocks:
            # Less the maximum, so that no exponential overflows; the softmax is the same.
            powers = xp.exp(logits[block] - xp.amax(logits[block], 0))
            levels[block] = powers / powers.sum(0)
        weights = xp.exp(parameters[-n_components:])
        return levels, weights / weights.sum()

    def _pullback(
        self,
        parameters: DeviceArray,
        activations: Sequence[DeviceArray],
        components: Components,
        slopes: Components,
    ) -> DeviceArray:
        """The derivatives by the parameters; ``activations`` are what goes into each layer."""
        levels, _ = components
        products = levels * slopes[0]
        by_output = self._backend.zeros(tuple(levels.shape))
        for block in self._blocks:
            # The derivative of a softmax: p times the slope less its mean under p.
            by_output[block] = products[block] - levels[block] * products[block].sum(0)
        gradient = self._backend.zeros(tuple(parameters.shape))
        for (start, middle, end), inputs in zip(
            reversed(self._layers()), reversed(activations), strict=True
        ):
            gradient[start:middle] = (by_output @ inputs.T).reshape(-1)
            gradient[middle:end] = by_output.sum(1)
            matrix = parameters[start:middle].reshape(by_output.shape[0], -1)
            # What a layer got is the output of a rectifier, whose derivative is 1 where it was
            # above 0.
            by_output = (matrix.T @ by_output) * (inputs > 0)
        return gradient

    def project(self, parameters: DeviceArray) -> DeviceArray:
        """All parameters are allowed."""
        return parameters

    def proper(self, components: Components) -> Components:
        """They are proper already."""
        return components

    def _layers(self) -> list[tuple[int, int, int]]:
        """For each layer where its matrix starts in the vector of parameters, its biases start, and
        both end.
        """
        layers, start = [], 0
        for before, after in pairwise(self._widths):
            middle = start + before * after
            layers.append((start, middle, middle + after))
            start = middle + after
        return layers

    def _forward(self, parameters: DeviceArray) -> list[DeviceArray]:
        """What goes into each layer, and what comes out of the last one; one column a component."""
        values = [self._inputs]
        for number, (start, middle, end) in enumerate(self._layers()):
            matrix = parameters[start:middle].reshape(end - middle, -1)
            output = matrix @ values[-1] + parameters[middle:end][:, None]
            values.append(output * (output > 0) if number < len(self._widths) - 2 else output)
        return values

    def _initial_weights(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrices that keep the size of what passes through them [He et al. 2015], and biases of
        0.
        """
        parts = []
        for before, after in pairwise(self._widths):
            # A rectifier halves the variance, which the factor 2 makes good; behind the last layer
            # there is none.
            gain = 1.0 if after == self._widths[-1] else 2.0
            parts.append(self._generator.standard_normal((after, before)) * np.sqrt(gain / before))
            parts.append(np.zeros(after))
        for block in self._blocks:
            # An attribute that starts uniform in all components is not measured, and must stay so.
            if np.ptp(levels[block]) < 1e-9:
                parts[-2][block] = 0.0
        return np.concatenate([part.ravel() for part in parts])
