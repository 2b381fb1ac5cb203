"""A certificate as one page of HTML, for a data-protection officer: to be read, printed and filed."""

from collections.abc import Mapping, Sequence
from math import exp
from pathlib import Path
from typing import Any

from synthdp.core.cautions import grouped
from synthdp.core.message_codes import with_caution_code
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency
from synthdp.release.acceptance import acceptance_lines
from synthdp.release.certificate.meaning import protection_of, stated_meaning, with_what_was_meant
from synthdp.report.rendering.page import rendered
from synthdp.report.texts.certificates import (
    NOISE_IN_UNITS,
    cost_of_learning,
    drawn_facts,
    event_row,
    in_readers_units,
    measurement_row,
    rows_facts,
    run_facts,
    site_facts,
    tails_facts,
)
from synthdp.report.texts.known import known_lines
from synthdp.report.texts.numbers import at_most, chance, times
from synthdp.report.texts.prior import prior_lines
from synthdp.report.texts.quality import model_facts, quality_facts

FOLDER = Path(__file__).parent
"""Where the templates of releases lie."""

MAX_ROWS = 1000
"""Rows of a table that are on the page, about 20 sheets of paper; all are in the certificate."""

_KINDS = {
    "marginal": "how often the values of some columns occur together",
    "scores": "how badly the model so far fits each of many combinations of columns",
    "selection": "the choice of one of many combinations of columns, by how badly the model so far fits it",
    "histogram": "how many values of a column lie in each of some ranges",
    "partition selection": "which values of a column occur often enough to be named",
    "tree": "how finely to divide the range of a column",
}
"""What each kind of question asks for."""

_ABOUT = {
    "intended_use": "Intended use",
    "description": "What it is",
    "region": "Region",
    "sector": "Sector",
    "data_period": "Period of the data",
    "actors": "Who sees what",
    "trust_assumptions": "Who is trusted with what",
    "release_type": "Releases",
    "release_type_details": "On its releases",
    "data_source_type": "Data source",
    "preprocessing": "Before the run",
    "hyperparameter_tuning": "How settings were tuned",
    "justification": "Why it was done so",
    "utility": "How useful it is",
    "notes": "Notes",
    "contact": "Contact",
}
"""What the curator says, in the order of reading."""


def certificate_page(content: Mapping[str, Any]) -> str:
    """A certificate as a page of HTML that needs nothing else: no script, no network, no font.

    Parameters
    ----------
    content
        The certificate as JSON values; one of an earlier version has less to show.

    Raises
    ------
    MissingExtraError
        If Jinja is not installed.
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError
        If it is not as synthdp writes it.
    """
    view = certificate_view(content) | {"is_folded": False}
    return rendered("certificate.html", view, folder=FOLDER, extra="publish")


def certificate_view(content: Mapping[str, Any]) -> dict[str, Any]:
    """What the templates of a certificate ask for; raises what `certificate_page` does."""
    content = in_readers_units(with_what_was_meant(content))
    cautions = [with_caution_code(text) for text in grouped(content.get("cautions", ()))]
    return {
        "title": content.get("about", {}).get("name", "Synthetic table"),
        "state": {True: "private", False: "not-private", None: "unstated"}[content["is_private"]],
        "content": {**content, "cautions": cautions},
        "about": content.get("about", {}),
        "said": [
            (name, content["about"][key])
            for key, name in _ABOUT.items()
            if key in content.get("about", {})
        ],
        "promise": _promise(content),
        "meaning": _meaning(content),
        "unit": _unit(content)[2] if "package" in content else "records",
        "numbers": _numbers(content),
        "made": _made(content),
        "columns": content.get("schema", {}).get("columns", ()),
        "generated": content.get("schema", {}).get("generated", ()),
        "summary": _summary(content),
        **_questions(content),
    }


def _promise(content: Mapping[str, Any]) -> str:
    """Epsilon and delta in a sentence; nothing where there is no guarantee."""
    if not content["is_private"]:
        return ""
    unit = _unit(content)[0]
    other = "been different" if _replaces(content) else "not been there"
    factor = times(exp(min(content["epsilon"], 700.0)))
    return (
        f"Whatever anybody sees in this release or concludes from it would have come about with almost the same "
        f"probability had {unit} {other}: at most {factor} times as often or as seldom, but for a chance of "
        f"{chance(content['delta'])}."
    )


def _replaces(content: Mapping[str, Any]) -> bool:
    return bool(content["adjacency"] == Adjacency.REPLACE_ONE.value)


def _unit(content: Mapping[str, Any]) -> tuple[str, str, str]:
    """What is protected as one: all of it, one in a word, and several."""
    if content["unit_of_privacy"].startswith("one person"):
        return "all records of any one person", "person", "persons"
    if "package" in content:
        return "any one row of the root with all rows below it", "family", "families"
    return "any one record", "record", "records"


def _meaning(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """What attackers can do at best, as texts of a table; None where there is no guarantee."""
    if not content["is_private"]:
        return None
    stated = content.get("meaning") or stated_meaning(protection_of(content))
    _, unit, units = _unit(content)
    rows = [
        (
            f"one {unit}" if entry["units"] == 1 else f"{entry['units']} {units} together",
            *(at_most(rate["at_most"]) for rate in entry["true_positives"]),
            at_most(entry["advantage"]),
        )
        for entry in stated
    ]
    shares = [f"{100 * rate['false_positives']:g} %" for rate in stated[0]["true_positives"]]
    return {
        "rows": rows,
        "shares": shares,
        "example": (rows[0][1], rows[0][-1]),
        "units": units,
        "replaces": _replaces(content),
    }


def _numbers(content: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each number of the guarantee, and what it says."""
    accounting = content["accounting"]
    if accounting is None:
        return []
    is_gdp = accounting["currency"] == Accounting.GDP.value
    rho = accounting["rho_budget"]
    spent = accounting["rho_spent"]
    budget = (
        ("mu", (2 * rho) ** 0.5, "Gaussian DP") if is_gdp else ("rho", rho, "zero-concentrated DP")
    )
    rows = [
        (
            "epsilon",
            repr(content["epsilon"]),
            "How far the release may depend on one unit of privacy: less is safer.",
        ),
        (
            "delta",
            repr(content["delta"]),
            "How likely it is, at most, that it depends on it further than that.",
        ),
        (
            budget[0],
            f"{budget[1]:.6g}",
            f"The same budget in the terms of {budget[2]}, in which costs are added up.",
        ),
        (
            "spent",
            f"{100 * spent / rho:.4g} %",
            "Share of that budget which the questions below cost. The rest is unused.",
        ),
        (
            "questions",
            str(len(content["events"])),
            "How often the records were asked; each answer has noise.",
        ),
    ]
    if content["max_rows_per_unit"] > 1:
        most = str(content["max_rows_per_unit"])
        rows.append(
            (
                "records of a person",
                most,
                "At most so many were used; all of them are protected together.",
            )
        )
    if accounting.get("failure_delta"):
        failed = f"{accounting['failure_delta_spent']:.4g}"
        rows.append(
            (
                "delta for thresholds",
                failed,
                "Part of delta: the chance that a value which only one person has is named.",
            )
        )
    return rows


def _made(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How the release was made, in words."""
    rows = []
    if content.get("mechanism"):
        mechanism = content["mechanism"]
        rows.append(("Mechanism", f"{mechanism['name']} ({mechanism['reference']})"))
    if content.get("engine"):
        engine = content["engine"]
        rows.append(
            (
                "Engine",
                engine["name"]
                + (f", which chose {engine['choice']}" if "choice" in engine else ""),
            )
        )
    if content["noise"]:
        rows += [
            ("Noise", content["noise"]["kind"]),
            ("Its source", content["noise"]["randomness"]),
        ]
    if content["accounting"]:
        rows.append(("Theorem", content["accounting"]["theorem"]))
    if "workload" in content:
        wanted = content["workload"]
        asked = f"{wanted['n_marginals']} combinations of up to {wanted['columns_at_most']} columns"
        rows.append(("Meant to get right", asked))
    if "domain" in content:
        domain = content["domain"]
        rows.append(
            (
                "Learnt with noise",
                f"what was not declared of {len(domain['derived'])} columns, for {cost_of_learning(content)}",
            )
        )
        drawn = [*drawn_facts(domain), *tails_facts(domain)]
        rows += [(name.capitalize(), text) for name, text in drawn]
    if "post_processing" in content:
        rows.append(("Afterwards", content["post_processing"]))
    stated = [*run_facts(content.get("run") or {}), *site_facts(content.get("sites") or {})]
    rows += [(name.capitalize(), text) for name, text in stated]
    quality = quality_facts(content.get("quality") or {})
    rows += [(name.capitalize(), text) for name, text in quality]
    rows += [(name.capitalize(), text) for name, text in model_facts(content)]
    rows += [("Accepted if", line) for line in acceptance_lines(content)]
    rows += [("Known", line) for line in known_lines(content)]
    rows += [("Earlier release", line) for line in prior_lines(content)]
    rows += [(name.capitalize(), text) for name, text in rows_facts(content.get("rows") or {})]
    versions = content.get("versions") or {"": content.get("software", "unknown")}
    rows.append(
        ("Software", ", ".join(f"{name} {version}".strip() for name, version in versions.items()))
    )
    if "schema" in content:
        rows.append(("Schema", f"sha256 {content['schema']['sha256']}"))
    return rows


def _summary(content: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Kinds of questions: what they ask for, how many there were, their noise, and what they cost."""
    if content["accounting"] is None:
        return []
    rows = []
    for kind, what in _KINDS.items():
        events = [event for event in content["events"] if event["event"] == kind]
        if events:
            share = (
                100 * sum(event["rho"] for event in events) / content["accounting"]["rho_budget"]
            )
            unit = _unit(content)[2] if "package" in content else "records"
            rows.append((what, str(len(events)), _noise(events, unit), f"{share:.3g} %"))
    return rows


def _noise(events: Sequence[Mapping[str, Any]], unit: str) -> str:
    """The smallest and the largest scale of noise."""
    sigmas = sorted(event["sigma"] for event in events if "sigma" in event)
    if not sigmas:
        return "random choices"
    span = dict.fromkeys(f"{sigma:.3g}" for sigma in (sigmas[0], sigmas[-1]))
    return f"{' to '.join(span)} {unit}"


def _questions(content: Mapping[str, Any]) -> dict[str, Any]:
    """All questions one by one: head and rows of a table, and how many more there are."""
    if content["accounting"] is None:
        head: tuple[str, ...] = ("measurement", "noise")
        rows: list[tuple[str, ...]] = [measurement_row(each) for each in content["measurements"]]
    else:
        noise = NOISE_IN_UNITS if "package" in content else "noise"
        head = ("kind", "of what", noise, "cost (rho)")
        rows = [event_row(event) for event in content["events"]]
    return {"head": head, "questions": rows[:MAX_ROWS], "n_more": max(len(rows) - MAX_ROWS, 0)}
