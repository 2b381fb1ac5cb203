"""Formats of dates as people write them, such as dd.mm.yyyy, in the words of `datetime.strftime`."""

import re

_TOKENS = re.compile(
    r"'[^']*'|HH24|HH12|MONTH|MON|MI|(?P<letter>[A-Za-z])(?P=letter)*|.", re.IGNORECASE | re.DOTALL
)
"""A quoted text, a word of databases, a letter as often as it repeats, or any other character."""

_YEAR, _DAY = {2: "%y", 4: "%Y"}, {2: "%d"}
_SAID = {
    "y": _YEAR,
    "j": _YEAR,
    "m": {2: "%m", 3: "%b", 4: "%B"},
    "d": _DAY,
    "t": _DAY,
    "h": {2: "%H"},
    "s": {2: "%S"},
    "w": {2: "%V"},
}
"""What letters stand for, in English and German, by how often they repeat; m is a minute beside
hours or seconds.
"""

_WORDS = {"hh24": "%H", "hh12": "%I", "month": "%B", "mon": "%b", "mi": "%M"}


def as_strftime(pattern: str) -> str | None:
    """The pattern of `datetime.strftime` that says the same; None if there is none.

    >>> (
    ...     as_strftime("dd.mm.yyyy"),
    ...     as_strftime("MM/DD/YY"),
    ...     as_strftime("yyyy-MM-dd'T'HH:mm:ss"),
    ...     as_strftime("d.m.yyyy"),
    ... )
    ('%d.%m.%Y', '%m/%d/%y', '%Y-%m-%dT%H:%M:%S', None)
    """
    words = [
        _as_directive(token, before, after) for token, before, after in _with_neighbours(pattern)
    ]
    translated = "".join(text for text in words if text is not None)
    if "%V" in translated:
        translated = translated.replace("%Y", "%G")  # the year that the week belongs to
    return translated if None not in words and "%" in translated else None


def nearest_strftime(pattern: str) -> str | None:
    """What comes nearest to a pattern that `strftime` cannot write: with zeros in front; None if
    nothing does.

    >>> nearest_strftime("d.m.yyyy"), nearest_strftime("ddmonyyyy"), nearest_strftime("some day")
    ('%d.%m.%Y', '%d%b%Y', None)
    """
    doubled = re.sub(r"(?<![A-Za-z])([dDtTmMhHsS])(?![A-Za-z])", r"\1\1", pattern)
    return as_strftime(doubled)


def _with_neighbours(pattern: str) -> list[tuple[str, str, str]]:
    """Each token with the letters of the ones before and after it, in small letters."""
    tokens = [match[0] for match in _TOKENS.finditer(pattern)]
    letters = [token.lower() if token[0].isalpha() else "" for token in tokens]
    named = [place for place, word in enumerate(letters) if word]
    neighbours = []
    for place, token in enumerate(tokens):
        before = next((letters[i] for i in reversed(named) if i < place), "")
        after = next((letters[i] for i in named if i > place), "")
        neighbours.append((token, before, after))
    return neighbours


def _as_directive(token: str, before: str, after: str) -> str | None:
    """What one token is to `strftime`; None if nothing is."""
    word = token.lower()
    size = len(token)
    if word in _WORDS:
        return _WORDS[word]
    if token == "T":  # between a date and a time of day, as in ISO 8601
        return "T" if after[:1] == "h" and before[:1] in ("d", "t") else None
    if token[0] == "'":
        return token[1:-1] or "'"
    if not token[0].isalpha():
        return token if token != "%" else None
    if word[0] == "m" and size in (1, 2) and (before[:1] == "h" or after[:1] == "s"):
        return "%M" if size == 2 else None
    return _SAID.get(word[0], {}).get(size)
