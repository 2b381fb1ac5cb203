"""A made-up package of households, the people in them, their visits to a doctor, and vehicles; all
is invented.

python data/make_families.py            # writes data/families again, byte for byte
python data/make_families.py FOLDER N   # N households into FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

N_HOUSEHOLDS = 1500
REGIONS = ["coast", "hills", "north", "plain", "port"]
TENURES, INCOMES = ["owns", "rents", "other"], ["low", "middle", "high", "top"]
ROLES, SCHOOLING = ["head", "partner", "child", "other"], ["none", "school", "trade", "degree"]
REASONS, FUELS = ["check-up", "infection", "injury", "chronic"], ["petrol", "diesel", "electric"]
FIRST_DAY, N_DAYS = np.datetime64("2024-01-01"), 366


def drawn(rng: np.random.Generator, chances: np.ndarray) -> np.ndarray:
    """For each row of chances, shape (n, k), one of k."""
    sums = np.cumsum(chances, axis=1)
    return (rng.random(len(sums))[:, None] * sums[:, -1:] > sums).sum(axis=1)


def households_of(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Income follows region; tenure follows both."""
    region = rng.choice(5, n, p=[0.25, 0.1, 0.2, 0.3, 0.15])
    incomes = np.array([[3, 4, 2, 1], [4, 4, 1, 0.3], [4, 3, 1, 0.5], [2, 4, 3, 1], [1, 3, 4, 2]])
    income = drawn(rng, incomes[region])
    owns = 0.2 + 0.15 * income + 0.2 * (region == 1) - 0.1 * (region == 4)
    tenure = drawn(rng, np.column_stack([owns, 0.9 - owns, np.full(n, 0.1)]))
    return pd.DataFrame({"region": region, "income": income, "tenure": tenure})


def people_of(rng: np.random.Generator, homes: pd.DataFrame) -> pd.DataFrame:
    """Owners have more children; partners are of an age and of a schooling; children are younger
    than the head.
    """
    n = len(homes)
    head_age = np.clip(
        rng.normal(42 + 6 * (homes["tenure"] == 0) + 3 * homes["income"], 14, n), 18, 95
    ).astype(int)
    is_family = rng.random(n) < 0.35 + 0.25 * (homes["tenure"] == 0) + 0.1 * (head_age > 30)
    n_children = np.minimum(
        rng.poisson(np.where((head_age > 24) & (head_age < 58), 0.4 + 0.9 * is_family, 0.05)), 3
    )
    n_others = rng.random(n) < 0.08 + 0.12 * (homes["tenure"] == 1)
    schooling = np.clip(
        np.round(0.8 + 0.55 * homes["income"] + rng.normal(0, 0.7, n)), 0, 3
    ).astype(int)
    sexes = rng.integers(0, 2, n)
    parts = []
    for role, counts in enumerate(
        [np.ones(n, int), is_family.astype(int), n_children, n_others.astype(int)]
    ):
        home = np.repeat(np.arange(n), counts)
        age, school, sex = head_age[home], schooling[home], rng.integers(0, 2, len(home))
        if role == 0:
            sex = sexes[home]
        elif role == 1:
            age = np.clip(age + np.round(rng.normal(-1, 3, len(home))), 18, 99).astype(int)
            school = np.where(rng.random(len(home)) < 0.65, school, rng.integers(0, 4, len(home)))
            sex = np.where(rng.random(len(home)) < 0.96, 1 - sexes[home], sexes[home])
        elif role == 2:
            age = np.clip(age - np.round(rng.normal(29, 4, len(home))), 0, age - 16).astype(int)
            school = np.where(age < 16, 0, np.minimum(school, 1 + (age > 20)))
        else:
            age, school = rng.integers(18, 90, len(home)), rng.integers(0, 4, len(home))
        parts.append(
            pd.DataFrame({"home": home, "role": role, "age": age, "sex": sex, "schooling": school})
        )
    people = pd.concat(parts).sort_values(["home", "role"], kind="stable").reset_index(drop=True)
    people["number"] = people.groupby("home").cumcount() + 1
    return people


def visits_of(rng: np.random.Generator, people: pd.DataFrame) -> pd.DataFrame:
    """The old come more often; who came for something chronic comes for it again, some weeks later."""
    counts = np.minimum(rng.poisson(0.1 + people["age"] / 70), 4)
    person = np.repeat(np.arange(len(people)), counts)
    age = people["age"].to_numpy()[person]
    is_first = np.concatenate([[True], person[1:] != person[:-1]])
    old = np.clip(age / 90, 0, 1)
    chances = np.column_stack(
        [np.full(len(age), 0.3), 0.5 - 0.3 * old, 0.3 - 0.15 * old, 0.05 + 0.6 * old]
    )
    fresh, reason, day = drawn(rng, chances), np.zeros(len(age), int), np.zeros(len(age), int)
    for row in range(len(age)):
        again = not is_first[row] and rng.random() < (0.8 if reason[row - 1] == 3 else 0.25)
        reason[row] = reason[row - 1] if again else fresh[row]
        day[row] = (
            rng.integers(0, 150)
            if is_first[row]
            else min(day[row - 1] + 10 + rng.geometric(1 / 45), N_DAYS - 1)
        )
    cost = np.round(np.array([40, 70, 180, 120])[reason] * rng.lognormal(0, 0.4, len(age)))
    return pd.DataFrame(
        {
            "person": person,
            "date": FIRST_DAY + day,
            "reason": reason,
            "cost": np.clip(cost, 10, 999),
        }
    )


def vehicles_of(rng: np.random.Generator, homes: pd.DataFrame) -> pd.DataFrame:
    """The rich have more and newer ones; who has one electric vehicle has another."""
    counts = np.minimum(rng.poisson(0.4 + 0.35 * homes["income"]), 3)
    home = np.repeat(np.arange(len(homes)), counts)
    income = homes["income"].to_numpy()[home]
    kind = drawn(
        rng,
        np.column_stack([np.full(len(homes), 5), np.full(len(homes), 3), 0.3 + homes["income"]]),
    )[home]
    fuel = np.where(rng.random(len(home)) < 0.7, kind, rng.integers(0, 3, len(home)))
    year = 2024 - np.minimum(rng.geometric(1 / (11 - 2 * income)), 24)
    return pd.DataFrame(
        {"home": home, "fuel": fuel, "year": np.where(fuel == 2, np.maximum(year, 2014), year)}
    )


def package_of_families(n: int = N_HOUSEHOLDS, seed: int = 17) -> dict[str, pd.DataFrame]:
    """The tables, with keys in no order."""
    rng = np.random.default_rng(seed)
    homes = households_of(rng, n)
    people = people_of(rng, homes)
    visits, vehicles = visits_of(rng, people), vehicles_of(rng, homes)
    keys = np.array([f"H{number:05d}" for number in rng.permutation(10 * n)[:n]])
    words = {
        "region": REGIONS,
        "income": INCOMES,
        "tenure": TENURES,
        "role": ROLES,
        "sex": ["F", "M"],
    }
    words |= {"schooling": SCHOOLING, "reason": REASONS, "fuel": FUELS}
    owners = people.iloc[visits["person"]].reset_index(drop=True)
    tables = {
        "households": homes.assign(household=keys)[["household", "region", "income", "tenure"]],
        "people": people.assign(household=keys[people["home"]])[
            ["household", "number", "role", "age", "sex", "schooling"]
        ],
        "visits": visits.assign(household=keys[owners["home"]], number=owners["number"])[
            ["household", "number", "date", "reason", "cost"]
        ].astype({"cost": int}),
        "vehicles": vehicles.assign(household=keys[vehicles["home"]])[
            ["household", "fuel", "year"]
        ],
        "regions": pd.DataFrame(
            {"region": REGIONS, "name": [f"The {region.title()}" for region in REGIONS]}
        ),
    }
    for name, levels in words.items():
        for table in ("households", "people", "visits", "vehicles"):
            if name in tables[table]:
                tables[table][name] = np.array(levels)[tables[table][name]]
    return tables


def field(name: str, kind: str, **constraints: object) -> dict[str, object]:
    """A column that is never missing."""
    return {"name": name, "type": kind, "constraints": {"required": True, **constraints}}


def description() -> dict[str, object]:
    """The package, from code lists and legal bounds and never from the rows."""
    household, number = (
        {"name": "household", "type": "string"},
        {"name": "number", "type": "integer"},
    )
    to_household = {
        "fields": "household",
        "reference": {"resource": "households", "fields": "household"},
    }
    person = ["household", "number"]
    ages = {"edges": [0, 6, 12, 18, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 99]}
    schemas: dict[str, dict[str, object]] = {
        "households": {
            "fields": [
                household,
                {"name": "region", "type": "string", "constraints": {"required": True}},
                field("income", "string", enum=INCOMES),
                field("tenure", "string", enum=TENURES),
            ],
            "primaryKey": "household",
            "foreignKeys": [
                {"fields": "region", "reference": {"resource": "regions", "fields": "region"}}
            ],
        },
        "people": {
            "fields": [
                household,
                number,
                field("role", "string", enum=ROLES),
                field("age", "integer", minimum=0, maximum=99) | {"synthdp": ages},
                field("sex", "string", enum=["F", "M"]),
                field("schooling", "string", enum=SCHOOLING),
            ],
            "primaryKey": person,
            "foreignKeys": [to_household],
            "synthdp": {
                "constraints": [
                    {"forbid": {"age": {"maximum": 17}, "role": ["head", "partner"]}},
                    {"forbid": {"age": {"maximum": 11}, "schooling": ["trade", "degree"]}},
                ]
            },
        },
        "visits": {
            "fields": [
                household,
                number,
                field("date", "date", minimum="2024-01-01", maximum="2024-12-31")
                | {"synthdp": {"bins": 12}},
                field("reason", "string", enum=REASONS),
                field("cost", "integer", minimum=0, maximum=1000) | {"synthdp": {"bins": 10}},
            ],
            "foreignKeys": [
                {"fields": person, "reference": {"resource": "people", "fields": person}}
            ],
        },
        "vehicles": {
            "fields": [
                household,
                field("fuel", "string", enum=FUELS),
                field("year", "integer", minimum=2000, maximum=2024) | {"synthdp": {"bins": 8}},
            ],
            "foreignKeys": [to_household],
        },
        "regions": {
            "fields": [{"name": "region", "type": "string"}, {"name": "name", "type": "string"}]
        },
    }
    head = {"where": {"role": ["head"]}, "at_least": 1, "at_most": 1}
    partner = {"where": {"role": ["partner"]}, "at_most": 1}
    own = {
        "people": {"max_children": 6, "order": "role", "limits": [head, partner]},
        "visits": {"max_children": 4, "order": "date"},
        "vehicles": {"max_children": 3},
        "regions": {"public": True},
    }
    resources = [
        {"name": name, "path": f"{name}.csv", "schema": schema}
        | ({"synthdp": own[name]} if name in own else {})
        for name, schema in schemas.items()
    ]
    return {"name": "families", "synthdp": {"root": "households"}, "resources": resources}


def main() -> None:
    """Write the tables and their description."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "families"
    folder.mkdir(exist_ok=True)
    for name, table in package_of_families(
        int(sys.argv[2]) if len(sys.argv) > 2 else N_HOUSEHOLDS
    ).items():
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    (folder / "datapackage.json").write_text(json.dumps(description(), indent=2) + "\n")


if __name__ == "__main__":
    main()
