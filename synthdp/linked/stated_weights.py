"""What rows weigh in a release, as its certificate says."""

from collections.abc import Mapping
from typing import Any

from synthdp.linked.package.view import LATER, MAX_GRID


def heaviest_rows(certificate: Mapping[str, Any]) -> dict[str, int]:
    """Units that a row counts at most in each view that a certificate is about, by what the view is
    called; raises `ValueError` if what it says are no such units.
    """
    heaviest: dict[str, int] = {}
    for facts in certificate.get("package", {}).get("tables", ()):
        label = f"{LATER}{facts['table']}" if facts["rows"] == "later" else facts["table"]
        units = [each["units"] for each in facts["weight_of_a_row"]]
        if any(type(each) is not int or each < 0 for each in units):
            raise ValueError("no units of weight")
        heaviest[label] = max(max(units, default=MAX_GRID), 1)
    return heaviest
