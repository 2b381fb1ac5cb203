"""What the pages say, in the reader's language: one catalogue a language, each a file."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import final

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
        self._sentences = _catalogue(language)

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
    """The first language of a browser's list that we have.

    >>> preferred("fr-CH, de;q=0.9, en;q=0.8")
    'de'
    """
    weighed = []
    for place, part in enumerate(accepted.split(",")):
        match = re.fullmatch(r"\s*([A-Za-z]{1,8})[-\w]*\s*(?:;\s*q=([01](?:\.\d{1,3})?))?\s*", part)
        if match is not None and match[1].lower() in languages():
            weighed.append((-float(match[2] or 1), place, match[1].lower()))
    return min(weighed)[2] if weighed else USUAL


@cache
def _catalogue(language: str) -> Mapping[str, str]:
    content = (CATALOGUES / f"{language}.json").read_text(encoding="utf-8")
    sentences: Mapping[str, str] = json.loads(content)
    return sentences
