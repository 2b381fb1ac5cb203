"""What a user would see of a synthetic table beside the real one, told by text and pandas and
nothing of synthdp.

A cell is the text that stands in the file (of Parquet and Excel what `str` makes of it). Each cell
has a *form*: ISO date, date with dots, moment with an offset, whole number, number with leading
zeros, decimal comma, marks between thousands, a number with a unit, text. Columns of which four
fifths of the cells are numbers or dates are compared by their values, others by their texts.
`Tolerances` says what is let pass, `Noise` what the budget explains.
"""

import contextlib
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm


@dataclass(frozen=True)
class Tolerances:
    """Shares of rows, unless said otherwise, that a column may differ by where there is no noise."""

    blank: float = 0.01
    form: float = 0.01
    decimals: float = 0.25
    """By which the share of numbers of at most so many decimals may change."""
    all_decimals: float = 0.05
    """Share of numbers with decimals from which not nearly all of those may become whole."""
    beyond: float = 0.01
    """Of values further outside the real range than `margin`."""
    margin: float = 0.1
    """Of the width of the real range: outside of it a value is beyond."""
    far: float = 0.5
    """Of the width of the real range: no value at all may be further outside."""
    distribution: float = 0.1
    """Kolmogorov-Smirnov distance of numbers and dates."""
    mean: float = 0.25
    """Of the standard deviation of the real values."""
    level: float = 0.03
    """By which the share of a text may change that is frequent before or after."""
    top: float = 0.05
    """Share from which a text must not be lost."""
    other: float = 0.5
    """That may become one label, such as "other", if they are too rare to be found."""
    new: float = 0.01
    """Of texts that the real table does not have, but for a label of rare ones."""


TOLERANCES = Tolerances()

FINE = Tolerances(
    blank=0.004,
    form=0.004,
    decimals=0.1,
    all_decimals=0.01,
    beyond=0.002,
    margin=0.05,
    far=0.1,
    distribution=0.05,
    mean=0.1,
    level=0.01,
    top=0.004,
    other=0.1,
    new=0.004,
)
"""A column that passes these has nothing to be cautioned of."""

DEVIATIONS = 4.0
"""Standard deviations of noise and of drawing that are let pass."""

NUMERIC_CELLS = 33
"""Bins of a number or date and "missing", as `synthdp schema check` counts them."""


class Noise:
    """What noise explains, as docs/schema.md says: columns share 8 % of three quarters by levels to
    the power 2/3.

    What is learnt has a quarter of the budget, in equal parts. `synthdp run` does better as a rule.
    """

    tolerances = TOLERANCES

    def __init__(self, epsilon: float, delta: float, cells: Mapping[str, int], n_rows: int) -> None:
        self.n_rows = n_rows
        self._cells = dict(cells)
        rho = _gaussian_mu(epsilon, delta) ** 2 / 2
        total = sum(size ** (2 / 3) for size in cells.values())
        self._rhos = {
            name: 0.75 * 0.08 * rho * size ** (2 / 3) / total for name, size in cells.items()
        }
        self._learning = (2 * 0.25 * rho / max(len(cells), 4)) ** -0.5

    def of_count(self, name: str) -> float:
        """Standard deviation of a cell, as a share of the rows."""
        return (2 * self._rhos[name]) ** -0.5 / self.n_rows

    def of_sum(self, name: str) -> float:
        """Standard deviation of a sum over half of the cells of a column, as a share of the rows."""
        return self.of_count(name) * np.sqrt(self._cells[name]) / 2

    def of_learning(self) -> float:
        """Standard deviation of a count that is learnt, as a share of the rows."""
        return self._learning / self.n_rows

    def threshold(self) -> float:
        """Share of the rows that a level needs to be found beyond doubt."""
        return 12 * self.of_learning()


class NoNoise(Noise):
    """Nothing is explained by noise, and little is let pass."""

    tolerances = FINE

    def __init__(self, noise: Noise) -> None:
        self.n_rows = noise.n_rows

    def of_count(self, _name: str) -> float:
        return 0.0

    def of_sum(self, _name: str) -> float:
        return 0.0

    def of_learning(self) -> float:
        return 0.0

    def threshold(self) -> float:
        return 0.0


def _gaussian_mu(epsilon: float, delta: float) -> float:
    """Of Gaussian differential privacy, the mu that (epsilon, delta) allows."""

    def excess(mu: float) -> float:
        tail = np.exp(epsilon + norm.logcdf(-epsilon / mu - mu / 2))
        return float(norm.cdf(-epsilon / mu + mu / 2) - tail - delta)

    return float(brentq(excess, 1e-4, 50.0))


@dataclass(frozen=True)
class Reading:
    """How a person would open the file: what is true of it, whatever was declared."""

    delimiter: str = ","
    encoding: str = "utf-8-sig"
    decimal: str = "."
    day_first: bool = False
    sheet: str | None = None


Cells = list[str]


@dataclass(frozen=True)
class Table:
    """Cells of each column as texts, "" where nothing stands, and classes of types where the file
    has types.
    """

    cells: dict[str, Cells]
    types: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return max((len(cells) for cells in self.cells.values()), default=0)


def read(path: Path, reading: Reading) -> Table:
    """All cells of a file."""
    if path.suffix == ".parquet":
        return _read_parquet(path)
    if path.suffix == ".xlsx":
        frame = pd.read_excel(path, sheet_name=reading.sheet or 0, engine="calamine", dtype=object)
        return Table({str(name): [_text(value) for value in frame[name]] for name in frame.columns})
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    records = csv.reader(
        io.StringIO(raw.decode(reading.encoding), newline=""), delimiter=reading.delimiter
    )
    header, *rows = (record for record in records if record)
    return Table(
        {name: [row[i] if i < len(row) else "" for row in rows] for i, name in enumerate(header)}
    )


def _read_parquet(path: Path) -> Table:
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    cells = {
        name: [_text(value) for value in table[name].to_pylist()] for name in table.column_names
    }
    return Table(cells, {each.name: _class_of_type(each.type) for each in table.schema})


def _class_of_type(kind: Any) -> str:
    import pyarrow.types as types

    if types.is_timestamp(kind):
        return "moment with a zone" if kind.tz else "moment"
    tests: dict[str, Callable[[Any], bool]] = {
        "whole number": types.is_integer,
        "number": lambda each: types.is_floating(each) or types.is_decimal(each),
        "truth value": types.is_boolean,
        "date": types.is_date,
    }
    return next((name for name, test in tests.items() if test(kind)), "text")


def _text(value: Any) -> str:
    """A typed value as it is shown."""
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    shown = str(value)
    return shown.removesuffix(" 00:00:00")


_TIME = r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?"
_ISO = r"\d{4}-\d\d-\d\d"
_CURRENCY = r"(?:€|\$|£|EUR|USD|GBP|CHF)"
_UNIT = r"(?:%|[kmµ]?g|[mcd]?l|[mck]?m|km/h|mph|°C|lbs?|oz|h|min|s)"
FORMS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "moment with offset": rf"{_ISO}[T ]{_TIME} ?(Z|[+-]\d\d:?\d\d)",
        "ISO moment to the minute": rf"{_ISO}[T ]\d{{1,2}}:\d\d",
        "ISO moment with T": rf"{_ISO}T\d{{1,2}}:\d\d:\d\d",
        "ISO moment": rf"{_ISO} \d{{1,2}}:\d\d:\d\d",
        "ISO moment with fractions": rf"{_ISO}[T ]{_TIME}",
        "ISO date": _ISO,
        "ISO week": r"\d{4}-?W\d\d?(-\d)?",
        "year and month": r"\d{4}-\d\d",
        "date with slashes and time": rf"\d{{1,4}}/\d{{1,2}}/\d{{1,4}} {_TIME}( ?[AP]M)?",
        "date with slashes": r"\d{1,4}/\d{1,2}/\d{1,4}",
        "date with dots and time": rf"\d{{1,2}}\.\d{{1,2}}\.\d{{2,4}},? {_TIME}",
        "date with dots": r"\d{1,2}\.\d{1,2}\.(\d{4}|\d\d)",
        "date with dashes": r"\d{1,2}-\d{1,2}-\d{2,4}",
        "date with the month's name": r"[A-Z][a-z]{2,8} \d{1,2},? \d{4}",
        "time": rf"{_TIME}( ?[AP]M)?",
        "leading zeros": r"0\d+",
        "whole number": r"[+-]?\d+",
        "decimal point": r"[+-]?\d*\.\d+",
        "decimal comma": r"[+-]?\d*,\d+",
        "thousands marked": r"[+-]?\d{1,3}([.,' \u00a0\u202f\u2019]\d{3})+([.,]\d+)?",
        "exponent": r"[+-]?\d+([.,]\d+)?e[+-]?\d+",
        "infinite": r"[+-]?inf(inity)?",
        "in parentheses": r"\(\d[\d.,]*\)",
        "number with unit": rf"(?:{_CURRENCY} ?)?-?\d[\d.,' \u00a0\u202f]*(?: ?(?:{_CURRENCY}|{_UNIT}))?",
    }.items()
}

DATES = (
    "ISO date",
    "ISO moment",
    "ISO moment with T",
    "ISO moment to the minute",
    "ISO moment with fractions",
)
DATES += ("moment with offset", "date with slashes", "date with slashes and time")
DATES += (
    "date with the month's name",
    "date with dots",
    "date with dots and time",
    "date with dashes",
)
NUMBERS = (
    "whole number",
    "decimal point",
    "decimal comma",
    "thousands marked",
    "exponent",
    "in parentheses",
)
NUMBERS += ("number with unit",)
PLAIN = ("whole number", "decimal point", "decimal comma", "exponent")
"""Forms that one column of numbers may mix: 12, 12.5, 1e-05."""


@lru_cache(maxsize=1_000_000)
def form_of(cell: str) -> str:
    """How a cell is written; "text" if like nothing that is known."""
    if cell.isdigit() and (cell[0] != "0" or len(cell) == 1):  # most of them
        return "whole number"
    return next((name for name, pattern in FORMS.items() if pattern.fullmatch(cell)), "text")


TRUTHS = {"True": 1.0, "False": 0.0}
"""Truth values of typed files count as 1 and 0: that they are some is for `_types`, which would be
told twice if they were no numbers.
"""


def number_of(cell: str, decimal: str) -> float:
    """A number however it is written; NaN if it is none."""
    if cell in TRUTHS:
        return TRUTHS[cell]
    with contextlib.suppress(ValueError):
        if decimal == "." and "_" not in cell:
            return float(cell)
    shown = re.sub(r"[^\d.,e+()-]", "", cell.strip().lower())
    if shown.startswith("("):
        shown = "-" + shown.strip("()")
    other = "," if decimal == "." else "."
    try:
        return float(shown.replace(other, "").replace(decimal, "."))
    except ValueError:
        return np.nan


def days_of(cells: Sequence[str], *, day_first: bool) -> np.ndarray:
    """Days since 1970 of dates and moments as they are shown (offsets left away); NaN of others."""
    places, different = pd.factorize(np.array(cells, object))
    shown = pd.Series(
        [re.sub(r" ?(Z|[+-]\d\d:?\d\d)$", "", c) if ":" in c else c for c in different],
        dtype=object,
    )
    days = np.full(len(shown), np.nan)
    iso = shown.str.match(r"\d{4}-")
    dotted = shown.str.match(r"\d{1,2}[.-]")
    for part, options in (
        (iso, {"format": "ISO8601"}),
        (dotted, {"format": "mixed", "dayfirst": True}),
        (~iso & ~dotted, {"format": "mixed", "dayfirst": day_first}),
    ):
        chosen = part.to_numpy(bool)
        if chosen.any():
            moments = pd.to_datetime(shown[chosen], errors="coerce", **options).astype(
                "datetime64[s]"
            )
            whole = moments.to_numpy().astype("int64") / 86400
            days[chosen] = np.where(moments.isna(), np.nan, whole)
    return days[places]


SEEN_DECIMALS = 6
"""Nobody compares further ones."""


def decimals_of(cell: str, decimal: str) -> tuple[int, int]:
    """Digits after the decimal mark, without zeros at the end, and with them."""
    found = re.fullmatch(rf"[^{re.escape(decimal)}]*{re.escape(decimal)}(\d+)\D*", cell.strip())
    shown = found[1][:SEEN_DECIMALS] if found else ""
    return len(shown.rstrip("0")), len(shown)


@dataclass(frozen=True)
class Failure:
    """One check that a column fails: which, and by what."""

    check: str
    detail: str


@dataclass(frozen=True)
class Column:
    """The cells of a column of both tables that hold something, and what is true of them."""

    name: str
    real: Cells
    made: Cells
    real_rows: int
    made_rows: int
    reading: Reading
    noise: Noise
    has_levels: bool
    has_bounds: bool

    def allowed(self, tolerance: float, noise: float, share: float = 0.5) -> float:
        """A tolerance, or what noise and the drawing of rows explain."""
        drawing = np.sqrt(
            max(share * (1 - share), 1e-4) * (1 / self.real_rows + 1 / self.made_rows)
        )
        return float(max(tolerance, tolerance / 2 + DEVIATIONS * np.hypot(noise, drawing)))


def compare(
    name: str,
    real: Table,
    made: Table,
    *,
    missing: Iterable[str],
    reading: Reading,
    noise: Noise,
    has_levels: bool = False,
    has_bounds: bool = False,
) -> list[Failure]:
    """All checks that a column fails.

    `missing` are the texts that were declared to mean that; a column that was declared to have
    levels is compared by its texts, also if they look like numbers. Where bounds were declared,
    noise explains a few values far out.
    """
    if name not in made.cells:
        return [Failure("lost", "the column is not in the output")]
    blank = {text.strip() for text in missing} | {"", "NaN", "nan"}
    column = Column(
        name,
        [cell.strip() for cell in real.cells[name] if cell.strip() not in blank],
        [cell.strip() for cell in made.cells[name] if cell.strip() not in blank],
        max(real.n_rows, 1),
        max(made.n_rows, 1),
        reading,
        noise,
        has_levels,
        has_bounds,
    )
    failures = _types(name, real, made) + _blanks(column)
    if not column.made or not column.real:
        return failures
    failures += _forms(column)
    if has_levels:
        return failures + _texts(column)
    forms = Counter(map(form_of, column.real))
    n_numbers = (
        sum(forms[form] for form in NUMBERS)
        if not forms["leading zeros"] > 0.01 * len(column.real)
        else 0
    )
    n_dates = sum(forms[form] for form in DATES)
    if n_dates >= 0.8 * len(column.real):
        values = (
            days_of(cells, day_first=reading.day_first) for cells in (column.real, column.made)
        )
        return failures + _values(column, *values)
    if n_numbers >= 0.8 * len(column.real):
        failures += _decimals(column)
        values = (
            np.array([number_of(cell, reading.decimal) for cell in cells])
            for cells in (column.real, column.made)
        )
        return failures + _values(column, *values)
    return failures + _texts(column)


def _types(name: str, real: Table, made: Table) -> list[Failure]:
    """The class of a typed column must stay."""
    before, after = real.types.get(name), made.types.get(name)
    if not before or not after or before == after or {before, after} == {"whole number", "number"}:
        return []  # whether numbers that became whole were that before is for `_decimals`
    return [Failure("type", f"{before} became {after}")]


def _blanks(column: Column) -> list[Failure]:
    before, after = 1 - len(column.real) / column.real_rows, 1 - len(column.made) / column.made_rows
    noise = max(column.noise.of_count(column.name), 1.5 * column.noise.of_learning())
    if abs(after - before) > column.allowed(column.noise.tolerances.blank, noise, before):
        return [Failure("blank", f"{before:.1%} of the cells were blank, {after:.1%} are")]
    return []


def _forms(column: Column) -> list[Failure]:
    """Forms that many cells have must not vanish or be new."""
    before, after = (
        {f: k / len(c) for f, k in Counter(map(form_of, c)).items()}
        for c in (column.real, column.made)
    )
    least = column.allowed(
        column.noise.tolerances.form,
        column.noise.of_count(column.name),
        column.noise.tolerances.form,
    )
    numeric = sum(before.get(form, 0.0) for form in PLAIN) > 0.5
    failures = []
    for form in sorted(before.keys() | after.keys()):
        was, is_ = before.get(form, 0.0), after.get(form, 0.0)
        if (
            numeric and form in PLAIN and not column.has_levels
        ):  # which of them are mixed is for `_decimals`
            continue
        if (
            form == "text" and column.has_levels and was < is_
        ):  # such as "other": that is for `_texts`
            continue
        if was > least and is_ < was / 10:
            failures.append(Failure("form", f"{form}: {was:.1%} of the cells, now {is_:.1%}"))
        elif is_ > least and was < is_ / 10:
            failures.append(Failure("form", f"{form}: {is_:.1%} of the cells, before {was:.1%}"))
    return failures


def _decimals(column: Column) -> list[Failure]:
    """Numbers must not get decimals, or lose them; with exponents nothing can be said."""
    if any(form_of(cell) == "exponent" for cell in column.real[:1000]):
        return []
    mark = column.reading.decimal
    before, after = (
        np.array([decimals_of(cell, mark) for cell in c]) for c in (column.real, column.made)
    )
    most = before[:, 0].max()
    more = float((after[:, 0] > most).mean())
    failures = []
    if more > column.noise.tolerances.form:
        failures.append(Failure("decimals", f"{more:.1%} have more than the most before, {most}"))
    points = range(int(max(before[:, 0].max(), after[:, 0].max())) + 1)
    moved = {k: float((after[:, 0] <= k).mean() - (before[:, 0] <= k).mean()) for k in points}
    worst = max(moved, key=lambda k: abs(moved[k]))
    noise = column.noise.of_sum(column.name)
    if abs(moved[worst]) > column.allowed(column.noise.tolerances.decimals, noise):
        told = f"{moved[worst]:+.0%} of the cells have at most {worst} decimals"
        failures.append(Failure("decimals", told))
    had, has = (float((decimals[:, 0] > 0).mean()) for decimals in (before, after))
    if (
        had
        > column.allowed(
            column.noise.tolerances.all_decimals, column.noise.of_count(column.name), had
        )
        and has < had / 10
    ):
        failures.append(Failure("decimals", f"{had:.1%} of the cells had some, now {has:.1%}"))
    fixed = next((k for k in sorted(set(before[:, 1])) if (before[:, 1] == k).mean() > 0.99), 0)
    if (
        fixed > (0 if had else 1) and (after[:, 1] == fixed).mean() < 0.8
    ):  # 45 for 45.0 is seen by nobody
        failures.append(Failure("zeros", f"all were written with {fixed} decimals, not so now"))
    return failures


def _values(column: Column, real: np.ndarray, made: np.ndarray) -> list[Failure]:
    """Range, distribution, mean and variety of numbers or dates."""
    real, made = (np.round(values[np.isfinite(values)], SEEN_DECIMALS) for values in (real, made))
    if not len(real) or not len(made):
        return [Failure("values", "none can be read")]
    failures = []
    low, high = real.min(), real.max()
    width = high - low
    outside = np.maximum(low - made, made - high)
    unit = width if width > 0 else max(abs(high), 1.0)
    beyond = float((outside > column.noise.tolerances.margin * unit).mean())
    allowed = column.noise.tolerances.beyond
    if column.has_bounds:
        allowed = column.allowed(
            column.noise.tolerances.beyond,
            column.noise.of_count(column.name),
            column.noise.tolerances.beyond,
        )
    if beyond > allowed or (
        outside.max() > column.noise.tolerances.far * unit and not column.has_bounds
    ):
        told = f"[{low:.6g}, {high:.6g}] became [{made.min():.6g}, {made.max():.6g}], {beyond:.1%} beyond"
        failures.append(Failure("range", told))
    if width > 0 and np.ptp(made) == 0 and _spread(real) > 0.05:
        failures.append(Failure("constant", f"all are {made[0]:.6g}"))
    noise = column.noise.of_sum(column.name)
    allowed = column.allowed(column.noise.tolerances.distribution, noise)
    distance = _kolmogorov_smirnov(real, made)
    if distance > allowed:
        failures.append(
            Failure("distribution", f"KS distance {distance:.3f}, allowed {allowed:.3f}")
        )
    spread = real.std()
    if spread > 0:
        moved = (made.mean() - real.mean()) / spread
        allowed = column.allowed(column.noise.tolerances.mean, 3 * noise)
        if abs(moved) > allowed:
            failures.append(
                Failure("mean", f"moved by {moved:+.3g} standard deviations, allowed {allowed:.2f}")
            )
    return failures


def _spread(values: np.ndarray) -> float:
    """Share of the values that are not the most frequent one."""
    return 1 - np.unique(values, return_counts=True)[1].max() / len(values)


def _kolmogorov_smirnov(first: np.ndarray, second: np.ndarray) -> float:
    points = np.union1d(first, second)
    ranks = (
        np.searchsorted(np.sort(values), points, side="right") / len(values)
        for values in (first, second)
    )
    return float(np.abs(np.subtract(*ranks)).max())


def _texts(column: Column) -> list[Failure]:
    """Frequent texts stay, with their shares, and no new ones come but a label of rare ones."""
    tolerances = column.noise.tolerances
    before, after = (
        {t: k / len(c) for t, k in Counter(c).items()} for c in (column.real, column.made)
    )
    threshold = max(tolerances.top, column.noise.threshold())
    noise = column.noise.of_count(column.name)
    failures = []
    for text, share in sorted(before.items(), key=lambda each: -each[1])[:20]:
        now = after.get(text, 0.0)
        if share > threshold and now < share / 10:
            failures.append(Failure("level lost", f"one of {share:.1%}, now {now:.1%}"))
        elif max(share, now) > threshold and abs(now - share) > column.allowed(
            tolerances.level, noise, share
        ):
            failures.append(Failure("level", f"one of {share:.1%} is now {now:.1%}"))
    new = {text: share for text, share in after.items() if text not in before}
    rare = min(
        sum(share for share in before.values() if share <= column.noise.threshold()),
        tolerances.other,
    )
    label = max(new.values(), default=0.0)
    allowed = column.allowed(tolerances.new, noise, tolerances.new)
    if label > rare + allowed:
        failures.append(
            Failure(
                "new level",
                f"{label:.1%} of the cells are one that was not there, {rare:.1%} were rare",
            )
        )
    if sum(new.values()) - label > allowed:
        failures.append(
            Failure(
                "new level", f"{sum(new.values()) - label:.1%} of the cells are several new ones"
            )
        )
    if len(after) == 1 and len(before) > 1 and max(before.values()) < 0.95:
        failures.append(Failure("constant", "all cells are one text"))
    return failures
