"""Packages as text: how tables are linked, and what is measured of each."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from synthdp.core.errors import ParameterError
from synthdp.linked.completable import check_completable
from synthdp.linked.linked_release import linked_ledger, shares_of
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.package.matching import check_matching
from synthdp.linked.package.opened import learnt_parts
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import views_of
from synthdp.privacy.noise.gaussian import stddev_of_noise
from synthdp.privacy.unit import gaussian_sigma_squared
from synthdp.release.certificate.meaning import FALSE_POSITIVES, protection_of_ledger
from synthdp.release.run_settings import RunSettings
from synthdp.release.settings import DOMAIN_SHARE
from synthdp.report.texts.listing import table


def package_facts(
    package: Package, *, epsilon: float | None, delta: float | None
) -> dict[str, Any]:
    """What a package asks for, as plain JSON values.

    Parameters
    ----------
    package
        The package.
    epsilon, delta
        A budget, to say the noise that it gives; both or none.

    Raises
    ------
    SchemaError
        If keys are declared such that no row can hang on another.
    ParameterError
        If the budget is out of range, or only half of it is given; or the rules
        leave no value for a row of a family.
    """
    if (epsilon is None) != (delta is None):
        raise ParameterError("epsilon and delta go together; give both, or none")
    check_matching(package)
    package = package.with_open_bins()
    views = {label: view for label, view in views_of(package).items() if view.schema is not None}
    check_completable(package, views)
    shares = shares_of(views)
    learnt = {name: sorted(parts) for name, parts in learnt_parts(package.joint_schema).items()}
    domain_share = DOMAIN_SHARE if learnt else 0.0
    if epsilon is None or delta is None:
        ledger = None
    else:
        ledger = linked_ledger(package, RunSettings(epsilon=epsilon, delta=delta))
    rows = []
    for label, view in views.items():
        assert view.schema is not None
        if ledger is None:
            noise = None
        else:
            rho = ledger.budget * (1 - Fraction(domain_share)) * shares[label]
            noise = stddev_of_noise(gaussian_sigma_squared(rho, 1))
        rows.append(
            {
                "view": label,
                "table": view.name,
                "parent": view.table.parent,
                "drawn": list(view.drawn),
                "given": [*view.ancestors, *filter(None, [view.position]), *view.siblings],
                "units_of_weight": view.grid,
                "share_of_budget": float(shares[label]),
                "noise_families": noise,
            }
        )
    return {
        "root": package.root.name,
        "public": list(package.lookups),
        "learnt": learnt,
        "domain_share": domain_share,
        "shared": [table.name for table in package.tables if table.may_be_shared],
        "views": rows,
        "best_true_positives": None
        if ledger is None
        else protection_of_ledger(ledger).true_positives(FALSE_POSITIVES),
    }


def package_text(facts: Mapping[str, Any]) -> str:
    """What `package_facts` says, for people."""
    head = ("view", "hangs on", "columns drawn", "given", "share of budget")
    with_noise = any(row["noise_families"] is not None for row in facts["views"])
    rows = []
    for row in facts["views"]:
        cells = [row["view"], row["parent"] or "-", str(len(row["drawn"])), str(len(row["given"]))]
        cells.append(f"{row['share_of_budget']:.0%}")
        rows.append(tuple([*cells, f"{row['noise_families']:.1f}"] if with_noise else cells))
    lines = [
        f"package of {len({row['table'] for row in facts['views']})} tables; protected as one: a row of "
    ]
    root = facts["root"]
    lines[0] += f"{root!r} with all rows below it; whoever is below two of them is two"
    lines += [
        f"the key of {name!r} does not hold that of the table above: where it repeats below several rows of {root!r}, "
        f"what hangs on it is protected as so many; hold that key in it, or make {name!r} the root"
        for name in facts["shared"]
    ]
    if facts["public"]:
        lines.append(f"public, written as they are: {', '.join(facts['public'])}")
    if facts["learnt"]:
        parts = ", ".join(f"{name} ({', '.join(each)})" for name, each in facts["learnt"].items())
        lines.append(
            f"learnt with {100 * facts['domain_share']:g} % of the budget at most: {parts}"
        )
        head = (*head[:-1], "share of the rest")
    lines.append(table((*head, "noise") if with_noise else head, rows))
    if with_noise:
        lines.append(
            "noise: standard deviation, in families, of a count if all of the share is spent on one marginal"
        )
    return "\n\n".join(lines)


def explained_tables(path: str) -> tuple[dict[str, Any], Callable[[bool], str]]:
    """What the file of a release of linked tables holds, as JSON and as a text, besides its
    certificate.
    """
    synthesis = LinkedSynthesis.load(path)
    content = {"certificate": synthesis.certificate, "package": dict(synthesis.package.content)}
    tables = ", ".join(repr(table.name) for table in synthesis.package.tables)
    return content, lambda _: f"linked tables      {tables}"
