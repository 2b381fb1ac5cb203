"""A synthesiser for Lomas, the server of the Swiss Federal Statistical Office for private queries."""

from collections.abc import Mapping
from typing import Any, Protocol, final

import pandas as pd

from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.imports import import_extra
from synthdp.linked.doors.synthesize import synthesize
from synthdp.release.registry import ENGINES, MECHANISMS
from synthdp.release.result import Released, Result
from synthdp.schema.csvw import csvw_schema, privacy_unit
from synthdp.schema.open_schema import OpenSchema

SYNTHESIZERS = {"aim": "aim", "mst": "mst", "mwem": "mwem-pgm"}
"""Mechanisms by the names that Lomas has for synthesisers of marginals; it has no other here."""

PARAMETERS = ("mechanism", "engine", "workload", "target", "domain_share", "quality_share")
"""What an analyst may say in ``synth_params``: nothing that names a file of the server."""

MOST_SAMPLES = 1_000_000
"""Most rows of an answer, which is one text of JSON; drawing must not fail once epsilon is spent.
"""

_INSTALL = "answering Lomas needs lomas-core: pip install 'synthdp[lomas]'"


class Connector(Protocol):
    """What is asked of Lomas' ``DataConnector``."""

    def get_pandas_df(self) -> pd.DataFrame:
        """The records."""
        ...

    def get_metadata(self) -> Any:
        """What is public of them, as CSVW-EO: a mapping, or an object with ``to_dict``."""
        ...


@final
class LomasQuerier:
    """Answers Lomas' requests for synthetic data: the two methods of its ``DPQuerier``.

    It takes requests of ``lomas_core.models.requests`` (``SmartnoiseSynth...Model``, those of its
    client) and gives results of ``lomas_core.models.responses``. On a server a ``DPQuerier``, which
    has the budget of each analyst, passes both methods on::

        class SynthdpQuerier(DPQuerier):
            def cost(self, query_json):
                return LomasQuerier(self.data_connector).cost(query_json)

            def query(self, query_json):
                return LomasQuerier(self.data_connector).query(query_json)

    What is wrong with a request, or with the metadata, is refused by `cost`, which reads no record.

    Parameters
    ----------
    data_connector
        Lomas' access to the records and to their public metadata.

    Attributes
    ----------
    synthesis : Result or None
        The last release, with its certificate, for the server's archive.
    """

    def __init__(self, data_connector: Connector) -> None:
        self.data_connector = data_connector
        self.synthesis: Result | None = None

    def cost(self, query_json: Any) -> tuple[float, float]:
        """The (epsilon, delta) that a request costs: what it asks for.

        Raises
        ------
        lomas_core.error_handler.InvalidQueryException
            If the request cannot be answered; the message says what to change.
        """
        try:
            self._arguments(query_json)
        except SynthdpError as error:
            raise _errors().InvalidQueryException(str(error)) from None
        return float(query_json.epsilon), float(query_json.delta)

    def query(self, query_json: Any) -> Any:
        """A table of ``nb_samples`` synthetic rows, as ``SmartnoiseSynthSamples``.

        Raises
        ------
        lomas_core.error_handler.InvalidQueryException
            As `cost`, or if `synthesize` refuses the request before it pays.
        lomas_core.error_handler.InternalServerException
            If the run failed after it had paid. Lomas then charges nothing: the message asks the
            administrator to.
        """
        responses = import_extra("lomas_core.models.responses", _INSTALL)
        cost = self.cost(query_json)
        arguments = self._arguments(query_json)
        paid: list[Released] = []
        try:
            frame = self.data_connector.get_pandas_df()
            fields = [field["name"] for field in arguments["schema"]["fields"]]
            unit = [] if arguments["unit"] is None else [arguments["unit"]]
            self.synthesis = synthesize(frame[[*unit, *fields]], **arguments, rescue=paid.append)
        except Exception as error:
            if paid:
                charge = f"charge epsilon {cost[0]} and delta {cost[1]} by hand"
                message = f"the run failed after it had paid, {charge}: {error}"
                raise _errors().InternalServerException(message) from None
            if isinstance(error, SynthdpError):
                raise _errors().InvalidQueryException(str(error)) from None
            raise
        rows = self.synthesis.sample(query_json.nb_samples)
        return responses.SmartnoiseSynthSamples(df_samples=_sent(rows))

    def _arguments(self, query: Any) -> dict[str, Any]:
        """The arguments of `synthesize` for a request, all checked that can be without records."""
        _check(query)
        metadata = self.data_connector.get_metadata()
        if hasattr(metadata, "to_dict"):
            metadata = metadata.to_dict()
        schema = csvw_schema(metadata, query.select_cols, nullable=query.nullable)
        OpenSchema.from_dict(schema)
        unit, max_rows_per_unit = privacy_unit(metadata)
        chosen = {"mechanism": SYNTHESIZERS.get(query.synth_name)} | query.synth_params
        if chosen["mechanism"] is None:
            raise ParameterError(
                f"{query.synth_name} is not offered; choose {', '.join(SYNTHESIZERS)}, or name one of "
                f'synthdp in synth_params, such as {{"mechanism": "auto"}}'
            )
        return {
            **chosen,
            "schema": schema,
            "unit": unit,
            "max_rows_per_unit": max_rows_per_unit,
            "epsilon": query.epsilon,
            "delta": query.delta,
        }


def _check(query: Any) -> None:
    """Refuse what cannot be answered, or names things of the server."""
    if not query.delta:
        raise ParameterError("delta is not given; it must be above 0, such as 1e-9")
    if query.constraints:
        raise ParameterError("constraints are not read; leave them out: the metadata say them")
    if getattr(query, "condition", ""):
        raise ParameterError("condition is not read; leave it out, and select among the rows")
    if getattr(query, "return_model", False):
        raise ParameterError("a model is not returned; set return_model to False")
    if not 1 <= getattr(query, "nb_samples", 1) <= MOST_SAMPLES:
        raise ParameterError(f"nb_samples is {query.nb_samples}; give 1 to {MOST_SAMPLES:,}")
    for name, value in query.synth_params.items():
        if name not in PARAMETERS:
            raise ParameterError(
                f"synth_params have {name!r}, which is not read; choose from {', '.join(PARAMETERS)}"
            )
        names = {"mechanism": MECHANISMS, "engine": ENGINES}.get(name)
        if names is not None and value not in names:
            raise ParameterError(f"{name} is {value!r}; choose from {', '.join(names)}")
        if name == "workload" and not isinstance(value, Mapping):
            raise ParameterError(f'workload is {value!r}; give an object, such as {{"k": 2}}')


def _sent(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows as JSON has them: plain values, dates as texts, and None for what is missing."""
    for name in rows.select_dtypes("datetime").columns:
        rows[name] = rows[name].astype("string")
    return rows.astype(object).where(rows.notna(), None)


def _errors() -> Any:
    return import_extra("lomas_core.error_handler", _INSTALL)
