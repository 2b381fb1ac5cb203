"""Which run a release is of: a random identifier, and when its answers were given."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, final


@final
@dataclass(frozen=True, kw_only=True)
class RunIdentity:
    """Which run a release is of, and when its answers were given: public, whatever the records are."""

    run: str
    """Its identifier: random, in hexadecimal."""
    when: str | None
    """When it began, in UTC, before it read a record; None if nobody noted it."""
    resumed: tuple[str, ...] = ()
    """The days on which it was gone on with after it had been stopped."""
    replayed: str | None = None
    """When all of it came from its journal again; None if it did not."""
    rescued: str | None = None
    """When it became a release without its run; None if it did not."""
    is_asked: bool = False
    """Whether it is charged to a budget, which sees to it that no copy of its journal becomes
    another release.
    """

    def to_dict(self) -> dict[str, Any]:
        """What a certificate says of it, as plain JSON values."""
        content: dict[str, Any] = {
            "id": self.run,
            "released": self.when,
            "is_charged_to_budget": self.is_asked,
        }
        if self.resumed:
            content |= {"resumed": list(self.resumed)}
        if self.rescued:
            content |= {"rescued": self.rescued}
        return content | ({"replayed": self.replayed} if self.replayed else {})


def new_run() -> str:
    """An identifier for a run: random, of the operating system, in hexadecimal. It says nothing of
    the records.
    """
    return secrets.token_hex(16)


def now() -> str:
    """Date and time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
