"""Readers of files that people write, given files that nobody wrote: run as a program, in a process
with limits.

    python mutated_files.py SEED NUMBER FOLDER

It mutates valid files, so many of each kind, has them read, and prints as JSON how many were read
and refused, and all that must not happen: errors of another kind or of several lines, more memory
than 200 MB, more than 10 seconds, other files opened, processes started, code run.
"""

import json
import signal
import sys
from collections import Counter
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd

MEGABYTES, SECONDS = 200, 10

JSON_VALUES = (
    None,
    True,
    -1,
    0,
    0.5,
    1e308,
    10**30,
    float("nan"),
    float("-inf"),
    "",
    "x",
    "\x1b[2J",
    "town",
    [],
    {},
    [[]],
    {"a": 1},
)
"""In place of any value of JSON, of whatever file."""

ODD = (
    *JSON_VALUES,
    "\ud800",
    "u",
    ["u"],
    "1e999",
    "9" * 5000,
    "-1/2",
    "../../etc/passwd",
    "file:///etc/passwd",
    "%Y" * 50,
    "{0.__class__}",
    "(" * 200,
    "!!python/object/apply:os.system [id]",
    2**63,
    10**400,
    [0] * 300,
    "2026-13-45",
)
"""Those, and texts and numbers that schemas and settings have a use for."""

SCHEMA = {
    "fields": [
        {"name": "u", "type": "string", "constraints": {"enum": ["a", "b"], "required": True}},
        {"name": "town", "type": "string", "synthdp": {"derive": ["levels"], "other": "else"}},
        {
            "name": "x",
            "type": "number",
            "constraints": {"minimum": 0, "maximum": 100},
            "synthdp": {
                "bins": 5,
                "decimals": 1,
                "heaping": {"1": 0.5, "10": 0.2},
                "shape": {"starts": [0, 50], "weights": [1.0, 2.0]},
            },
        },
        {
            "name": "n",
            "type": "integer",
            "groupChar": "'",
            "missingValues": ["-", ""],
            "synthdp": {"derive": True},
        },
        {
            "name": "d",
            "type": "date",
            "format": "%d.%m.%Y",
            "constraints": {"minimum": "01.01.2020", "maximum": "31.12.2021"},
            "synthdp": {"resolution": "month"},
        },
        {"name": "b", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
        {"name": "i", "type": "id", "pattern": "P-{:05d}"},
    ],
    "missingValues": ["", "NA"],
    "dialect": {"delimiter": ";", "encoding": "cp1252", "decimalChar": ","},
    "synthdp": {"constraints": [{"forbid": {"u": ["a"], "b": [True]}}, {"check": "x <= 90"}]},
}
PLAIN = {"fields": [SCHEMA["fields"][0], SCHEMA["fields"][5]]}
KINDS = {
    "u": "string",
    "x": {"type": "number", "synthdp": {"bins": 4}},
    "note": "ignore",
    "i": "id",
    "d": "datetime",
}
WORKLOAD = {"marginals": [{"columns": ["u", "b"]}, {"columns": ["u"], "weight": 2.5}]}
ABOUT = {
    "name": "People",
    "curators": [{"name": "Office", "type": "Government"}],
    "sources": [
        {"type": "Other public source", "title": "A page", "url": "https://a.example", "year": 2026}
    ],
    "publication_date": "2026-11-22",
    "release_type": "One release",
    "registry_authors": ["A. Clerk"],
}
YAML = """\
name: People
curators:
  - {name: Office, type: Government}
description: |
  Lines
  of text
publication_date: 2026-11-22
sources: [{type: Other public source, title: "A page", year: 2026}]
"""
PIECES = (
    *(
        b"[" * 9000,
        b'{"a":' * 9000,
        b"1" * 9000,
        b"\xff\xfe",
        b'"u":1,"u":2,',
        b"NaN",
        b"[[]," * 9000,
        b"\0",
    ),
    *(b"1e99999", b"\xe2\x80\xa8", b"\\ud800"),
)
"""Put anywhere into a file."""
YAML_PIECES = (
    *(
        "&a ",
        "*a",
        "!!python/object/apply:os.system ['id']",
        "<<: *a",
        "? ",
        "\t",
        "{" * 60,
        "- " * 60,
        "!!binary ",
    ),
    *(
        "!!set ",
        "1e999",
        "0x" + "f" * 400,
        "9999-99-99",
        "1_000:60:60",
        "%YAML 9.9\n",
        "---\n",
        "\0",
        "\u2028",
    ),
)


def places(content):
    """Every value below one, by the list or object that holds it and its place there."""
    for key, value in list(content.items() if isinstance(content, dict) else enumerate(content)):
        yield content, key
        if isinstance(value, dict | list):
            yield from places(value)


def odd_once(content, odd, rng):
    """Replace, remove or repeat one value below JSON values, in place; whether there was one."""
    found = list(places(content))
    if not found:
        return False
    holder, key = found[rng.integers(len(found))]
    action = rng.random()
    if action < 0.75:
        holder[key] = deepcopy(odd[rng.integers(len(odd))])
    elif action < 0.85:
        del holder[key]
    elif isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[f"{key}x"] = holder[key]
    return True


def odd_json(content, rng):
    """JSON values of which one or two are replaced, removed or repeated."""
    content = json.loads(json.dumps(content))
    for _ in range(rng.integers(1, 3)):
        if not odd_once(content, ODD, rng):
            break
    return content


def odd_bytes(data, rng):
    """A file that is cut short, has a bit flipped, a part repeated, or something odd put in."""
    place, action = int(rng.integers(len(data) + 1)), rng.random()
    end = min(len(data), place + int(rng.integers(1, 40)))
    if action < 0.2:
        return data[:place]
    if action < 0.5 and place < len(data):
        return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]
    if action < 0.7:
        return data[:end] + data[place:end] * int(rng.choice([1, 2, 500])) + data[end:]
    return data[:place] + PIECES[rng.integers(len(PIECES))] + data[place:]


def mutated_json(content):
    """A maker of mutants of a JSON file."""
    whole = json.dumps(content).encode()

    def mutant(rng):
        if rng.random() < 0.6:
            return json.dumps(odd_json(content, rng)).encode()
        return odd_bytes(whole, rng)

    return mutant


def mutated_yaml(rng):
    place, piece = int(rng.integers(len(YAML))), YAML_PIECES[rng.integers(len(YAML_PIECES))]
    if rng.random() < 0.4:
        return odd_bytes(YAML.encode(), rng)
    return (YAML[:place] + piece + YAML[place + int(rng.integers(3)) :]).encode()


def mutated_lines(path):
    """A maker of mutants of a chained file, mostly with hashes that are right."""
    from synthdp.release.persistence.chained_file import _line

    whole = path.read_bytes()
    entries = [json.loads(line)["entry"] for line in whole.splitlines()]

    def mutant(rng):
        if rng.random() < 0.2:
            return odd_bytes(whole, rng)
        changed, number = list(entries), int(rng.integers(len(entries)))
        action, found, previous = rng.random(), b"", ""
        if action < 0.8:
            changed[number] = odd_json(changed[number], rng)
        elif action < 0.9:
            del changed[number]
        else:
            changed.insert(number, changed[int(rng.integers(len(entries)))])
        for entry in changed:
            with suppress(ValueError):  # NaN, which is never written
                line, previous = _line(previous, entry)
                found += line
        return found

    return mutant


def sealed_json(content):
    """A maker of certificates that say odd things and have the right hash."""
    from synthdp.core import sealed

    return lambda rng: json.dumps(sealed(odd_json(content, rng))).encode()


def certificate():
    """The certificate of a run."""
    import synthdp

    people = pd.DataFrame({"u": ["a", "b"] * 99, "b": [1, 7] * 99})
    kinds = {"u": "string", "b": "integer"}
    return synthdp.synthesize(
        people, kinds=kinds, epsilon=2.0, delta=1e-6, mechanism="mst"
    ).certificate


def chained_files(folder):
    """Journals of a declared and of a learnt table, and of linked tables, and a budget."""
    import synthdp
    from synthdp.release import Budget

    for number, given in enumerate(({"schema": PLAIN}, {"kinds": {"u": "string", "b": "integer"}})):
        people = pd.DataFrame({"u": ["a", "b"] * 99, "b": [[True, False], [1, 7]][number] * 99})
        settings = {
            "epsilon": 2.0,
            "delta": 1e-6,
            "mechanism": "independent",
            "engine": "graphical-model",
        }
        synthdp.synthesize(people, **given, **settings, journal=folder / f"j{number}")
        synthdp.from_journal(folder / f"j{number}")
    link = {"fields": "u", "reference": {"resource": "homes", "fields": "u"}}
    homes = {"name": "homes", "schema": {**PLAIN, "primaryKey": "u"}}
    pets = {
        "name": "pets",
        "schema": {**PLAIN, "foreignKeys": [link]},
        "synthdp": {"max_children": 2},
    }
    tables = dict.fromkeys(
        ("homes", "pets"), pd.DataFrame({"u": ["a", "b"] * 99, "b": [True, False] * 99})
    )
    package = {"resources": [homes, pets]}
    synthdp.synthesize(tables, package, **settings, journal=folder / "linked")
    synthdp.from_journal(folder / "linked")
    budget = Budget.create(folder / "b", epsilon=3, delta=1e-6, population="people")
    budget.add(note="a table", epsilon=1.0, delta=1e-8)
    budget.add(note="a table", rho=0.01)
    budget.add(note="a table", mu=0.1)


def plan_and_counts(folder):
    """A plan as JSON values, and the file of what a site measured by it."""
    import synthdp

    plan = synthdp.plan_measurements(PLAIN, epsilon=1.0, delta=1e-6)
    people = pd.DataFrame({"u": ["a", "b"] * 99, "b": [True, False] * 99})
    synthdp.measure(people, plan).save(folder / "site")
    return plan.to_dict(), folder / "site"


def readers(folder):
    """For each kind of file a maker of mutants, what reads one, and the errors that it may raise."""
    import synthdp
    from synthdp.cli import describe
    from synthdp.core import (
        DataFileError,
        ParameterError,
        PrivacyError,
        SchemaError,
        json_text,
        load_json,
    )
    from synthdp.release import Budget, Journal, KeptAnswers, read_about
    from synthdp.schema import as_schema

    domain = synthdp.Domain(("u", "b"), (2, 3))
    stated = certificate()

    def told_of_one(path):
        content, _ = describe(str(path))
        json_text(content).encode()
        if json.loads(Path(path).read_text(encoding="utf-8-sig")) != stated:
            raise AssertionError("a certificate that is damaged was read")

    chained_files(folder)
    header = json.loads((folder / "j0").read_bytes().splitlines()[0])["entry"]

    def resumed(path):
        with Journal(path, header["settings"]) as journal:
            journal.get(("another question",), None)

    def told(path):
        KeptAnswers.from_file(path).described()
        synthdp.from_journal(path)

    plan, counts = plan_and_counts(folder)

    def shown(path):
        content = Budget(path).show()
        Budget(path).add(note="more", rho=1e-6)
        return content

    file, forged = (DataFileError,), (DataFileError, PrivacyError)
    public = (DataFileError, SchemaError)
    return {
        "schema.json": (mutated_json(SCHEMA), synthdp.OpenSchema.load, public),
        "plain.json": (mutated_json(PLAIN), synthdp.Schema.load, public),
        "kinds.json": (mutated_json(KINDS), synthdp.OpenSchema.load_kinds, public),
        "dialect": (
            mutated_json(SCHEMA["dialect"]),
            lambda path: as_schema(SCHEMA, dialect=load_json(path, "dialect")),
            (*public, ParameterError),
        ),
        "shown.json": (mutated_json(SCHEMA), lambda path: describe(str(path)), public),
        "workload.json": (
            mutated_json(WORKLOAD),
            lambda path: synthdp.Workload.parse(domain, path),
            (DataFileError, ParameterError),
        ),
        "about.json": (mutated_json(ABOUT), read_about, (DataFileError, ParameterError)),
        "about.yaml": (mutated_yaml, read_about, (DataFileError, ParameterError)),
        "certificate": (mutated_json(stated), told_of_one, public),
        "forged": (
            sealed_json(stated),
            lambda path: json_text(describe(str(path))[0]).encode(),
            public,
        ),
        "budget": (mutated_lines(folder / "b"), shown, (*file, PrivacyError)),
        "journal": (mutated_lines(folder / "j0"), told, forged),
        "learnt": (mutated_lines(folder / "j1"), told, forged),
        "linked": (mutated_lines(folder / "linked"), told, forged),
        "resumed": (
            mutated_lines(folder / "j0"),
            resumed,
            (DataFileError, ParameterError, PrivacyError),
        ),
        "plan.json": (mutated_json(plan), synthdp.MeasuringPlan.load, (*public, ParameterError)),
        "resealed": (sealed_json(plan), synthdp.MeasuringPlan.load, (*public, ParameterError)),
        "counts": (
            lambda rng: odd_bytes(counts.read_bytes(), rng),
            lambda path: synthdp.combine([counts, path], engine="direct"),
            (DataFileError, ParameterError),
        ),
    }


def watch(folder, found):
    """From now on note what a reader of files has no business to do."""
    allowed = (str(folder), "/usr/share/zoneinfo", *filter(None, sys.path))

    def hook(event, arguments):
        if event.startswith(
            ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.", "pty.")
        ):
            found.append(f"{event} {arguments!r:.80}")
        elif (
            event == "open"
            and isinstance(arguments[0], str)
            and not arguments[0].startswith(allowed)
        ):
            found.append(f"opened {arguments[0]!r}")

    sys.addaudithook(hook)


class TooLongError(BaseException):
    """A reader took more than its seconds."""


def alarm(*_):
    raise TooLongError


def limited():
    """Limit memory and time; the first only now, for what is imported counts for nothing."""
    import resource

    signal.signal(signal.SIGALRM, alarm)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def outcome(read, path, allowed):
    """How a file was read, and what about it must not be."""
    signal.alarm(SECONDS)
    try:
        read(path)
    except allowed as error:
        text = str(error)
        return "refused", "" if text.splitlines() == [text] else f"said {text[:300]!r}"
    except BaseException as error:
        return "wrong", f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.alarm(0)
    return "read", ""


def main(seed, number, folder):
    kinds = readers(folder)
    outcomes, wrong, done = Counter(), [], []
    for mutant, read, allowed in kinds.values():  # some, so that all is imported
        rng = np.random.default_rng(seed)
        for _ in range(5):
            outcome(read, write(folder / "first", mutant(rng)), allowed)
    limited()
    watch(folder, done)
    for name, (mutant, read, allowed) in kinds.items():
        rng = np.random.default_rng([seed, *name.encode()])  # a further kind changes no other's
        for _ in range(number):
            path = write(folder / name, mutant(rng))
            how, problem = outcome(read, path, allowed)
            outcomes[f"{name} {how}"] += 1
            if problem or done:
                kept = folder / f"wrong-{len(wrong)}-{name}"
                kept.write_bytes(path.read_bytes())
                wrong.append([name, problem, list(done), str(kept)])
                done.clear()
    sys.stdout.write(json.dumps({"outcomes": outcomes, "wrong": wrong[:20]}))


def write(path, content):
    path.write_bytes(content)
    return path


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
