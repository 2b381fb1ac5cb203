"""What a form asks besides columns: one input after the other, as any page or script may show it;
and the texts and numbers that it is answered by.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, final

from synthdp.cli.projects.project import ProjectError
from synthdp.core.errors import ParameterError
from synthdp.schema.questions import number_or_text, whole_number

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


def text_said(answers: Mapping[str, Sequence[str]], name: str) -> str:
    """The first answer of a name; empty if there is none."""
    return next(iter(answers.get(name, ())), "")


def number_said(answers: Mapping[str, Sequence[str]], name: str, *, usual: float = 0.0) -> float:
    """A number that is answered, with a comma or a point; raises `ProjectError` if it is none.

    >>> number_said({"epsilon": ["0,5"]}, "epsilon")
    0.5
    """
    text = re.sub(r"\s", "", text_said(answers, name))
    number = number_or_text(text) if text else usual
    if isinstance(number, str):
        raise ProjectError("number", f"{name} is {text!r}; give a number", text=text)
    return float(number)


def whole_said(answers: Mapping[str, Sequence[str]], name: str, *, usual: int = 0) -> int:
    """A whole number that is answered; marks between groups of digits are left out. Raises
    `ProjectError` if it is none.
    """
    text = text_said(answers, name)
    try:
        return whole_number(name, text) if text else usual
    except ParameterError as error:
        raise ProjectError("whole", str(error), text=text) from None
