"""Explaining certificates to people: the guarantee, what it was paid for, and which domains were learnt."""

from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.explain.listing import shortened_table
from synthdp.privacy.unit import Adjacency
from synthdp.release.stating.meaning import FALSE_POSITIVES, protection_of

LEVELS = "levels (with missing)"
"""Heads numbers of levels: "missing" is one of them where it may occur."""

_MAX_WIDTH = 100
"""Characters of a finding that are shown: the rest of a line."""
_CURRENCIES = {"zcdp": "rho (zCDP)", "gdp": "rho (GDP)"}
_NUMBERS = {
    "error_bounds": ("95 % bounds on the L1 error", "l1_records"),
    "unbiased_estimates": ("standard deviations", "stddev_records"),
}
"""Findings that hold one number for each marginal, and where."""


def certificate_text(content: Mapping[str, Any]) -> str:
    """What a certificate says, for people.

    Parameters
    ----------
    content
        The certificate as JSON values, also of a run that was stopped.

    Raises
    ------
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError
        If it is not as synthdp writes it.
    """
    facts = [("guarantee", content["guarantee"])]
    if content["accounting"] is None:  # measurements of another system
        details = [("made by", f"{content['software']}, {content['engine']['name']}")]
        tables: list[str] = []
        questions = shortened_table(("measurement", "noise"), [measurement_row(m) for m in content["measurements"]])
    else:
        facts += [("unit of privacy", content["unit_of_privacy"]), *_meaning(content), *_domain_facts(content)]
        facts += [("kinds", content["kinds"])] if "kinds" in content else []
        details, tables = _accounted(content), _domain_table(content)
        events = [event_row(event) for event in content["events"]]
        questions = shortened_table(("event", "what", "noise", "rho"), events)
    facts += _generated_facts(content)
    facts += [("caution", text) for text in content.get("cautions", ())]
    if not content.get("complete", False):
        facts.append(("incomplete", "the run was stopped; only what it had paid for is here"))
    details += [("schema", f"sha256 {content['schema']['sha256']}")] if "schema" in content else []
    limits = "\n".join(["not covered by the guarantee:", *(f"  - {line}" for line in content["not_covered"])])
    return "\n\n".join([_listed(facts), *tables, limits, _listed(details), questions])


def _listed(facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{name:<18} {value}" for name, value in facts)


def _meaning(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the guarantee means for one person; nothing where there is none."""
    if not content["is_private"]:
        return []
    right = protection_of(content).true_positives(FALSE_POSITIVES)
    replaces = content["adjacency"] == Adjacency.REPLACE_ONE.value
    ones, others = ("records of one content", "the other") if replaces else ("those not in the table", "those in it")
    wrong = f"an attacker who is wrong about {100 * FALSE_POSITIVES:g} % of {ones}"
    return [("for one person", f"{wrong} recognises at most {100 * right:.3g} % of {others}")]


def _accounted(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a release was made that paid for its measurements itself, and what it cost."""
    accounting, noise = content["accounting"], content["noise"]
    spent = f"{accounting['rho_spent']:.6g} spent of {accounting['rho_budget']:.6g}"
    facts = [("made by", ", ".join(_makers(content))), (_CURRENCIES[accounting["currency"]], spent)]
    if accounting.get("failure_delta"):
        spent, most = accounting["failure_delta_spent"], accounting["failure_delta"]
        facts.append(("delta", f"{spent:.4g} of {content['delta']:.4g} spent on thresholds, {most:.4g} at most"))
    facts.append(("noise", f"{noise['kind']}; {noise['randomness']}"))
    if "workload" in content:
        wanted = content["workload"]
        facts.append(("workload", f"{wanted['n_marginals']} marginals of up to {wanted['columns_at_most']} columns"))
    findings: Mapping[str, Any] = content.get("findings", {})
    return facts + [(name.replace("_", " "), _finding(name, found)) for name, found in findings.items()]


def _makers(content: Mapping[str, Any]) -> list[str]:
    """Software, recipe and engine; of a run that was stopped before its model, the recipe only."""
    makers = [content["software"]] if "software" in content else []
    makers.append(content["mechanism"]["name"])
    if "engine" in content:
        engine = content["engine"]
        makers.append(engine["name"] + (f" ({engine['choice']})" if "choice" in engine else ""))
    return makers


def _domain_facts(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How many columns were learnt, and for which share of the budget; nothing in certificates that do not tell.

    Older ones of runs that were stopped name all columns that were to be learnt, and not which of them were.
    """
    columns = content["schema"]["columns"] if "schema" in content else []
    n_declared = sum(column.get("domain") == "declared" for column in columns)
    if "domain" in content:
        domain = content["domain"]
        n_derived, share = len(domain.get("derived", {})), 100 * domain["share_of_budget"]
        learnt = "learnt" if columns or "open" in domain else "to be learnt"
        rest = f"; {_columns(len(domain['open']))} still open" if domain.get("open") else ""
        rest += f"; {_columns(n_declared)} declared as a whole" if columns else ""
        return [("domain", f"{_columns(n_derived)} {learnt} with at most {share:g} % of the budget{rest}")]
    return [("domain", f"{_columns(n_declared)} declared as a whole, none learnt")] if n_declared else []


def _generated_facts(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Which columns were made up, and not read."""
    columns = content.get("schema", {}).get("generated", ())
    listed = ", ".join(f"{column['name']!r} ({column['kind']})" for column in columns)
    return [("generated", f"{listed}: made up for the output, nothing of it was measured")] if columns else []


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def _domain_table(content: Mapping[str, Any]) -> list[str]:
    """Which columns were declared and which derived, and what that was paid for; none if all were declared."""
    if "domain" not in content:
        return []
    domain: Mapping[str, Any] = content["domain"]
    derived: Mapping[str, Sequence[str]] = domain.get("derived", {})
    if "schema" in content:
        rows = [_domain_row(column, content["events"]) for column in content["schema"]["columns"]]
        return [shortened_table(("column", "domain", LEVELS, "derived", "noise"), rows)]
    state = "derived" if "open" in domain else "to be derived"
    rows = [(name, state, ", ".join(parts)) for name, parts in derived.items()]
    rows += [(name, "still open", "") for name in domain.get("open", ())]
    paid = [(*row, _price(row[0], content["events"]) or "nothing paid yet") for row in rows]
    return [shortened_table(("column", "domain", "parts", "noise"), paid)]


def _domain_row(column: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    parts: Sequence[str] = column.get("derived", ())
    price = _price(column["name"], events) if parts else ""
    return column["name"], column["domain"], str(column["n_levels"]), ", ".join(parts), price


def _price(name: str, events: Sequence[Mapping[str, Any]]) -> str:
    """Noise and thresholds of what was asked about one column before its domain was known."""
    own = [event for event in events if event.get("column") == name]
    sigmas = sorted(event["sigma"] for event in own if "sigma" in event)
    span = dict.fromkeys(f"{sigma:.4g}" for sigma in (*sigmas[:1], *sigmas[-1:]))
    words = [f"sigma {' to '.join(span)}"] if span else []
    words += [f"threshold {event['threshold']} records" for event in own if "threshold" in event]
    return ", ".join(words + [f"Laplace scale {event['scale']}" for event in own if event["event"] == "tree"])


def _finding(name: str, found: Any) -> str:
    """What a recipe found out about its own errors, in a line: lists hold an entry for each marginal."""
    if name in _NUMBERS:
        about, key = _NUMBERS[name]
        numbers = [entry[key] for entry in found if entry[key] is not None]
        span = f"{min(numbers):.4g} to {max(numbers):.4g} records" if numbers else "unknown"
        unknown = f" ({len(found) - len(numbers)} unknown)" if 0 < len(numbers) < len(found) else ""
        return f"{about} of {len(found)} marginals: {span}{unknown}; --json lists them"
    if name == "rounds" and isinstance(found, list):
        return "; ".join(map(_round, found)) or "none: columns only, where no more is asked for or noise would hide it"
    if isinstance(found, list | dict):
        return f"{len(found)} entries; --json lists them"
    return str(found)[:_MAX_WIDTH]


def _round(found: Mapping[str, Any]) -> str:
    merged = found.get("over_merged_levels")
    coarse = f", {merged} of them over merged levels" if merged else ""
    return f"{found['looked_at']} marginals looked at, then {found['measured']} measured{coarse}"


def measurement_row(measurement: Mapping[str, Any]) -> tuple[str, str]:
    """Columns and noise of a measurement of another system."""
    stddev = measurement["stddev"]  # one, or of several the smallest and the largest
    noise = "{:.4g} to {:.4g}".format(*stddev) if isinstance(stddev, list) else f"{stddev:.4g}"
    return _what(measurement), f"stddev {noise}"


def _what(marginal: Mapping[str, Any]) -> str:
    return " x ".join(marginal["columns"]) or "(number of records)"


def event_row(event: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Kind, object, noise and cost of an event."""
    kind = event["event"]
    if kind == "marginal":
        what, noise = _what(event), f"sigma {event['sigma']:.4g}"
    elif kind == "scores":
        what, noise = f"all {event['n_candidates']} by {event['score']}", f"sigma {event['sigma']:.4g}"
    elif kind == "histogram":
        what, noise = f"{event['n_cells']} cells of {_counted(event)}", f"sigma {event['sigma']:.4g}"
    elif kind == "partition selection":
        what, noise = _counted(event), f"sigma {event['sigma']:.4g}, threshold {event['threshold']}"
    elif kind == "tree":
        what, noise = event["column"], f"Laplace scale {event['scale']}"
    else:
        what, noise = f"1 of {event['n_candidates']} by {event['score']}", f"epsilon {event['epsilon']:.4g}"
    return kind, what, noise, f"{event['rho']:.4g}"


def _counted(event: Mapping[str, Any]) -> str:
    """The column, and what of its values was counted unless it is the values themselves."""
    column: str = event["column"]
    return column if event["of"] == "values" else f"{column} ({event['of']})"
