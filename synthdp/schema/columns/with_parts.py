"""The columns of a table, and those that follow from them."""

from collections.abc import Iterable

from synthdp.schema.columns.column import Column
from synthdp.schema.words.texts import refuse


def with_parts(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns of a table with the parts of each after it; parts that are there already are
    made anew.

    Raises `SchemaError` if a part would have the name of another column.
    """
    sources = [column for column in columns if column.source == column.name]
    names = {column.name for column in sources}
    expanded: list[Column] = []
    for column in sources:
        for part in column.part_columns:
            if part.name in names:
                refuse(
                    column.name,
                    f"its part is called {part.name!r}, as another column is; rename that one",
                )
        expanded += [column, *column.part_columns]
    return tuple(expanded)
