"""What a form asks besides columns: one input after the other, as any page or script may show it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, final

TEXT, CHOICE, TICK, ONE_OF = "text", "choice", "checkbox", "radio"
"""How something is answered: in words, by one of its options, by ticking it, or it and no other."""


@final
class Asked(NamedTuple):
    """An input of a form."""

    name: str
    ask: str = ""
    """What is asked, by the key of its words."""
    label: str = ""
    """A name or level that is asked about, where no words are."""
    form: str = TEXT
    value: str = ""
    """What it is answered by if it is ticked."""
    options: Mapping[str, str] = {}
    """What it may be answered by, each with how it is shown."""
    given: Sequence[str] = ()
    """What was answered."""

    @property
    def text(self) -> str:
        """The first answer; empty if there is none."""
        return next(iter(self.given), "")


def choices(names: Iterable[str]) -> dict[str, str]:
    """Options that are shown as they are, or none of them.

    >>> choices(["age"])
    {'': '—', 'age': 'age'}
    """
    return {"": "—"} | {name: name for name in names}
