"""Rooms have faces: what each offers is listed once, and tests import that."""

import ast
import subprocess
import sys
from importlib import import_module

import pytest
from helpers.faces import deep_imports, stub_of
from helpers.house import FLOORS, House
from helpers.paths import ROOT

from synthdp.core import listed

HOUSE = House.at(ROOT)
ROOMS = [room for floor in FLOORS for room in floor]
MAX_DEEP_IMPORTS = 60
_REASONS = {
    "a module of the room has the same name, and would be imported in its place": """
        audit.audit_text audit.check_mechanism inference.complete_where inference.possible_cells
    """,
    "a step of a command or a run is made to fail, or refused, where it is taken": """
        cli.commands.packages cli.commands.run cli.main cli.shared.outputs cli.shared.rescue
        data.files.csv_file data.records.held_table linked.package_run mechanisms.mst
        privacy.accounting privacy.ledger privacy.private_table release.drawing.draw
        release.persistence.journaled_run release.loading release.certificate.run_facts
        report.evaluate_table
    """,
    "a test of what is private to the module: an optimiser's objective, bounds of a constant": """
        inference.value_drawing inference.engines.layered_consistency inference.engines.mixture_fit
        inference.graphical.belief_propagation linked.linked_certificate
        mechanisms.auto.resolutions privacy.noise.exact release.persistence.chained_file
        schema.made_up.people
    """,
    "two modules of the room have a constant of that name": """
        privacy.values.private_values report.rendering.shares
    """,
    "which modules are loaded, or named by registries and pages, is what is tested": """
        data.files data.records inference.engines.graphical_model inference.engines.public_data
        inference.optimisers.mirror_descent linked.doors linked.doors.synthesize release.drawing
        release.on_demand release.registry release.release release.synthesis
        release.uncertainty.replicates
    """,
    "its libraries are an extra, and a face is read without it": "cli.studio.app",
    "a module of constants or of functions, used as such": """
        cli.arguments.command_line cli.arguments.exits cli.arguments.help_texts linked.families.chain_places
        linked.families.expected_rows linked.families.guess linked.families.within_bins
        release.uncertainty.analyses
    """,
    "run as a program of its own": "cli.shared.first_compile",
}
WHY = {
    reason: [f"synthdp.{name}" for name in modules.split()] for reason, modules in _REASONS.items()
}
"""Why tests name these modules by path."""

OF_THE_HOUSE = ("test_architecture.py", "test_faces.py", "test_loaded.py", "house.py")
"""They say what may stand where: their texts name modules, and import none of them."""


@pytest.mark.parametrize("room", ROOMS)
def test_each_name_of_a_face_is_there(room):
    names = listed(stub_of(ROOT, room).read_text(encoding="utf-8"))
    package = import_module(f"synthdp.{room}")
    assert dir(package) == sorted(names)
    for name, home in names.items():
        assert getattr(package, name) is getattr(import_module(home), name)


@pytest.mark.parametrize("room", ROOMS)
def test_a_face_lists_public_names_of_its_own_room_once(room):
    stub = ast.parse(stub_of(ROOT, room).read_text(encoding="utf-8"))
    assert all(isinstance(node, ast.ImportFrom) for node in stub.body)
    homes = [node.module for node in stub.body]
    names = [alias.name for node in stub.body for alias in node.names]
    assert homes == sorted(homes)
    assert all(home.startswith(f"synthdp.{room}.") for home in homes)
    assert len(names) == len(set(names))
    assert not [name for name in names if name.startswith("_")]
    # A module of that name would take the place of the name as soon as somebody imports it.
    assert not [name for name in names if f"synthdp.{room}.{name}" in HOUSE.modules]
    # Type checkers take a name from a stub only if it is said to be meant for others.
    assert all(alias.asname == alias.name for node in stub.body for alias in node.names)


@pytest.mark.parametrize("room", ROOMS)
def test_importing_a_room_loads_nothing_of_it(room):
    code = (
        f"import sys, synthdp.{room}\n"
        "print(*sorted(name for name in sys.modules if name.count('.') > 1 and 'synthdp' in name))"
    )
    loaded = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == ["synthdp.core.faces", "synthdp.core.version"]


def test_other_names_are_refused():
    with pytest.raises(
        AttributeError, match=r"module 'synthdp\.schema' has no attribute 'nothing'"
    ):
        import_module("synthdp.schema").nothing  # noqa: B018


def test_tests_import_faces():
    """Deep imports nail a module to its place: what is moved or split breaks tests of other things.

    What is patched stands beside a name of a face: `helpers.homes.home` finds its module. A test
    names a module by path only for one of the reasons above. What `docs/adding.md` shows is no test:
    it is written as the file of a room, and imports as one does.
    """
    sources = {
        str(path): path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("*.py")
        if path.name not in OF_THE_HOUSE and path.parent.name != "added"
    }
    deep = deep_imports(sources, HOUSE.modules)
    listing = "\n".join(f"{n_files:3} {module}" for module, n_files in sorted(deep.items()))
    assert len(deep) <= MAX_DEEP_IMPORTS, f"{len(deep)} modules, each with its files:\n{listing}"
    with_reason = {module for modules in WHY.values() for module in modules}
    assert not set(deep) - with_reason, "import it from a face, or see helpers/homes.py, or say why"
    assert not with_reason - set(deep), "no test names it any more: take it out of WHY"


def test_deep_imports_are_found_however_they_are_written():
    source = """
import synthdp
import synthdp.core
import synthdp.core.grid
from synthdp.core import Domain, domain
from synthdp.core.cliques import Clique
from synthdp.nowhere import nothing
monkeypatch.setattr("synthdp.core.factor.Factor.project", None)
REGISTRY["x"] = "synthdp.core.errors:SynthdpError"
run("import sys\\nfrom synthdp.core.workload import Workload")
"synthdp.core.requests is a module, and this a sentence"
"""
    found = deep_imports({"one": source, "two": "import synthdp.core.grid"}, HOUSE.modules)
    assert found == {
        "synthdp.core.grid": 2,
        "synthdp.core.domain": 1,
        "synthdp.core.cliques": 1,
        "synthdp.core.factor": 1,
        "synthdp.core.errors": 1,
        "synthdp.core.workload": 1,
    }
