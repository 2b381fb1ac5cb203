"""What an event of learning counts as one record."""

ROW, UNIT = "row", "unit"
"""Each row, or each unit of privacy with all its rows."""


def record_facts(record: str) -> dict[str, str]:
    """What certificates say of it: nothing of rows."""
    return {} if record == ROW else {"record": record}
