"""Events for dp_accounting, whose accountants find our guarantee by other means."""

import json
import sys
from math import nextafter

import numpy as np
import pytest
from helpers.stated import DECLARED, KINDS, release_of

import synthdp
from synthdp.core import LinearMeasurement, MissingExtraError, ParameterError
from synthdp.release import dp_events, event_tree

dp_accounting = pytest.importorskip("dp_accounting")
ORDERS = [1 + order for order in np.geomspace(0.1, 1000, 400)]


def epsilon_of(accountant, certificate):
    event, failure = dp_events(certificate)
    return accountant.compose(event).get_epsilon(nextafter(certificate["delta"] - failure, 0))


@pytest.mark.parametrize(
    "settings", [{}, {"adjacency": "replace-one"}, {"unit": "person", "max_rows": 3}]
)
def test_privacy_loss_distributions_give_what_gaussian_dp_gives(settings):
    certificate = release_of(mechanism="auto", accounting="gdp", **settings).certificate
    assert len(certificate["events"]) > 3
    accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=1e-3)
    spent = certificate["accounting"]["rho_spent"] / certificate["accounting"]["rho_budget"]
    assert spent > 0.999
    assert epsilon_of(accountant, certificate) == pytest.approx(certificate["epsilon"], rel=2e-3)


@pytest.mark.parametrize(
    ("declared", "mechanism"), [(DECLARED, "aim"), (DECLARED, "mst"), (KINDS, "independent")]
)
def test_renyi_orders_give_what_zcdp_gives(declared, mechanism):
    certificate = release_of(declared, mechanism=mechanism, accounting="zcdp").certificate
    used = certificate["accounting"]["rho_spent"] / certificate["accounting"]["rho_budget"]
    found = epsilon_of(dp_accounting.rdp.RdpAccountant(ORDERS), certificate)
    assert used**0.5 * 0.99 * certificate["epsilon"] < found < certificate["epsilon"] * (1 + 1e-4)


def test_what_thresholds_may_cost_is_told_apart():
    certificate = release_of(KINDS).certificate
    _, failure = dp_events(certificate)
    assert failure == certificate["accounting"]["failure_delta_spent"] > 0
    assert dp_events(release_of().certificate)[1] == 0


def test_as_json_it_needs_no_library(monkeypatch):
    certificate = release_of(mechanism="aim").certificate
    tree = json.loads(json.dumps(event_tree(certificate)))
    event, _ = dp_events(certificate)
    assert tree["event"]["class_name"] == type(event).__name__
    for part, built in zip(tree["event"]["events"], event.events, strict=True):
        assert part == {"class_name": type(built).__name__} | vars_of(built, part)
    assert {part["class_name"] for part in tree["event"]["events"]} == {
        "GaussianDpEvent",
        "ZCDpEvent",
    }

    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    assert event_tree(certificate) == tree
    with pytest.raises(MissingExtraError, match="pip install dp-accounting"):
        dp_events(certificate)


def vars_of(built, part):
    return {name: getattr(built, name) for name in part if name != "class_name"}


def test_measurements_of_another_system_have_no_events():
    certificate = synthdp.from_measurements(
        DECLARED, [LinearMeasurement(("a",), [4.0, 6.0], 2.0)]
    ).certificate
    with pytest.raises(ParameterError, match="another system's"):
        event_tree(certificate)
