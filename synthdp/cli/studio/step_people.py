"""Step 3: whose rows are protected, how linked tables hang together, and what cannot be."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from synthdp.cli.projects import rules
from synthdp.cli.projects.columns import places_of
from synthdp.cli.projects.declared import (
    check,
    checked,
    content_of,
    kinds_of,
    persons_of_answers,
    persons_said,
    rules_of,
    save_content,
    save_kinds,
)
from synthdp.cli.projects.links import asked_of_links, with_links_said
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import SynthdpError
from synthdp.linked.package.described_links import tables_below
from synthdp.linked.package.qualified import OTHER
from synthdp.schema.keys import OWN
from synthdp.schema.rule_answers import FORMS

UNITS = ("several", "unit", "max_rows", "together", "order", "constant")
"""What is asked of persons; what is not complete stays typed."""


def people_view(visit: Visit) -> dict[str, Any]:
    """Who is protected, and the rules; what was typed and not saved yet stays typed."""
    content = content_of(visit.opened)
    with suppress(SynthdpError):
        content = _typed(visit)
    tables = content.get("resources", ())
    columns = rules.columns_of(visit.opened)
    n_cases = visit.whole("cases", usual=2)
    about = [("rule", visit.text("rule")), *(("column", name) for name in visit.texts_of("column"))]
    apart = rules.dates_apart(visit.opened)
    places = [*places_of(visit.opened)]
    turned = [] if visit.text("turned") else [("turned", "1")]
    return {
        "columns": [each for each in columns if not each.startswith(OTHER)],
        "others": [each for each in columns if each.startswith(OTHER)],
        "forms": FORMS if tables else FORMS[:-1],
        "rules": [
            (rules.text_of(rule, visit.texts.words("rule")), rules.distance_of(visit.opened, rule))
            for _, rule in rules.all_rules(visit.opened)
        ],
        "apart": apart,
        "n_turned": sum(places.index(one) > places.index(other) for one, other in apart),
        "relatives": rules.relatives(visit.opened),
        "ages": rules.years_of_ages(visit.opened),
        "builder": rules.asked_of_rule(
            visit.opened, visit.text("rule"), _columns(visit), visit.answers, n_cases=n_cases
        ),
        "turned": f"/people?{urlencode([*about, *turned])}#new",
        "tables": asked_of_links(visit.opened, content, visit.answers),
        "root": (content.get(OWN) or {}).get("root") or "",
        "said": persons_said(visit.opened) | _typed_units(visit),
        "is_typed": "several" in visit.form or "root" in visit.form,
        "picture": tables_below(tables),
        "problem": checked(visit.opened)[1],
    }


def save_people(visit: Visit) -> str:
    """Say whose rows they are or how tables are linked, add a rule, or remove one."""
    if visit.action in ("links", "go_on"):
        return _save_units(visit)
    if visit.action == "more":  # room for one case more; nothing is saved
        others = [each for each in visit.form if each not in ("key", "version", "action", "cases")]
        kept = [(name, text) for name in others for text in visit.texts_of(name)]
        return f"/people?{urlencode([*kept, ('cases', visit.whole('cases') + 1)])}#new"
    units = dict[str, Any]()
    typed = _typed_units(visit)
    with suppress(SynthdpError):  # what is not complete yet stays typed
        units = persons_of_answers(visit.opened, visit.answers) if typed else {}
    answered = (visit.text("rule"), _columns(visit), visit.answers)
    said = [rules.rule_said(visit.opened, *answered)] if visit.action == "add" else []
    rules.change_rules(visit.saved(**units).opened, _typed(visit), visit.action, added=said)
    return f"/people?{urlencode({} if units else typed)}#rules"


def _columns(visit: Visit) -> list[str]:
    """The columns that a rule is about, in its order."""
    is_turned = visit.text("rule") == "determines" and visit.text("turned")
    return visit.texts_of("column")[:: -1 if is_turned else 1]


def _typed_units(visit: Visit) -> dict[str, str]:
    return {name: visit.text(name) for name in UNITS if name in visit.form}


def _typed(visit: Visit) -> Any:
    """What is declared, with the links that are typed; raises what refuses those."""
    is_sent = "root" in visit.form
    return with_links_said(visit.opened, visit.answers) if is_sent else content_of(visit.opened)


def _save_units(visit: Visit) -> str:
    visit = visit.saved(**persons_of_answers(visit.opened, visit.answers))
    if "root" in visit.form:
        save_content(visit.opened, _typed(visit))
    save_kinds(visit.opened, kinds_of(visit.opened), rules_of(visit.opened))
    if visit.action == "links":
        return "/people#tables"
    check(visit.opened)
    visit.saved(walked=3)
    return "/budget"
