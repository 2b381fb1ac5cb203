"""What a release says of its noise: certificates and measurements, one for each synthetic table."""

from collections.abc import Mapping, Sequence
from math import inf
from os import PathLike
from typing import Any, TypeAlias

from synthdp.core.errors import DataFileError, ParameterError
from synthdp.core.files.json_files import load_json
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.sealing import DAMAGED, is_damaged
from synthdp.release.saving.stated import checked_certificate
from synthdp.report.metrics.references import Measured
from synthdp.schema.schema import Schema

Certificate: TypeAlias = Mapping[str, Any] | Sequence[LinearMeasurement] | str | PathLike[str]
Certificates: TypeAlias = (
    Certificate | Sequence[Certificate | None] | Mapping[str, Certificate | None] | None
)


def stated_by(certificates: Certificates, names: Sequence[str]) -> dict[str, Any]:
    """What is known of the release of each synthetic table: its certificate or measurements, None
    for nothing.

    Parameters
    ----------
    certificates
        As `evaluate` takes them.
    names
        The synthetic tables.

    Raises
    ------
    ParameterError
        If there is not one for each table.
    DataFileError, SchemaError
        If a file cannot be read.
    """
    given = {} if certificates is None else _by_name(certificates, names)
    return {name: read_certificate(given.get(name)) for name in names}


def read_certificate(given: Any) -> Any:
    """A certificate, from its file if that is what is given; anything else as it is.

    Raises `DataFileError` or `SchemaError` if the file cannot be read, and `DataFileError` if a
    certificate is damaged.
    """
    if not isinstance(given, str | PathLike):
        if isinstance(given, Mapping) and is_damaged(given):
            raise DataFileError(f"certificate: {DAMAGED}")
        return given
    try:
        return checked_certificate(load_json(given, "certificate"))
    except DataFileError as error:
        raise DataFileError(
            str(error) if str(given) in str(error) else f"{str(given)!r}: {error}"
        ) from None
    except ValueError:
        raise DataFileError(
            f"certificate {str(given)!r}: it is none that synthdp wrote; give a release's"
        ) from None


def stated_schema(stated: Mapping[str, Any]) -> Schema | None:
    """The schema that certificates say tables were made by, if all that say one say the same."""
    schemas = {}
    for certificate in stated.values():
        part = certificate.get("schema") if isinstance(certificate, Mapping) else None
        definition = part.get("definition") if isinstance(part, Mapping) else None
        if isinstance(definition, Mapping):
            schema = Schema.from_dict(definition)
            schemas[schema.fingerprint] = schema
    return next(iter(schemas.values())) if len(schemas) == 1 else None


def stated_epsilons(stated: Mapping[str, Any]) -> dict[str, float]:
    """The epsilons that certificates state, by the names of tables; of measurements none is known."""
    epsilons = {
        name: each.get("epsilon") for name, each in stated.items() if isinstance(each, Mapping)
    }
    return {
        name: epsilon
        for name, epsilon in epsilons.items()
        if isinstance(epsilon, int | float) and 0 < epsilon < inf
    }


def measured_in(
    stated: Mapping[str, Any], schema: Schema, *, is_observed: bool
) -> tuple[dict[str, list[Measured]], list[str]]:
    """The noisy marginals behind each synthetic table, and why some are unknown.

    Parameters
    ----------
    stated
        As `stated_by` gives it.
    schema
        What marginals are counted by.
    is_observed
        Whether the schema was read off the real table, so that no release can have used it.

    Raises
    ------
    ParameterError
        If one is no certificate.
    """
    measured: dict[str, list[Measured]] = {name: [] for name in stated}
    if all(certificate is None for certificate in stated.values()):
        return measured, ["no certificate was given: what the noise alone would cause is unknown"]
    # Its levels and bins are none that a release can have counted.
    if is_observed:
        return measured, [
            "the schema was read off the real table: give the release's own to see what its noise causes"
        ]
    notes = []
    for name, certificate in stated.items():
        if isinstance(certificate, Mapping):
            of_events = _of_events(certificate, name, schema)
            if of_events is None:
                notes.append(
                    f"the certificate of {name!r} is of another schema: what its noise causes is unknown"
                )
            measured[name] = of_events or []
        elif certificate is not None:
            measured[name] = _of_measurements(certificate, schema)
    return measured, notes


def _of_events(certificate: Mapping[str, Any], name: str, schema: Schema) -> list[Measured] | None:
    """The noisy marginals that a certificate states; None if they are of another schema."""
    if not isinstance(certificate.get("events"), Sequence):
        raise ParameterError(
            f"certificate of {name!r}: it has no events; give a release's certificate"
        )
    counted_by = (certificate.get("schema") or {}).get("sha256", schema.fingerprint)
    if counted_by != schema.fingerprint:
        return None
    try:
        # A certificate may be anybody's: what is in its events is not trusted.
        measured = Measured.of_events(certificate["events"], schema.domain)
        if not all(0 < each.variance < inf for each in measured):
            raise ValueError("no noise")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise ParameterError(
            f"certificate of {name!r}: its events are none of a release; give a release's certificate"
        ) from None
    return measured


def _by_name(certificates: Any, names: Sequence[str]) -> dict[str, Any]:
    if isinstance(certificates, Mapping) and "events" not in certificates:
        if unknown := [name for name in certificates if name not in names]:
            raise ParameterError(
                f"certificate: there is no synthetic table {unknown[0]!r}; give certificates by name"
            )
        return dict(certificates)
    is_one = isinstance(certificates, str | PathLike | Mapping) or (
        len(certificates) and all(isinstance(each, LinearMeasurement) for each in certificates)
    )
    listed = [certificates] if is_one else list(certificates)
    if len(listed) != len(names):
        raise ParameterError(
            f"certificate: {len(listed)} for {len(names)} synthetic tables; give one each, or None"
        )
    return dict(zip(names, listed, strict=True))


def _of_measurements(measurements: Any, schema: Schema) -> list[Measured]:
    if not isinstance(measurements, Sequence) or not all(
        isinstance(each, LinearMeasurement) for each in measurements
    ):
        raise ParameterError(
            "certificate: it is neither a mapping nor a list of measurements; give one of them"
        )
    for measurement in measurements:
        measurement.check_fits(schema.domain)
    return Measured.of_measurements(measurements)
