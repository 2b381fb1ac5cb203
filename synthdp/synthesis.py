"""The main door: `synthesize` turns a sensitive table into a `Synthesis` of released values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from os import PathLike
from typing import Any, final

import numpy as np
import pandas as pd

from synthdp.errors import ParameterError
from synthdp.inference.estimator import Estimator, Model
from synthdp.inference.refinement import estimate_refined
from synthdp.measurement import LinearMeasurement
from synthdp.mechanism import Mechanism, Report, silent
from synthdp.privacy.certificate import privacy_certificate
from synthdp.privacy.events import Adjacency
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.randomness import Randomness
from synthdp.registry import engine_named, mechanism_named
from synthdp.table.codec import CodedTable, decode, encode
from synthdp.table.schema import Schema
from synthdp.table.sources import CodedSource
from synthdp.version import __version__


@final
class Synthesis:
    """A fitted release: schema, noisy measurements, model and certificate. It holds no records.

    `synthesize` and `synthdp.load` make one; everything it does is post-processing and costs no
    privacy, however often it is done.

    Parameters
    ----------
    schema
        What the columns mean.
    measurements
        Everything that was measured, noise included.
    model
        The model that explains them; None fits one when it is needed.
    certificate
        What the release says about its guarantee, as plain JSON values.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        measurements: Sequence[LinearMeasurement],
        model: Model | None,
        certificate: Mapping[str, object],
    ) -> None:
        self._schema = schema
        self._measurements = tuple(measurements)
        self._fitted = model
        self._certificate = dict(certificate)

    @property
    def schema(self) -> Schema:
        """What the columns mean."""
        return self._schema

    @property
    def measurements(self) -> tuple[LinearMeasurement, ...]:
        """Everything that was measured, noise included."""
        return self._measurements

    @property
    def certificate(self) -> dict[str, object]:
        """What the release says about its guarantee; also written beside every table."""
        return dict(self._certificate)

    @cached_property
    def model(self) -> Model:
        """The model that explains the measurements."""
        if self._fitted is not None:
            return self._fitted
        return estimate_refined(engine_named("graphical-model"), self._schema.domain, self._measurements)

    def sample(self, n_rows: int | None = None, *, seed: int | None = None, text: bool = False) -> pd.DataFrame:
        """Draw a synthetic table.

        Parameters
        ----------
        n_rows
            Number of rows; by default the (noisy) estimate of the sensitive table's.
        seed
            Makes the draw repeatable. It has nothing to do with the noise, which has no seed.
        text
            Values as texts in the schema's formats, as a CSV file holds them.

        Raises
        ------
        ParameterError
            If ``n_rows`` or ``seed`` is negative.
        """
        if seed is not None and seed < 0:
            raise ParameterError(f"seed is {seed}; give 0 or more")
        sampling, decoding = np.random.SeedSequence(seed).generate_state(2)
        wanted = round(self.model.total) if n_rows is None else n_rows
        codes = self.model.sample(wanted, seed=int(sampling))
        return decode(codes, self._schema, np.random.default_rng(int(decoding)), text=text)

    def marginal(self, columns: Sequence[str]) -> pd.Series:
        """Expected counts of all combinations of levels of some columns.

        Parameters
        ----------
        columns
            Names, each once.

        Returns
        -------
        pandas.Series
            One float a combination, indexed by the levels' labels (bins as intervals).

        Raises
        ------
        ParameterError
            If a column is unknown or repeats, or there is none.
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        if not names:
            raise ParameterError("columns: there is none; name at least one")
        values = self.model.marginal(names).values
        index = pd.MultiIndex.from_product([self._schema[name].labels for name in names], names=names)
        return pd.Series(values.ravel(), index=index if len(names) > 1 else index.get_level_values(0), name="count")

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write everything to one file, from which `synthdp.load` restores it; no pickle.

        Raises
        ------
        DataFileError
            If the file exists and ``force`` is not set, or cannot be written.
        """
        from synthdp.archive import save

        save(self, path, force=force)

    @property
    def fitted(self) -> Model | None:
        """The model if there is one already."""
        return self._fitted or self.__dict__.get("model")

    def __repr__(self) -> str:
        return f"<Synthesis of {len(self._schema.columns)} columns: {self._certificate.get('guarantee')}>"


def synthesize(
    data: pd.DataFrame,
    schema: Schema | Mapping[str, Any] | str | PathLike[str],
    *,
    epsilon: float,
    delta: float,
    mechanism: str | Mechanism = "mst",
    engine: str | Estimator = "graphical-model",
    adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
    report: Report = silent,
    rescue: Callable[[Synthesis], object] | None = None,
) -> Synthesis:
    """Learn a synthetic version of a sensitive table under (epsilon, delta)-differential privacy.

    The guarantee covers everything the result says, about every record at once; see
    ``docs/limits.md`` for what it does not cover.

    Parameters
    ----------
    data
        The sensitive table.
    schema
        What is public about it: a `Schema`, its JSON as a mapping, or the path of a schema file.
    epsilon, delta
        The guarantee: epsilon above 0; delta above 0 and far below 1 / (number of records).
    mechanism
        Which marginals to measure: a name (``"mst"``, ``"independent"``) or a `Mechanism`.
    engine
        How to rebuild a table from them: a name or an `Estimator`.
    adjacency
        Unit of privacy: ``"add-remove"`` one record, or ``"replace-one"``.
    report
        Told about progress: (what is going on, steps done, steps at most).
    rescue
        Called with what was released so far if the run fails or is interrupted after
        something was paid for; save it, or the budget is lost.

    Raises
    ------
    SchemaError
        If the schema contradicts itself or the table's columns.
    ParameterError
        If another argument is out of range.

    >>> frame = pd.DataFrame({"smoker": ["yes", "no", "no"] * 100})
    >>> levels = {"enum": ["no", "yes"], "required": True}
    >>> schema = {"fields": [{"name": "smoker", "type": "string", "constraints": levels}]}
    >>> synthesis = synthesize(frame, schema, epsilon=1.0, delta=1e-6)
    >>> synthesis.sample(5, seed=1).shape, synthesis.certificate["guarantee"]
    ((5, 1), '(1, 1e-06)-differential privacy')
    """
    public = as_schema(schema).reordered(data.columns)
    run = Release(schema=public, epsilon=epsilon, delta=delta, mechanism=mechanism, engine=engine, adjacency=adjacency)
    return run.of(encode(data, public), report=report, rescue=rescue)


def as_schema(schema: Schema | Mapping[str, Any] | str | PathLike[str]) -> Schema:
    """The schema itself, or the one that a mapping or a file holds."""
    if isinstance(schema, Schema):
        return schema
    return Schema.from_dict(schema) if isinstance(schema, Mapping) else Schema.load(schema)


@final
class Release:
    """One run of a mechanism, with everything public settled before the records are there.

    Parameters are those of `synthesize`; ``randomness`` is for tests, and anything but the
    default makes the result say NOT PRIVATE.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        epsilon: float,
        delta: float,
        mechanism: str | Mechanism,
        engine: str | Estimator,
        adjacency: str | Adjacency,
        randomness: Randomness | None = None,
    ) -> None:
        self._schema = schema
        self._mechanism = mechanism_named(mechanism) if isinstance(mechanism, str) else mechanism
        self._engine = engine_named(engine) if isinstance(engine, str) else engine
        self._engine.check_domain(schema.domain)
        self._ledger = PrivacyLedger(epsilon=epsilon, delta=delta, adjacency=as_adjacency(adjacency))
        self._randomness = randomness

    def of(
        self,
        coded: CodedTable,
        *,
        report: Report = silent,
        rescue: Callable[[Synthesis], object] | None = None,
    ) -> Synthesis:
        """Spend the budget on one table."""
        table = PrivateTable(CodedSource(coded), self._ledger, randomness=self._randomness)
        try:
            return self._synthesis(table, self._mechanism.release(table, engine=self._engine, report=report))
        except BaseException:
            if rescue is not None and table.released:
                rescue(self._synthesis(table, None))
            raise

    def _synthesis(self, table: PrivateTable, model: Model | None) -> Synthesis:
        certificate = privacy_certificate(
            ledger=self._ledger, randomness=table.randomness, release=self._public_facts(model)
        )
        return Synthesis(schema=self._schema, measurements=table.released, model=model, certificate=certificate)

    def _public_facts(self, model: Model | None) -> dict[str, object]:
        columns = [
            {"name": column.name, "type": column.field()["type"], "n_levels": column.size, "domain": "declared"}
            for column in self._schema.columns
        ]
        return {
            "software": f"synthdp {__version__}",
            "mechanism": {"name": self._mechanism.name, "reference": self._mechanism.reference}
            | _parameters(self._mechanism),
            "engine": {"name": self._engine.name} | (vars(model.status) if model else {"converged": False}),
            "complete": model is not None,
            "schema": {"sha256": self._schema.fingerprint, "columns": columns},
            "post_processing": "fit, sampling and decoding use released values only and cost no privacy",
        }


def as_adjacency(adjacency: str | Adjacency) -> Adjacency:
    """The adjacency of that name; raises `ParameterError` if there is none."""
    try:
        return Adjacency(adjacency)
    except ValueError:
        names = " or ".join(repr(known.value) for known in Adjacency)
        raise ParameterError(f"adjacency is {adjacency!r}; give {names}") from None


def _parameters(mechanism: Mechanism) -> dict[str, object]:
    """The public parameters of a recipe that is a dataclass."""
    return {"parameters": {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}}  # type: ignore[arg-type]
