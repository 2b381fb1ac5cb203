"""What codes stand for, in the words of a schema."""

from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema


def decimal_mark(schema: Schema) -> str:
    """The mark of all columns of numbers, which know what a dialect said; a point if they differ or
    there are none.
    """
    marks = {mark for column in schema.columns if (mark := column.decimal_char) is not None}
    return marks.pop() if len(marks) == 1 else "."


def level_texts(column: Column, *, text: bool) -> list[str | None]:
    """What each code of a column stands for, as the schema writes values; bins by their first and
    last value.

    "Missing" is the text for it in files of texts, and nothing in others.
    """
    levels = column.code_texts
    return levels if text or column.required else [*levels[:-1], None]
