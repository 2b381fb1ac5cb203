"""The settings of a run: checked once, and what does not combine is said in one table."""

import ast
from dataclasses import FrozenInstanceError, fields, replace

import pytest
from helpers.house import House
from helpers.paths import ROOT

from synthdp.core import ParameterError
from synthdp.release import DOES_NOT_COMBINE, RunSettings, Spelling, check_combined

BUDGET = {"epsilon": 1.0, "delta": 1e-9}
PERSONS = {"unit": "patient", "max_rows_per_unit": 3}
VALUES = {
    "adjacency": "replace-one",
    "domain_share": 0.5,
    "max_rows_per_unit": 2,
}

DOORS = {
    *("synthesize", "Synthesizer", "RunSettings", "RunOptions", "AuditOptions"),
    *("plan_measurements", "PlanMeasureOptions"),
}
"""They are told each setting by itself, in Python or by the options of a command."""


def test_no_signature_below_a_door_repeats_the_settings():
    names = {each.name for each in fields(RunSettings)}
    repeating = set()
    for module in House.at(ROOT).modules.values():
        for node in module.tree.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            for part in ast.walk(node):
                told = set()
                if isinstance(part, ast.FunctionDef):
                    told = {each.arg for each in (*part.args.args, *part.args.kwonlyargs)}
                elif isinstance(part, ast.ClassDef):  # fields are the arguments of a dataclass
                    typed = [each.target for each in part.body if isinstance(each, ast.AnnAssign)]
                    told = {each.id for each in typed if isinstance(each, ast.Name)}
                repeating |= {node.name} if len(told & names) >= 7 else set()
    assert repeating == DOORS


def test_settings_are_frozen_and_made_of_others():
    settings = RunSettings(**BUDGET, **PERSONS, mechanism="mst", about={"name": "census"})
    with pytest.raises(FrozenInstanceError):
        settings.epsilon = 2.0
    other = replace(settings, unit=None, max_rows_per_unit=None)
    assert (other.max_rows, other.mechanism, other.about) == (1, settings.mechanism, settings.about)
    assert settings.max_rows == 3


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"delta": 1}, "delta is 1"),
        ({"mechanism": "msd"}, "mechanism 'msd' is unknown"),
        ({"engine": 3}, "engine is 3"),
        ({"adjacency": "swap"}, "adjacency is 'swap'"),
        ({"accounting": "rdp"}, "accounting is 'rdp'"),
        ({"domain_share": 1}, "domain_share is 1"),
        ({"anyway": 1}, "anyway is 1"),
        ({"about": {"nmae": "census"}}, "nmae"),
        ({"unit": "patient"}, "unit is given without max_rows_per_unit"),
        ({"max_rows_per_unit": 3}, "max_rows_per_unit is given without unit"),
        ({"order": "day"}, "order is given without unit"),
        ({"together": True}, "together is given without unit"),
        ({"together": True, "unit": "patient"}, "together is given without max_rows_per_unit"),
        (PERSONS | {"together": "yes"}, "together is 'yes'"),
        (PERSONS | {"order": ""}, "order is ''"),
        (PERSONS | {"order": "patient"}, "which is unit as well"),
    ],
)
def test_what_is_out_of_range_is_refused(said, problem):
    with pytest.raises(ParameterError, match=problem):
        RunSettings(**BUDGET | said)


def test_the_shell_reads_its_own_words():
    with pytest.raises(ParameterError, match=r"^--order is given without --max-rows-per-unit"):
        RunSettings(**BUDGET, unit="patient", order="day", spelling=Spelling.SHELL)


@pytest.mark.parametrize(
    ("rows", "name"), [(rows, name) for rows, names in DOES_NOT_COMBINE.items() for name in names]
)
def test_what_does_not_combine_is_refused_one_by_one(rows, name):
    defaults = {"adjacency": "add-remove", "domain_share": 0.25}
    check_combined(rows, defaults | {"epsilon": 1.0, "mechanism": "auto"})
    for spelling in Spelling:
        with pytest.raises(ParameterError) as refused:
            check_combined(rows, {name: VALUES.get(name, "x")}, spelling)
        assert str(refused.value).startswith(f"{spelling.of(name)} ")


def test_settings_refuse_what_does_not_combine_with_them():
    settings = RunSettings(**BUDGET, **PERSONS, order="day", target="ward")
    with pytest.raises(ParameterError, match="target does not go with order"):
        settings.check_combined("persons", {})
    with pytest.raises(ParameterError, match="known does not go with order"):
        replace(settings, target=None).check_combined("persons", {"known": ["totals.csv"]})
    whole = RunSettings(**BUDGET, **PERSONS, together=True, weight="size")
    with pytest.raises(ParameterError, match="weight does not go with together"):
        whole.check_combined("persons", {})
    with pytest.raises(ParameterError, match="unit is for one table"):
        replace(settings, order=None).check_combined("package", {})
