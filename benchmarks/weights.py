"""Weighted use of a survey's synthetic rows against unweighted use, and against the sample itself.

Run ``python benchmarks/weights.py`` from the repository root after installing the package. A made-up
population of 400,000 persons in 40 clusters of 4 strata is surveyed: 8 clusters of each stratum, and
in these persons with unequal probabilities; the weight is the inverse of the probability. Compared
are shares of the population by stratum, job and owner, and their cross tables:

- ``sample``: what the weighted sample says, which is what sampling alone gives;
- ``unweighted``, ``weighted``: what synthetic rows say that are drawn by ``sample()`` and by
  ``sample(weighted=True)``;
- ``calibrated``: rows with weights, by ``sample(weighted="calibrated")``;
- ``totals``, ``raked sample``: the same, and the sample, with the population's strata given.

Printed are mean absolute errors of shares over all cells of columns and pairs, means of the runs.
"""

import argparse
import itertools

import numpy as np
import pandas as pd

import synthdp

N_POPULATION, STRATA, CLUSTERS = 400_000, 4, 40
COLUMNS = ("stratum", "job", "owner")


def main() -> None:
    options = _options()
    names = ("sample", "raked sample", "unweighted", "weighted", "calibrated", "totals")
    errors: dict[str, list[float]] = {name: [] for name in names}
    sizes = []
    for seed in range(options.runs):
        people, survey = surveyed(seed)
        release = synthdp.synthesize(
            survey, SCHEMA, epsilon=options.epsilon, delta=1e-9, weight="weight"
        )
        plain = release.sample(seed=seed)
        drawn = release.sample(100_000, seed=seed, weighted=True)
        calibrated = release.sample(seed=seed, weighted="calibrated")
        strata = people.groupby("stratum").size().rename("count").reset_index()
        with_totals = release.sample(seed=seed, weighted="calibrated", totals=strata)
        sizes.append(float(release.marginal(["owner"], weighted=True).sum()) / len(people))
        errors["sample"].append(_error(survey, people, survey["weight"]))
        errors["unweighted"].append(_error(plain, people, pd.Series(1.0, plain.index)))
        errors["weighted"].append(_error(drawn, people, pd.Series(1.0, drawn.index)))
        errors["calibrated"].append(_error(calibrated, people, calibrated["weight"]))
        errors["totals"].append(_error(with_totals, people, with_totals["weight"]))
        raked = survey["weight"] * survey["stratum"].map(
            strata.set_index("stratum")["count"] / survey.groupby("stratum")["weight"].sum()
        )
        errors["raked sample"].append(_error(survey, people, raked))
    print(
        f"epsilon {options.epsilon:g}, {len(survey)} of {N_POPULATION} persons, {options.runs} runs"
    )
    for name, values in errors.items():
        print(f"{name:12} {np.mean(values):.4f} ({np.std(values):.4f})")
    print(f"population   {np.mean(sizes):.3f} times its size ({np.std(sizes):.3f})")


SCHEMA = {
    "fields": [
        {"name": "stratum", "type": "string", "constraints": {"enum": list("abcd"), "required": True}},
        {"name": "job", "type": "string", "constraints": {"enum": ["x", "y", "z"], "required": True}},
        {"name": "owner", "type": "boolean", "constraints": {"required": True}},
        {
            "name": "weight",
            "type": "number",
            "constraints": {"minimum": 0, "maximum": 250, "required": True},
        },
    ]
}  # fmt: skip


def surveyed(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A population, and a survey of it by strata and clusters with unequal probabilities."""
    chance = np.random.default_rng(seed)
    stratum = chance.choice(STRATA, N_POPULATION, p=[0.55, 0.25, 0.15, 0.05])
    cluster = chance.integers(0, CLUSTERS // STRATA, N_POPULATION)
    # Where one lives says what one does, so that unequal probabilities are no matter of chance.
    local = chance.normal(0, 0.03, (STRATA, CLUSTERS // STRATA))[stratum, cluster]
    owner = chance.random(N_POPULATION) < np.clip(0.75 - 0.18 * stratum + local, 0, 1)
    job = np.where(
        chance.random(N_POPULATION) < 0.2 + 0.2 * stratum, "x", np.where(owner, "y", "z")
    )
    people = pd.DataFrame({"stratum": np.array(list("abcd"))[stratum], "job": job, "owner": owner})
    taken = np.zeros((STRATA, CLUSTERS // STRATA), dtype=np.bool_)
    for each in range(STRATA):
        taken[each, chance.choice(CLUSTERS // STRATA, 8, replace=False)] = True
    # Small strata, and those who do not own their home, are sampled more often.
    probability = np.array([0.02, 0.05, 0.09, 0.3])[stratum] * np.where(owner, 0.6, 1.0)
    is_in = taken[stratum, cluster] & (chance.random(N_POPULATION) < probability)
    weight = np.round(1.0 / (0.8 * probability), 2)
    return people, people.assign(weight=weight)[is_in].reset_index(drop=True)


def _error(rows: pd.DataFrame, people: pd.DataFrame, weight: pd.Series) -> float:
    found = []
    for size in (1, 2):
        for names in itertools.combinations(COLUMNS, size):
            truth = people.groupby(list(names)).size() / len(people)
            said = weight.groupby([rows[name] for name in names]).sum() / weight.sum()
            found += truth.sub(said, fill_value=0).abs().tolist()
    return float(np.mean(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
