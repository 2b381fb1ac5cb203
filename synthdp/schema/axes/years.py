"""Years in which dates are looked for."""

FIRST_YEAR, LAST_YEAR = 1, 9999
"""Years that are learnt lie between these, as in Python's dates."""

LIKELY_YEAR = 2000
"""Where to begin if no cell is clearly above its noise: any public place will do."""

YEARS_A_CELL = 10
"""Years of the cells in which dates are looked for first: a thousand cells cover all dates."""
