"""One row a metric: its value between what sampling and noise would cause, and a sentence to read
it by.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from synthdp.core.percent import percent
from synthdp.report.metrics.marginals import k_marginal_score
from synthdp.report.metrics.similarity import marks_of

Row: TypeAlias = tuple[str, float, float, float, str, str]

COLUMNS = ["metric", "value", "sampling", "noise", "better", "sentence"]
NAN = float("nan")


def summary_of(
    sections: Mapping[str, pd.DataFrame], *, score_k: int, subsample: float
) -> pd.DataFrame:
    """The summary of one table's sections.

    Parameters
    ----------
    sections
        Tables by name, as `Evaluation` has them.
    score_k
        Columns of the marginals that the k-marginal score is the mean of.
    subsample
        Which share of the real rows has the same score.
    """
    rows = [
        *_similarity(sections["similarity"]),
        *_marginals(sections["marginals"], score_k, subsample),
        *_values(sections["columns"]),
        *_relations(sections),
        *_learning(sections),
        *_rows(sections),
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _similarity(similarity: pd.DataFrame) -> Iterator[Row]:
    marks = marks_of(similarity)
    sampled = marks_of(similarity, "sampling")
    n_pairs = int((similarity["columns"].map(len) == 2).sum())
    meanings = {
        "column shapes": "How alike each column is by itself, on average, as SDMetrics reports it.",
        "column pair trends": f"How alike the {n_pairs} pairs of columns are that depend on each other, as SDMetrics "
        "counts and reports it.",
        "overall": "The mean of column shapes and pair trends: the overall score of SDMetrics.",
    }
    for name, mark in marks.items():
        yield f"SDMetrics, {name}", mark, sampled[name], NAN, "higher", meanings[name]


def _marginals(marginals: pd.DataFrame, score_k: int, subsample: float) -> Iterator[Row]:
    for k, of_size in marginals.groupby("k"):
        tvd = float(of_size["tvd"].mean())
        sampling = float(of_size["sampling"].mean())
        noise = _mean(of_size["noise"])
        sentence = f"On average {tvd:.2%} of the rows would have to change for a {k}-way marginal to be right"
        if measured := int(of_size["measured"].sum()):
            sentence += f"; {measured} of {len(of_size)} were measured, and noise is theirs"
        yield f"{k}-way marginals, mean TVD", tvd, sampling, noise, "lower", f"{sentence}."
        worst = of_size.iloc[0]
        sentence = f"The worst {k}-way marginal is {' x '.join(worst['columns'])}."
        yield (
            f"{k}-way marginals, worst TVD",
            worst["tvd"],
            worst["sampling"],
            worst["noise"],
            "lower",
            sentence,
        )
    scored = marginals[marginals["k"] == score_k]
    if len(scored):
        score, sampling = (k_marginal_score(scored[key].tolist()) for key in ("tvd", "sampling"))
        what = "marginal" if len(scored) == 1 else f"{len(scored)} marginals"
        sentence = (
            f"NIST's score of the {what} of {score_k} columns, 1000 for the real table itself."
        )
        yield "k-marginal score", score, sampling, NAN, "higher", sentence
        sentence = f"By that score it is as good as a random {percent(subsample)} of the real rows."
        yield "sub-sample equivalent", subsample, NAN, NAN, "higher", sentence


def _values(columns: pd.DataFrame) -> Iterator[Row]:
    for key, name, unit in (
        ("ks", "Kolmogorov-Smirnov", "largest difference of distribution functions"),
        (
            "wasserstein",
            "Wasserstein",
            "distance that values move, in standard deviations of the real ones",
        ),
    ):
        if columns[key].notna().any():
            worst = columns.loc[columns[key].idxmax(), "column"]
            sentence = f"Mean over numbers and dates: {unit}. The worst is {worst}."
            yield (
                f"{name}, mean",
                _mean(columns[key]),
                _mean(columns[f"{key}_sampling"]),
                NAN,
                "lower",
                sentence,
            )
    covered = float(columns["levels_covered"].mean())
    sentence = "Which share of a column's levels or bins that real rows have synthetic rows have too, on average."
    yield "levels covered", covered, NAN, NAN, "higher", sentence
    gap = float((columns["missing_synthetic"] - columns["missing_real"]).abs().mean())
    yield (
        "missing values, mean difference",
        gap,
        NAN,
        NAN,
        "lower",
        "Mean difference of the shares of missing values.",
    )


def _relations(sections: Mapping[str, pd.DataFrame]) -> Iterator[Row]:
    associations = sections["associations"]
    if associations["difference"].notna().any():
        gap = _mean(associations["difference"].abs())
        sampling = _mean(associations["sampling"])
        sentence = (
            "Mean difference of Cramer's V, correlation ratios and rank correlations of all pairs."
        )
        yield "associations, mean difference", gap, sampling, NAN, "lower", sentence
    for row in sections["propensity"].to_dict("records"):
        name = f"S_pMSE, {row['model']}"
        about = f": {row['columns']}" if row["columns"] else ""
        sentence = f"How well the model tells the tables apart{about}; 1 is a correct synthesis, above 10 is poor."
        yield name, row["s_pmse"], 1.0, NAN, "lower", sentence


def _learning(sections: Mapping[str, pd.DataFrame]) -> Iterator[Row]:
    for row in sections["prediction"].to_dict("records"):
        sentence = f"Trained on synthetic rows, tested on real ones; trained on real rows it is {row['real']:.3f}."
        yield (
            f"{row['target']}: {row['score']}, {row['model']}",
            row["synthetic"],
            row["real"],
            NAN,
            "higher",
            sentence,
        )
    regression = sections["regression"]
    if len(regression):
        sentence = "How much of the 95 % confidence intervals of coefficients overlaps, on average."
        yield (
            "confidence intervals, mean overlap",
            _mean(regression["overlap"]),
            NAN,
            NAN,
            "higher",
            sentence,
        )


def _rows(sections: Mapping[str, pd.DataFrame]) -> Iterator[Row]:
    if len(rules := sections["rules"]):
        broken = float(rules["share_synthetic"].max())
        real = float(rules["share_real"].max())
        words = "Share of the synthetic rows that break the rule that most of them break; of real rows under sampling."
        yield "rules broken, worst", broken, real, NAN, "lower", words
    if len(groups := sections["groups"]):
        worst: Mapping[str, Any] = groups.iloc[0].to_dict()
        sentence = f"The worst served group is {worst['by']} = {worst['level']}, {worst['rows_real']} real rows."
        yield "groups, worst mean TVD", worst["tvd_1"], worst["sampling_1"], NAN, "lower", sentence
    if len(queries := sections["queries"]):
        sentence = f"Mean error of your queries; the worst is {queries.iloc[0]['query']}."
        yield (
            "queries, mean error",
            _mean(queries["error"]),
            _mean(queries["sampling"]),
            NAN,
            "lower",
            sentence,
        )
    match = sections["matches"].iloc[0]
    sentence = "Share of synthetic rows that agree with a real one; sampling: by chance. It does not measure privacy."
    yield "exact matches", match["share"], match["expected_share"], NAN, "", sentence


def _mean(values: pd.Series) -> float:
    """The mean of what is there; NaN if nothing is."""
    numbers = values.to_numpy(np.float64)
    there = numbers[~np.isnan(numbers)]
    return float(there.mean()) if there.size else NAN
