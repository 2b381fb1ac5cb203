"""What an event of learning counts as one record."""

ROW, UNIT = "row", "unit"
"""Each row, or each unit of privacy with all its rows."""

MOST_ROWS = 16
"""Most rows of a unit that are read to learn its columns: the more values could be of one unit
alone, the more a level of any column needs to pass.
"""


def record_facts(record: str) -> dict[str, str]:
    """What certificates say of it: nothing of rows."""
    return {} if record == ROW else {"record": record}
