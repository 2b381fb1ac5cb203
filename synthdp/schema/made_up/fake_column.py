"""Fakes: plausible names, mail addresses, telephone numbers and the like, of nobody."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import SchemaError
from synthdp.schema.made_up.generated_column import GeneratedColumn
from synthdp.schema.made_up.people import People, faker_of
from synthdp.schema.words.texts import in_column, refuse

DEFAULT_LOCALE = "en_US"
"""Language and country of fakes, if a field names none."""

POOL_TEXTS = 10_000
"""Most different addresses, telephone numbers and companies of a column: faker takes a second for
so many.
"""

_LOCALE = re.compile(r"[a-z]{2,3}_[A-Z]{2}", re.ASCII)

_OF_PEOPLE = ("name", "first_name", "last_name", "email")
_OF_FAKER = {"phone": "phone_number", "address": "address", "company": "company"}
"""What faker calls the others."""

FAKES = (*_OF_PEOPLE, *_OF_FAKER)
"""Kinds of columns of fakes."""


@final
@dataclass(frozen=True, kw_only=True)
class FakeColumn(GeneratedColumn):
    """Texts that a library makes up; those about people agree with each other in each row."""

    fake: str
    """One of `FAKES`."""
    locale: str = DEFAULT_LOCALE
    """Language and country, such as ``"de_DE"``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fake not in FAKES:
            refuse(self.name, f"synthdp.kind is {self.fake!r}; use one of {', '.join(FAKES)}")
        locale = in_column(self.name, "synthdp.locale", self.locale)
        if _LOCALE.fullmatch(locale.text(words := "language and country, such as 'de_DE'")) is None:
            locale.expect(words)

    @classmethod
    def settings(cls) -> Mapping[str, Sequence[str]]:
        """Language and country."""
        return {"locale": ("language", "lang", "country", "region")}

    @classmethod
    def parse(cls, name: str, kind: str, type_: str, given: Mapping[str, Any]) -> Self:  # noqa: ARG003
        """Fakes of the kind."""
        return cls(name=name, fake=kind, **given)

    @classmethod
    def check_type(cls, name: str, kind: str, type_: object) -> None:
        """Refuse all types but texts."""
        if type_ not in (kind, "string"):
            refuse(name, f"its values are texts, but its type is {type_!r}; make it string")

    @property
    def kind(self) -> str:
        """What a schema calls it."""
        return self.fake

    @property
    def is_unique(self) -> bool:
        """Whether no value comes twice: mail addresses get numbers for that."""
        return self.fake == "email"

    @property
    def summary(self) -> str:
        """What the values look like."""
        return f"fakes of {self.locale}"

    def values(self, table: pd.DataFrame, seed: int) -> list[str] | NDArray[np.int64]:
        """One fake a row."""
        if self.fake in _OF_PEOPLE:
            texts = self._of_people(len(table), seed)
        else:
            texts = self._of_faker(len(table), seed)
        made: list[str] = texts.tolist()
        return made

    def _of_people(self, n_rows: int, seed: int) -> NDArray[np.object_]:
        # By the seed of the table and not of the column: first name, name and mail of a row are one
        # person's.
        people = People.drawn(n_rows, locale=self.locale, seed=seed)
        if self.fake == "email":
            return people.mails(self._generator(seed))
        return {
            "name": people.names,
            "first_name": people.first_names,
            "last_name": people.last_names,
        }[self.fake]

    def _of_faker(self, n_rows: int, seed: int) -> NDArray[np.object_]:
        rng = self._generator(seed)
        make = self._maker(int(rng.integers(2**32)))
        # Addresses come in lines, and cells with line breaks are more than many readers of CSV
        # take.
        pool = [", ".join(make().splitlines()) for _ in range(min(n_rows, POOL_TEXTS))]
        positions = (
            np.arange(n_rows) if n_rows <= POOL_TEXTS else rng.integers(POOL_TEXTS, size=n_rows)
        )
        texts: NDArray[np.object_] = np.array(pool, dtype=object)[positions]
        return texts

    def _maker(self, seed: int) -> Callable[[], str]:
        """What makes one text up; for kinds about people any name will do, for all locales have
        those.
        """
        source = faker_of(self.locale, seed)
        try:
            maker: Callable[[], str] = getattr(source, _OF_FAKER.get(self.fake, "name"))
        except AttributeError:
            raise SchemaError(
                f"schema: faker has no {self.fake} for the locale {self.locale!r}; use another"
            ) from None
        return maker

    def check_available(self) -> None:
        """Raise `MissingExtraError` if faker is not installed, `SchemaError` if it does not know
        the locale.
        """
        try:
            self._maker(0)
        except SchemaError as error:
            refuse(self.name, str(error).removeprefix("schema: "))

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        return self._field("string", {"locale": self.locale})
