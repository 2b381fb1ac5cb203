"""The certificate of linked tables: one guarantee, and what was asked of each view."""

from collections.abc import Collection, Iterator, Mapping
from math import hypot
from typing import Any

import numpy as np

from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import CLEAR_TOTAL, clear_total, total_and_noise
from synthdp.core.version import __version__
from synthdp.core.workload import MAX_DEFAULT_CELLS
from synthdp.inference.engine import Engine
from synthdp.learning.bins_lost import lost_bins
from synthdp.learning.learner import LearntColumn
from synthdp.linked.families.child_numbers import SeenNumbers
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import LinkedView
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness
from synthdp.release.certificate.certificate import cautions, privacy_certificate
from synthdp.release.synthesis import Synthesis
from synthdp.schema.words.headers import listed

_OF_VIEWS = ("engine", "workload", "findings", "schema")
"""What the statement of a view's release says of the view alone."""


_STEADY = 0.8
"""How much more often than by chance, as a share of what could be more, a column is that of the row
beside where it may be one that cannot change.
"""


def linked_certificate(
    package: Package,
    views: Mapping[str, LinkedView],
    parts: Mapping[str, Synthesis],
    *,
    ledger: PrivacyLedger,
    engine: Engine,
    randomness: Randomness,
    public: Mapping[str, object],
    run: Mapping[str, Any],
    declared: Package,
    learnt: Mapping[str, LearntColumn],
) -> dict[str, Any]:
    """What the release of a package says of its guarantee, as plain JSON values.

    Parameters
    ----------
    package, views
        The tables, and what was asked of each.
    parts
        What was released of each view so far.
    ledger, engine, randomness
        Those of the run.
    public
        Its mechanism, and further public facts.
    run
        Which run it is, and when its answers were given, as `privacy_certificate` takes it.
    declared, learnt
        The package as it was before columns were learnt, and what was learnt of each.
    """
    root = package.root.name
    # By their text: what is wrong with several tables is said once, with their names.
    cautions: dict[str, list[str]] = {}
    for name, part in parts.items():
        for text in _of_part(part, views[name]):
            cautions.setdefault(text, []).append(name)
    for name, text in (*unlinked(views, parts), *generous(views, parts)):
        cautions.setdefault(text, []).append(name)
    caution_lines = [f"{', '.join(names)}: {text}" for text, names in cautions.items()]
    if root in parts and parts[root].measurements:
        n_roots = clear_total(parts[root].measurements)
    else:
        n_roots = None
    workloads = [part.certificate["workload"] for part in parts.values()]
    asked: dict[str, object] = {
        "workload": {
            "n_marginals": sum(each["n_marginals"] for each in workloads),
            "columns_at_most": max((each["columns_at_most"] for each in workloads), default=0),
        },
        "engine": {"name": engine.name},
        "package": {
            "root": root,
            "tables": [_view_facts(views[name], part) for name, part in parts.items()],
        },
        "unprotected": _unprotected(package),
        "software": f"synthdp {__version__}",
        "complete": parts.keys() == views.keys()
        and all(part.existing_model is not None for part in parts.values()),
        "post_processing": "fit, sampling and decoding use released values only and cost no privacy",
    }
    whole = privacy_certificate(
        ledger=ledger,
        randomness=randomness,
        release={**public, **asked},
        run=run,
        findings=[*_of_learning(declared, learnt, package), *caution_lines, *_steady(views, parts)],
        n_rows=n_roots,
    )
    return whole | {"unit_of_privacy": _unit_in_words(package)}


def _of_learning(
    declared: Package, learnt: Mapping[str, LearntColumn], closed: Package
) -> list[str]:
    """What users should know of columns that were learnt."""
    if not learnt:
        return []
    columns = {name: each.column for name, each in learnt.items()}
    joint = closed.joint_schema.closed_columns
    lost = lost_bins(declared.joint_schema.open_columns, columns, joint)
    return [*(each.caution for each in learnt.values() if each.caution), *lost]


def _steady(views: Mapping[str, LinkedView], parts: Mapping[str, Synthesis]) -> Iterator[str]:
    """A sentence for each column of one table of persons that hardly ever changes within one."""
    for label, part in parts.items():
        view, model = views[label], part.existing_model
        if not view.package.is_of_one_table or model is None:
            continue
        for other, own in view.siblings.items():
            name = own.removeprefix(f"{view.name}.")
            # A larger table is not asked for, and the model has both columns apart.
            if name == view.table.order or part.schema[own].size ** 2 > MAX_DEFAULT_CELLS:
                continue
            try:
                pair = np.maximum(model.marginal((other, own)).values, 0.0)
            except ModelTooLargeError:  # of a tree whose cliques this joins
                continue
            total = float(pair.sum()) or 1.0
            same = float(np.trace(pair)) / total
            by_chance = float(pair.sum(axis=0) @ pair.sum(axis=1)) / total**2
            if same - by_chance > _STEADY * (1.0 - by_chance):
                yield (
                    f"column {name!r} is that of the row beside in {same:.0%} of a person's rows: if it cannot "
                    "change, name it in --constant (constant=), and it will not"
                )


def domain_facts(declared: Package, share: float, learnt: Collection[str]) -> dict[str, object]:
    """What a certificate says of what was learnt of open columns; nothing if there were none."""
    if not declared.is_open:
        return {}
    opened = declared.joint_schema.open_columns
    derived = {each.name: sorted(each.open_parts) for each in opened if each.name in learnt}
    still_open = [each.name for each in opened if each.name not in learnt]
    return {"domain": {"share_of_budget": share, "derived": derived, "open": still_open}}


def _unit_in_words(package: Package) -> str:
    """What is protected as one; rows of a root with nothing but a key are known by those that hang
    on them.
    """
    root = package.root
    keys = ", ".join(map(repr, root.key))
    whose = (
        "one person, or what else is"
        if root.schema is None or package.is_of_one_table
        else f"one row of table {root.name!r},"
    )
    what = "with all rows that hang on it, present or absent; the numbers of rows are protected"
    shared = ""
    if any(table.parent is not None and table.has_tables_below for table in package.tables):
        shared = "; a row that hangs on several, since a key repeats under them, counts with each of them"
    orphans = _with_orphans(package)
    kept = f", but those of {listed(orphans)}, of which each key is one" if orphans else ""
    left_out = f"rows that hang on none are left out{kept}"
    return f"{whose} told apart by {keys}, {what}, and {left_out}{shared}"


def _with_orphans(package: Package) -> list[str]:
    return [table.name for table in package.tables if table.has_orphans]


def _of_part(part: Synthesis, view: LinkedView) -> list[str]:
    """What users should know of one view; what is said of the guarantee, and of columns above, is
    said elsewhere.
    """
    prefixes = tuple(f"column {name!r}: " for name in part.schema.names if name not in view.drawn)
    n_rows = clear_total(part.measurements) if part.measurements else None
    stated = part.certificate
    most = stated["max_rows_per_unit"]
    weak = cautions(epsilon=stated["epsilon"], delta=stated["delta"], n_rows=n_rows, max_rows=most)
    return [text for text in part.cautions if text not in weak and not text.startswith(prefixes)]


def _view_facts(view: LinkedView, part: Synthesis) -> dict[str, Any]:
    """What was asked of one table together with those above it, and what a family counts there."""
    stated = part.certificate
    table = view.table
    facts: dict[str, Any] = {
        "table": view.name,
        "rows": "later" if view.is_later else "all" if table.parent is None else "first",
        "parent": table.parent,
        "max_children": None if table.parent is None else table.max_children,
        "min_children": None if table.parent is None else table.min_children,
        "order": table.order,
        "units_of_weight": view.grid,
        "weight_of_a_row": [
            {"parts": size, "units": units}
            for size, units in zip(view.sizes, view.weights, strict=True)
        ],
        "rho_spent": stated["accounting"]["rho_spent"],
    }
    return facts | {key: stated[key] for key in _OF_VIEWS if key in stated}


def _unprotected(package: Package) -> list[dict[str, str]]:
    """All quantities that are in a release as they are, without noise."""
    quantities = {
        "names and order of tables and columns": "the package and the headers of tables, of which only names are read",
        "types, levels, bounds, bins and rules": "declared in the package",
        "which columns are keys, what they refer to, and most children of a parent": "declared in the package",
        "budget, mechanism, and engine": "settings of the run",
    }
    if package.lookups:
        quantities[f"public tables: {', '.join(package.lookups)}"] = (
            "declared public in the package; released as they are"
        )
    kept = _with_orphans(package)
    orphans = f" (but of {listed(kept)})" if kept else ""
    quantities[f"rows whose parent is not there{orphans}, and those beyond the most children"] = (
        "left out, and not counted"
    )
    return [{"quantity": quantity, "source": source} for quantity, source in quantities.items()]


FEW, HALF = 0.05, 0.5
"""Shares of parents: where no more of them can have rows, and noise hides whether any has, it is
said. Of a look, which is noisier than what follows, only the first; once parents were measured, the
second one: of fewer than about six standard deviations noise cannot tell that none has a row from
that all have.
"""


def unlinked(
    views: Mapping[str, LinkedView], parts: Mapping[str, Synthesis]
) -> Iterator[tuple[str, str]]:
    """The view and a sentence for each table of which no row seems to belong to the table above,
    which has rows.

    The rows of its first view weigh what their parents do, and those of all parents what the first
    view of the table above does, in units of a family: so of the two totals, which are released,
    one is a share of the other.
    """
    for label, part in parts.items():
        view = views[label]
        parent = views[label].table.parent
        if (
            view.is_later
            or parent is None
            or parent not in parts
            or not part.measurements
            or not parts[parent].measurements
        ):
            continue
        # Both totals in families: each view counts in units of its own weights.
        total, stddev = (number / view.grid for number in total_and_noise(part.measurements))
        parents = clear_total(parts[parent].measurements)
        if parents is None or total >= CLEAR_TOTAL * stddev:
            continue
        most = (max(total, 0.0) + CLEAR_TOTAL * stddev) * views[parent].grid / parents
        if most <= HALF:
            yield (
                label,
                f"by noisy counts no row belongs to one of {parent!r}: at most {most:.1%} of these have any; "
                "if the tables have more, keys are written differently in them (texts against numbers, leading zeros, "
                "formats of dates): write them the same way",
            )


def without_rows(view: LinkedView, part: Synthesis) -> Iterator[str]:
    """A sentence for each table of which, by noisy counts, nearly none of a view's rows has a row,
    as soon as the view is released.
    """
    parents = clear_total(part.measurements)
    if parents is None:
        return
    _, of_all = total_and_noise(part.measurements)
    for name, (count, stddev) in SeenNumbers(view, part.measurements).without.items():
        yield from without_rows_below(
            view, name, parents, parents - count, hypot(of_all, stddev), most=HALF
        )


def without_rows_below(
    view: LinkedView, count: str, parents: float, with_rows: float, noise: float, *, most: float
) -> Iterator[str]:
    """A sentence if no row of a view is seen that has one of some table, and at most a share can.

    Parameters
    ----------
    view
        The rows.
    count
        The number of rows in that table.
    parents, with_rows
        Noisy numbers of all rows, and of those that have some there.
    noise
        Standard deviation of the latter.
    most
        The share.
    """
    may_be = (max(with_rows, 0.0) + CLEAR_TOTAL * noise) / parents
    if with_rows < CLEAR_TOTAL * noise and may_be <= most:
        child = next(each for each in view.package.children(view.name) if each.count == count)
        yield (
            f"table {child.name!r}: by noisy counts at most {may_be:.1%} of {view.name!r} have a row of it, and "
            "none is seen that has; if there are such rows, their keys differ in writing (texts against numbers, "
            "leading zeros, formats of dates): write them the same way"
        )


GENEROUS = 10
"""Times the largest number of children that noise shows from which a bound is called generous."""


def generous(
    views: Mapping[str, LinkedView], parts: Mapping[str, Synthesis]
) -> Iterator[tuple[str, str]]:
    """The view and a sentence for each bound on children that is far above what noise shows."""
    for label, part in parts.items():
        ends = SeenNumbers(views[label], part.measurements).ends
        for child in views[label].package.children(views[label].name):
            end = ends.get(child.count)
            if end is None or child.max_children < GENEROUS * max(end - 1, 1):
                continue
            bound = f"its max_children is {child.max_children}"
            if end > 1:
                seen = (
                    f"noise shows no row with more than about {end - 1} of {child.name!r}, and {bound}: those that "
                    "have more are drawn with fewer"
                )
            else:
                seen = f"noise hides how many of {child.name!r} a row has, and {bound}: next to none are drawn"
            way_out = "a bound nearer to what rows can have costs less time and less noise"
            yield label, f"{seen}; {way_out}"
