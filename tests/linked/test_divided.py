"""What the two views of a table share is divided by the rows that each is of."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import families
from helpers.homes import home
from helpers.pets import package
from helpers.release_files import members_of, summed, write_zip
from helpers.stopped_runs import entries

import synthdp
from synthdp.core import DataFileError, sealed
from synthdp.linked import LinkedRelease, heaviest_rows, views_of
from synthdp.release import RunSettings

N = 400


def tables(n_pets):
    rng = np.random.default_rng(0)
    home = np.repeat(np.arange(N), n_pets)
    some = np.array(list("abc"))
    return {
        "homes": pd.DataFrame({"id": np.arange(N), "kind": some[rng.integers(0, 3, N)]}),
        "pets": pd.DataFrame({"home": home, "sort": some[rng.integers(0, 3, len(home))]}),
    }


def spent(synthesis):
    rho = {
        label: part.certificate["accounting"]["rho_spent"]
        for label, part in synthesis.parts.items()
    }
    return rho, synthesis.certificate["accounting"]


def released(n_pets, **options):
    return synthdp.synthesize(
        tables(n_pets), package(), epsilon=10, delta=1e-6, mechanism="independent", **options
    )


def test_long_chains_leave_more_to_later_rows():
    long, short = (spent(released(each))[0] for each in (12, 2))
    assert long["pets"] + long["later pets"] == pytest.approx(short["pets"] + short["later pets"])
    assert long["later pets"] / long["pets"] > 4
    assert 0.7 < short["later pets"] / short["pets"] < 1.3


def test_all_views_together_spend_what_there_is():
    rho, whole = spent(released(12))
    assert sum(rho.values()) <= whole["rho_spent"] <= whole["rho_budget"]


def test_a_journal_says_what_each_view_may_cost_and_makes_the_release_without_its_run(tmp_path):
    path = tmp_path / "journal"
    whole = released(12, journal=path)
    (said,) = [entry["views"] for entry in entries(path) if "views" in entry]
    assert said.keys() == {"pets", "later pets"}
    assert Fraction(said["later pets"]["budget"]) / Fraction(said["pets"]["budget"]) > 4
    found = synthdp.from_journal(path)
    assert spent(found)[0] == pytest.approx(spent(whole)[0])


def weights(synthesis, rows="later", table="pets"):
    """Units of later rows by how many parts there are."""
    (facts,) = [
        each
        for each in synthesis.certificate["package"]["tables"]
        if (each["table"], each["rows"]) == (table, rows)
    ]
    return {each["parts"]: each["units"] for each in facts["weight_of_a_row"]}


def mixed():
    """Homes with 2 and with 10 pets, which are of one sort in small homes and of another in large
    ones.
    """
    n_pets = np.where(np.arange(N) % 2, 2, 10)
    found = tables(n_pets)
    found["pets"]["sort"] = np.where(np.repeat(n_pets, n_pets) == 2, "a", "b")
    return found


@pytest.mark.parametrize("epsilon", [0.3, 500])
def test_later_rows_weigh_alike_in_families_of_up_to_the_mean_number(epsilon):
    found = synthdp.synthesize(
        mixed(), package(), epsilon=epsilon, delta=1e-6, mechanism="independent"
    )
    by_parts = weights(found)
    # Homes have one or nine pets besides the first, five on average.
    assert by_parts[1] == by_parts[3] > by_parts[8] > by_parts[11]
    assert weights(found, "first") == {1: 1}
    if epsilon > 1:
        assert by_parts[1] == by_parts[4] > by_parts[6] == 2**14 // 6
        # To this mechanism nothing depends on numbers. Of the later pets' weight a sixth or so is
        # of small homes, and was half: about 560 rows, and were 1,200, where the records have 400.
        sorts = found.marginal(["pets.sort"])
        assert sorts["a"] < 700
        assert sorts.sum() == pytest.approx(6 * N, rel=0.02)


def test_where_columns_by_numbers_are_seen_with_noise_families_weigh_alike():
    found = synthdp.synthesize(mixed(), package(), epsilon=10, delta=1e-6, mechanism="independent")
    by_parts = weights(found)
    assert (by_parts[1], by_parts[2], by_parts[11]) == (2**14, 2**13, 2**14 // 11)


def test_weights_of_rows_far_below_the_root_and_of_counts_that_are_given_stay():
    declared = families.package(visits=3)
    frames = families.random_tables(300, seed=1)
    run = {"epsilon": 1e5, "delta": 1e-6, "mechanism": "independent"}
    found = synthdp.synthesize(frames, declared.content, **run)
    assert weights(found, table="people")[1] == weights(found, table="people")[2]
    assert weights(found, table="visits")[1] == views_of(declared)["later visits"].grid
    settings = RunSettings(**run)
    given = LinkedRelease(package=declared, settings=settings).of(
        lambda: families.sources_of(declared, frames)
    )
    assert weights(given, table="people")[1] > weights(given, table="people")[2]


def test_numbers_of_children_are_right_where_rows_weigh_alike():
    found = synthdp.synthesize(mixed(), package(), epsilon=500, delta=1e-6)
    assert weights(found)[1] == weights(found)[4]
    numbers = found.marginal(["number of pets"])
    assert numbers.to_numpy()[[2, 10]] == pytest.approx([N / 2, N / 2], abs=4)


def test_a_file_whose_weights_are_none_is_refused(tmp_path):
    path = tmp_path / "pets.synthdp"
    synthdp.synthesize(mixed(), package(), epsilon=500, delta=1e-6).save(path)
    members = members_of(path)
    manifest = json.loads(members["linked.json"])
    for facts in manifest["certificate"]["package"]["tables"]:
        facts["weight_of_a_row"][0]["units"] = "7"
    manifest["certificate"] = sealed(manifest["certificate"])
    members["linked.json"] = json.dumps(manifest).encode()
    write_zip(path, summed(members))
    with pytest.raises(DataFileError, match="is damaged"):
        synthdp.load(path)


def test_what_is_known_of_later_rows_is_in_their_weights():
    found = synthdp.synthesize(mixed(), package(), epsilon=500, delta=1e-6, mechanism="independent")
    views = views_of(found.package)
    ancestors = home(LinkedRelease).AncestorMarginals(views, 0)
    for label in ("homes", "pets"):
        ancestors.add(views[label], found.parts[label])
    later = views["later pets"].levelled(5)
    known = {each.clique: each.values for each in ancestors.of(later, 1.0)}
    # Homes of two pets have one later pet, a fifth of what theirs of nine weigh together.
    numbers = known["number of pets",][[2, 10]] / later.grid
    assert numbers == pytest.approx([N / 2 / 5, N / 2], rel=0.1)


def test_weights_are_those_of_the_release_wherever_it_is_read(tmp_path):
    journal, path = tmp_path / "journal", tmp_path / "pets.synthdp"
    found = synthdp.synthesize(mixed(), package(), epsilon=500, delta=1e-6, journal=journal)
    assert weights(found)[1] == weights(found)[4]
    found.save(path)
    sorts = found.marginal(["pets.sort"])
    assert synthdp.load(path).marginal(["pets.sort"]).equals(sorts)
    rescued = synthdp.from_journal(journal)
    assert weights(rescued) == weights(found)
    assert rescued.marginal(["pets.sort"]).to_numpy() == pytest.approx(sorts.to_numpy(), abs=N / 10)


@pytest.mark.parametrize("units", [["7"], [True], [-1], [7, None]])
def test_a_certificate_of_no_units_of_weight_is_refused(units):
    stated = [{"parts": number, "units": each} for number, each in enumerate(units, start=1)]
    facts = {"table": "pets", "rows": "later", "weight_of_a_row": stated}
    with pytest.raises(ValueError, match="no units"):
        heaviest_rows({"package": {"tables": [facts]}})


def test_a_row_is_as_heavy_as_its_view_in_a_certificate_that_does_not_say_it():
    assert heaviest_rows({}) == {}
    facts = {"table": "pets", "rows": "first", "weight_of_a_row": []}
    assert heaviest_rows({"package": {"tables": [facts]}}) == {"pets": 2**14}
