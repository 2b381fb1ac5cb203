"""What models learn from synthetic rows, against what they learn from real ones."""

from collections.abc import Iterator

from synthdp.report.pages.view import PageView, spanned
from synthdp.report.rendering.charts import Curve, curves, key_of
from synthdp.report.rendering.figures import Words
from synthdp.report.rendering.section import Picture, Section

PREDICTION = {
    "target": "target",
    "model": "model",
    "score": "score",
    "real": "trained on real",
    "synthetic": "trained on synthetic",
    "baseline": "guessing",
}
REGRESSION = {
    "target": "target",
    "model": "model",
    "term": "term",
    "real": "real",
    "real_low": "low",
    "real_high": "high",
    "synthetic": "synthetic",
    "synthetic_low": "low",
    "synthetic_high": "high",
    "overlap": "overlap",
}


def prediction_section(view: PageView) -> Section:
    """Scores of models in held-out real rows, and ROC curves."""
    words = [
        "Models are trained on real or on synthetic rows and tested on real rows that were held out. AUC is for two "
        "classes, macro F1 for more, R2 for numbers; a score near that of guessing has learnt nothing.",
        *view.notes("prediction"),
    ]
    listings = view.listings("prediction", PREDICTION, "Scores; more is better.")
    keys = view.keys(key_of(-1, "trained on real rows"), "line")
    pictures = list(_roc_pictures(view))
    return Section(
        name="prediction",
        title="Prediction",
        words=words,
        keys=keys if pictures else [],
        pictures=pictures,
        listings=listings,
    )


def _roc_pictures(view: PageView) -> Iterator[Picture]:
    scores = view.sections["prediction"]
    for (target, model), points in view.sections["roc"].groupby(["target", "model"], sort=False):
        own = scores[(scores["target"] == target) & (scores["model"] == model)].set_index("table")
        real = points[(points["table"] == view.names[0]) & (points["trained_on"] == "real")]
        lines = [Curve(x=real["fpr"], y=real["tpr"], place=-1)]
        for place, name in enumerate(view.names):
            curve = points[(points["table"] == name) & (points["trained_on"] == "synthetic")]
            if len(curve):
                lines.append(Curve(x=curve["fpr"], y=curve["tpr"], place=place))
        note = f"AUC {spanned(own['synthetic'])}, of real rows {spanned(own['real'])}"
        words = Words(
            f"ROC of {target}, {model}", f"True-positive rate against false-positive rate. {note}."
        )
        svg = curves(
            words, lines, labels=("false-positive rate", "true-positive rate"), fixed=(-0.01, 1.01)
        )
        yield Picture(svg=svg, title=f"{target}, {model}", note=note)


def regression_section(view: PageView) -> Section:
    """Coefficients of regressions, and how much their intervals overlap."""
    words = [
        "Coefficients of main-effects models with 95 % intervals. Overlap 1 is the same interval, 0 is apart. "
        "Intervals ignore that the rows are synthetic: do not publish them as they are.",
        *view.notes("regression"),
    ]
    listings = view.listings(
        "regression", REGRESSION, "Terms, those that overlap least first in each model."
    )
    return Section(name="regression", title="Regression", words=words, listings=listings)
