"""Keys of linked tables that match nowhere: said by noisy counts, or refused by what is declared."""

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


@pytest.mark.parametrize("seen", [True, False])
def test_the_run_stops_before_the_tables_below_are_paid_for(seen):
    """Texts against numbers: 12 people came out for 5,898, and all of the budget was spent."""
    owners = [f"{number}" if seen else f"H-{number}" for number in range(2000)]
    rescued = []
    settings = {**RUN, "anyway": False, "rescue": rescued.append}
    if seen:
        synthdp.synthesize(tables(2000, owners), pair(), **settings)
    else:
        with pytest.raises(
            UnreadColumnError, match=r"(?s)'pets'.*write them the same way.*--anyway"
        ):
            synthdp.synthesize(tables(2000, owners), pair(), **settings)
        assert rescued[0].parts.keys() == {"homes"}
    assert len(rescued) == (not seen)


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
