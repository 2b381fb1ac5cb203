"""synthdp: its default or a named recipe, from a schema or from kinds alone."""

import importlib
import sys
from pathlib import Path
from typing import Any

from job import Answer, Job, run


def synthesize(job: Job) -> Answer:
    import synthdp
    import synthdp.mechanisms

    recipe, declared = sys.argv[2], sys.argv[3]
    if ":" in recipe:
        # One's own module lies where the benchmark was called; behind all that is installed.
        sys.path.append(str(Path.cwd()))
        module, name = recipe.split(":")
        recipe = getattr(importlib.import_module(module), name)()
    options: dict[str, Any] = {} if recipe == "default" else {"mechanism": recipe}
    options[declared] = _kinds(job) if declared == "kinds" else _schema(job)
    release = synthdp.synthesize(job.frame(), epsilon=job.epsilon, delta=job.delta, **options)
    return Answer(release.sample(job.n_rows, seed=job.seed)[list(job.columns)])


def _kinds(job: Job) -> dict[str, str]:
    """Nothing but the kind of each column: levels and bounds are learnt within epsilon."""
    return {
        name: "categorical" if "levels" in column else column["type"]
        for name, column in job.columns.items()
    }


def _schema(job: Job) -> dict[str, object]:
    """The public levels and bounds."""
    fields = []
    for name, column in job.columns.items():
        constraints: dict[str, object] = {"required": True}
        if "levels" in column:
            constraints["enum"] = column["levels"]
        else:
            constraints |= {"minimum": column["minimum"], "maximum": column["maximum"]}
        type_ = column.get("type", "string")
        fields.append({"name": name, "type": type_, "constraints": constraints})
    return {"fields": fields, "missingValues": []}


if __name__ == "__main__":
    run("synthdp", synthesize)
