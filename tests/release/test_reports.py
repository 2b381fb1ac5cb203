"""What a run tells of how far it is: each stage ends at all of its steps."""

import numpy as np
import pandas as pd
import pytest
from helpers.quick_engines import quick_engine

import synthdp
from synthdp.release import ENGINES, MECHANISMS

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")

SCHEMA = {
    "fields": [
        {"name": "a", "type": "string", "constraints": {"enum": ["x", "y"]}},
        {"name": "b", "type": "string", "constraints": {"enum": ["p", "q", "r"]}},
        {"name": "c", "type": "string", "synthdp": {"derive": ["levels"], "other": "other"}},
    ]
}


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": rng.choice(["x", "y"], 300), "b": rng.choice(["p", "q"], 300), "c": "same"}
    )


def last_of_each_stage(run):
    told = []
    result = run(lambda *each: told.append(each))
    assert all(0 <= done <= most for _, done, most in told)
    return {stage: (done, most) for stage, done, most in told}, result


@pytest.mark.parametrize(
    ("mechanism", "engine"),
    [*((name, None) for name in MECHANISMS), *(("independent", name) for name in ENGINES)],
)
def test_every_stage_of_every_mechanism_and_engine_ends(mechanism, engine):
    fitter = None if engine is None else quick_engine(engine)
    if mechanism in ("gem", "rap"):
        fitter = quick_engine("relaxed-tabular")
    last, result = last_of_each_stage(
        lambda report: synthdp.synthesize(
            table(),
            SCHEMA,
            epsilon=1.0,
            delta=1e-6,
            mechanism=mechanism,
            engine=fitter,
            report=report,
        )
    )
    assert "learning the domain" in last
    assert all(done == most for done, most in last.values()), last
    if mechanism == "mst":
        refitted, _ = last_of_each_stage(
            lambda report: result.refit("local-consistency", report=report)
        )
        assert refitted
        assert all(done == most for done, most in refitted.values()), refitted
        compared, _ = last_of_each_stage(
            lambda report: synthdp.evaluate(table(), table(), result.schema, report=report)
        )
        assert all(done == most for done, most in compared.values()), compared
