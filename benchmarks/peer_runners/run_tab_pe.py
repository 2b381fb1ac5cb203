"""Tab-PE of Microsoft's private-evolution, set up as its script for Adult."""

import pandas as pd
from job import Answer, Job, run

N_ROUNDS = 30
N_ROWS = 1000
"""Rounds and rows of its script."""


def synthesize(job: Job) -> Answer:
    import numpy as np
    from pe.api import TabularAPI
    from pe.embedding import TabularEmbedding
    from pe.histogram import NearestNeighbors
    from pe.population import CompositePopulation, PEPopulation
    from pe.runner import PE

    np.random.seed(job.seed)  # noqa: NPY002 (its noise is numpy's global one)
    info = _info(job)
    api = TabularAPI(info=info, gamma=0.2, num_iterations=N_ROUNDS)
    first = PEPopulation(
        api=api,
        initial_variation_api_fold=0,
        next_variation_api_fold=1,
        keep_selected=False,
        selection_mode="sample",
        histogram_threshold=0,
    )
    later = PEPopulation(
        api=api,
        initial_variation_api_fold=3,
        next_variation_api_fold=3,
        keep_selected=True,
        selection_mode="rank",
    )
    histogram = NearestNeighbors(
        embedding=TabularEmbedding(info=info), mode="L2", lookahead_degree=0, backend="sklearn"
    )
    population = CompositePopulation(populations=[first] * 5 + [later] * (N_ROUNDS - 5))
    runner = PE(priv_data=_records(job, info), population=population, histogram=histogram)
    drawn = runner.run([N_ROWS] * N_ROUNDS, job.delta, job.epsilon, save_checkpoint=False)
    return Answer(
        _rows(drawn.data_frame, job, list(info)),
        [
            "shares of the target's levels read off the records, as in its script",
            f"{N_ROWS} rows, as in its script, drawn from with replacement",
        ],
    )


def _info(job: Job) -> dict[str, dict[str, object]]:
    """What it is told of each column but the target, in its order: texts, integers, numbers."""
    from pe.data import TabularColumnType

    kinds = [TabularColumnType.CATEGORICAL, TabularColumnType.INTEGER, TabularColumnType.FLOAT]
    info: dict[str, dict[str, object]] = {}
    for kind in kinds:
        for name, column in job.columns.items():
            own = column.get("type", "text")
            if name == job.target or kinds[["text", "integer", "number"].index(own)] != kind:
                continue
            if "levels" in column:
                info[name] = {"type": kind, "categories": column["levels"]}
            else:
                info[name] = {"type": kind, "min": column["minimum"], "max": column["maximum"]}
    return info


def _records(job: Job, info: dict[str, dict[str, object]]) -> object:
    """The records in its form: a list of values, and the number of the target's level."""
    from pe.data import Data

    frame = job.frame()
    levels = job.columns[job.target]["levels"]
    names = {"cat": [], "int": [], "float": []}
    for name, column in info.items():
        names[column["type"].value].append(name)  # type: ignore[attr-defined]
    return Data(
        data_frame=pd.DataFrame(
            {
                "PE.TABULAR": frame[list(info)].to_numpy(dtype=object).tolist(),
                "PE.LABEL_ID": pd.Categorical(frame[job.target], categories=levels).codes,
            }
        ),
        metadata={f"{kind}_columns": each for kind, each in names.items()}
        | {"feature_columns": list(info), "label_columns": [job.target]}
        | {"label_info": [{"name": level} for level in levels]},
    )


def _rows(drawn: pd.DataFrame, job: Job, names: list[str]) -> pd.DataFrame:
    """What it selected last, drawn from as often as rows are asked for."""
    chosen = drawn[drawn["PE.VARIATION_API_FOLD_ID"] == -1]
    rows = pd.DataFrame(chosen["PE.TABULAR"].tolist(), columns=names)
    levels = job.columns[job.target]["levels"]
    rows[job.target] = [levels[number] for number in chosen["PE.LABEL_ID"]]
    rows = rows.sample(job.n_rows, replace=True, random_state=job.seed, ignore_index=True)
    return rows[list(job.columns)]


if __name__ == "__main__":
    run("private-evolution", synthesize)
