"""What the pages say, in the reader's language: one catalogue a language, each a file."""

import json
from functools import cache
from pathlib import Path
from typing import Any, final

CATALOGUES = Path(__file__).parent / "texts"
"""Where they lie."""

USUAL = "en"
"""The language of whoever asks for none of ours."""


@final
class Texts:
    """The sentences of one language; a page asks for them by key.

    >>> Texts("en")("go_on")
    'Save and go on'
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._sentences: dict[str, str] = _catalogue(language)

    def __call__(self, key: str, **given: object) -> str:
        """A sentence, with what is given in the places that it has for it."""
        return self._sentences[key].format(**given)

    def named(self, group: str, name: str) -> str:
        """What something is called, such as a kind of columns; its own name if it has no other."""
        return self._sentences.get(f"{group}.{name}", name)

    def has(self, key: str) -> bool:
        """Whether there is such a sentence: not everything needs an explanation."""
        return key in self._sentences


def languages() -> tuple[str, ...]:
    """The languages that there are catalogues of."""
    return tuple(sorted(path.stem for path in CATALOGUES.glob("*.json")))


def preferred(accepted: str) -> str:
    """The first language of a browser's list that we have: browsers begin with the one they prefer.

    >>> preferred("fr-CH, de;q=0.9, en;q=0.8")
    'de'
    """
    asked = (part.strip()[:2].lower() for part in accepted.split(","))
    return next((each for each in asked if each in languages()), USUAL)


@cache
def _catalogue(language: str) -> Any:
    return json.loads((CATALOGUES / f"{language}.json").read_text(encoding="utf-8"))
