"""dpmm: MST, AIM or PrivBayes, with private bins of numbers (PrivTree)."""

import sys

from job import Answer, Job, run


def synthesize(job: Job) -> Answer:
    from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline

    pipelines = {"mst": MSTPipeline, "aim": AIMPipeline, "privbayes": PrivBayesPipeline}
    domain = {
        name: {"categories": column["levels"]}
        if "levels" in column
        else {"lower": column["minimum"], "upper": column["maximum"]}
        for name, column in job.columns.items()
    }
    # Its default of .1 for the bins comes on top of epsilon: here both together are epsilon.
    has_numbers = any("levels" not in column for column in job.columns.values())
    for_bins = 0.1 * job.epsilon if has_numbers else 0.0
    pipeline = pipelines[sys.argv[2]](
        epsilon=job.epsilon - for_bins,
        delta=job.delta,
        proc_epsilon=for_bins or None,
        n_jobs=1,
        max_model_size=80 if job.settings == "best" else None,
    )
    pipeline.fit(job.frame(), domain=domain, random_state=job.seed)
    rows = pipeline.generate(n_records=job.n_rows, random_state=job.seed)
    return Answer(
        rows[list(job.columns)],
        ["a tenth of epsilon for bins of numbers (its default adds .1 to epsilon)"],
    )


if __name__ == "__main__":
    run("dpmm", synthesize)
