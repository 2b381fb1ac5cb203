"""Linked tables against what one would do without them: errors of all that hangs together, at several budgets.

    python benchmarks/linked.py                       # the made-up package, 10,000 households, epsilon 1 and 10
    python benchmarks/linked.py --households 2000 --epsilon 3 --seeds 1 --ways linked independent
    python benchmarks/linked.py --size                # time and memory of 100,000 households x 3 people x 20 columns

The ways, all of which protect a household with all that belongs to it:

- linked: `synthesize_tables`;
- independent: each table by itself, with ``--unit household``; rows are dealt to random parents;
- joined: each table joined with those above it, with ``--unit household``; rows are dealt to parents that have the same
  region, income and tenure (the visits: to people of these, and of the role), as far as there are any;
- slots: one wide row a household, with places for six people and three vehicles; visits have no place.
"""

import argparse
import resource
import sys
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

import synthdp
from synthdp.evaluation.linked_tables import evaluate_tables
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import Adjacency
from synthdp.release.registry import as_mechanism
from synthdp.release.release import Release
from synthdp.table.package.package import Package
from synthdp.table.records.loading import held_frame
from synthdp.table.schema.open_schema import OpenSchema

sys.path.insert(0, str(Path(__file__).parent.parent / "data"))
from make_families import description, package_of_families

DELTA = 1e-9
MOST = {"households": 1, "people": 6, "visits": 24, "vehicles": 3}
"""Most rows of a household in each table."""
SHARES = {"households": Fraction(1, 4), "people": Fraction(1, 4), "visits": Fraction(1, 4), "vehicles": Fraction(1, 4)}


def whole_ledger(epsilon: float) -> PrivacyLedger:
    """A budget that pays for all tables."""
    accounting = as_mechanism("auto").default_accounting
    return PrivacyLedger(
        epsilon=epsilon, delta=DELTA, adjacency=Adjacency.ADD_REMOVE, accounting=accounting, unit_column="household"
    )


def drawn(
    frame: pd.DataFrame, fields: list, epsilon: float, ledger: PrivacyLedger, share: Fraction, most: int
) -> pd.DataFrame:
    """A synthetic table with ``--unit household``, paid from a share of a budget."""
    schema = OpenSchema.from_dict({"fields": fields}).reordered(frame.columns, unit="household")
    part = ledger.part(ledger.budget * share, max_rows=most)
    release = Release(
        schema=schema, epsilon=epsilon, delta=DELTA, mechanism="auto", adjacency="add-remove", ledger=part
    )
    rows = held_frame(frame, schema, unit="household", max_rows=most)
    synthesis = release.of(rows)
    return synthesis.sample(None if synthesis.knows_rows else 1000)


def fields_of(package: Package, *names: str) -> list:
    """The fields of some tables without keys."""
    return [field for name in names for field in package[name].schema.to_dict()["fields"]]


def dealt(rows: pd.DataFrame, parents: pd.DataFrame, by: list[str], most: int, rng: np.random.Generator) -> np.ndarray:
    """For each row a parent that has the same in some columns, if there is one, and room for it."""
    owners = np.full(len(rows), -1)
    room = np.full(len(parents), most)
    groups = dict(parents.groupby(by).indices) if by else {}
    keys = rows[by].itertuples(index=False) if by else [()] * len(rows)
    for row, key in enumerate(keys):
        places = groups.get(tuple(key) if len(by) > 1 else key[0]) if by else None
        if places is None:
            places = np.arange(len(parents))
        for _ in range(5):
            place = places[rng.integers(len(places))]
            if room[place]:
                owners[row], room[place] = place, room[place] - 1
                break
    return owners


def linked_up(rows: dict[str, pd.DataFrame], by: dict[str, list[str]], seed: int) -> dict[str, pd.DataFrame]:
    """Tables of rows that were drawn by themselves, with keys."""
    rng = np.random.default_rng(seed)
    homes = rows["households"].assign(household=[f"{i}" for i in range(len(rows["households"]))])
    tables = {"households": homes}
    for name, parent in (("people", "households"), ("vehicles", "households"), ("visits", "people")):
        above = tables[parent]
        keys = ["household"] if parent == "households" else ["household", "number"]
        most = {"people": 6, "vehicles": 3, "visits": 4}[name]
        owners = dealt(rows[name], above, by.get(name, []), most, rng)
        frame = rows[name][owners >= 0].reset_index(drop=True)
        for key in keys:
            frame[key] = above[key].to_numpy()[owners[owners >= 0]]
        if name == "people":
            frame["number"] = frame.groupby("household").cumcount() + 1
        tables[name] = frame
    own = {"households": ["household", "region", "income", "tenure"]}
    own["people"] = ["household", "number", "role", "age", "sex", "schooling"]
    own["visits"] = ["household", "number", "date", "reason", "cost"]
    own["vehicles"] = ["household", "fuel", "year"]
    return {name: tables[name][columns] for name, columns in own.items()}


def linked(tables: dict, package: Package, epsilon: float, seed: int) -> tuple[dict, dict]:
    """Ours; drawn rows are also what marginals are of."""
    found = synthdp.synthesize_tables(tables, package, epsilon=epsilon, delta=DELTA).sample(seed=seed)
    return found, found


def independent(tables: dict, package: Package, epsilon: float, seed: int) -> tuple[dict, dict]:
    """Each table by itself."""
    ledger, rows = whole_ledger(epsilon), {}
    for name, table in tables.items():
        columns = [c for c in table.columns if c != "number"]
        rows[name] = drawn(table[columns], fields_of(package, name), epsilon, ledger, SHARES[name], MOST[name])
    found = linked_up(rows, {}, seed)
    return found, found


def joined(tables: dict, package: Package, epsilon: float, seed: int) -> tuple[dict, dict]:
    """Each table joined with those above."""
    ledger, rows = whole_ledger(epsilon), {}
    homes, people = tables["households"], tables["people"]
    above = {"households": ["households"], "people": ["households", "people"]}
    above |= {"vehicles": ["households", "vehicles"], "visits": ["households", "people", "visits"]}
    wide = {
        "households": homes,
        "people": people.merge(homes, on="household"),
        "vehicles": tables["vehicles"].merge(homes, on="household"),
        "visits": tables["visits"].merge(people, on=["household", "number"]).merge(homes, on="household"),
    }
    for name, frame in wide.items():
        table = frame.drop(columns="number", errors="ignore")
        rows[name] = drawn(table, fields_of(package, *above[name]), epsilon, ledger, SHARES[name], MOST[name])
    by = ["region", "income", "tenure"]
    found = linked_up(rows, {"people": by, "vehicles": by, "visits": [*by, "role"]}, seed)
    return found, found


def slots(tables: dict, package: Package, epsilon: float, _: int) -> tuple[dict, dict]:
    """One wide row a household."""
    wide, fields = tables["households"].set_index("household"), fields_of(package, "households")
    for name, most in (("people", 6), ("vehicles", 3)):
        own = fields_of(package, name)
        places = tables[name].groupby("household").cumcount()
        for place in range(most):
            part = tables[name][places == place].set_index("household")[[f["name"] for f in own]]
            wide = wide.join(part.add_prefix(f"{name}{place} "))
            fields += [
                {**f, "name": f"{name}{place} {f['name']}", "constraints": {**f["constraints"], "required": False}}
                for f in own
            ]
    out = drawn(wide.reset_index(), fields, epsilon, whole_ledger(epsilon), Fraction(1), 1)
    out["household"] = [str(i) for i in range(len(out))]
    found = {"households": out[["household", "region", "income", "tenure"]]}
    for name, most in (("people", 6), ("vehicles", 3)):
        names, parts = [f["name"] for f in fields_of(package, name)], []
        for place in range(most):
            part = out[[f"{name}{place} {c}" for c in names]].set_axis(names, axis=1).assign(household=out["household"])
            parts.append(part[part[names].notna().sum(axis=1) > len(names) / 2])
        found[name] = pd.concat(parts).sort_values("household", kind="stable").reset_index(drop=True)
    found["people"]["number"] = found["people"].groupby("household").cumcount() + 1
    found["visits"] = tables["visits"].iloc[:0]
    return found, found


WAYS = {"linked": linked, "independent": independent, "joined": joined, "slots": slots}


def compared(options: argparse.Namespace) -> None:
    """Print the mean TVD of each kind of statistic, of each way and budget."""
    found = []
    for seed in range(options.seeds):
        tables = package_of_families(options.households, seed=100 + seed)
        regions = tables.pop("regions")
        package = Package.from_dict(description(), lambda _, found=regions: found)
        for epsilon in options.epsilon:
            for way in options.ways:
                began = time.process_time()
                drawn_tables, _ = WAYS[way](tables, package, epsilon, seed)
                seconds = time.process_time() - began
                distances = evaluate_tables(tables, drawn_tables, package).distances
                found.append(distances.assign(way=way, epsilon=epsilon, seed=seed))
                print(way, epsilon, seed, f"{seconds:.0f} CPU s", flush=True)
        every = pd.concat(found)
        shown = every.assign(table=every["table"].where(every["table"] == "visits", "others"))
        means = shown.groupby(["epsilon", "kind", "table", "way"])["tvd"].mean().unstack().round(3)
        print(means[[way for way in WAYS if way in means]].to_string(), flush=True)


def size() -> None:
    """Print time and memory of 100,000 households of three people, with 20 columns."""
    rng = np.random.default_rng(0)
    n = 100_000
    home = np.repeat(np.arange(n), 3)
    kind = rng.integers(0, 4, n)
    levels = {"type": "string", "constraints": {"enum": list("abcd"), "required": True}}
    homes = pd.DataFrame({"id": np.arange(n), "kind": np.array(list("abcd"))[kind]})
    people = pd.DataFrame({"home": home})
    for number in range(20):
        codes = np.where(rng.random(3 * n) < 0.5, kind[home], rng.integers(0, 4, 3 * n))
        people[f"c{number}"] = np.array(list("abcd"))[codes]
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    fields = [{"name": "home", "type": "integer"}, *({"name": f"c{number}", **levels} for number in range(20))]
    package = {
        "resources": [
            {
                "name": "homes",
                "schema": {
                    "fields": [{"name": "id", "type": "integer"}, {"name": "kind", **levels}],
                    "primaryKey": "id",
                },
            },
            {
                "name": "people",
                "schema": {"fields": fields, "foreignKeys": [link]},
                "synthdp": {"max_children": 4},
            },
        ]
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    began = time.process_time()
    synthesis = synthdp.synthesize_tables({"homes": homes, "people": people}, package, epsilon=1, delta=DELTA)
    fitted = time.process_time() - began
    synthesis.sample(seed=0)
    drawn_ = time.process_time() - began - fitted
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"fit {fitted:.0f} CPU s, draw {drawn_:.0f} CPU s, memory {after:.0f} MB, of which {before:.0f} MB before")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--households", type=int, default=10_000)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--size", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    size() if options.size else compared(options)


if __name__ == "__main__":
    main()
