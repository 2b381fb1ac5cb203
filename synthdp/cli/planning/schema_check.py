"""Checking a schema before any data is opened: what will not work well, and how much noise to
expect.

Everything here follows from the schema and from numbers that the user gives; all of it is public.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from synthdp.cli.planning.expected_accuracy import expected_accuracy, expected_domain
from synthdp.cli.planning.expected_noise import (
    ABOUT_LEARNING,
    ABOUT_MODEL,
    ABOUT_UNIT,
    expected_ledger,
    expected_noise,
    expected_questions,
    model_budget,
    noise_text,
    quality_budget,
    questions_text,
)
from synthdp.cli.planning.readings import reading_facts, readings_text
from synthdp.cli.planning.schema_findings import (
    finding_facts,
    finding_lines,
    question_findings,
    schema_findings,
    warnings_first,
)
from synthdp.cli.planning.screen import worst_findings, worst_noise
from synthdp.core.errors import ParameterError
from synthdp.inference.graphical.possible_rows import check_possible
from synthdp.learning.questions import LearningQuestion
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import Adjacency, PrivacyUnit
from synthdp.release.settings import DOMAIN_SHARE, checked_share
from synthdp.report.texts.listing import wrapped
from synthdp.schema.open_parts import PARTS
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import load_public

ABOUT_READING = "how columns are read, and written"
"""Begins the last part of the text, which comes after a screen of all else."""


def describe_check(
    path: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rows: int | None = None,
    unit: str | None = None,
    max_rows_per_unit: int = 1,
    domain_share: float = DOMAIN_SHARE,
    is_whole: bool = False,
) -> tuple[dict[str, Any], str]:
    """What is to be said about a schema file, as plain JSON values and as text for people.

    Parameters
    ----------
    path
        The schema file; nothing else is opened.
    epsilon, delta
        The budget to expect the noise of; both or none.
    rows
        A public guess of the number of records, at least 1.
    unit, max_rows_per_unit
        Column that tells persons apart, and most rows of one; if the file lists the column, it is
        left out, for nothing is learnt or measured of it.
    domain_share
        Share of the budget, and of delta, for what the schema leaves open.
    is_whole
        Whether the text says everything, or about a screen of it: the worst.

    Raises
    ------
    DataFileError, SchemaError
        If the file cannot be read, or the schema contradicts itself.
    ParameterError
        If its rules forbid everything, or a number is missing or out of range.
    PrivacyError
        If the budget is so small that noise would drown any count.
    """
    # Either alone says nothing: noise follows from both.
    if (epsilon is None) != (delta is None):
        raise ParameterError(
            f"epsilon is {epsilon} but delta is {delta}; give both, or none to expect no noise"
        )
    if rows is not None and epsilon is None:
        raise ParameterError(
            f"rows is {rows} but the noise depends on the budget; give epsilon and delta as well"
        )
    share = checked_share(domain_share)
    protected = PrivacyUnit(adjacency=Adjacency.ADD_REMOVE, max_rows=max_rows_per_unit, column=unit)
    schema, kind = load_public(path)
    # The column that tells persons apart is no attribute of the model: it has no noise, and takes
    # no budget.
    schema = schema.without(unit) if unit is not None and unit in schema.names else schema
    # Rules that forbid everything are found here, before a budget would be spent on them.
    check_possible(schema.outline.domain, schema.outline.constraints)
    findings = schema_findings(schema, domain_share=share)
    content = _contents(schema)
    texts = list[str]()
    brief = list[str]()
    if epsilon is not None and delta is not None:
        ledger = expected_ledger(
            schema,
            epsilon=epsilon,
            delta=delta,
            unit=unit,
            max_rows_per_unit=protected.max_rows,
            domain_share=share,
        )
        asked = expected_questions(schema, ledger, domain_share=share)
        findings = warnings_first([*findings, *question_findings(asked, rows)])
        content["noise"], texts, brief = _expectation(schema, ledger, asked, rows, share)
        if unit is None:
            texts += [ABOUT_UNIT]
    content["findings"] = [finding_facts(finding) for finding in findings]
    read = f"{ABOUT_READING}:\n{readings_text(schema, is_whole=is_whole)}"
    lines = finding_lines(findings) or ["nothing to warn of"]
    n_open = len(schema.open_columns)
    left = f", {n_open} of them with something to learn" if n_open else ""
    whose = "" if unit is None else f", and {unit!r}, which tells persons apart"
    n_generated = len(schema.generated.columns)
    made_up = f", {n_generated} of them generated" if n_generated else ""
    title = f"{kind} of {len(schema.columns) + n_generated} columns{left}{made_up}{whose}; no data was opened"
    if is_whole:
        return content, "\n\n".join([title, "\n".join(lines), *texts, read])
    return content, "\n\n".join(
        [wrapped(title), worst_findings(lines, n_tables=len(brief)), *brief, read]
    )


def _contents(schema: OpenSchema) -> dict[str, Any]:
    """What the schema says, without a budget."""
    learnt = [
        {
            "name": column.name,
            "derived": [part for part in PARTS if part in column.open_parts],
            "n_levels_at_most": column.most_levels,
        }
        for column in schema.open_columns
    ]
    return {"findings": [], "reading": reading_facts(schema), "learnt": learnt, "noise": None}


def _expectation(
    schema: OpenSchema,
    ledger: PrivacyLedger,
    asked: Sequence[LearningQuestion],
    rows: int | None,
    domain_share: float,
) -> tuple[dict[str, Any], list[str], list[str]]:
    """The noise of a budget, as plain JSON values, in parts of a text, and in parts of a short one."""
    rho = model_budget(schema, ledger, domain_share=domain_share)
    rho_quality = quality_budget(schema, ledger, domain_share=domain_share)
    most = ledger.unit.max_rows
    # As `synthdp plan` has it, so that both promise the same.
    domain = expected_domain(schema)
    accuracy = (
        None if rows is None else expected_accuracy(domain, rho=rho, rows=rows, unit=ledger.unit)
    )
    columns = expected_noise(
        domain,
        rho=rho,
        max_rows_per_unit=most,
        only_columns=accuracy is not None and accuracy.only_columns,
    )
    content: dict[str, Any] = {
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "rows": rows,
        "accounting": ledger.accounting.value,
        "adjacency": ledger.unit.adjacency.value,
        "unit": ledger.unit.column,
        "max_rows_per_unit": most,
        "rho": float(ledger.budget),
        "rho_model": float(rho),
        "rho_quality": float(rho_quality),
        "columns": [{"name": name} | asdict(noise) for name, noise in columns.items()],
        "misplaced": None if accuracy is None else asdict(accuracy),
        "about": ABOUT_MODEL,
    }
    title = _noise_title(ledger, rows)
    open_names = {column.name for column in schema.open_columns}
    brief = worst_noise(schema, asked, columns, accuracy, rows=rows)
    brief[0] = f"{wrapped(title)}\n{brief[0]}"
    if not schema.is_open:
        return content, [title, noise_text(columns, accuracy, guessed=())], brief
    content["learning"] = {
        "share_of_budget": domain_share,
        "failure_delta": float(ledger.failure_delta),
        "questions": [_question_facts(question, rows) for question in asked],
        "about": ABOUT_LEARNING,
    }
    rest, checking = (float(each / ledger.budget) for each in (rho, rho_quality))
    most_of_it = f"(at most {100 * domain_share:g} %, see --domain-share)"
    learning = [
        f"of learning what is open, with {100 * (1 - rest - checking):.4g} % of the budget {most_of_it}:"
    ]
    learning += [
        questions_text(schema, asked, rows=rows),
        f"of the model, with {100 * rest:.4g} %; {100 * checking:.2g} % measure how good its rows are:",
    ]
    return content, [title, *learning, noise_text(columns, accuracy, guessed=open_names)], brief


def _noise_title(ledger: PrivacyLedger, rows: int | None) -> str:
    """What the noise is expected for."""
    guess = (
        "; give --rows for shares of the rows" if rows is None else f" and a guess of {rows:,} rows"
    )
    most = "1 row" if ledger.unit.max_rows == 1 else f"{ledger.unit.max_rows:,} rows"
    whose = f", persons with at most {most}" if ledger.unit.column is not None else ""
    return f"noise to expect at epsilon {ledger.epsilon:g}, delta {ledger.delta:g}{whose}{guess}:"


def _question_facts(question: LearningQuestion, rows: int | None) -> dict[str, Any]:
    """One question as plain JSON values."""
    least = question.least_records
    return {
        "column": question.column,
        "about": question.about,
        "noise": "discrete Laplace" if question.is_tree else "Gaussian",
        "sigma_records": question.sigma,
        "least_records": least,
        "least_share": None if least is None or rows is None else min(least / rows, 1.0),
        "rho": float(question.rho),
        "delta": float(question.delta),
    }
