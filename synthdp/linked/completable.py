"""Whether families can be completed by the rules of a package, looked at before anything is paid."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.model import Model
from synthdp.linked.families.families import (
    Draw,
    DrawnRows,
    checked_names,
    drawn_children,
    drawn_roots,
)
from synthdp.linked.families.fitted_view import FittedView
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import LinkedView
from synthdp.release.registry import engine_named
from synthdp.release.synthesis import Synthesis

_N_ROOTS = 5_000
"""Families that are drawn: enough to meet rows without a value if one row in a thousand is such."""


def check_completable(package: Package, views: Mapping[str, LinkedView]) -> None:
    """Draw some families of which nothing is known but the rules, always the same ones.

    A row for which the rules leave no value stops a run when families are drawn for the next view,
    and all draws after it: then most of the budget is spent. Orders alone, and least numbers of
    children, leave a value for every row.

    Parameters
    ----------
    package
        What is public of the tables; its records are not looked at.
    views
        Those that have something to draw.

    Raises
    ------
    ParameterError
        If the rules leave no value for some row; it names the table.
    """
    if package.rules or any(
        table.limits or (table.schema and table.schema.rules) for table in package.tables
    ):
        # Of rules on very many levels, which are met as families are drawn.
        with suppress(ModelTooLargeError):
            _draw(
                package,
                {label: FittedView(view, _knowing_rules(view)) for label, view in views.items()},
            )


def _draw(package: Package, fitted: Mapping[str, FittedView]) -> None:
    seeds = iter(np.random.SeedSequence(0).spawn(len(package.tables)))
    checked = checked_names(
        [each.view.schema for each in fitted.values() if each.view.schema is not None]
    )
    drawn: dict[str, DrawnRows] = {}
    for table in package.tables:
        own = [each for each in fitted.values() if each.view.name == table.name]
        view = own[0].view if own else LinkedView(package, table)
        draw = Draw(next(seeds), text=False, checked=checked)
        if table.parent is None:
            model = own[0].model
            drawn[table.name] = drawn_roots(view, model, _N_ROOTS, draw)
        else:
            parents = drawn[table.parent]
            drawn[table.name] = drawn_children(view, own, parents, draw)


def _knowing_rules(view: LinkedView) -> Synthesis:
    """A view of which nothing is known but how many families there are."""
    schema = view.schema
    assert schema is not None
    total = LinearMeasurement((), np.array(float(_N_ROOTS * view.grid)), 1.0)
    model: Model = engine_named("graphical-model").estimate(
        schema.domain, [total], constraints=schema.constraints
    )
    return Synthesis(schema=schema, measurements=[total], model=model, certificate={})
