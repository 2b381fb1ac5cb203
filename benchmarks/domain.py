"""What it costs not to know the domain: names and kinds only, against public schemas.

Run ``python benchmarks/domain.py`` from the repository root after installing the package with its
test extra, which has scikit-learn. Raw Adult is not part of the project: it is looked for in
``../shared/data/adult``, or where ``--data`` says (a folder with ``adult.csv`` and
``adult_test.csv``).

Adult at epsilon 1, delta 1e-9 in all, whole runs of the command line:

- ``kinds``: names and kinds of the columns; everything else is derived within the budget;
- ``public``: ``benchmarks/schemas/adult.json``, levels and bins from the code book;
- ``public-32``: the same, with 32 equally wide bins, the very bins that errors are measured on;
- ``real``: the records themselves, as a yardstick.

Errors are of the written table: mean total variation distance over all pairs of columns, on 32
equally wide bins; area under the curve of boosted trees trained on it and tested on
``adult_test.csv``; Kolmogorov-Smirnov distance of each numeric column, also of the sample in
``data/``. ``--levels`` instead reads a million rows with a column of 100,000 texts.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common.processes import synthdp_run

from synthdp.data import CodedSource, encode
from synthdp.release import MECHANISMS
from synthdp.report import kolmogorov_smirnov, total_variation
from synthdp.schema import Schema

ROOT = Path(__file__).resolve().parents[1]
EPSILON, DELTA = 1.0, 1e-9
BINS = 32
TARGET = "income"
SAMPLE_KINDS = {
    "household_size": "integer",
    "age": "integer",
    "hours": "integer",
    "income": "number",
    "moved": "date",
    "born_abroad": {"type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]},
}


def main() -> None:
    options = _options()
    if options.levels:
        _many_levels()
        return
    public = json.loads((ROOT / "benchmarks/schemas/adult.json").read_text())
    schemas = {"kinds": _kinds(public), "public": public, "public-32": _equal_width(public)}
    real, held_out = (
        _read(options.data / name, options.rows) for name in ("adult.csv", "adult_test.csv")
    )
    judge = _Judge(real, held_out, _measured_on(public))
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in range(options.seeds):
        for name, schema in schemas.items():
            table, costs = _run(
                real, schema, seed, kinds=name == "kinds", mechanism=options.mechanism
            )
            for key, value in (judge.errors(table) | costs).items():
                found[name][key].append(value)
    print(
        f"Adult, {len(real)} records, epsilon {EPSILON}, delta {DELTA}, {options.seeds} seeds: mean (sd)\n"
    )
    found["real"] = {"AUC": [judge.area(real)]}
    _print(found)
    base = found["kinds"]
    for name in ("public", "public-32"):
        ratios = ", ".join(
            f"{key} {np.mean(base[key]) / np.mean(found[name][key]):.3f}" for key in base
        )
        print(f"\nkinds / {name}: {ratios}")
    _sample(options.seeds, options.rows, options.mechanism)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Derived against declared domains.")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/adult")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, help="only so many of the records, the first ones")
    parser.add_argument("--mechanism", default="auto", choices=tuple(MECHANISMS))
    parser.add_argument(
        "--levels", action="store_true", help="a million rows with a column of 100,000 texts"
    )
    options = parser.parse_args()
    if not options.levels and not (options.data / "adult_test.csv").exists():
        parser.error(
            f"{options.data} holds no adult.csv and adult_test.csv; name the folder with --data"
        )
    return options


def _kinds(schema: dict[str, Any]) -> dict[str, str]:
    return {
        field["name"]: "categorical" if field["type"] == "string" else field["type"]
        for field in schema["fields"]
    }


def _equal_width(schema: dict[str, Any]) -> dict[str, Any]:
    """The public schema with equally wide bins in all numeric columns."""
    fields = []
    for field in schema["fields"]:
        limits = field["constraints"]
        is_number = field["type"] == "integer"
        own = (
            {"synthdp": {"bins": min(BINS, limits["maximum"] - limits["minimum"] + 1)}}
            if is_number
            else {}
        )
        fields.append(field | own)
    return schema | {"fields": fields}


def _measured_on(schema: dict[str, Any]) -> Schema:
    """The domain that errors are measured on: any column may be missing, and texts may be something
    else.
    """
    fields = []
    for field in _equal_width(schema)["fields"]:
        constraints = {
            key: value for key, value in field["constraints"].items() if key != "required"
        }
        own = {"other": "something else"} if field["type"] == "string" else field["synthdp"]
        fields.append(field | {"constraints": constraints, "synthdp": own})
    return Schema.from_dict(schema | {"fields": fields})


class _Judge:
    """Errors of synthetic tables against the real one."""

    def __init__(self, real: pd.DataFrame, held_out: pd.DataFrame, schema: Schema) -> None:
        self._real, self._held_out, self._schema = real, held_out, schema
        self._truth = CodedSource(encode(real, schema))
        self._numeric = [
            column.name for column in schema.columns if column.field()["type"] == "integer"
        ]

    def errors(self, table: pd.DataFrame) -> dict[str, float]:
        synthetic = CodedSource(encode(table, self._schema))
        pairs = combinations(self._schema.names, 2)
        distances = [
            total_variation(self._truth.counts(pair), synthetic.counts(pair)) for pair in pairs
        ]
        found = {"2-way TVD": float(np.mean(distances)), "AUC": self.area(table)}
        for name in self._numeric:
            found[f"KS {name}"] = kolmogorov_smirnov(
                *(_numbers(frame[name]) for frame in (self._real, table))
            )
        return found

    def area(self, table: pd.DataFrame) -> float:
        """Train on a table, test on the held-out records."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.metrics import roc_auc_score

        model = HistGradientBoostingClassifier(random_state=0)
        model.fit(self._features(table), table[TARGET] == ">50K")
        return float(
            roc_auc_score(
                self._held_out[TARGET] == ">50K",
                model.predict_proba(self._features(self._held_out))[:, 1],
            )
        )

    def _features(self, table: pd.DataFrame) -> pd.DataFrame:
        columns = {}
        for column in self._schema.columns:
            if column.name != TARGET:
                is_number = column.name in self._numeric
                columns[column.name] = (
                    _numbers(table[column.name]) if is_number else column.encode(table[column.name])
                )
        return pd.DataFrame(columns)


def _numbers(values: pd.Series) -> pd.Series:
    return pd.to_numeric(values, errors="coerce")


def _read(path: Path, n_rows: int | None = None) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False, nrows=n_rows)


def _run(
    records: pd.DataFrame,
    schema: dict[str, Any],
    seed: int,
    *,
    kinds: bool,
    mechanism: str = "auto",
) -> tuple[pd.DataFrame, dict[str, float]]:
    """One run of the command line: what it wrote, and what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        data, public, output = (
            Path(folder) / name for name in ("in.csv", "public.json", "out.csv")
        )
        records.to_csv(data, index=False)
        public.write_text(json.dumps(schema))
        files = (data, "--kinds" if kinds else "--schema", public, "-o", output)
        budget = ("--epsilon", EPSILON, "--delta", DELTA)
        costs = synthdp_run(*files, *budget, "--mechanism", mechanism, "--seed", seed)
        return _read(output), costs


def _print(found: dict[str, dict[str, list[float]]]) -> None:
    keys = list(next(iter(found.values())))
    print(f"{'':<22}", *(f"{name:>18}" for name in found))
    for key in keys:
        cells = (
            f"{np.mean(v[key]):.4g} ({np.std(v[key]):.1g})" if key in v else ""
            for v in found.values()
        )
        print(f"{key:<22}", *(f"{cell:>18}" for cell in cells))


def _sample(seeds: int, n_rows: int | None, mechanism: str) -> None:
    """Kolmogorov-Smirnov distances of the sample's numeric columns, after and before."""
    public = json.loads((ROOT / "data/census.schema.json").read_text())
    kinds = {
        field["name"]: SAMPLE_KINDS.get(field["name"], "categorical") for field in public["fields"]
    }
    real = _read(ROOT / "data/census.csv", n_rows)
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in range(seeds):
        for name, schema in (("kinds", kinds), ("public", public)):
            table, costs = _run(real, schema, seed, kinds=name == "kinds", mechanism=mechanism)
            for column in ("household_size", "age", "hours", "income", "moved"):
                read = _days if column == "moved" else _numbers
                pair = [read(frame[column]) for frame in (real, table)]
                found[name][f"KS {column}"].append(kolmogorov_smirnov(*pair))
            for key, value in costs.items():
                found[name][key].append(value)
    print(f"\nthe sample in data/, {len(real)} records, same budget\n")
    _print(found)


def _days(values: pd.Series) -> pd.Series:
    days = pd.to_datetime(values, format="%Y-%m-%d", errors="coerce")
    return (days - pd.Timestamp("1970-01-01")).dt.days.astype(float)


def _many_levels(n_rows: int = 1_000_000, n_levels: int = 100_000) -> None:
    """Time and memory of a column with many levels, half of whose records share a hundred of them."""
    rng = np.random.default_rng(0)
    common = rng.integers(100, size=n_rows)
    levels = np.where(rng.random(n_rows) < 0.5, common, rng.integers(n_levels, size=n_rows))
    table = pd.DataFrame(
        {"code": levels, "age": rng.integers(100, size=n_rows), "sex": rng.integers(2, size=n_rows)}
    )
    table["code"] = "code-" + table["code"].astype(str).str.zfill(6)
    synthetic, costs = _run(
        table, {"code": "categorical", "age": "integer", "sex": "categorical"}, 0, kinds=True
    )
    print(
        f"{n_rows} rows, {table['code'].nunique()} levels, {synthetic['code'].nunique()} of them found"
    )
    print(", ".join(f"{key} {value:.4g}" for key, value in costs.items()))


if __name__ == "__main__":
    main()
