"""Which releases draw a target last of all, and where that is said."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from helpers.stopped_runs import stops

import synthdp
from synthdp.core import Workload
from synthdp.inference import LayeredConsistencyEngine, MixtureEngine, TargetLastModel
from synthdp.report import certificate_text

N_ROWS = 4_000
LEVELS = {"type": "string", "constraints": {"enum": ["0", "1", "2"], "required": True}}
FIELDS = [{"name": name, **LEVELS} for name in ("a", "b", "c", "y")]
NAMED = {"marginals": [{"columns": [name, "y"]} for name in "abc"]}
LAST = "y: drawn last, given all other columns, in 500 rows or more"
WITH_OTHERS = "y: drawn with the other columns, because"


def people():
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(3, size=N_ROWS) for name in "abc"}
    columns["y"] = (sum(columns.values()) > 3).astype(np.int64)
    columns["w"] = rng.integers(1, 9, size=N_ROWS)
    return pd.DataFrame(columns).astype(str)


def released(*, fields=FIELDS, **options):
    settings = {"target": "y", "epsilon": 2, "delta": 1e-6} | options
    names = [field["name"] for field in fields]
    return synthdp.synthesize(people()[names], {"fields": fields}, **settings)


def said_of(found):
    return found.certificate["engine"].get("target")


def test_a_target_is_drawn_last_and_what_rounds_found_stays():
    found = released()
    model = found.model
    assert isinstance(model, TargetLastModel)
    assert found.certificate["findings"]["rounds"]
    assert found.certificate["workload"]["target"] == "y"
    assert said_of(found) == LAST
    assert f"target             {LAST}" in certificate_text(found.certificate, is_whole=False)
    y = model.domain.index("y")
    codes = model.sample(N_ROWS, seed=0)
    kept = model.inner.marginal(("y",)).values / model.total
    assert np.bincount(codes[y], minlength=3) / N_ROWS == pytest.approx(kept, abs=0.02)


@pytest.mark.parametrize("workload", [None, NAMED, "2-way"])
def test_where_nothing_is_to_be_predicted_nothing_is_drawn_last_or_said(workload):
    found = released(workload=workload, target=None)
    assert not isinstance(found.model, TargetLastModel)
    assert said_of(found) is None
    assert "target" not in found.certificate["workload"]


@pytest.mark.parametrize(
    "options",
    [
        {"workload": {"k": 2, "target": "y"}, "target": None},
        {"workload": {"k": 4, "target": "y"}, "target": None},
        {"mechanism": "gaussian", "engine": "layered-consistency", "workload": "2-way"},
        {"mechanism": "aim", "choose": "layered-consistency", "engine": "layered-consistency"},
    ],
)
def test_whoever_names_it_and_whatever_measures_it_is_drawn_last(options):
    assert said_of(released(**options)) == LAST


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"engine": "graphical-model"}, "its engine cannot draw it last"),
        ({"mechanism": "independent", "engine": "layered-consistency"}, "no other column was"),
        (
            {
                "fields": [
                    *FIELDS[:-1],
                    {
                        "name": "y",
                        "type": "integer",
                        "constraints": {"minimum": 0, "maximum": 2, "required": True},
                    },
                ]
            },
            "it is a number",
        ),
    ],
)
def test_why_it_is_not_is_said(options, why):
    found = released(**options)
    assert not isinstance(found.model, TargetLastModel)
    assert said_of(found).startswith(f"{WITH_OTHERS} {why}")


def test_weights_leave_a_target_what_it_is():
    weight = {
        "name": "w",
        "type": "integer",
        "constraints": {"minimum": 1, "maximum": 8, "required": True},
    }
    found = released(fields=[*FIELDS, weight], weight="w")
    assert isinstance(found.model, TargetLastModel)
    drawn = found.sample(2_000, seed=0)
    counted = drawn.groupby("y")["w"].sum() / drawn["w"].sum()
    expected = found.marginal(["y"], weighted=True)
    shares = expected / expected.sum()
    assert counted["1"] == pytest.approx(shares["1"], abs=0.03)


def test_a_choice_is_among_models_that_draw_it_last_where_they_can():
    drawn = []
    sample = TargetLastModel.sample
    settings = {"mechanism": "gaussian", "workload": "2-way", "epsilon": 20}
    with patch.object(
        TargetLastModel, "sample", lambda *args, **more: drawn.append(args) or sample(*args, **more)
    ):
        found = released(engine="graphical-model", choose="layered-consistency", **settings)
    assert drawn
    is_last = found.certificate["choice"]["chosen"] == "layered-consistency"
    assert isinstance(found.model, TargetLastModel) == is_last


def test_other_fits_of_what_was_measured_draw_it_last_too():
    found = released()
    other = found.refit("graphical-model")
    assert not isinstance(other.model, TargetLastModel)
    assert said_of(other).startswith(WITH_OTHERS)
    again = other.refit("layered-consistency")
    assert isinstance(again.model, TargetLastModel)
    assert said_of(again) == LAST
    assert found.model.as_fitted is found.model.inner
    assert found.model.inner.as_fitted is found.model.inner
    drawn, starts = [], []
    sample, fit = TargetLastModel.sample, LayeredConsistencyEngine.fit

    def starting(engine, problem):
        starts.append(problem.warm_start)
        return fit(engine, problem)

    with (
        patch.object(LayeredConsistencyEngine, "fit", starting),
        patch.object(
            TargetLastModel,
            "sample",
            lambda *args, **more: drawn.append(args) or sample(*args, **more),
        ),
    ):
        assert len(list(found.replicates(2, seed=0))) == 2
    assert len({id(model) for model, *_ in drawn}) == 3  # one for the centre
    assert starts[0] is found.model.inner


@pytest.mark.parametrize("is_open", [False, True])
def test_what_is_rescued_from_a_journal_draws_it_last_too(tmp_path, is_open):
    opened = {"name": "a", "type": "string", "synthdp": {"derive": True}}
    fields = [opened, *FIELDS[1:]] if is_open else FIELDS
    path = tmp_path / "run.journal"
    released(fields=fields, journal=path)
    rescued = synthdp.from_journal(path)
    assert rescued.certificate["workload"]["target"] == "y"
    assert said_of(rescued) is None  # nothing was fitted yet
    assert isinstance(rescued.model, TargetLastModel)
    assert said_of(rescued) == LAST
    assert rescued.certificate["engine"]["ended"] in ("optimal", "stalled")


def test_a_column_may_be_called_as_what_quality_asks_for(tmp_path):
    path = tmp_path / "run.journal"
    fields = [{**FIELDS[0], "name": "score of y"}, *FIELDS[1:]]
    table = people().rename(columns={"a": "score of y"})[[field["name"] for field in fields]]
    settings = {"epsilon": 2, "delta": 1e-6, "target": "y", "quality_share": 0, "journal": path}
    found = synthdp.synthesize(table, {"fields": fields}, **settings)
    rescued = synthdp.from_journal(path)
    assert [each.clique for each in rescued.measurements] == [
        each.clique for each in found.measurements
    ]


def test_an_engine_with_parameters_of_its_own_is_not_guessed(tmp_path):
    path = tmp_path / "run.journal"
    released(journal=path, engine=MixtureEngine(n_components=3))
    assert synthdp.from_journal(path).certificate["engine"]["name"] == "auto"


def test_so_does_a_run_that_was_stopped(tmp_path):
    path = tmp_path / "run.journal"
    settings = {"mechanism": "gaussian", "workload": "2-way", "engine": "layered-consistency"}
    assert stops(lambda: released(journal=path, **settings), 8)
    assert isinstance(synthdp.from_journal(path).model, TargetLastModel)


def test_a_certificate_that_names_no_column_of_the_release_changes_nothing():
    found = released()
    forged = found.certificate["workload"] | {"target": "nobody"}
    other = found._with(certificate=found.certificate | {"workload": forged})
    assert not isinstance(other.refit("layered-consistency").model, TargetLastModel)


def test_workloads_keep_what_is_to_be_predicted():
    found = Workload.parse(released().schema.domain, {"k": 2, "target": "y"})
    assert (found.target, found.checked(released().schema.domain).target) == ("y", "y")
