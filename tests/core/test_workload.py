"""Workloads: what they hold, against brute force; files; and one-line refusals, before any record
is read.
"""

import json
import re
from itertools import chain, combinations
from math import comb, inf, nan

import numpy as np
import pytest
from helpers.cli_runs import assert_one_line, invoke, lay_out, names_in, run_arguments
from hypothesis import given
from hypothesis import strategies as st

from synthdp.cli.commands import run
from synthdp.core import (
    MAX_COLUMNS_FOR_TRIPLES,
    MAX_DEFAULT_CELLS,
    MIN_USE,
    Domain,
    ParameterError,
    Workload,
)

DOMAIN = Domain(("a", "b", "c", "d"), (2, 3, 4, 5))
NAMES = st.sampled_from(DOMAIN.attributes)
SETS = st.lists(NAMES, min_size=1, max_size=4, unique=True)
WEIGHTS = st.floats(1e-3, 1e3)
ENTRIES = st.lists(st.tuples(SETS, WEIGHTS), min_size=1, max_size=8)


def in_order(names):
    return tuple(name for name in DOMAIN.attributes if name in names)


def subsets(names):
    return chain.from_iterable(combinations(names, k) for k in range(1, len(names) + 1))


# ---- what a workload holds


@given(
    st.integers(1, 6),
    st.none() | NAMES,
    st.none() | st.integers(1, 150),
    st.permutations([("a", 2), ("b", 3), ("c", 9)]),
)
def test_all_k_way_holds_every_set_of_columns_that_is_wanted(k, target, max_cells, levels):
    domain = Domain(*zip(*levels, ("d", 5), strict=True))
    wanted = [
        clique
        for clique in combinations(domain.attributes, min(k, 4))
        if (target is None or target in clique)
        and (max_cells is None or domain.size(clique) <= max_cells)
    ]
    if not wanted:
        with pytest.raises(ParameterError, match="it is empty"):
            Workload.all_k_way(domain, k, target=target, max_cells=max_cells)
        return
    workload = Workload.all_k_way(domain, k, target=target, max_cells=max_cells)
    assert workload.weights == dict.fromkeys(wanted, 1.0)
    assert workload.cliques == tuple(wanted)


@given(ENTRIES)
def test_sets_of_columns_come_in_any_order_and_add_up(entries):
    workload = Workload.from_cliques(
        DOMAIN, [names for names, _ in entries], [weight for _, weight in entries]
    )
    expected = {}
    for names, weight in entries:
        expected[in_order(names)] = expected.get(in_order(names), 0.0) + weight
    assert workload.weights == expected
    assert Workload.from_cliques(DOMAIN, [names for names, _ in entries]).weights == {
        clique: sum(in_order(names) == clique for names, _ in entries) for clique in expected
    }
    assert workload.checked(DOMAIN).weights == workload.weights
    marginals = [{"columns": list(names), "weight": weight} for names, weight in entries]
    assert Workload.from_dict(DOMAIN, {"marginals": marginals}).weights == expected


@given(ENTRIES, SETS)
def test_the_use_of_a_clique_is_what_it_has_in_common_with_each_marginal(entries, clique):
    workload = Workload.from_cliques(
        DOMAIN, [names for names, _ in entries], [weight for _, weight in entries]
    )
    expected = sum(weight * len(set(clique) & set(names)) for names, weight in entries)
    assert workload.weight_of(clique) == pytest.approx(expected)


@given(ENTRIES, st.lists(SETS.map(in_order), min_size=1, unique=True))
def test_relative_weights_follow_use_down_to_a_little(entries, cliques):
    workload = Workload.from_cliques(
        DOMAIN, [names for names, _ in entries], [weight for _, weight in entries]
    )
    weights = workload.relative_weights(cliques)
    uses = {
        clique: sum(w * len(set(clique) & set(names)) for names, w in entries) for clique in cliques
    }
    largest = max(uses.values())
    assert list(weights) == cliques
    assert weights == pytest.approx(
        {c: max(use / (largest or 1.0), MIN_USE) for c, use in uses.items()}
    )


def test_relative_weights_of_nothing():
    assert Workload.from_cliques(DOMAIN, ["a"]).relative_weights([]) == {}


@given(ENTRIES)
def test_downward_closure_is_every_subset_once_small_ones_first(entries):
    closure = Workload.from_cliques(DOMAIN, [names for names, _ in entries]).downward_closure()
    expected = {part for names, _ in entries for part in subsets(in_order(names))}
    assert set(closure) == expected
    assert len(closure) == len(expected)
    assert [len(clique) for clique in closure] == sorted(len(clique) for clique in closure)


@pytest.mark.parametrize(
    ("n_columns", "size", "n_marginals", "k"),
    [
        (1, 7, 1, 1),
        (2, 7, 1, 2),
        (5, 7, 10, 3),
        (MAX_COLUMNS_FOR_TRIPLES, 2, comb(MAX_COLUMNS_FOR_TRIPLES, 3), 3),
        (MAX_COLUMNS_FOR_TRIPLES + 1, 2, comb(MAX_COLUMNS_FOR_TRIPLES + 1, 2), 2),
        (3, 102, 3, 2),  # triples have 1,061,208 cells, more than 2^20
        (3, 101, 1, 3),
        (3, 1025, 3, 1),  # and pairs 1,050,625
    ],
)
def test_the_default_is_the_largest_marginals_that_are_not_too_many_or_too_large(
    n_columns, size, n_marginals, k
):
    domain = Domain(tuple(f"x{i}" for i in range(n_columns)), (size,) * n_columns)
    for workload in (Workload.default(domain), Workload.parse(domain, None)):
        assert len(workload.cliques) == n_marginals
        assert {len(clique) for clique in workload.cliques} == {k}


def test_the_default_leaves_out_what_is_too_large_only():
    domain = Domain(("a", "b", "c", "d"), (MAX_DEFAULT_CELLS // 8, 2, 2, 4))
    assert Workload.default(domain).cliques == tuple(combinations("abcd", 3))
    wider = Domain(("a", "b", "c", "d"), (MAX_DEFAULT_CELLS // 4, 2, 2, 4))
    assert Workload.default(wider).cliques == (("a", "b", "c"), ("b", "c", "d"))


def test_it_says_how_many_marginals_it_holds():
    assert repr(Workload.all_k_way(DOMAIN, 3)) == "<Workload of 4 marginals of up to 3 columns>"


# ---- a target beside them


@given(
    st.sampled_from(DOMAIN.attributes), st.sampled_from([None, "1-way", "2-way", "3-way", "9-way"])
)
def test_a_target_keeps_the_marginals_that_hold_it(target, text):
    without = Workload.parse(DOMAIN, text)
    kept = {clique: 1.0 for clique in without.cliques if target in clique}
    assert Workload.parse(DOMAIN, text, target=target).weights == kept
    assert kept


@pytest.mark.parametrize("n_columns", [MAX_COLUMNS_FOR_TRIPLES, MAX_COLUMNS_FOR_TRIPLES + 1])
def test_with_a_target_wide_tables_have_pairs_as_without(n_columns):
    domain = Domain(tuple(f"x{i}" for i in range(n_columns)), (2,) * n_columns)
    k = 3 if n_columns == MAX_COLUMNS_FOR_TRIPLES else 2
    assert len(Workload.parse(domain, None, target="x7").cliques) == comb(n_columns - 1, k - 1)


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        (MAX_DEFAULT_CELLS // 6, [("a", "b", "c"), ("a", "b", "d")]),
        (MAX_DEFAULT_CELLS // 3, [("a", "b"), ("b", "c"), ("b", "d")]),
        (MAX_DEFAULT_CELLS, [("b",)]),
    ],
)
def test_the_default_with_a_target_leaves_out_what_is_too_large(size, wanted):
    domain = Domain(("a", "b", "c", "d"), (2, size, 3, 3))
    assert list(Workload.default(domain, target="b").cliques) == wanted


@pytest.mark.parametrize("form", [{"k": 2}, {"k": 2, "target": None, "max_cells": 12}])
def test_json_without_a_target_takes_one(form, tmp_path):
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(form), encoding="utf-8")
    expected = Workload.from_dict(DOMAIN, form | {"target": "b"}).weights
    for given_ in (form, path):
        assert Workload.parse(DOMAIN, given_, target="b").weights == expected


@pytest.mark.parametrize("own", ["a", "b", 7])
def test_json_with_a_target_takes_no_other(own):
    with pytest.raises(
        ParameterError, match=f"it has the target {own!r}, so it takes no target 'b'; leave one of"
    ):
        Workload.parse(DOMAIN, {"k": 2, "target": own}, target="b")


def test_lists_of_marginals_take_no_target(tmp_path):
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(FORMS["listed"]), encoding="utf-8")
    for given_ in (FORMS["listed"], path, Workload.from_cliques(DOMAIN, ["a"])):
        with pytest.raises(
            ParameterError, match="it lists its marginals, so it takes no target 'b'; leave one of"
        ):
            Workload.parse(DOMAIN, given_, target="b")


DATED = Domain(("moved", "moved:weekday", "born", "born:weekday", "born:month"), (9, 7, 9, 7, 12))


@pytest.mark.parametrize(
    ("target", "way_out"),
    [
        ("height", "name one of 'moved', 'moved:weekday', 'born', 'born:weekday', 'born:month'"),
        ("", "name one of 'moved'"),
        ("month", "name the part of a date with its date: 'born:month'"),
        ("weekday", "name the part of a date with its date: 'moved:weekday' or 'born:weekday'"),
        ("bron:month", "name the part of a date with its date: 'born:month'"),
        (
            "moved:month",
            "the schema declares no part 'month' of 'moved'; add it there, or name 'moved'",
        ),
    ],
)
@pytest.mark.parametrize("text", [None, "2-way"])
def test_a_target_that_is_no_column_is_refused_in_one_line(target, way_out, text):
    with pytest.raises(ParameterError) as caught:
        Workload.parse(DATED, text, target=target)
    message = f"workload: target {target!r} is no column of the model; {way_out}"
    assert str(caught.value).startswith(message)
    assert len(str(caught.value).splitlines()) == 1


def test_a_date_or_its_part_can_be_the_target():
    pairs = [("moved", "born:month"), ("moved:weekday", "born:month"), ("born", "born:month")]
    assert list(Workload.parse(DATED, "2-way", target="born:month").cliques)[:3] == pairs
    assert len(Workload.parse(DATED, "2-way", target="born").cliques) == 4


def test_a_target_that_is_no_text_is_refused():
    for target in (7, ["a"], True):
        with pytest.raises(ParameterError, match="workload: target is not a text; name a column"):
            Workload.parse(DOMAIN, None, target=target)


# ---- forms


FORMS = {
    "pairs": {"k": 2},
    "with a column": {"k": 3, "target": "b"},
    "small ones": {"k": 2, "max_cells": 12},
    "listed": {"marginals": [{"columns": ["c", "a"], "weight": 2}, {"columns": ["b"]}]},
    "nulls": {"k": 1, "target": None, "max_cells": None},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_mappings_and_files_say_the_same(form, encoding, tmp_path):
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(form), encoding=encoding)
    expected = Workload.from_dict(DOMAIN, form).weights
    for given_ in (form, path, str(path), Workload(expected)):
        assert Workload.parse(DOMAIN, given_).weights == expected
    assert Workload.from_dict(DOMAIN, FORMS["listed"]).weights == {("a", "c"): 2.0, ("b",): 1.0}


def test_more_marginals_than_can_be_scored_are_refused_before_they_are_made():
    domain = Domain(tuple(f"c{i}" for i in range(100)), (2,) * 100)
    with pytest.raises(
        ParameterError, match=r"5-way of 100 columns are 75,287,520 marginals; give a smaller k"
    ):
        Workload.all_k_way(domain, 5)
    with pytest.raises(ParameterError, match="50-way of 100 columns"):
        Workload.from_dict(domain, {"k": 50})
    assert len(Workload.all_k_way(domain, 3, target="c7").weights) == 99 * 98 // 2


@pytest.mark.parametrize("k", [1, 2, 3, 4, 99])
def test_a_text_says_how_many_columns(k):
    assert Workload.parse(DOMAIN, f"{k}-way").weights == Workload.all_k_way(DOMAIN, k).weights


# ---- refusals


BAD_FORMS = {
    "empty": ({}, "give either k or marginals"),
    "both": ({"k": 2, "marginals": []}, "give either k or marginals"),
    "unknown key": (
        {"k": 2, "weights": []},
        "'weights' is not known; it may have k, target, max_cells, marginals",
    ),
    "k 0": ({"k": 0}, "k is 0"),
    "k negative": ({"k": -1}, "k is -1"),
    "k true": ({"k": True}, "k is True"),
    "k fractional": ({"k": 2.0}, "k is 2.0; give a whole number"),
    "k text": ({"k": "2"}, "k is '2'"),
    "k null": ({"k": None}, "give either k or marginals"),
    "max_cells 0": ({"k": 2, "max_cells": 0}, "max_cells is 0"),
    "max_cells fractional": ({"k": 2, "max_cells": 1e6}, "max_cells is 1000000.0"),
    "max_cells true": ({"k": 2, "max_cells": True}, "max_cells is True"),
    "nothing as small": ({"k": 2, "max_cells": 1}, "it is empty; ask for at least one marginal"),
    "unknown target": ({"k": 2, "target": "height"}, "'height'"),
    "target no text": ({"k": 2, "target": 7}, "target is not a text"),
    "no marginals": ({"marginals": []}, "it is empty"),
    "marginals no list": (
        {"marginals": {"columns": ["a"]}},
        "marginals is {'columns': ['a']}; give a list",
    ),
    "marginals and target": ({"marginals": [{"columns": ["a"]}], "target": "a"}, "stands alone"),
    "marginal no object": (
        {"marginals": [["a", "b"]]},
        "marginals[0] is ['a', 'b']; give an object",
    ),
    "marginal without columns": (
        {"marginals": [{"weight": 2}]},
        "marginals[0].columns is not given; give a list of names",
    ),
    "marginal with more": (
        {"marginals": [{"columns": ["a"], "k": 2}]},
        "'marginals[0].k' is not known; it may have columns, weight",
    ),
    "columns a text": ({"marginals": [{"columns": "ab"}]}, "columns is 'ab'; give a list of names"),
    "columns a number": ({"marginals": [{"columns": 5}]}, "columns is 5; give a list of names"),
    "columns null": ({"marginals": [{"columns": None}]}, "columns is not given; give a list of"),
    "columns numbers": ({"marginals": [{"columns": [1, 2]}]}, "columns is [1, 2]; give a list"),
    "columns empty": ({"marginals": [{"columns": []}]}, "name at least one"),
    "column unknown": ({"marginals": [{"columns": ["a", "height"]}]}, "'height'"),
    "column twice": ({"marginals": [{"columns": ["a", "a"]}]}, "a column repeats"),
    "weight 0": ({"marginals": [{"columns": ["a"], "weight": 0}]}, "is 0.0; give a number above 0"),
    "weight negative": (
        {"marginals": [{"columns": ["a"], "weight": -1}]},
        "is -1.0; give a number above 0",
    ),
    "weight nan": ({"marginals": [{"columns": ["a"], "weight": nan}]}, "is nan"),
    "weight inf": ({"marginals": [{"columns": ["a"], "weight": inf}]}, "is inf"),
    "weight too large": ({"marginals": [{"columns": ["a"], "weight": 1e10}]}, "up to 1e9"),
    "weight beyond floats": ({"marginals": [{"columns": ["a"], "weight": 10**400}]}, "up to 1e9"),
    "weight true": ({"marginals": [{"columns": ["a"], "weight": True}]}, "weight is True"),
    "weight text": ({"marginals": [{"columns": ["a"], "weight": "2"}]}, "weight is '2'"),
}


@pytest.mark.parametrize(("form", "message"), BAD_FORMS.values(), ids=BAD_FORMS)
def test_wrong_descriptions_are_refused_in_one_line(form, message, tmp_path):
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(form), encoding="utf-8")
    for given_ in (form, path):
        with pytest.raises(ParameterError, match=re.escape(message)) as caught:
            Workload.parse(DOMAIN, given_)
        assert len(str(caught.value).splitlines()) == 1


BAD_FILES = {
    "no JSON": b"{k: 2}",
    "empty": b"",
    "no object": b"[1, 2]",
    "no UTF-8": b'{"k": "\xe9"}',
    "endless": b"[" * 100_000,
}


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES)
def test_files_that_hold_no_workload_are_refused_in_one_line(content, tmp_path):
    path = tmp_path / "workload.json"
    path.write_bytes(content)
    with pytest.raises(
        ParameterError, match=r"holds no JSON object|not valid JSON|cannot be read|nests more"
    ):
        Workload.parse(DOMAIN, path)


@pytest.mark.parametrize(
    "name", ["none.json", ".", "2way", "way", "-1-way", "2-ways", "9" * 5000 + "-way"]
)
def test_files_that_cannot_be_read_are_refused_in_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=f"workload '{re.escape(name)}': it cannot be read"):
        Workload.parse(DOMAIN, name)


def test_objects_that_make_no_sense_are_refused():
    for weights, message in (
        ({}, "it is empty"),
        ({(): 1.0}, "name at least one"),
        ({("a", "a"): 1.0}, "each once"),
        ({("a",): nan}, "give a number above 0"),
    ):
        with pytest.raises(ParameterError, match=message):
            Workload(weights)
    with pytest.raises(ParameterError, match="k is 0"):
        Workload.all_k_way(DOMAIN, 0)
    with pytest.raises(ParameterError, match="'height'"):
        Workload({("height",): 1.0}).checked(DOMAIN)
    assert np.isclose(Workload({("b", "a"): 1.0}).checked(DOMAIN).weights["a", "b"], 1.0)


# ---- from the command line


@pytest.fixture
def place(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def certificate(place, *more):
    options = ("--mechanism", "gaussian", "--force", *more)
    outcome = invoke(*run_arguments(*options))
    assert (outcome.code, outcome.notes) == (0, [])
    return json.loads((place / "out.csv.privacy.json").read_text(encoding="utf-8"))


def test_a_run_measures_what_the_workload_asks_for(place):
    assert certificate(place, "--workload", "2-way")["workload"] == {
        "n_marginals": 3,
        "columns_at_most": 2,
    }
    assert certificate(place)["workload"] == {"n_marginals": 1, "columns_at_most": 3}
    (place / "workload.json").write_text('{"k": 2, "target": "age"}', encoding="utf-8")
    events = certificate(place, "--workload", "workload.json")["events"]
    pairs = [set(event["columns"]) for event in events if len(event.get("columns", ())) == 2]
    assert sorted(map(sorted, pairs)) == [["age", "code"], ["age", "town"]]


def test_a_run_measures_what_the_target_asks_for(place):
    def pairs(found):
        return sorted(
            sorted(event["columns"])
            for event in found["events"]
            if len(event.get("columns", ())) == 2
        )

    unmeasured = ("--quality-share", "0")  # quality asks for pairs of its own
    found = certificate(place, "--workload", "2-way", "--target", "age", *unmeasured)
    assert found["workload"] == {"n_marginals": 2, "columns_at_most": 2, "target": "age"}
    assert pairs(found) == [["age", "code"], ["age", "town"]]
    assert (
        "2 marginals of up to 2 columns"
        in invoke("show", "out.csv.privacy.json", "--all").out.decode()
    )
    assert certificate(place, "--target", "age")["workload"] == {
        "n_marginals": 1,
        "columns_at_most": 3,
        "target": "age",
    }
    (place / "workload.json").write_text('{"k": 2}', encoding="utf-8")
    assert pairs(
        certificate(place, "--workload", "workload.json", "--target", "town", *unmeasured)
    ) == [
        ["age", "town"],
        ["code", "town"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-way", "workload: k is 0"),
        ("pairs", "workload 'pairs': it cannot be read"),
        ("schema.json", "'fields' is not known"),
        ("in.csv", "it is not valid JSON in line 1, column 1"),
        ("height.json", "'height'"),
    ],
)
def test_a_wrong_workload_is_wrong_usage_before_the_table_is_read(
    text, message, place, monkeypatch
):
    def read(*_arguments, **_options):
        pytest.fail("records were read")

    monkeypatch.setattr(run, "rows_of", read)
    (place / "height.json").write_text('{"marginals": [{"columns": ["height"]}]}', encoding="utf-8")
    assert_wrong_usage(place, "--workload", text, message=message)


@pytest.mark.parametrize(
    ("workload", "target", "message"),
    [
        (
            (),
            "height",
            "target 'height' is no column of the model; name one of 'town', 'age', 'code'",
        ),
        (("--workload", "2-way"), "Age", "target 'Age' is no column of the model"),
        (
            ("--workload", "listed.json"),
            "age",
            "it lists its marginals, so it takes no target 'age'",
        ),
        (
            ("--workload", "own.json"),
            "age",
            "it has the target 'town', so it takes no target 'age'",
        ),
    ],
)
def test_a_wrong_target_is_wrong_usage_before_the_table_is_read(
    workload, target, message, place, monkeypatch
):
    monkeypatch.setattr(
        run, "rows_of", lambda *_arguments, **_options: pytest.fail("records were read")
    )
    (place / "listed.json").write_text('{"marginals": [{"columns": ["age"]}]}', encoding="utf-8")
    (place / "own.json").write_text('{"k": 2, "target": "town"}', encoding="utf-8")
    assert_wrong_usage(place, *workload, "--target", target, message=message)


def assert_wrong_usage(place, *options, message):
    before = names_in(place)
    outcome = invoke(*run_arguments(*options))
    assert_one_line(outcome, 2)
    assert message in outcome.err
    assert names_in(place) == before


def test_a_file_without_end_is_not_read(tmp_path):
    with (tmp_path / "large.json").open("wb") as stream:
        stream.truncate(1 << 32)
    with pytest.raises(ParameterError, match=r"large.json': it cannot be read; give a JSON file"):
        Workload.parse(Domain(("a",), (2,)), tmp_path / "large.json")
