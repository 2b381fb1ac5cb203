"""The certificate says what happened, and no seed comes near the noise."""

import importlib
import inspect
import json
import os
import pkgutil
from fractions import Fraction

import numpy as np
import pytest
from oracles.privacy import ArraySource, Replay, Seeded, p_binomial, p_chi_squared

import synthdp.privacy
from synthdp.core import Domain
from synthdp.privacy import (
    Accounting,
    Adjacency,
    MarginalL1Error,
    PrivacyLedger,
    PrivateTable,
    Randomness,
    SystemRandomness,
)
from synthdp.release import NOT_COVERED, RECORDS, privacy_certificate

pytestmark = pytest.mark.fresh_noise

MODULES = [
    importlib.import_module(f"synthdp.privacy.{m.name}")
    for m in pkgutil.iter_modules(synthdp.privacy.__path__)
]

ONE_RECORD = "people with more than one record: the guarantee is for one record"


def gdp_certificate():
    domain = Domain(("a", "b"), (2, 2))
    ledger = PrivacyLedger(
        epsilon=1.0, delta=1e-9, adjacency=Adjacency.ADD_REMOVE, accounting=Accounting.GDP
    )
    table = PrivateTable(ArraySource(domain, [(0, 1)] * 5), ledger)
    score = MarginalL1Error({("a",): np.zeros(2), ("b",): np.zeros(2)})
    table.scores([("a",), ("b",)], score=score, rho=ledger.budget / 3)
    table.measure(("a", "b"), rho=ledger.remaining)
    return ledger, privacy_certificate(ledger=ledger, randomness=table.randomness, release={})


def certificate(
    randomness=None, release=None, epsilon=1.0, delta=1e-9, adjacency=Adjacency.ADD_REMOVE
):
    domain = Domain(("a", "b"), (2, 2))
    ledger = PrivacyLedger(epsilon=epsilon, delta=delta, adjacency=adjacency)
    table = PrivateTable(ArraySource(domain, [(0, 1)] * 5), ledger, randomness=randomness)
    table.measure(("a",), rho=ledger.budget / 3)
    table.select(
        [("a",), ("b",)],
        score=MarginalL1Error({("a",): np.zeros(2), ("b",): np.zeros(2)}),
        rho=ledger.budget / 9,
    )
    table.measure(("a", "b"), rho=ledger.remaining / 2)
    return ledger, privacy_certificate(
        ledger=ledger, randomness=table.randomness, release=release or {}
    )


def test_it_states_the_guarantee():
    _, statement = certificate(epsilon=2.5, delta=1e-7)
    assert statement["guarantee"] == "(2.5, 1e-07)-differential privacy"
    assert (statement["epsilon"], statement["delta"], statement["is_private"]) == (2.5, 1e-7, True)


def test_it_does_not_round_epsilon_down():
    _, statement = certificate(epsilon=1.0000004)
    assert "1.0000004" in statement["guarantee"]


def test_injected_randomness_is_not_private():
    _, statement = certificate(randomness=Seeded(1))
    assert statement["guarantee"].startswith("NOT PRIVATE")
    assert statement["is_private"] is False
    assert "differential privacy" not in statement["guarantee"]
    assert statement["noise"]["randomness"] == Seeded.description


@pytest.mark.parametrize("adjacency", Adjacency)
def test_it_is_plain_json_and_adds_up(adjacency):
    ledger, statement = certificate(adjacency=adjacency)
    assert json.loads(json.dumps(statement, allow_nan=False)) == statement
    assert sum(event["rho"] for event in statement["events"]) == pytest.approx(
        statement["accounting"]["rho_spent"]
    )
    parts = statement["accounting"]
    assert parts["rho_spent"] + parts["rho_left"] == pytest.approx(parts["rho_budget"])
    assert parts["rho_budget"] == float(ledger.budget)
    assert sum((event.rho for event in ledger.events), Fraction(0)) == ledger.spent
    assert [event["event"] for event in statement["events"]] == [
        "marginal",
        "selection",
        "marginal",
    ]
    assert statement["adjacency"] == adjacency.value
    assert statement["unit_of_privacy"] == RECORDS[adjacency]


def test_it_names_the_theorem_and_the_noise_of_its_accounting():
    _, zcdp = certificate()
    ledger, gdp = gdp_certificate()
    assert zcdp["accounting"]["currency"] == "zcdp"
    assert "zCDP" in zcdp["accounting"]["theorem"]
    assert zcdp["noise"]["kind"].startswith(
        "Gaussian, rounded to the nearest integer, discrete Laplace and exponential mechanism"
    )
    assert gdp["guarantee"] == "(1, 1e-09)-differential privacy"
    assert gdp["accounting"]["currency"] == "gdp"
    assert "Gaussian DP" in gdp["accounting"]["theorem"]
    assert "zCDP" not in json.dumps(gdp)
    assert gdp["noise"]["kind"].startswith("Gaussian, rounded to the nearest integer")
    assert "exponential" not in json.dumps(gdp)
    assert "discrete" not in json.dumps(gdp)
    assert [event["event"] for event in gdp["events"]] == ["scores", "marginal"]
    assert {event["mechanism"] for event in gdp["events"]} == {
        "Gaussian, rounded to the nearest integer"
    }
    assert gdp["accounting"]["rho_left"] == 0
    assert (
        gdp["accounting"]["rho_budget"] == float(ledger.budget) == pytest.approx(0.016557, abs=1e-6)
    )
    assert json.loads(json.dumps(gdp, allow_nan=False)) == gdp


def test_it_says_what_is_not_covered():
    _, statement = certificate()
    assert statement["not_covered"] == [*NOT_COVERED, ONE_RECORD]
    assert any("time" in line for line in NOT_COVERED)


def test_the_release_adds_facts_but_cannot_change_the_statement():
    lies = {
        "guarantee": "perfect",
        "is_private": True,
        "epsilon": 0,
        "events": [],
        "not_covered": [],
        "mechanism": "mst",
    }
    _, statement = certificate(randomness=Seeded(1), release=lies)
    assert statement["mechanism"] == "mst"
    assert statement["guarantee"].startswith("NOT PRIVATE")
    assert (statement["is_private"], statement["epsilon"]) == (False, 1.0)
    assert len(statement["events"]) == 3
    assert statement["not_covered"] == [*NOT_COVERED, ONE_RECORD]


# Randomness


def public_callables():
    for module in MODULES:
        for name, thing in vars(module).items():
            ours = getattr(thing, "__module__", None) == module.__name__ and not getattr(
                thing, "_is_protocol", False
            )
            if name.startswith("_") or not ours or not callable(thing):
                continue
            yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing):
                for method, function in vars(thing).items():
                    if inspect.isfunction(function) and (
                        method == "__init__" or not method.startswith("_")
                    ):
                        yield f"{module.__name__}.{name}.{method}", function


def test_no_public_function_takes_a_seed_or_swallows_arguments():
    seen = 0
    for name, thing in public_callables():
        try:
            parameters = inspect.signature(thing).parameters.values()
        except ValueError:
            continue
        for parameter in parameters:
            assert not {"seed", "rng", "random_state", "generator"} & {parameter.name}, name
            assert "Generator" not in str(parameter.annotation), name
            assert parameter.kind is not parameter.VAR_KEYWORD or "Enum" in str(type(thing)), name
            if parameter.name == "randomness":
                assert "Randomness" in str(parameter.annotation), name
            if parameter.name in {"rho", "epsilon", "delta", "sigma_squared", "adjacency"}:
                assert parameter.default is parameter.empty, (
                    f"{name} has a default for {parameter.name}"
                )
            seen += 1
    assert seen > 40


def test_no_module_of_the_kernel_uses_another_generator():
    for module in MODULES:
        source = inspect.getsource(module)
        for forbidden in (
            "np.random",
            "numpy.random",
            "import random",
            "default_rng",
            "RandomState",
            "secrets",
        ):
            assert forbidden not in source, f"{module.__name__} mentions {forbidden}"


def test_all_noise_is_made_of_os_urandom(monkeypatch):
    asked, original = [], os.urandom

    def counted(n):
        asked.append(n)
        return original(n)

    monkeypatch.setattr(os, "urandom", counted)
    certificate()
    assert len(asked) >= 3  # two marginals and a selection
    asked.clear()
    SystemRandomness().words(5, np.uint64)
    SystemRandomness().integer(64)
    assert asked == [40, 8]


def test_the_noise_is_a_function_of_the_bits_alone():
    one, two = (certificate(randomness=Seeded(3))[1] for _ in range(2))
    assert one == two


def test_constant_bits_give_constant_noise(monkeypatch):
    """Power of the test above: if os.urandom says nothing but zeros, so does the noise."""
    monkeypatch.setattr(os, "urandom", bytes)
    domain = Domain(("a",), (50,))
    ledger = PrivacyLedger(epsilon=1.0, delta=1e-9, adjacency=Adjacency.ADD_REMOVE)
    table = PrivateTable(ArraySource(domain, []), ledger)
    assert not table.measure(("a",), rho=0.01).values.any()


def test_system_randomness_is_fair_and_does_not_repeat():
    source = SystemRandomness()
    words = source.words(50_000, np.uint64)
    assert len(np.unique(words)) == 50_000
    for bit in (0, 31, 63):
        assert p_binomial(int((words >> np.uint64(bit) & np.uint64(1)).sum()), 50_000, 0.5) > 1e-13
    counts = np.bincount(source.words(200_000, np.uint8), minlength=256)
    assert p_chi_squared(counts, np.full(256, 1 / 256)) > 1e-13
    assert source.is_private
    assert "unseeded" in source.description


def test_words_cover_the_type_and_empty_requests_work():
    assert Replay(b"\xff" * 8).words(1, np.uint64).tolist() == [2**64 - 1]
    assert Replay(b"\x01\x02").words(1, np.uint16).dtype == np.uint16
    assert SystemRandomness().words(0, np.uint64).size == 0
    assert Replay(b"\x01" + b"\x00" * 7).integer(64) == 1


def test_randomness_must_say_whether_it_is_private():
    class Careless(Randomness):
        def random_bytes(self, n_bytes):
            return bytes(n_bytes)

    with pytest.raises(TypeError, match="is_private"):
        Careless()
    with pytest.raises(TypeError):
        SystemRandomness(7)
