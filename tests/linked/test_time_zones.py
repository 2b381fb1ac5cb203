"""Moments of linked tables in Parquet files come out in the time zone that the file's type names."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke

import synthdp

N_HOMES = 300
RUN = {"epsilon": 50.0, "delta": 1e-6, "mechanism": "independent"}
YEAR = {"constraints": {"minimum": "2021-01-01T00:00:00Z", "maximum": "2021-12-31T00:00:00Z"}}


def moments(n, zone):
    days = pd.Timestamp("2021-02-01") + pd.to_timedelta(np.arange(n) % 300, unit="D")
    return pd.Series(days).dt.tz_localize("UTC").dt.tz_convert(zone)


def table(name, fields, **schema):
    fields = [{"name": each, "type": kind, **more} for each, kind, more in fields]
    return {"name": name, "path": f"{name}.parquet", "schema": {"fields": fields, **schema}}


@pytest.fixture
def package(tmp_path):
    """Homes with moments in Berlin, visits with ones an hour before UTC, and a declared zone."""
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    zoned = YEAR | {"synthdp": {"timezone": "Europe/Paris"}}
    homes = table(
        "homes",
        [("id", "integer", {}), ("built", "datetime", YEAR), ("sold", "datetime", zoned)],
        primaryKey="id",
    )
    visits = table(
        "visits", [("home", "integer", {}), ("at", "datetime", YEAR)], foreignKeys=[link]
    )
    berlin = moments(N_HOMES, "Europe/Berlin")
    tables = {
        "homes": pd.DataFrame({"id": range(N_HOMES), "built": berlin, "sold": berlin}),
        "visits": pd.DataFrame({"home": range(N_HOMES), "at": moments(N_HOMES, "-01:00")}),
    }
    (tmp_path / "in").mkdir()
    for name, frame in tables.items():
        frame.to_parquet(tmp_path / "in" / f"{name}.parquet")
    visits["synthdp"] = {"max_children": 1}
    path = tmp_path / "in" / "datapackage.json"
    path.write_text(json.dumps({"resources": [homes, visits]}))
    return path


def zones(homes, visits):
    columns = {"built": homes["built"], "sold": homes["sold"], "at": visits["at"]}
    return {name: str(values.dt.tz) for name, values in columns.items()}


EXPECTED = {"built": "Europe/Berlin", "sold": "Europe/Paris", "at": "UTC-01:00"}


def test_python_keeps_the_zones_of_all_tables(package):
    drawn = synthdp.synthesize(package, **RUN).sample(seed=1)
    assert zones(drawn["homes"], drawn["visits"]) == EXPECTED


def test_the_command_keeps_the_zones_of_all_tables(package):
    out = package.parent.parent / "out"
    budget = ("--epsilon", "50", "--delta", "1e-6")
    done = invoke("run", package, "-o", out, *budget, "--mechanism", "independent")
    assert done.code == 0, done.err
    made = (pd.read_parquet(out / f"{name}.parquet") for name in ("homes", "visits"))
    assert zones(*made) == EXPECTED
