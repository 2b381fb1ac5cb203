"""What may be asked of a model: refused before any memory is taken, in one clear error, at every
door.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.homes import home
from oracles.inference import STATUS, field

import synthdp
from synthdp.core import (
    MAX_SAMPLE_BYTES,
    Coarsening,
    Domain,
    LinearMeasurement,
    ModelTooLargeError,
    ParameterError,
    check_cliques,
    check_rows,
    most_rows,
    seeded,
)
from synthdp.inference import MixtureModel, PseudoMarginalModel, RefinedModel, WeightedRowsModel
from synthdp.release import from_measurements

N = 40
WIDE = Domain(tuple(f"x{i}" for i in range(N)), (50,) * N)


def chain():
    """A chain of fifty levels each."""
    pairs = zip(WIDE.attributes[:-1], WIDE.attributes[1:], strict=True)
    return field(WIDE, {pair: np.zeros((50, 50)) for pair in pairs})


def pseudo(domain, regions):
    tables = {
        region: np.full(s := domain.project(region).shape, 1 / np.prod(s)) for region in regions
    }
    return PseudoMarginalModel(
        domain=domain, tables=tables, messages={}, constraints=(), total=1.0, status=STATUS
    )


def mixture():
    levels, weights = np.full((50 * N, 3), 1 / 50), np.full(3, 1 / 3)
    return MixtureModel(domain=WIDE, levels=levels, weights=weights, total=1.0, status=STATUS)


def rows():
    columns = (np.arange(50),) * N
    return WeightedRowsModel(
        domain=WIDE, columns=columns, weights=np.full(50, 1 / 50), total=1.0, status=STATUS
    )


def refined():
    groups, shares = np.arange(100) // 2, {"x0": np.full(100, 0.5)}
    domain = Domain(WIDE.attributes, (100, *WIDE.shape[1:]))
    return RefinedModel(
        inner=mixture(), domain=domain, coarsening=Coarsening({"x0": groups}), shares=shares
    )


MODELS = {
    "field": chain,
    "pseudo-marginals": lambda: pseudo(
        WIDE, zip(WIDE.attributes[:-1], WIDE.attributes[1:], strict=True)
    ),
    "mixture": mixture,
    "rows": rows,
    "refined": refined,
}
ALL = np.ones(50, dtype=bool)


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def model(request):
    return request.param()


def drawings(model):
    """All ways to draw, as functions of a number of rows and a seed."""
    codes = np.zeros(3, dtype=np.uint8)
    wanted = {"x1": ALL}
    return [
        lambda n_rows, seed: model.sample(n_rows, seed=seed),
        lambda n_rows, seed: model.sample(n_rows, seed=seed, rounding=False),
        lambda n_rows, seed: model.sample_where(wanted, n_rows, seed=seed),
        lambda n_rows, seed: model.complete({"x1": np.resize(codes, n_rows)}, seed=seed),
    ]


@pytest.mark.parametrize("seed", [1.5, "a", -1, True, np.float64(2.0), np.True_, [1]], ids=str)
def test_seeds_that_are_no_whole_numbers_are_refused_at_every_door(model, seed):
    for draw in drawings(model):
        with pytest.raises(ParameterError, match=r"^seed is .*; give a whole number of 0 or more"):
            draw(3, seed)


def test_seeds_may_be_any_whole_number(model):
    for draw in drawings(model)[:2]:
        for one, other in ((2**100, 2**100), (np.uint8(7), 7)):
            assert all(map(np.array_equal, draw(20, one), draw(20, other)))
    assert seeded(None).random() != seeded(None).random()


@pytest.mark.parametrize(
    "n_rows", [1.5, 3.0, "3", -1, True, None, np.float64(2.0), 10**12, 10**400]
)
def test_numbers_of_rows_are_whole_and_of_a_size_that_can_be_drawn(model, n_rows):
    for draw in drawings(model)[:3]:
        with pytest.raises(ParameterError, match=r"^n_rows is "):
            draw(n_rows, 0)


def test_how_many_rows_can_be_drawn_depends_on_their_width():
    fifteen = Domain(tuple("abcdefghijklmno"), (200,) * 15)
    check_rows(fifteen, 10**9)
    check_rows(Domain(("a",), (2,)), 2 * 10**9)
    assert most_rows(fifteen.shape) == MAX_SAMPLE_BYTES // 45
    message = r"^n_rows is 1527099484; at most 1527099483 rows of 15 attributes .* 64 GiB: draw fewer, or several"
    with pytest.raises(ParameterError, match=message):
        check_rows(fifteen, MAX_SAMPLE_BYTES // 45 + 1)
    with pytest.raises(ParameterError, match=r"^n_rows is about 10\^400; "):
        check_rows(fifteen, 10**400)


def test_completions_are_bounded_as_samples_are(model, monkeypatch):
    monkeypatch.setattr(home(check_rows), "MAX_SAMPLE_BYTES", 1000)
    with pytest.raises(ParameterError, match=r"^n_rows is 20; at most 14 rows of 40 attributes"):
        model.complete({"x1": np.zeros(20, dtype=int)}, seed=0)


def test_marginals_without_sense_or_too_large_are_refused(model):
    for clique, message in (
        ("x1", "is a text"),
        (("x1", "x1"), "repeats"),
        (("z",), "not in the domain"),
    ):
        with pytest.raises(ParameterError, match=message):
            model.marginal(clique)
    with pytest.raises(ParameterError, match="clique of 40 attributes: name at most 32"):
        model.marginal(WIDE.attributes)
    with pytest.raises(
        ModelTooLargeError, match=r"about 10\^54 cells, at most 134217728 are allowed; name fewer"
    ):
        model.marginal(WIDE.attributes[5:37])
    with pytest.raises(
        ModelTooLargeError, match=r"'x4', 'x5' has 312500000 cells, at most 134217728 are"
    ):
        model.marginals([("x1",), WIDE.attributes[1:6]])
    many = [("x1", "x2", "x3", f"x{i}") for i in range(4, N)] * 5
    with pytest.raises(
        ModelTooLargeError,
        match=r"180 marginals have 1125000000 cells together, at most 1073741824",
    ):
        model.marginals(many)


def test_marginals_within_the_limits_pass():
    assert check_cliques(WIDE, [["x0", "x3"], ()]) == [("x0", "x3"), ()]
    assert check_cliques(Domain(tuple(map(str, range(32))), (1,) * 32), [map(str, range(32))])


CHILD = """
import resource, sys
sys.path[:0] = {paths!r}
import test_requests as doors
from synthdp.core import SynthdpError

models = {{name: make() for name, make in doors.MODELS.items()}}
for model in models.values():
    model.marginal(("x0", "x2")), model.sample(5, seed=0)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + (256 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for name, model in models.items():
    wide = model.domain.attributes[1:33]
    asked = {{
        "marginal": lambda: model.marginal(wide),
        "smaller": lambda: model.marginal(wide[:6]),
        "batch": lambda: model.marginals([wide[:4]] * 200),
        "sample": lambda: model.sample(10**12),
        "chance": lambda: model.sample(10**12, rounding=False),
        "slice": lambda: model.sample_where({{"x1": doors.ALL}}, 10**12),
    }}
    for what, ask in asked.items():
        try:
            ask()
        except SynthdpError as error:
            print(name, what, type(error).__name__, len(str(error).splitlines()))
"""


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory in use is read from /proc"
)
def test_memory_is_refused_before_it_is_taken():
    """In a process that may take 256 MB more than it has: nothing but the one error comes, and it
    comes at once.
    """
    here = Path(__file__)
    places = [str(here.parent), str(here.parents[1]), str(Path(synthdp.__file__).parents[1])]
    command = [sys.executable, "-P", "-c", CHILD.format(paths=places)]
    calm = os.environ | {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    done = subprocess.run(command, env=calm, capture_output=True, text=True, check=False)
    asked = dict.fromkeys(("marginal", "smaller", "batch"), "ModelTooLargeError")
    asked |= dict.fromkeys(("sample", "chance", "slice"), "ParameterError")
    expected = [f"{name} {what} {error} 1" for name in MODELS for what, error in asked.items()]
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


def test_a_synthesis_asks_for_sizes_first_too():
    counts = [LinearMeasurement((name,), np.full(50, 20.0), 1.0) for name in WIDE.attributes]
    synthesis = from_measurements(WIDE, counts)
    with pytest.raises(ModelTooLargeError, match="at most 134217728 are allowed; name fewer"):
        synthesis.marginal(WIDE.attributes[:20])
    for n_rows in (10**12, 1.5, True, "3"):
        with pytest.raises(ParameterError, match=r"^n_rows is "):
            synthesis.sample(n_rows)
        with pytest.raises(ParameterError, match=r"^n_rows is "):
            synthesis.sample(n_rows, where={"x0": [1]})
    for seed in (1.5, "a", -1, True):
        with pytest.raises(ParameterError, match=r"^seed is "):
            synthesis.sample(3, seed=seed)
    slices = {name: list(range(49)) for name in WIDE.attributes[:20]}
    with pytest.raises(
        ModelTooLargeError, match=r"^where: .*; or say how many rows you want with n_rows"
    ):
        synthesis.sample(where=slices)
    assert len(synthesis.sample(7, where=slices)) == 7
