"""Write the made-up census of Kestovia: `census.csv` and its public schema, `census.schema.json`.

Kestovia and everybody in it are invented; all numbers come from the tables in `census_tables.py`,
none from real people. The same files come out byte for byte every time, so the seed is fixed: there
is nothing here to protect.

    python data/make_sample.py            rewrites the two files beside this script
    python data/make_sample.py FOLDER     writes them into FOLDER
"""

import csv
import json
import sys
from pathlib import Path

import census_tables as t
import numpy as np
from census_schema import fields, rules


def band_of(age, bands):
    """Return for each age the number of the band ("15-17") of the dict `bands` that it lies in."""
    starts = [int(band.split("-")[0]) for band in bands]
    return np.searchsorted(starts, age, side="right") - 1


def draw(rng, weights, row):
    """Draw for each entry of `row` a column number of the table `weights` with chances as in that
    row of it.
    """
    cumulative = np.cumsum(np.asarray(weights, dtype=float), axis=1)
    uniform = rng.random(len(row))
    result = np.zeros(len(row), dtype=int)
    for i in np.unique(row):
        here = row == i
        result[here] = np.searchsorted(
            cumulative[i], uniform[here] * cumulative[i, -1], side="right"
        )
    return result


def draw_between(rng, low, high):
    """Draw integers between `low` and `high`, both ends included."""
    return low + np.floor(rng.random(len(low)) * (high - low + 1)).astype(int)


def draw_ranges(rng, tables, row):
    """Draw integers from a list of (from, to, weight) for each entry of `row`, a number in the list
    `tables`.
    """
    width = max(len(table) for table in tables)
    padded = np.array(
        [[*table, *[(0, 0, 0)] * (width - len(table))] for table in tables], dtype=float
    )
    which = draw(rng, padded[:, :, 2], row)
    return draw_between(rng, padded[row, which, 0], padded[row, which, 1])


def towns():
    """List the towns: (code, district's code, region, weight)."""
    result = []
    for district, _, region, n_towns, share in t.DISTRICTS:
        numbers = range(1, n_towns + 1) if n_towns else [0]
        sizes = [1 / max(number, 1) for number in numbers]
        in_region = sum(row[4] for row in t.DISTRICTS if row[2] == region)
        weight = t.REGIONS[region]["share"] * share / in_region / sum(sizes)
        result += [
            (f"K-{district}{n:02d}", district, region, weight * size)
            for n, size in zip(numbers, sizes, strict=True)
        ]
    return result


def place_and_person(rng, n_rows):
    """Draw region, district and town, then age, sex and place of birth given the region."""
    all_towns = towns()
    town = draw(rng, [[weight for *_, weight in all_towns]], np.zeros(n_rows, dtype=int))
    code, district, region = (np.array([row[i] for row in all_towns])[town] for i in range(3))
    regions = list(t.REGIONS)
    region_no = np.array([regions.index(name) for name in region])
    lows, highs = np.array([band.split("-") for band in t.AGES], dtype=int).T
    pyramid = np.array(list(t.AGES.values()), dtype=float)
    elderly = [
        np.where(lows >= t.ELDERLY_FROM, r["elderly"], 1.0)[:, None] for r in t.REGIONS.values()
    ]
    band_and_sex = draw(rng, [(pyramid * factor).ravel() for factor in elderly], region_no)
    age = draw_between(rng, lows[band_and_sex // 2], highs[band_and_sex // 2])
    abroad = (
        rng.random(n_rows) * 100 < np.array([r["abroad"] for r in t.REGIONS.values()])[region_no]
    )
    abroad &= rng.random(n_rows) < np.where(age < 15, 0.35, 1.0)
    return {
        "region": region,
        "region_no": region_no,
        "district": district,
        "town": code,
        "age": age,
        "sex_no": band_and_sex % 2,
        "abroad": abroad,
    }


def marital_and_education(rng, p):
    """Draw marital state given age and sex, and education given age and region."""
    table = [row[sex] for row in t.MARITAL.values() for sex in t.SEXES]
    p["marital_no"] = draw(rng, table, 2 * band_of(p["age"], t.MARITAL) + p["sex_no"])
    is_degree = np.isin(t.EDUCATIONS, t.DEGREES)
    table = [
        np.array(row) * np.where(is_degree, region["degrees"], 1.0)
        for row in t.EDUCATION.values()
        for region in t.REGIONS.values()
    ]
    p["education_no"] = draw(
        rng, table, len(t.REGIONS) * band_of(p["age"], t.EDUCATION) + p["region_no"]
    )
    p["class_no"] = np.array([t.CLASSES.index(t.EDUCATION_CLASS[name]) for name in t.EDUCATIONS])[
        p["education_no"]
    ]


def household(rng, p):
    """Draw the household's size given age and whether the person is married."""
    table = [row[key] for row in t.HOUSEHOLD.values() for key in ("not married", "married")]
    married = p["marital_no"] == t.MARITAL_STATES.index("married")
    size = 1 + draw(rng, table, 2 * band_of(p["age"], t.HOUSEHOLD) + married)
    p["size"] = np.where(size > 8, draw_between(rng, np.full(len(size), 9), t.MAX_HOUSEHOLD), size)


def work(rng, p):
    """Draw status given age, sex and education; occupation given education, sex and region; hours
    given status.
    """
    factors = [[t.STATUS_BY_CLASS[c].get(status, 1.0) for status in t.STATUSES] for c in t.CLASSES]
    table = [
        np.array(row[sex]) * factor
        for row in t.STATUS.values()
        for sex in t.SEXES
        for factor in factors
    ]
    p["status_no"] = draw(
        rng, table, (2 * band_of(p["age"], t.STATUS) + p["sex_no"]) * len(t.CLASSES) + p["class_no"]
    )
    p["status"] = np.array(t.STATUSES)[p["status_no"]]
    p["works"] = np.isin(p["status"], t.WORKING)

    weight = np.array([row[2:6] for row in t.OCCUPATIONS.values()], dtype=float).T
    women = np.array([row[1] for row in t.OCCUPATIONS.values()])
    table = []
    for region in t.REGIONS.values():
        boost = np.array([region["sectors"].get(row[0], 1.0) for row in t.OCCUPATIONS.values()])
        table += [
            weight[c] * share * boost
            for c in range(len(t.CLASSES))
            for share in (women, 100 - women)
        ]
    p["occupation_no"] = draw(
        rng, table, (p["region_no"] * len(t.CLASSES) + p["class_no"]) * 2 + p["sex_no"]
    )

    self_employed = p["status"] == "self-employed"
    tables = [t.HOURS[status, sex] for status in t.WORKING for sex in t.SEXES]
    p["hours"] = np.where(
        p["works"], draw_ranges(rng, tables, 2 * self_employed + p["sex_no"]), 0
    ).astype(int)


def income(rng, p):
    """Work out the year's income: pay an hour, times hours, times a factor with a Pareto tail; in
    hundredths.
    """
    pay = np.array([row[6] for row in t.OCCUPATIONS.values()])[p["occupation_no"]]
    pay = pay * np.array(list(t.PAY_BY_SEX.values()))[p["sex_no"]]
    pay = pay * np.array(list(t.PAY_BY_CLASS.values()))[p["class_no"]]
    pay = (
        pay * np.array(list(t.PAY_BY_AGE.values()))[np.maximum(band_of(p["age"], t.PAY_BY_AGE), 0)]
    )
    uniform = rng.random(len(pay))
    spread = np.zeros(len(pay))
    for status in t.WORKING:
        below, factor = np.array(t.PAY_SPREAD[status]).T
        tail = factor[-1] * np.sqrt(
            (1 - below[-1]) / (1 - uniform)
        )  # sqrt, unlike power, rounds alike everywhere
        here = p["status"] == status
        spread[here] = np.where(uniform > below[-1], tail, np.interp(uniform, below, factor))[here]
    year = np.minimum(pay * p["hours"] * 52 * spread, t.INCOME_TOP_CODE)
    rounded = np.maximum(np.round(year / 500), 1) * 500
    year = np.where(rng.random(len(pay)) * 100 < t.PERCENT_ROUNDED, rounded, year)
    p["cents"] = np.where(p["works"], np.maximum(np.round(year * 100), 1), 0).astype(int)


def last_move(rng, p):
    """Draw the date of the last move given age; whoever would have moved before being born never
    moved.
    """
    years = draw_ranges(rng, list(t.MOVED.values()), band_of(p["age"], t.MOVED))
    census = np.datetime64(t.CENSUS_DAY)
    month = draw(rng, [t.MONTHS], np.zeros(len(years), dtype=int))
    first = rng.random(len(years)) * 100 < t.PERCENT_ON_THE_FIRST
    day = np.where(first, 0, draw_between(rng, np.zeros(len(years)), 27)).astype(int)
    in_this_year = census.astype("M8[Y]").astype("M8[M]") + month
    years = years + (in_this_year.astype("M8[D]") + day > census)
    date = (in_this_year - 12 * years.astype(int)).astype("M8[D]") + day
    p["never_moved"] = years >= p["age"]
    p["moved"] = np.maximum(date, np.datetime64(t.REGISTER_START))


def blank(rng, values, concerned, per_thousand):
    """Return the values as text, some of those `concerned` replaced by an empty one."""
    gone = concerned & (rng.random(len(values)) * 1000 < per_thousand)
    return np.where(gone, "", np.asarray(values).astype(str))


def columns(rng, p):
    """Turn the people into the 14 columns of text, with what is missing left empty."""
    everyone = np.ones(len(p["age"]), dtype=bool)
    works = p["works"]

    def by_status(chances):
        return np.where(
            p["status"] == "self-employed", chances["self-employed"], chances["employed"]
        )

    hours = blank(rng, p["hours"], works, by_status(t.MISSING_HOURS))
    no_income = np.where(
        hours == "", t.MISSING_INCOME["hours missing"], by_status(t.MISSING_INCOME)
    )
    no_education = np.where(
        p["abroad"], t.MISSING_EDUCATION["born abroad"], t.MISSING_EDUCATION["born here"]
    )
    occupation = np.where(works, np.array(list(t.OCCUPATIONS))[p["occupation_no"]], "")
    return {
        "region": p["region"],
        "district": p["district"],
        "town": p["town"],
        "household_size": p["size"].astype(str),
        "sex": blank(rng, np.array(t.SEXES)[p["sex_no"]], everyone, t.MISSING_SEX),
        "age": p["age"].astype(str),
        "marital": blank(
            rng,
            np.array(t.MARITAL_STATES)[p["marital_no"]],
            p["age"] >= 18,
            t.MISSING_MARITAL_ADULTS,
        ),
        "born_abroad": blank(
            rng, np.where(p["abroad"], t.YES, t.NO), everyone, t.MISSING_BORN_ABROAD
        ),
        "education": blank(
            rng, np.array(t.EDUCATIONS)[p["education_no"]], p["age"] >= 15, no_education
        ),
        "status": p["status"],
        "occupation": blank(rng, occupation, works, t.MISSING_OCCUPATION),
        "hours": hours,
        "income": blank(
            rng, [f"{c // 100}.{c % 100:02d}" for c in p["cents"].tolist()], works, no_income
        ),
        "moved": blank(rng, p["moved"], p["never_moved"], 1000),
    }


def people():
    """Draw the whole census: 14 columns of text."""
    rng = np.random.Generator(np.random.PCG64(t.SEED))
    p = place_and_person(rng, t.N_ROWS)
    marital_and_education(rng, p)
    household(rng, p)
    work(rng, p)
    income(rng, p)
    last_move(rng, p)
    return columns(rng, p)


def main(folder):
    """Write the census and its schema into the folder."""
    table = people()
    with (Path(folder) / "census.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(values.tolist() for values in table.values()), strict=True))
    codes = [row[0] for row in towns()]
    schema = {
        "fields": fields(codes),
        "missingValues": [""],
        "synthdp": {"constraints": rules(codes)},
    }
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    (Path(folder) / "census.schema.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
