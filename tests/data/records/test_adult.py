"""The raw Adult data set with a hand-written schema, from file to codes to file."""

import numpy as np
import pandas as pd
import pytest
from helpers.paths import ROOT

from synthdp.data import CodedSource, decode, encode, read_coded, write_frame
from synthdp.schema import Schema

ADULT = ROOT.parent / "shared" / "data" / "adult" / "adult.csv"


@pytest.fixture(scope="module")
def adult():
    if not ADULT.exists():
        pytest.skip("the Adult data set is not here")
    return Schema.load(ROOT / "benchmarks" / "schemas" / "adult.json")


def test_adult_is_coded_alike_from_texts_typed_values_and_files(adult):
    table = read_coded(ADULT, adult)
    texts = encode(pd.read_csv(ADULT, dtype=str, keep_default_na=False), adult)
    typed = encode(pd.read_csv(ADULT), adult)
    for whole, text, value in zip(table.columns, texts.columns, typed.columns, strict=True):
        assert (whole == text).all()
        assert (whole == value).all()
        assert whole.dtype == np.uint8
    source = CodedSource(table)
    frame = pd.read_csv(ADULT, keep_default_na=False)
    crosstab = pd.crosstab(frame["sex"], frame["workclass"])
    levels = [*adult["workclass"].levels, ""]
    assert (
        source.counts(("sex", "workclass")) == crosstab.loc[["Female", "Male"], levels].to_numpy()
    ).all()
    assert source.counts(("capital_gain",))[0] == (frame["capital_gain"] == 0).sum()


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_adult_survives_decoding_and_files(adult, ending, tmp_path):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    table = read_coded(ADULT, adult)
    frame = decode(table.columns, adult, np.random.default_rng(0), text=ending != ".parquet")
    write_frame(frame, tmp_path / f"t{ending}", force=False)
    again = read_coded(tmp_path / f"t{ending}", adult)
    assert all((one == two).all() for one, two in zip(table.columns, again.columns, strict=True))
    original = pd.read_csv(ADULT)
    synthetic = (
        pd.read_parquet(tmp_path / "t.parquet")
        if ending == ".parquet"
        else pd.read_csv(tmp_path / f"t{ending}")
    )
    assert synthetic.columns.tolist() == original.columns.tolist()
    assert synthetic.dtypes.astype(str).tolist() == original.dtypes.astype(str).tolist()
    for name in ("workclass", "education", "occupation", "native_country", "income"):
        assert set(synthetic[name].dropna()) == set(original[name].dropna())
        assert synthetic[name].isna().sum() == original[name].isna().sum()
