"""What published totals are worth, and what they cost: the same table with and without them.

Run ``python benchmarks/known.py --adult FOLDER`` from the repository root after installing the
package; ``FOLDER`` has the discretised Adult table (``adult.csv``, ``domain.json``).

- ``adult``: 48,842 records of 15 columns; known are age x sex, sex x race, and education;
- ``census``: 200,000 made-up persons in 250 places of 25 districts of 9 regions; known are
  persons of each place, of each district by sex, and of each region by age group and sex.

Printed are, without and with what is known, means over the runs of

- ``met``: of all draws the share in which every known table holds to the unit, and the largest
  difference of a cell;
- ``known``, ``other``: mean total variation distance of rows from the records, over known tables
  and over all other pairs of columns;
- ``run``, ``draw``: CPU seconds of a run, and of a draw.
"""

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import synthdp

DELTA = 1e-9
REGIONS, DISTRICTS, PLACES = 9, 25, 250


def main() -> None:
    options = _options()
    tables = {"census": census()}
    if options.adult is not None:
        tables["adult"] = adult(options.adult)
    for name, (frame, schema, known) in tables.items():
        print(f"{name}: {len(frame)} records, epsilon {options.epsilon:g}, {options.runs} runs")
        for is_known in (False, True):
            figures = [
                _figures(frame, schema, known, options, is_known=is_known)
                for _ in range(options.runs)
            ]
            met = np.mean([each["met"] for each in figures])
            line = f"  {'with' if is_known else 'without'} what is known: met in {met:.0%} of draws"
            line += f" (off by at most {max(each['off'] for each in figures):g})"
            for key in ("known", "other", "run", "draw"):
                values = [each[key] for each in figures]
                line += f", {key} {np.mean(values):.4f}"
            print(line, flush=True)


def _figures(
    frame: pd.DataFrame,
    schema: Any,
    known: list[pd.DataFrame],
    options: argparse.Namespace,
    *,
    is_known: bool,
) -> dict[str, float]:
    began = time.process_time()
    synthesis = synthdp.synthesize(
        frame, schema, epsilon=options.epsilon, delta=DELTA, known=known if is_known else None
    )
    ran = time.process_time()
    tables = [synthesis.sample(seed=seed) for seed in range(options.draws)]
    drawn = time.process_time()
    differences = [max(_off(table, each) for each in known) for table in tables]
    named = [frozenset(_names(each)) for each in known]
    pairs = [
        pair
        for pair in itertools.combinations(schema_names(schema), 2)
        if frozenset(pair) not in named
    ]
    distances = [_distance(tables[0], _with_levels(frame), list(pair)) for pair in pairs]
    return {
        "met": float(np.mean([each == 0 for each in differences])),
        "off": float(max(differences)),
        "known": float(
            np.mean([_distance(tables[0], _with_levels(frame), _names(k)) for k in known])
        ),
        "other": float(np.mean(distances)),
        "run": ran - began,
        "draw": (drawn - ran) / options.draws,
    }


def schema_names(schema: Any) -> list[str]:
    """The columns of a schema."""
    return [field["name"] for field in schema["fields"]] if "fields" in schema else list(schema)


def _names(known: pd.DataFrame) -> list[str]:
    return [name for name in known.columns if name != "count"]


def _off(table: pd.DataFrame, known: pd.DataFrame) -> float:
    names = _names(known)
    drawn = _with_levels(table).groupby(names).size()
    published = known.set_index(names)["count"]
    return float(published.sub(drawn, fill_value=0).abs().max())


def _distance(table: pd.DataFrame, truth: pd.DataFrame, names: list[str]) -> float:
    drawn = _with_levels(table).groupby(names).size() / len(table)
    expected = truth.groupby(names).size() / len(truth)
    return float(drawn.sub(expected, fill_value=0).abs().sum() / 2)


def _with_levels(table: pd.DataFrame) -> pd.DataFrame:
    """A table with the coarser levels of its columns."""
    if "place" not in table:
        return table
    number = table["place"].str[1:].astype(int)
    return table.assign(
        district="d" + (number % DISTRICTS).astype(str),
        region="r" + (number % DISTRICTS % REGIONS).astype(str),
        **{"age group": np.select([table["age"] < 18, table["age"] < 65], ["young", "mid"], "old")},
    )


def adult(folder: Path) -> tuple[pd.DataFrame, dict[str, int], list[pd.DataFrame]]:
    """The discretised Adult table, and three of its marginals."""
    frame = pd.read_csv(folder / "adult.csv")
    sizes = json.loads((folder / "domain.json").read_text())
    known = []
    for names in (["age", "sex"], ["race", "sex"], ["education-num"]):
        levels = pd.MultiIndex.from_product([range(sizes[name]) for name in names], names=names)
        counts = (
            frame.groupby(names)
            .size()
            .reindex(levels if len(names) > 1 else range(sizes[names[0]]))
        )
        known.append(counts.fillna(0).astype(int).rename("count").rename_axis(names).reset_index())
    return frame, sizes, known


def census(n_rows: int = 200_000) -> tuple[pd.DataFrame, dict[str, Any], list[pd.DataFrame]]:
    """Made-up persons in places of very unequal size, in which age, sex, work and homes depend."""
    chance = np.random.default_rng(7)
    weights = chance.pareto(1.5, PLACES) + 0.2
    number = chance.choice(PLACES, n_rows, p=weights / weights.sum())
    district = number % DISTRICTS
    old = chance.random(DISTRICTS)[district]
    age = np.minimum(99, (chance.gamma(2 + 2 * old, 12 + 4 * old)).astype(int))
    sex = np.where(chance.random(n_rows) < 0.48 + 0.1 * (age > 70), "f", "m")
    work = np.where(
        age < 18, "none", chance.choice(["none", "part", "full"], n_rows, p=[0.3, 0.2, 0.5])
    )
    work = np.where((age > 66) & (chance.random(n_rows) < 0.8), "none", work)
    rooms = 1 + np.minimum(5, chance.poisson(1 + 2 * chance.random(PLACES)[number]))
    frame = pd.DataFrame(
        {
            "place": [f"p{each}" for each in number],
            "sex": sex,
            "age": age,
            "work": work,
            "rooms": rooms,
        }
    )
    places = [f"p{each}" for each in range(PLACES)]
    hierarchy = {
        "district": {
            "of": "place",
            "groups": {f"d{d}": places[d::DISTRICTS] for d in range(DISTRICTS)},
        },
        "region": {
            "of": "district",
            "groups": {
                f"r{r}": [f"d{d}" for d in range(r, DISTRICTS, REGIONS)] for r in range(REGIONS)
            },
        },
        "age group": {
            "of": "age",
            "groups": {"young": ["[0, 18)"], "mid": ["[18, 65)"], "old": ["[65, 99]"]},
        },
    }
    required = {"required": True}
    fields = [
        {"name": "place", "type": "string", "constraints": {"enum": places} | required},
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]} | required},
        {
            "name": "age",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 99} | required,
            "synthdp": {"edges": [0, 6, 12, 18, 25, 35, 45, 55, 65, 75, 85, 99]},
        },
        {
            "name": "work",
            "type": "string",
            "constraints": {"enum": ["none", "part", "full"]} | required,
        },
        {
            "name": "rooms",
            "type": "integer",
            "constraints": {"minimum": 1, "maximum": 6} | required,
            "synthdp": {"bins": 6},
        },
    ]
    schema = {"fields": fields, "synthdp": {"hierarchy": hierarchy}}
    whole = _with_levels(frame)
    known = [
        _listed(whole, {"place": places}),
        _listed(whole, {"district": list(hierarchy["district"]["groups"]), "sex": ["f", "m"]}),
        _listed(
            whole,
            {
                "region": list(hierarchy["region"]["groups"]),
                "age group": ["young", "mid", "old"],
                "sex": ["f", "m"],
            },
        ),
    ]
    return frame, schema, known


def _listed(table: pd.DataFrame, levels: dict[str, list[str]]) -> pd.DataFrame:
    """Counts of all combinations of levels, also of those that nobody has."""
    counts = table.groupby(list(levels)).size()
    every = pd.MultiIndex.from_product(levels.values(), names=list(levels))
    counts = counts.reindex(every if len(levels) > 1 else next(iter(levels.values())), fill_value=0)
    return counts.rename_axis(list(levels)).rename("count").reset_index()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", type=Path, help="folder of the discretised Adult table")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--draws", type=int, default=20)
    return parser.parse_args()


if __name__ == "__main__":
    main()
