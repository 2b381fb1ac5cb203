"""The main door as an object: a `Synthesizer` is set up, then fitted, then sampled from."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, final

from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.core.reporting import Report, silent
from synthdp.core.workload import Workload
from synthdp.inference.engine import Engine
from synthdp.linked.doors.synthesize import synthesize
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.result import Released, Result
from synthdp.release.run_settings import ChoiceLike, MechanismLike
from synthdp.release.settings import DOMAIN_SHARE, QUALITY_SHARE
from synthdp.schema.declared import Kinds
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.linked.package.package import Package
    from synthdp.release.persistence.budget import Budget


@final
@dataclass(eq=False, repr=False)
class Synthesizer:
    """`synthesize` with ``fit`` and ``sample``, as users of SDV, synthcity and scikit-learn expect
    it.

    It follows scikit-learn's conventions without needing it: arguments are kept as they are given
    and looked at by `fit`, ``sklearn.base.clone`` gives an unfitted copy, what `fit` finds ends in
    an underscore. It holds no records.

    Parameters
    ----------
    schema, kinds, epsilon, delta, dialect, mechanism, workload, target, engine, adjacency
        As for `synthesize`.
    accounting, unit, max_rows_per_unit, together, order, constant, domain_share, about, journal, budget, budget_note
        As for `synthesize`.
    quality_share, accept, choose, known, weight, prior, anyway
        As for `synthesize`.

    Attributes
    ----------
    synthesis_ : Result
        What `fit` released: certificate, marginals, intervals and all else that costs nothing more.
    rescued_ : Result or LearntDomain
        What a `fit` that failed had released, and paid for, by then. Save it, or the budget is
        lost.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"smoker": ["yes", "no", "no"] * 100})
    >>> levels = {"enum": ["no", "yes"], "required": True}
    >>> schema = {"fields": [{"name": "smoker", "type": "string", "constraints": levels}]}
    >>> synthesizer = Synthesizer(schema, epsilon=1.0, delta=1e-6).fit(frame)
    >>> synthesizer.sample(5, seed=1).shape, synthesizer.synthesis_.certificate["guarantee"]
    ((5, 1), '(1, 1e-06)-differential privacy')
    """

    schema: "Schema | OpenSchema | Package | Mapping[str, Any] | str | PathLike[str] | None" = None
    _: KW_ONLY
    kinds: Kinds | None = None
    epsilon: float
    delta: float
    dialect: str | Mapping[str, Any] | None = None
    mechanism: MechanismLike = "auto"
    workload: Workload | Mapping[str, Any] | str | PathLike[str] | None = None
    target: str | None = None
    engine: str | Engine | None = None
    adjacency: str | Adjacency = Adjacency.ADD_REMOVE
    accounting: str | Accounting | None = None
    unit: str | None = None
    max_rows_per_unit: int | None = None
    together: bool = False
    order: str | None = None
    constant: str | Sequence[str] = ()
    domain_share: float = DOMAIN_SHARE
    quality_share: float = QUALITY_SHARE
    accept: str | None = None
    choose: ChoiceLike = None
    about: Mapping[str, Any] | str | PathLike[str] | None = None
    known: Any = None
    weight: str | None = None
    prior: Any = None
    journal: str | PathLike[str] | None = None
    budget: "Budget | str | PathLike[str] | None" = None
    budget_note: str = ""
    anyway: bool = False

    synthesis_: Result = field(init=False)
    rescued_: Released = field(init=False)

    @scrub_tracebacks
    def fit(self, data: Any, y: None = None, *, report: Report = silent) -> Self:
        """Learn a synthetic version of a sensitive table; it spends the whole epsilon and delta,
        once.

        Parameters
        ----------
        data
            The sensitive table, as for `synthesize`: a file, or a table of pandas, polars or
            pyarrow; or tables of a package.
        y
            None. A column that is to be predicted belongs to the table; name it as ``target``.
        report
            Called with the progress: (what is going on, steps done, steps at most).

        Raises
        ------
        PrivacyError
            If it has released something already, unless a journal is there to go on with: each fit
            is a release of its own, and their losses add up.
        SynthdpError
            All that `synthesize` raises.
        """
        if y is not None:
            raise ParameterError(
                "y is not read; leave it out, and name a column of the table as target= instead"
            )
        if self._is_fitted() or (hasattr(self, "rescued_") and self.journal is None):
            again = "another fit is another release, and pays epsilon and delta again"
            raise PrivacyError(
                f"this synthesizer has released already, and {again}; if that is meant, make a new one"
            )
        self.synthesis_ = synthesize(data, **self.get_params(), report=report, rescue=self._rescue)
        return self

    def sample(
        self,
        n_rows: int | None = None,
        *,
        seed: int | None = None,
        text: bool = False,
        where: Mapping[str, object] | None = None,
        given: Any = None,
    ) -> Any:
        """Draw a synthetic table, a slice of it, or complete partial records, as `Result.sample`
        does.

        Raises
        ------
        ParameterError
            If it is not fitted, or an argument is out of range.
        """
        return self._fitted().sample(n_rows, seed=seed, text=text, where=where, given=given)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write what was released to a file that `synthdp.load` reads as a `Synthesis`; it holds no
        records.

        Raises
        ------
        ParameterError
            If it is not fitted.
        DataFileError
            If the file exists and ``force`` is not set, or cannot be written.
        """
        self._fitted().save(path, force=force)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (no parameter has parameters)
        """The arguments that it was made with, by name; ``deep`` is there for scikit-learn and
        changes nothing.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change arguments by name, for a fit to come; raises `ParameterError` for a name that
        there is not.
        """
        parameters = self.get_params()
        for name in params:
            if name not in parameters:
                raise ParameterError(
                    f"a synthesizer has no parameter {name!r}; choose from {', '.join(parameters)}"
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _rescue(self, released: Released) -> None:
        self.rescued_ = released

    def _fitted(self) -> Result:
        if not self._is_fitted():
            raise ParameterError("this synthesizer is not fitted; call fit with the table first")
        return self.synthesis_

    def _is_fitted(self) -> bool:
        return hasattr(self, "synthesis_")

    def __repr__(self) -> str:
        if self._is_fitted():
            return f"<Synthesizer, fitted: {self.synthesis_!r}>"
        return f"<Synthesizer, not fitted: epsilon {self.epsilon}, delta {self.delta}>"
