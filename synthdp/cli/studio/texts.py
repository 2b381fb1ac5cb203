"""What the pages say, in the reader's language: one catalogue a language, each a file."""

import json
from collections.abc import Iterable
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
        floats = {
            name: self.number(each, "%g") for name, each in given.items() if isinstance(each, float)
        }
        return self._sentences[key].format(**given | floats)

    def named(self, group: str, name: str, usual: str | None = None) -> str:
        """What something is called, such as a kind of columns; else what is usual, or its own name."""
        return self._sentences.get(f"{group}.{name}", name if usual is None else usual)

    def number(self, value: float, form: str = "%.2g") -> str:
        """A number as the language writes it.

        >>> Texts("de").number(0.25), Texts("de").number(1e-06)
        ('0,25', '0,000001')
        """
        text = form % value
        if "e" in text:
            text = f"{float(text):.20f}".rstrip("0").rstrip(".")
        return text.replace(".", self("decimal"))

    def words(self, group: str) -> dict[str, str]:
        """All that is called something in a group."""
        named = self._sentences.items()
        return {
            key.removeprefix(f"{group}."): text
            for key, text in named
            if key.startswith(f"{group}.")
        }


def languages() -> tuple[str, ...]:
    """The languages that there are catalogues of."""
    return tuple(sorted(path.stem for path in CATALOGUES.glob("*.json")))


def preferred(asked: Iterable[str]) -> str:
    """The first language of a list that we have, as browsers write what their readers prefer.

    >>> preferred(["", "fr-CH", " de;q=0.9", "en;q=0.8"])
    'de'
    """
    names = (each.strip()[:2].lower() for each in asked)
    return next((name for name in names if name in languages()), USUAL)


@cache
def _catalogue(language: str) -> Any:
    return json.loads((CATALOGUES / f"{language}.json").read_text(encoding="utf-8"))
