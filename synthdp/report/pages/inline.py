"""Verdicts and pictures inside a notebook: HTML without a page around it, in the notebook's
colours.
"""

from collections.abc import Sequence
from html import escape

from synthdp.report.pages.verdict import FIRST
from synthdp.report.pages.verdicts import Verdict
from synthdp.report.rendering.page import kept_together
from synthdp.report.rendering.section import Mark, Picture

N_PICTURES = 3
"""Columns that a notebook shows, the worst ones."""

_COLOURS = (
    "--dark:currentColor;--label:currentColor;--reference:currentColor;--bar:#9aa0a6;--c0:#3b8fd4"
)
"""Charts take the colour of a notebook's text, light or dark, and others that both let through."""

_BOX = "border:1px solid;border-radius:4px;padding:.3em .7em;min-width:8em"


def inline_verdict(name: str, verdict: Verdict) -> str:
    """What is caption first of one synthetic table."""
    groups = "".join(
        f'<div><div style="opacity:.8">{_text(group)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.5em">{"".join(map(_mark, marks))}</div></div>'
        for group, marks in verdict.marks.items()
        if marks
    )
    points = "".join(f"<li>{_text(point)}</li>" for point in verdict.points)
    return (
        f"<p><strong>{_text(name)}: {_text(verdict.grade)}</strong> {_text(verdict.sentence)}</p>"
        f'<div style="display:flex;flex-wrap:wrap;gap:.8em 2em">{groups}</div>'
        f"<p><strong>{FIRST}</strong></p><ul>{points}</ul>"
    )


def _mark(mark: Mark) -> str:
    return (
        f'<div style="{_BOX}">{_text(mark.name)}<br><strong style="font-size:1.4em">{_text(mark.value)}</strong>'
        f'<br><span style="opacity:.8">{_text(mark.beside)}</span></div>'
    )


def _text(text: str) -> str:
    return escape(kept_together(text))


def inline_pictures(pictures: Sequence[Picture]) -> str:
    """Charts side by side: grey is the real table, a line or marks are the synthetic ones."""
    figures = "".join(
        f'<figure style="margin:0;width:20em;max-width:100%"><figcaption><strong>{_text(each.title)}</strong> '
        f'<span style="opacity:.8">{_text(each.note)}</span></figcaption>{each.svg}</figure>'
        for each in pictures
    )
    caption = "The worst columns: grey is the real table, a line or a mark a synthetic one."
    return f'<p>{caption}</p><div style="display:flex;flex-wrap:wrap;gap:1em;{_COLOURS}">{figures}</div>'
