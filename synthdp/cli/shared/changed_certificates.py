"""What a command says of a certificate whose content is not what a release writes."""

from collections.abc import Iterator
from contextlib import contextmanager

from synthdp.core.errors import DataFileError, SynthdpError


@contextmanager
def refuse_changed_certificates(message: str) -> Iterator[None]:
    """Raise `DataFileError` with this message for whatever goes wrong inside by a certificate's
    content.

    Errors of the library keep their own message, and memory that runs out is no fault of a file.
    """
    try:
        yield
    except (SynthdpError, MemoryError):
        raise
    except Exception:
        # Seals show damage, not intent: whoever changed a certificate could hash it anew. So its
        # content may be anything, and any error may follow from that.
        raise DataFileError(message) from None
