"""Figures as SVG inside a page: small, the same every time, and with words for those who cannot see
them.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from io import StringIO
from typing import Any, final

from synthdp.core.imports import import_extra

Paint = Callable[[Any], None]
"""Draws on axes of matplotlib."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, which colour-blind people tell apart; tables after the sixth begin again with
other marks.
"""

DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
MARKS = ("o", "s", "^", "D", "v", "P")
"""Lines and marks that differ like the colours, for prints in black."""

GREY, DARK, LIGHT = "#b8b8b8", "#333333", "#e4e4e4"

WIDTH = 4.6
"""Inches of a picture: about the width of a phone, where its text is as large as the page's
smallest.
"""

_STYLE = {
    "axes.edgecolor": "#777777",
    "axes.labelcolor": DARK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "image.composite_image": False,
    "path.simplify": True,
    "svg.fonttype": "none",
    "text.color": DARK,
    "text.parse_math": False,
    "xtick.color": "#555555",
    "xtick.labelsize": 8,
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.color": "#555555",
    "ytick.labelsize": 8,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
}
"""Texts stay texts, which readers find and hear; a level such as "$5" is no formula."""

_ROOT = re.compile(r'<svg[^>]*?viewBox="([^"]*)"[^>]*>')
_LEFT_OUT = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>"
    r'| transform="rotate\(-?0 [^"]*"| id="(?!(?:[pmhc]|image)[0-9a-f]{6,}")[^"]*"| xmlns:xlink="[^"]*"',
    re.DOTALL,
)
"""Comments, a style that pages have themselves, and names of groups, which would come twice on a
page.
"""
_FONT = re.compile(r"font: [^;\"]*?([\d.]+px) [^;\"]+|font-family: [^;\"]+; ")
_THEMED = {
    "#333333": "dark",
    "#555555": "label",
    "#777777": "reference",
    "#b8b8b8": "bar",
    "#eeeeee": "grid",
    **{colour.lower(): f"c{place}" for place, colour in enumerate(COLOURS)},
}
"""Colours that a page may set anew, where the system asks for dark pages, by the names that it
knows them by.
"""
_COLOUR = re.compile("|".join(_THEMED), re.IGNORECASE)
_PATH = re.compile(r' d="[^"]*"')
_DIGITS = re.compile(r"(\.\d)\d+")


def import_matplotlib() -> Any:
    """matplotlib with what is used of it; raises `MissingExtraError` if it is not installed."""
    missing = (
        "matplotlib is not installed, which draws the pictures; run: pip install 'synthdp[report]'"
    )
    for name in ("figure", "style", "collections", "ticker"):
        import_extra(f"matplotlib.{name}", missing)
    return import_extra("matplotlib", missing)


@final
@dataclass(frozen=True)
class Words:
    """What a chart is called, and what it shows, for those who cannot see it."""

    title: str
    description: str


def drawn(
    words: Words,
    paint: Paint,
    *,
    height: float = 2.4,
    margins: tuple[float, float, float, float] = (0.55, 0.42, 0.12, 0.1),
) -> str:
    """A chart as an element ``<svg>``.

    Parameters
    ----------
    words
        Its title and description.
    paint
        Draws it on axes of matplotlib.
    height
        In inches; it is `WIDTH` wide, and grows with the page.
    margins
        Inches left, below, right and above the axes.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    matplotlib = import_matplotlib()
    left, below, right, above = margins
    key = sha256(f"{words.title}\0{words.description}".encode()).hexdigest()[:10]
    stream = StringIO()
    # fonts of this machine lack letters that those of the reader's browser have
    with matplotlib.rc_context(), warnings.catch_warnings(action="ignore", category=UserWarning):
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE | {"svg.hashsalt": key})
        figure = matplotlib.figure.Figure(figsize=(WIDTH, height), frameon=False)
        place = (
            left / WIDTH,
            below / height,
            1 - (left + right) / WIDTH,
            1 - (below + above) / height,
        )
        axes = figure.add_axes(place, frame_on=True)
        axes.patch.set_visible(False)
        paint(axes)
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(stream.getvalue(), words)


def _inline(text: str, words: Words) -> str:
    """The file that matplotlib writes as an element of a page, without what only files need."""
    box = _ROOT.search(text)
    if box is None:
        raise ValueError("the picture is no SVG of a kind that is known")
    body = _LEFT_OUT.sub("", text[box.end() :])
    body = _FONT.sub(lambda match: f"font-size: {match[1]}" if match[1] else "", body)
    body = _PATH.sub(lambda match: " " + _DIGITS.sub(r"\1", " ".join(match[0].split())), body)
    body = re.sub(r"\s*\n\s*", "\n", body.replace("<g/>", "")).strip()
    body = themed(body)
    heading = f"<title>{escape(words.title)}</title><desc>{escape(words.description)}</desc>"
    label = escape(f"{words.title}. {words.description}")
    return f'<svg class="chart" role="img" aria-label="{label}" viewBox="{box[1]}">{heading}{body}'


def themed(text: str) -> str:
    """Colours in CSS so that the style of a page can set them anew; without one they stay.

    >>> themed("fill: #0072b2")
    'fill: var(--c0, #0072b2)'
    """
    return _COLOUR.sub(lambda match: f"var(--{_THEMED[match[0].lower()]}, {match[0]})", text)


def start_of(label: str) -> str:
    """Where a bin begins; other labels as they are.

    >>> start_of("[2000-01-01, 2000-02-01)"), start_of("1,5 .. 2,4"), start_of("missing")
    ('2000-01-01', '1,5', 'missing')
    """
    match = re.fullmatch(r"[\[(](.+), .+[\])]|(.+) \.\. .+", label)
    return (match[1] or match[2]).removesuffix(".0") if match else label


def shortened(text: str, most: int = 18) -> str:
    """A label that fits beside a picture; control characters, which no SVG may hold, become blanks.

    >>> shortened("elementary, lower secondary"), shortened("primary")
    ('elementary, lower…', 'primary')
    """
    clean = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return clean if len(clean) <= most else f"{clean[: most - 1].rstrip()}…"
