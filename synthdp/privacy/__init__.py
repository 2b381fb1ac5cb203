"""Privacy floor: events, accounting, exact noise, and the only object that sees raw counts."""
