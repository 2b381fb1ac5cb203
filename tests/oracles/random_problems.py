"""Small random problems of engines, and the least loss that any distribution over the possible rows
has.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from synthdp.core import (
    Constraint,
    Domain,
    LinearMeasurement,
    combined_measurements,
    estimate_total,
)


class RandomProblem(NamedTuple):
    """What is measured and ruled out, and which cells of the domain are possible."""

    domain: Domain
    measurements: list[LinearMeasurement]
    constraints: list[Constraint]
    possible: np.ndarray


def random_problem(seed):
    """Noisy counts of some cliques, and constraints on others, of scales from a tenth of a record
    to a thousand.
    """
    rng = np.random.default_rng(seed)
    names = tuple("abcd"[: rng.integers(2, 5)])
    domain = Domain(
        names,
        tuple(int(size) for size in rng.integers(1 if rng.random() < 0.3 else 2, 5, len(names))),
    )
    certain = rng.integers(domain.shape)  # allowed by all constraints
    constraints = [_constraint(rng, domain, certain) for _ in range(rng.integers(0, 4))]
    cells = np.indices(domain.shape).reshape(len(domain), -1)
    possible = np.ones(domain.size(), dtype=bool)
    for rule in constraints:
        possible &= rule.allowed[tuple(cells[domain.index(name)] for name in rule.clique)]
    counts = 10 ** rng.uniform(0, 5) * rng.dirichlet(
        np.full(domain.size(), rng.choice([0.03, 0.3, 3.0]))
    )
    counts = counts * possible if rng.random() < 0.5 else counts
    measurements = []
    for _ in range(rng.integers(1, 6)):
        clique = tuple(map(str, rng.permutation(names)[: rng.integers(0, 3)]))
        measurements.append(_measured(rng, domain, counts, clique, 10 ** rng.uniform(-1, 3)))
    return RandomProblem(domain, measurements, constraints, possible)


def _constraint(rng, domain, certain):
    clique = tuple(map(str, rng.permutation(domain.attributes)[: rng.integers(1, 4)]))
    allowed = rng.random(domain.project(clique).shape) < rng.choice([0.3, 0.7])
    allowed[tuple(certain[domain.index(name)] for name in clique)] = True
    return Constraint(clique, allowed)


def _measured(rng, domain, counts, clique, stddev):
    kept = [name for name in domain.attributes if name in clique]
    dropped = tuple(axis for axis, name in enumerate(domain.attributes) if name not in clique)
    exact = np.transpose(
        counts.reshape(domain.shape).sum(axis=dropped), [kept.index(name) for name in clique]
    )
    return LinearMeasurement(clique, exact + stddev * rng.normal(size=exact.shape), float(stddev))


def loss_of(problem, model):
    """What a model's own marginals cost, half the squared distance in units of noise."""
    merged = combined_measurements(problem.domain, problem.measurements)
    answers = [model.marginal(measurement.clique).values for measurement in merged]
    return 0.5 * sum(
        float(np.sum(np.square(values - m.values) / m.variance))
        for values, m in zip(answers, merged, strict=True)
    )


def corners_of(domain, measurements, possible):
    """What measurements leave of all records in one possible cell, in units of noise: a column a
    cell. The least loss of a distribution is that of the point of their hull that is nearest to 0.
    """
    cells = np.indices(domain.shape).reshape(len(domain), -1)[:, possible]
    total = estimate_total(measurements)
    parts = []
    for measurement in combined_measurements(domain, measurements):
        shape = measurement.values.shape
        columns = [cells[domain.index(name)] for name in measurement.clique]
        index = (
            np.ravel_multi_index(columns, shape) if columns else np.zeros(cells.shape[1], dtype=int)
        )
        table = total * (
            np.arange(measurement.values.size)[:, None] == index
        ) - measurement.values.reshape(-1, 1)
        parts.append(table / np.sqrt(measurement.variance).reshape(-1, 1))
    return np.vstack(parts)


def least_loss(corners):
    """The loss of the point of a hull that is nearest to 0, and a lower bound of it [Lawson & Hanson
    1974, ch. 23]; found once more at the size of what is left.
    """
    scale, best, bound = 1.0, np.inf, 0.0
    for _ in range(3):
        weights, _ = nnls(
            np.vstack([corners * scale, np.ones(corners.shape[1])]), np.eye(len(corners) + 1)[-1]
        )
        if weights.sum() > 0:
            point = corners @ weights / weights.sum()
            best = min(best, 0.5 * float(point @ point))
            if point.any():
                bound = max(
                    bound,
                    0.5 * max(0.0, float((point @ corners).min())) ** 2 / float(point @ point),
                )
        scale = 1.0 / np.sqrt(2 * best + 1e-12)
    return best, bound


def least_loss_of(problem):
    """The least loss of a distribution over the possible rows [Lawson & Hanson 1974, ch. 23]; it
    can be reached.
    """
    best, _ = least_loss(corners_of(problem.domain, problem.measurements, problem.possible))
    return best
