"""Results that are kept between calls of a benchmark, and how they are printed."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "results"
"""Where results are kept unless somebody says otherwise; not part of the project."""

Row = dict[str, str]
Rows = dict[tuple[str, ...], Row]


def read_rows(file: Path, key: Sequence[str]) -> Rows:
    """Rows of a CSV file by their key; none if it is not there."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {tuple(row[name] for name in key): row for row in csv.DictReader(lines)}


def write_rows(file: Path, rows: Iterable[Row], columns: Sequence[str]) -> None:
    """Write rows to a CSV file."""
    file.parent.mkdir(exist_ok=True)
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(rows)


def means(rows: Iterable[Sequence[float]]) -> list[str]:
    """For each column of some numbers its mean and, in brackets, standard deviation."""
    table = np.array(list(rows))
    return [
        f"{mean:.4g} ({spread:.2g})"
        for mean, spread in zip(table.mean(axis=0), table.std(axis=0), strict=True)
    ]
