"""Names of time zones: those of dtypes, which a file's public types have, in the fields of a
schema.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd


def zone_name(dtype: Any) -> str | None:
    """How a schema names the time zone of a dtype of pandas; None if it has none, or one without a
    name.

    >>> zone_name(pd.DatetimeTZDtype("us", "Europe/Berlin")), zone_name(pd.Int64Dtype())
    ('Europe/Berlin', None)
    """
    if isinstance(dtype, pd.ArrowDtype):
        zone = getattr(dtype.pyarrow_dtype, "tz", None)
        return None if zone is None else _name(pd.DatetimeTZDtype("s", zone).tz)
    return _name(dtype.tz) if isinstance(dtype, pd.DatetimeTZDtype) else None


def _name(zone: Any) -> str | None:
    offset = zone.utcoffset(None)
    if offset is None:
        name = getattr(zone, "key", getattr(zone, "zone", None))  # that of pytz has no key
        return str(name) if name else None
    minutes, rest = divmod(int(offset.total_seconds()), 60)
    if minutes == 0 or rest:
        return None if rest else "UTC"
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def fields_in_zones(
    fields: Sequence[Mapping[str, Any]], zones: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    """Fields of a schema with the time zones of some columns, by name.

    Only moments get one, if none is declared and their format can say an offset from UTC.

    >>> fields_in_zones([{"name": "seen", "type": "datetime"}], {"seen": "UTC"})
    [{'name': 'seen', 'type': 'datetime', 'synthdp': {'timezone': 'UTC'}}]
    """
    return [_in_zone(field, zones.get(field["name"])) for field in fields]


def _in_zone(field: Mapping[str, Any], zone: str | None) -> Mapping[str, Any]:
    own = field.get("synthdp") or {}
    pattern = field.get("format", "%z")
    if zone is None or field.get("type") != "datetime" or "timezone" in own or "%z" not in pattern:
        return field
    return {**field, "synthdp": {**own, "timezone": zone}}
