"""The mechanisms of private-pgm, scripts beside its library mbi: MST or AIM, over equal bins.

They lie in the folder ``mechanisms`` of its repository, whose place ``CHECKOUT`` says.
"""

import contextlib
import itertools
import os
import sys
from pathlib import Path

from coding import BINS, coded, decoded
from job import Answer, Job, run


def synthesize(job: Job) -> Answer:
    sys.path.insert(0, str(Path(os.environ["CHECKOUT"]) / "mechanisms"))
    import mbi
    import numpy as np

    np.random.seed(job.seed)  # noqa: NPY002 (their noise is numpy's global one)
    frame, sizes = coded(job)
    data = mbi.Dataset(frame, mbi.Domain(list(sizes), list(sizes.values())))
    remarks = [f"{BINS} equal bins between public bounds"]
    with contextlib.redirect_stdout(sys.stderr):
        if sys.argv[2] == "mst":
            from mst import MST

            drawn = MST(data, job.epsilon, job.delta)
        else:
            from aim import AIM

            settings = {}
            if job.settings == "default":
                settings["max_model_size"] = 1.0  # what it recommends for tries
                remarks.append("models of at most 1 MB")
            pairs = [(each, 1.0) for each in itertools.combinations(data.domain.attrs, 2)]
            _, drawn = AIM(job.epsilon, job.delta, **settings).run(data, pairs)
    codes = drawn.df
    if len(codes) != job.n_rows:  # their number of rows is a noisy count
        codes = codes.sample(job.n_rows, replace=len(codes) < job.n_rows, random_state=job.seed)
        codes = codes.reset_index(drop=True)
        remarks.append("its noisy number of rows sampled to the number asked for")
    return Answer(decoded(codes, job), remarks)


if __name__ == "__main__":
    run("mbi", synthesize)
