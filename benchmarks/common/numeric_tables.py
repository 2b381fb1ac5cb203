"""Tables with numbers and a column of two levels to predict, under bins of public bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from common.made_up import schema_of, survey
from synthdp.data import decode, read_coded
from synthdp.schema import Schema

BINS = 32

DIABETES = {
    "age": (0, 100),
    "bmi": (10, 60),
    "bp": (40, 180),
    "s1": (50, 400),
    "s2": (0, 300),
    "s3": (0, 150),
    "s4": (0, 12),
    "s5": (2, 8),
    "s6": (40, 200),
}
"""What a physician may expect: years, kg/m2, mmHg, mg/dl; ``s4`` is a ratio and ``s5`` a logarithm."""

WORSE = 140.0
"""A disease progression above this is to be predicted; half of the patients have one."""

BREAST_CANCER = {
    "radius": (30, 3, 40),
    "texture": (40, 5, 50),
    "perimeter": (200, 22, 260),
    "area": (2600, 550, 4300),
    "smoothness": (0.2, 0.04, 0.25),
    "compactness": (0.4, 0.15, 1.1),
    "concavity": (0.5, 0.4, 1.3),
    "concave points": (0.25, 0.06, 0.3),
    "symmetry": (0.35, 0.08, 0.7),
    "fractal dimension": (0.1, 0.03, 0.25),
}
"""Upper bounds of mean, standard error and worst value of each: those in the data set's
description, rounded up.
"""

ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


@dataclass(frozen=True, eq=False)
class NumericTable:
    """Records with typed values, what is public about them, and which column is to be predicted."""

    frame: pd.DataFrame
    schema: Schema
    target: str

    @property
    def numbers(self) -> list[str]:
        """The columns whose values are numbers."""
        return [
            column.name
            for column in self.schema.columns
            if column.field()["type"] in ("integer", "number")
        ]


def diabetes(_data: Path) -> NumericTable:
    """442 patients, nine numbers and the sex [scikit-learn]; to predict: whether the disease got
    worse.
    """
    from sklearn.datasets import load_diabetes

    frame = load_diabetes(as_frame=True, scaled=False).frame
    texts = {"sex": frame["sex"].map({1.0: "1", 2.0: "2"}), "worse": _yes(frame["target"] > WORSE)}
    return _table(frame[list(DIABETES)].assign(**texts), DIABETES, target="worse")


def breast_cancer(_data: Path) -> NumericTable:
    """569 tumours with 30 numbers [scikit-learn]; to predict: malignant or not."""
    from sklearn.datasets import load_breast_cancer

    frame = load_breast_cancer(as_frame=True).frame
    limits = {}
    for name, uppers in BREAST_CANCER.items():
        names = (f"mean {name}", f"{name} error", f"worst {name}")
        limits |= {each: (0, upper) for each, upper in zip(names, uppers, strict=True)}
    return _table(
        frame[list(limits)].assign(malignant=_yes(frame["target"] == 0)), limits, target="malignant"
    )


def made_up_survey(_data: Path) -> NumericTable:
    """6,000 answers to 20 questions, eight of them whole numbers up to 31; to predict: a yes or no."""
    table, schema = survey(seed=0)
    return NumericTable(decode(table.columns, schema, np.random.default_rng(0)), schema, "q7")


def adult(data: Path) -> NumericTable:
    """Discretised Adult: 48,842 records, six of 15 columns are numbers of bins; to predict: the
    income.
    """
    file = data / "adult-discretized/adult.csv"
    table = read_coded(file, Schema.load(file.with_name("domain.json")))
    schema = schema_of(table.domain, ADULT_NUMBERS)
    return NumericTable(
        decode(table.columns, schema, np.random.default_rng(0)), schema, "income>50K"
    )


NUMERIC_TABLES = {
    "diabetes": diabetes,
    "breast-cancer": breast_cancer,
    "survey": made_up_survey,
    "adult": adult,
}
"""Makers of tables, given the folder of the data sets that are files."""


def _table(
    frame: pd.DataFrame, limits: Mapping[str, tuple[float, float]], *, target: str
) -> NumericTable:
    """Columns with limits are numbers in `BINS` equally wide bins, the others texts of two levels."""
    fields = []
    for name in frame.columns:
        if name in limits:
            bounds = dict(zip(("minimum", "maximum"), limits[name], strict=True))
            own = {"type": "number", "constraints": bounds, "synthdp": {"bins": BINS}}
        else:
            own = {"type": "string", "constraints": {"enum": sorted(frame[name].unique())}}
        own["constraints"] |= {"required": True}
        fields.append({"name": name} | own)
    return NumericTable(frame, Schema.from_dict({"fields": fields}), target)


def _yes(values: pd.Series) -> pd.Series:
    return values.map({True: "yes", False: "no"})
