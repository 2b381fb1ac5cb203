"""Checking a schema before any data is opened: what will not work well, and how much noise to expect.

Everything here follows from the schema and from numbers that the user gives; all of it is public.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from synthdp.derivation.questions import Question
from synthdp.errors import ParameterError
from synthdp.expected_noise import (
    ABOUT_LEARNING,
    ABOUT_MODEL,
    expected_ledger,
    expected_noise,
    expected_questions,
    model_budget,
    noise_text,
    questions_text,
)
from synthdp.inference.graphical_model import check_possible
from synthdp.listing import shortened
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release import DOMAIN_SHARE
from synthdp.schema_files import load_public
from synthdp.schema_findings import finding_lines, question_findings, schema_findings, warnings_first
from synthdp.table.open_fields import PARTS
from synthdp.table.open_schema import OpenSchema


def describe_check(
    path: str, *, epsilon: float | None = None, delta: float | None = None, rows: int | None = None
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

    Raises
    ------
    DataFileError, SchemaError
        If the file cannot be read, or the schema contradicts itself.
    ParameterError
        If its rules forbid everything, or a number is missing or out of range.
    PrivacyError
        If the budget is so small that noise would drown any count.
    """
    if (epsilon is None) != (delta is None):
        raise ParameterError(f"epsilon is {epsilon} but delta is {delta}; give both, or none to expect no noise")
    if rows is not None and epsilon is None:
        raise ParameterError(f"rows is {rows} but the noise depends on the budget; give epsilon and delta as well")
    schema, kind = load_public(path)
    check_possible(schema.largest_domain, schema.constraints)
    findings, content = schema_findings(schema), _contents(schema)
    texts: list[str] = []
    if epsilon is not None and delta is not None:
        ledger = expected_ledger(schema, epsilon=epsilon, delta=delta)
        asked = expected_questions(schema, ledger)
        findings = warnings_first([*findings, *question_findings(asked, rows)])
        noise, texts = _expectation(schema, ledger, asked, rows)
        content |= {"noise": noise}
    content["findings"] = [asdict(finding) for finding in findings]
    listed = shortened(finding_lines(findings)) or "nothing to warn of"
    n_open = len(schema.open_columns)
    left = f", {n_open} of them with something to learn" if n_open else ""
    title = f"{kind} of {len(schema.columns)} columns{left}; no data was opened"
    return content, "\n\n".join([title, listed, *texts])


def _contents(schema: OpenSchema) -> dict[str, Any]:
    """What the schema says, without a budget."""
    learnt = [
        {
            "name": column.name,
            "derived": [part for part in PARTS if part in column.parts],
            "n_levels_at_most": column.most_levels,
        }
        for column in schema.open_columns
    ]
    return {"findings": [], "learnt": learnt, "noise": None}


def _expectation(
    schema: OpenSchema, ledger: PrivacyLedger, asked: Sequence[Question], rows: int | None
) -> tuple[dict[str, Any], list[str]]:
    """The noise of a budget, as plain JSON values and in parts of a text."""
    rho = model_budget(schema, ledger)
    columns, pair = expected_noise(schema.largest_domain, rho=rho, rows=rows)
    content: dict[str, Any] = {
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "rows": rows,
        "accounting": ledger.accounting.value,
        "adjacency": ledger.unit.adjacency.value,
        "rho": float(ledger.budget),
        "rho_model": float(rho),
        "columns": [{"name": name} | asdict(noise) for name, noise in columns.items()],
        "typical_pair": None if pair is None else asdict(pair),
        "about": ABOUT_MODEL,
    }
    guess = "; give --rows for shares of the rows" if rows is None else f" and a guess of {rows:,} rows"
    title = f"noise to expect at epsilon {ledger.epsilon:g}, delta {ledger.delta:g}{guess}:"
    if not schema.is_open:
        return content, [title, noise_text(columns, pair, largest=())]
    content["learning"] = {
        "share_of_budget": DOMAIN_SHARE,
        "failure_delta": float(ledger.failure_delta),
        "questions": [_question_facts(question, rows) for question in asked],
        "about": ABOUT_LEARNING,
    }
    shares = [f"{100 * share:g} %" for share in (DOMAIN_SHARE, 1 - DOMAIN_SHARE)]
    learning = [f"of learning what is open, by default with {shares[0]} of the budget:"]
    learning += [questions_text(schema, asked, rows=rows), f"of the model, with the other {shares[1]}:"]
    return content, [
        title,
        *learning,
        noise_text(columns, pair, largest={column.name for column in schema.open_columns}),
    ]


def _question_facts(question: Question, rows: int | None) -> dict[str, Any]:
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
