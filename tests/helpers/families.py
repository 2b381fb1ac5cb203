"""A small package of homes, people, visits and pets, and tables for it."""

import numpy as np
import pandas as pd

from synthdp.linked import LinkedRows, LinkedTableReader, Package, views_of

KEY = "0123456789abcdef"
"""Key of the hash that bounds families, the same in all tests."""


def field(name, *levels):
    return {"name": name, "type": "string", "constraints": {"enum": list(levels), "required": True}}


def link(fields, resource, there):
    return {"fields": fields, "reference": {"resource": resource, "fields": there}}


def description(*, people=3, visits=2, pets=2, **of_people):
    """Homes, people below them, and visits below these; pets below homes."""
    homes = {
        "fields": [{"name": "home", "type": "integer"}, field("place", "town", "land")],
        "primaryKey": "home",
    }
    persons = {
        "fields": [
            {"name": "home"},
            {"name": "number", "type": "integer"},
            field("sex", "F", "M"),
            field("job", "yes", "no"),
        ],
        "primaryKey": ["home", "number"],
        "foreignKeys": [link("home", "homes", "home")],
    }
    seen = {
        "fields": [
            {"name": "home"},
            {"name": "number"},
            field("why", "check", "ill"),
            field("when", "1", "2", "3"),
        ],
        "foreignKeys": [link(["home", "number"], "people", ["home", "number"])],
    }
    animals = {
        "fields": [{"name": "owner"}, field("kind", "cat", "dog")],
        "foreignKeys": [link("owner", "homes", "home")],
    }
    return {
        "synthdp": {"root": "homes"},
        "resources": [
            {"name": "homes", "path": "homes.csv", "schema": homes},
            {
                "name": "people",
                "path": "people.csv",
                "schema": persons,
                "synthdp": {"max_children": people, **of_people},
            },
            {
                "name": "visits",
                "path": "visits.csv",
                "schema": seen,
                "synthdp": {"max_children": visits, "order": "when"},
            },
            {
                "name": "pets",
                "path": "pets.csv",
                "schema": animals,
                "synthdp": {"max_children": pets},
            },
        ],
    }


def package(**settings):
    return Package.from_dict(description(**settings))


def family(home, people, pets=(), place="town"):
    """The rows of one home: of each person sex, job, and visits as (why, when)."""
    return {
        "homes": [(home, place)],
        "people": [(home, number, sex, job) for number, (sex, job, _) in enumerate(people, 1)],
        "visits": [
            (home, number, *visit)
            for number, (_, _, seen) in enumerate(people, 1)
            for visit in seen
        ],
        "pets": [(home, kind) for kind in pets],
    }


COLUMNS = {
    "homes": ["home", "place"],
    "people": ["home", "number", "sex", "job"],
    "visits": ["home", "number", "why", "when"],
    "pets": ["owner", "kind"],
}


def tables_of(families):
    """Tables of some families."""
    rows = {name: [row for each in families for row in each[name]] for name in COLUMNS}
    return {
        name: pd.DataFrame(rows[name], columns=columns, dtype=object)
        for name, columns in COLUMNS.items()
    }


def random_family(rng, home, most=6):
    """A family whose members are alike, of any size."""
    sex, place = rng.choice(["F", "M"]), rng.choice(["town", "land"])
    people = []
    for _ in range(rng.integers(0, most)):
        visits = [
            (rng.choice(["check", "ill"]), rng.choice(["1", "2", "3"]))
            for _ in range(rng.integers(0, 4))
        ]
        people.append(
            (
                sex if rng.random() < 0.8 else rng.choice(["F", "M"]),
                "yes" if place == "town" else "no",
                visits,
            )
        )
    return family(home, people, rng.choice(["cat", "dog"], rng.integers(0, 4)), place)


def random_tables(n, seed=0):
    rng = np.random.default_rng(seed)
    return tables_of([random_family(rng, home) for home in range(n)])


def sources_of(found, tables, views=None, hash_key=KEY):
    """Exact counts of all views, or of given ones, by what they are called."""
    readers = {table.name: LinkedTableReader(table, hash_key=hash_key) for table in found.tables}
    for name, reader in readers.items():
        reader.add(tables[name])
    rows = LinkedRows(found.tables, readers, "home", hash_key=hash_key)
    return rows.counted(views_of(found) if views is None else views)
