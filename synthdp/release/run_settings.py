"""The settings of a run: the arguments of a door, checked once, and read by all below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_named
from synthdp.core.workload import Workload
from synthdp.inference.engine import Engine
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting, check_budget
from synthdp.privacy.unit import Adjacency
from synthdp.release.on_demand import CANDIDATES, PARSE_CRITERIA, READ_ABOUT
from synthdp.release.registry import as_engine, as_mechanism
from synthdp.release.settings import (
    DOMAIN_SHARE,
    QUALITY_SHARE,
    as_accounting,
    as_adjacency,
    checked_flag,
    checked_quality_share,
    checked_rows,
    checked_share,
)

if TYPE_CHECKING:
    from synthdp.release.acceptance import Criterion

WorkloadLike: TypeAlias = Workload | Mapping[str, Any] | str | PathLike[str] | None
MechanismLike: TypeAlias = str | Mechanism | Sequence[str | Mechanism]
ChoiceLike: TypeAlias = str | Sequence[str | Engine] | None
AboutLike: TypeAlias = Mapping[str, Any] | str | PathLike[str] | None
KnownLike: TypeAlias = Any
"""Published tables, as `synthdp.release.known_tables` reads them."""
PriorLike: TypeAlias = Any
"""An earlier release, as `synthdp.release.prior_release` reads it."""


@final
class Spelling(Enum):
    """How whoever gives settings writes their names, which errors repeat."""

    PYTHON = "in Python"
    SHELL = "in the shell"

    def of(self, name: str) -> str:
        """The name of a setting.

        >>> Spelling.SHELL.of("max_rows_per_unit")
        '--max-rows-per-unit'
        """
        return name if self is Spelling.PYTHON else f"--{name.replace('_', '-')}"


RowLinks: TypeAlias = Literal["package", "persons"]
"""Rows that hang together: by the keys of a package, or by person."""

DOES_NOT_COMBINE: Mapping[RowLinks, tuple[str, ...]] = {
    "package": (
        "schema", "kinds", "dialect", "table", "unit", "max_rows_per_unit", "together", "order", "constant",
        "workload", "target", "quality_share", "accept", "reject", "choose", "adjacency", "save_schema", "where",
        "offset", "known", "weight", "weighted", "prior",
    ),
    "persons": (
        "workload", "target", "quality_share", "accept", "reject", "choose", "adjacency", "save_schema",
        "known", "weight", "prior",
    ),
}  # fmt: skip
"""What is for tables whose rows are by themselves: all that does not go together stands here."""


DEFAULT_SHARES: Mapping[str, float] = {"quality_share": QUALITY_SHARE}
"""Shares that nobody has asked for in particular."""


@final
@dataclass(frozen=True, kw_only=True, init=False)
class RunSettings:
    """What decides a run and what it states, whoever gives it: Python, the shell, a file or a page.

    Parameters
    ----------
    epsilon, delta, mechanism, workload, target, engine, adjacency, accounting, unit
        As in `synthdp.synthesize`; the same names, by texts or as objects.
    max_rows_per_unit, together, order, constant, domain_share, quality_share, accept, choose, about,
    known, weight, prior
        As in `synthdp.synthesize`.
    anyway
        As in `synthdp.synthesize`.
    spelling
        How errors write the names of settings.

    Raises
    ------
    ParameterError
        If one is out of range, or goes with another that is not there. What depends on a schema is
        checked by the run.
    DataFileError, SchemaError
        If ``about`` is a file that cannot be read.

    >>> settings = RunSettings(
    ...     epsilon=1.0, delta=1e-9, mechanism="mst", unit="id", max_rows_per_unit=3
    ... )
    >>> settings.mechanism.name, settings.max_rows, settings.adjacency.value
    ('mst', 3, 'add-remove')
    """

    epsilon: float
    delta: float
    mechanism: Mechanism
    workload: WorkloadLike
    target: str | None
    engine: Engine
    adjacency: Adjacency
    accounting: Accounting | None
    unit: str | None
    max_rows_per_unit: int | None
    together: bool
    order: str | None
    constant: tuple[str, ...]
    domain_share: float
    quality_share: float
    accept: "tuple[Criterion, ...] | None"
    choose: tuple[Engine, ...]
    about: Mapping[str, Any] | None
    known: KnownLike
    weight: str | None
    prior: PriorLike
    anyway: bool
    spelling: Spelling

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        mechanism: MechanismLike = "auto",
        workload: WorkloadLike = None,
        target: str | None = None,
        engine: str | Engine | None = None,
        adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
        accounting: str | Accounting | None = None,
        unit: str | None = None,
        max_rows_per_unit: int | None = None,
        together: bool = False,
        order: str | None = None,
        constant: str | Sequence[str] = (),
        domain_share: float = DOMAIN_SHARE,
        quality_share: float = QUALITY_SHARE,
        accept: "str | tuple[Criterion, ...] | None" = None,
        choose: ChoiceLike = None,
        about: AboutLike = None,
        known: KnownLike = None,
        weight: str | None = None,
        prior: PriorLike = None,
        anyway: bool = False,
        spelling: Spelling = Spelling.PYTHON,
    ) -> None:
        check_budget(epsilon=epsilon, delta=delta)
        if checked_flag("together", together) or order is not None:
            _check_persons(order, unit, max_rows_per_unit, spelling)
        constant = _checked_constant(constant, spelling)
        if constant and not together and order is None:
            raise ParameterError(
                f"{spelling.of('constant')} is given without {spelling.of('together')} or {spelling.of('order')}: "
                "else rows of a person have nothing in common; give one of them"
            )
        checked_rows(
            unit,
            max_rows_per_unit,
            called=(spelling.of("unit"), spelling.of("max_rows_per_unit")),
        )
        mechanism = as_mechanism(mechanism)
        fitter = as_engine(mechanism.default_engine if engine is None else engine)
        if mechanism.parts and fitter.name == "graphical-model":
            raise ParameterError(
                f"{spelling.of('engine')}: a tree of all that several mechanisms measure may be too "
                f"large; leave it out, or name it in {spelling.of('choose')}"
            )
        settled: dict[str, object] = {
            "epsilon": epsilon,
            "delta": delta,
            "mechanism": mechanism,
            "workload": workload,
            "target": target,
            "engine": fitter,
            "adjacency": as_adjacency(adjacency),
            "accounting": None if accounting is None else as_accounting(accounting),
            "unit": unit,
            "max_rows_per_unit": max_rows_per_unit,
            "together": together,
            "order": order,
            "constant": constant,
            "domain_share": checked_share(domain_share),
            "quality_share": checked_quality_share(quality_share, spelling.of("quality_share")),
            "accept": _criteria(accept, quality_share, spelling),
            "choose": ()
            if choose in (None, ())
            else import_named(CANDIDATES)(choose, spelling.of("choose")),
            "about": None if about is None else import_named(READ_ABOUT)(about),
            "known": known,
            "weight": weight,
            "prior": prior,
            "anyway": checked_flag("anyway", anyway),
            "spelling": spelling,
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @property
    def max_rows(self) -> int:
        """Most rows of a unit of privacy: one, unless persons may have several."""
        return 1 if self.max_rows_per_unit is None else self.max_rows_per_unit

    @property
    def kept_by(self) -> str | None:
        """The setting by which rows of one person hang together in what is drawn, if they do."""
        return kept_by(vars(self))

    @property
    def stated(self) -> dict[str, object]:
        """What the certificate repeats of what the curator says."""
        return {} if self.about is None else {"about": self.about}

    def check_combined(self, rows: RowLinks, others: Mapping[str, object]) -> None:
        """Refuse settings, and ``others`` that are given beside them, that do not go with a package
        or persons; see `check_combined`.
        """
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        check_combined(rows, {**own, **others}, self.spelling)


def kept_by(given: Mapping[str, object]) -> str | None:
    """The setting by which rows of one person hang together, of some by name; None if none does."""
    return next((name for name in ("order", "together") if given.get(name)), None)


def check_combined(
    rows: RowLinks, given: Mapping[str, object], spelling: Spelling = Spelling.PYTHON
) -> None:
    """Refuse what does not go with rows that hang together.

    Parameters
    ----------
    rows
        How they hang together.
    given
        Settings and options by name; None, False or a default value says nothing.
    spelling
        How the error writes their names.

    Raises `ParameterError`.

    >>> check_combined("persons", {"order": "came", "target": "ward"})
    Traceback (most recent call last):
    synthdp.core.errors.ParameterError: target does not go with order; leave out one of the two
    """
    if getattr(given.get("mechanism"), "parts", ()):
        raise ParameterError(
            f"{spelling.of('mechanism')}: several are for one table of which each row is by itself; "
            "name one"
        )
    beside = spelling.of(kept_by(given) or "together")
    for name in DOES_NOT_COMBINE[rows]:
        value = given.get(name)
        if value is None or value is False or (isinstance(value, tuple) and not value):
            continue
        if name in DEFAULT_SHARES and value == DEFAULT_SHARES[name]:
            continue
        if name == "adjacency":
            protects = "a package protects rows of its root"
            protects = protects if rows == "package" else f"{beside} protects persons"
            _check_adjacency(as_adjacency(value), protects, spelling)  # type: ignore[arg-type]
        else:
            if rows == "package":
                way_out = "is for one table; leave it out for a package"
            else:
                way_out = f"does not go with {beside}; leave out one of the two"
            raise ParameterError(f"{spelling.of(name)} {way_out}")


def _criteria(
    accept: "str | tuple[Criterion, ...] | None", quality_share: float, spelling: Spelling
) -> "tuple[Criterion, ...] | None":
    """The criteria of a text, which need a share for measuring quality."""
    if accept is None:
        return None
    called = spelling.of("accept")
    criteria = accept if isinstance(accept, tuple) else import_named(PARSE_CRITERIA)(accept, called)
    if not quality_share:
        raise ParameterError(
            f"{called} is given, but {spelling.of('quality_share')} is 0: nothing is measured then; give a share"
        )
    return criteria


def _check_adjacency(adjacency: Adjacency, protects: str, spelling: Spelling) -> None:
    """Refuse any adjacency but that of whole families and persons."""
    if adjacency is not Adjacency.ADD_REMOVE:
        raise ParameterError(
            f"{spelling.of('adjacency')} is {adjacency.value!r}; {protects}: add-remove"
        )


def _checked_constant(names: object, spelling: Spelling) -> tuple[str, ...]:
    """The columns that are the same in all rows of a person; one name is a list of one."""
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        problem = f"is {names!r}; give a list of the columns' names"
    elif repeated := [name for place, name in enumerate(listed) if name in listed[:place]]:
        problem = f"names {repeated[0]!r} twice; name each column once"
    else:
        return tuple(listed)
    raise ParameterError(f"{spelling.of('constant')} {problem}")


def _check_persons(
    order: object, unit: str | None, max_rows_per_unit: int | None, spelling: Spelling
) -> None:
    """Refuse rows that are to hang together, or have an order, and are nobody's."""
    called, by = spelling.of("together" if order is None else "order"), spelling.of("unit")
    if order is not None and (not isinstance(order, str) or not order):
        problem = f"is {order!r}; name the column by which rows of a person are ordered"
    elif unit is None:
        problem = f"is given without {by}; name the column that tells persons apart"
    elif max_rows_per_unit is None:
        most = spelling.of("max_rows_per_unit")
        problem = f"is given without {most}; say how many rows of a person may be used"
    elif order == unit:
        problem = f"is {order!r}, which is {by} as well; name the column that orders rows"
    else:
        return
    raise ParameterError(f"{called} {problem}")
