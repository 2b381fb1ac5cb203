"""Explaining certificates to people: the guarantee, what it was paid for, and which domains were
learnt.
"""

import json
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from synthdp.core.cautions import grouped
from synthdp.core.event_words import columns_in_words, event_in_words, in_records
from synthdp.core.message_codes import with_caution_code
from synthdp.privacy.unit import Adjacency
from synthdp.release.acceptance import acceptance_lines
from synthdp.release.certificate.meaning import FALSE_POSITIVES, protection_of, with_what_was_meant
from synthdp.report.texts.known import known_lines
from synthdp.report.texts.listing import table, wrapped
from synthdp.report.texts.numbers import at_most
from synthdp.report.texts.prior import prior_lines
from synthdp.report.texts.quality import model_facts, quality_facts

LEVELS = "levels (with missing)"
"""Heads numbers of levels: "missing" is one of them where it may occur."""

NOISE_IN_UNITS = "noise, in units of privacy"
"""Heads noise in questions about linked tables, of which a root with all rows below it counts 1."""

REST = "--all shows everything, each question as well"
"""Ends a short text."""

_CAUTIONS = 4
"""Cautions that a short text shows."""
_MOST_SITES = 5
"""Sites that are named."""
_MAX_WIDTH = 100
"""Characters of a finding that are shown: the rest of a line."""
_CURRENCIES = {"zcdp": "rho (zCDP)", "gdp": "rho (GDP)"}
_NUMBERS = {
    "error_bounds": ("95 % bounds on the L1 error", "l1_records"),
    "unbiased_estimates": ("standard deviations", "stddev_records"),
}
"""Findings that hold one number for each marginal, and where."""


def certificate_text(content: Mapping[str, Any], *, is_whole: bool = True) -> str:
    """What a certificate says, for people.

    Parameters
    ----------
    content
        The certificate as JSON values, also of a run that was stopped.
    is_whole
        False: what matters most, on about a screen.

    Raises
    ------
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError
        If it is not as synthdp writes it.
    """
    content = in_readers_units(with_what_was_meant(content))
    facts = [("guarantee", content["guarantee"])]
    is_ours = content["accounting"] is not None  # else measurements of another system
    if is_ours:
        facts += _own_facts(content, is_whole=is_whole)
    quality = quality_facts(content.get("quality") or {})
    facts += quality if is_whole else quality[:1]
    facts += model_facts(content)
    facts += [("accepted if", line) for line in acceptance_lines(content)]
    facts += [("known", line) for line in known_lines(content)]
    facts += [("earlier release", line) for line in prior_lines(content)]
    if is_whole:
        facts += rows_facts(content.get("rows") or {})
    facts += _generated_facts(content)
    facts += _caution_facts(content, is_whole=is_whole)
    if not content.get("complete", False):
        facts.append(("incomplete", "the run was stopped; only what it had paid for is here"))
    limits = "\n".join(
        ["not covered by the guarantee:", *(f"  - {line}" for line in content["not_covered"])]
    )
    if is_ours:
        details, tables = _accounted(content), _domain_table(content)
    else:
        details = [("made by", f"{content['software']}, {content['engine']['name']}")]
        tables = []
    questions = _questions(content)  # in any case: what is no certificate has no short text either
    if not is_whole:
        listed = "\n".join(wrapped(line, indent=" " * 19) for line in _listed(facts).splitlines())
        return "\n\n".join([listed, limits, _listed(details[:2]), _questions_in_short(content)])
    if "schema" in content:
        details += [("schema", f"sha256 {content['schema']['sha256']}")]
    return "\n\n".join(
        [_listed(facts), *tables, limits, *_stated(content), _listed(details), questions]
    )


def _own_facts(content: Mapping[str, Any], *, is_whole: bool) -> list[tuple[str, str]]:
    """Whom the guarantee protects, what was learnt, and how the run went: facts that measurements
    of another system lack.
    """
    domain = content.get("domain", {})
    return [
        ("unit of privacy", content["unit_of_privacy"]),
        *_meaning(content),
        *_domain_facts(content),
        *drawn_facts(domain),
        *(tails_facts(domain) if is_whole else ()),
        *run_facts(content.get("run") or {}),
        *site_facts(content.get("sites") or {}),
        *([("kinds", content["kinds"])] if "kinds" in content else ()),
    ]


def _caution_facts(content: Mapping[str, Any], *, is_whole: bool) -> list[tuple[str, str]]:
    """All cautions; in a short text the first ones, of which those that are alike count as one."""
    cautions = list(content.get("cautions", ()))
    shown = [with_caution_code(each) for each in (cautions if is_whole else grouped(cautions))]
    most = len(shown) if is_whole else _CAUTIONS
    facts = [("caution", text) for text in shown[:most]]
    return facts + ([("", f"... and {len(shown) - most} more")] if len(shown) > most else [])


def _stated(content: Mapping[str, Any]) -> list[str]:
    """What is released without noise, and what the curator states."""
    public = [
        f"  - {each['quantity']}: {each['source']}" for each in content.get("unprotected", ())
    ]
    statements = {
        key: each if isinstance(each, str) else json.dumps(each)
        for key, each in content.get("about", {}).items()
    }
    statement_lines = [f"  - {key}: {text}" for key, text in statements.items()]
    parts = (("released without noise:", public), ("stated by the curator:", statement_lines))
    return ["\n".join([title, *lines]) for title, lines in parts if lines]


def _questions(content: Mapping[str, Any]) -> str:
    """All that was asked of the records, or measured by another system."""
    if content["accounting"] is None:
        return table(
            ("measurement", "noise"), [measurement_row(each) for each in content["measurements"]]
        )
    noise = NOISE_IN_UNITS if "package" in content else "noise"
    return table(("event", "what", noise, "rho"), [event_row(event) for event in content["events"]])


def _questions_in_short(content: Mapping[str, Any]) -> str:
    """How many questions were asked, and where all of them are listed."""
    if content["accounting"] is None:
        return f"{len(content['measurements'])} measurements; {REST}"
    noise = NOISE_IN_UNITS if "package" in content else "noise"
    return f"{table(('event', 'number', noise, 'rho'), _summary_rows(content['events']))}\n{REST}"


def _listed(facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{name:<18} {value}" for name, value in facts)


def _meaning(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the guarantee means for one person; nothing where there is none."""
    if not content["is_private"]:
        return []
    right = protection_of(content).true_positives(FALSE_POSITIVES)
    replaces = content["adjacency"] == Adjacency.REPLACE_ONE.value
    ones, others = (
        ("records of one content", "the other")
        if replaces
        else ("those not in the table", "those in it")
    )
    wrong = f"an attacker who is wrong about {100 * FALSE_POSITIVES:g} % of {ones}"
    return [("for one person", f"{wrong} recognises at most {at_most(right)} of {others}")]


def _accounted(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a release was made that paid for its measurements itself, and what it cost."""
    accounting = content["accounting"]
    noise = content["noise"]
    spent = f"{accounting['rho_spent']:.6g} spent of {accounting['rho_budget']:.6g}"
    facts = [("made by", ", ".join(_makers(content))), (_CURRENCIES[accounting["currency"]], spent)]
    if accounting.get("failure_delta"):
        spent = accounting["failure_delta_spent"]
        most = accounting["failure_delta"]
        facts.append(
            (
                "delta",
                f"{spent:.4g} of {content['delta']:.4g} spent on thresholds, {most:.4g} at most",
            )
        )
    facts.append(("noise", f"{noise['kind']}; {noise['randomness']}"))
    if "workload" in content:
        wanted = content["workload"]
        facts.append(
            (
                "workload",
                f"{wanted['n_marginals']} marginals of up to {wanted['columns_at_most']} columns",
            )
        )
    findings: Mapping[str, Any] = content.get("findings", {})
    return facts + [
        (name.replace("_", " "), _finding(name, finding)) for name, finding in findings.items()
    ]


def _makers(content: Mapping[str, Any]) -> list[str]:
    """Software, mechanism and engine; of a run that was stopped before its model, the mechanism
    only.
    """
    makers = [content["software"]] if "software" in content else []
    mechanism = content["mechanism"]
    several = mechanism.get("parameters", {}).get("mechanisms", [])
    makers += [each["name"] for each in several] or [mechanism["name"]]
    if "engine" in content:
        engine = content["engine"]
        makers.append(engine["name"] + (f" ({engine['choice']})" if "choice" in engine else ""))
    return makers


def _domain_facts(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How many columns were learnt, and for which share of the budget; nothing in certificates that
    do not tell.

    Older ones of runs that were stopped name all columns that were to be learnt, and not which of
    them were.
    """
    columns = content["schema"]["columns"] if "schema" in content else []
    n_declared = sum(column.get("domain") == "declared" for column in columns)
    if "domain" in content:
        domain = content["domain"]
        n_derived = len(domain.get("derived", {}))
        learnt = "learnt" if columns or "open" in domain else "to be learnt"
        rest = f"; {_columns(len(domain['open']))} still open" if domain.get("open") else ""
        if columns:
            rest += f"; {_columns(n_declared) if n_declared else 'none'} declared as a whole"
        return [
            (
                "domain",
                f"{_columns(n_derived)} {learnt} with {cost_of_learning(content)}{rest}",
            )
        ]
    return (
        [("domain", f"{_columns(n_declared)} declared as a whole, none learnt")]
        if n_declared
        else []
    )


def cost_of_learning(content: Mapping[str, Any]) -> str:
    """At most which share of the budget learning took, of a certificate with a ``domain``."""
    share = 100 * content["domain"]["share_of_budget"]
    asked = [e["column"] for e in content["events"] if e["event"] == "partition selection"]
    n_again = len(asked) - len(set(asked))
    again = f", and up to half as much for levels of {_columns(n_again)}" if n_again else ""
    return f"at most {share:g} % of the budget{again}"


def drawn_facts(domain: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What of drawn values was learnt besides levels and bins: levels that never are, and values
    that are round.
    """
    unused: Mapping[str, Any] = domain.get("not_drawn", {})
    heaped: Mapping[str, Mapping[str, float]] = domain.get("heaping", {})
    levels = "; ".join(
        f"{name}: {', '.join(found) if isinstance(found, list) else found}"
        for name, found in unused.items()
    )
    facts = [("not drawn", f"{levels} (noise alone was measured there)")] if unused else []
    shares = {
        name: " and ".join(f"{100 * part:.3g} % of {step}" for step, part in heaped[name].items())
        for name in heaped
    }
    shown = "; ".join(f"{name!r} {steps}" for name, steps in shares.items())
    return facts + (
        [("round values", f"found, and drawn as often, as multiples: {shown}")] if heaped else []
    )


def tails_facts(domain: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Beyond which learnt bounds values are drawn; nothing if beyond none."""
    tails: Mapping[str, Mapping[str, Any]] = domain.get("tails", {})
    ends = "; ".join(
        f"{name} {' and '.join(f'{word} {bound}' for word, bound in tails[name].items())}"
        for name in tails
    )
    text = f"{ends} (how many was measured, which values is a guess)"
    return [("tails", text)] if tails else []


def run_facts(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Which run it is of, when its answers were given, and what that means if the records changed
    meanwhile.
    """
    if not run:  # of certificates of earlier versions
        return []
    charged = ", charged to a budget" if run["is_charged_to_budget"] else ""
    facts = [
        (
            "released",
            f"{run['released'] or 'at a time that nobody noted'} by run {run['id']}{charged}",
        )
    ]
    if "resumed" in run:
        facts.append(("resumed", f"on {', '.join(run['resumed'])}: {run['meaning']}"))
    if "rescued" in run:
        facts.append(("rescued", f"from its journal, without the run, {run['rescued']}"))
    if "replayed" in run:
        facts.append(
            (
                "replayed",
                f"{run['replayed']}: all answers came from its journal, no record was asked",
            )
        )
    return facts


def site_facts(sites: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Which sites gave to a release, and what that means for a person; nothing of one table."""
    if not sites:
        return []
    losses = (
        "each person at one, who loses what that site states"
        if sites["people"] == "disjoint"
        else "each person at all, so that losses add up"
    )
    each = "; ".join(map(_site_in_words, sites["each"][:_MOST_SITES]))
    more = f"; ... and {len(sites['each']) - _MOST_SITES} more"
    rest = more if len(sites["each"]) > _MOST_SITES else ""
    return [("sites", f"{len(sites['each'])} sites, {losses}: {each}{rest}")]


def _site_in_words(site: Mapping[str, Any]) -> str:
    """Guarantee, name and day of one site."""
    named = [(site.get("about") or {}).get("name"), (site.get("run") or {}).get("released")]
    details = ", ".join(str(word) for word in named if word)
    return f"{site['guarantee']} ({details})" if details else str(site["guarantee"])


def rows_facts(rows: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How far the rows of a table are from the model; nothing where that was not worked out."""
    if not rows:
        return []
    names = columns_in_words(rows["worst_table"])
    mean = f"{rows['mean']:.2g} on average over {rows['n_tables']} measured tables"
    worst = f"{rows['worst']:.2g} at worst ({names})"
    chance = f"chance: {rows['mean_by_chance']:.2g} and {rows['worst_by_chance']:.2g}"
    return [("rows", f"{rows['n_rows']:,}; distance from the model {mean}, {worst}; {chance}")]


def _generated_facts(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Which columns were made up, and not read."""
    columns = content.get("schema", {}).get("generated", ())
    listed = ", ".join(f"{column['name']!r} ({column['kind']})" for column in columns)
    return (
        [("generated", f"{listed}: made up for the output, nothing of it was measured")]
        if columns
        else []
    )


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def _domain_table(content: Mapping[str, Any]) -> list[str]:
    """Which columns were declared and which derived, and what that was paid for; none if all were
    declared.
    """
    if "domain" not in content:
        return []
    domain: Mapping[str, Any] = content["domain"]
    derived: Mapping[str, Sequence[str]] = domain.get("derived", {})
    if "schema" in content:
        rows = [_domain_row(column, content["events"]) for column in content["schema"]["columns"]]
        return [table(("column", "domain", LEVELS, "derived", "noise"), rows)]
    state = "derived" if "open" in domain else "to be derived"
    rows = [(name, state, ", ".join(parts)) for name, parts in derived.items()]
    rows += [(name, "still open", "") for name in domain.get("open", ())]
    paid = [(*row, _price(row[0], content["events"]) or "nothing paid yet") for row in rows]
    return [table(("column", "domain", "parts", "noise"), paid)]


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
    words += [
        f"threshold {event['threshold']} {event.get('record', 'record')}s"
        for event in own
        if "threshold" in event
    ]
    return ", ".join(
        words + [f"Laplace scale {event['scale']}" for event in own if event["event"] == "tree"]
    )


def _finding(name: str, finding: Any) -> str:
    """What a mechanism found out about its own errors, in a line: lists hold an entry for each
    marginal.
    """
    if name in _NUMBERS:
        about, key = _NUMBERS[name]
        numbers = [entry[key] for entry in finding if entry[key] is not None]
        span = f"{min(numbers):.4g} to {max(numbers):.4g} records" if numbers else "unknown"
        unknown = (
            f" ({len(finding) - len(numbers)} unknown)" if 0 < len(numbers) < len(finding) else ""
        )
        return f"{about} of {len(finding)} marginals: {span}{unknown}; --json lists them"
    if name == "rounds" and isinstance(finding, list):
        return (
            "; ".join(map(_round, finding))
            or "none: columns only, where no more is asked for or noise would hide it"
        )
    if name == "taken_for_names" and isinstance(finding, list):
        about = "neighbours in their lists are not taken to be alike"
        return f"{', '.join(map(str, finding))}: {about}; where they are, declare categoriesOrdered"
    if isinstance(finding, list | dict):
        return f"{len(finding)} entries; --json lists them"
    return str(finding)[:_MAX_WIDTH]


def _round(finding: Mapping[str, Any]) -> str:
    merged = finding.get("over_merged_levels")
    coarse = f", {merged} of them over merged levels" if merged else ""
    seen = f" and {finding['left_out']} left out" if finding.get("left_out") else ""
    if "visible_distance" in finding:  # certificates of earlier versions do not tell
        seen += f" ({finding['rule']}; seen from a distance of {finding['visible_distance']:.2g})"
    return f"{finding['looked_at']} marginals looked at{seen}, then {finding['measured']} measured{coarse}"


def measurement_row(measurement: Mapping[str, Any]) -> tuple[str, str]:
    """Columns and noise of a measurement of another system."""
    stddev = measurement["stddev"]  # one, or of several the smallest and the largest
    noise = "{:.4g} to {:.4g}".format(*stddev) if isinstance(stddev, list) else f"{stddev:.4g}"
    return columns_in_words(measurement["columns"]), f"stddev {noise}"


def in_readers_units(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """A certificate whose questions have their noise in records, of linked tables in units of
    privacy.
    """
    if "package" in content:
        return {**content, "events": in_units(content["events"])}
    if "events" in content:
        return {**content, "events": [*map(in_records, content["events"])]}
    return content


def in_units(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Questions about linked tables, with sigma and thresholds in units of privacy: a family counts 1.

    As certificates state them they are in units of weight, of which a family counts as many as the
    sensitivity says.

    >>> in_units(
    ...     [{"event": "marginal", "sigma": 120.0, "sensitivity_l2_squared": 3600, "rho": 0.1}]
    ... )[0]["sigma"]
    2.0
    >>> levels = {
    ...     "event": "partition selection",
    ...     "column": "town",
    ...     "of": "values",
    ...     "record": "unit",
    ... }
    >>> noise = {"sigma": 2048.0, "sensitivity_l2_squared": 1 << 20, "rho": 0.1}
    >>> event_row(in_units([levels | noise | {"threshold": 7680, "units_of_weight": 1024}])[0])
    ('partition selection', 'town, by unit', 'sigma 2, threshold 7.5', '0.1')
    """
    found = []
    for event in map(dict, events):
        if "sigma" in event:
            event["sigma"] /= event.get("sensitivity") or sqrt(event["sensitivity_l2_squared"])
        if "units_of_weight" in event:
            event["threshold"] = round(event["threshold"] / event["units_of_weight"], 1)
        if "sensitivity_l2_squared" in event:
            event["sensitivity_l2_squared"] = 1.0
        found.append(event)
    return found


def event_row(event: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Kind, object, noise and cost of an event."""
    return event["event"], *event_in_words(event), f"{event['rho']:.4g}"


def _summary_rows(events: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    """The events of each kind together: how many, their noise and what they cost."""
    rows = []
    for kind in dict.fromkeys(event["event"] for event in events):
        own = [event for event in events if event["event"] == kind]
        key = next(key for key in ("sigma", "scale", "epsilon") if key in own[0])
        ends = dict.fromkeys(f"{end(float(event[key]) for event in own):.4g}" for end in (min, max))
        name = "Laplace scale" if key == "scale" else key
        rows.append(
            (
                kind,
                str(len(own)),
                f"{name} {' to '.join(ends)}",
                f"{sum(event['rho'] for event in own):.4g}",
            )
        )
    return rows
