"""How near drawn rows come to real ones in the units that people write, whatever the bins were."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from synthdp.report import kolmogorov_smirnov, wasserstein

HEAVY = 0.005
"""A value that so large a share of the records has weighs for itself."""

FOLDS = 3
"""Parts of the rows on which a classifier of real and drawn rows is tested in turns."""

MISSING = ("", "?")
"""What the records have where a value is missing; drawn rows have nothing there."""

MOST_JUDGED = 15_000
"""Rows of each kind that it sees: more would take longer and say the same."""


@dataclass(frozen=True, eq=False)
class OwnUnitsTable:
    """Records as they are, and what is public of them: levels, and bounds without bins.

    Parameters
    ----------
    frame, held_out
        The records, and further ones to test predictions on.
    fields
        Fields of their schema.
    target
        The column to predict.
    named
        Single values whose shares are shown: a column, and its value.
    """

    frame: pd.DataFrame
    held_out: pd.DataFrame
    fields: Sequence[Mapping[str, Any]]
    target: str
    named: Sequence[tuple[str, float]] = ()

    @property
    def numbers(self) -> list[str]:
        """The columns whose values are numbers."""
        return [field["name"] for field in self.fields if field["type"] in ("integer", "number")]

    @property
    def schema(self) -> dict[str, Any]:
        """The fields as a schema."""
        return {"fields": list(self.fields), "missingValues": list(MISSING)}

    @property
    def kinds(self) -> dict[str, Any]:
        """Nothing but the kinds of the columns."""
        return {
            field["name"]: "categorical" if field["type"] == "string" else field["type"]
            for field in self.fields
        }


def raw_adult(data: Path) -> OwnUnitsTable:
    """Adult as the census wrote it: 32,561 records, and 16,281 to test on."""
    schema = json.loads((Path(__file__).parents[1] / "schemas/adult.json").read_text())
    fields = [
        {key: value for key, value in field.items() if key != "synthdp"}
        for field in schema["fields"]
    ]
    numbers = [field["name"] for field in fields if field["type"] == "integer"]
    frames = []
    for file in ("adult.csv", "adult_test.csv"):
        frame = pd.read_csv(data / "adult" / file, dtype=str, keep_default_na=False)
        frame["income"] = frame["income"].str.rstrip(".")
        frames.append(frame.assign(**{name: pd.to_numeric(frame[name]) for name in numbers}))
    gains = frames[0]["capital_gain"]
    top = gains[(gains > 0) & (gains < 99999)].mode().iloc[0]
    named = (("hours_per_week", 50), ("capital_gain", int(top)), ("capital_gain", 99999))
    return OwnUnitsTable(*frames, fields, "income", named)


def characters(_data: Path) -> OwnUnitsTable:
    """7,152 made-up records of eight numbers, and as many to test on; to predict: one of ten
    classes.

    The numbers of a class hang together; half of them are skewed, so that most lie in a small part
    of the public bounds.
    """
    rng = np.random.default_rng(31)
    n_rows, n_numbers, n_classes = 2 * 7152, 8, 10
    classes = rng.integers(n_classes, size=n_rows)
    centres = rng.normal(0.0, 0.8, (n_classes, n_numbers))
    loads = rng.normal(0.0, 0.4, (n_classes, n_numbers, 2))
    factors = rng.normal(size=(n_rows, 2))
    spread = rng.normal(0.0, 0.6, (n_rows, n_numbers))
    places = centres[classes] + np.einsum("rnf,rf->rn", loads[classes], factors) + spread
    columns: dict[str, Any] = {}
    fields: list[dict[str, Any]] = []
    for i in range(n_numbers):
        is_skewed = i % 2 == 1
        values = np.exp(1.5 * places[:, i] + 3.0) if is_skewed else 50.0 + 10.0 * places[:, i]
        low, high = (0.0, 5000.0) if is_skewed else (0.0, 100.0)
        columns[f"x{i}"] = np.clip(values, low, high).round(2)
        bounds = {"minimum": low, "maximum": high, "required": True}
        fields.append({"name": f"x{i}", "type": "number", "constraints": bounds})
    columns["class"] = np.array([f"c{number}" for number in classes])
    levels = [f"c{number}" for number in range(n_classes)]
    fields.append(
        {"name": "class", "type": "string", "constraints": {"enum": levels, "required": True}}
    )
    frame = pd.DataFrame(columns)
    half = n_rows // 2
    return OwnUnitsTable(
        frame[:half], frame[half:].reset_index(drop=True), fields, "class", named=()
    )


def loans(_data: Path) -> OwnUnitsTable:
    """12,000 made-up loans: round amounts, fixed terms, rates of two decimals, dates that crowd on
    1 January, and incomes with missing values; to predict: a default, likelier where the income
    is missing.
    """
    rng = np.random.default_rng(7)
    n_rows = 24_000
    score = rng.normal(size=n_rows)
    income = np.exp(10.5 + 0.5 * score + 0.3 * rng.normal(size=n_rows)).round(2)
    is_round = rng.random(n_rows) < 0.3
    income[is_round] = np.round(income[is_round] / 1000.0) * 1000.0
    amount = np.exp(9.0 + 0.4 * score + 0.6 * rng.normal(size=n_rows))
    step = rng.choice([1.0, 100.0, 1000.0, 5000.0], n_rows, p=[0.2, 0.2, 0.3, 0.3])
    amount = np.clip(np.round(amount / step) * step, 500.0, 100000.0)
    amount[rng.random(n_rows) < 0.05] = 10000.0
    rate = np.clip(12.0 - 2.0 * score + rng.normal(size=n_rows), 2.0, 30.0).round(2)
    rate[rng.random(n_rows) < 0.1] = 9.99
    term = rng.choice([12, 24, 36, 48, 60, 72], n_rows, p=[0.05, 0.15, 0.4, 0.1, 0.25, 0.05])
    day = rng.integers(0, 365, n_rows)
    day[rng.random(n_rows) < 0.15] = 0
    year = rng.integers(2015, 2024, n_rows)
    start = pd.to_datetime(pd.Series(year).astype(str) + "-01-01") + pd.to_timedelta(day, unit="D")
    missing = rng.random(n_rows) < 0.08
    risk = -2.0 - 1.2 * score + 0.1 * (rate - 10.0) + np.where(missing, 4.0, 0.0)
    default = rng.random(n_rows) < 1.0 / (1.0 + np.exp(-risk))
    income[missing] = np.nan
    frame = pd.DataFrame(
        {
            "income": income,
            "amount": amount,
            "rate": rate,
            "term": term,
            "start": start.dt.strftime("%Y-%m-%d"),
            "default": np.where(default, "yes", "no"),
        }
    )
    limits: dict[str, tuple[str, Any, Any]] = {
        "income": ("number", 0, 1_000_000),
        "amount": ("number", 0, 100_000),
        "rate": ("number", 0, 36),
        "term": ("integer", 1, 120),
        "start": ("date", "2010-01-01", "2029-12-31"),
    }
    fields: list[dict[str, Any]] = [
        {
            "name": name,
            "type": kind,
            "constraints": {"minimum": low, "maximum": high, "required": name != "income"},
        }
        for name, (kind, low, high) in limits.items()
    ]
    fields.append(
        {
            "name": "default",
            "type": "string",
            "constraints": {"enum": ["no", "yes"], "required": True},
        }
    )
    half = n_rows // 2
    named = (("amount", 10000.0), ("rate", 9.99), ("term", 36))
    return OwnUnitsTable(
        frame[:half], frame[half:].reset_index(drop=True), fields, "default", named
    )


OWN_UNITS_TABLES = {"raw-adult": raw_adult, "characters": characters, "loans": loans}
"""Makers of tables, given the folder of the data sets that are files."""


class OwnUnitsJudge:
    """Errors of drawn rows against the records."""

    def __init__(self, table: OwnUnitsTable) -> None:
        self._table = table
        self._real = self._numeric(table.frame)
        self._truth = self._correlations(self._real)
        self._levels = {
            name: sorted(set(table.frame[name].astype(str)) - set(MISSING))
            for name in table.frame.columns
            if name not in self._real
        }

    def figures(self, drawn: pd.DataFrame) -> dict[str, float]:
        """All that is measured, by name."""
        numbers = self._numeric(drawn)
        return {
            "AUC of real and drawn": self.told_apart(drawn),
            "Spearman": float(np.abs(self._correlations(numbers) - self._truth).mean()),
            "KS": self._mean_of(numbers, kolmogorov_smirnov),
            "Wasserstein": self._mean_of(numbers, self._scaled_wasserstein),
            "heavy": self._heavy(numbers),
            "prediction": self.prediction(drawn),
            **{
                f"{name}={value:g}": float((numbers[name] == value).mean())
                for name, value in self._table.named
            },
        }

    def real_figures(self) -> dict[str, float]:
        """The same of records that are held out, and what the records themselves predict."""
        return self.figures(self._table.held_out) | {
            "prediction": self.prediction(self._table.frame)
        }

    def of_columns(self, drawn: pd.DataFrame) -> pd.DataFrame:
        """KS and Wasserstein distances of each numeric column, in its own unit."""
        numbers = self._numeric(drawn)
        rows = {
            name: {
                "KS": kolmogorov_smirnov(self._real[name].dropna(), numbers[name].dropna()),
                "Wasserstein": wasserstein(self._real[name].dropna(), numbers[name].dropna()),
                "heavy": self._heavy(numbers[[name]]),
            }
            for name in numbers
        }
        return pd.DataFrame.from_dict(rows, orient="index")

    def told_apart(self, drawn: pd.DataFrame) -> float:
        """Area under the curve of boosted trees that tell real rows from drawn ones."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.model_selection import cross_val_score

        n_rows = min(len(self._table.frame), len(drawn), MOST_JUDGED)
        both = [
            self._features(frame.sample(n_rows, random_state=0))
            for frame in (self._table.frame, drawn)
        ]
        labels = np.repeat([0, 1], n_rows)
        rows = pd.concat(both, ignore_index=True)
        order = np.random.default_rng(0).permutation(len(rows))
        scores = cross_val_score(
            HistGradientBoostingClassifier(random_state=0),
            rows.iloc[order],
            labels[order],
            cv=FOLDS,
            scoring="roc_auc",
        )
        return float(scores.mean())

    def prediction(self, frame: pd.DataFrame) -> float:
        """Trees trained on some rows and tested on the held-out records: of two classes the area
        under the curve, of more the share that is right.
        """
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.metrics import accuracy_score, roc_auc_score

        target = self._table.target
        classes, truth = frame[target].astype(str), self._table.held_out[target].astype(str)
        if classes.nunique() < 2:
            return 0.5
        features, tested = (
            self._features(each.drop(columns=target)) for each in (frame, self._table.held_out)
        )
        if truth.nunique() == 2:
            model = HistGradientBoostingClassifier(random_state=0).fit(features, classes)
            scores = model.predict_proba(tested)[:, 1]
            return float(roc_auc_score(truth == model.classes_[1], scores))
        forest = RandomForestClassifier(100, random_state=0).fit(features.fillna(-1.0), classes)
        return float(accuracy_score(truth, forest.predict(tested.fillna(-1.0))))

    def _features(self, frame: pd.DataFrame) -> pd.DataFrame:
        # A level that is not known has the code -1, as a missing value has: in records "" and in
        # drawn rows NaN are the same, or else the writing of "missing" would tell the two apart.
        codes = {
            name: pd.Index(levels).get_indexer(frame[name].astype(str))
            for name, levels in self._levels.items()
            if name in frame
        }
        numbers = self._numeric(frame[[name for name in self._real if name in frame]])
        return numbers.reset_index(drop=True).assign(**codes)

    def _numeric(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Numbers as they are, and dates as days; NaN where missing."""
        found = {}
        for field in self._table.fields:
            name = field["name"]
            if name not in frame:
                continue
            if field["type"] in ("integer", "number"):
                found[name] = pd.to_numeric(frame[name], errors="coerce").astype(np.float64)
            elif field["type"] == "date":
                days = pd.to_datetime(frame[name], errors="coerce") - pd.Timestamp("1970-01-01")
                found[name] = days.dt.days.astype(np.float64)
        return pd.DataFrame(found)

    def _mean_of(self, numbers: pd.DataFrame, distance: Any) -> float:
        found = [distance(self._real[name].dropna(), numbers[name].dropna()) for name in self._real]
        return float(np.mean(found))

    @staticmethod
    def _scaled_wasserstein(real: pd.Series, drawn: pd.Series) -> float:
        return float(wasserstein(real, drawn) / real.std())

    def _heavy(self, numbers: pd.DataFrame) -> float:
        """Mean relative error of the shares of all values that weigh for themselves, each at most
        1.
        """
        errors = []
        for name in numbers:
            shares = self._real[name].value_counts() / len(self._real)
            drawn = numbers[name].value_counts() / len(numbers)
            for value, share in shares[shares >= HEAVY].items():
                errors.append(min(abs(drawn.get(value, 0.0) / share - 1.0), 1.0))
        return float(np.mean(errors)) if errors else 0.0

    @staticmethod
    def _correlations(numbers: pd.DataFrame) -> np.ndarray:
        matrix = numbers.corr(method="spearman").fillna(0.0).to_numpy()
        return matrix[np.triu_indices(len(matrix), 1)]
