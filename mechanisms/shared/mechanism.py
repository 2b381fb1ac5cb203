"""The interface of all mechanisms: what a mechanism may see and what it returns."""

from abc import ABC, abstractmethod
from typing import ClassVar

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.workload import MAX_MEASURED_CELLS, Workload
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import PrivateTable


class Mechanism(ABC):
    """A mechanism: selects marginals, measures them, and has an engine generate a model.

    A mechanism is a frozen dataclass of its public parameters. It sees the records only through
    the questions that a `PrivateTable` answers, and does no budget arithmetic beyond dividing
    what the ledger has left.

    Raises
    ------
    ParameterError
        If a parameter of any mechanism is out of range.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    is_gaussian: ClassVar[bool] = False
    """Whether all its noise is Gaussian, so that the accounting may be Gaussian DP."""
    default_engine: ClassVar[str] = "auto"
    """Name of the engine that the mechanism is meant for; any other may be given."""
    default_accounting: ClassVar[Accounting] = Accounting.ZCDP
    """The accounting that the mechanism is meant for; Gaussian DP only if `is_gaussian`."""
    measures_whole_workload: ClassVar[bool] = False
    """Whether it may measure any marginal of the workload, so that none may be too large."""
    one_way_share: float = 1.0
    """Share of the budget for single columns, of a mechanism that begins with each of them; it is a
    parameter then. 1 of all others, and of those that ask nothing else.
    """

    @property
    def parts(self) -> "tuple[Mechanism, ...]":
        """The mechanisms that it is made of, if each of them measures for a part of the budget."""
        return ()

    def check(self, domain: Domain, workload: Workload) -> None:
        """Raise `ParameterError` if the mechanism cannot handle a domain or workload; called before
        anything is paid for.

        A domain that is still to be learnt is given as large as it may become.
        """
        if self.measures_whole_workload:
            workload.check_cells(domain, MAX_MEASURED_CELLS)

    def share_of_columns(self, domain: Domain) -> float:  # noqa: ARG002 - most know it beforehand
        """The share of its budget that a release over such columns spends on each of them by itself
        before all else: `one_way_share`, unless a mechanism says otherwise.

        Where nothing of a column was read these are the first to say so: by the share, whoever runs
        it knows if that is soon enough.
        """
        return self.one_way_share

    @abstractmethod
    def release(self, table: PrivateTable, task: Task) -> Model | None:
        """Spend what is left of the table's budget and return a model of the table; None leaves
        the fit to whoever asks for one.

        Parameters
        ----------
        table
            The sensitive table; its ledger says how much may be spent.
        task
            What the model is for, who fits it, and within which rules.
        """


def check_counts(mechanism: Mechanism, *names: str) -> None:
    """Raise `ParameterError` unless these parameters of a mechanism are at least 1, or None."""
    for name in names:
        value = getattr(mechanism, name)
        # None leaves the choice to the mechanism, which makes it by the domain.
        if value is not None and value < 1:
            raise ParameterError(
                f"{mechanism.name}: {name} is {value}; give a whole number of at least 1"
            )


def check_parts(mechanism: Mechanism, *shares: float) -> None:
    """Raise `ParameterError` unless shares of one budget are above 0 and leave something."""
    if not (min(shares) > 0 and sum(shares) < 1):
        raise ParameterError(
            f"{mechanism.name}: shares are {shares}; give numbers above 0 whose sum is below 1"
        )


def check_shares(mechanism: Mechanism, *names: str) -> None:
    """Raise `ParameterError` unless these parameters of a mechanism are between 0 and 1."""
    for name in names:
        value = getattr(mechanism, name)
        if not 0 < value < 1:
            raise ParameterError(
                f"{mechanism.name}: {name} is {value}; give a number between 0 and 1"
            )
