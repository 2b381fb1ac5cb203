"""What a run that is done says: its guarantee, its cautions, and what in its table to distrust."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from synthdp.cli.projects.columns import columns_named, placed
from synthdp.cli.projects.contents import Contents
from synthdp.cli.projects.declared import kinds_of
from synthdp.cli.projects.mending import MENDED_IN, Subject, doubts, subjects
from synthdp.cli.projects.project import OpenProject
from synthdp.cli.projects.runs import (
    dialect_of_run,
    first_synthetic_rows,
    is_changed,
    is_hidden,
    published_files,
)
from synthdp.cli.shared.jobs import DONE
from synthdp.release.certificate.meaning import FALSE_POSITIVES, protection_of
from synthdp.schema.questions import answers_of_kind

LOOSE = 0.05
"""The share of rows in a wrong place of two columns from which on rows are not to be trusted."""


def outcome(opened: OpenProject) -> dict[str, Any]:
    """What the last run says if it is done, else as little as one without a guarantee.

    ``result`` as the command says it; ``pair``, the epsilon and delta of its guarantee;
    ``recognised``, the share of persons who may be; ``cautions``, each with its columns (see
    `_mended`) and the step that mends it; ``doubted`` columns, and the codes of ``doubts``
    about all of them; whether what stands together in a row ``is_loose``, and if so, which
    two columns go together ``worst``, by a figure that noise does not hide.
    """
    result = (opened.run.result if opened.run.state == DONE else None) or {}
    numbers = re.findall(r"[0-9][0-9.e+-]*", f"{result.get('guarantee', '')}".partition(")")[0])
    is_private = result.get("is_private")
    cautions = result.get("cautions", ())
    names, codes = doubts(cautions)
    names += contents_of(opened).lost()
    quality = result.get("quality") or {}
    return {
        "result": result,
        "pair": [*map(float, numbers)],
        "recognised": protection_of(result).true_positives(FALSE_POSITIVES) if is_private else 0,
        "cautions": [
            (each, _mended(opened, each), MENDED_IN.get(each.code)) for each in subjects(cautions)
        ],
        "doubted": columns_named(opened, names),
        "doubts": codes,
        "is_loose": _is_loose(quality.get("pairs")),
        "worst": _worst(opened, quality) if _is_loose(quality.get("pairs")) else {},
    }


def _mended(opened: OpenProject, said: Subject) -> list[tuple[str, str, str, Sequence[str]]]:
    """The columns of a caution (see `columns_named`), and which answers about each may mend it."""
    kinds = {at: answers_of_kind(kind)["kind"] for at, *_, kind in placed(kinds_of(opened))}
    named = columns_named(opened, said.shares)
    return [(name, as_said, at, said.fields(kinds[at])) for name, as_said, at in named]


def first_rows_said(opened: OpenProject, words: Callable[..., str]) -> dict[str, list[list[str]]]:
    """The first synthetic rows, by the names of the tables, below the names of columns; after those
    of one table stands what is in all of them, in words (see `Contents.facts`).
    """
    facts = contents_of(opened).facts(words)
    tables = first_synthetic_rows(opened)
    return {name: [*rows, facts] if facts else rows for name, rows in tables.items()}


def contents_of(opened: OpenProject) -> Contents:
    """What was released of the table of the last run; nothing before it is done, or of linked ones."""
    files = {} if opened.project.is_linked else published_files(opened)
    return Contents(files, dialect_of_run(opened))


def _is_loose(pairs: Mapping[str, float] | None) -> bool:
    """Whether the error of pairs of columns is large, or noise hides it; False if not measured.

    >>> [_is_loose({"error": error, "stddev": 0.002}) for error in (0.049, 0.05)]
    [False, True]
    """
    return pairs is not None and (pairs["error"] >= LOOSE or is_hidden(pairs))


def _worst(opened: OpenProject, quality: Mapping[str, Any]) -> dict[str, str]:
    """The two columns of which the rows are furthest off together, if noise does not hide it."""
    said = quality.get("worst_pair")
    if not said or is_hidden(said) or said["error"] < LOOSE:
        return {}
    names = [shown for shown, _, _ in columns_named(opened, said["columns"])]
    return dict(zip(("one", "other"), names, strict=True)) if len(names) == 2 else {}


def is_outdated(opened: OpenProject) -> bool:
    """Whether there is a result of what was declared before it was changed."""
    return opened.run.state == DONE and is_changed(opened)
