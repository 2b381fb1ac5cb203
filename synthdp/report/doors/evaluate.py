"""NOT PRIVATE. The door to evaluation: `evaluate` holds synthetic data against the real ones."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_named
from synthdp.core.reporting import Report, silent
from synthdp.linked.doors.synthesize import is_package
from synthdp.report.evaluate_table import evaluate_table
from synthdp.report.evaluation_settings import EvaluationSettings
from synthdp.report.metrics.queries import Queries
from synthdp.report.releases import Certificates
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.linked.package.package import Package
    from synthdp.report.evaluation import Evaluation

EVALUATE_LINKED = "synthdp.report.linked.linked_tables:evaluate_linked"
"""The evaluation of tables of a package; one of a table does not load it."""


def evaluate(
    real: Any,
    synthetic: Any,
    schema: "Schema | Package | Mapping[str, Any] | str | PathLike[str] | None" = None,
    *,
    names: Sequence[str] | None = None,
    targets: Sequence[str] | str | None = None,
    by: Sequence[str] | str | None = None,
    queries: Queries | None = None,
    certificate: Certificates = None,
    weight: str | None = None,
    seed: int = 0,
    report: Report = silent,
) -> "Evaluation":
    """NOT PRIVATE. How far synthetic tables are from the real one, between sampling error and
    noise.

    The result is read off the real table without noise: no guarantee covers it, and publishing it
    costs privacy that no certificate counts. See ``docs/evaluation.md`` for each metric.

    ``names``, ``targets``, ``by``, ``queries`` and ``weight`` are for one table.

    Of tables of a package are compared, over its levels and bins: each column and each number of
    children; all pairs of columns of one table; all pairs of a column and one of a table above; the
    number of children with each column of the parent; and all pairs of a column of a row with one
    of another row of the same parent: of any other (siblings), and where rows have an order of the
    next one (transitions). Rows beyond ``max_children`` are left out of both.

    Parameters
    ----------
    real
        The real table: the path of a file (CSV, Parquet, Excel), a `pandas.DataFrame`, a table in
        memory of another library that narwhals knows, or a data frame of Dask, which must fit into
        memory if no schema is given. Or tables of a package that are linked by keys: each by its
        name, as a mapping, or the path of the ``datapackage.json`` beside them.
    synthetic
        A synthetic table of the same kinds; or several, as a list or as a mapping from names to
        tables. Of a package the tables of one, as for ``real``.
    schema
        A `Schema`, its JSON as a mapping, the path of a schema file, or of a saved synthesis
        (``.synthdp``) whose schema is taken. By default levels and bins are read off the real
        table. Of tables by name the `Package`, as an object, a mapping or a file; columns that
        refer to public tables declare their levels, or those tables are in ``real``.
    names
        What to call the tables of a list; by default the names of files.
    targets
        Columns that models are to predict, or ``"all"`` suitable ones; by default the first three.
        Needs scikit-learn (``pip install 'synthdp[report]'``); without it, and without ``targets``,
        predictions are left out.
    by
        Columns within whose levels errors are taken.
    queries
        Questions of your own: a list of ``{"columns": [..], "where": {..}}``, or the path of a JSON
        file with it.
    certificate
        The release's certificate (a mapping, or the path of its file), or its measurements: they
        say how large the noise was. For several tables a list or a mapping by name.
    weight
        The column of survey weights: real rows weigh by it, and so do synthetic ones; without that
        column, as `Synthesis.sample` draws a population, they weigh alike.
    seed
        Draws what is sampled.
    report
        Called with the progress: (what is going on, steps done, steps at most).

    Returns
    -------
    Evaluation
        Tables of distances, and pages of them: a `TableEvaluation`, or a `LinkedEvaluation` of a
        package.

    Raises
    ------
    ParameterError
        If an argument does not fit the tables, or a table has no rows.
    SchemaError
        If the schema does not fit the real table or a synthetic one.
    DataFileError
        If a file cannot be read.
    MissingExtraError
        If ``targets`` are given and scikit-learn is not installed.

    >>> import pandas as pd
    >>> real = pd.DataFrame({"sex": ["f", "m"] * 50, "pet": ["cat", "dog", "dog", "cat"] * 25})
    >>> found = evaluate(real, real)
    >>> (
    ...     float(found.marginals["tvd"].max()),
    ...     float(found.summary.set_index("metric").loc["k-marginal score", "value"]),
    ... )
    (0.0, 1000.0)
    """
    for_one = {"names": names, "targets": targets, "by": by, "queries": queries, "weight": weight}
    if not is_package(real, schema):
        settings = EvaluationSettings(certificate=certificate, seed=seed, **for_one)  # type: ignore[arg-type]
        return evaluate_table(real, synthetic, schema, settings, report=report)  # type: ignore[arg-type]
    for name, value in for_one.items():
        if value is not None:
            raise ParameterError(f"{name} is for one table; leave it out for a package")
    evaluation: Evaluation = import_named(EVALUATE_LINKED)(
        real, synthetic, schema, certificate=certificate, seed=seed, report=report
    )
    return evaluation
