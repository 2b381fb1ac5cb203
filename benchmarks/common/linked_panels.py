"""More linked tables to try ways on: made-up patients and customers, and real panels of packages on
the index.

Bounds and levels could have been written down by anybody, and are not read off the tables.
"""

import bz2
from typing import Any

import numpy as np
import pandas as pd

from common.linked_sets import Tables, described, field, folder_of, number, some_of


def patients(n: int | None, seed: int) -> tuple[Tables, dict[str, Any]]:
    """Made-up patients and their years, like those of a health insurer: what is so in one year
    mostly is so in the next one.
    """
    n = n or 7_000
    rng = np.random.default_rng(300 + seed)
    born = np.clip(rng.normal(1945, 13, n), 1915, 1968).astype(int)
    schooling = np.clip((rng.normal(1.2, 0.9, n) + (born - 1945) / 30).round(), 0, 3).astype(int)
    sex = rng.integers(0, 2, n)
    frail = rng.normal(0, 1, n)
    n_years = np.minimum(1 + rng.geometric(0.28, n), 7)
    first = 1984 + rng.integers(0, np.maximum(12 - n_years, 1))
    person = np.repeat(np.arange(n), n_years)
    place = np.arange(len(person)) - np.repeat(np.cumsum(n_years) - n_years, n_years)
    year = first[person] + place
    age = year - born[person]
    noise = _carried(rng, person, 0.7)
    health = np.clip((7 - 0.9 * frail[person] - 0.035 * (age - 40) - noise).round(), 0, 10).astype(
        int
    )
    works = rng.random(len(person)) < np.where(age > 62, 0.08, 0.55 + 0.25 * (1 - sex[person]))
    works = np.where((place > 0) & (rng.random(len(person)) < 0.8), np.roll(works, 1), works)
    visits = rng.poisson(np.exp(1.6 - 0.22 * health + 0.2 * sex[person] + 0.2 * noise))
    married = rng.random(n) < 0.7
    weds = married[person] ^ (rng.random(len(person)) < 0.05)
    income = np.clip(
        2000 + 600 * schooling[person] + 900 * works + 700 * rng.normal(size=len(person)), 0, 14_000
    ).astype(int)
    tables = {
        "patients": pd.DataFrame(
            {
                "id": np.arange(n),
                "sex": np.array(["f", "m"])[sex],
                "born": born,
                "schooling": np.array(SCHOOLING)[schooling],
            }
        ),
        "years": pd.DataFrame(
            {
                "patient": person,
                "year": year,
                "health": health,
                "visits": np.minimum(visits, 120),
                "works": np.where(works, "yes", "no"),
                "married": np.where(weds, "yes", "no"),
                "income": income,
            }
        ),
    }
    schemas = {
        "patients": {
            "fields": [
                {"name": "id", "type": "integer"},
                field("sex", "string", enum=["f", "m"]),
                number("born", [1900, *range(1920, 1971, 5), 1990]),
                field("schooling", "string", enum=SCHOOLING),
            ],
            "primaryKey": "id",
        },
        "years": {
            "fields": [
                {"name": "patient", "type": "integer"},
                number("year", [*range(1984, 1997)]),
                number("health", [*range(12)]),
                number("visits", [0, 1, 2, 3, 5, 8, 15, 30, 121]),
                field("works", "string", enum=["yes", "no"]),
                field("married", "string", enum=["yes", "no"]),
                number("income", [0, 1000, 2000, 3000, 4000, 5000, 7000, 10_000, 20_000]),
            ],
            "foreignKeys": [_link("patient", "patients", "id")],
        },
    }
    return tables, described("patients", schemas, {"years": {"max_children": 8, "order": "year"}})


def orders(n: int | None, seed: int) -> tuple[Tables, dict[str, Any]]:
    """Made-up customers of a shop and their orders: most have one or two, a few have a hundred, and
    the bound leaves room.
    """
    n = n or 8_000
    rng = np.random.default_rng(400 + seed)
    region, channel = rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1]), rng.integers(0, 3, n)
    loyal = rng.gamma(0.5, 1 + 0.8 * channel)
    n_orders = 1 + np.minimum(rng.poisson(1.1 * loyal), 120)
    joined = rng.integers(0, 90, n)
    customer = np.repeat(np.arange(n), n_orders)
    gaps = rng.exponential(
        np.where(n_orders[customer] > 5, 25, 90) * (1 + 0.3 * (region[customer] == 0))
    )
    firsts = np.append(True, customer[1:] != customer[:-1])
    gaps = np.where(firsts, joined[customer], gaps)
    starts = np.flatnonzero(firsts)
    sums = np.cumsum(gaps)
    day = sums - np.repeat(sums[starts] - gaps[starts], n_orders)
    size = np.exp(0.3 * channel)[customer] * np.exp(0.4 * _carried(rng, customer, 0.6))
    pieces = np.clip(1 + rng.poisson(size), 1, 60)
    value = np.clip(12 * pieces * np.exp(0.4 * rng.normal(size=len(pieces))), 0, 1400).astype(int)
    kind = (pieces + region[customer] + rng.integers(0, 3, len(pieces))) % 4
    tables = {
        "customers": pd.DataFrame(
            {
                "id": np.arange(n),
                "region": np.array(REGIONS)[region],
                "channel": np.array(CHANNELS)[channel],
                "joined": joined,
            }
        ),
        "orders": pd.DataFrame(
            {
                "customer": customer,
                "day": np.minimum(day, 545).astype(int),
                "pieces": pieces,
                "value": value,
                "kind": np.array(list("abcd"))[kind],
            }
        ),
    }
    schemas = {
        "customers": {
            "fields": [
                {"name": "id", "type": "integer"},
                field("region", "string", enum=REGIONS),
                field("channel", "string", enum=CHANNELS),
                number("joined", [*range(0, 91, 15)]),
            ],
            "primaryKey": "id",
        },
        "orders": {
            "fields": [
                {"name": "customer", "type": "integer"},
                number("day", [0, 15, 30, 60, 90, 120, 180, 240, 320, 400, 480, 546]),
                number("pieces", [1, 2, 3, 4, 5, 7, 10, 20, 100]),
                number("value", [0, 10, 20, 30, 45, 60, 90, 150, 1500]),
                field("kind", "string", enum=list("abcd")),
            ],
            "foreignKeys": [_link("customer", "customers", "id")],
        },
    }
    own = {"orders": {"max_children": 250, "order": "day"}}
    return tables, described("customers", schemas, own)


def wages(n: int | None, seed: int) -> tuple[Tables, dict[str, Any]]:
    """545 men and eight years of their work (linearmodels)."""
    with bz2.open(folder_of("linearmodels", "datasets/wage_panel") / "wage_panel.csv.bz2") as file:
        read = pd.read_csv(file)
    people = read.groupby("nr", as_index=False)[["black", "hisp", "educ"]].first()
    origin = np.select([people["black"] == 1, people["hisp"] == 1], ["black", "hisp"], "other")
    men = some_of(people.assign(origin=origin)[["nr", "origin", "educ"]], n, seed)
    years = read[read["nr"].isin(men["nr"])].reset_index(drop=True)
    years["wage"] = np.exp(years["lwage"]).clip(0, 99).round().astype(int)
    years["occupation"] = years["occupation"].astype(str)
    for name in ("married", "union"):
        years[name] = np.where(years[name] == 1, "yes", "no")
    columns = ["nr", "year", "exper", "hours", "married", "union", "occupation", "wage"]
    schemas = {
        "men": {
            "fields": [
                {"name": "nr", "type": "integer"},
                field("origin", "string", enum=["black", "hisp", "other"]),
                number("educ", [0, 9, 10, 11, 12, 13, 15, 20]),
            ],
            "primaryKey": "nr",
        },
        "years": {
            "fields": [
                {"name": "nr", "type": "integer"},
                number("year", [*range(1980, 1989)]),
                number("exper", [*range(0, 21, 2)]),
                number("hours", [0, 1, 1000, 1800, 2080, 2081, 2500, 3000, 6000]),
                field("married", "string", enum=["yes", "no"]),
                field("union", "string", enum=["yes", "no"]),
                field("occupation", "string", enum=[str(each) for each in range(1, 10)]),
                number("wage", [0, 3, 4, 5, 6, 7, 9, 12, 100]),
            ],
            "foreignKeys": [_link("nr", "men", "nr")],
        },
    }
    own = {"years": {"max_children": 8, "order": "year"}}
    return {"men": men, "years": years[columns]}, described("men", schemas, own)


def inspections(n: int | None, seed: int) -> tuple[Tables, dict[str, Any]]:
    """1,618 restaurants and their inspections (causaldata)."""
    folder = folder_of("causaldata", "restaurant_inspections")
    read = pd.read_csv(folder / "restaurant_data.csv")
    read = read.rename(columns={"business_name": "name", "Year": "year"})
    read["score"] = read["inspection_score"]
    read["weekend"] = np.where(read["Weekend"], "yes", "no")
    firms = read.groupby("name", as_index=False)["NumberofLocations"].max()
    firms = some_of(firms.rename(columns={"NumberofLocations": "locations"}), n, seed)
    visits = read[read["name"].isin(firms["name"])].reset_index(drop=True)
    schemas = {
        "firms": {
            "fields": [
                {"name": "name", "type": "string"},
                number("locations", [1, 2, 3, 5, 10, 20, 50, 1000]),
            ],
            "primaryKey": "name",
        },
        "visits": {
            "fields": [
                {"name": "name", "type": "string"},
                number("year", [*range(2000, 2021)]),
                number("score", [0, 70, 80, 85, 88, 90, 92, 94, 96, 98, 100, 121]),
                field("weekend", "string", enum=["yes", "no"]),
            ],
            "foreignKeys": [_link("name", "firms", "name")],
        },
    }
    own = {"visits": {"max_children": 30, "order": "year"}}
    columns = ["name", "year", "score", "weekend"]
    return {"firms": firms, "visits": visits[columns]}, described("firms", schemas, own)


SCHOOLING = ["none", "school", "trade", "degree"]
REGIONS, CHANNELS = ["north", "east", "south", "west", "abroad"], ["shop", "phone", "web"]


def _link(own: str, table: str, key: str) -> dict[str, Any]:
    return {"fields": own, "reference": {"resource": table, "fields": key}}


def _carried(rng: np.random.Generator, owner: np.ndarray, share: float) -> np.ndarray:
    """Standard normal numbers, of which each carries on the one before of the same owner."""
    fresh = rng.normal(size=len(owner))
    for row in range(1, len(owner)):
        if owner[row] == owner[row - 1]:
            fresh[row] = share * fresh[row - 1] + np.sqrt(1 - share**2) * fresh[row]
    return fresh
