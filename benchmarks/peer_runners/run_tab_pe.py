"""Tab-PE of Microsoft: rows that evolve by the votes of private nearest neighbours.

Its package lies in its repository, whose place ``CHECKOUT`` says. Settings are those of its example
for Adult, and so is the size: 1,000 rows, which are repeated to the number asked for.
"""

import itertools
import os
import sys
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
from job import Answer, Job, run

ROWS, ITERATIONS, FIRST = 1000, 30, 5
"""Rows of a population, populations, and how many of these are drawn in proportion to votes."""


def synthesize(job: Job) -> Answer:
    _import_tabular_parts()
    from pe.population import CompositePopulation, PEPopulation
    from pe.runner import PE

    pd.options.mode.copy_on_write = True  # as its examples have it
    np.random.seed(job.seed)  # noqa: NPY002 (its noise is numpy's global one)
    columns = {name: column for name, column in job.columns.items() if name != job.target}
    api, histogram = _operators(columns)
    drawn = PEPopulation(api=api, histogram_threshold=0)
    ranked = PEPopulation(
        api=api,
        initial_variation_api_fold=3,
        next_variation_api_fold=3,
        keep_selected=True,
        selection_mode="rank",
    )
    populations = [drawn] * FIRST + [ranked] * (ITERATIONS - FIRST)
    evolution = PE(_records(job, columns), CompositePopulation(populations), histogram)
    last = evolution.run([ROWS] * ITERATIONS, job.delta, job.epsilon, save_checkpoint=False)
    return Answer(
        _rows(last.data_frame, job, columns),
        [
            "shares of the target's levels read without noise",
            "levels and bounds handed over (its own reader takes them from the records)",
            f"its {ROWS} rows repeated to the number asked for",
        ],
    )


def _import_tabular_parts() -> None:
    """Let its package be imported without its images and texts, and the networks these need."""
    sys.path.insert(0, os.environ["CHECKOUT"])
    for package, kind in itertools.product(("api", "data", "embedding"), ("image", "text")):
        sys.modules[f"pe.{package}.{kind}"] = MagicMock()


def _operators(columns: dict[str, dict[str, Any]]) -> tuple[Any, Any]:
    """Its variations and its votes, given what is public of the features."""
    from pe.api import TabularAPI
    from pe.data import TabularColumnType
    from pe.embedding import TabularEmbedding
    from pe.histogram import NearestNeighbors

    info = {
        name: {"type": TabularColumnType.CATEGORICAL, "categories": column["levels"]}
        if "levels" in column
        else {
            "type": TabularColumnType({"integer": "int", "number": "float"}[column["type"]]),
            "min": column["minimum"],
            "max": column["maximum"],
        }
        for name, column in columns.items()
    }
    api = TabularAPI(info=info, num_iterations=ITERATIONS)
    votes = NearestNeighbors(
        embedding=TabularEmbedding(info=info), mode="L2", lookahead_degree=0, backend="sklearn"
    )
    return api, votes


def _records(job: Job, columns: dict[str, dict[str, Any]]) -> Any:
    """The records as its reader of CSV files leaves them, but for labels, which are public."""
    from pe.constant.data import LABEL_ID_COLUMN_NAME, TABULAR_DATA_COLUMN_NAME
    from pe.data import Data

    frame, labels = job.frame(), job.levels(job.target)
    if labels is None:
        raise SystemExit(f"Tab-PE needs a target with levels, and {job.target} has none")
    of_type = {
        "cat_columns": [name for name in columns if "levels" in columns[name]],
        "int_columns": [name for name in columns if columns[name].get("type") == "integer"],
        "float_columns": [name for name in columns if columns[name].get("type") == "number"],
    }
    metadata = {
        "label_columns": [job.target],
        "label_info": [{"name": label, "column_values": {job.target: label}} for label in labels],
        "feature_columns": list(columns),
        **of_type,
    }
    records = {
        TABULAR_DATA_COLUMN_NAME: frame[list(columns)].to_numpy(dtype=object).tolist(),
        LABEL_ID_COLUMN_NAME: pd.Categorical(frame[job.target], categories=labels).codes,
    }
    return Data(data_frame=pd.DataFrame(records), metadata=metadata)


def _rows(population: pd.DataFrame, job: Job, columns: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """The rows that were selected last, without their variations, as often as is asked for."""
    from pe.constant.data import (
        LABEL_ID_COLUMN_NAME,
        TABULAR_DATA_COLUMN_NAME,
        VARIATION_API_FOLD_ID_COLUMN_NAME,
    )

    selected = population[population[VARIATION_API_FOLD_ID_COLUMN_NAME] == -1]
    rows = pd.DataFrame(selected[TABULAR_DATA_COLUMN_NAME].tolist(), columns=list(columns))
    labels = np.array(job.levels(job.target), dtype=object)
    rows[job.target] = labels[selected[LABEL_ID_COLUMN_NAME].to_numpy(dtype=int)]
    order = np.random.default_rng(job.seed).permutation(len(rows))
    rows = rows.iloc[np.resize(order, job.n_rows)].reset_index(drop=True)
    return rows[list(job.columns)]


if __name__ == "__main__":
    run("private-evolution", synthesize)
