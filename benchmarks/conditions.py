"""What a rule on numbers costs where only their bounds are declared.

Run ``python benchmarks/conditions.py`` from the repository root after installing the package. The
census sample, without its missing values, is made without rules, with one that forbids incomes from
31,250 on below 18 years, and with that and 32 bins of equal width, none of which it cuts.

Errors are of drawn rows: mean total variation distance over all columns, pairs and triples, by levels
and by eighths of the records; and which share of incomes is 0, as 54 % of the records' are.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from persons import DELTA, errors

import synthdp

HIGHEST = {"age": 99, "hours": 80, "income": 1_000_000}
RULE = {"forbid": {"age": {"maximum": 17}, "income": {"minimum": 31_250}}}


def census() -> pd.DataFrame:
    """Five columns of the sample."""
    path = Path(__file__).parents[1] / "data/census.csv"
    frame = pd.read_csv(path)[[*HIGHEST, "sex", "status"]].dropna().reset_index(drop=True)
    return frame.round().astype(dict.fromkeys(HIGHEST, "int64"))


def schema(frame: pd.DataFrame, *, has_rule: bool, bins: int | None = None) -> dict[str, Any]:
    """Levels and bounds, the rule, and how many bins."""
    fields = []
    for name, values in frame.items():
        if name in HIGHEST:
            limits = {"minimum": 0, "maximum": HIGHEST[str(name)], "required": True}
            own = {} if bins is None else {"synthdp": {"bins": bins}}
            fields.append({"name": name, "type": "integer", "constraints": limits} | own)
        else:
            limits = {"enum": sorted(values.unique()), "required": True}
            fields.append({"name": name, "type": "string", "constraints": limits})
    return {"fields": fields} | ({"synthdp": {"constraints": [RULE]}} if has_rule else {})


def main() -> None:
    """Print the errors of all ways."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.3, 1.0, 3.0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", synthdp.CautionWarning)
    real = census()
    ways = {
        "no rule": schema(real, has_rule=False),
        "rule": schema(real, has_rule=True),
        "32 bins": schema(real, has_rule=True, bins=32),
    }
    print("epsilon  way      columns  pairs    triples  zeros")
    for epsilon in options.epsilons:
        for way, public in ways.items():
            found = []
            for seed in range(options.seeds):
                release = synthdp.synthesize(real, public, epsilon=epsilon, delta=DELTA)
                drawn = release.sample(len(real), seed=seed)
                found.append([*errors(drawn, real), float((drawn["income"] == 0).mean())])
            means = "  ".join(f"{mean:.4f} " for mean in np.mean(found, axis=0))
            print(f"{epsilon:7g}  {way:7}  {means}", flush=True)


if __name__ == "__main__":
    main()
