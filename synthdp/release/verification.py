"""Questions about synthetic rows, held against the real table: paid, noisy answers with stated
errors.

A verification is a release of its own: the few marginals that the questions need are measured with
Gaussian noise, by a budget of its own, under a ledger, a certificate, and if wanted a journal and a
population's budget. All that is said of them is post-processing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.core.reporting import Report, silent
from synthdp.inference.arrays import cell_counts
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import PrivateTable
from synthdp.release.asked import Asked
from synthdp.release.drawing.draw import drawn_codes, seeds_of
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.run_settings import RunSettings, Spelling
from synthdp.release.synthesis import Synthesis
from synthdp.release.table_run import release_table
from synthdp.release.verified import COEFFICIENT, Verification
from synthdp.schema.columns.column import Column
from synthdp.schema.declared import Declared
from synthdp.schema.schema import Schema

SURE = 0.95
"""An answer lies within what is stated with this probability, over the noise."""

REPLICATES = 1_000
"""Draws of the noise by which errors are worked out: the 95 % quantile is then right to a few per
cent.
"""

MAX_CELLS = 2**16
"""Larger marginals are no questions: their cells would drown in noise, and nobody could read them.
"""

MAX_COLUMNS = 12
"""Most columns of a regression, which measures all their pairs."""

CLEAR = 4.0
"""A number of records that is divided by must be so many standard deviations of its noise."""

ENGINE = "graphical-model"
"""A release has a model; this one is of the first question alone, and nobody draws from it."""

Tables: TypeAlias = Mapping[Clique, FloatArray]
"""Counts by marginal."""


@final
@dataclass(frozen=True, kw_only=True)
class Questions(Mechanism):
    """Measures the marginals that questions need, each with an equal share of the budget."""

    name: ClassVar[str] = "questions"
    reference: ClassVar[str] = "the marginals that questions need, in equal shares"
    is_gaussian: ClassVar[bool] = True
    default_engine: ClassVar[str] = ENGINE

    cliques: tuple[Clique, ...]
    """The marginals."""

    def share_of_columns(self, domain: Domain) -> float:  # noqa: ARG002
        """None: the table was released before, so that nobody looks whether it can be read."""
        return 0.0

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the first marginal."""
        share = table.ledger.remaining / len(self.cliques)
        for clique in self.cliques:
            table.measure(clique, rho=share)
        return task.engine.estimate(table.domain, table.released[:1], constraints=task.constraints)


@final
@dataclass(frozen=True, kw_only=True)
class ParsedQuestion:
    """An analyst's question: numbers that follow from some marginals."""

    text: str
    """As it was written."""
    cliques: tuple[Clique, ...]
    """The marginals that it is worked out of."""
    of: Callable[[Tables], FloatArray]
    """Numbers that it has, from counts; not finite where there are none."""
    labels: tuple[str, ...]
    """What each of them is called."""


def verify(
    synthesis: Synthesis,
    data: Any,
    asked: Asked,
    *,
    persistence: Persistence,
    report: Report = silent,
    spelling: Spelling = Spelling.PYTHON,
) -> Verification:
    """Hold what synthetic rows say against the real table; see `Synthesis.verify`."""
    schema = synthesis.schema
    texts = [asked.questions] if isinstance(asked.questions, str) else list(asked.questions)
    if not texts:
        raise ParameterError("questions: there is none; ask 'mean age'")
    questions = [parse_question(text, schema) for text in texts]
    # Questions share marginals, and each is paid for once.
    cliques = tuple(dict.fromkeys(chain.from_iterable(each.cliques for each in questions)))
    protected = str(synthesis.certificate.get("unit_of_privacy"))
    if asked.unit is None and protected.startswith("one person"):
        raise ParameterError(
            f"{spelling.of('unit')}: the release protects persons; name the column that tells them apart, "
            f"and {spelling.of('max_rows_per_unit')}"
        )
    settings = RunSettings(
        epsilon=asked.epsilon,
        delta=asked.delta,
        mechanism=Questions(cliques=cliques),
        workload="1-way",
        adjacency=synthesis.certificate.get("adjacency", "add-remove"),
        # All noise is Gaussian: the same guarantee has less of it.
        accounting="gdp",
        unit=asked.unit,
        max_rows_per_unit=asked.max_rows_per_unit,
        # All of the budget is for the questions.
        quality_share=0,
        anyway=True,
        spelling=spelling,
    )
    # Before anything is paid: what could fail has failed by then.
    codes = drawn_codes(synthesis.model, None, {}, seeds_of(asked.seed)[0], synthesis.unused)
    drawn = {clique: cell_counts(schema.domain, clique, codes) for clique in cliques}
    declared = Declared(schema=schema)
    finished = release_table(data, declared, settings, persistence, report=report, rescue=None)
    measured = {each.clique: each for each in finished.release.measurements}
    answers = []
    for question in questions:
        numbers = answered(question, measured, drawn)
        answers.append({"question": question.text, "numbers": numbers})
    return Verification(
        answers=tuple(answers),
        certificate=finished.release.certificate,
        cautions=finished.cautions,
    )


def answered(
    question: ParsedQuestion, measured: Mapping[Clique, LinearMeasurement], drawn: Tables
) -> list[dict[str, Any]]:
    """What noisy counts say of a question, with errors by drawing their noise anew; and what drawn
    rows say.
    """
    measurements = [measured[clique] for clique in question.cliques]
    noisy = {each.clique: each.values for each in measurements}
    with np.errstate(divide="ignore", invalid="ignore"):  # no rows, or noise that sums to none
        real = question.of(noisy)
        synthetic = question.of(drawn)
    # Counts that are noise alone have quotients of no known distribution: nothing is said of them.
    within = np.full(len(question.labels), np.inf)
    if all(map(_stands_out, measurements)):
        within = _limits(question, measurements, real)
    numbers = []
    for name, of_rows, of_records, limit in zip(
        question.labels, synthetic.tolist(), real.tolist(), within.tolist(), strict=True
    ):
        number: dict[str, Any] = {
            "name": name,
            "synthetic": _finite(of_rows),
            "real": None,
            "within": None,
        }
        if np.isfinite(limit) and np.isfinite(of_records):
            number |= {"real": of_records, "within": limit}
            if name.startswith(COEFFICIENT):
                number["sign"] = sign_of(of_records, limit)
        numbers.append(number)
    return numbers


def _stands_out(measurement: LinearMeasurement) -> bool:
    """Whether the number of records, by one marginal, is far beyond its noise."""
    variances = np.broadcast_to(measurement.stddev, measurement.values.shape) ** 2
    return bool(measurement.values.sum() > CLEAR * np.sqrt(np.sum(variances)))


def _limits(
    question: ParsedQuestion, measurements: Sequence[LinearMeasurement], real: FloatArray
) -> FloatArray:
    """By how much noise moves each number of an answer, with a probability of `SURE`: it is drawn
    anew many times, on top of the noisy counts.
    """
    # Noise of its own: how often it is drawn tells nothing of that in the answers.
    rng = np.random.default_rng(0)
    # Each replicate draws noise for all cells: large marginals have fewer, and limits are then less
    # exact.
    n_cells = sum(each.values.size for each in measurements)
    n_replicates = max(min(REPLICATES, 2**25 // n_cells), 200)
    errors = []
    for _ in range(n_replicates):
        noisier = {}
        for each in measurements:
            noise = rng.normal(0.0, each.stddev, each.values.shape)
            noisier[each.clique] = each.values + noise
        errors.append(question.of(noisier) - real)
    limits: FloatArray = np.quantile(np.abs(errors), SURE, axis=0)
    return limits


def sign_of(value: float, within: float) -> str:
    """The sign of a number that is known to within something."""
    if abs(value) <= within:
        return "sign too noisy to tell"
    return "positive" if value > 0 else "negative"


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# ---- kinds of questions

_HELP = "ask 'marginal sex, income', 'mean age' or 'regression income ~ age + hours'"


def parse_question(text: str, schema: Schema) -> ParsedQuestion:
    """Read a question about some columns; raises `ParameterError` if it is none."""
    kind, _, rest = text.strip().partition(" ") if isinstance(text, str) else ("", "", "")
    if kind == "marginal" and rest:
        return _marginal(text, _columns(rest, ",", schema), schema)
    if kind == "mean" and rest:
        return _mean(text, _columns(rest, None, schema)[0], schema)
    if kind == "regression" and rest.count("~") == 1:
        outcome, terms = rest.split("~")
        names = [*_columns(outcome, None, schema), *_columns(terms, r"\+", schema)]
        return _regression(text, names, schema)
    raise ParameterError(f"question is {text!r}; {_HELP}")


def _columns(text: str, between: str | None, schema: Schema) -> list[str]:
    """Names of columns, in a text."""
    parts = [text] if between is None else re.split(between, text)
    names = [part.strip() for part in parts]
    for name in names:
        if name not in schema.names:
            raise ParameterError(f"question: there is no column {name!r}; name one of the release")
    return names


def _checked(text: str, names: Sequence[str], schema: Schema) -> Clique:
    """The columns of one marginal, each once and of few cells."""
    if len(set(names)) < len(names):
        raise ParameterError(f"question {text!r}: a column repeats; name each once")
    if (n_cells := schema.domain.size(tuple(names))) > MAX_CELLS:
        raise ParameterError(
            f"question {text!r}: {n_cells:,} cells are more than {MAX_CELLS:,}; ask of fewer columns"
        )
    return tuple(names)


def _marginal(text: str, names: Sequence[str], schema: Schema) -> ParsedQuestion:
    """The share of records in each cell."""
    clique = _checked(text, names, schema)
    levels = [[f"{name} = {label}" for label in schema[name].labels] for name in names]
    # In the order of the cells of a table that is laid out flat.
    cells = [", ".join(of_cell) for of_cell in product(*levels)]

    def shares(tables: Tables) -> FloatArray:
        counts = tables[clique].ravel()
        return np.asarray(counts / counts.sum())

    return ParsedQuestion(
        text=text,
        cliques=(clique,),
        of=shares,
        labels=tuple(f"share with {cell}" for cell in cells),
    )


def _mean(text: str, name: str, schema: Schema) -> ParsedQuestion:
    """The mean of a column's values, missing ones aside."""
    clique = _checked(text, [name], schema)
    numbers, there = _numbers(text, schema[name])

    def mean(tables: Tables) -> FloatArray:
        counts = tables[clique] * there
        return np.array([counts @ numbers / counts.sum()])

    return ParsedQuestion(text=text, cliques=(clique,), of=mean, labels=(f"mean of {name}",))


def _regression(text: str, names: Sequence[str], schema: Schema) -> ParsedQuestion:
    """Coefficients of least squares: moments of all pairs of columns are all it takes."""
    if len(names) > MAX_COLUMNS:
        raise ParameterError(f"question {text!r}: {len(names)} columns; the limit is {MAX_COLUMNS}")
    numbers: list[FloatArray] = []
    there: list[FloatArray] = []
    scales: list[float] = []
    for name in names:
        values, is_there = _numbers(text, schema[name])
        low = values[is_there > 0].min()
        high = values[is_there > 0].max()
        scale = (high - low) / 2 or 1.0
        # By public bounds, to between -1 and 1: a count's noise then weighs no more than that.
        numbers.append(np.where(is_there > 0, (values - (low + high) / 2) / scale, 0.0))
        there.append(is_there)
        scales.append(scale)
    k = len(names)
    cliques: dict[tuple[int, int], Clique] = {}
    for one, two in combinations(range(k), 2):
        cliques[one, two] = _checked(text, [names[one], names[two]], schema)

    def coefficients(tables: Tables) -> FloatArray:
        # Moments of each two columns among the records that have both: of products, and of each
        # one (row) beside each other one (column).
        products, means, squares = np.zeros((3, k, k))
        for (one, two), clique in cliques.items():
            counts = tables[clique] * np.outer(there[one], there[two])
            shares = counts / counts.sum()
            products[one, two] = products[two, one] = numbers[one] @ shares @ numbers[two]
            of_one = shares.sum(axis=1)
            of_two = shares.sum(axis=0)
            means[one, two] = of_one @ numbers[one]
            means[two, one] = of_two @ numbers[two]
            squares[one, two] = of_one @ numbers[one] ** 2
            squares[two, one] = of_two @ numbers[two] ** 2
        # Each column is in k - 1 pairs, each measured with noise of its own: the mean has least.
        mean = means.sum(axis=1) / (k - 1)
        np.fill_diagonal(products, squares.sum(axis=1) / (k - 1))
        covariance = products - np.outer(mean, mean)
        try:
            slopes = np.linalg.solve(covariance[1:, 1:], covariance[1:, 0])
        except np.linalg.LinAlgError:
            return np.full(k - 1, np.nan)
        return np.asarray(slopes * scales[0] / np.array(scales[1:]))

    return ParsedQuestion(
        text=text,
        cliques=tuple(cliques.values()),
        of=coefficients,
        labels=tuple(f"{COEFFICIENT}{name}" for name in names[1:]),
    )


def _numbers(text: str, column: Column) -> tuple[FloatArray, FloatArray]:
    """For each code its number, the middle of a bin, and whether it is one."""
    there = (np.arange(column.size) < column.n_levels).astype(np.float64)
    axis = column.axis
    if axis is not None and axis.can_be_added:
        low, high = (float(bound) for bound in axis.bounds)
        edges = np.array([low, *axis.inner_edges, high])
        middles = (edges[1:] + edges[:-1]) / 2
    else:
        levels = list(column.labels)[: column.n_levels]
        try:
            middles = np.array([float(level) for level in levels])
        except (TypeError, ValueError):
            raise ParameterError(
                f"question {text!r}: column {column.name!r} has no numbers; ask of its marginal"
            ) from None
    return np.concatenate([middles, np.zeros(column.size - column.n_levels)]), there
