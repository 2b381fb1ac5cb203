"""Non-interference of runs of one table: replayed on any other records, everything that comes out
is the same.
"""

import json
import logging
import shutil
import warnings
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.failing_runs import failing, full
from helpers.fields import ranged
from helpers.non_interference import Seen, covering, differences, of_call, of_command_line, replayed
from helpers.odd_values import Hostile

import synthdp
from synthdp.core import CautionWarning
from synthdp.data import HeldTableReader
from synthdp.privacy import PrivateTable
from synthdp.release import MECHANISMS, Journal, RunFacts

pytestmark = [
    pytest.mark.usefixtures("one_run"),  # a hash in a certificate differs where a second does
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning:ibis",
        "ignore:fetch_arrow_table",
        "ignore::synthdp.core.errors.CautionWarning",
    ),
]
for library in ("polars", "pyarrow", "duckdb", "xlsxwriter", "python_calamine", "dask"):
    pytest.importorskip(library)

MECHANISM_NAMES = [name for name in MECHANISMS if name not in ("gem", "rap")]
"""Those that need no long optimisation; they end as the others do."""

DECLARED = {
    "fields": [
        {
            "name": "turn",
            "type": "integer",
            "constraints": {"minimum": 1, "maximum": 4, "required": True},
        },
        {
            "name": "town",
            "type": "string",
            "constraints": {"enum": ["A", "B"]},
            "synthdp": {"other": "rest"},
        },
        ranged("day", "2020-01-01", "2020-12-31", kind="date", bins=32),
        ranged("pay", 0, 9, kind="number", bins=3),
    ]
}
LEARNT = {"turn": "integer", "town": "categorical", "day": "date", "pay": "number"}
NAMES = ["id", "turn", "town", "day", "pay"]


def rows(n_rows, seed):
    chance = np.random.default_rng(seed)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(chance.integers(0, 300, n_rows), unit="D")
    columns = [chance.integers(0, n_rows // 2 + 1, n_rows), chance.integers(1, 5, n_rows)]
    columns += [chance.choice(["A", "B"], n_rows), days.date, chance.random(n_rows).round(2)]
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True)))


def of_one_person(n_rows):
    return rows(n_rows, 3).assign(id=7, turn=4)


UGLY = pd.DataFrame(
    {
        "id": [2**62, 0, -1, 5, 5, 5],
        "turn": [-(2**63), 2**63 - 1, 0, 99, 1, 2],
        "town": ["", "\U0001f600" * 3000, "=1+1", "'\";\n,", "e\u0301", "NA"],
        "day": [
            pd.Timestamp(day).date()
            for day in ("1900-01-02", "9999-12-31", "2020-02-29", *["1900-01-01"] * 3)
        ],
        "pay": [1e308, -1e308, 5e-324, 0.1, -0.0, 1e16],
    }
)
TABLES = {"given": rows(200, 1), "none": rows(0, 0), "ugly": UGLY}
MANY = TABLES | {
    "others": rows(130, 2),
    "one": rows(1, 5),
    "one person": of_one_person(90),
    "many": rows(5000, 4),
}
NONSENSE = pd.DataFrame(
    {name: ["?", " ", "nan", "-", "1e999", "\u202e", "0001-01-01"] for name in NAMES}, dtype=object
)
OBJECTS = pd.DataFrame(
    {
        name: [Hostile(), None, 10**400, b"\xff", Decimal("nan"), "\ud800", [1], pd.NaT]
        for name in NAMES
    },
    dtype=object,
)


def in_csv(table, place):
    table.to_csv(place / "in.csv", index=False)
    return str(place / "in.csv")


def in_parquet(table, place):
    table.to_parquet(place / "in.parquet", index=False)
    return str(place / "in.parquet")


def in_excel(table, place):
    import xlsxwriter

    book = xlsxwriter.Workbook(str(place / "in.xlsx"))
    sheet, hours = book.add_worksheet(), book.add_format({"num_format": "[h]:mm"})
    sheet.write_row(0, 0, NAMES)
    for number, row in enumerate(table.astype(object).itertuples(index=False), 1):
        for column, value in enumerate(row):
            if isinstance(value, float) and abs(value) > 1e300:
                sheet.write_number(number, column, value, hours)
            else:
                sheet.write(
                    number, column, value if isinstance(value, float) else str(value)[:30_000]
                )
    book.close()
    return str(place / "in.xlsx")


def in_memory(table, _place):
    return table


def in_polars(table, _place):
    import polars as pl

    return pl.from_pandas(table.astype({"day": "datetime64[ms]", "town": str}))


def in_engine(table, place):
    return in_polars(table, place).lazy()


def in_arrow(table, place):
    return in_polars(table, place).to_arrow()


def in_dataset(table, place):
    from pyarrow.dataset import dataset

    return dataset(in_arrow(table, place))


def in_dask(table, _place):
    import dask.dataframe

    return dask.dataframe.from_pandas(table.assign(day=table["day"].astype(str)), npartitions=2)


def in_duckdb(table, place):
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.register("given", in_arrow(table, place))
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return connection.table("people")


def in_duckdb_file(table, place):
    import duckdb

    with duckdb.connect(str(place / "in.db")) as connection:
        connection.register("given", in_arrow(table, place))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return "in.db"


FILES = {"CSV": in_csv, "Parquet": in_parquet, "Excel": in_excel, "DuckDB file": in_duckdb_file}
IN_PYTHON = {
    "CSV in Python": in_csv, "pandas": in_memory, "polars": in_polars, "lazy polars": in_engine, "Arrow": in_arrow,
    "dataset": in_dataset, "dask": in_dask, "DuckDB": in_duckdb,
}  # fmt: skip
SOURCES = FILES | IN_PYTHON
WITH_TEXTS, WITH_OBJECTS = ("CSV", "CSV in Python"), ("pandas",)
"""Where columns have no types of their own, so that other values have other types."""

UNITS = ["row", "row replaced", "person", "person with order"]
CHOICES = {
    "source": list(SOURCES), "unit": UNITS, "domain": ["declared", "learnt"], "says": ["-vv", "--json", "stdout"],
    "mechanism": MECHANISM_NAMES,
}  # fmt: skip


def fits(case):
    """Whether such a run is possible: an order is for files with a declared domain; Python has no
    ``says``.
    """
    has_order = case["unit"] == "person with order"
    if has_order and (
        case["domain"] == "learnt" or case["source"] not in ("CSV", "Parquet", "Excel")
    ):
        return False
    return case["source"] in FILES or case["says"] == "-vv"


def tables_of(source, tables=TABLES):
    if source in WITH_TEXTS:
        return tables | {"nonsense": NONSENSE}
    return tables | ({"objects": OBJECTS, "nonsense": NONSENSE} if source in WITH_OBJECTS else {})


def arguments_of(case):
    """Arguments of the command line after the input; of Python the same as keywords."""
    unit = {"unit": "id", "max_rows_per_unit": 2} if case["unit"].startswith("person") else {}
    adjacency = "replace-one" if case["unit"] == "row replaced" else "add-remove"
    given = {
        "epsilon": 1.0,
        "delta": 1e-6,
        "mechanism": case["mechanism"],
        "adjacency": adjacency,
        **unit,
    }
    options = [
        word for key, value in given.items() for word in (f"--{key.replace('_', '-')}", str(value))
    ]
    return given, [*options, *(["--order", "turn"] if case["unit"] == "person with order" else [])]


def public_of(case, place):
    """Schema or kinds; the ids are none of the columns."""
    path = place / "in.json"
    is_declared = case["domain"] == "declared"
    ignored = {"synthdp": {"ignore": ["id"]}} if not case["unit"].startswith("person") else {}
    kinds = LEARNT | ({"id": "ignore"} if ignored else {})
    path.write_text(json.dumps(DECLARED | ignored if is_declared else kinds))
    return path, is_declared


def run_of(case):
    """The run of a case, as `replayed` asks for it."""
    given, options = arguments_of(case)

    def in_shell(place, table):
        path, is_declared = public_of(case, place)
        made = FILES[case["source"]](table, place)
        read = (
            ["--source", f"duckdb:///{made}", "--table", "people"]
            if made == "in.db"
            else [Path(made).name]
        )
        says = {
            "-vv": ["-o", "out.csv", "-vv", "--save", "m.synthdp"],
            "--json": ["-o", "out.parquet", "--json"],
        }
        says = says.get(case["says"], ["-o", "-"])
        public = ["-s" if is_declared else "--kinds", path.name]
        run = [
            "run",
            *read,
            *public,
            *options,
            *says,
            "--journal",
            "journal",
            "--seed",
            "1",
            "--rows",
            "20",
        ]
        pages = [
            ["certificate", "out.csv.privacy.json", "-o", "page.html"],
            ["show", "m.synthdp", "--all"],
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            return of_command_line(place, run, *(pages if "-vv" in says else []))

    def in_python(place, table):
        path, is_declared = public_of(case, place)
        public = {"schema" if is_declared else "kinds": json.loads(path.read_text())}
        data = SOURCES[case["source"]](table, place)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            return of_call(
                lambda: synthdp.synthesize(data, **public, **given, journal="journal"), place
            )

    return in_shell if case["source"] in FILES else in_python


def named(case):
    return ", ".join(case.values())


def check(case, folder, tables=TABLES):
    found = replayed(folder, "journal", run_of(case), tables_of(case["source"], tables))
    assert differences(found) == []
    assert {seen.end for seen in found.values()} <= {"released", "[0]", "[0, 0, 0]"}, found[
        "given"
    ].parts()


@pytest.mark.parametrize("case", covering(CHOICES, 1, fits), ids=named)
def test_a_replay_tells_nothing_of_the_records(case, tmp_path):
    check(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", covering(CHOICES, 2, fits), ids=named)
def test_a_replay_tells_nothing_of_the_records_for_any_two_choices(case, tmp_path):
    check(case, tmp_path, MANY)


CASE = {
    "source": "CSV",
    "unit": "row",
    "domain": "learnt",
    "says": "-vv",
    "mechanism": "independent",
}
IN_FRAMES = CASE | {"source": "pandas", "domain": "declared"}


def leaks_a_line(patch):
    """A log line with how many rows there are."""
    finish = HeldTableReader.finish

    def told(reader):
        table = finish(reader)
        logging.getLogger("synthdp").info(
            "read %d rows", len(table._coded.columns[0]) if table._coded.columns else 0
        )
        return table

    patch.setattr(HeldTableReader, "finish", told)


def leaks_a_warning(patch):
    """A warning where a value is odd."""
    add = HeldTableReader.add

    def told(reader, frame):
        if any(
            len(str(value)) > 50
            for value in frame["town"].tolist()
            if not isinstance(value, Hostile)
        ):
            warnings.warn("a long value", CautionWarning, stacklevel=2)
        add(reader, frame)

    patch.setattr(HeldTableReader, "add", told)


def leaks_an_error(patch):
    """A run that ends where there is no row."""
    finish = HeldTableReader.finish

    def told(reader):
        table = finish(reader)
        if table._coded.columns and not len(table._coded.columns[0]):
            raise synthdp.core.errors.ParameterError("data: it has no rows; give some")
        return table

    patch.setattr(HeldTableReader, "finish", told)


def leaks_a_finding(patch):
    """A certificate that says something of the records themselves."""
    sizes = []
    finish, certificate = HeldTableReader.finish, RunFacts.certificate

    def counted(reader):
        table = finish(reader)
        sizes.append(len(table._coded.columns[0]))
        return table

    def told(facts, **more):
        return certificate(facts, **more) | {"rows": sizes[-1]}

    patch.setattr(HeldTableReader, "finish", counted)
    patch.setattr(RunFacts, "certificate", told)


@pytest.mark.parametrize("leak", [leaks_a_line, leaks_a_warning, leaks_an_error, leaks_a_finding])
def test_a_leak_is_found(leak, tmp_path, monkeypatch):
    leak(monkeypatch)
    found = replayed(tmp_path, "journal", run_of(IN_FRAMES), tables_of("pandas", MANY))
    assert differences(found) != []


TOWN = {"name": "town", "type": "string", "constraints": {"enum": ["X", "Y"], "required": True}}
UNREAD = {"fields": [TOWN if each["name"] == "town" else each for each in DECLARED["fields"]]}
"""Towns are called otherwise."""


def stopping(mechanism, source):
    """A run that stops, its rescue, and what its budget has; then the same command again."""
    given = {"epsilon": 8.0, "delta": 1e-6, "mechanism": mechanism}
    schema = UNREAD | {"synthdp": {"ignore": ["id"]}}

    def in_shell(place, table):
        (place / "in.json").write_text(json.dumps(schema))
        made = FILES[source](table, place)
        words = [word for key, value in given.items() for word in (f"--{key}", str(value))]
        run = ["run", Path(made).name, "-s", "in.json", "-o", "out.csv", *words, "-vv"]
        run += ["--journal", "journal", "--seed", "1", "--rows", "20"]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            create = ["budget", "create", "in.budget", "--epsilon", "9", "--delta", "1e-5"]
            if not (place.parent / "in.budget").exists():
                of_command_line(place, [*create, "--population", "patients"])
                shutil.copy("in.budget", place.parent / "in.budget")
                seen = of_command_line(place, [*run, "--budget", "in.budget"])
                shutil.copy("in.budget", place.parent / "charged.budget")
                return seen
            shutil.copy(place.parent / "charged.budget", "in.budget")
            run += ["--budget", "in.budget"]
            seen = of_command_line(place, run, ["journal", "show", "journal"])
            entries = synthdp.Budget("in.budget").show()["entries"]
        charges = repr([(each["kind"], each.get("rho")) for each in entries]).encode()
        return Seen(seen.end, seen.said, dict(seen.given) | {"charges": charges})

    def in_python(place, table):
        data = SOURCES[source](table, place)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            handed = []
            seen = of_call(
                lambda: synthdp.synthesize(
                    data, schema, **given, journal="journal", rescue=handed.append
                ),
                place,
            )
        made = {f"rescued {n}": repr(each.certificate).encode() for n, each in enumerate(handed)}
        made |= {
            f"rows {n}": each.sample(9, seed=1).to_csv().encode() for n, each in enumerate(handed)
        }
        return Seen(seen.end, seen.said, dict(seen.given) | made)

    return in_shell if source in FILES else in_python


@pytest.mark.parametrize(
    ("mechanism", "source"),
    [("auto", "CSV"), ("independent", "CSV"), ("mst", "pandas"), ("independent", "polars")],
)
def test_a_run_that_stopped_stops_whatever_the_records_and_tells_the_same(
    mechanism, source, tmp_path
):
    """Also where they could be read by now: that it stops follows from paid answers alone."""
    others = tables_of(source)
    found = replayed(
        tmp_path, "journal", stopping(mechanism, source), {"given": rows(2000, 1)} | others
    )
    assert differences(found) == []
    end, said = found["given"].end, "\n".join(found["given"].said)
    assert "'town': about " in (said if source in FILES else end)
    assert ("[1, 0]" if source in FILES else "UnreadColumnError") in end, said


def site_of(says):
    """A site's run by a plan, and what all sites are combined to, as `replayed` asks for it."""

    def run(place, table):
        (place / "in.json").write_text(json.dumps(DECLARED | {"synthdp": {"ignore": ["id"]}}))
        in_csv(table, place)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            plan = synthdp.plan_measurements("in.json", epsilon=1.0, delta=1e-6, workload="1-way")
            plan.save("in.plan")
            if not (place.parent / "other.counts").exists():
                synthdp.measure(rows(90, 6), plan).save(place.parent / "other.counts")
            measured = ["measure", "in.csv", "--plan", "in.plan", "-o", "one.counts", *says]
            both = ["combine", "one.counts", "../other.counts", "-o", "all.synthdp", *says]
            return of_command_line(place, [*measured, "--journal", "journal"], both)

    return run


@pytest.mark.parametrize("says", ["-vv", "--json"])
def test_a_replay_of_a_site_tells_nothing_of_the_records(says, tmp_path):
    found = replayed(tmp_path, "journal", site_of([says]), tables_of("CSV"))
    assert differences(found) == []
    assert {seen.end for seen in found.values()} == {"[0, 0]"}, found["given"].parts()


@pytest.mark.parametrize("leak", [leaks_a_line, leaks_a_finding])
def test_a_leak_of_a_site_is_found(leak, tmp_path, monkeypatch):
    leak(monkeypatch)
    found = replayed(tmp_path, "journal", site_of(["-vv"]), tables_of("CSV"))
    assert differences(found) != []


def test_times_of_today_are_no_difference_and_others_are():
    today = str(pd.Timestamp.now("UTC"))
    assert (
        differences(
            {"a": Seen("x", (f"at {today}",)), "b": Seen("x", (f"at {today[:11]}00:00:00",))}
        )
        == []
    )
    assert differences({"a": Seen("x", ("2001-01-01",)), "b": Seen("x", ("2001-01-02",))}) != []


def test_combinations_cover_what_they_promise():
    choices = {"a": list("xyz"), "b": list("xyz"), "c": list("xyz")}
    found = covering(choices, 2, lambda case: case["a"] != case["b"])
    pairs = Counter((case["a"], case["c"]) for case in found)
    assert len(pairs) == 9
    assert len(found) < 18
    assert all(case["a"] != case["b"] for case in found)


def full_disk(patch):
    full(patch, lambda place: "out.csv" in place.name or ".synthdp" in place.name)


def interrupted(patch):
    answers = PrivateTable.measure
    patch.setattr(PrivateTable, "measure", failing(answers, KeyboardInterrupt(), after=1))


def stopped_journal(patch):
    patch.setattr(
        Journal,
        "finish",
        failing(Journal.finish, synthdp.core.errors.DataFileError("journal: it is full")),
    )


def nothing(_patch):
    """Break nothing: the arguments are wrong."""


FAILURES = {
    "disk full": (full_disk, {}, 1),
    "Ctrl-C at the second answer": (interrupted, {}, 130),
    "budget refused": (nothing, {"--budget": "small.budget"}, 3),
    "no such folder": (nothing, {"-o": "nowhere/out.csv"}, 1),
    "a column too few": (nothing, {"-s": "other.json"}, 1),
    "an epsilon of nothing": (nothing, {"--epsilon": "0"}, 2),
    "the journal fails at the end": (stopped_journal, {}, 1),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_run_that_fails_says_the_same_whatever_the_records(name, tmp_path):
    """What was measured is random, so only what is said is compared, and which files are left."""
    break_it, more, code = FAILURES[name]
    found = {}
    for label, table in tables_of("CSV").items():
        place = tmp_path / "run"
        place.mkdir()
        (place / "in.json").write_text(json.dumps(DECLARED | {"synthdp": {"ignore": ["id"]}}))
        (place / "other.json").write_text(json.dumps({"fields": DECLARED["fields"][1:]}))
        in_csv(table, place)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            of_command_line(
                place,
                [
                    "budget",
                    "create",
                    "small.budget",
                    "--epsilon",
                    "0.1",
                    "--delta",
                    "1e-6",
                    "--population",
                    "patients",
                ],
            )
            break_it(patch)
            options = {"-s": "in.json", "-o": "out.csv", "--epsilon": "1", "--delta": "1e-6"}
            options |= {"--mechanism": "independent", "--journal": "j", "--seed": "1"}
            options |= {"--rows": "5"} | more
            run = ["run", "in.csv", "-vv", *(word for each in options.items() for word in each)]
            seen = of_command_line(place, run)
        said = [
            line for line in seen.said if "fitting: " not in line
        ]  # so many steps as noisy answers ask for
        found[label] = Seen(seen.end, tuple(said), dict.fromkeys(seen.given, b""))
        for path in sorted(place.rglob("*"), reverse=True):
            path.unlink()
        place.rmdir()
    assert differences(found) == []
    assert found["given"].end == f"[{code}]"
