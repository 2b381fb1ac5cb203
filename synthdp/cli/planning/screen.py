"""The check of a schema on one screen: the worst of everything, and how much more there is."""

from collections.abc import Mapping, Sequence

from synthdp.cli.planning.expected_accuracy import Accuracy
from synthdp.cli.planning.expected_noise import (
    NOISE_HEADER,
    ExpectedNoise,
    accuracy_lines,
    noise_rows,
    questions_table,
)
from synthdp.learning.questions import LearningQuestion
from synthdp.report.texts.listing import shortened_table, wrapped
from synthdp.schema.open_schema import OpenSchema

LINES = 24
"""Of a screen, as most terminals have it or more; longer lines are wrapped here, so that they can
be counted.
"""

REST = "--all shows them"
_FINDING_LINES = (20, 7, 4)
"""For findings, with so many tables of noise below them as the place says; of a finding all lines
are shown or none.
"""
_COLUMNS, _FEWER = 6, 3
"""Lines of a table, and of each where there is one for learning and one for the model."""
_ABOUT = "the worst first; --all shows all, and says what it means"


def worst_findings(lines: Sequence[str], *, n_tables: int) -> str:
    """As many findings as there is room for, at least one; they come sorted."""
    shown = list[str]()
    room = _FINDING_LINES[n_tables]
    for line in lines:
        block = wrapped(line)
        room -= block.count("\n") + 1
        if shown and room < 0:
            break
        shown.append(block)
    left = len(lines) - len(shown)
    return "\n".join([*shown, *([f"... and {left} more; {REST}"] if left else [])])


def worst_noise(
    schema: OpenSchema,
    asked: Sequence[LearningQuestion],
    columns: Mapping[str, ExpectedNoise],
    accuracy: Accuracy | None,
    *,
    rows: int | None,
) -> list[str]:
    """The questions that need most records, the columns of most noise, and what the plan
    expects of all.
    """
    most = _FEWER if asked else _COLUMNS
    parts = list[str]()
    if asked:
        needy = sorted(asked, key=lambda question: -(question.least_records or 0.0))
        header, lines = questions_table(schema, needy, rows=rows)
        parts.append(shortened_table(header, lines, most=most, rest=REST))
    open_names = {column.name for column in schema.open_columns}
    # By their noise, not by the plan, which covers a part of wide tables only.
    worst = sorted(columns, key=lambda name: -columns[name].sigma_records * columns[name].n_cells)
    cells = noise_rows({name: columns[name] for name in worst}, accuracy, guessed=open_names)
    model = shortened_table(NOISE_HEADER, cells, most=most, rest=REST)
    return [*parts, "\n".join([model, *accuracy_lines(accuracy), _ABOUT])]
