"""Fields of CSV against the standard library's reader, one by one."""

import csv
import io

import numpy as np
import pytest
from helpers.homes import home
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.data import checked_block, frame_of

fields_module = home(frame_of)

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
    checked = checked_block(block, n_fields)
    return frame_of(checked.text, checked.ends, [str(i) for i in range(n_fields)], b'"')


@settings(deadline=None)
@given(
    st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=30),
    st.sampled_from([1, 7]),
    st.sampled_from([1, 4, 16]),
)
def test_fields_are_those_of_the_standard_library(rows, copies, bucket_bits):
    rows = [row for row in rows for _ in range(copies)]
    rows = [tuple(text.encode(errors="ignore").decode() for text in row) for row in rows]
    block = written(rows, always=(False, False)) + written(rows, always=(True, False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            fields_module, "_BUCKET_BITS", bucket_bits
        )  # few buckets: many rows seem alike and are not
        frame = read(block, 2)
    expected = list(csv.reader(io.StringIO(block.decode(), newline="")))
    assert frame.astype(object).to_numpy().tolist() == [row for row in expected if row]


def test_many_fields_that_share_their_first_bytes():
    rng = np.random.default_rng(0)
    texts = [f"{'same' * 4}{number}" for number in rng.integers(0, 900, 5000)]
    column = read("".join(f"{text},1\n" for text in texts).encode(), 2)["0"]
    assert column.astype(object).tolist() == texts
    assert len(column.cat.categories) == len(set(texts))
