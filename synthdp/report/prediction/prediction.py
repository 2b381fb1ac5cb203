"""Train on synthetic, test on real: what a model learns from synthetic rows, against what it learns
from real ones.
"""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import MissingExtraError
from synthdp.report.metrics.columns import fewer_rows
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.prediction.design import Design, Indicators, affordable_rows, predictors
from synthdp.report.prediction.targets import Target

MAX_TEST_ROWS, TEST_SHARE = 20_000, 1 / 3
"""A third of the real rows is held out for testing, and no more than so many."""

ROC_POINTS = 101
"""A curve is kept at so many false-positive rates."""

LINEAR, TREES = "linear", "boosted trees"

PREDICTION = ["target", "model", "score", "real", "synthetic", "baseline"]
ROC = ["target", "model", "trained_on", "fpr", "tpr"]


def import_sklearn() -> Any:
    """scikit-learn with what is used of it; raises `MissingExtraError` if it is not installed."""
    try:
        import sklearn.ensemble
        import sklearn.exceptions
        import sklearn.linear_model
        import sklearn.metrics
    except ImportError:
        raise MissingExtraError(
            "predictions need scikit-learn; run: pip install 'synthdp[report]'"
        ) from None
    return sklearn


def one_thread() -> AbstractContextManager[object]:
    """While it is entered, scikit-learn and linear algebra use one thread; raises as
    `import_sklearn` does.

    Matrices are small here: more threads save little on a quiet machine, and on a busy one they
    wait for each other.
    """
    import_sklearn()  # limits are those of libraries that are loaded
    from threadpoolctl import threadpool_limits  # scikit-learn needs it, too

    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


@final
@dataclass(frozen=True)
class Split:
    """Real rows to train on and to test on, and synthetic rows to train on; as many of the latter
    as there are.
    """

    real: ReadTable
    test: ReadTable
    synthetic: ReadTable

    @classmethod
    def from_tables(
        cls, real: ReadTable, synthetic: ReadTable, target: Target, rng: np.random.Generator
    ) -> "Split":
        """The rows with a value of the target, drawn at random."""
        with_value = target.with_value(real)
        order = rng.permutation(with_value.n_rows)
        n_test = min(int(with_value.n_rows * TEST_SHARE), MAX_TEST_ROWS)
        test, rest = (
            with_value.take(order[:n_test]),
            # Training rows of both tables are as many, or the larger table would seem better for
            # its size.
            with_value.take(order[n_test:][: affordable_rows(real)]),
        )
        return cls(rest, test, fewer_rows(target.with_value(synthetic), rest.n_rows, rng))


def compared_predictions(
    real: ReadTable, synthetic: ReadTable, target: Target, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How well two models predict one target in held-out real rows.

    Returns
    -------
    tuple
        Scores: ``score`` is AUC for two classes, macro F1 for more, R2 for numbers; ``real`` and
        ``synthetic`` say what the model was trained on, ``baseline`` is what a model without
        predictors scores. And for two classes points of the ROC curves.
    """
    sklearn = import_sklearn()
    split = Split.from_tables(real, synthetic, target, rng)
    truth = target.values(split.test)
    score = "R2" if not target.is_classes else "AUC" if len(target.classes) == 2 else "macro F1"
    rows, curves = [], []
    for model in (LINEAR, TREES):
        features = _features(model, real, split, target)
        scores = {}
        # Both are tested on the same real rows, which neither has seen.
        for trained_on in ("real", "synthetic"):
            train = getattr(split, trained_on)
            fit = _model(sklearn, model, target, features.get("levels"))
            answer = _predicted(
                sklearn, fit, features[trained_on], target.values(train), features["test"], target
            )
            scores[trained_on] = _score(sklearn, score, truth, answer, len(target.classes))
            if score == "AUC":
                curves += [
                    (target.name, model, trained_on, *point)
                    for point in _roc(sklearn, truth, answer)
                ]
        rows.append(
            (
                target.name,
                model,
                score,
                scores["real"],
                scores["synthetic"],
                _baseline(score, len(target.classes)),
            )
        )
    return pd.DataFrame(rows, columns=PREDICTION), pd.DataFrame(curves, columns=ROC)


def _features(model: str, real: ReadTable, split: Split, target: Target) -> dict[str, Any]:
    """What a model takes of each table: a design matrix, or for trees numbers and levels as they
    are.
    """
    names = predictors(real, target.name)
    tables = {"real": split.real, "test": split.test, "synthetic": split.synthetic}
    if model == LINEAR:
        # The real rows settle the columns, so that all models are of the same ones.
        design = Design.from_table(split.real, names)
        return {key: design.matrix(table)[:, 1:] for key, table in tables.items()}
    levels = {
        name: Indicators.from_table(split.real, name) for name in names if name not in real.numbers
    }
    features: dict[str, Any] = {
        key: np.column_stack(
            [
                table.numbers[name]
                if name in table.numbers
                else levels[name].places[table[name]] + 1.0
                for name in names
            ]
        )
        for key, table in tables.items()
    }
    return features | {"levels": [name in levels for name in names]}


def _predicted(
    sklearn: Any, model: Any, features: Any, outcome: NDArray[Any], test: Any, target: Target
) -> NDArray[np.float64]:
    """What a model that was trained predicts: the chance of the second class, classes, or numbers."""
    # A synthetic table of one class is a bad table, not an error.
    if len(np.unique(outcome)) < 2:  # nothing to learn from
        constant = float(outcome[0]) if len(outcome) else 0.0
        return np.full(test.shape[0], constant)
    # the score says how good a fit is that ended early
    with warnings.catch_warnings(action="ignore", category=sklearn.exceptions.ConvergenceWarning):
        fitted = model.fit(features, outcome)
    if len(target.classes) == 2:
        return np.asarray(fitted.predict_proba(test)[:, 1], dtype=np.float64)
    return np.asarray(fitted.predict(test), dtype=np.float64)


def _model(sklearn: Any, model: str, target: Target, levels: list[bool] | None) -> Any:
    """A model that is not fitted yet; ``levels`` says of each feature whether it is levels."""
    if model == LINEAR:
        if target.is_classes:
            return sklearn.linear_model.LogisticRegression(max_iter=200)
        return sklearn.linear_model.Ridge()
    kind = (
        "HistGradientBoostingClassifier" if target.is_classes else "HistGradientBoostingRegressor"
    )
    return getattr(sklearn.ensemble, kind)(
        # Without early stopping, which would hold out rows of its own, and with a fixed seed, so
        # that a report repeats.
        categorical_features=levels,
        random_state=0,
        early_stopping=False,
    )


def _score(
    sklearn: Any, score: str, truth: NDArray[Any], answer: NDArray[np.float64], n_classes: int
) -> float:
    if score == "AUC":
        if len(np.unique(truth)) == 2:
            return float(sklearn.metrics.roc_auc_score(truth, answer))
        return float("nan")
    if score == "macro F1":
        labels = np.arange(n_classes)
        return float(
            sklearn.metrics.f1_score(truth, answer, labels=labels, average="macro", zero_division=0)
        )
    return float(sklearn.metrics.r2_score(truth, answer))


def _baseline(score: str, n_classes: int) -> float:
    """What a model without predictors scores: guesses in proportion to the classes, or the mean."""
    return {"AUC": 0.5, "macro F1": 1 / max(n_classes, 1)}.get(score, 0.0)


def _roc(
    sklearn: Any, truth: NDArray[Any], answer: NDArray[np.float64]
) -> Iterator[tuple[float, float]]:
    """Points of the curve at even false-positive rates."""
    if len(np.unique(truth)) < 2:
        return
    fpr, tpr, _ = sklearn.metrics.roc_curve(truth, answer)
    grid = np.linspace(0.0, 1.0, ROC_POINTS)
    yield from zip(grid.tolist(), np.interp(grid, fpr, tpr).tolist(), strict=True)
