"""What commands that plan may not do."""

import pytest

from synthdp.cli.commands import run
from synthdp.privacy import PrivacyLedger


@pytest.fixture
def untouched(monkeypatch):
    """Fail a test that opens the records, or pays for them."""

    def refuse(*_arguments, **_options):
        pytest.fail("the records, or the ledger that pays for them, were touched")

    for name in ("open_table", "rows_of"):
        monkeypatch.setattr(run, name, refuse)
    monkeypatch.setattr(PrivacyLedger, "charge", refuse)
