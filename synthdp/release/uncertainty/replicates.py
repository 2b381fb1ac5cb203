"""Replicates of a release: tables that differ as much as the noise left open, and analyses that
allow for it.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, final

import numpy as np
import pandas as pd

from synthdp.core.errors import CautionWarning, ParameterError
from synthdp.core.measurement import LinearMeasurement
from synthdp.release.uncertainty import analyses
from synthdp.release.uncertainty.basis import basis_of
from synthdp.release.uncertainty.columns import (
    check_columns,
    check_level,
    check_number,
    is_number,
    levels_in,
)
from synthdp.release.uncertainty.combining import N_CENTRES, Analysed, Target, combined
from synthdp.release.uncertainty.intervals import check_interval
from synthdp.release.uncertainty.tables import ReplicateTables, Tables
from synthdp.schema.schema import Schema

Analysis: TypeAlias = Callable[[pd.DataFrame], tuple[Any, Any]]
"""From a table to values and their sampling variances: numbers, or Series with one entry a
quantity.
"""

Kind: TypeAlias = Literal["linear", "logistic"]


_NO_NUMBER = "no interval: the analysis gave no finite number for {} of {} tables; ask for less of so few records"


@final
class Replicates(Sequence[pd.DataFrame]):
    """Synthetic tables, each of what the noise might have made of the release;
    `Synthesis.replicates` makes them.

    As a sequence it has the m tables, data frames of pandas. Its methods analyse each and combine
    what they find into one estimate, with an interval that allows for the noise, and for the
    records being a sample; docs/inference.md derives the rules. Results have a row for each
    quantity and the columns

    - ``estimate``, and ``stderr``, its standard error;
    - ``df``, degrees of freedom of Student's distribution; ``low`` and ``high``, the interval;
    - ``basis``: "measured" where one measurement holds all columns; "pairs" where each two of them
      were measured together, and the interval takes for granted that no dependence of three
      matters; else "merged" (some two over merged levels only) or "model" (some two by no
      measurement). Then the model took what nobody measured for nothing, no interval would be true,
      and ``low`` and ``high`` are nan; a `CautionWarning` says which columns these are.

    All methods take ``level``, the probability of the interval, and ``of``: the value of the
    "population" that the records are an independent sample of, or that of the sensitive "table"
    itself.

    What they combine is not these tables, but tables of the analysis' columns alone, by what was
    measured of those (`synthdp.release.uncertainty.part`); where that leaves a dependence open, the
    model's tables.

    Parameters
    ----------
    schema, measurements
        What the columns mean, and everything that was measured.
    tables
        What draws.
    """

    def __init__(
        self, *, schema: Schema, measurements: Sequence[LinearMeasurement], tables: ReplicateTables
    ) -> None:
        self._schema, self._measurements, self._tables = schema, tuple(measurements), tables

    def __len__(self) -> int:
        return len(self._tables)

    def __getitem__(self, index: Any) -> Any:
        return self._tables.whole.replicates[index]

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter(self._tables.whole.replicates)

    def table(self, index: int, *, text: bool = False) -> pd.DataFrame:
        """One table by its number from 0, as texts if wanted; no other is drawn, and none is kept."""
        return self._tables.table(index, text=text)

    def mean(self, column: str, *, level: float = 0.95, of: Target = "population") -> pd.DataFrame:
        """The mean of a column of numbers, truth values or dates (days since 1970), missing values
        left out.
        """
        self._check_number(column)

        def analysis(table: pd.DataFrame) -> Analysed:
            return analyses.mean(analyses.numbers(table[column]))

        return self._combined([column], [column], analysis, level, of)

    def proportion(
        self, column: str, value: object, *, level: float = 0.95, of: Target = "population"
    ) -> pd.DataFrame:
        """The share of rows with a value, of all rows, missing ones too."""
        self._check_level(column, value)

        def analysis(table: pd.DataFrame) -> Analysed:
            return analyses.mean(analyses.is_level(table[column], value).astype(np.float64))

        return self._combined([f"{column}={value}"], [column], analysis, level, of)

    def quantile(
        self, column: str, share: float, *, level: float = 0.95, of: Target = "population"
    ) -> pd.DataFrame:
        """The value that a share of a column's values lie below, such as 0.5 for the median."""
        self._check_number(column)
        check_interval(share, "share")

        def analysis(table: pd.DataFrame) -> Analysed:
            return analyses.quantile(analyses.numbers(table[column]), share)

        return self._combined([f"{column} at {share:g}"], [column], analysis, level, of)

    def difference(
        self,
        column: str,
        by: str,
        first: object,
        second: object,
        *,
        level: float = 0.95,
        of: Target = "population",
    ) -> pd.DataFrame:
        """The mean of a column where ``by`` is ``first``, less that where it is ``second``."""
        self._check_number(column)
        self._check_level(by, first)
        self._check_level(by, second)

        def analysis(table: pd.DataFrame) -> Analysed:
            return analyses.difference(analyses.numbers(table[column]), table[by], first, second)

        return self._combined([f"{column}: {first} - {second}"], [column, by], analysis, level, of)

    def regression(
        self,
        outcome: str,
        predictors: Sequence[str],
        *,
        kind: Kind,
        event: object = None,
        level: float = 0.95,
        of: Target = "population",
    ) -> pd.DataFrame:
        """Coefficients of a regression with an intercept.

        Parameters
        ----------
        outcome
            The column to be explained.
        predictors
            The columns that explain it; those of texts become a variable for each value but the
            first.
        kind
            "linear" by least squares, or "logistic" by maximum likelihood. Standard errors are
            White's, which allow for residuals of unequal size.
        event
            For "logistic": the value of the outcome whose probability is modelled. It may be left
            out for truth values and for levels 0 and 1.
        level, of
            As for all methods.

        Raises
        ------
        ParameterError
            If a column or ``event`` is unknown, the outcome is among the predictors, or ``kind`` is
            neither.
        """
        predictors = [predictors] if isinstance(predictors, str) else list(predictors)
        used = [outcome, *predictors]
        tables = self._of(used)
        fit = {"linear": analyses.linear_regression, "logistic": analyses.logistic_regression}.get(
            kind
        )
        if fit is None:
            raise ParameterError(f"kind is {kind!r}; give 'linear' or 'logistic'")
        if len(set(used)) < len(used):
            raise ParameterError(
                "predictors: a column is named twice, or is the outcome; name each once"
            )
        if event is None:
            check_number(tables.centres[0][outcome], is_binary=kind == "logistic")
        else:
            check_level(self._schema, tables.centres, outcome, event)
        # Indicators are made from the levels that occur in any of the tables: a level that one
        # replicate lacks must not move the columns of its design.
        texts = [name for name in predictors if not is_number(tables.centres[0][name])]
        levels: dict[str, Sequence[object]] = {
            name: levels_in([*tables.centres, *tables.replicates], name) for name in texts
        }
        names = analyses.design(tables.centres[0][predictors].head(0), levels).names

        def analysis(table: pd.DataFrame) -> Analysed:
            # A missing outcome drops the row from the regression. As an event that did not happen
            # it would be counted.
            missing = table[outcome].isna().to_numpy()
            if event is None:
                analysed = analyses.numbers(table[outcome])
            else:
                analysed = analyses.is_level(table[outcome], event)
            return fit(
                analyses.design(table[predictors], levels).values,
                np.where(missing, np.nan, analysed),
            )

        return self._combined(names, used, analysis, level, of)

    def combine(
        self,
        analysis: Analysis,
        columns: Sequence[str],
        *,
        level: float = 0.95,
        of: Target = "population",
    ) -> pd.DataFrame:
        """Combine an analysis of your own.

        Parameters
        ----------
        analysis
            From a table to values and their sampling variances, both numbers or both Series with an
            entry a quantity. The variances are those for the rows of the table at hand.
        columns
            The columns that it may look at: it gets a table of these.
        level, of
            As for all methods.

        Examples
        --------
        >>> from synthdp import Domain, LinearMeasurement, from_measurements
        >>> counts = LinearMeasurement(("smoker",), np.array([700.0, 300.0]), 10.0)
        >>> replicates = from_measurements(Domain(("smoker",), (2,)), [counts]).replicates(
        ...     20, seed=0
        ... )
        >>> odds = lambda t: (t["smoker"].mean() / (1 - t["smoker"].mean()), 0.0)
        >>> found = replicates.combine(odds, ["smoker"], of="table")
        >>> bool(found["low"].iloc[0] < 3 / 7 < found["high"].iloc[0]), found["basis"].iloc[0]
        (True, 'measured')
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        # The first table says how many quantities there are; all others have to have the same, or
        # they could not be combined.
        first = analysis(self._of(names).centres[0][names])[0]
        quantities = (
            list(first.index) if isinstance(first, pd.Series) else list(range(np.size(first)))
        )

        def analysed(table: pd.DataFrame) -> Analysed:
            parts = (
                np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in analysis(table[names])
            )
            values, variances = parts
            if values.shape != (len(quantities),) or variances.size not in (1, values.size):
                raise ParameterError(
                    "analysis: give a value and a variance for each quantity, the same of every table"
                )
            return Analysed(values, np.broadcast_to(variances, values.shape))

        return self._combined(quantities, names, analysed, level, of)

    def _of(self, columns: Sequence[str]) -> Tables:
        """Tables with some columns, by what was measured of them if that is enough."""
        check_columns(self._schema, columns)
        is_covered = basis_of(self._schema, self._measurements, columns).is_covered
        return self._tables.of(columns) if is_covered else self._tables.whole

    def _check_number(self, column: str) -> None:
        check_number(self._of([column]).centres[0][column])

    def _check_level(self, column: str, value: object) -> None:
        check_level(self._schema, self._of([column]).centres, column, value)

    def _combined(
        self,
        names: Sequence[object],
        columns: Sequence[str],
        analysis: Callable[[pd.DataFrame], Analysed],
        level: float,
        of: Target,
    ) -> pd.DataFrame:
        """Analyse all tables and combine what is found; says why there is no interval."""
        check_interval(level, "level")
        if of not in ("population", "table"):
            raise ParameterError(f"of is {of!r}; give 'population' or 'table'")
        tables = self._of(columns)
        basis = basis_of(self._schema, self._measurements, columns)
        centres = [analysis(table) for table in tables.centres]
        analysed = [analysis(table) for table in tables.replicates]
        # Analyses state variances for the rows of a replicate; the records may have been more or
        # fewer.
        scale = self._tables.n_rows / tables.total
        result = combined(names, centres, analysed, basis, scale=scale, level=level, of=of)
        without = sum(not np.isfinite(part.values).all() for part in (*centres, *analysed))
        for caution in (
            *basis.cautions,
            *([_NO_NUMBER.format(without, N_CENTRES + len(self))] if without else []),
        ):
            warnings.warn(caution, CautionWarning, stacklevel=3)
        return result
