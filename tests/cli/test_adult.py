"""Raw Adult through the command line: the same data types and formats out as in."""

import re

import pandas as pd
import pytest
from helpers.cli_runs import invoke, names_in, run_arguments
from helpers.paths import ROOT
from helpers.seldom import often

ADULT = ROOT.parent / "shared/data/adult/adult.csv"
SCHEMA = ROOT / "benchmarks/schemas/adult.json"

pytestmark = pytest.mark.skipif(
    not (ADULT.exists() and SCHEMA.exists()), reason="Adult is not there"
)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("adult") / "adult.parquet"
    pd.read_csv(ADULT).to_parquet(path)
    return path


def formats(frame):
    """For each column the shapes of its texts: digits as 9, and whether any is empty."""
    return {
        name: (
            set()
            if texts.str.fullmatch(r"\D*").all()
            else set(texts.str.replace(r"\d+", "9", regex=True))
        )
        for name, texts in frame.items()
    }


@pytest.mark.parametrize(
    ("kind", "output"),
    often(
        ("csv", "out.parquet"),
        ("parquet", "out.csv.gz"),
        seldom=[("csv", "out.csv"), ("parquet", "out.parquet")],
    ),
)
def test_types_and_formats_out_are_those_in(kind, output, parquet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = ADULT if kind == "csv" else parquet
    more = ("--mechanism", "mst")  # formats do not depend on the mechanism
    outcome = invoke(
        *run_arguments(
            *more, source=source, schema=SCHEMA, output=output, epsilon="1", delta="1e-9"
        )
    )
    assert (outcome.code, outcome.notes) == (0, [])
    assert names_in(tmp_path) == [output, f"{output}.privacy.json"]
    if output.endswith("parquet"):
        known, made = pd.read_parquet(parquet), pd.read_parquet(output)
    else:
        known, made = pd.read_csv(ADULT), pd.read_csv(output)
        texts = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in (ADULT, output)]
        patterns = [formats(frame) for frame in texts]
        assert [name for name in patterns[0] if not patterns[1][name] <= patterns[0][name]] == []
        assert ((texts[0] == "").any() == (texts[1] == "").any()).all()
    assert list(made.columns) == list(known.columns)
    assert made.dtypes.to_dict() == known.dtypes.to_dict()
    assert abs(len(made) / len(known) - 1) < 0.1  # many standard deviations of the noisy total
    for name in known.columns:
        if known[name].dtype.kind == "i":
            assert re.fullmatch("int64", str(made[name].dtype))
        else:
            assert set(made[name].dropna()) <= set(known[name].dropna()) | {"Holand-Netherlands"}
