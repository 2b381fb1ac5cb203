"""Fakes: plausible, consistent within a row, repeatable, and of nobody who can be written to."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

from synthdp.core import MissingExtraError, SchemaError
from synthdp.schema import FAKES, POOL_TEXTS, FakeColumn, People
from synthdp.schema.made_up.people import _latin

MAIL = r"[a-z]+(\.[a-z]+)?\d*@example\.(com|net|org)"


def fakes(fake, n_rows=200, *, seed=0, locale="de_DE", name="x"):
    return FakeColumn(name=name, fake=fake, locale=locale).values(
        pd.DataFrame(index=range(n_rows)), seed
    )


@pytest.mark.parametrize("fake", FAKES)
def test_fakes_are_texts_that_repeat_with_the_seed_only(fake):
    found = fakes(fake)
    assert len(found) == 200
    assert all(type(text) is str and text.strip() and "\n" not in text for text in found)
    assert len(set(found)) > 100
    assert found == fakes(fake)
    assert found != fakes(fake, seed=1)
    assert found != fakes(fake, locale="fr_FR")
    assert fakes(fake, 0) == []


@pytest.mark.parametrize("locale", ["de_DE", "ja_JP"])
def test_what_is_about_a_person_agrees(locale):
    columns = [
        fakes(fake, locale=locale, name=fake)
        for fake in ("name", "first_name", "last_name", "email")
    ]
    for name, first, last, mail in zip(*columns, strict=True):
        assert name == (f"{last} {first}" if locale == "ja_JP" else f"{first} {last}")
        assert re.fullmatch(MAIL, mail)
        if locale == "de_DE":
            assert mail.startswith(f"{_latin(first)}.{_latin(last)}")


def test_mail_addresses_do_not_repeat_though_people_have_the_same_name():
    names, mails = fakes("name", 20_000), fakes("email", 20_000)
    assert len(set(names)) < 20_000 == len(set(mails))
    assert all(re.fullmatch(MAIL, mail) for mail in mails)


def test_two_columns_of_one_kind_are_no_copies():
    assert fakes("phone", name="home") != fakes("phone", name="work")


def test_many_rows_share_some_addresses():
    found = fakes("phone", 3 * POOL_TEXTS)
    assert POOL_TEXTS / 2 < len(set(found)) <= POOL_TEXTS


def test_names_of_both_sexes_go_together():
    people = People.drawn(300, locale="cs_CZ", seed=0)
    women = {
        first
        for first, last in zip(people.first_names, people.last_names, strict=True)
        if last.endswith("ová")
    }
    men = {
        first
        for first, last in zip(people.first_names, people.last_names, strict=True)
        if last.endswith("ek")
    }
    assert women
    assert men
    assert women.isdisjoint(men)


def test_chance_elsewhere_stays_as_it_was():
    state = np.random.get_state()[1].copy()  # noqa: NPY002 (to see that nobody touches it)
    fakes("address", 5)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


@pytest.mark.parametrize(
    "locale", ["de", "de-DE", "german", "", "de_DE\n", None, ["de_DE"], "../de"]
)
def test_a_locale_is_language_and_country(locale):
    with pytest.raises(
        SchemaError, match=r"column 'x': synthdp.locale is .*; give language and country"
    ):
        FakeColumn(name="x", fake="name", locale=locale)


@pytest.mark.parametrize(("fake", "locale"), [("name", "xx_XX"), ("phone", "en_PH")])
def test_a_locale_that_faker_has_not_is_told_beforehand(fake, locale):
    with pytest.raises(SchemaError, match=f"^schema: column 'x': faker has no .*'{locale}'"):
        FakeColumn(name="x", fake=fake, locale=locale).check_available()


def test_without_faker_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faker", None)
    column = FakeColumn(name="x", fake="name")
    for use in (column.check_available, lambda: column.values(pd.DataFrame(index=range(2)), 0)):
        with pytest.raises(MissingExtraError, match=r"pip install 'synthdp\[fakes\]'"):
            use()
