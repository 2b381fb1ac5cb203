"""Train on synthetic, test on real: scores against scikit-learn on the same rows, and where nothing
is learnt.
"""

import sys

import numpy as np
import pytest
from helpers.evaluations import people, read
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from synthdp.core import MissingExtraError
from synthdp.report import Design, Split, chosen_targets, compared_predictions


def predicted(real, synthetic, name, seed=0):
    (target,), _ = chosen_targets(real, name)
    return compared_predictions(real, synthetic, target, np.random.default_rng(seed))


def test_scores_and_curves_of_two_classes():
    real, synthetic = read(people(600)), read(people(500, seed=1))
    scores, curves = predicted(real, synthetic, "job")
    (target,), _ = chosen_targets(real, "job")
    split = Split.from_tables(real, synthetic, target, np.random.default_rng(0))
    assert [table.n_rows for table in (split.real, split.test, split.synthetic)] == [400, 200, 400]
    design = Design.from_table(split.real, ["town", "age", "pay", "born"])
    model = LogisticRegression(max_iter=200).fit(
        design.matrix(split.synthetic)[:, 1:], split.synthetic["job"]
    )
    expected = roc_auc_score(
        split.test["job"], model.predict_proba(design.matrix(split.test)[:, 1:])[:, 1]
    )
    linear = scores.set_index("model").loc["linear"]
    assert linear["synthetic"] == pytest.approx(expected, abs=1e-9)
    assert scores["score"].tolist() == ["AUC", "AUC"]
    assert (scores["real"] > 0.65).all()
    curve = curves[(curves["model"] == "linear") & (curves["trained_on"] == "synthetic")]
    assert (curve["tpr"].rolling(2).mean() * curve["fpr"].diff()).sum() == pytest.approx(
        expected, abs=0.02
    )


def test_shuffled_rows_teach_nothing():
    rng = np.random.default_rng(0)
    frame = people(600)
    shuffled = read(frame.apply(lambda column: rng.permutation(column.to_numpy())))
    for name, least in (("pay", 0.5), ("town", 0.5)):
        scores, curves = predicted(read(frame), shuffled, name)
        assert (scores["real"] > least).all()
        assert (scores["synthetic"] < scores["baseline"] + 0.15).all()
        assert curves.empty


def test_one_class_in_the_synthetic_table_is_chance():
    scores, _ = predicted(read(people(300)), read(people(300).assign(job="x")), "job")
    assert scores["synthetic"].tolist() == [0.5, 0.5]


def test_without_scikit_learn_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'synthdp\[report\]'"):
        predicted(read(people(100)), read(people(100)), "job")
