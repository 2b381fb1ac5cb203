"""Made-up exports: tables as hospitals, shops, registers and programs write them, and as people
declare them.

What is declared is what somebody says who fills in the form of ``synthdp schema draft --kinds``
with the names of the columns before him: mostly right, sometimes wrong in the ordinary way. The
data are the same in every run.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common.crude_checks import Reading
from common.exports import Export

Texts = Sequence[str] | np.ndarray
Columns = Mapping[str, Texts]


class Rows:
    """Columns of made-up values for a number of rows."""

    def __init__(self, name: str, n: int) -> None:
        self.n = n
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def pick(self, *levels: str, p: Sequence[float] | None = None) -> list[str]:
        """One of some texts each; without shares each half as frequent again as the one after it."""
        weights = np.array(p or [1.5**-i for i in range(len(levels))], float)
        return [levels[i] for i in self.rng.choice(len(levels), self.n, p=weights / weights.sum())]

    def whole(self, low: int, high: int) -> np.ndarray:
        """Whole numbers, those in the middle more frequent."""
        return low + np.floor(self.rng.beta(2, 2, self.n) * (high - low + 1)).astype(int)

    def ages(self) -> np.ndarray:
        return np.clip(self.rng.gamma(9, 5.5, self.n), 0, 101).astype(int)

    def money(self, median: float = 60.0, spread: float = 0.9) -> np.ndarray:
        return np.round(np.exp(self.rng.normal(np.log(median), spread, self.n)), 2)

    def normal(self, mean: float, sd: float, decimals: int) -> np.ndarray:
        return np.round(self.rng.normal(mean, sd, self.n), decimals)

    def days(self, first: str = "2015-01-01", last: str = "2022-12-31") -> pd.Series:
        span = (pd.Timestamp(last) - pd.Timestamp(first)).days
        return pd.Series(
            pd.Timestamp(first)
            + pd.to_timedelta((self.rng.beta(2, 1.5, self.n) * span).astype(int), "D")
        )

    def moments(self, first: str = "2019-01-01", last: str = "2022-12-31") -> pd.Series:
        hours = np.clip(self.rng.normal(13, 4, self.n), 0, 23.99)
        return self.days(first, last) + pd.to_timedelta((hours * 3600).astype(int), "s")

    def some(self, values: Texts, *others: str, share: float) -> list[str]:
        """The values, but for a share of other texts in their place."""
        chosen = self.rng.random(self.n) < share
        which = self.rng.integers(0, len(others), self.n)
        return [
            others[i] if other else str(v)
            for v, other, i in zip(values, chosen, which, strict=True)
        ]

    def numbered(self, pattern: str = "{}", start: int = 1) -> list[str]:
        return [pattern.format(i) for i in range(start, start + self.n)]


def comma(values: Sequence[float] | np.ndarray, decimals: int = 2) -> list[str]:
    return [f"{v:.{decimals}f}".replace(".", ",") for v in values]


def point(values: Sequence[float] | np.ndarray, decimals: int = 2) -> list[str]:
    return [f"{v:.{decimals}f}" for v in values]


def german(values: Sequence[float] | np.ndarray, decimals: int = 2) -> list[str]:
    return [f"{v:,.{decimals}f}".translate(str.maketrans(",.", ".,")) for v in values]


def american(values: Sequence[float] | np.ndarray, decimals: int = 2) -> list[str]:
    return [f"{v:,.{decimals}f}" for v in values]


def shown(dates: pd.Series, form: str) -> list[str]:
    return list(dates.dt.strftime(form))


_MAKERS: dict[str, list[Callable[[], Export]]] = {}
"""By group."""


def _add(
    maker: Callable[[Rows], Any],
    export: Callable[[str, Rows, Any], Export],
    n: int,
    group: str = "made",
) -> None:
    name = maker.__name__.strip("_").replace("_", "-")

    def make() -> Export:
        rows = Rows(name, n)
        return export(name, rows, maker(rows))

    make.__name__ = name
    _MAKERS.setdefault(group, []).append(make)


def text_file(
    declared: Mapping[str, Any],
    *,
    n: int = 3000,
    file: str = "table.csv",
    options: str = "",
    written: Reading | None = None,
    bom: bool = False,
    lines: str = "\r\n",
    quoting: int = csv.QUOTE_MINIMAL,
    group: str = "made",
) -> Callable[[Callable[[Rows], Columns]], Callable[[Rows], Columns]]:
    """Make a function of rows a CSV export, declared so, run with these options, and in truth
    written as said.
    """
    reading = written or Reading()

    def decorate(maker: Callable[[Rows], Columns]) -> Callable[[Rows], Columns]:
        def export(name: str, _rows: Rows, columns: Columns) -> Export:
            def write(path: Path) -> None:
                text = io.StringIO()
                writer = csv.writer(
                    text, delimiter=reading.delimiter, lineterminator=lines, quoting=quoting
                )
                writer.writerow(columns)
                writer.writerows(zip(*columns.values(), strict=True))
                raw = text.getvalue().encode(reading.encoding.removesuffix("-sig"))
                raw = b"\xef\xbb\xbf" + raw if bom else raw
                path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)

            return Export(name, file, write, declared, tuple(options.split()), reading)

        _add(maker, export, n, group)
        return maker

    return decorate


def typed_file(
    declared: Mapping[str, Any], *, n: int = 3000, file: str = "table.parquet"
) -> Callable[[Callable[[Rows], Any]], Callable[[Rows], Any]]:
    """Make a function of rows, which gives a data frame or an Arrow table, a Parquet or Excel
    export.
    """

    def decorate(maker: Callable[[Rows], Any]) -> Callable[[Rows], Any]:
        def export(name: str, _rows: Rows, table: Any) -> Export:
            def write(path: Path) -> None:
                if path.suffix == ".xlsx":
                    table.to_excel(path, index=False, engine="xlsxwriter")
                elif isinstance(table, pd.DataFrame):
                    table.to_parquet(path, index=False)
                else:
                    import pyarrow.parquet as parquet

                    parquet.write_table(table, path)

            return Export(name, file, write, declared)

        _add(maker, export, n)
        return maker

    return decorate


EXCEL_DE = Reading(delimiter=";", decimal=",", day_first=True)
FRENCH = Reading(delimiter=";", decimal=",", day_first=True)
US = Reading()


def made_exports() -> list[Export]:
    """All of them, in the order in which they stand here."""
    return exports_of("made")


def exports_of(group: str) -> list[Export]:
    """Those of a group, in the order in which they were defined."""
    return [make() for make in _MAKERS[group]]


# -- Germany, Austria: semicolons, decimal commas, dates with dots


@text_file(
    {
        "Fallnummer": "ignore",
        "Geburtsdatum": {"type": "date", "format": "%d.%m.%Y"},
        "Aufnahme": {"type": "date", "format": "%d.%m.%Y"},
        "PLZ": "categorical",
        "Station": "categorical",
        "Raucher": {"type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
        "Kosten": "number",
    },
    options="--dialect excel-semicolon",
    written=EXCEL_DE,
    bom=True,
)
def _hospital_declared(rows: Rows) -> Columns:
    return _hospital(rows)


@text_file(
    {
        "Fallnummer": "id",
        "Geburtsdatum": "date",
        "Aufnahme": "date",
        "PLZ": "integer",
        "Station": "categorical",
        "Raucher": "boolean",
        "Kosten": "number",
    },
    options="--dialect excel-semicolon",
    written=EXCEL_DE,
    bom=True,
)
def _hospital_naive(rows: Rows) -> Columns:
    return _hospital(rows)


def _hospital(rows: Rows) -> Columns:
    return {
        "Fallnummer": rows.numbered("F{:07d}", 4711),
        "Geburtsdatum": shown(rows.days("1930-01-01", "2010-12-31"), "%d.%m.%Y"),
        "Aufnahme": shown(rows.days(), "%d.%m.%Y"),
        "PLZ": rows.pick("04109", "04103", "06108", "01067", "99084", "10115"),
        "Station": rows.pick("Innere", "Chirurgie", "Gynäkologie", "Kinder", "Intensiv"),
        "Raucher": rows.pick("nein", "ja", p=[0.7, 0.3]),
        "Kosten": comma(rows.money(1800)),
    }


@text_file(
    {
        "Gemeinde": "integer",
        "Einwohner": "integer",
        "Bundesland": "categorical",
        "Fläche": "number",
    },
    n=2000,
    options="--dialect excel-semicolon",
    written=EXCEL_DE,
)
def _register_of_towns(rows: Rows) -> Columns:
    """Codes of eight digits, some with a zero in front, and numbers with dots between thousands."""
    return {
        "Gemeinde": [f"{v:08d}" for v in rows.rng.integers(1_001_000, 16_077_056, rows.n)],
        "Einwohner": german(np.ceil(np.exp(rows.rng.normal(7.5, 1.2, rows.n))), 0),
        "Bundesland": rows.pick("Bayern", "Hessen", "Sachsen", "Thüringen", "Saarland"),
        "Fläche": comma(rows.rng.gamma(3, 8, rows.n)),
    }


@text_file(
    {
        "Artikel": "categorical",
        "Umsatz": "number",
        "Menge": "integer",
        "Rabatt": "number",
        "Preis": "number",
    },
    options="--dialect excel-semicolon",
    written=EXCEL_DE,
)
def _shop_with_units(rows: Rows) -> Columns:
    """Amounts with a currency, percentages and dots between thousands, declared as numbers."""
    return {
        "Artikel": rows.pick("Stuhl", "Tisch", "Lampe", "Regal"),
        "Umsatz": [f"{v} €" for v in german(rows.money(900))],
        "Menge": rows.whole(1, 40).astype(str),
        "Rabatt": [f"{v} %" for v in rows.rng.choice([0, 5, 10, 15, 20], rows.n)],
        "Preis": german(rows.money(700, 1.0)),
    }


@text_file(
    {
        "Artikel": "categorical",
        "Umsatz": {"type": "number", "bareNumber": False},
        "Rabatt": {"type": "integer", "bareNumber": False},
        "Preis": "number",
    },
    options="--dialect excel-semicolon",
    written=EXCEL_DE,
)
def _shop_with_units_declared(rows: Rows) -> Columns:
    return {
        "Artikel": rows.pick("Stuhl", "Tisch", "Lampe", "Regal"),
        "Umsatz": [f"{v} €" for v in german(rows.money(900))],
        "Rabatt": [f"{v} %" for v in rows.rng.choice([0, 5, 10, 15, 20], rows.n)],
        "Preis": comma(rows.money(700, 1.0)),
    }


@text_file(
    {"Messzeit": "datetime", "Temperatur": "number", "Feuchte": "number", "Fühler": "categorical"},
    n=5000,
    options="--delimiter ; --encoding cp1252",
    written=Reading(delimiter=";", decimal=",", encoding="cp1252"),
)
def _sensors_decimal_comma_undeclared(rows: Rows) -> Columns:
    return {
        "Messzeit": shown(rows.moments(), "%Y-%m-%d %H:%M:%S"),
        "Temperatur": comma(rows.normal(18, 6, 1), 1),
        "Feuchte": comma(np.clip(rows.normal(55, 15, 1), 5, 100), 1),
        "Fühler": rows.pick("außen", "innen", "Keller"),
    }


@text_file(
    {"Straße": "ignore", "Größe": "number", "Geschlecht": "categorical"},
    options="--delimiter ;",
    written=Reading(delimiter=";", encoding="cp1252"),
)
def _old_encoding_undeclared(rows: Rows) -> Columns:
    return {
        "Straße": rows.pick("Gänseweg 3", "Königsallee 8"),
        "Größe": rows.normal(172, 9, 0).astype(int).astype(str),
        "Geschlecht": rows.pick("männlich", "weiblich", "divers"),
    }


@text_file(
    {
        "Name": "name",
        "Eintritt": {"type": "date", "format": "%d.%m.%Y"},
        "Austritt": {"type": "date", "format": "%d.%m.%Y"},
        "Gehalt": "number",
        "Abteilung": "categorical",
        "Teilzeit": "boolean",
    },
    n=1200,
    options="--dialect excel-semicolon",
    written=EXCEL_DE,
)
def _staff_two_spellings_of_dates(rows: Rows) -> Columns:
    """A sixth of the dates are written with two digits of the year; most have no end; part time is
    ja or nein.
    """
    starts, ends = rows.days("1990-01-01"), rows.days("2016-01-01")
    short = rows.rng.random(rows.n) < 0.17
    return {
        "Name": rows.numbered("Person {}"),
        "Eintritt": [
            a if s else b
            for s, a, b in zip(
                short, shown(starts, "%d.%m.%y"), shown(starts, "%d.%m.%Y"), strict=True
            )
        ],
        "Austritt": rows.some(shown(ends, "%d.%m.%Y"), "", share=0.7),
        "Gehalt": comma(np.round(rows.money(3400, 0.3), -2)),
        "Abteilung": rows.pick("Vertrieb", "Technik", "Verwaltung", "Lager"),
        "Teilzeit": rows.pick("nein", "ja"),
    }


@text_file(
    {"Schüler": "ignore", "Note": "number", "Klasse": "categorical", "Fehltage": "integer"},
    n=900,
    written=Reading(decimal=","),
    quoting=csv.QUOTE_ALL,
)
def _school_marks_in_quotes(rows: Rows) -> Columns:
    """Commas between columns and in numbers, which are therefore quoted."""
    return {
        "Schüler": rows.numbered("S{:04d}"),
        "Note": comma(np.clip(rows.normal(2.7, 0.9, 1), 1, 6), 1),
        "Klasse": rows.pick("5a", "5b", "6a", "6b"),
        "Fehltage": rows.rng.poisson(4, rows.n).astype(str),
    }


# -- France


@text_file(
    {
        "patient": "ignore",
        "date_entree": "date",
        "montant": "number",
        "fumeur": "boolean",
        "service": "categorical",
        "poids": "number",
    },
    options="--delimiter ; --decimal ,",
    written=FRENCH,
)
def _french_naive(rows: Rows) -> Columns:
    return {
        "patient": rows.numbered("{:06d}"),
        "date_entree": shown(rows.days(), "%d/%m/%Y"),
        "montant": [v.replace(",", "\u00a0").replace(".", ",") for v in american(rows.money(1500))],
        "fumeur": rows.pick("non", "oui"),
        "service": rows.pick("chirurgie", "médecine", "urgences"),
        "poids": comma(rows.normal(72, 13, 1), 1),
    }


@text_file(
    {
        "date_entree": {"type": "date", "format": "%d/%m/%Y"},
        "montant": {"type": "number", "groupChar": " ", "decimalChar": ","},
        "fumeur": {"type": "boolean", "trueValues": ["oui"], "falseValues": ["non"]},
        "service": "categorical",
        "poids": "number",
    },
    options="--delimiter ; --decimal ,",
    written=FRENCH,
)
def _french_declared(rows: Rows) -> Columns:
    return {
        "date_entree": shown(rows.days(), "%d/%m/%Y"),
        "montant": comma(rows.money(1500)),
        "fumeur": rows.pick("non", "oui"),
        "service": rows.pick("chirurgie", "médecine", "urgences"),
        "poids": comma(rows.normal(72, 13, 1), 1),
    }


# -- United States


@text_file(
    {
        "invoice": "id",
        "date": "date",
        "amount": "number",
        "paid": "boolean",
        "state": "categorical",
        "zip": "integer",
    },
    n=4000,
)
def _invoices_naive(rows: Rows) -> Columns:
    """Dates 3/7/2021, amounts $1,234.50, Y and N, zip codes with a zero in front."""
    days = rows.days()
    return {
        "invoice": rows.numbered("INV-{:05d}"),
        "date": [f"{d.month}/{d.day}/{d.year}" for d in days],
        "amount": [f"${v}" for v in american(rows.money(400, 1.1))],
        "paid": rows.pick("Y", "N"),
        "state": rows.pick("MA", "NY", "CT", "NJ"),
        "zip": rows.pick("02139", "10001", "06510", "07030"),
    }


@text_file(
    {
        "date": {"type": "date", "format": "%m/%d/%Y"},
        "amount": {"type": "number", "groupChar": ",", "bareNumber": False},
        "paid": {"type": "boolean", "trueValues": ["Y"], "falseValues": ["N"]},
        "state": "categorical",
        "zip": "categorical",
    },
    n=4000,
)
def _invoices_declared(rows: Rows) -> Columns:
    return {
        "date": shown(rows.days(), "%m/%d/%Y"),
        "amount": [f"${v}" for v in american(rows.money(400, 1.1))],
        "paid": rows.pick("Y", "N"),
        "state": rows.pick("MA", "NY", "CT", "NJ"),
        "zip": rows.pick("02139", "10001", "06510", "07030"),
    }


@text_file({"account": "categorical", "debit": "number", "balance": "number"}, n=2500)
def _accounting_parentheses(rows: Rows) -> Columns:
    """Negative amounts in parentheses, and with the sign behind."""
    amounts = rows.normal(200, 400, 2)
    return {
        "account": rows.pick("4400", "4410", "6800", "7000"),
        "debit": [f"({-v:.2f})" if v < 0 else f"{v:.2f}" for v in amounts],
        "balance": [f"{-v:.2f}-" if v < 0 else f"{v:.2f}" for v in rows.normal(500, 400, 2)],
    }


@text_file(
    {"customer": "ignore", "price": "number", "tax": "number", "country": "categorical"}, n=2500
)
def _currency_codes(rows: Rows) -> Columns:
    return {
        "customer": rows.numbered("C{}"),
        "price": [
            f"{c} {v:.2f}"
            for c, v in zip(rows.pick("EUR", "USD"), rows.money(25, 0.6), strict=True)
        ],
        "tax": rows.pick("19%", "7%", "0%"),
        "country": rows.pick("DE", "US", "FR"),
    }


# -- surveys


@text_file(
    {
        "person": "ignore",
        "q1": "categorical",
        "q2": "categorical",
        "q3": "categorical",
        "age": "integer",
    },
    n=1500,
)
def _survey_texts(rows: Rows) -> Columns:
    answers = (
        "5 - strongly agree",
        "4 - agree",
        "3 - neither, nor",
        "2 - disagree",
        "1 - strongly disagree",
    )
    columns = {f"q{i}": rows.pick(*answers[i % 3 :], *answers[: i % 3]) for i in (1, 2, 3)}
    return {"person": rows.numbered()} | columns | {"age": np.clip(rows.ages(), 18, 90).astype(str)}


@text_file(
    {"person": "ignore", "q1": "integer", "q2": "integer", "q3": "integer", "age": "integer"},
    n=1500,
)
def _survey_numbers_and_texts(rows: Rows) -> Columns:
    """Answers 1 to 5, a sixth of them "don't know"."""
    columns = {f"q{i}": rows.some(rows.whole(1, 5), "don't know", share=0.17) for i in (1, 2)}
    columns["q3"] = rows.whole(1, 5).astype(str)
    return {"person": rows.numbered()} | columns | {"age": np.clip(rows.ages(), 18, 90).astype(str)}


@text_file(
    {"q1": "integer", "income": "integer", "children": "integer", "sex": "categorical"}, n=2500
)
def _survey_codes_for_missing(rows: Rows) -> Columns:
    return {
        "q1": rows.some(rows.whole(1, 7), "99", share=0.06),
        "income": rows.some((rows.money(2600, 0.5) // 100 * 100).astype(int), "99999", share=0.08),
        "children": rows.some(np.minimum(rows.rng.poisson(1.1, rows.n), 7), "-9", share=0.05),
        "sex": rows.pick("1", "2"),
    }


@text_file(
    {
        "q1": {
            "type": "integer",
            "constraints": {"minimum": 1, "maximum": 7},
            "missingValues": ["", "99"],
        },
        "income": {
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 20000},
            "missingValues": ["99999"],
        },
        "children": {
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 15},
            "missingValues": ["-9"],
        },
        "sex": "categorical",
    },
    n=2500,
)
def _survey_codes_declared(rows: Rows) -> Columns:
    return {
        "q1": rows.some(rows.whole(1, 7), "99", share=0.06),
        "income": rows.some((rows.money(2600, 0.5) // 100 * 100).astype(int), "99999", share=0.08),
        "children": rows.some(np.minimum(rows.rng.poisson(1.1, rows.n), 7), "-9", share=0.05),
        "sex": rows.pick("1", "2"),
    }


@text_file({"bmi": "number", "pulse": "integer", "ward": "categorical", "seen": "date"}, n=2500)
def _words_for_missing(rows: Rows) -> Columns:
    return {
        "bmi": rows.some(rows.normal(26, 4, 1), "n/a", share=0.12),
        "pulse": rows.some(rows.whole(48, 120), "-", share=0.07),
        "ward": rows.some(rows.pick("A", "B", "C"), "unknown", share=0.1),
        "seen": rows.some(shown(rows.days(), "%Y-%m-%d"), "unknown", share=0.1),
    }


@text_file(
    {
        "bmi": {"type": "number", "missingValues": ["n/a"]},
        "pulse": {"type": "integer", "missingValues": ["-"]},
        "ward": {"type": "categorical", "missingValues": ["unknown"]},
        "seen": {"type": "date", "missingValues": ["unknown"]},
    },
    n=2500,
)
def _words_for_missing_declared(rows: Rows) -> Columns:
    return {
        "bmi": rows.some(rows.normal(26, 4, 1), "n/a", share=0.12),
        "pulse": rows.some(rows.whole(48, 120), "-", share=0.07),
        "ward": rows.some(rows.pick("A", "B", "C"), "unknown", share=0.1),
        "seen": rows.some(shown(rows.days(), "%Y-%m-%d"), "unknown", share=0.1),
    }


@text_file({f"item{i:02d}": "integer" for i in range(80)} | {"age": "integer"}, n=2000)
def _wide_survey(rows: Rows) -> Columns:
    return {f"item{i:02d}": rows.whole(1, 5).astype(str) for i in range(80)} | {
        "age": rows.ages().astype(str)
    }


@text_file(
    {
        f"v{i:02d}": kind
        for i, kind in enumerate(["categorical", "integer", "number", "boolean"] * 20)
    },
    n=2000,
)
def _wide_mixed(rows: Rows) -> Columns:
    makers = (
        lambda: rows.pick("a", "b", "c", "d"),
        lambda: rows.whole(0, 60).astype(str),
        lambda: point(rows.normal(50, 10, 1), 1),
        lambda: rows.pick("true", "false"),
    )
    return {f"v{i:02d}": makers[i % 4]() for i in range(80)}


# -- truth values


@text_file({"died": "boolean", "smoker": "boolean", "treated": "boolean", "age": "integer"})
def _truth_as_digits(rows: Rows) -> Columns:
    return {
        "died": rows.pick("0", "1", p=[0.9, 0.1]),
        "smoker": rows.pick("0", "1"),
        "treated": rows.pick("1", "0"),
        "age": rows.ages().astype(str),
    }


@text_file(
    {
        "died": {"type": "boolean", "trueValues": ["1"], "falseValues": ["0"]},
        "smoker": "integer",
        "treated": "categorical",
        "age": "integer",
    }
)
def _truth_as_digits_declared(rows: Rows) -> Columns:
    return {
        "died": rows.pick("0", "1", p=[0.9, 0.1]),
        "smoker": rows.pick("0", "1"),
        "treated": rows.pick("1", "0"),
        "age": rows.ages().astype(str),
    }


@text_file({"member": "boolean", "mail": "boolean", "region": "categorical"})
def _truth_as_letters(rows: Rows) -> Columns:
    return {
        "member": rows.pick("Y", "N"),
        "mail": rows.pick("yes", "no"),
        "region": rows.pick("north", "south", "west"),
    }


@text_file({"vaccinated": "boolean", "allergy": "boolean", "age": "integer"})
def _truth_or_unknown(rows: Rows) -> Columns:
    return {
        "vaccinated": rows.pick("true", "false", "unknown", p=[0.55, 0.3, 0.15]),
        "allergy": rows.pick("false", "true", "", p=[0.7, 0.2, 0.1]),
        "age": rows.ages().astype(str),
    }


@text_file(
    {
        "raucht": {"type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
        "trinkt": {
            "type": "boolean",
            "trueValues": ["ja"],
            "falseValues": ["nein"],
            "missingValues": ["k.A."],
        },
        "alter": "integer",
    }
)
def _truth_declared_with_rest(rows: Rows) -> Columns:
    """8 % of the smokers did not say, which nobody declared; 4 % of them wrote Ja."""
    return {
        "raucht": rows.pick("nein", "ja", "keine Angabe", "Ja", p=[0.6, 0.28, 0.08, 0.04]),
        "trinkt": rows.pick("ja", "nein", "k.A.", p=[0.6, 0.3, 0.1]),
        "alter": rows.ages().astype(str),
    }


@text_file({"is_active": "boolean", "is_admin": "categorical", "logins": "integer"})
def _truth_as_python_writes_it(rows: Rows) -> Columns:
    return {
        "is_active": rows.pick("True", "False"),
        "is_admin": rows.pick("False", "True", p=[0.9, 0.1]),
        "logins": rows.rng.poisson(20, rows.n).astype(str),
    }


@text_file({"active": "boolean", "checked": "boolean", "score": "integer"})
def _truth_as_capitals(rows: Rows) -> Columns:
    return {
        "active": rows.pick("TRUE", "FALSE"),
        "checked": rows.pick("WAHR", "FALSCH"),
        "score": rows.whole(0, 100).astype(str),
    }


# -- lists of levels that do not hold what the file says


def _outcome_schema() -> dict[str, Any]:
    return {
        "fields": [
            {
                "name": "outcome",
                "type": "string",
                "constraints": {"enum": ["dead", "alive"], "required": True},
            },
            {
                "name": "age",
                "type": "integer",
                "constraints": {"minimum": 0, "maximum": 110, "required": True},
                "synthdp": {"bins": 22},
            },
            {"name": "sex", "type": "string", "constraints": {"enum": ["F", "M"]}},
        ]
    }


@text_file(_outcome_schema(), n=4000)
def _levels_in_capitals(rows: Rows) -> Columns:
    """Two fifths of the living are spelt ALIVE, and three tenths of the ages are unknown."""
    return {
        "outcome": rows.pick("alive", "ALIVE", "dead", p=[0.58, 0.4, 0.02]),
        "age": rows.some(np.clip(rows.ages(), 20, 101), "unknown", share=0.3),
        "sex": rows.pick("F", "M"),
    }


@text_file(_outcome_schema(), n=4000)
def _levels_few_unmatched(rows: Rows) -> Columns:
    return {
        "outcome": rows.pick("alive", "Alive", "dead", p=[0.94, 0.04, 0.02]),
        "age": rows.some(np.clip(rows.ages(), 20, 101), "unknown", share=0.04),
        "sex": rows.some(rows.pick("F", "M"), "female", share=0.03),
    }


@text_file(_outcome_schema(), n=4000)
def _levels_all_matched(rows: Rows) -> Columns:
    return {
        "outcome": rows.pick("alive ", "alive", "dead", p=[0.3, 0.5, 0.2]),
        "age": rows.ages().astype(str),
        "sex": rows.some(rows.pick("F", "M"), "", share=0.05),
    }


@text_file(
    {
        "fields": [
            {
                "name": "grade",
                "type": "integer",
                "constraints": {"enum": [1, 2, 3], "required": True},
            },
            {
                "name": "marital",
                "type": "string",
                "constraints": {"enum": ["single", "married", "divorced"]},
            },
            {"name": "pay", "type": "number", "constraints": {"minimum": 0, "maximum": 5000}},
        ]
    },
    n=4000,
)
def _levels_forgotten(rows: Rows) -> Columns:
    """A grade and a marital status that nobody listed, and pay above the declared maximum."""
    return {
        "grade": rows.pick("1", "2", "3", "4", p=[0.3, 0.3, 0.25, 0.15]),
        "marital": rows.pick("married", "single", "widowed", "divorced", p=[0.5, 0.3, 0.1, 0.1]),
        "pay": point(rows.money(3500, 0.4)),
    }


@text_file({"sex": "categorical", "town": "categorical", "job": "categorical"})
def _levels_of_several_spellings(rows: Rows) -> Columns:
    jobs = [f"job {i}" for i in range(200)]
    return {
        "sex": rows.pick("Male", "male", "M", "Female", "female", "F"),
        "town": rows.pick("Leipzig", " Leipzig", "leipzig", "Halle"),
        "job": rows.pick(*jobs, p=[(i + 1) ** -0.7 for i in range(200)]),
    }


# -- dates and times


@text_file({"visit": "date", "born": "date", "site": "categorical"}, n=4000)
def _dates_of_two_formats(rows: Rows) -> Columns:
    days, mixed = rows.days(), rows.rng.random(rows.n) < 0.18
    other, usual = shown(days, "%d.%m.%Y"), shown(days, "%Y-%m-%d")
    return {
        "visit": [a if m else b for m, a, b in zip(mixed, other, usual, strict=True)],
        "born": shown(rows.days("1935-01-01", "2005-12-31"), "%Y-%m-%d"),
        "site": rows.pick("A", "B", "C"),
    }


@text_file({"day": "date", "closed": "integer", "kind": "categorical"})
def _compact_dates(rows: Rows) -> Columns:
    return {
        "day": shown(rows.days(), "%Y%m%d"),
        "closed": shown(rows.days(), "%Y%m%d"),
        "kind": rows.pick("a", "b"),
    }


@text_file({"day": {"type": "date", "format": "%Y%m%d"}, "kind": "categorical"})
def _compact_dates_declared(rows: Rows) -> Columns:
    return {"day": shown(rows.days(), "%Y%m%d"), "kind": rows.pick("a", "b")}


@text_file({"week": "date", "month": "date", "cases": "integer"})
def _weeks_and_months(rows: Rows) -> Columns:
    return {
        "week": shown(rows.days("2020-01-06", "2022-12-20"), "%G-W%V"),
        "month": shown(rows.days(), "%Y-%m"),
        "cases": rows.rng.poisson(30, rows.n).astype(str),
    }


@text_file(
    {"week": "categorical", "month": "categorical", "quarter": "categorical", "year": "year"}
)
def _weeks_as_texts(rows: Rows) -> Columns:
    days = rows.days("2021-06-01", "2021-12-20")
    return {
        "week": shown(days, "%G-W%V"),
        "month": shown(days, "%b %Y"),
        "quarter": [f"Q{d.quarter} {d.year}" for d in days],
        "year": shown(rows.days("1990-01-01"), "%Y"),
    }


@text_file({"admitted": "date", "left": "date", "ward": "categorical"})
def _moments_read_as_dates(rows: Rows) -> Columns:
    return {
        "admitted": shown(rows.moments(), "%Y-%m-%d %H:%M:%S"),
        "left": shown(rows.moments(), "%Y-%m-%dT%H:%M"),
        "ward": rows.pick("A", "B"),
    }


@text_file({"admitted": "datetime", "left": "datetime", "ward": "categorical"})
def _moments(rows: Rows) -> Columns:
    return {
        "admitted": shown(rows.moments(), "%Y-%m-%d %H:%M:%S"),
        "left": shown(rows.moments(), "%Y-%m-%dT%H:%M:%S"),
        "ward": rows.pick("A", "B"),
    }


@text_file({"sent": "datetime", "read": "datetime", "kind": "categorical"})
def _moments_with_offsets(rows: Rows) -> Columns:
    offsets = rows.pick("+02:00", "+01:00")
    return {
        "sent": [
            a + b for a, b in zip(shown(rows.moments(), "%Y-%m-%dT%H:%M:%S"), offsets, strict=True)
        ],
        "read": [f"{each}Z" for each in shown(rows.moments(), "%Y-%m-%dT%H:%M:%S")],
        "kind": rows.pick("mail", "chat"),
    }


@text_file({"sent": "date", "kind": "categorical"})
def _moments_with_offsets_read_as_dates(rows: Rows) -> Columns:
    return {
        "sent": [f"{each}+02:00" for each in shown(rows.moments(), "%Y-%m-%dT%H:%M:%S")],
        "kind": rows.pick("mail", "chat"),
    }


@text_file({"started": "datetime", "took": "categorical", "clock": "datetime", "count": "integer"})
def _moments_as_excel_writes_them(rows: Rows) -> Columns:
    return {
        "started": shown(rows.moments(), "%m/%d/%Y %H:%M"),
        "took": rows.pick("0:30", "1:00", "1:30", "2:00"),
        "clock": shown(rows.moments(), "%H:%M"),
        "count": rows.rng.poisson(5, rows.n).astype(str),
    }


@text_file({"logged": "datetime", "unix": "integer", "level": "categorical"}, n=6000)
def _log_with_milliseconds(rows: Rows) -> Columns:
    moments = rows.moments("2022-01-01")
    return {
        "logged": [
            f"{m:%Y-%m-%d %H:%M:%S}.{k:03d}"
            for m, k in zip(moments, rows.whole(0, 999), strict=True)
        ],
        "unix": (moments.astype("datetime64[s]").astype("int64")).astype(str).tolist(),
        "level": rows.pick("INFO", "WARNING", "ERROR"),
    }


@text_file({"born": "year", "graduated": "integer", "season": "categorical"})
def _years(rows: Rows) -> Columns:
    return {
        "born": rows.whole(1930, 2004).astype(str),
        "graduated": rows.some(rows.whole(1955, 2022), "", share=0.2),
        "season": rows.pick("2019/20", "2020/21", "2021/22"),
    }


# -- numbers


@text_file(
    {"municipality": "integer", "icd": "categorical", "phone": "integer", "branch": "integer"}
)
def _codes_as_integers(rows: Rows) -> Columns:
    return {
        "municipality": rows.pick("04109", "04103", "06108", "99084"),
        "icd": rows.pick("I10", "E11.9", "J45.0", "M54.5"),
        "phone": [f"0{v}" for v in rows.rng.integers(150_000_000, 179_999_999, rows.n)],
        "branch": rows.pick("001", "002", "017", "110"),
    }


@text_file(
    {
        "municipality": "categorical",
        "icd": "categorical",
        "branch": "categorical",
        "version": "categorical",
    }
)
def _codes_as_texts(rows: Rows) -> Columns:
    return {
        "municipality": rows.pick("04109", "04103", "06108", "99084"),
        "icd": rows.pick("I10", "E11.9", "J45.0", "M54.5"),
        "branch": rows.pick("001", "002", "017", "110"),
        "version": rows.pick("1.1", "1.10", "1.2"),
    }


@text_file({"stay": "integer", "dose": "integer", "visits": "integer"})
def _fractions_in_integers(rows: Rows) -> Columns:
    halves = rows.rng.random(rows.n) < 0.06
    whole = rows.whole(1, 60)
    return {
        "stay": [f"{v}.37" if h else str(v) for v, h in zip(whole, halves, strict=True)],
        "dose": point(rows.normal(23.4, 6, 2)),
        "visits": rows.rng.poisson(3, rows.n).astype(str),
    }


@text_file({"age": "integer", "children": "integer", "rooms": "number", "score": "number"})
def _whole_numbers_as_floats(rows: Rows) -> Columns:
    """What pandas writes of whole numbers beside missing ones: 45.0."""
    return {
        "age": rows.some([f"{v}.0" for v in rows.ages()], "", share=0.05),
        "children": rows.some([f"{v}.0" for v in rows.rng.poisson(1.2, rows.n)], "", share=0.1),
        "rooms": [f"{v}.0" for v in rows.whole(1, 9)],
        "score": point(rows.normal(60, 12, 1), 1),
    }


@text_file({"id": "integer", "big": "integer", "user": "categorical", "value": "integer"}, n=5000)
def _ids_as_integers(rows: Rows) -> Columns:
    return {
        "id": rows.numbered(),
        "big": [str(v) for v in rows.rng.integers(10**17, 9 * 10**17, rows.n)],
        "user": rows.numbered("user{}@example.org"),
        "value": rows.whole(0, 100).astype(str),
    }


@text_file(
    {
        "id": "id",
        "case": {"type": "id", "pattern": "P{:06d}"},
        "uuid": "ignore",
        "value": "integer",
    },
    n=5000,
)
def _ids_as_ids(rows: Rows) -> Columns:
    return {
        "id": rows.numbered(),
        "case": rows.numbered("P{:06d}"),
        "uuid": [f"{v:032x}" for v in rows.whole(0, 10**9)],
        "value": rows.whole(0, 100).astype(str),
    }


@text_file({"salary": "number", "bonus": "number", "loss": "number", "shares": "integer"}, n=6000)
def _long_tails(rows: Rows) -> Columns:
    return {
        "salary": point(rows.money(3200, 0.8)),
        "bonus": point(np.where(rows.rng.random(rows.n) < 0.8, 0, rows.money(900, 1.2))),
        "loss": point(-rows.rng.pareto(1.5, rows.n) * 100),
        "shares": (np.minimum(rows.rng.pareto(1.1, rows.n) * 10, 1e7)).astype(int).astype(str),
    }


@text_file(
    {"longitude": "number", "latitude": "number", "altitude": "integer", "kind": "categorical"},
    n=5000,
)
def _places(rows: Rows) -> Columns:
    west = rows.rng.random(rows.n) < 0.7
    return {
        "longitude": point(np.where(west, rows.normal(-98, 14, 5), rows.normal(15, 9, 5)), 5),
        "latitude": point(np.clip(rows.normal(42, 7, 5), -60, 72), 5),
        "altitude": np.clip(rows.rng.gamma(1, 300, rows.n), 0, 4000).astype(int).astype(str),
        "kind": rows.pick("airport", "station", "port"),
    }


@text_file(
    {
        "lon": {"type": "number", "constraints": {"minimum": -180, "maximum": 180}},
        "lat": {"type": "number", "constraints": {"minimum": -90, "maximum": 90}},
        "kind": "categorical",
    },
    n=5000,
)
def _places_declared(rows: Rows) -> Columns:
    return {
        "lon": point(rows.normal(10, 4, 6), 6),
        "lat": point(rows.normal(51, 2, 6), 6),
        "kind": rows.pick("airport", "station", "port"),
    }


@text_file(
    {
        "country": "categorical",
        "unit": "integer",
        "note": "categorical",
        "gap": "number",
        "value": "integer",
    }
)
def _constant_and_empty(rows: Rows) -> Columns:
    return {
        "country": ["DE"] * rows.n,
        "unit": ["1"] * rows.n,
        "note": [""] * rows.n,
        "gap": [""] * rows.n,
        "value": rows.whole(0, 50).astype(str),
    }


@text_file({"flag": "boolean", "kind": "categorical", "delay": "integer", "tax": "number"})
def _nearly_constant(rows: Rows) -> Columns:
    return {
        "flag": rows.pick("false", "true", p=[0.99, 0.01]),
        "kind": rows.pick("normal", "special", p=[0.985, 0.015]),
        "delay": rows.some(["0"] * rows.n, "5", "10", "30", share=0.04),
        "tax": rows.pick("0.19", "0.07", p=[0.95, 0.05]),
    }


@text_file({"weight": "number", "height": "integer", "dose": "categorical", "share": "number"})
def _units_in_cells(rows: Rows) -> Columns:
    return {
        "weight": [f"{v:.1f} kg" for v in rows.normal(74, 12, 1)],
        "height": [f"{v} cm" for v in rows.whole(150, 200)],
        "dose": rows.pick("5 mg", "10 mg", "20 mg"),
        "share": [f"{v} %" for v in rows.whole(0, 100)],
    }


@text_file(
    {
        "weight": {"type": "number", "bareNumber": False},
        "height": {"type": "integer", "bareNumber": False},
        "share": {"type": "integer", "bareNumber": False},
    }
)
def _units_declared(rows: Rows) -> Columns:
    return {
        "weight": [f"{v:.1f} kg" for v in rows.normal(74, 12, 1)],
        "height": [f"{v} cm" for v in rows.whole(150, 200)],
        "share": [f"{v} %" for v in rows.whole(0, 100)],
    }


@text_file({"ratio": "number", "signal": "number", "count": "integer"}, n=4000)
def _infinite_and_nan(rows: Rows) -> Columns:
    return {
        "ratio": rows.some(rows.normal(1.2, 0.3, 3), "inf", "-inf", share=0.04),
        "signal": rows.some(rows.normal(0, 1, 3), "NaN", share=0.06),
        "count": rows.rng.poisson(12, rows.n).astype(str),
    }


@text_file({"p": "number", "load": "number", "gene": "categorical"}, n=4000)
def _exponents(rows: Rows) -> Columns:
    return {
        "p": [f"{v:.3e}" for v in rows.rng.beta(0.4, 3, rows.n)],
        "load": [f"{v:.2E}" for v in np.exp(rows.rng.normal(10, 2, rows.n))],
        "gene": rows.pick("TP53", "BRCA1", "EGFR"),
    }


@text_file({"temp": "number", "wind": "number", "rain": "number", "station": "categorical"}, n=8000)
def _weather(rows: Rows) -> Columns:
    return {
        "temp": point(rows.normal(9, 8, 1), 1),
        "wind": point(rows.rng.gamma(2, 1.8, rows.n), 1),
        "rain": point(
            np.where(rows.rng.random(rows.n) < 0.6, 0, rows.rng.gamma(0.7, 6, rows.n)), 1
        ),
        "station": rows.pick("10384", "10469", "10488"),
    }


@text_file({"price": "number", "rating": "number", "x": "number", "y": "number"}, n=4000)
def _floats_with_digits(rows: Rows) -> Columns:
    """What floats are when nobody rounds them, and prices with trailing zeros left out."""
    return {
        "price": [
            f"{v:.2f}".rstrip("0").rstrip(".") for v in np.round(rows.money(20, 0.5) * 4) / 4
        ],
        "rating": [repr(float(v) / 3) for v in rows.whole(3, 15)],
        "x": [repr(float(v)) for v in rows.rng.normal(0, 1, rows.n)],
        "y": [repr(float(v)) for v in rows.rng.random(rows.n)],
    }


# -- texts


@text_file(
    {"name": "categorical", "comment": "categorical", "mail": "categorical", "age": "integer"}
)
def _free_text_as_levels(rows: Rows) -> Columns:
    words = ("slow", "fast", "good", "bad", "queue", "staff", "room")
    comments = [
        " ".join(words[i] for i in rows.rng.integers(0, len(words), 7)) for _ in range(rows.n)
    ]
    return {
        "name": rows.numbered("Person Nr. {}"),
        "comment": comments,
        "mail": rows.numbered("p{}@example.org"),
        "age": rows.ages().astype(str),
    }


@text_file(
    {"product": "categorical", "size": "categorical", "answer": "categorical", "n": "integer"}
)
def _quotes_and_commas(rows: Rows) -> Columns:
    return {
        "product": rows.pick('Board, 12" oak', 'Board, 24" oak', "Nail; box", 'O\'Neill "Pro"'),
        "size": rows.pick('1/2"', '3/4"', "1"),
        "answer": rows.pick("yes,\nbut later", "no", "line one\nline two"),
        "n": rows.rng.poisson(7, rows.n).astype(str),
    }


@text_file({"": "ignore", "a": "integer", "b": "number", "c": "categorical"})
def _index_without_a_name(rows: Rows) -> Columns:
    return {
        "": rows.numbered(start=0),
        "a": rows.whole(0, 30).astype(str),
        "b": point(rows.normal(5, 1, 2)),
        "c": rows.pick("x", "y"),
    }


@text_file(
    {
        "sex": "categorical",
        "age": "integer",
        "pay": "integer",
        "region": "categorical",
        "job": "categorical",
    },
    n=20_000,
)
def _census(rows: Rows) -> Columns:
    return {
        "sex": rows.pick("f", "m", p=[0.51, 0.49]),
        "age": rows.ages().astype(str),
        "pay": (rows.money(2800, 0.6) // 50 * 50).astype(int).astype(str),
        "region": rows.pick(*(f"R{i:02d}" for i in range(16)), p=[1.15**-i for i in range(16)]),
        "job": rows.pick(*(f"J{i:03d}" for i in range(60)), p=[1.06**-i for i in range(60)]),
    }


@text_file(
    {
        "dept": "categorical",
        "grade": "integer",
        "salary": "integer",
        "hired": "date",
        "fte": "number",
    },
    n=300,
)
def _small_staff(rows: Rows) -> Columns:
    return {
        "dept": rows.pick("sales", "tech", "office"),
        "grade": rows.whole(1, 9).astype(str),
        "salary": (rows.money(42_000, 0.3) // 1000 * 1000).astype(int).astype(str),
        "hired": shown(rows.days("2000-01-01"), "%Y-%m-%d"),
        "fte": rows.pick("1.0", "0.5", "0.8"),
    }


@text_file(
    {"a": "integer", "b": "categorical", "c": "date"},
    file="table.tsv",
    written=Reading(delimiter="\t"),
)
def _tab_separated(rows: Rows) -> Columns:
    return {
        "a": rows.whole(-20, 40).astype(str),
        "b": rows.pick("left", "right"),
        "c": shown(rows.days(), "%Y-%m-%d"),
    }


@text_file(
    {"a": "integer", "b": "categorical", "c": "number"}, file="table.csv.gz", lines="\n", bom=True
)
def _packed(rows: Rows) -> Columns:
    return {
        "a": rows.whole(0, 40).astype(str),
        "b": rows.pick("u", "v", "w"),
        "c": point(rows.money(5)),
    }


@text_file(
    {"a": "integer", "b": "categorical", "c": "number"},
    written=Reading(encoding="utf-16"),
    options="--encoding utf-16",
)
def _unicode_text(rows: Rows) -> Columns:
    return {"a": rows.whole(0, 40).astype(str), "b": rows.pick("ä", "ö"), "c": point(rows.money(5))}


@text_file({"a": "integer", "b": "categorical", "c": "number"}, written=Reading(delimiter=";"))
def _semicolons_undeclared(rows: Rows) -> Columns:
    return {
        "a": rows.whole(0, 40).astype(str),
        "b": rows.pick("u", "v", "w"),
        "c": point(rows.money(5)),
    }


# -- typed files


@typed_file(
    {
        "age": "integer",
        "pay": "number",
        "active": "boolean",
        "hired": "date",
        "seen": "datetime",
        "dept": "categorical",
        "kids": "integer",
    }
)
def _parquet_typed(rows: Rows) -> Any:
    kids = pd.Series(rows.rng.poisson(1.2, rows.n), dtype="Int64")
    return pd.DataFrame(
        {
            "age": rows.ages(),
            "pay": rows.money(3000, 0.4),
            "active": rows.rng.random(rows.n) < 0.8,
            "hired": rows.days().dt.date,
            "seen": rows.moments(),
            "dept": rows.pick("sales", "tech", "office"),
            "kids": kids.mask(pd.Series(rows.rng.random(rows.n) < 0.1)),
        }
    )


@typed_file({"grade": "categorical", "price": "number", "code": "integer", "units": "number"})
def _parquet_categories_and_decimals(rows: Rows) -> Any:
    import pyarrow as pa

    price = pa.array(point(rows.money(40)), pa.string()).cast(pa.decimal128(12, 2))
    return pa.table(
        {
            "grade": pa.array(rows.pick("low", "mid", "high")).dictionary_encode(),
            "price": price,
            "code": pa.array(rows.pick("0041", "0042", "1077")),
            "units": pa.array(rows.whole(0, 90), pa.int32()),
        }
    )


@typed_file({"sent": "datetime", "read": "date", "due": "datetime", "kind": "categorical"})
def _parquet_moments(rows: Rows) -> Any:
    return pd.DataFrame(
        {
            "sent": rows.moments().dt.tz_localize(
                "Europe/Berlin", ambiguous="NaT", nonexistent="NaT"
            ),
            "read": rows.moments(),
            "due": rows.days(),
            "kind": rows.pick("mail", "chat"),
        }
    )


@typed_file({"flag": "boolean", "share": "integer", "size": "integer", "level": "integer"})
def _parquet_of_other_types(rows: Rows) -> Any:
    """Truth values as whole numbers, fractions declared as integers, whole numbers as floats and
    texts.
    """
    return pd.DataFrame(
        {
            "flag": (rows.rng.random(rows.n) < 0.4).astype("int64"),
            "share": rows.normal(40, 9, 1),
            "size": rows.whole(1, 80).astype(float),
            "level": rows.whole(1, 9).astype(str),
        }
    )


@typed_file(
    {
        "age": "integer",
        "pay": "number",
        "active": "boolean",
        "hired": "date",
        "dept": "categorical",
    },
    n=1500,
    file="table.xlsx",
)
def _excel_typed(rows: Rows) -> Any:
    return pd.DataFrame(
        {
            "age": rows.ages(),
            "pay": rows.money(3000, 0.4),
            "active": rows.rng.random(rows.n) < 0.8,
            "hired": rows.days(),
            "dept": rows.pick("sales", "tech", "office"),
        }
    )


@typed_file(
    {"code": "integer", "seen": "date", "share": "number", "answer": "integer", "flag": "boolean"},
    n=1500,
    file="table.xlsx",
)
def _excel_as_people_fill_it_in(rows: Rows) -> Any:
    answers = [
        int(v) if str(v).isdigit() else v for v in rows.some(rows.whole(1, 5), "?", share=0.15)
    ]
    return pd.DataFrame(
        {
            "code": rows.pick("007", "012", "115"),
            "seen": rows.moments(),
            "share": rows.some([f"{v} %" for v in rows.whole(0, 100)], "", share=0.1),
            "answer": answers,
            "flag": rows.pick("x", "", p=[0.4, 0.6]),
        }
    )
