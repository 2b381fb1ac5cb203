"""Tables with several rows a person: what it costs not to know the domain, kinds only against
declared bounds and levels, and what it gains to keep rows of a person together.

Run ``python benchmarks/persons.py`` from the repository root after installing the package. ``orders``
are made up: 8,000 customers with 1 to 20 orders. ``wages`` are 545 men over eight years, from
``pip install --no-deps linearmodels``; without it they are left out.

Errors are of drawn rows: mean total variation distance over all columns, pairs and triples, by levels
and by eighths of the records, so that nobody is graded in bins of its own choosing.
"""

import argparse
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common.linked_sets import folder_of

import synthdp

DELTA = 1e-9
PARTS = 8


class Persons(NamedTuple):
    """A table, the column of its persons, and the most rows of one."""

    frame: pd.DataFrame
    unit: str
    max_rows: int
    kinds: dict[str, Any]
    constant: tuple[str, ...] = ()
    """Columns that are the same in all rows of a person."""


def orders() -> Persons:
    """Orders of customers who mostly return to a shop of theirs."""
    rng = np.random.default_rng(3)
    n_customers = 8_000
    counts = np.clip(rng.geometric(0.25, n_customers), 1, 20)
    who = np.repeat(np.arange(n_customers), counts)
    n = len(who)
    favourite = rng.integers(0, 60, n_customers)
    shop = np.where(rng.random(n) < 0.6, favourite[who], np.minimum(rng.geometric(0.08, n), 90))
    amount = np.exp(rng.normal(3.0, 0.9, n) + 0.3 * (favourite[who] % 4)).round(2)
    frame = pd.DataFrame(
        {
            "customer": who,
            "shop": [f"shop {number}" for number in shop],
            "amount": np.where(rng.random(n) < 0.15, 9.99, amount),
            "day": rng.integers(0, 1000, n),
            "paid": rng.choice(["card", "cash", "app"], n, p=[0.6, 0.3, 0.1]),
            "items": rng.geometric(0.4, n),
        }
    )
    kinds = {"shop": "categorical", "amount": "number", "day": "integer"}
    return Persons(frame, "customer", 20, kinds | {"paid": "categorical", "items": "integer"})


def wages() -> Persons:
    """Men and their years [Vella & Verbeek 1998]."""
    path = folder_of("linearmodels", "datasets") / "wage_panel/wage_panel.csv.bz2"
    columns = ["black", "hisp", "married", "union", "occupation", "year"]
    numbers = {"exper": "integer", "hours": "integer", "educ": "integer", "lwage": "number"}
    frame = pd.read_csv(path)[["nr", *columns, *numbers]].astype(dict.fromkeys(columns, str))
    kinds = dict.fromkeys(columns, "categorical") | numbers
    return Persons(frame, "nr", 8, kinds, constant=("black", "hisp", "educ"))


TABLES: dict[str, Callable[[], Persons]] = {"orders": orders, "wages": wages}


def declared(table: Persons) -> dict[str, Any]:
    """A schema with the levels and bounds that the records have."""
    fields = []
    for name, kind in table.kinds.items():
        values = table.frame[name]
        limits: dict[str, Any] = {"required": True}
        if kind == "categorical":
            limits["enum"] = sorted(values.unique())
        else:
            limits |= {"minimum": values.min().item(), "maximum": values.max().item()}
        field_type = "string" if kind == "categorical" else kind
        fields.append({"name": name, "type": field_type, "constraints": limits})
    return {"fields": fields}


def cells(frame: pd.DataFrame, real: pd.DataFrame) -> dict[str, tuple[np.ndarray, int]]:
    """Of each column the cell of each row, and how many cells there are."""
    found = {}
    for name, values in real.items():
        if values.dtype.kind in "if":
            edges = np.unique(np.quantile(values, np.arange(1, PARTS) / PARTS))
            places = np.searchsorted(edges, frame[name].astype(float), side="right")
            found[str(name)] = (places, len(edges) + 1)
        else:
            levels = {level: place for place, level in enumerate(sorted(values.unique()))}
            places = frame[name].map(levels).fillna(len(levels)).to_numpy(int)
            found[str(name)] = (places, len(levels) + 1)
    return found


def errors(drawn: pd.DataFrame, real: pd.DataFrame) -> list[float]:
    """Mean total variation distances over columns, pairs and triples."""
    sides = [cells(frame, real) for frame in (drawn, real)]
    means = []
    for k in (1, 2, 3):
        distances = []
        for names in combinations(real.columns, k):
            shape = tuple(sides[1][name][1] for name in names)
            tables = [
                np.bincount(
                    np.ravel_multi_index([side[name][0] for name in names], shape),
                    minlength=int(np.prod(shape)),
                )
                for side in sides
            ]
            shares = [table / table.sum() for table in tables]
            distances.append(0.5 * np.abs(shares[0] - shares[1]).sum())
        means.append(float(np.mean(distances)))
    return means


def main() -> None:
    """Print the errors of each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=[*TABLES], choices=TABLES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0, 10.0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    # What noise hides shows in the errors.
    warnings.simplefilter("ignore", synthdp.CautionWarning)
    print("table     epsilon  way                 columns  pairs    triples")
    for name in options.tables:
        table = TABLES[name]()
        real = table.frame[[*table.kinds]]
        ways: dict[str, dict[str, Any]] = {
            "declared": {"schema": declared(table)},
            "learnt": {"kinds": table.kinds},
        }
        for way, known in [*ways.items()]:
            ways[f"{way}, together"] = known | {"together": True}
            if table.constant:
                ways[f"{way}, constant"] = known | {"together": True, "constant": table.constant}
        for epsilon in options.epsilons:
            for way, known in ways.items():
                found = []
                for seed in range(options.seeds):
                    release = synthdp.synthesize(
                        table.frame,
                        **known,
                        epsilon=epsilon,
                        delta=DELTA,
                        unit=table.unit,
                        max_rows_per_unit=table.max_rows,
                        anyway=True,
                    )
                    # Whole persons are drawn by their number, and not by that of their rows.
                    n_rows = {} if "together" in known else {"n_rows": len(real)}
                    drawn = release.sample(**n_rows, seed=seed)
                    found.append(errors(drawn[[*real]], real))
                means = "  ".join(f"{mean:.4f} " for mean in np.mean(found, axis=0))
                print(f"{name:8}  {epsilon:7g}  {way:18}  {means}", flush=True)


if __name__ == "__main__":
    main()
