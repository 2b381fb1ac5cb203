"""One status line on a terminal; nothing elsewhere."""

from time import monotonic
from typing import Self, TextIO, final

CLEARED = "\r\x1b[K"
"""Takes a terminal to the beginning of the line, and the line away."""
_WIDTH = 24
"""Characters of the bar: with the stage's name the line fits a terminal of 80 columns."""
_SECONDS_BETWEEN_DRAWINGS = 0.05
"""Faster than that nobody sees a difference, and terminals on slow connections lag behind."""


@final
class StatusLine:
    """Draws what is going on and how far it is; a `synthdp.core.reporting.Report`.

    Parameters
    ----------
    stream
        Where it is drawn, if that is a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._active = stream.isatty()
        self._drawn_at = -1.0
        self._stage = ""

    def __call__(self, stage: str, done: int, most: int) -> None:
        """Show a stage and how many of its steps are done."""
        now = monotonic()
        if not self._active or (
            stage == self._stage and now - self._drawn_at < _SECONDS_BETWEEN_DRAWINGS
        ):
            return
        self._drawn_at, self._stage = now, stage
        filled = _WIDTH * done // max(most, 1)
        self._stream.write(f"{CLEARED}{stage:<18} [{'#' * filled}{'.' * (_WIDTH - filled)}]")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._active and self._stage:
            self._stream.write(CLEARED)
            self._stream.flush()
