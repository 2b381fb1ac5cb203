"""Fields of CSV against the standard library's reader, one by one."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.data import checked_block, frame_of

PIECES = st.sampled_from(
    [
        "",
        "a",
        "ab",
        "a" * 8,
        "a" * 9,
        "a" * 16,
        "b" * 70,
        "é",
        "日本",
        '"',
        ",",
        "\n",
        " ",
        "\ufeff",
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=3).map("".join),
    st.text(st.characters(exclude_characters="\0\r\ud800")),
)


def written(rows, *, always):
    """Rows as RFC 4180 says, with quotes around some fields that need none."""
    lines = []
    for row in rows:
        quoted = [
            '"' + text.replace('"', '""') + '"'
            if must or set(text) & set('",\n') or not "".join(row).strip()
            else text
            for text, must in zip(row, always, strict=True)
        ]
        lines.append(",".join(quoted) + "\n")
    return "".join(lines).encode()


def read(block, n_fields):
    return frame_of(checked_block(block, n_fields), [str(i) for i in range(n_fields)])


@settings(deadline=None)
@given(
    st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=30),
    st.sampled_from([1, 7]),
)
def test_fields_are_those_of_the_standard_library(rows, copies):
    rows = [row for row in rows for _ in range(copies)]
    rows = [tuple(text.encode(errors="ignore").decode() for text in row) for row in rows]
    block = written(rows, always=(False, False)) + written(rows, always=(True, False))
    frame = read(block, 2)
    expected = list(csv.reader(io.StringIO(block.decode(), newline="")))
    assert frame.astype(object).to_numpy().tolist() == [row for row in expected if row]


@pytest.mark.parametrize(
    "text", ["", "NA", "nan", "007", "1e5", "True", " a ", "\ufeff", "#", "\\"]
)
@pytest.mark.parametrize("n_fields", [1, 2])
def test_a_text_is_read_as_it_is_wherever_it_stands(text, n_fields):
    record = ",".join([f'"{text}"'] * n_fields) + "\n"
    frame = read((record * 3).encode(), n_fields)
    assert frame.to_numpy().tolist() == [[text] * n_fields] * 3
    assert set(frame.dtypes) == {np.dtype(object)}


def test_a_block_without_records_has_columns():
    assert read(b"\n\n", 2).shape == (0, 2)
