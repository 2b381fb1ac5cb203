"""dpsynth of Google, in memory: MST (its default), AIM with Gaussian DP (its best), or SWIFT."""

import sys
from typing import Any

import numpy as np
import pandas as pd
from job import Answer, Job, run

FITS = 10
"""So often compiled programs are dropped."""


def synthesize(job: Job) -> Answer:
    import dpsynth
    from dpsynth import discrete_mechanisms

    mechanisms = {
        "mst": discrete_mechanisms.MSTConfig,
        "aim-gdp": discrete_mechanisms.AIMGDPConfig,
        "swift": discrete_mechanisms.SWIFTConfig,
    }
    settings = {}
    remarks = ["numbers drawn within their intervals (its default: the middle)"]
    if sys.argv[2] == "aim-gdp" and job.settings == "default":
        settings["max_model_size"] = 1  # what its documentation says for quick experiments
        remarks.append("models of at most 1 MB")
    domains = {
        name: dpsynth.CategoricalAttribute(possible_values=column["levels"])
        if "levels" in column
        else dpsynth.NumericalAttribute(
            min_value=float(column["minimum"]),
            max_value=float(column["maximum"]),
            dtype="int" if column["type"] == "integer" else "float",
            interval_handling="sample",
        )
        for name, column in job.columns.items()
    }

    class Config(dpsynth.TabularConfig):
        """Its search for the noise tries a rho of 0, which its columns divide by."""

        def configure(self, *, zcdp_rho: float, **options: Any) -> Any:
            return super().configure(zcdp_rho=max(zcdp_rho, 1e-9), **options)

    if sys.argv[2] == "aim-gdp":
        _forget_programs()
    mechanism = Config(
        domains=domains, discrete_mechanism=mechanisms[sys.argv[2]](**settings)
    ).calibrate(epsilon=job.epsilon, delta=job.delta)
    rows = mechanism(np.random.default_rng(job.seed), job.frame()).synthetic_data
    if len(rows) != job.n_rows:  # its number of rows is a noisy count
        rows = rows.sample(job.n_rows, replace=len(rows) < job.n_rows, random_state=job.seed)
        remarks.append("its noisy number of rows sampled to the number asked for")
    return Answer(pd.DataFrame(rows)[list(job.columns)], remarks)


def _forget_programs() -> None:
    """Drop compiled programs every few fits: of those of one run there are more than a process of
    Linux may have of maps, and it would end by a fault. What is estimated stays the same.
    """
    import jax
    from mbi import estimation

    estimate, n_fits = estimation.MirrorDescent.estimate, 0

    def estimated(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal n_fits
        n_fits += 1
        if n_fits % FITS == 0:
            jax.clear_caches()
        return estimate(self, *arguments, **options)

    estimation.MirrorDescent.estimate = estimated


if __name__ == "__main__":
    run("dpsynth", synthesize)
