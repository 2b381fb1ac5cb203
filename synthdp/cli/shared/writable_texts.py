"""Whether a file can hold what a schema declares."""

from io import BytesIO
from typing import Any

import pandas as pd

from synthdp.core.errors import DataFileError, ParameterError
from synthdp.data.files.formats import file_kind, is_text
from synthdp.data.tables import write_rows
from synthdp.schema.open_schema import OpenSchema


def check_texts(schema: OpenSchema, output: str) -> None:
    """Refuse a dialect that cannot write what a schema declares, before anything is paid for."""
    if not is_text(output):
        return
    texts: list[Any] = list(schema.missing_values)
    for field in schema.to_dict()["fields"]:
        own = field.get("synthdp") or {}
        texts += [field["name"], own.get("other"), *(own.get("merged") or {}).get("levels", ())]
        texts += field.get("constraints", {}).get("enum", ())
        texts += [
            text
            for key in ("trueValues", "falseValues", "missingValues")
            for text in field.get(key, ())
        ]
    frame = pd.DataFrame(
        {name: [text for text in texts if isinstance(text, str)] for name in "ab"}, dtype=object
    )
    try:
        write_rows(frame, BytesIO(), file_kind(output), schema.dialect)
    except DataFileError as error:
        raise ParameterError(str(error)) from None
