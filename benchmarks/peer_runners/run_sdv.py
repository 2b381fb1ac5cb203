"""SDV, which is not private: what a Gaussian copula makes of the records as they are."""

from job import Answer, Job, run


def synthesize(job: Job) -> Answer:
    from sdv.metadata import Metadata
    from sdv.single_table import GaussianCopulaSynthesizer

    columns = {
        name: {"sdtype": "categorical" if "levels" in column else "numerical"}
        for name, column in job.columns.items()
    }
    metadata = Metadata.load_from_dict({"tables": {"table": {"columns": columns}}})
    synthesizer = GaussianCopulaSynthesizer(metadata)
    synthesizer.fit({"table": job.frame()})
    drawn = synthesizer.sample(num_rows=job.n_rows)
    rows = drawn["table"] if isinstance(drawn, dict) else drawn
    return Answer(rows[list(job.columns)], ["NOT PRIVATE: fitted without noise"])


if __name__ == "__main__":
    run("sdv", synthesize)
