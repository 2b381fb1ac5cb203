"""The house keeps its floors: imports go down only, doors bring little along, and what is trusted
stays readable.
"""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from importlib import import_module

import pytest
from helpers.house import (
    FLOORS,
    House,
    circles,
    code_lines,
    misplaced,
    upward,
)
from helpers.paths import ROOT

import synthdp

HOUSE = House.at(ROOT)
PAGE = ROOT / "docs/architecture.md"
CLOSURES = ROOT / ".ci/closures.py"
CLOSURE_LIMITS = {
    "private-table": 2_600,
    "from-measurements": 10_560,
    "synthesize": 18_770,
    "run": 21_570,
    "sample": 13_180,
    "depth": 14,
    "whole-depth": 23,
    "up": 0,
}
"""What the doors bring along, in lines (and modules in a row): these are the figures of the day with
room for a feature; the house allows for 12,000, 20,000 and 26,000. Opening up what was dense may
raise them, within that.
"""

PLACES = {
    "_code_of": "schema/columns/categorical.py",
    "codes_of_numbers": "schema/columns/binned.py",
    "Queryable._noisy": "privacy/queryable.py",
    "BatchPlan.split": "mechanisms/auto/batch_plan.py",
    "draw_attribute": "inference/models/row_network.py",
}
"""What the page about the house leads to."""

STANDARD = sys.stdlib_module_names
THIRD_PARTY = {
    "synthdp": set(),
    "core": {"numpy"},
    "privacy": {"numpy"},
    "inference": {"numpy", "scipy", "numba"},
    "schema": {"numpy", "pandas", "scipy", "pyarrow", "faker", "polars"},
    "mechanisms": {"numpy", "scipy"},
    "learning": {"numpy"},
    "data": {
        "numpy",
        "pandas",
        "scipy",
        "narwhals",
        "polars",
        "duckdb",
        "pyarrow",
        "ibis",
        "psycopg",
        "pyspark",
    },
    "release": {"numpy", "scipy", "pandas", "networkx"},
    "linked": {"numpy", "pandas", "scipy"},
    "report": {"numpy", "pandas", "scipy", "sklearn", "threadpoolctl", "networkx"},
    "audit": {"numpy", "pandas", "scipy"},
    "cli": {"numpy", "pandas", "starlette", "uvicorn"},
}
KERNEL = "privacy/*.py and privacy/noise"
VALUES = "privacy/values"
SHARES = "privacy/shares"
RECORDS = "data/records and what reads and codes one column"
COUNTING = "data/counting"
ENGINES = "data/engines and how they are asked"
ENGINE_VALUES = "data/engines/values"
LINKING = "linked/linking and what a view weighs"
LINES = {
    KERNEL: 940,
    VALUES: 405,
    SHARES: 160,
    RECORDS: 1_140,
    COUNTING: 230,
    LINKING: 490,
    ENGINES: 1_080,
    ENGINE_VALUES: 485,
}
"""Lines of code that an auditor reads: without docstrings, comments, blank lines and imports."""


def test_every_folder_has_its_floor():
    assert misplaced(HOUSE) == []


def test_imports_go_down_only():
    assert upward(HOUSE) == []


def test_no_module_imports_itself_by_a_detour():
    assert circles(HOUSE) == []


@pytest.mark.skipif(not CLOSURES.exists(), reason="no checkout: .ci/ is not there")
def test_what_a_door_brings_along_does_not_grow():
    command = [
        sys.executable,
        str(CLOSURES),
        *(f"--{door}={most}" for door, most in CLOSURE_LIMITS.items()),
    ]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def names_in_texts():
    """What modules name in texts, to load it when it is asked for."""
    nodes = (node for module in HOUSE.modules.values() for node in ast.walk(module.tree))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    return sorted(text for text in map(str, texts) if re.fullmatch(r"synthdp(\.\w+)+:\w+", text))


@pytest.mark.parametrize("name", names_in_texts())
def test_what_is_loaded_by_name_is_there(name):
    module, _, attribute = name.partition(":")
    assert callable(getattr(import_module(module), attribute))


def test_nothing_but_the_table_of_types_knows_a_type():
    table = HOUSE.imports("synthdp.schema.types")
    types = {name for name in table if name.startswith("synthdp.schema.")} & HOUSE.modules.keys()
    types -= {"synthdp.schema.columns.column", "synthdp.schema.made_up.generated_column"}
    types = {name for name in types if ".rules." not in name}
    assert len(types) >= 6
    for name, module in HOUSE.modules.items():
        if module.place not in (("schema", "columns"), ("schema", "made_up")):
            assert name == "synthdp.schema.types" or not HOUSE.imports(name) & types, name


def test_third_party_imports_belong_to_the_floor():
    for name, module in HOUSE.modules.items():
        foreign = {found.split(".")[0] for found in HOUSE.imports(name)} - STANDARD - {"synthdp"}
        assert foreign <= THIRD_PARTY[module.place[0]], name


ROOM_OF_MODULE = {
    "synthdp.schema.columns.reading": RECORDS,
    "synthdp.schema.columns.arrow_values": RECORDS,
    "synthdp.data.loading": RECORDS,
    "synthdp.data.codes.coded_table": RECORDS,
    "synthdp.schema.columns.column": RECORDS,
    "synthdp.data.asking.asking": ENGINES,
    "synthdp.linked.package.view": LINKING,
    "synthdp.linked.package.gaps": LINKING,
    "synthdp.data.engines.connecting": None,  # opens what the user names, and reads no row
}
ROOM_OF_FOLDER = {
    ("privacy", ""): KERNEL,
    ("privacy", "noise"): KERNEL,
    ("privacy", "values"): VALUES,
    ("privacy", "shares"): SHARES,
    ("data", "records"): RECORDS,
    ("data", "counting"): COUNTING,
    ("data", "engines"): ENGINES,
    ("data", "engines.tables"): ENGINES,
    ("data", "engines.values"): ENGINE_VALUES,
    ("linked", "linking"): LINKING,
}


def room_of(name):
    """Which of the trusted rooms a module belongs to, if any."""
    return ROOM_OF_MODULE.get(name, ROOM_OF_FOLDER.get(HOUSE.modules[name].place))


@pytest.mark.parametrize("room", LINES)
def test_what_is_trusted_can_be_read_in_an_afternoon(room):
    counts = {
        name: code_lines(module.text)
        for name, module in HOUSE.modules.items()
        if room_of(name) == room
    }
    assert len(counts) >= 3
    assert sum(counts.values()) <= LINES[room], counts


def test_the_interface_of_engines_imports_no_solver_and_no_arithmetic():
    assert set(HOUSE.own("synthdp.inference.engine")) <= {
        "synthdp.core.cliques",
        "synthdp.core.constraint",
        "synthdp.core.domain",
        "synthdp.core.errors",
        "synthdp.inference.model",
        "synthdp.core.measurement",
    }


# --- the checks themselves: each refuses a house that breaks its rule -----------------------------

SOUND = {
    "synthdp.__init__": "",
    "synthdp.core.words": "import numpy",
    "synthdp.privacy.__init__": "",
    "synthdp.privacy.ledger": "from synthdp.core.words import Word",
    "synthdp.privacy.noise.exact": "from synthdp.core.words import Word",
    "synthdp.inference.arrays": "",
    "synthdp.inference.engines.gum": "from synthdp.inference.arrays import Array",
    "synthdp.release.release": "from synthdp.privacy import ledger\nfrom synthdp.inference.engines.gum import Gum",
}
BROKEN = {
    "an unknown folder": (misplaced, {"synthdp.helpers.things": ""}),
    "an unknown room": (misplaced, {"synthdp.inference.magic.things": ""}),
    "a room in a floor without rooms": (misplaced, {"synthdp.release.parts.things": ""}),
    "an upward import": (
        upward,
        {"synthdp.privacy.ledger": "from synthdp.release.release import Release"},
    ),
    "an upward import in a function": (
        upward,
        {
            "synthdp.core.words": "def late():\n    from synthdp.privacy import ledger\n    return ledger"
        },
    ),
    "an upward import for types": (
        upward,
        {
            "synthdp.core.words": "if TYPE_CHECKING:\n    from synthdp.release.release import Release"
        },
    ),
    "an upward import by a name": (
        upward,
        {"synthdp.inference.arrays": "KINDS = {'gum': 'synthdp.inference.engines.gum:Gum'}"},
    ),
    "an import of a neighbour": (
        upward,
        {"synthdp.inference.arrays": "import synthdp.privacy.ledger"},
    ),
    "an upward import between rooms": (
        upward,
        {"synthdp.privacy.noise.exact": "from synthdp.privacy.ledger import Ledger"},
    ),
    "an import of the door": (upward, {"synthdp.inference.arrays": "import synthdp"}),
    "an import of nothing": (
        upward,
        {"synthdp.release.release": "from synthdp.privacy.scores import Score"},
    ),
    "a circle": (
        circles,
        {
            "synthdp.inference.engines.gum": "def late():\n    from synthdp.inference.engines import auto",
            "synthdp.inference.engines.auto": "from synthdp.inference.engines.gum import Gum",
        },
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_the_checks_find_what_they_are_for(case):
    check, changes = BROKEN[case]
    assert check(House.of(SOUND)) == []
    assert check(House.of(SOUND | changes)) != []


def test_lines_of_code_are_counted_as_said():
    text = (
        '"""Doc."""\n\nimport os\nfrom a import (\n    b,\n)\n\n# why\nX = 1\n"""What X is."""\n\n\n'
        'def f():\n    """Doc."""\n    return (\n        X\n    )\n'
    )
    assert code_lines(text) == 5


# --- rules of style -------------------------------------------------------------------------------


def test_lines_can_be_read_without_scrolling():
    lines = [line for module in HOUSE.modules.values() for line in module.text.splitlines()]
    longer = [line for line in lines if len(line) > 100]  # sentences of errors, tables, addresses
    assert len(longer) <= 0.01 * len(lines)


def test_no_pickle_no_global_generator_no_warning_filter_in_the_library():
    for name, module in HOUSE.modules.items():
        assert not re.search(
            r"\bimport pickle|allow_pickle=True|np\.random\.(seed|rand|normal|randint)\b",
            module.text,
        ), name
        if name != "synthdp.cli.main":  # a process of its own
            assert "warnings.simplefilter" not in module.text, name
            assert "filterwarnings" not in module.text, name


def test_every_package_is_in_the_wheel():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert set(listed) == {name for name, module in HOUSE.modules.items() if module.is_package}
    assert {module.folder for module in HOUSE.modules.values()} <= set(listed)


def test_public_classes_are_abstract_or_final():
    subclassed = {
        ast.unparse(base)
        for module in HOUSE.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    }
    for name, module in HOUSE.modules.items():
        for node in module.tree.body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            bases = {ast.unparse(base).split("[")[0] for base in node.bases}
            inherited = bases & {
                "ABC",
                "Protocol",
                "NamedTuple",
                "Enum",
                "Exception",
                "argparse.ArgumentParser",
            }
            errors = name == "synthdp.core.errors" or node.name.endswith(("Error", "Detected"))
            abstract = any(
                isinstance(part, ast.FunctionDef)
                and "abstractmethod" in map(ast.unparse, part.decorator_list)
                for part in ast.walk(node)
            )
            allowed = (
                "final" in decorators or inherited or errors or abstract or node.name in subclassed
            )
            assert allowed, f"{name}.{node.name}"


def test_public_functions_take_no_arbitrary_keywords_and_no_noise_seed():
    for name in synthdp.__all__:
        value = getattr(synthdp, name)
        if inspect.isfunction(value):
            parameters = inspect.signature(value).parameters.values()
            assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters)
    assert not {"seed", "rng", "random_state"} & set(
        inspect.signature(synthdp.synthesize).parameters
    )


# --- the page about it ----------------------------------------------------------------------------


@pytest.mark.skipif(not PAGE.exists(), reason="no checkout: docs/ is not there")
def test_the_page_about_the_house_tells_the_truth():
    text = PAGE.read_text(encoding="utf-8")
    rows = [
        line.split("|")[2]
        for line in text.splitlines()
        if re.match(r"\| \d", line) and "/" in line.split("|")[2]
    ]
    floors = [
        {name.split("/")[-1] for name in re.findall(r"`((?:synthdp/)?\w+)/?`", row)} for row in rows
    ]
    assert [floor for floor in floors if floor] == [set(floor) for floor in reversed(FLOORS)]
    assert "`ROOMS` in `tests/helpers/house.py`" in text
    for name, file in PLACES.items():
        assert name in text
        assert file.split("/")[-1] in text
        folder = ROOT if file.startswith("mechanisms") else ROOT / "synthdp"
        assert f"def {name.split('.')[-1]}(" in (folder / file).read_text(encoding="utf-8")
    for limit in LINES.values():
        assert re.search(rf"\b{limit}\b", text)


MAX_TYPE_CHECKS = 2


def test_what_a_column_is_is_asked_of_the_column():
    """A type is one file behind one interface: a check of a type elsewhere is a file that the next
    type would have to change. What remains tells open columns from closed ones.
    """
    found = {
        name: checks
        for name, module in HOUSE.modules.items()
        if (checks := _type_checks(module.tree))
    }
    assert sum(map(len, found.values())) <= MAX_TYPE_CHECKS, found


def _type_checks(tree):
    """Checks by isinstance, or by a pattern, that name a class of columns; those of a column's own
    engine, and of dtypes, are none.
    """
    named = re.compile(r"\b(?!EngineColumn)(?:[A-Z]\w*Column|Column)\b")
    calls = (
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass")
    )
    patterns = (
        ast.unparse(node.cls) for node in ast.walk(tree) if isinstance(node, ast.MatchClass)
    )
    return [text for text in (*calls, *patterns) if named.search(text)]


def test_checks_of_types_are_found_however_they_are_written():
    found = _type_checks(
        ast.parse(
            "isinstance(a, DateColumn | PartColumn)\nissubclass(type(b), Column)\n"
            "match c:\n    case BinnedColumn(): pass\n"
            "isinstance(held, EngineColumn)\nisinstance(dtype, pd.CategoricalDtype)"
        )
    )
    assert len(found) == 3
