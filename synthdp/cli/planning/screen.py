"""The check of a schema on one screen: the worst of everything, and how much more there is."""

from collections.abc import Mapping, Sequence

from synthdp.cli.planning.expected_noise import (
    NOISE_HEADER,
    ExpectedNoise,
    noise_cells,
    pair_text,
    questions_table,
)
from synthdp.learning.questions import Question
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
    shown, room = list[str](), _FINDING_LINES[n_tables]
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
    asked: Sequence[Question],
    columns: Mapping[str, ExpectedNoise],
    pair: ExpectedNoise | None,
    *,
    rows: int | None,
) -> list[str]:
    """The questions that need most records, the columns that noise misplaces most, and a typical
    pair.
    """
    most, parts = _FEWER if asked else _COLUMNS, list[str]()
    if asked:
        needy = sorted(asked, key=lambda question: -(question.least_records or 0.0))
        header, lines = questions_table(schema, needy, rows=rows)
        parts.append(shortened_table(header, lines, most=most, rest=REST))
    open_names = {column.name for column in schema.open_columns}
    worst = sorted(columns.items(), key=lambda item: -item[1].sigma_records * item[1].n_cells)
    cells = [(name, *noise_cells(noise, at_most=name in open_names)) for name, noise in worst]
    model = shortened_table(NOISE_HEADER, cells, most=most, rest=REST)
    typical = "" if pair is None else f"\n{pair_text(pair, at_most=schema.is_open)}"
    return [*parts, f"{model}{typical}\n{_ABOUT}"]
