"""Adult split over sites: noise and error of what they give together, against one table's.

Run ``OMP_NUM_THREADS=1 python benchmarks/sites.py`` from the repository root after installing the
package. The table is Adult, with the public schema of ``schemas``; the plan asks for the marginals
that a release of half of it chose (mechanism mst, epsilon 1, delta 1e-9). Splits:

- ``even-K``: K sites, records at random;
- ``uneven-K``: the sizes are in proportion to 1, 2, 4, ...;
- ``by-sex``: one site has all women, the other all men;
- ``secure-K``: even-K as a secure sum, with no site colluding.

A line a split says, over all measured cells, the root mean square of noise against that of one
table, what theory says that is (sqrt(K), or 1), and the mean total variation distance of the
model's pairs from the records, also against that of one table. Means over seeds, standard
deviations of one run in brackets.
"""

import argparse
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from common.folders import SHARED_DATA
from common.processes import ONE_THREAD

os.environ |= ONE_THREAD  # before numpy is loaded

import numpy as np
import pandas as pd
from common.results import means

from synthdp import (
    CautionWarning,
    MeasuringPlan,
    Synthesis,
    combine,
    measure,
    plan_measurements,
    synthesize,
)
from synthdp.core import all_k_way, load_json
from synthdp.data import CodedSource, encode
from synthdp.release import securely_combined
from synthdp.schema import Schema

SCHEMA = Path(__file__).parent / "schemas/adult.json"
BUDGET = {"epsilon": 1.0, "delta": 1e-9}
ENGINE = "local-consistency"


def main() -> None:
    parser = argparse.ArgumentParser(description="Adult split over sites.")
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sites", type=int, nargs="+", default=[2, 5, 20])
    options = parser.parse_args()
    warnings.simplefilter("ignore", CautionWarning)
    folder = options.data / "adult"
    if not (folder / "adult.csv").exists():
        raise SystemExit(f"{folder} holds no adult.csv; name the folder with --data")
    schema = Schema.from_dict(load_json(SCHEMA, "schema"))
    frame = pd.read_csv(folder / "adult.csv", dtype=str, keep_default_na=False)
    frame = frame[list(schema.names)]
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(options.seeds):
        plans = _plans(frame, schema, seed)
        baseline = _judged([measure(frame, plans["gdp"])], frame, schema)
        secure = _judged([measure(frame, plans["zcdp"])], frame, schema)
        for name, parts in _splits(frame, options.sites, seed).items():
            against = baseline
            if name.startswith("secure"):
                release = securely_combined(parts, plans["zcdp"], colluding=0, engine=ENGINE)
                judged, against = _judged([release], frame, schema), secure
            else:
                judged = _judged([measure(part, plans["gdp"]) for part in parts], frame, schema)
            found.setdefault(f"{name} {len(parts)}", []).append(
                (judged[0] / against[0], judged[1], judged[1] / against[1])
            )
    print("split        noise/one    theory  TVD of pairs     TVD/one")
    for name, runs in found.items():
        split, n_sites = name.rsplit(" ", 1)
        noise, error, ratio = means(runs)
        theory = 1.0 if split.startswith("secure") else int(n_sites) ** 0.5
        print(f"{split:12} {noise:12} {theory:6.3f}  {error:16} {ratio}")


def _plans(frame: pd.DataFrame, schema: Schema, seed: int) -> Mapping[str, MeasuringPlan]:
    """Plans of what a release of half of the table chose, by both theorems."""
    half = frame.sample(frac=0.5, random_state=seed)
    release = synthesize(half, schema, **BUDGET, mechanism="mst", quality_share=0.0)
    return {
        accounting: plan_measurements(release, **BUDGET, accounting=accounting)
        for accounting in ("gdp", "zcdp")
    }


def _splits(
    frame: pd.DataFrame, numbers: Sequence[int], seed: int
) -> Mapping[str, list[pd.DataFrame]]:
    """The table cut into sites in several ways."""
    shuffled = frame.sample(frac=1.0, random_state=seed)
    splits = {}
    for number in numbers:
        places = np.array_split(np.arange(len(frame)), number)
        splits[f"even-{number}"] = [shuffled.iloc[place] for place in places]
        sizes = np.cumsum(2.0 ** -np.arange(number))
        cuts = (len(frame) * sizes / sizes[-1]).astype(int)[:-1]
        parts = np.split(np.arange(len(frame)), cuts)
        splits[f"uneven-{number}"] = [shuffled.iloc[place] for place in parts]
        splits[f"secure-{number}"] = splits[f"even-{number}"]
    splits["by-sex"] = [part for _, part in frame.groupby("sex")]
    return splits


def _judged(parts: Sequence[Synthesis], frame: pd.DataFrame, schema: Schema) -> tuple[float, float]:
    """Root mean square of the noise on measured cells, and the error of the model's pairs."""
    release = combine(parts, engine=ENGINE) if len(parts) > 1 else parts[0].refit(ENGINE)
    source = CodedSource(encode(frame, schema))
    cliques = [measurement.clique for measurement in release.measurements]
    noise = []
    for measurement, counts in zip(release.measurements, source.counts_of(cliques), strict=True):
        merged = measurement.coarsening
        exact = merged.apply(measurement.clique, counts) if merged else counts
        # In units of the marginal's own noise, as large marginals are noisier than small ones.
        weight = np.square(measurement.values - exact) * _share(measurement.clique, parts[0])
        noise.append(weight.ravel())
    pairs = all_k_way(schema.domain.attributes, 2)
    errors = [
        np.abs(table / table.sum() - counts / counts.sum()).sum() / 2
        for table, counts in zip(
            (release.model.marginal(pair).values for pair in pairs),
            source.counts_of(pairs),
            strict=True,
        )
    ]
    return float(np.sqrt(np.concatenate(noise).mean())), float(np.mean(errors))


def _share(clique: tuple[str, ...], site: Synthesis) -> float:
    """What one site paid for a marginal, as a share of its budget."""
    events = {tuple(event["columns"]): event["rho"] for event in site.certificate["events"]}
    return float(events[clique] / site.certificate["accounting"]["rho_spent"])


if __name__ == "__main__":
    main()
