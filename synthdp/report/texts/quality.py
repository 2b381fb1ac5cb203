"""How far a table is from the records, as it was measured under the budget, in words."""

from collections.abc import Mapping
from typing import Any

from synthdp.core.event_words import columns_in_words
from synthdp.core.percent import percent

SURE = 2.0
"""Standard deviations that are said beside an error: it lies that near in 95 of 100 releases."""

_SIZES = {"columns": "single columns", "pairs": "pairs", "triples": "triples"}


def quality_line(quality: Mapping[str, Any]) -> str:
    """What was measured, in one line.

    >>> pairs = {"error": 0.0213, "stddev": 0.0006, "n_marginals": 105, "n_all": 105}
    >>> quality_line({"table": {"n_rows": 45222, "seed": 0}, "pairs": pairs})
    '2.1 % of rows off in pairs (+- 0.12)'
    """
    measured = {what: quality[name] for name, what in _SIZES.items() if name in quality}
    errors = [f"{percent(each['error'])} in {what}" for what, each in measured.items()]
    errors[0] = errors[0].replace(" % in", " % of rows off in")
    margin = 100 * SURE * max(each["stddev"] for each in measured.values())
    line = f"{', '.join(errors)} (+- {margin:.2g})"
    predicted = prediction_line(quality.get("prediction", {}))
    return f"{line}; {predicted}" if predicted else line


def model_facts(certificate: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a target is drawn, and which of several models was taken; nothing of what there is not."""
    target = certificate.get("engine", {}).get("target")
    lines = [("target", target), ("chosen model", choice_line(certificate))]
    return [(name, line) for name, line in lines if line]


def choice_line(certificate: Mapping[str, Any]) -> str:
    """Which of several models was taken, in a line; empty if there was no choice.

    >>> errors = [{"engine": "columns", "error": 0.31}, {"engine": "gum", "error": 0.0824}]
    >>> choice_line({"choice": {"chosen": "gum", "candidates": errors, "stddev": 0.0015}})
    'gum: columns 31 %, gum 8.2 % (+- 0.3)'
    """
    choice = certificate.get("choice")
    if not choice:
        return ""
    if len(choice["candidates"]) == 1:
        return f"{choice['chosen']}: no other model draws another table"
    if choice["stddev"] is None:
        return f"{choice['chosen']}: noise hides how good any model is"
    errors = [f"{each['engine']} {percent(each['error'])}" for each in choice["candidates"]]
    return f"{choice['chosen']}: {', '.join(errors)} (+- {100 * SURE * choice['stddev']:.2g})"


def prediction_line(prediction: Mapping[str, Any]) -> str:
    """How well a model of synthetic rows predicts the records, in a line; empty if nothing was
    measured.

    >>> auc = {"value": 0.8512, "stddev": 0.002, "of_synthetic_rows": 0.86}
    >>> prediction_line({"target": "income", "auc": auc})
    'AUC 0.851 (+- 0.004) for income'
    """
    if "auc" not in prediction:
        return ""
    auc = prediction["auc"]
    return f"AUC {auc['value']:.3f} (+- {SURE * auc['stddev']:.1g}) for {prediction['target']}"


def _prediction_facts(prediction: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was measured of predictions, or why nothing was."""
    if not prediction:
        return []
    if "left_out" in prediction:
        return [("prediction", f"of {prediction['target']} not measured: {prediction['left_out']}")]
    accuracy = prediction["accuracy"]
    calibration = prediction["calibration"]
    same = 100 * accuracy["of_the_larger_label"]
    drawn = prediction["auc"]["of_synthetic_rows"]
    right = f"{100 * accuracy['value']:.1f} % (+- {100 * SURE * accuracy['stddev']:.1g})"
    share = f"{100 * calibration['share']:.1f} %"
    predicted = (
        f"{100 * calibration['predicted']:.1f} % (+- {100 * SURE * calibration['stddev']:.1g})"
    )
    return [
        ("prediction", f"of {prediction['positive']}, by a {prediction['model']}"),
        ("", f"fitted to {prediction['n_rows']:,} synthetic rows, tried on the records"),
        ("", f"{prediction_line(prediction)}; {drawn:.3f} in the synthetic rows themselves"),
        ("", f"right in {right} of records, where one answer for all is in {same:.1f} %"),
        ("", f"it is so in {share} of records, and is predicted of {predicted}"),
    ]


def quality_facts(quality: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and texts for a list of what a certificate says; nothing where nothing was measured."""
    if not quality:
        return []
    drawn = quality["table"]
    facts = [
        ("quality", quality_line(quality)),
        ("", "measured under the budget: the share of rows that would have to change"),
        ("", f"of {drawn['n_rows']:,} rows that seed {drawn['seed']} draws"),
    ]
    for name in ("pairs", "triples"):
        measured = quality.get(name)
        if measured and measured["n_marginals"] < measured["n_all"]:
            numbers = f"{measured['n_marginals']:,} of {measured['n_all']:,}"
            facts.append(("", f"{name}: a public sample, {numbers}"))
    if "worst_pair" in quality:
        worst = quality["worst_pair"]
        facts.append(("worst pair", f"{columns_in_words(worst['columns'])}: {_off(worst)}"))
    return facts + _prediction_facts(quality.get("prediction", {}))


def _off(measured: Mapping[str, float]) -> str:
    """An error in per cent, with twice its standard deviation."""
    error = 100 * measured["error"]
    margin = 100 * SURE * measured["stddev"]
    return f"{error:.2g} % off (+- {margin:.2g})"
