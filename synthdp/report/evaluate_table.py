"""NOT PRIVATE. Evaluation of one table: synthetic ones are held against the real one."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, finishing, in_notebook, silent
from synthdp.core.requests import check_seed
from synthdp.core.version import __version__
from synthdp.report.evaluation import NOT_PRIVATE
from synthdp.report.evaluation_settings import EvaluationSettings
from synthdp.report.metrics.queries import parse_queries
from synthdp.report.metrics.read_table import ReadTable, read_table, without_column
from synthdp.report.observed_schema import evaluation_schema
from synthdp.report.prediction.prediction import one_thread
from synthdp.report.prediction.targets import chosen_targets
from synthdp.report.releases import (
    measured_in,
    stated_by,
    stated_epsilons,
    stated_schema,
)
from synthdp.report.sections import Comparison, WantedSections
from synthdp.report.table_evaluation import TableEvaluation
from synthdp.schema.schema import Schema
from synthdp.schema.words.headers import listed


def evaluate_table(
    real: Any,
    synthetic: Any,
    schema: Schema | Mapping[str, Any] | str | PathLike[str] | None,
    settings: EvaluationSettings,
    *,
    dialect: Mapping[str, Any] | None = None,
    report: Report = silent,
) -> TableEvaluation:
    """NOT PRIVATE. How far synthetic tables are from the real one.

    Parameters are those of `synthdp.evaluate`, which raises as this does, and the properties of a
    ``dialect`` that all tables are written in, whatever a schema says.
    """
    targets = settings.targets
    weight = settings.weight
    check_seed(settings.seed)
    report = in_notebook(report)
    tables = _named(synthetic, settings.names)
    report("reading tables", 0, 1 + len(tables))
    stated = stated_by(settings.certificate, tuple(tables))
    # A certificate says by which schema its table was made, levels that were learnt included:
    # better than one read off the records.
    schema = stated_schema(stated) if schema is None else schema
    public, notes = evaluation_schema(schema, real, dialect)
    if dialect is not None and schema is not None:
        public = public.in_dialect(dialect)
    # Weights are read with the table but are no column that is compared.
    compared = public
    if weight is not None:
        _check_weight(weight, public)
        compared = without_column(public, weight)
    queries = () if settings.queries is None else tuple(parse_queries(settings.queries, compared))
    wanted = WantedSections(
        by=_columns_in(settings.by, compared, "by"),
        queries=queries,
        seed=settings.seed,
        predicts=targets is not None or find_spec("sklearn") is not None,
    )
    measured, noise_notes = measured_in(stated, public, is_observed=schema is None)
    sections: list[tuple[str, dict[str, pd.DataFrame]]] = []
    with finishing(report) as progress:
        read = _read(real, tables, public, weight, progress)
        unread = {name: table.unread_shares() for name, table in read.items()}
        with_places = {column for shares in unread.values() for column in shares}
        # All tables must have the same cells to be compared. A place that is empty in every table
        # would only make the marginals larger.
        read = {name: table.with_places(with_places) for name, table in read.items()}
        truth = read[""]
        chosen, target_notes = chosen_targets(truth, targets)
        for name in tables:
            # Noise was recorded of counts of records, and says nothing of weighted ones.
            noise = measured[name] if weight is None else ()
            comparison = Comparison(truth, read[name], wanted, noise, progress)
            # Models of a few thousand rows are fitted in less time than threads take to start.
            with one_thread() if wanted.predicts else nullcontext():
                sections.append((name, comparison.sections(chosen)))
    general_notes = [("schema", note) for note in notes] + [("noise", note) for note in noise_notes]
    general_notes += [("prediction", note) for note in target_notes]
    general_notes += [("weights", note) for note in _weight_notes(read, weight, public)]
    frames = _stacked(sections, general_notes)
    facts = (
        {"unread": unread.pop(""), "unread_synthetic": unread}
        | _facts(read, settings.seed)
        | {"epsilon": stated_epsilons(stated)}
        | ({} if weight is None else {"weight": weight})
    )
    return TableEvaluation(**frames, facts=facts, tables=read)


def _named(synthetic: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The synthetic tables by name."""
    if isinstance(synthetic, Mapping):
        if names is not None:
            raise ParameterError("names: the tables are named already; leave names out")
        named = {str(name): table for name, table in synthetic.items()}
    else:
        tables = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
        if names is None:
            given = _default_names(tables)
        else:
            given = [names] if isinstance(names, str) else list(names)
        if len(given) != len(tables):
            raise ParameterError(
                f"names: {len(given)} for {len(tables)} synthetic tables; give one each"
            )
        named = dict(zip(given, tables, strict=True))
        if len(named) < len(tables):
            raise ParameterError("names: one comes twice; give every synthetic table its own name")
    if not named or "" in named:
        raise ParameterError(
            "synthetic: there is no table, or one has an empty name; give one or more, named"
        )
    return named


def _read(
    real: Any, tables: Mapping[str, Any], public: Schema, weight: str | None, progress: Report
) -> dict[str, ReadTable]:
    """All tables by name, of which that of the real one is empty."""
    read = {"": read_table(real, public, "real", weight=weight)}
    if weight is not None and read[""].weights is None:
        raise ParameterError(f"weight: the real table has no column {weight!r}; name its weights")
    for place, (name, data) in enumerate(tables.items()):
        progress("reading tables", 1 + place, 1 + len(tables))
        called = f"synthetic table {name!r}" if len(tables) > 1 else "synthetic"
        read[name] = read_table(data, public, called, weight=weight)
    return read


def _default_names(tables: Sequence[Any]) -> list[str]:
    if len(tables) == 1:
        return ["synthetic"]
    stems = [
        PurePath(fspath(table)).name if isinstance(table, str | PathLike) else ""
        for table in tables
    ]
    # Names of files only where they tell the tables apart; in different folders they often do not.
    if all(stems) and len(set(stems)) == len(stems):
        return stems
    return [f"synthetic {place}" for place in range(1, len(tables) + 1)]


def _columns_in(names: Sequence[str] | str | None, schema: Schema, what: str) -> tuple[str, ...]:
    columns = () if names is None else (names,) if isinstance(names, str) else tuple(names)
    for name in columns:
        if name not in schema.names:
            raise ParameterError(
                f"{what}: there is no column {name!r}; there are {listed(schema.names)}"
            )
    return columns


def _check_weight(weight: object, schema: Schema) -> None:
    """Refuse a column of weights that has no numbers."""
    if weight not in schema.names:
        raise ParameterError(
            f"weight: there is no column {weight!r}; there are {listed(schema.names)}"
        )
    axis = schema[str(weight)].axis
    if axis is None or axis.resolution is not None:
        raise ParameterError(
            f"weight is {weight!r}, which has no numbers; name a column of numbers"
        )
    if len(schema.table_columns) < 2:
        raise ParameterError("weight: there is no other column; give a table with two or more")


def _weight_notes(read: Mapping[str, ReadTable], weight: str | None, schema: Schema) -> list[str]:
    """What to say of weights: what they are used for, and which tables have none."""
    if weight is None:
        marked = f"the schema marks {schema.weight!r} as weights, and rows are not weighed by it"
        return [f"{marked}; give weight={schema.weight!r} (--weight)"] if schema.weight else []
    alike = [name or "real" for name, table in read.items() if table.weights is None]
    notes = [
        f"rows weigh by {weight!r}, which is not compared itself; references by chance are those of "
        f"{read[''].size:,.0f} rows that weigh alike. Similarity, associations with numbers, "
        "propensity, predictions and regressions are of rows drawn in proportion to weight; matches "
        "count rows"
    ]
    without = "which has no such column: its rows weigh alike, as those of a population do"
    return [*notes, *(f"{name}, {without}" for name in alike)]


def _stacked(
    sections: Sequence[tuple[str, dict[str, pd.DataFrame]]],
    general_notes: Sequence[tuple[str, str]],
) -> dict[str, pd.DataFrame]:
    """The sections of all tables one below the other, with the table's name before each row."""
    by_section: dict[str, pd.DataFrame] = {}
    for key in sections[0][1]:
        frames = [frames[key].assign(table=name) for name, frames in sections]
        # Pandas loses the types of columns where an empty frame is among those that are joined.
        filled = [frame for frame in frames if len(frame)] or frames[:1]
        stacked = pd.concat(filled, ignore_index=True)
        by_section[key] = stacked[["table", *(name for name in stacked.columns if name != "table")]]
    general = pd.DataFrame(
        [("", *each) for each in general_notes], columns=["table", "section", "note"]
    )
    notes = [frame for frame in (general, by_section["notes"]) if len(frame)] or [general]
    by_section["notes"] = pd.concat(notes, ignore_index=True)
    return by_section


def _facts(read: Mapping[str, Any], seed: int) -> dict[str, Any]:
    return {
        "not_private": NOT_PRIVATE,
        "rows_real": read[""].n_rows,
        "rows_synthetic": {name: table.n_rows for name, table in read.items() if name},
        "n_columns": len(read[""].domain),
        "seed": seed,
        "software": f"synthdp {__version__}",
    }
