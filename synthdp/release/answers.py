"""What a release answers besides rows: marginals with intervals, replicates, its structure."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_named
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.core.reporting import Report, silent
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.release.drawing.following import with_densities
from synthdp.release.drawing.unused_levels import Unused, without_unused
from synthdp.release.on_demand import (
    DIFFERENCES,
    EXACTLY,
    INTERVALS,
    REPLICATES,
    STRUCTURE,
    WEIGHTED_MARGINAL,
    WITH_KNOWN,
)
from synthdp.schema.cell_labels import cell_labels
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from networkx import Graph

    from synthdp.core.known_marginal import KnownMarginal
    from synthdp.release.uncertainty.replicates import Replicates


class Answers(ABC):
    """What can be asked of released measurements and the model that explains them; it costs no
    privacy.
    """

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """What the columns mean."""

    @property
    @abstractmethod
    def measurements(self) -> tuple[LinearMeasurement, ...]:
        """Everything that was measured, noise included."""

    @property
    @abstractmethod
    def model(self) -> Model:
        """The model that explains the measurements."""

    @property
    @abstractmethod
    def certificate(self) -> dict[str, Any]:
        """What the release says about its guarantee."""

    @property
    def carried(self) -> tuple[LinearMeasurement, ...]:
        """What an earlier release still says; mostly there is none."""
        return ()

    @property
    def evidence(self) -> tuple[LinearMeasurement, ...]:
        """All that the model is fitted to: what was measured, and what is carried."""
        return (*self.measurements, *self.carried)

    @property
    @abstractmethod
    def knows_size(self) -> bool:
        """Whether the number of records stands out of its noise."""

    @property
    @abstractmethod
    def known(self) -> "tuple[KnownMarginal, ...]":
        """What is published and met exactly; mostly nothing."""

    @property
    @abstractmethod
    def unused(self) -> Unused:
        """Levels without records, by attribute."""

    def _expected(self, columns: Sequence[str]) -> FloatArray:
        """The model's counts of a marginal, none of them in levels without records."""
        return _expected_counts(self, columns)

    @overload
    def marginal(self, columns: Sequence[str], *, weighted: bool = False) -> pd.Series: ...

    @overload
    def marginal(
        self, columns: Sequence[str], *, interval: float, weighted: bool = False
    ) -> pd.DataFrame: ...

    def marginal(
        self, columns: Sequence[str], *, interval: float | None = None, weighted: bool = False
    ) -> pd.Series | pd.DataFrame:
        """Expected counts of all combinations of levels of some columns.

        They are the model's, and rows that are drawn follow them up to rounding and to what the
        measurements contradict each other in: by how much is what `Synthesis.fit` says in ``rows``.

        Parameters
        ----------
        columns
            Names, each once.
        interval
            Also limits between which each count of the sensitive table lies with this probability,
            such as 0.95, over the noise.
        weighted
            Weighted counts, by the column of weights; limits allow for the noise and for where in
            its bin a weight lies (then ``basis`` is "model"), and not for the sampling.

        Returns
        -------
        pandas.Series
            One float a combination, indexed by the levels' labels (bins as intervals).
        pandas.DataFrame
            With ``interval``: ``count``, ``low`` and ``high``, from 0, and ``basis``. It is
            "measured" where the measurements alone tell the count, without a model, and "published"
            where published totals do. Else it is
            "model": the count is the model's, and the limits are those that hold whatever nobody
            measured; docs/inference.md has both.

        Raises
        ------
        ParameterError
            If a column is unknown or repeats, there is none, there are more than 32, or
            ``interval`` is none.
        ModelTooLargeError
            If there are more than 2^27 combinations, 2^24 with ``interval``, or the model needs a
            table of so many to tell.
        """
        names = _names(columns)
        measurements: Sequence[LinearMeasurement] = self.measurements
        if self.known and interval is not None:
            measurements = import_named(WITH_KNOWN)(measurements, self.known)
        if weighted:
            return import_named(WEIGHTED_MARGINAL)(
                with_densities(self.schema, self.model),
                measurements,
                names,
                interval,
                self._expected,
            )
        if interval is not None:
            limits: pd.DataFrame = import_named(INTERVALS)(
                self.schema, measurements, names, interval, self._expected
            )
            if not self.known:
                return limits
            return import_named(EXACTLY)(limits, self.schema.domain, self.known, tuple(names))
        return pd.Series(
            self._expected(names).ravel(), index=cell_labels(self.schema, names), name="count"
        )

    def difference(
        self, earlier: "Answers", columns: Sequence[str], *, interval: float = 0.95
    ) -> pd.DataFrame:
        """How the counts of a marginal changed since an earlier release.

        Parameters
        ----------
        earlier
            The earlier release; the columns have the same levels or bins in both.
        columns
            Names, each once.
        interval
            Probability that the limits hold the change of a count of the sensitive tables, over the
            noise of both releases.

        Returns
        -------
        pandas.DataFrame
            ``difference``, ``low`` and ``high`` for each combination of levels, and ``basis``:
            "measured" where both releases measured the marginal themselves. Else it is "model": the
            difference is that of the models, and the limits hold whatever nobody measured.

        Raises
        ------
        ParameterError
            If ``earlier`` or ``interval`` is none, or a column is unknown, repeats, or there is
            none.
        SchemaError
            If the earlier release lacks a column, or has other levels of it.
        ModelTooLargeError
            If there are more than 2^24 combinations.
        """
        if not isinstance(earlier, Answers):
            raise ParameterError(f"earlier is a {type(earlier).__name__}; give a release")
        names = _names(columns)
        now, before = (
            (each.schema, each.measurements, partial(_expected_counts, each))
            for each in (self, earlier)
        )
        return import_named(DIFFERENCES)(now, before, names, interval)

    def replicates(
        self,
        m: int = 20,
        *,
        n_rows: int | None = None,
        seed: int | None = None,
        engine: str | Engine | None = None,
        report: Report = silent,
    ) -> "Replicates":
        """Tables that differ as much as the noise left open, for analyses whose intervals allow for
        it.

        Noise of the recorded scales is added to what the fit says of each measurement, the engine
        fits again, and a table is drawn: m times.

        Parameters
        ----------
        m
            Number of tables, 2 to 1,000; 20 to 50 do.
        n_rows
            Rows of each, by default as many as `sample` draws.
        seed
            Makes them repeatable.
        engine
            What fits; by default the engine that the certificate names, with its default
            parameters.
        report
            Called with what is going on, steps done, and steps at most.

        Raises
        ------
        ParameterError
            If ``m``, ``n_rows`` or ``seed`` is out of range, or the engine is unknown.
        """
        replicates: Replicates = import_named(REPLICATES)(
            self, m, n_rows=n_rows, seed=seed, engine=engine, report=report
        )
        return replicates

    def graph(self) -> "Graph":
        """The release as a graph, to be drawn and analysed.

        Returns
        -------
        networkx.Graph
            A node for each attribute of the model: a column, or a part of a date. ``column`` is the
            table's column, ``n_levels`` its number of levels, ``stddevs`` the scales of noise, in
            records, of the measurements of it alone.

            An edge for each two attributes that were measured together, or that the model holds in
            one table (a clique of its junction tree). ``cliques`` are the measured cliques that
            hold both and ``stddevs`` their scales of noise in records, empty if none does;
            ``cramers_v``, 0 to 1, and ``mutual_information``, in nats, are how strongly the two
            depend on each other in the model.

            The graph's own ``n_rows`` is the estimated number of records.

        Raises `MissingExtraError` if networkx is not installed (``synthdp[graph]``).

        >>> import numpy as np
        >>> from synthdp import Domain, from_measurements
        >>> domain = Domain(("smoker", "cough", "town"), (2, 2, 3))
        >>> together, alone = np.array([[60.0, 10.0], [5.0, 25.0]]), np.array([20.0, 50.0, 30.0])
        >>> counts = [
        ...     LinearMeasurement(("smoker", "cough"), together, 1.5),
        ...     LinearMeasurement(("town",), alone, 1.0),
        ... ]
        >>> graph = from_measurements(domain, counts).graph()
        >>> sorted(graph.nodes), list(graph.edges), graph.nodes["town"]["stddevs"]
        (['cough', 'smoker', 'town'], [('smoker', 'cough')], [1.0])
        >>> edge = graph.edges["smoker", "cough"]
        >>> edge["cliques"], edge["stddevs"], round(edge["cramers_v"], 2)
        ([('smoker', 'cough')], [1.5], 0.66)
        """
        sources = {column.name: column.source for column in self.schema.columns}
        return import_named(STRUCTURE)(self.model, self.measurements, sources)


def _names(columns: Any) -> list[str]:
    """Names of one or more columns; raises `ParameterError` if there is none."""
    names = (
        [columns] if isinstance(columns, str) or not isinstance(columns, Iterable) else [*columns]
    )
    if not names:
        raise ParameterError("columns: there is none; name at least one")
    return names


def _expected_counts(answers: Answers, columns: Sequence[str]) -> FloatArray:
    """A model's counts of a marginal, none of them in levels without records."""
    return without_unused(answers.model.marginal(columns).values, columns, answers.unused)
