"""The object with fit and sample is `synthesize`, and no more: same arguments, same release, one
fit.
"""

import copy
import inspect

import numpy as np
import pandas as pd
import pytest
from helpers.failing_runs import failing
from helpers.reach import reachable

import synthdp
from synthdp.core import ParameterError, PrivacyError
from synthdp.privacy import PrivateTable
from synthdp.release import Budget

N_ROWS = 4093
SCHEMA = {
    "fields": [
        {"name": name, "type": "string", "constraints": {"enum": ["x", "y"], "required": True}}
        for name in ("a", "b")
    ]
}


def frame():
    codes = np.random.default_rng(0).integers(0, 2, (N_ROWS, 2))
    return pd.DataFrame(np.array(["x", "y"], dtype=object)[codes], columns=["a", "b"])


def quick(**changes):
    return synthdp.Synthesizer(
        **({"schema": SCHEMA, "epsilon": 1.0, "delta": 1e-6, "mechanism": "mst"} | changes)
    )


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(frame())


def test_its_arguments_are_those_of_synthesize():
    ours, theirs = (
        dict(inspect.signature(each).parameters)
        for each in (synthdp.Synthesizer, synthdp.synthesize)
    )
    for name in ("data", "report", "rescue"):
        del theirs[name]
    assert list(ours.values()) == list(theirs.values())


def test_each_argument_reaches_the_release():
    given = {"engine": "direct", "accounting": "zcdp", "adjacency": "replace-one", "target": "a"}
    certificate = quick(**given, about={"name": "coins"}).fit(frame()).synthesis_.certificate
    assert (certificate["engine"]["name"], certificate["mechanism"]["name"]) == ("direct", "mst")
    assert certificate["accounting"]["currency"] == "zcdp"
    assert (certificate["adjacency"], certificate["about"]) == ("replace-one", {"name": "coins"})
    assert (certificate["epsilon"], certificate["delta"]) == (1.0, 1e-6)


def test_it_draws_and_saves_what_was_released(fitted, tmp_path):
    wanted = {"seed": 3, "where": {"a": ["x"]}, "text": True}
    pd.testing.assert_frame_equal(
        fitted.sample(20, **wanted), fitted.synthesis_.sample(20, **wanted)
    )
    assert list(fitted.sample(given=pd.DataFrame({"b": ["y"] * 3}))["b"]) == ["y"] * 3
    fitted.save(tmp_path / "coins.synthdp")
    pd.testing.assert_frame_equal(
        synthdp.load(tmp_path / "coins.synthdp").sample(9, seed=1), fitted.sample(9, seed=1)
    )
    with pytest.raises(synthdp.DataFileError, match="exists"):
        fitted.save(tmp_path / "coins.synthdp")
    fitted.save(tmp_path / "coins.synthdp", force=True)


def test_it_holds_no_records(fitted):
    found = reachable(fitted)
    assert fitted.synthesis_.model in found
    assert [thing for thing in found if isinstance(thing, pd.DataFrame)] == []
    assert [
        thing for thing in found if isinstance(thing, np.ndarray) and N_ROWS in thing.shape
    ] == []


def test_it_is_fitted_once(fitted):
    before = fitted.synthesis_
    with pytest.raises(PrivacyError, match="another fit is another release"):
        fitted.fit(frame())
    assert fitted.synthesis_ is before


def test_unfitted_it_says_so(tmp_path):
    for use in (quick().sample, lambda: quick().save(tmp_path / "none.synthdp")):
        with pytest.raises(ParameterError, match="call fit"):
            use()
    assert "not fitted" in repr(quick())
    assert list(tmp_path.iterdir()) == []


def test_a_column_apart_is_refused_before_anything_is_read():
    with pytest.raises(ParameterError, match="target="):
        quick().fit(object(), y=[0, 1])


def test_what_was_paid_for_is_kept_if_a_fit_fails(monkeypatch, tmp_path):
    synthesizer = quick()
    broken = failing(PrivateTable.measure, RuntimeError("stop"), after=1)
    with monkeypatch.context() as patch:
        patch.setattr(PrivateTable, "measure", broken)
        with pytest.raises(RuntimeError, match="stop") as caught:
            synthesizer.fit(frame())
    own = [
        entry.frame.f_locals for entry in caught.traceback if entry.path.name == "synthesizer.py"
    ]
    assert [names for names in own if "data" in names] == []
    assert len(synthesizer.rescued_.measurements) == 1
    with pytest.raises(ParameterError, match="not fitted"):
        synthesizer.sample()
    with pytest.raises(PrivacyError, match="another fit"):
        synthesizer.fit(frame())
    resumed = synthesizer.set_params(journal=tmp_path / "coins.journal").fit(frame())
    assert resumed.synthesis_.certificate["complete"]


def test_parameters_are_read_and_set_by_name():
    synthesizer = quick()
    assert synthesizer.get_params() == synthesizer.get_params(deep=False)
    assert synthesizer.get_params()["schema"] is SCHEMA
    assert synthesizer.set_params(epsilon=2.0, engine="direct") is synthesizer
    assert (synthesizer.epsilon, synthesizer.engine) == (2.0, "direct")
    with pytest.raises(ParameterError, match="no parameter 'n_epochs'; choose from schema, kinds"):
        synthesizer.set_params(epsilon=3.0, n_epochs=9)
    assert synthesizer.epsilon == 2.0


def test_arguments_are_looked_at_by_fit():
    wrong = quick(epsilon=-1)
    with pytest.raises(ParameterError, match="epsilon"):
        wrong.fit(frame())


def test_scikit_learn_clones_it_unfitted(fitted, tmp_path):
    base = pytest.importorskip("sklearn.base")
    again = base.clone(fitted)
    assert again.get_params() == fitted.get_params()
    with pytest.raises(ValueError, match="not fitted"):
        again.sample()
    objects = {
        "schema": synthdp.Schema.from_dict(SCHEMA),
        "budget": Budget.create(
            tmp_path / "coins.budget", epsilon=3, delta=1e-5, population="tossers"
        ),
    }
    cloned = base.clone(quick(**objects))
    assert cloned.schema == objects["schema"]
    assert isinstance(cloned.budget, Budget)


def test_a_copy_stays_fitted(fitted):
    pd.testing.assert_frame_equal(copy.deepcopy(fitted).sample(5, seed=1), fitted.sample(5, seed=1))
