"""What checks between columns cost, and what they gain: the same tables with and without them.

Run ``python benchmarks/rules.py`` from the repository root after installing the package with its
test extra, which has scikit-learn. Nothing is downloaded:

- ``loans``: 20,000 made-up loans with dates, amounts and an income that is the sum of two others; a
  quarter of them have no end yet;
- ``tumours``: 569 real ones [scikit-learn] with 30 numbers, of which the mean is never above the
  worst.

Schemas declare bounds, and with ``--derive`` leave them to be learnt. Each run is made without
checks (``none``), sampled with them (``drawing``: engines know nothing of them; only where bounds
are declared), and made with them from the start (``model``). Printed are the mean and standard
deviation over runs of

- ``broken``: the share of rows that break a comparison; ``off``: those that break a sum;
- ``1-way``, ``2-way``: mean total variation distance of all columns, and all pairs, on 32 bins;
- ``gap``: mean Kolmogorov-Smirnov distance of the differences between the sides of the comparisons.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from common.numeric_tables import breast_cancer

import synthdp
from synthdp.data import CodedSource, encode
from synthdp.release import Synthesis
from synthdp.report import kolmogorov_smirnov, workload_error
from synthdp.schema import Schema

DELTA = 1e-9
Sides = tuple[Sequence[str], Sequence[str]]
"""The columns that are added up on the lesser side of a check, and on the greater; of sums on
either.
"""


def main() -> None:
    options = _options()
    for name in options.tables:
        frame, fields, checks = TABLES[name]()
        plain = {"fields": [_open(field) if options.derive else field for field in fields]}
        ruled = plain | {"synthdp": {"constraints": [{"check": check} for check in checks]}}
        judge = _Judge(frame, Schema.from_dict({"fields": fields}), checks)
        found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for seed in range(options.seeds):
            for kind, run in _runs(frame, plain, ruled, options).items():
                for key, value in judge.errors(run.sample(len(frame), seed=seed)).items():
                    found[kind][key].append(value)
        print(
            f"{name}, {len(frame)} records, epsilon {options.epsilon:g}, {options.seeds} runs: mean (sd)"
        )
        print(f"{'checks':10}" + "".join(f"{key:>18}" for key in found["none"]))
        for kind, figures in found.items():
            cells = (f"{np.mean(values):.4f} ({np.std(values):.4f})" for values in figures.values())
            print(f"{kind:10}" + "".join(f"{cell:>18}" for cell in cells))
        print()


def _runs(
    frame: pd.DataFrame,
    plain: Mapping[str, Any],
    ruled: Mapping[str, Any],
    options: argparse.Namespace,
) -> dict[str, Synthesis]:
    """One run without checks, the same sampled with them if its bounds are declared, and one with
    them.
    """
    settings = {"epsilon": options.epsilon, "delta": DELTA, "mechanism": options.mechanism}
    none, model = (synthdp.synthesize(frame, schema, **settings) for schema in (plain, ruled))
    if options.derive:
        return {"none": none, "model": model}
    checked = Schema.from_dict(none.schema.to_dict() | {"synthdp": ruled["synthdp"]})
    drawing = Synthesis(
        schema=checked,
        measurements=none.measurements,
        model=none.model,
        certificate=none.certificate,
    )
    return {"none": none, "drawing": drawing, "model": model}


def _open(field: Mapping[str, Any]) -> dict[str, Any]:
    """A field whose bounds and bins are to be learnt; lists of levels stay."""
    required = {
        key: value for key, value in field["constraints"].items() if key in ("required", "enum")
    }
    derive = {} if "enum" in required else {"synthdp": {"derive": ["bounds", "bins"]}}
    return {"name": field["name"], "type": field["type"], "constraints": required} | derive


class _Judge:
    """Errors of synthetic tables against the real one."""

    def __init__(self, real: pd.DataFrame, schema: Schema, checks: Mapping[str, Sides]) -> None:
        self._real, self._schema, self._checks = real, schema, checks
        self._truth = CodedSource(encode(real, schema))

    def errors(self, table: pd.DataFrame) -> dict[str, float]:
        counts = CodedSource(encode(table, self._schema))
        broken, off = np.zeros((2, len(table)), np.bool_)
        distances = []
        for check, sides in self._checks.items():
            gaps = _gaps(table, sides)
            if " = " in check:
                off |= (gaps.abs() > 1e-6).to_numpy()
            else:
                broken |= (gaps < -1e-6).to_numpy()
                distances.append(
                    kolmogorov_smirnov(_gaps(self._real, sides).dropna(), gaps.dropna())
                )
        names = self._schema.domain.attributes
        errors = {
            f"{k}-way": workload_error(self._truth.counts, counts.counts, combinations(names, k))
            for k in (1, 2)
        }
        shares = {"broken": float(broken.mean()), "off": float(off.mean())}
        return shares | errors | {"gap": float(np.mean(distances))}


def _gaps(table: pd.DataFrame, sides: Sides) -> pd.Series:
    """What the greater side is above the lesser one, of dates in days; NaN where something is
    missing.
    """
    lesser, greater = (sum(_numbers(table[name]) for name in side) for side in sides)
    return greater - lesser


def _numbers(values: pd.Series) -> pd.Series:
    if values.dtype.kind == "M":
        return (values - pd.Timestamp("2000-01-01")) / pd.Timedelta(days=1)
    return values.astype("float64")


def loans(n_rows: int = 20_000) -> tuple[pd.DataFrame, list[dict[str, Any]], dict[str, Sides]]:
    """Made-up loans: most run for a few years, and most houses are worth little more than is lent
    on them.
    """
    generator = np.random.default_rng(0)
    region = generator.choice(8, n_rows, p=generator.dirichlet(np.full(8, 2.0)))
    wealth = generator.normal(region / 8, 0.5)
    start = np.datetime64("2005-01-01") + generator.integers(0, 5800, n_rows).astype(
        "timedelta64[D]"
    )
    end = start + np.minimum(generator.gamma(2, 400, n_rows), 1400).astype(np.int64).astype(
        "timedelta64[D]"
    )
    mortgage = np.round(np.exp(11.3 + 0.5 * wealth + generator.normal(0, 0.35, n_rows)), -2)
    value = np.round(mortgage * (1 + generator.exponential(0.3, n_rows)), -2)
    wages = np.round(np.exp(7.6 + 0.4 * wealth + generator.normal(0, 0.3, n_rows)), 2)
    rents = np.where(
        generator.random(n_rows) < 0.6, 0, np.round(generator.gamma(1.5, 250, n_rows), 2)
    )
    frame = pd.DataFrame(
        {
            "region": [f"r{number}" for number in region],
            "start": start,
            "end": pd.Series(end).where(generator.random(n_rows) < 0.75),
            "value": np.clip(value, 0, 999_900).astype(np.int64),
            "mortgage": np.clip(mortgage, 0, 999_900).astype(np.int64),
            "wages": wages,
            "rents": rents,
            "income": np.round(wages + rents, 2),
        }
    )
    levels = {"enum": [f"r{number}" for number in range(8)], "required": True}
    dates = {"minimum": "2005-01-01", "maximum": "2024-12-31"}
    fields: list[dict[str, Any]] = [
        {"name": "region", "type": "string", "constraints": levels},
        {"name": "start", "type": "date", "constraints": dates | {"required": True}},
        {"name": "end", "type": "date", "constraints": dates},
    ]
    for name, kind, most in (
        ("value", "integer", 1_000_000),
        ("mortgage", "integer", 1_000_000),
        ("wages", "number", 12_000),
        ("rents", "number", 4_000),
        ("income", "number", 14_000),
    ):
        own = {"synthdp": {"decimals": 2}} if kind == "number" else {}
        limits = {"minimum": 0, "maximum": most, "required": True}
        fields.append({"name": name, "type": kind, "constraints": limits} | own)
    checks: dict[str, Sides] = {
        "start <= end": (["start"], ["end"]),
        "value >= mortgage": (["mortgage"], ["value"]),
        "income = wages + rents": (["wages", "rents"], ["income"]),
    }
    return frame, fields, checks


def tumours() -> tuple[pd.DataFrame, list[dict[str, Any]], dict[str, Sides]]:
    """Real tumours: ten measures, of each the mean over cells, its error, and the worst."""
    table = breast_cancer(None)  # type: ignore[arg-type]
    means = [name for name in table.numbers if name.startswith("mean ")]
    pairs = {f"`{mean}` <= `worst {mean[5:]}`": ([mean], [f"worst {mean[5:]}"]) for mean in means}
    return table.frame, table.schema.to_dict()["fields"], pairs


TABLES = {"loans": loans, "tumours": tumours}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What checks between columns cost and gain.")
    parser.add_argument("--tables", nargs="+", choices=tuple(TABLES), default=tuple(TABLES))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--mechanism", default="auto")
    parser.add_argument("--derive", action="store_true", help="leave bounds and bins to be learnt")
    return parser.parse_args()


if __name__ == "__main__":
    main()
