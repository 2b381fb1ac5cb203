"""The words in which a certificate states what is protected, and which theorem the guarantee stands
on.
"""

from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency, PrivacyUnit

THEOREMS = {
    Accounting.ZCDP: (
        "zCDP of Gaussian, Laplace and exponential mechanisms, composed by a privacy filter; "
        "epsilon and delta by [CKS20]"
    ),
    Accounting.GDP: (
        "Gaussian DP of Gaussian noise, rounded afterwards, composed by a privacy filter "
        "[Smith-Thakurta 2022]; epsilon and delta by [DRS19]"
    ),
}
"""What the guarantee stands on."""

RECORDS = {
    Adjacency.ADD_REMOVE: "one record, present or absent; the number of records is protected",
    Adjacency.REPLACE_ONE: "the content of one record; the number of records is not protected",
}
"""The unit of privacy where each record is one."""


def unit_in_words(unit: PrivacyUnit) -> str:
    """The unit of privacy in words."""
    if unit.column is None:
        return RECORDS[unit.adjacency]
    return (
        f"one person, told apart by column {unit.column!r}, with at most {unit.max_rows} records, present or "
        "absent; the number of records is protected"
    )
