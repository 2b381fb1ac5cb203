"""The house keeps its floors: imports go down only, and released objects cannot reach the records."""

import ast
import gc
import inspect
import re
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.privacy.private_table import PrivateTable
from synthdp.registry import MECHANISMS
from synthdp.release import Release
from synthdp.table.codec import CodedTable, encode
from synthdp.table.schema import Schema
from synthdp.table.sources import CodedSource

ROOT = Path(__file__).resolve().parents[1]
STANDARD = sys.stdlib_module_names
WORDS = {"synthdp.domain", "synthdp.cliques", "synthdp.factor", "synthdp.measurement", "synthdp.errors"}
WORDS |= {"synthdp.constraint", "synthdp.workload", "synthdp.allocation", "synthdp.rare_levels", "synthdp.residuals"}
WORDS |= {"synthdp.measurement_plan", "synthdp.grid"}
KERNEL_DOOR = {"synthdp.privacy.private_table", "synthdp.mechanism", "synthdp.error_bounds", "synthdp.worst_marginal"}
KERNEL_DOOR |= {"synthdp.batch_selection"}
DOORS = {
    "synthdp",
    "synthdp.cli",
    "synthdp.commands",
    "synthdp.synthesis",
    "synthdp.release",
    "synthdp.archive",
    "synthdp.external",
    "synthdp.show",
    "synthdp.schema_check",
}
DOORS |= {"synthdp.progress", "synthdp.registry", "synthdp.__main__"}
DOORS |= {"synthdp.facts", "synthdp.settings", "synthdp.learnt_domain"}
DOORS |= {"synthdp.listing", "synthdp.show_certificate", "synthdp.schema_files"}
DOORS |= {"synthdp.schema_findings", "synthdp.expected_noise", "synthdp.rescue"}
THIRD_PARTY = {
    "synthdp.privacy": {"numpy", "scipy"},
    "synthdp.inference": {"numpy", "scipy", "networkx"},
    "synthdp.table": {"numpy", "pandas", "pyarrow"},
    "synthdp.evaluation": {"numpy", "pandas", "scipy"},
    "synthdp.mechanisms": {"numpy", "scipy", "networkx"},
    "synthdp.derivation": {"numpy"},
}


def modules() -> dict[str, Path]:
    """All modules of the package by their imported name."""
    found = {}
    for folder, package in ((ROOT / "synthdp", "synthdp"), (ROOT / "mechanisms", "synthdp.mechanisms")):
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path) -> set[str]:
    """Every module that a file imports, lazily or not, but for type checking only."""
    names: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names.add(str(node.module))
    return names


def floor(module: str) -> int:
    """The floor of ../shared/design.md that a module stands on."""
    if module in WORDS or module == "synthdp.version":
        return 0
    if module in KERNEL_DOOR:
        return 2
    if module.startswith(("synthdp.mechanisms", "synthdp.derivation")):
        return 3
    if module in DOORS or module.startswith(("synthdp.evaluation", "synthdp.audit")):
        return 4
    return 1


def package(module: str) -> str:
    return ".".join(module.split(".")[:2])


MODULES = modules()


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down_only(module):
    for name in imports(MODULES[module]):
        if not name.startswith("synthdp") or name == "synthdp.version":
            continue
        assert floor(name) <= floor(module), f"{module} imports {name}, which is above it"
        if floor(module) == floor(name) and floor(module) in (1, 3):
            assert package(module) == package(name), f"{module} imports its neighbour {name}"
        if package(module) == "synthdp.derivation":
            assert package(name) != "synthdp.inference", f"{module} imports {name}, but learning a domain fits nothing"


@pytest.mark.parametrize("module", MODULES)
def test_third_party_imports_belong_to_the_floor(module):
    foreign = {name.split(".")[0] for name in imports(MODULES[module])} - STANDARD - {"synthdp"}
    allowed = {"numpy"} if floor(module) == 0 else THIRD_PARTY.get(package(module), {"numpy", "pandas"})
    assert foreign <= allowed


@pytest.mark.parametrize("module", MODULES)
def test_files_and_functions_are_short(module):
    text = MODULES[module].read_text()
    assert len(text.splitlines()) <= (150 if module.startswith("synthdp.mechanisms") else 300)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = [part for part in node.body if not _is_docstring(part)]
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert lines <= 40, f"{module}.{node.name} has {lines} lines"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@pytest.mark.parametrize("module", MODULES)
def test_no_pickle_no_global_generator_no_warning_filter_in_the_library(module):
    text = MODULES[module].read_text()
    assert not re.search(r"\bimport pickle|allow_pickle=True|np\.random\.(seed|rand|normal|randint)\b", text)
    if module != "synthdp.cli":  # a process of its own
        assert "warnings.simplefilter" not in text
        assert "filterwarnings" not in text


def test_every_package_is_in_the_wheel():
    listed = re.findall(r'^    "(synthdp[\w.]*)",$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    assert set(listed) == packages


def test_public_classes_are_abstract_or_final():
    for name, path in MODULES.items():
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            bases = {ast.unparse(base).split("[")[0] for base in node.bases}
            inherited = bases & {"ABC", "Protocol", "NamedTuple", "Enum", "Exception", "argparse.ArgumentParser"}
            errors = name == "synthdp.errors" or node.name.endswith(("Error", "Detected"))
            abstract = any(
                isinstance(part, ast.FunctionDef) and "abstractmethod" in map(ast.unparse, part.decorator_list)
                for part in ast.walk(node)
            )
            has_subclasses = any(re.search(rf"class \w+\({node.name}\)", p.read_text()) for p in MODULES.values())
            assert "final" in decorators or inherited or errors or abstract or has_subclasses, f"{name}.{node.name}"


def test_public_functions_take_no_arbitrary_keywords_and_no_noise_seed():
    for name in synthdp.__all__:
        value = getattr(synthdp, name)
        if inspect.isfunction(value):
            parameters = inspect.signature(value).parameters.values()
            assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters)
    assert not {"seed", "rng", "random_state"} & set(inspect.signature(synthdp.synthesize).parameters)


# --- what is released cannot reach the records ------------------------------------------------

MARK = 201
SCHEMA = {
    "fields": [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 255, "required": True}}
        | {"synthdp": {"bins": 256}}
        for name in ("a", "b", "c")
    ]
}


def reachable(start: object) -> list[object]:
    """Everything that can be reached from an object, but for modules, code and classes' innards."""
    seen: dict[int, object] = {}
    queue = [start]
    skipped = (types.ModuleType, types.CodeType, types.FrameType, type)
    while queue:
        thing = queue.pop()
        if id(thing) in seen or isinstance(thing, skipped):
            continue
        seen[id(thing)] = thing
        if isinstance(thing, types.FunctionType):
            queue.extend(cell.cell_contents for cell in thing.__closure__ or ())
            continue
        queue.extend(gc.get_referents(thing))
        if isinstance(thing, np.ndarray) and thing.base is not None:
            queue.append(thing.base)
    return list(seen.values())


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_a_synthesis_cannot_reach_the_records(mechanism):
    # a row count that no other array has marks arrays of records
    n_rows = 4093
    rows = np.random.default_rng(0).integers(0, 256, (n_rows, 3))
    frame = pd.DataFrame(rows, columns=list("abc"))
    synthesis = synthdp.synthesize(frame, SCHEMA, epsilon=1, delta=1e-6, mechanism=mechanism)
    for thing in reachable(synthesis):
        assert not isinstance(thing, (PrivateTable, CodedSource, CodedTable, pd.DataFrame))
        if isinstance(thing, np.ndarray):
            assert n_rows not in thing.shape


def test_the_walk_would_find_records_that_leak():
    schema = Schema.from_dict(SCHEMA)
    rows = np.zeros((4093, 3), dtype=int)
    coded = encode(pd.DataFrame(rows, columns=list("abc")), schema)
    release = Release(
        schema=schema, epsilon=1, delta=1e-6, mechanism="mst", engine="graphical-model", adjacency="add-remove"
    )
    synthesis = release.of(coded)
    synthesis.leak = lambda: coded
    assert any(isinstance(thing, CodedTable) for thing in reachable(synthesis))
