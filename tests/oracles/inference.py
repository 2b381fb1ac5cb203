"""Oracles for the inference floor: everything on the full joint table, by the shortest way."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from scipy.optimize import nnls

from synthdp.core import Domain, LinearMeasurement
from synthdp.inference import FitStatus, JunctionTree, MarkovRandomField

SEEDS = st.integers(0, 2**32 - 1)
STATUS = FitStatus(ended="optimal", n_iterations=0, loss=0.0)


@st.composite
def domains(draw, *, largest=4, most=5):
    """Domains of 1 to ``most`` attributes with 1 to ``largest`` levels."""
    sizes = draw(st.lists(st.integers(1, largest), min_size=1, max_size=most))
    return Domain(tuple("abcdefgh"[: len(sizes)]), tuple(sizes))


@st.composite
def clique_sets(draw, domain, *, most=6, longest=3):
    """Lists of cliques in the order of the domain, the empty one, nested ones and repeats included."""
    subsets = st.sets(st.sampled_from(domain.attributes), max_size=longest)
    return [
        domain.canonical(clique) for clique in draw(st.lists(subsets, min_size=1, max_size=most))
    ]


def random_domain(rng, *, largest=4, most=4):
    names = tuple("abcdefgh"[: rng.integers(1, most + 1)])
    return Domain(names, tuple(int(size) for size in rng.integers(1, largest + 1, len(names))))


def random_cliques(rng, domain, *, most=4, longest=3):
    """Cliques with axes in any order, repeats and the empty clique included."""
    count = rng.integers(1, most + 1)
    sizes = rng.integers(0, min(len(domain), longest) + 1, count)
    return [tuple(map(str, rng.permutation(domain.attributes)[:size])) for size in sizes]


def marginal_of(joint, domain, clique):
    """The marginal of a table over the whole domain, axes in the order of the clique."""
    kept = [name for name in domain.attributes if name in clique]
    summed = tuple(axis for axis, name in enumerate(domain.attributes) if name not in clique)
    return np.transpose(np.asarray(joint.sum(axis=summed)), [kept.index(name) for name in clique])


def joint_logarithm(domain, log_potentials):
    """Logarithm of the unnormalised joint table of potentials on cliques in the order of the
    domain.
    """
    total = np.zeros(domain.shape)
    for clique, table in log_potentials.items():
        total = total + table.reshape(
            [domain[name] if name in clique else 1 for name in domain.attributes]
        )
    return total


def log_sum_exp(table):
    largest = table.max()
    return float(largest + np.log(np.exp(table - largest).sum()))


def random_potentials(rng, domain, cliques, *, scale, impossible=0.0):
    """A log potential for each distinct clique, with some cells impossible."""
    potentials = {}
    for clique in dict.fromkeys(cliques):
        shape = domain.project(clique).shape
        table = scale * rng.normal(size=shape)
        potentials[clique] = np.where(rng.random(shape) < impossible, -np.inf, table)
    return potentials


@st.composite
def possible_potentials(draw):
    """A small domain, and log potentials of some cliques that leave some row possible."""
    domain = draw(domains())
    cliques = draw(clique_sets(domain))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([0.0, 1.0, 5.0]))
    impossible = draw(st.sampled_from([0.0, 0.15]))
    potentials = random_potentials(rng, domain, cliques, scale=scale, impossible=impossible)
    assume(np.isfinite(joint_logarithm(domain, potentials)).any())
    return domain, potentials


def field(domain, log_potentials, *, total=1.0):
    """The Markov random field of some potentials."""
    tree = JunctionTree.covering(domain, list(log_potentials))
    return MarkovRandomField(tree=tree, log_potentials=log_potentials, total=total, status=STATUS)


def noisy(rng, joint, domain, cliques, stddevs):
    """A measurement of each clique of a table of counts."""
    measurements = []
    for clique, stddev in zip(cliques, stddevs, strict=True):
        exact = marginal_of(joint, domain, clique)
        measurements.append(
            LinearMeasurement(clique, exact + stddev * rng.normal(size=exact.shape), stddev)
        )
    return measurements


def whitened(domain, measurements):
    """Matrix and vector of the loss ``|A counts - b|^2 / 2`` over the cells of the joint table."""
    cells = np.indices(domain.shape).reshape(len(domain), -1)
    rows, targets = [], []
    for measurement in measurements:
        clique, stddev = measurement.clique, np.sqrt(measurement.variance).ravel()
        shape = domain.project(clique).shape
        index = np.zeros(cells.shape[1], dtype=int)
        for name, size in zip(clique, shape, strict=True):
            index = index * size + cells[domain.index(name)]
        matrix = np.arange(stddev.size)[:, None] == index
        rows.append(matrix / stddev[:, None])
        targets.append(measurement.values.ravel() / stddev)
    return np.vstack(rows), np.concatenate(targets)


def least_loss(matrix, target, total):
    """The least loss over the simplex, by non-negative least squares with the sum as a heavy extra
    row.
    """
    heavy = 1e5 * np.abs(matrix).max()
    shares, _ = nnls(
        np.vstack([matrix * total, np.full(matrix.shape[1], heavy * total)]),
        np.append(target, heavy * total),
    )
    shares /= shares.sum()
    return 0.5 * float(np.sum((matrix @ shares * total - target) ** 2))


def loss_and_gap(matrix, target, counts):
    """The loss of a table of counts, and its Frank-Wolfe gap: no table of the same total is better
    by more.
    """
    residual = matrix @ counts - target
    gradient = matrix.T @ residual
    return 0.5 * float(residual @ residual), float(
        gradient @ counts - counts.sum() * gradient.min()
    )


def least_excess_loss(matrix, target, total):
    """The least loss over the simplex, exactly: least distance programming [Lawson & Hanson 1974]."""
    corners = matrix * total - target[:, None]
    scale, best = 1.0, np.inf
    for _ in range(3):  # the second and third time scaled to the size of the loss
        weights, _ = nnls(
            np.vstack([corners * scale, np.ones(corners.shape[1])]), np.append(0.0 * target, 1.0)
        )
        if weights.sum() > 0:
            best = min(best, 0.5 * float(np.sum((corners @ weights / weights.sum()) ** 2)))
        scale = 1.0 / np.sqrt(2 * best + 1e-12)
    return best
