"""A made-up household survey of two years in three regions, for docs/household-survey.md.

Run ``python docs/household_survey.py`` in an empty folder. It writes the rows of each region in
2025 and of all in 2026, how many households each region is asked, the schema, and who answers.
Households of the islands are asked more often, so that each weighs less.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

ASKED = {"north": 1500, "south": 1200, "islands": 1500}
WEIGHT = {"north": 100, "south": 100, "islands": 20}
EDGES = [0, 750, 1250, 1750, 2250, 2750, 3500, 4500, 6000, 10_000]
ABOUT = {
    "name": "Household survey",
    "curators": [{"name": "Office of a made country", "type": "Government"}],
}


def survey(year: int) -> pd.DataFrame:
    """What the households answer that are asked in a year."""
    chance = np.random.default_rng(year)
    region = np.repeat(list(ASKED), list(ASKED.values()))
    is_island = region == "islands"
    persons = np.minimum(1 + chance.poisson(1.2 + 0.5 * is_island), 6)
    owns = chance.random(region.size) < 0.2 + 0.1 * persons
    level = 7.2 + 0.03 * (year - 2025) + 0.3 * np.log(persons) - 0.2 * is_island
    income = np.minimum(np.exp(chance.normal(level, 0.4)).round(), EDGES[-1])
    columns = {"region": region, "persons": persons, "home": np.where(owns, "owned", "rented")}
    weight = [WEIGHT[name] for name in region]
    return pd.DataFrame(columns | {"income": income, "weight": weight})


def schema() -> dict[str, object]:
    """The same levels and bounds for all houses."""
    levels = {
        "region": ("string", list(ASKED)),
        "persons": ("integer", list(range(1, 7))),
        "home": ("string", ["owned", "rented"]),
        "weight": ("integer", sorted(set(WEIGHT.values()))),
    }
    fields: list[dict[str, object]] = [
        {"name": name, "type": kind, "constraints": {"enum": enum, "required": True}}
        for name, (kind, enum) in levels.items()
    ]
    bounds = {"minimum": EDGES[0], "maximum": EDGES[-1], "required": True}
    own = {"decimals": 0, "edges": EDGES}
    fields.append({"name": "income", "type": "number", "constraints": bounds, "synthdp": own})
    return {"fields": fields}


def main() -> None:
    """Write all of it."""
    for region, rows in survey(2025).groupby("region"):
        rows.to_csv(f"{region}-2025.csv", index=False)
    survey(2026).to_csv("all-2026.csv", index=False)
    pd.Series(ASKED, name="count").rename_axis("region").to_csv("asked.csv")
    for name, content in (("schema", schema()), ("about", ABOUT)):
        Path(f"{name}.json").write_text(json.dumps(content, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
