"""The budget of a population, as people read it."""

from collections.abc import Mapping
from typing import Any

OPEN = (
    "How costs add up is settled by the first run. After one by auto or privmrf, in Gaussian DP, those by mst, aim "
    "and others are refused; a budget made with --accounting zcdp takes all"
)
"""Of a budget whose accounting nobody chose."""


def describe_budget(content: Mapping[str, Any]) -> str:
    """The content of a budget, as `synthdp.Budget.show` returns it, in lines of text."""
    who = f"persons told apart by {content['unit']!r}" if content["unit"] else "records"
    lines = [
        f"Budget of {_in_a_line(content['population'])}",
        f"  epsilon {content['epsilon']:g}, delta {content['delta']:g}, for {who} ({content['adjacency']}); "
        f"since {content['when']}",
        "",
    ]
    for entry in content["entries"]:
        lines += _entry(entry)
    lines += ["", *_totals(content)]
    journals = {
        entry["run"]: entry["journal"] for entry in content["entries"] if entry["kind"] == "run"
    }
    for run in content["unfinished_runs"]:
        lines.append(
            f"Paid and not finished: run the same command again; it goes on from {journals[run]}"
        )
    for run in content["stopped_runs"]:
        lines.append(
            f"Stopped, and gave back what it had not spent: {journals[run]}; the same command with --anyway goes on, "
            "and is charged for the rest"
        )
    return "\n".join(
        [*lines, f"Head: {content['head']} (keep it elsewhere; verify --head checks it)"]
    )


def _entry(entry: Mapping[str, Any]) -> list[str]:
    """One charge; that a run has ended, or its journal became a release, is not worth a line."""
    if entry["kind"] in ("end", "rescued"):
        return []
    if entry["kind"] in ("returned", "again"):
        did = "gave back" if entry["kind"] == "returned" else "charged again"
        return [
            f"  {entry['when']}  run that stopped: {did} {entry['currency']}, rho {_number(entry['rho'])}"
        ]
    note = f": {_in_a_line(entry['note'])}" if entry["note"] else ""
    if entry["kind"] == "run":
        guarantee = entry["guarantee"]
        what = f"run of {entry['software']}, epsilon {guarantee['epsilon']:g}, delta {guarantee['delta']:g}"
        return [
            f"  {entry['when']}  {what} ({entry['currency']}, rho {_number(entry['rho'])}){note}"
        ]
    if "currency" in entry:
        what = (
            f"{entry['currency']}, rho {_number(entry['rho'])}, delta {_number(entry['own_delta'])}"
        )
    else:
        what = f"epsilon {_number(entry['epsilon'])}, delta {_number(entry['own_delta'])}"
    return [f"  {entry['when']}  other system, {what}{note}"]


def _totals(content: Mapping[str, Any]) -> list[str]:
    spent = content["spent"]
    left = content["left"]
    lines = []
    if spent["stated_epsilon"] or spent["stated_delta"]:
        lines.append(
            f"Off as stated: epsilon {spent['stated_epsilon']:g}, delta {spent['stated_delta']:g}"
        )
    if "currency" in spent:
        theorem = {"zcdp": "zCDP", "gdp": "Gaussian DP"}[spent["currency"]]
        lines.append(
            f"Spent in {theorem}: rho {spent['rho']:.4g} of {spent['rho_at_most']:.4g}, "
            f"delta {spent['delta']:.3g} of {spent['delta_at_most']:.3g} for thresholds and other systems"
        )
    elif content["accounting"] is None:
        lines.append(OPEN)
    return [*lines, f"Left: about epsilon {left['epsilon']:.3g} at delta {left['delta']:.3g}"]


def _in_a_line(text: str) -> str:
    """What somebody wrote, without line feeds: a line that looks like a charge is one."""
    return " ".join(text.split())


def _number(fraction: str) -> str:
    numerator, _, denominator = fraction.partition("/")
    return f"{int(numerator) / int(denominator or 1):.4g}"
