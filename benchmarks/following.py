"""How rows of a person follow each other, in raw values: how long after the row before they are, how
often they repeat what it has, and whether what cannot change does.

Run ``python benchmarks/following.py`` from the repository root after installing the package. All is made
up: ``visits`` of which half of the people have one a week, over ten years; ``stays`` in 120 wards, 90 % of
them in that of the stay before; and both have a year of birth.
"""

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd

import synthdp

DELTA, MOST, DAYS = 1e-6, 15, 3652
WARDS = [f"ward {number}" for number in range(120)]


def people(rng: np.random.Generator, n_people: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Whose rows they are and when that person was born, and how many rows come before each."""
    numbers = np.clip(rng.geometric(0.25, n_people), 1, MOST)
    who = np.repeat(np.arange(n_people), numbers)
    before = np.arange(len(who)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    return pd.DataFrame({"person": who, "born": rng.integers(1930, 2005, n_people)[who]}), before


def visits(seed: int, n_people: int) -> pd.DataFrame:
    """Visits, a week or about two months after the one before."""
    rng = np.random.default_rng(seed)
    frame, before = people(rng, n_people)
    is_weekly = (rng.random(n_people) < 0.5)[frame["person"]]
    gaps = np.where(is_weekly, 7, 1 + rng.gamma(1.5, 40.0, len(frame)).astype(int))
    starts = rng.integers(0, DAYS - 1200, n_people)[frame["person"]]
    day = starts + pd.Series(np.where(before, gaps, 0)).groupby(frame["person"]).cumsum()
    return frame.assign(day=day.clip(upper=DAYS - 1), ward=rng.choice(WARDS[:4], len(frame)))


def stays(seed: int, n_people: int) -> pd.DataFrame:
    """Stays, most of them in the ward of the one before."""
    rng = np.random.default_rng(seed)
    frame, before = people(rng, n_people)
    ward = rng.choice(len(WARDS), len(frame), p=rng.dirichlet(np.ones(len(WARDS))))
    for row in np.flatnonzero((before > 0) & (rng.random(len(frame)) < 0.9)):
        ward[row] = ward[row - 1]
    return frame.assign(day=before, ward=np.array(WARDS)[ward])


def declared(frame: pd.DataFrame, last_day: int) -> dict[str, Any]:
    """Bounds, and levels that there can be."""
    wards = WARDS if frame["ward"].nunique() > 4 else WARDS[:4]

    def integer(name: str, least: int, most: int) -> dict[str, Any]:
        limits = {"minimum": least, "maximum": most, "required": True}
        return {"name": name, "type": "integer", "constraints": limits}

    ward = {"name": "ward", "type": "string", "constraints": {"enum": wards, "required": True}}
    return {"fields": [integer("born", 1900, 2020), integer("day", 0, last_day), ward]}


def followed(frame: pd.DataFrame) -> dict[str, float]:
    """What is asked of rows, with all gaps in their order."""
    persons = frame.sort_values(["person", "day"], kind="stable").groupby("person")
    is_later = persons.cumcount() > 0
    gaps = persons["day"].diff()[is_later]
    again = (frame["ward"].loc[gaps.index] == persons["ward"].shift()[is_later]).mean()
    years = (persons["born"].nunique() > 1).mean()
    return {
        "a week after": float((gaps == 7).mean()),
        "same ward": float(again),
        "two births": float(years),
    }


def apart(real: pd.DataFrame, drawn: pd.DataFrame) -> float:
    """The largest difference between the shares of gaps up to some length."""
    gaps = [np.sort(frame.groupby("person")["day"].diff().dropna()) for frame in (real, drawn)]
    shares = [np.searchsorted(each, np.arange(DAYS), "right") / len(each) for each in gaps]
    return float(np.abs(shares[0] - shares[1]).max())


def main() -> None:
    """Print what rows have of each, real and drawn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0, 10.0])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    # What noise hides, and that a year of birth hardly changes, shows in the figures.
    warnings.simplefilter("ignore", synthdp.CautionWarning)
    names = ["a week after", "same ward", "two births", "gaps apart"]
    print("table   epsilon  constant  " + "  ".join(f"{name:>12}" for name in names))
    for table, last_day in ((visits, DAYS - 1), (stays, MOST - 1)):
        real = table(0, options.people)
        shown = followed(real) | {"gaps apart": 0.0}
        print(
            f"{table.__name__:8}   real           "
            + "  ".join(f"{shown[name]:12.3f}" for name in names)
        )
        for epsilon in options.epsilons:
            for constant in ((), ("born",)):
                found = []
                for seed in range(options.seeds):
                    real = table(seed, options.people)
                    drawn = synthdp.synthesize(
                        real,
                        declared(real, last_day),
                        epsilon=epsilon,
                        delta=DELTA,
                        unit="person",
                        max_rows_per_unit=MOST,
                        order="day",
                        constant=constant,
                    ).sample(options.people, seed=seed)
                    found.append(followed(drawn) | {"gaps apart": apart(real, drawn)})
                means = pd.DataFrame(found).mean()
                line = "  ".join(f"{means[name]:12.3f}" for name in names)
                print(
                    f"{table.__name__:8} {epsilon:7g}  {','.join(constant):8}  {line}", flush=True
                )


if __name__ == "__main__":
    main()
