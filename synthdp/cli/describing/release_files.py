"""Explaining saved releases to people: the file, its model, and all that was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.model import Model
from synthdp.release.saving.pieces import Pieces
from synthdp.report.texts.listing import table, wrapped

_HEADER = ("measured", "cells", "sigma", "merged levels")
_NO_AUTHOR = "checksums hold, which does not say who wrote it"


def file_content(pieces: Pieces) -> dict[str, Any]:
    """All that a file holds but its arrays, as plain JSON values."""
    return {
        "file": dict(pieces.origin),
        "certificate": dict(pieces.certificate),
        "schema": pieces.schema.to_dict(),
        "measurements": [_measurement(each) for each in pieces.measurements],
        "model": None if pieces.model is None else _model(pieces.model),
    }


def _measurement(measurement: LinearMeasurement) -> dict[str, Any]:
    stddev = np.asarray(measurement.stddev)
    merged = {
        name: {"levels": len(groups), "groups": int(groups.max()) + 1}
        for name, groups in measurement.groups.items()
    }
    return {
        "columns": list(measurement.clique),
        "shape": list(measurement.values.shape),
        "stddev": [float(stddev.min()), float(stddev.max())] if stddev.ndim else float(stddev),
        "merged": merged,
    }


def _model(model: Model) -> dict[str, Any]:
    status = {
        "ended": model.status.ended,
        "n_iterations": model.status.n_iterations,
        "loss": model.status.loss,
    }
    return {
        "kind": model.kind,
        "n_rows": model.total,
        "cliques": [list(clique) for clique in model.cliques],
    } | status


def file_text(content: Mapping[str, Any], *, is_whole: bool) -> str:
    """What `file_content` says, for people; unless ``is_whole``, no single measurements and
    checksums.
    """
    measured = content["measurements"]
    facts = [_file_facts(content), _model_facts(content)]
    if not is_whole:
        most = max((len(each["columns"]) for each in measured), default=0)
        facts.append(("measured", f"{len(measured)} marginals of up to {most} columns"))
    listed = "\n".join(wrapped(f"{name:<18} {value}", indent=" " * 19) for name, value in facts)
    if not is_whole:
        return listed
    members = table(("member", "sha256"), list(content["file"]["sha256"].items()))
    return "\n\n".join([listed, table(_HEADER, [_row(each) for each in measured]), members])


def _file_facts(content: Mapping[str, Any]) -> tuple[str, str]:
    file = content["file"]
    saved = f", saved by {file['software']}; {_NO_AUTHOR}" if file["software"] else ""
    return "file", f"{file['format']}, {len(file['sha256'])} members{saved}"


def _model_facts(content: Mapping[str, Any]) -> tuple[str, str]:
    model = content["model"]
    if model is None:
        return "model", "none; one is fitted, by auto, when rows are asked for"
    engine = (content["certificate"].get("engine") or {}).get("name", "unknown")
    fit = f"{model['ended']} after {model['n_iterations']} iterations, loss {model['loss']:.4g}"
    refitted = ", refitted" if "refitted" in content["certificate"] else ""
    return "model", f"{model['kind']}, by {engine}{refitted}: {model['n_rows']:,.0f} rows, {fit}"


def _row(measurement: Mapping[str, Any]) -> Sequence[str]:
    stddev = measurement["stddev"]
    shape = measurement["shape"]
    sigma = " to ".join(
        f"{each:.4g}" for each in (stddev if isinstance(stddev, list) else [stddev])
    )
    merged = ", ".join(
        f"{name} {each['levels']} to {each['groups']}"
        for name, each in measurement["merged"].items()
    )
    cells = f"{int(np.prod(shape)):,}"
    return " x ".join(measurement["columns"]) or "all rows", cells, sigma, merged
