"""What a command prints: text or JSON on standard output."""

import re
import sys

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import reason

_CONTROLS = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that move a terminal's cursor, clear it, turn the direction of what follows, or that
UTF-8 cannot say.
"""


def print_text(text: str) -> None:
    """Write text or JSON to standard output and notice if that fails; a terminal obeys nothing that
    it holds.
    """
    try:
        sys.stdout.write(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataFileError(
            f"standard output: it cannot be written: {reason(error)}; write it elsewhere"
        ) from None
