"""Settings of a release by their names, and their defaults."""

from collections.abc import Mapping
from difflib import get_close_matches
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.core.version import __version__
from synthdp.inference.estimator import Estimator
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import Adjacency
from synthdp.release.keeping.described import digest_of
from synthdp.schema.dialect import Dialect, properties_of
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import schema_in
from synthdp.schema.schema import Schema
from synthdp.schema.words.dtypes import as_mapping, dtypes_in, kinds_of

MAX_DOMAIN_SHARE = 0.95
"""Something must be left of the budget to measure the table with; a twentieth still measures it
roughly.
"""

DOMAIN_SHARE = 0.25
"""Share of the budget, and of delta, for what a schema leaves open; on Adult 0.3 gave nearly the
same error.
"""


def as_schema(
    schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str],
    *,
    dialect: str | Mapping[str, Any] | None = None,
) -> OpenSchema:
    """The schema as one that may leave things open: itself, or what a mapping or a file holds.

    The properties of ``dialect`` override those of the schema's own; raises `ParameterError` if it
    is none.
    """
    try:
        Dialect.of(properties_of(dialect))
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    declared = OpenSchema.of(schema) if isinstance(schema, Schema) else schema
    if isinstance(declared, OpenSchema):
        return declared if dialect is None else schema_in(declared.to_dict(), dialect)
    return schema_in(
        declared if isinstance(declared, Mapping) else load_json(declared, "schema"), dialect
    )


FROM_DTYPES = "dtypes"
"""In place of kinds: the dtypes of the table say them."""

Kinds: TypeAlias = Mapping[str, Any] | str | PathLike[str]


def settled_schema(
    schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str] | None,
    kinds: Kinds | None,
    dtypes: Mapping[str, Any] | None,
    *,
    unit: str | None,
    dialect: str | Mapping[str, Any] | None = None,
) -> tuple[OpenSchema, dict[str, Any]]:
    """The schema of a table, and those of its dtypes that whoever gave it declares to be public.

    Parameters
    ----------
    schema, kinds, unit, dialect
        As in `synthesize`.
    dtypes
        The dtypes of the table; they are looked at if ``kinds`` says so, and not otherwise. None
        for a file.

    Raises `ParameterError` unless one of the two is given; `SchemaError` if it contradicts itself.
    """
    if (schema is None) == (kinds is None):
        problem = (
            "neither schema nor kinds is given"
            if schema is None
            else "schema and kinds are both given"
        )
        way_out = f"give one of the two, for instance kinds={FROM_DTYPES!r} if the dtypes of the table are public"
        raise ParameterError(f"{problem}; {way_out}")
    if schema is not None:
        return as_schema(schema, dialect=dialect), {}
    kinds = as_mapping(kinds)
    if isinstance(kinds, str) and kinds == FROM_DTYPES:
        if dtypes is None:
            raise ParameterError(
                f"kinds is {FROM_DTYPES!r}, but data is a file; name the kind of each column"
            )
        public = {name: dtype for name, dtype in dtypes.items() if name != unit}
        return as_schema(OpenSchema.from_kinds(kinds_of(public)), dialect=dialect), public
    if (
        isinstance(kinds, str)
        and get_close_matches(kinds.lower(), [FROM_DTYPES])
        and not Path(kinds).exists()
    ):
        raise ParameterError(
            f"kinds is {kinds!r}, and there is no such file; did you mean {FROM_DTYPES!r}?"
        )
    declared = as_schema(OpenSchema.from_kinds(kinds), dialect=dialect)
    return declared, dtypes_in(kinds) if isinstance(kinds, Mapping) else {}


def as_adjacency(adjacency: str | Adjacency) -> Adjacency:
    """The adjacency of that name; raises `ParameterError` if there is none."""
    try:
        return Adjacency(adjacency)
    except ValueError:
        names = " or ".join(repr(known.value) for known in Adjacency)
        raise ParameterError(f"adjacency is {adjacency!r}; give {names}") from None


def settled_accounting(
    mechanism: Mechanism, accounting: str | Accounting | None, has_trees: bool
) -> Accounting:
    """The accounting, asked for or by default, that a recipe and a schema, with PrivTree or
    without, allow.

    Raises `ParameterError` if Gaussian DP is asked for something that is not Gaussian.
    """
    if accounting is None:
        return Accounting.ZCDP if has_trees else mechanism.default_accounting
    asked = as_accounting(accounting)
    if asked is Accounting.GDP and not mechanism.is_gaussian:
        raise ParameterError(
            f"accounting is 'gdp' but {mechanism.name} selects by the exponential mechanism; give 'zcdp'"
        )
    if asked is Accounting.GDP and has_trees:
        raise ParameterError(
            "accounting is 'gdp' but binning 'privtree' has noise that is not Gaussian; give 'zcdp'"
        )
    return asked


def as_accounting(accounting: str | Accounting) -> Accounting:
    """The accounting of that name; raises `ParameterError` if there is none."""
    try:
        return Accounting(accounting)
    except ValueError:
        names = " or ".join(repr(known.value) for known in Accounting)
        raise ParameterError(f"accounting is {accounting!r}; give {names}") from None


def checked_share(domain_share: float) -> float:
    """The share of the budget for what a schema leaves open; raises `ParameterError` if it is out
    of range.
    """
    if (
        isinstance(domain_share, bool)
        or not isinstance(domain_share, Real)
        or not 0 < domain_share <= MAX_DOMAIN_SHARE
    ):
        limit = f"give a number above 0 and at most {MAX_DOMAIN_SHARE}, for instance 0.25"
        raise ParameterError(f"domain_share is {domain_share}; {limit}")
    return float(domain_share)


def checked_flag(name: str, value: object) -> bool:
    """A truth value; raises `ParameterError` if it is none."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} is {value!r}; give True or False")
    return value


def checked_rows(
    unit: str | None,
    max_rows_per_unit: int | None,
    *,
    called: tuple[str, str] = ("unit", "max_rows_per_unit"),
) -> int:
    """Most rows of a unit; raises `ParameterError`, with what the two are called, if only one of
    them is given.
    """
    one, other = called
    if unit is None and max_rows_per_unit is not None:
        raise ParameterError(
            f"{other} is given without {one}; name the column that tells persons apart"
        )
    if unit is not None and max_rows_per_unit is None:
        raise ParameterError(
            f"{one} is given without {other}; say how many rows of a person may be used"
        )
    if max_rows_per_unit is not None and not isinstance(max_rows_per_unit, int):
        raise ParameterError(f"{other} is {max_rows_per_unit!r}; give a whole number of at least 1")
    return 1 if max_rows_per_unit is None else max_rows_per_unit


def run_settings(
    *,
    ledger: PrivacyLedger,
    mechanism: Mechanism,
    engine: Estimator,
    hashed: Mapping[str, object],
    others: Mapping[str, object],
) -> dict[str, object]:
    """All that decides what a run asks of the records, as plain JSON values; what is long is
    ``hashed``.
    """
    return {
        "software": f"synthdp {__version__}",
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "adjacency": ledger.unit.adjacency.value,
        "accounting": ledger.accounting.value,
        "unit": ledger.unit.column,
        "max_rows_per_unit": ledger.unit.max_rows,
        "mechanism": mechanism.name,
        "parameters of the mechanism": digest_of(mechanism),
        "engine": engine.name,
        "parameters of the engine": digest_of(engine),
        **{name: digest_of(value) for name, value in hashed.items()},
        **others,
    }
