"""People who do not exist: first and last names of one sex and language, and mail addresses that
fit them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from types import ModuleType
from typing import TYPE_CHECKING, Self, final
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import MissingExtraError, SchemaError

if TYPE_CHECKING:
    from faker import Faker

Texts = NDArray[np.object_]

POOL_NAMES = 1000
"""First and last names that are drawn for each sex: a million pairs, in a tenth of a second."""

MAIL_DOMAINS = ("example.com", "example.net", "example.org")
"""Reserved for examples [RFC 2606]: no mail can reach anybody."""

_FAMILY_NAME_FIRST = {"hu": " ", "ja": " ", "ko": "", "vi": " ", "zh": ""}
"""Languages in which the family name comes first, and what stands after it."""

_LETTERS = str.maketrans({"æ": "ae", "đ": "d", "ð": "d", "ł": "l", "ø": "o", "œ": "oe", "þ": "th"})
"""Small letters that do not fall apart into a Latin one and its accent."""


def import_faker() -> ModuleType:
    """The library that makes fakes up; raises `MissingExtraError` if it is not installed."""
    try:
        import faker
    except ImportError:
        way_out = "run: pip install 'synthdp[fakes]'"
        raise MissingExtraError(
            f"columns of names, mail addresses and the like need faker; {way_out}"
        ) from None
    module: ModuleType = faker
    return module


def faker_of(locale: str, seed: int) -> "Faker":
    """A source of fakes of one language and country, with chance of its own.

    Raises
    ------
    MissingExtraError
        If faker is not installed.
    SchemaError
        If it does not know the locale.
    """
    library = import_faker()
    try:
        source: Faker = library.Faker(locale)
    except AttributeError:
        raise SchemaError(
            f"schema: faker has no locale {locale!r}; use one such as en_US, de_DE or pt_BR"
        ) from None
    source.seed_instance(seed)
    return source


@final
@dataclass(frozen=True, eq=False, repr=False)
class People:
    """One person a row: whose names are read off the lists of a locale and combined by chance."""

    first_names: Texts
    last_names: Texts
    """Shape ``(n_rows,)``."""
    mail_names: Texts
    """What may stand before the ``@``: letters and points, of the names where they can be written
    so.
    """
    locale: str
    """Says in which order names are written."""

    @classmethod
    def drawn(cls, n_rows: int, *, locale: str, seed: int) -> Self:
        """As many people as there are rows; the same ones for the same seed."""
        source = faker_of(locale, seed)
        rng = np.random.default_rng(seed)
        sexes = ("female", "male")
        # A pool of names, from which rows draw: asking the library for each row would take minutes
        # for a million.
        firsts = [
            getattr(source, f"first_name_{sex}")() for sex in sexes for _ in range(POOL_NAMES)
        ]
        lasts = [getattr(source, f"last_name_{sex}")() for sex in sexes for _ in range(POOL_NAMES)]
        mail_firsts = [f"{name}." if name else "" for name in map(_latin, firsts)]
        # Names in other letters have no Latin form, and addresses need one.
        mail_lasts = [_latin(name) or _latin(source.user_name()) or "mail" for name in lasts]
        sex = rng.integers(len(sexes), size=n_rows) * POOL_NAMES
        first = sex + rng.integers(POOL_NAMES, size=n_rows)
        last = sex + rng.integers(POOL_NAMES, size=n_rows)
        mails = _joined(_taken(mail_firsts, first), _taken(mail_lasts, last))
        return cls(_taken(firsts, first), _taken(lasts, last), mails, locale)

    @property
    def names(self) -> Texts:
        """Whole names, in the order of the language."""
        between = _FAMILY_NAME_FIRST.get(self.locale.partition("_")[0])
        if between is None:
            return _joined(self.first_names, " ", self.last_names)
        return _joined(self.last_names, between, self.first_names)

    def mails(self, rng: np.random.Generator) -> Texts:
        """Mail addresses, no two alike: the second ``eva.smith`` has a 2 after her name."""
        # Numbered in the order of the rows, so that the same seed gives the same addresses.
        n_before = pd.Series(self.mail_names).groupby(self.mail_names).cumcount().to_numpy()
        numbers = np.array([""] * len(n_before), dtype=object)
        numbers[n_before > 0] = list(map(str, (n_before[n_before > 0] + 1).tolist()))
        domains = _taken(MAIL_DOMAINS, rng.integers(len(MAIL_DOMAINS), size=len(n_before)))
        return _joined(self.mail_names, numbers, "@", domains)


def _latin(name: str) -> str:
    """The small Latin letters of a name, without accents; nothing of one in other letters.

    >>> _latin("Müller-Łoś"), _latin("佐藤")
    ('mullerlos', '')
    """
    letters = normalize("NFKD", name.casefold().translate(_LETTERS))
    return "".join(letter for letter in letters if "a" <= letter <= "z")


def _joined(first: Texts, *rest: Texts | str) -> Texts:
    whole: Texts = reduce(add, rest, first)
    return whole


def _taken(texts: Sequence[str], positions: NDArray[np.integer]) -> Texts:
    taken: Texts = np.array(texts, dtype=object)[positions]
    return taken
