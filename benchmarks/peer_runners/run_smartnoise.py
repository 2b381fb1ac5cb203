"""SmartNoise Synth: MST or AIM over equal bins between public bounds."""

import sys

import pandas as pd
from job import Answer, Job, run

BINS = 16


def synthesize(job: Job) -> Answer:
    from snsynth import Synthesizer
    from snsynth.transform import BinTransformer, LabelTransformer, TableTransformer

    frame = job.frame()
    transformers = []
    for column in job.columns.values():
        if "levels" in column:
            labels = LabelTransformer(nullable=False)
            labels.fit(pd.Series(column["levels"]))
        else:
            low, high = float(column["minimum"]), float(column["maximum"])
            # Its bounds must not be 0: "if self.lower and self.upper" asks for truth, not None.
            labels = BinTransformer(bins=BINS, lower=low or -1e-9, upper=high)
        transformers.append(labels)
    synthesizer = Synthesizer.create(sys.argv[2], epsilon=job.epsilon, delta=job.delta)
    synthesizer.fit(frame, transformer=TableTransformer(transformers), preprocessor_eps=0.0)
    rows = pd.DataFrame(synthesizer.sample(job.n_rows))
    rows.columns = list(job.columns)
    for name, column in job.columns.items():
        if "levels" not in column and column["type"] == "integer":
            rows[name] = pd.to_numeric(rows[name]).round()
    return Answer(rows, [f"{BINS} equal bins between public bounds", "levels handed over"])


if __name__ == "__main__":
    run("smartnoise-synth", synthesize)
