"""What tests of failing runs watch: what was charged, and where temporary files go."""

import tempfile
from fractions import Fraction

import pytest
from helpers.cli_runs import lay_out
from helpers.homes import home

from synthdp.core import caution_code
from synthdp.privacy import PrivacyLedger


@pytest.fixture
def charged(monkeypatch):
    """The cost of every event that the ledger let through."""
    costs = []
    charge = PrivacyLedger.charge

    def watched(ledger, event):
        charge(ledger, event)
        if ledger._whole is None:  # what a part pays its whole has paid: once
            costs.append(Fraction(event.rho))

    monkeypatch.setattr(PrivacyLedger, "charge", watched)
    return costs


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run in, with a table and its schema."""
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(folder):
    """A new folder."""
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path, monkeypatch):
    """An empty folder to run in, beside which others may lie."""
    monkeypatch.chdir(made(tmp_path / "work"))
    return tmp_path / "work"


@pytest.fixture
def spare(tmp_path, monkeypatch):
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(made(tmp_path / "spare")))
    return tmp_path / "spare"


@pytest.fixture(autouse=True)
def all_cautions_listed(monkeypatch):
    """Fail a test that prints a caution without a row in ``docs/troubleshooting.md``."""
    codes = home(caution_code)

    def listed(text):
        code = caution_code(text)
        # Texts that no release says are those of a test that damages a file.
        assert code != codes.OTHER_CAUTION or not text.isprintable(), text
        return code

    monkeypatch.setattr(codes, "caution_code", listed)
