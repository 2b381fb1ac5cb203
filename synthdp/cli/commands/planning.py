"""The commands that open a schema and nothing else: what will not work well with it, and what
budgets give.
"""

import sys
from dataclasses import dataclass
from typing import Any, final

from synthdp.cli.arguments.options import UNIT_OPTIONS, UnitOptions
from synthdp.cli.commands.table import PACKAGE_COMMANDS
from synthdp.cli.planning.plan_text import describe_plan
from synthdp.cli.planning.schema_check import describe_check
from synthdp.cli.shared.outputs import check_rows
from synthdp.cli.shared.package_files import is_package_file
from synthdp.cli.shared.printing import print_text
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import json_text
from synthdp.core.imports import import_named
from synthdp.release.settings import DOMAIN_SHARE, checked_rows

MAX_ROWS = 10**12
"""More records than this in a table are a slip of the finger."""


@final
@dataclass(frozen=True, kw_only=True)
class CheckOptions(UnitOptions):
    """``synthdp schema check``."""

    schema: str
    epsilon: float | None
    delta: float | None
    rows: int | None
    all: bool
    json: bool


@final
@dataclass(frozen=True, kw_only=True)
class PlanOptions(UnitOptions):
    """``synthdp plan``."""

    schema: str
    rows: int
    want: str | None
    epsilon: float | None
    delta: float | None
    json: bool


def check_command(options: CheckOptions) -> None:
    """``synthdp schema check``: opens nothing but the schema."""
    check_rows(options.rows, least=1, most=MAX_ROWS)
    if is_package_file(options.schema):
        _refuse_for_package(options)
        import_named(PACKAGE_COMMANDS["schema check"])(
            options.schema, epsilon=options.epsilon, delta=options.delta, json=options.json
        )
        return
    content, text = describe_check(options.schema, **_public_facts(options), is_whole=options.all)
    print_text(json_text(content) if options.json else text + "\n")


def plan_command(options: PlanOptions) -> None:
    """``synthdp plan``: opens nothing but the schema."""
    if is_package_file(options.schema):
        problem = f"SCHEMA is {options.schema!r}, a package, and plans are for one table"
        raise ParameterError(
            f"{problem}; synthdp schema check --epsilon --delta says the noise in each of its tables"
        )
    check_rows(options.rows, least=1, most=MAX_ROWS)
    content, text = describe_plan(
        options.schema,
        **_public_facts(options),
        want=options.want,
        block="\u2588" if "utf" in (sys.stdout.encoding or "").lower() else "#",
    )
    print_text(json_text(content) if options.json else text + "\n")


def _refuse_for_package(options: CheckOptions) -> None:
    """Refuse options that are for one table."""
    for name in ("rows", "unit", "max_rows_per_unit", "domain_share"):
        if getattr(options, name) is not None:
            raise ParameterError(
                f"--{name.replace('_', '-')} is for one table; leave it out for a package"
            )


def _public_facts(options: CheckOptions | PlanOptions) -> dict[str, Any]:
    """The size of the table, a budget, whose rows are protected together, and what learning may
    cost.
    """
    return {
        "rows": options.rows,
        "epsilon": options.epsilon,
        "delta": options.delta,
        "unit": options.unit,
        "max_rows_per_unit": checked_rows(
            options.unit, options.max_rows_per_unit, called=UNIT_OPTIONS
        ),
        "domain_share": DOMAIN_SHARE if options.domain_share is None else options.domain_share,
    }
