"""Keys of linked tables that match nowhere: said by noisy counts, or refused by what is declared."""

import re

import pandas as pd
import pytest
from helpers.cli_runs import assert_one_line, invoke
from helpers.families import description, random_tables
from helpers.linked_non_interference import told_in_shell

import synthdp
from synthdp.core import SchemaError, UnreadColumnError
from synthdp.linked import package_run as door

RUN = {
    "anyway": True,
    "epsilon": 10.0,
    "delta": 1e-6,
    "mechanism": "independent",
    "engine": "graphical-model",
}
SAID = "by noisy counts no row belongs to one of"


def pair():
    found = description()
    return {**found, "resources": [found["resources"][0], found["resources"][3]]}


def tables(n_homes, owners, n_pets=None):
    homes = pd.DataFrame({"home": range(n_homes), "place": "town"})
    pets = pd.DataFrame({"owner": owners, "kind": "cat"}) if n_pets is None else None
    return {"homes": homes, "pets": pets}


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
@pytest.mark.parametrize(
    ("n_homes", "owners", "is_said"),
    [
        (2000, [f"H-{number}" for number in range(2000)], True),
        (2000, [], True),
        (2000, range(2000), False),
        (2000, range(300), False),  # few have any, and they are found
        (
            10,
            [f"H-{number}" for number in range(10)],
            False,
        ),  # noise hides how many homes there are
    ],
    ids=["texts against numbers", "empty", "all", "some", "noise"],
)
def test_it_is_said_where_noise_leaves_room_for_few_rows_alone(n_homes, owners, is_said):
    synthesis = synthdp.synthesize(tables(n_homes, [*owners]), pair(), **RUN)
    said = [text for text in synthesis.cautions if SAID in text]
    assert [text.split(":")[0] for text in said] == (["pets"] if is_said else [])


def stopped(given, description=None, **more):
    """What a run said that stopped, the share of its budget that it spent, and what it handed over."""
    rescued = []
    settings = {**RUN, "anyway": False, "rescue": rescued.append} | more
    with pytest.raises(UnreadColumnError) as caught:
        synthdp.synthesize(given, pair() if description is None else description, **settings)
    text = str(caught.value)
    return text, float(text.partition("the run stopped when ")[2].split()[0]) / 100, rescued


def owners(seen, n_homes):
    """Texts against numbers: 12 people came out for 5,898, and all of the budget was spent."""
    return [f"{number}" if seen else f"H-{number}" for number in range(n_homes)]


def test_a_look_sees_that_no_key_matches_before_any_table_is_paid_for():
    text, spent, rescued = stopped(tables(2000, owners(False, 2000)))
    assert text.startswith("table 'pets': by noisy counts at most ")
    assert "write them the same way" in text
    assert "--anyway" in text
    assert (spent, rescued) == (0.01, [])


def test_nothing_is_said_of_keys_that_match_or_of_few_that_do():
    for given in (owners(True, 2000), range(300), [*owners(False, 1800), *range(200)]):
        assert synthdp.synthesize(tables(2000, [*given]), pair(), **RUN | {"anyway": False})


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
@pytest.mark.parametrize("n_homes", [60, 250])
def test_small_packages_stop_after_the_table_above(n_homes):
    """As soon as noise can tell that no home has a pet from that all have one, which was not said of
    packages of 400 homes.
    """
    run = {"epsilon": 250 / n_homes}
    text, spent, (rescued,) = stopped(tables(n_homes, owners(False, n_homes)), **run)
    assert "none is seen that has" in text
    assert rescued.parts.keys() == {"homes"}
    assert spent < 0.8
    settings = {**RUN, "anyway": False, **run}
    assert synthdp.synthesize(tables(n_homes, owners(True, n_homes)), pair(), **settings)


def test_a_column_of_the_last_table_that_is_not_read_is_seen_before_any_is_paid_for():
    given = tables(2000, owners(True, 2000))
    given["pets"]["kind"] = "KAT"
    text, spent, _ = stopped(given, mechanism="auto")
    assert "column 'pets.kind': about 100 % of its values could not be read" in text
    assert spent == 0.01


def test_a_column_of_which_only_bins_are_learnt_is_looked_at_as_well():
    """That it is not read comes out of no bins: all of the budget was spent."""
    weight = {
        "name": "kg",
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 90},
        "synthdp": {"derive": ["bins"], "decimals": 1},
    }
    found = pair()
    found["resources"][1]["schema"]["fields"].append(weight)
    given = tables(2000, owners(True, 2000))
    readable = given["pets"].assign(kg="3.5")
    given["pets"] = given["pets"].assign(kg="3,5 kg")
    text, spent, _ = stopped(given, found)
    # Noise is about a hundredth of the records.
    assert re.search(
        r"column 'pets.kg': about (9[6-9]|100) % of its values could not be read", text
    )
    assert spent < 0.3
    assert synthdp.synthesize(given | {"pets": readable}, found, **RUN | {"anyway": False})


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
def test_it_is_said_of_tables_further_down():
    given = random_tables(3000)
    given["visits"] = given["visits"].assign(number="x")
    synthesis = synthdp.synthesize(given, description(), **RUN)
    assert [text.split(":")[0] for text in synthesis.cautions if SAID in text] == ["visits"]


def contradicting():
    found = pair()
    found["resources"][1]["schema"]["fields"][0] |= {
        "type": "string",
        "constraints": {"pattern": "H-[0-9]+"},
    }
    return found


def test_what_is_declared_so_is_refused_before_a_row_is_read(monkeypatch):
    monkeypatch.setattr(door, "read_sources", None)
    with pytest.raises(SchemaError, match="no key can be both"):
        synthdp.synthesize(tables(10, [1]), contradicting(), **RUN)


def test_commands_say_so_in_one_line(tmp_path, monkeypatch):
    code, out, err, files = told_in_shell(
        tmp_path / "run", contradicting(), tables(10, [1]), None, monkeypatch
    )
    assert (code, out, files) == (1, "", {})
    assert len(err.splitlines()) == 1
    assert_one_line(invoke("schema", "check", tmp_path / "run/input/datapackage.json"), 1)
