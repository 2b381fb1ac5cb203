"""The public schema of the made-up census: code lists and legal bounds from `census_tables.py`,
never from the rows.
"""

import census_tables as t


def category(name, title, description, levels, *, other=None, required=False):
    """Describe a column of codes; values outside the list count as `other`."""
    field = {"name": name, "type": "string", "title": title, "description": description}
    field["constraints"] = {"required": required, "enum": list(levels)}
    if other is not None:
        field["synthdp"] = {"other": other}
    return field


def number(name, kind, title, description, edges, *, required=False, decimals=None):
    """Describe a column of numbers by the edges of its bins, the first and last of which are its
    bounds.
    """
    field = {"name": name, "type": kind, "title": title, "description": description}
    field["constraints"] = {"required": required, "minimum": edges[0], "maximum": edges[-1]}
    field["synthdp"] = {"edges": edges} | ({} if decimals is None else {"decimals": decimals})
    return field


def top_coded(name, title, what, edges, most):
    """Describe a column of whole numbers whose largest stands for all above it."""
    description = f"{what}; {most} stands for {most} or more."
    return number(name, "integer", title, description, edges, required=True)


def place_fields(towns):
    """Describe the three columns that say where somebody lives."""
    names = ", ".join(f"{code} {name}" for code, name, *_ in t.DISTRICTS)
    return [
        category(
            "region",
            "Region",
            "Where the person lives.",
            t.REGIONS,
            other=t.NO_REGION,
            required=True,
        ),
        category(
            "district",
            "District",
            f"Two digits, not a number; decides the region. {names}.",
            [row[0] for row in t.DISTRICTS],
            other="00",
            required=True,
        ),
        category(
            "town",
            "Town",
            "K-, the district's two digits, the town's number in it; so it decides district and region.",
            towns,
            other="K-0000",
            required=True,
        ),
    ]


def person_fields():
    """Describe the columns about the person and the household."""
    yes_no = {"trueValues": [t.YES], "falseValues": [t.NO], "constraints": {"required": False}}
    return [
        top_coded(
            "household_size",
            "Household size",
            "People in the household",
            t.HOUSEHOLD_EDGES,
            t.MAX_HOUSEHOLD,
        ),
        category("sex", "Sex", "As in the register.", t.SEXES),
        top_coded("age", "Age", f"Completed years on {t.CENSUS_DAY}", t.AGE_EDGES, t.MAX_AGE),
        category("marital", "Marital state", "People may marry at 18.", t.MARITAL_STATES),
        {
            "name": "born_abroad",
            "type": "boolean",
            "title": "Born abroad",
            "description": "Born outside Kestovia.",
        }
        | yes_no,
        category("education", "Education", "Highest level completed.", t.EDUCATIONS),
    ]


def work_fields():
    """Describe the columns about work, and the date of the last move."""
    return [
        category(
            "status",
            "Economic status",
            "Main activity; child means under 15. Retirement is open from 55.",
            t.STATUSES,
            other="other inactive",
            required=True,
        ),
        category(
            "occupation",
            "Occupation",
            "Of those who work.",
            t.OCCUPATIONS,
            other=t.OTHER_OCCUPATION,
        ),
        number(
            "hours",
            "integer",
            "Hours a week",
            "Usually worked; 0 for those who do not work.",
            t.HOURS_EDGES,
        ),
        number(
            "income",
            "number",
            "Income",
            f"From work, last year, in crowns; 0 for those who do not work; top-coded at {t.INCOME_TOP_CODE}.",
            t.INCOME_EDGES,
            decimals=2,
        ),
        {
            "name": "moved",
            "type": "date",
            "title": "Last move",
            "description": f"Day of the last move, {t.REGISTER_START} if earlier; empty if never moved.",
            "constraints": {
                "required": False,
                "minimum": t.REGISTER_START,
                "maximum": t.CENSUS_DAY,
            },
            "synthdp": {"resolution": "day", "bins": 35},
        },
    ]


def fields(towns):
    """Describe all 14 columns, given the towns' codes."""
    return place_fields(towns) + person_fields() + work_fields()


def rules(towns):
    """Describe what cannot be: laws and definitions, which no synthetic row breaks."""
    grown_up = [status for status in t.STATUSES if status != "child"]
    return [
        {"determines": ["town", "district"], "map": {code: code[2:4] for code in towns}},
        {
            "determines": ["district", "region"],
            "map": {code: region for code, _, region, *_ in t.DISTRICTS},
        },
        {
            "allow": [
                {"age": {"maximum": 14}, "status": ["child"]},
                {"age": {"minimum": 15}, "status": grown_up},
            ]
        },
        {"forbid": {"age": {"maximum": 17}, "marital": t.MARITAL_STATES[1:]}},
        {"forbid": {"age": {"maximum": 54}, "status": ["retired"]}},
    ]
