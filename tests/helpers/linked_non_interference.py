"""All that comes out of runs over linked tables whose journal holds every answer, whatever the
tables hold by then.
"""

import json
import logging
import re
import shutil
import warnings

import numpy as np
import pandas as pd
from helpers.cli_runs import invoke
from helpers.non_interference import files_in
from helpers.odd_values import NEAR_VALUES, ODD_VALUES

import synthdp

BUDGET = ("--epsilon=1", "--delta=1e-6")
TEXTS = [
    "",
    " ",
    "nan",
    "1e400",
    "\uff11",
    "9" * 400,
    "a\tb",
    "'",
    ";",
    "\ufeff1",
    "0001-01-01T00:00:00+23:59",
    "u",
    "1",
]
"""Cells of files, which are texts; a byte that no text has makes a file that is broken as a whole."""

_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b|\b\d+(?:\.\d+)? ?s\b"
)


_OVER_TIMES = re.compile(
    r"(\"sha256\": ?\")[0-9a-f]{64}|^[0-9a-f]{64}(?=  (?:.*synthesis|linked|certificate)\.json$)",
    re.MULTILINE,
)
"""Hashes of a certificate, which says when it was replayed; what it says besides is looked at
itself.
"""


def without_times(text):
    return _OVER_TIMES.sub(lambda found: (found[1] or "") + "HASH", _TIMES.sub("TIME", text))


def _members(folder):
    """All files of a folder, of archives what is in them, without times."""
    return {name: without_times(data.decode("latin-1")) for name, data in files_in(folder).items()}


def swapped(tables, keys, cells, seed=0):
    """The records swapped for others, in many ways; ``keys`` names the columns of each table that
    are keys.

    ``cells`` are what keys and values may be of the ugliest tables.
    """
    rng = np.random.default_rng(seed)

    def of_all(change):
        return {name: change(name, frame.copy()) for name, frame in tables.items()}

    def only_keys(value):
        return lambda name, frame: frame.assign(**dict.fromkeys(keys[name], value))

    def ugly(_, frame):
        n_rows = int(rng.integers(1, 40))
        return pd.DataFrame({column: _drawn(rng, cells, n_rows) for column in frame.columns})

    root = next(iter(tables))
    yield "as they were", tables
    yield "other values", of_all(lambda name, frame: _others(rng, frame, keys[name]))
    yield (
        "more rows",
        of_all(lambda _, frame: pd.concat([frame, _others(rng, frame, ())], ignore_index=True)),
    )
    yield "one row", of_all(lambda _, frame: frame.iloc[:1])
    yield "no row", of_all(lambda _, frame: frame.iloc[:0])
    for name in tables:
        yield f"no row of {name}", {**tables, name: tables[name].iloc[:0]}
        yield (
            f"only rows of {name}",
            {**of_all(lambda _, frame: frame.iloc[:0]), name: tables[name]},
        )
    yield (
        "no root that is known",
        {**tables, root: only_keys("nobody's")(root, tables[root].copy())},
    )
    yield "no key", of_all(only_keys(None))
    yield "one key", of_all(only_keys("1"))
    yield "the ugliest", of_all(ugly)


def _drawn(rng, values, n_rows):
    column = np.empty(n_rows, dtype=object)
    for row in range(n_rows):
        column[row] = values[int(rng.integers(len(values)))]
    return column


def _others(rng, frame, kept):
    """The same values in another order, but those of some columns."""
    return frame.assign(
        **{
            name: frame[name].to_numpy()[rng.permutation(len(frame))]
            for name in frame.columns
            if name not in kept
        }
    )


CELLS = [*ODD_VALUES, *(value for values in NEAR_VALUES.values() for value in values)]


def told_in_python(run, path, caplog):
    """All that a run in Python tells: result, warnings, logs, or what it raises, but for times; run
    in ``path``.
    """
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            made = run()
            made.save(path / "saved.synthdp", force=True)
            drawn = made.sample(7, seed=1)
            frames = drawn if isinstance(drawn, dict) else {"": drawn}
            result = (
                {name: frame.to_csv() for name, frame in frames.items()},
                without_times(json.dumps(made.certificate)),
                synthdp.load(path / "saved.synthdp").sample(5, seed=2, text=True),
                {
                    name: data
                    for name, data in _members(path).items()
                    if name.startswith("saved.synthdp")
                },
            )
            result = (*result[:2], str(result[2]), result[3])
        except synthdp.SynthdpError as error:
            result = (type(error).__name__, str(error))
    logged = [
        (record.name, record.levelname, without_times(record.getMessage()))
        for record in caplog.records
    ]
    return result, [(each.category.__name__, str(each.message)) for each in warned], logged


def told_in_shell(folder, content, tables, journal, monkeypatch, *options):
    """All that ``synthdp run`` tells of files in a new folder: code, streams, and every file that
    is written.
    """
    inside = folder / "input"
    inside.mkdir(parents=True)
    (inside / "datapackage.json").write_text(json.dumps(content))
    for name, table in tables.items():
        table.to_csv(inside / f"{name}.csv", index=False)
    if journal is not None:
        shutil.copyfile(journal, folder / "kept.journal")
    monkeypatch.chdir(folder)
    outcome = invoke(
        "run", "input/datapackage.json", "-o", "out", *BUDGET, "--seed", "1", "--journal", "kept.journal",
        "--save", "saved.synthdp", "-vv", *options,
    )  # fmt: skip
    return (
        outcome.code,
        without_times(outcome.out.decode()),
        without_times(outcome.err),
        {name: said for name, said in _members(folder).items() if name != "kept.journal"},
    )
