"""What README and docs show is run: commands, Python, schemas."""

import json
import re
from textwrap import dedent

import pytest
from helpers.cli_runs import invoke
from helpers.pages import shell_lines
from helpers.paths import ROOT
from helpers.stated import release_of

import synthdp
from synthdp.cli.arguments import command_line, exits, help_texts
from synthdp.core import Workload
from synthdp.privacy import Accounting
from synthdp.release import ENGINES, KEYS, MECHANISMS, mechanism_named, read_about

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MECHANISM_NAMES, WORKLOADS, ENGINES_PAGE = (
    ROOT / "docs" / name for name in ("mechanisms.md", "workload.md", "engines.md")
)
FRAMES, EVALUATION = ROOT / "docs/frames.md", ROOT / "docs/evaluation.md"
INFERENCE = ROOT / "docs/inference.md"
AUDIT = ROOT / "docs/audit.md"
SOURCES = ROOT / "docs/sources.md"
ADDING = ROOT / "docs/adding.md"
"""Its examples are run by `test_adding`."""
RULES = ROOT / "docs/rules.md"
KNOWN = ROOT / "docs/published-totals.md"
"""Their schemas leave columns out; `test_pages` runs them."""
CERTIFICATE = ROOT / "docs/certificate.md"
TUTORIAL, BY_HAND = ROOT / "docs/tutorial.md", ROOT / "docs/from-measurements.md"
COMING_FROM = ROOT / "docs/coming-from.md"
COMMANDS = ("run", "sample", "refit", "marginal", "replicates", "report", "show", "certificate")
COMMANDS += ("verify",)
COMMANDS += ("schema draft", "schema check", "plan")
COMMANDS += tuple(f"budget {name}" for name in ("create", "add", "show", "verify"))
COMMANDS += ("journal show", "journal rescue")
COMMANDS += ("plan-measure", "measure", "combine")
COMMANDS += ("audit", "studio")

needs_pages = pytest.mark.skipif(
    not PAGES[0].exists(), reason="no checkout: README.md is not there"
)
needs_sample = pytest.mark.skipif(not (ROOT / "data").is_dir(), reason="the sample is not there")


def blocks(language, *, pages=PAGES):
    """Fenced blocks of some pages, each as a test parameter."""
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        contents = re.findall(
            rf"^( *)```{language}\n(.*?)^\1```", text, flags=re.DOTALL | re.MULTILINE
        )
        found += [
            pytest.param(dedent(content), id=f"{page.stem}-{i}")
            for i, (_, content) in enumerate(contents)
        ]
    return found


def shell_commands(pages=PAGES):
    """The arguments of every synthdp command in shell blocks and, of all pages, in the help."""
    texts = [block.values[0] for block in blocks("sh", pages=pages)]
    texts += [command_line.EXAMPLES, *help_texts.EXAMPLES.values()] if pages is PAGES else []
    return [line for text in texts for line in shell_lines(text)]


def inline_commands():
    texts = [page.read_text(encoding="utf-8") for page in PAGES if page.exists()]
    return sorted(
        {code for text in texts for code in re.findall(r"`synthdp ([a-z][^`\n]*)`", text)}
    )


@needs_pages
@pytest.mark.parametrize("arguments", shell_commands(), ids=" ".join)
def test_every_command_that_is_shown_is_accepted(arguments):
    options = command_line.command_line_parser().parse_args(arguments)
    assert options.command in COMMANDS


@needs_pages
@pytest.mark.parametrize("text", inline_commands())
def test_every_command_that_is_mentioned_exists(text):
    command = next(known for known in COMMANDS if text.startswith(known))
    help_text = invoke(*command.split(), "--help-all").out.decode()
    assert [
        option for option in re.findall(r"(?<!\w)--?[a-z]+", text) if option not in help_text
    ] == []


@needs_pages
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_shown(command):
    shown = [" ".join(arguments) for arguments in shell_commands()]
    assert any(line.startswith(command) for line in shown)


@needs_pages
def test_every_option_that_readme_names_exists():
    text = PAGES[0].read_text(encoding="utf-8")
    text = "\n".join(
        line for line in text.splitlines() if "benchmarks/" not in line
    )  # they have options of their own
    parts = {"schema": 2, "budget": 2, "journal": 2}
    commands = [arguments[: parts.get(arguments[0], 1)] for arguments in shell_commands()]
    help_text = "".join(invoke(*command, "--help-all").out.decode() for command in commands)
    named = set(re.findall(r"(?<![\w-])--[a-z]+", text))
    assert {option for option in named if option not in help_text} == set()


@needs_pages
def test_every_exit_code_is_explained():
    text = (ROOT / "docs/nightly.md").read_text(encoding="utf-8")
    codes = {
        "done": exits.DONE,
        "failed": exits.FAILED,
        "wrong usage": exits.USAGE,
        "refused for privacy": exits.REFUSED,
        "done, but `--accept` is not met": exits.NOT_ACCEPTED,
        "interrupted": exits.INTERRUPTED,
        "terminated": exits.TERMINATED,
    }
    for name, code in codes.items():
        assert f"| {code} | {name}" in text


@pytest.fixture
def newcomer(tmp_path, monkeypatch):
    """A folder that holds what the examples read, and takes what they write."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def python_of(page):
    """A test of each block of a page, run in the place of a newcomer."""

    def marked(test):
        for mark in (
            pytest.mark.parametrize("block", blocks("python", pages=[page])),
            pytest.mark.usefixtures("newcomer"),
            needs_sample,
            needs_pages,
        ):
            test = mark(test)
        return test

    return marked


def executed(block, page, **names):
    """The names that a block of a page leaves behind; those that are given are there before."""
    exec(compile(block, page.name, "exec"), names)
    return names


@needs_pages
@needs_sample
@pytest.mark.parametrize("block", blocks("python", pages=PAGES[:1]))
def test_python_examples_run(block, newcomer, capsys):
    exec(compile(block, "README.md", "exec"), {})
    assert "(1, 1e-09)-differential privacy" in capsys.readouterr().out
    assert (newcomer / "census.synthdp").exists()


def certificate_blocks(word):
    """The blocks of Python about certificates that do something: one, or the page lost it."""
    found = [block for block in blocks("python", pages=[CERTIFICATE]) if word in block.values[0]]
    assert len(found) == 1 or not CERTIFICATE.exists()
    return found


def written_certificate(folder):
    certificate = release_of(mechanism="independent", accounting="gdp").certificate
    (folder / "synthetic.csv.privacy.json").write_text(json.dumps(certificate), encoding="utf-8")
    return certificate


@needs_pages
@pytest.mark.parametrize("block", certificate_blocks("dp_accounting"))
def test_another_accountant_finds_the_epsilon_of_a_certificate(
    block, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("dp_accounting")
    monkeypatch.chdir(tmp_path)
    certificate = written_certificate(tmp_path)
    executed(block, CERTIFICATE)
    assert float(capsys.readouterr().out) == pytest.approx(certificate["epsilon"], rel=1e-3)


@needs_pages
@pytest.mark.parametrize("block", certificate_blocks("sha256("))
def test_the_hash_of_a_certificate_shows_a_change(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    certificate = written_certificate(tmp_path)
    executed(block, CERTIFICATE)
    changed = json.dumps(certificate | {"epsilon": certificate["epsilon"] / 2})
    (tmp_path / "synthetic.csv.privacy.json").write_text(changed, encoding="utf-8")
    with pytest.raises(AssertionError):
        executed(block, CERTIFICATE)


@needs_pages
@pytest.mark.parametrize("block", blocks("yaml", pages=[CERTIFICATE]))
def test_what_a_curator_may_say_is_shown_whole(block, tmp_path):
    (tmp_path / "about.yaml").write_text(block, encoding="utf-8")
    assert set(read_about(tmp_path / "about.yaml")) == set(KEYS)


@needs_pages
@pytest.mark.parametrize("block", blocks("python", pages=[AUDIT]))
def test_the_check_finds_what_its_page_says(block, capsys):
    executed(block, AUDIT, __name__="newcomer")
    assert "looked for '_source' in a private object" in capsys.readouterr().out
    assert len([line for line in block.splitlines() if line]) < 15


@python_of(INFERENCE)
def test_error_bars_come_as_their_page_says(block):
    names = executed(block, INFERENCE)
    assert set(names["counts"]["basis"]) == {"measured"}
    for found in (names["share"], names["own"]):
        assert 0 < found["low"].item() < found["estimate"].item() < found["high"].item() < 1
    assert names["own"]["stderr"].item() < names["share"]["stderr"].item()


@needs_pages
@needs_sample
@pytest.mark.usefixtures("newcomer")
def test_a_data_frame_comes_back_as_its_page_says():
    (block,) = blocks("python", pages=[FRAMES])
    names = executed(block.values[0], FRAMES)
    assert names["synthetic"].dtypes.astype(str).to_dict() == names["dtypes"]
    assert names["synthesis"].cautions == ()


@python_of(EVALUATION)
def test_an_evaluation_says_first_that_it_is_not_private(block, capsys):
    names = executed(block, EVALUATION)
    assert capsys.readouterr().out.splitlines()[1].startswith("NOT PRIVATE")
    assert len(names["found"].prediction) == len(names["found"].queries) == 2


@needs_pages
@needs_sample
def test_the_tutorial_leads_from_the_table_to_a_publication(newcomer, capsys):
    pytest.importorskip("jinja2")
    pytest.importorskip("yaml")
    (schema,) = blocks("jsonc", pages=[TUTORIAL])
    (newcomer / "people.schema.json").write_text(schema.values[0], encoding="utf-8")
    (about,) = blocks("yaml", pages=[TUTORIAL])
    (newcomer / "about.yaml").write_text(about.values[0], encoding="utf-8")
    for arguments in shell_commands([TUTORIAL]):
        outcome = invoke(*arguments)
        assert outcome.code == 0, outcome
    (code,) = blocks("python", pages=[TUTORIAL])
    executed(code.values[0], TUTORIAL)
    assert "NOT PRIVATE" in capsys.readouterr().out
    text = TUTORIAL.read_text(encoding="utf-8")
    published = set(
        re.findall(r"`([a-z.]+)`", text.split("Publish together:")[1].split("Keep back:")[0])
    )
    assert published == {
        "synthetic.csv", "synthetic.csv.privacy.json", "certificate.html", "people.synthdp", "people.schema.json",
        "record.yaml",
    }  # fmt: skip
    assert all((newcomer / name).stat().st_size for name in published)
    women = (newcomer / "women.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert (len(women), {line.split(",")[0] for line in women}) == (5000, {"F"})


@needs_pages
@needs_sample
def test_who_comes_from_another_package_gets_as_many_rows(newcomer):
    names = {}
    for block in blocks("python", pages=[COMING_FROM]):
        names.pop("synthetic", None)
        exec(compile(block.values[0], COMING_FROM.name, "exec"), names)
        assert len(names.get("synthetic", range(1000))) == 1000
    assert names["synthesis"].certificate["mechanism"]["name"] == "privbayes"
    assert len((newcomer / "synthetic.csv").read_text(encoding="utf-8").splitlines()) == 1001


@python_of(BY_HAND)
def test_engines_are_better_than_the_noisy_counts_that_they_were_given(block):
    names = executed(block, BY_HAND)
    ratio = names["table"].div(names["table"]["noisy counts"], axis=0)
    assert set(names["engines"]) == set(ENGINES) - {"auto", "generative-network"}
    assert ratio[names["engines"]].max().max() < 1
    assert len([line for line in block.splitlines() if line]) < 27


@needs_pages
@needs_sample
@pytest.mark.parametrize("block", blocks("json", pages=[WORKLOADS]))
def test_workload_examples_suit_the_sample(block):
    schema = synthdp.Schema.load(ROOT / "data/census.schema.json")
    assert 3 <= len(Workload.from_dict(schema.domain, json.loads(block)).cliques) <= 78


@needs_pages
def test_every_mechanism_is_listed_with_its_engine_and_accounting():
    text = MECHANISM_NAMES.read_text(encoding="utf-8")
    rows = {}
    for line in text.splitlines():
        cells = [re.findall(r"`([a-z-]+)`", cell) for cell in line.split("|")[1:-1]]
        if cells and cells[0]:
            rows[cells[0][0]] = (cells[2][0], cells[3])
            assert f"[`{cells[0][0]}`](mechanisms/{cells[0][0]}.md)" in line
    expected = {}
    for name in MECHANISMS:
        mechanism = mechanism_named(name)
        known = [mechanism.default_accounting.value]
        known += (
            [each.value for each in Accounting if each.value not in known]
            if mechanism.is_gaussian
            else []
        )
        expected[name] = (mechanism.default_engine, known)
        page = (MECHANISM_NAMES.parent / f"mechanisms/{name}.md").read_text(encoding="utf-8")
        assert mechanism.is_gaussian == ("all noise is gaussian" in " ".join(page.lower().split()))
    assert rows == expected


@needs_pages
def test_every_engine_is_listed_and_no_other():
    text = ENGINES_PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`([a-z-]+)`\]\(engines/([a-z-]+)\.md\) \|", text, flags=re.MULTILINE)
    assert [name for name, page in rows if name != page] == []
    assert sorted(name for name, _ in rows) == sorted(ENGINES)


@needs_pages
@pytest.mark.parametrize(
    "block",
    blocks("json", pages=[page for page in PAGES if page not in (WORKLOADS, RULES, KNOWN)]),
)
def test_schema_examples_load(block, tmp_path):
    schema = synthdp.Schema.from_dict(json.loads(block))
    assert synthdp.Schema.from_dict(schema.to_dict()) == schema
    (tmp_path / "schema.json").write_text(block, encoding="utf-8")
    assert invoke("show", tmp_path / "schema.json").code == 0


@needs_pages
def test_the_private_pgm_domain_in_the_docs_loads():
    (domain,) = re.findall(
        r"`(\{\"sex\": 2.*?\})`", (ROOT / "docs/schema.md").read_text(encoding="utf-8")
    )
    assert synthdp.Schema.from_dict(json.loads(domain)).domain.shape == (2, 85)


@needs_pages
def test_the_site_has_every_page_once():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    known = sorted(str(page.relative_to(ROOT / "docs")) for page in PAGES[1:])
    assert sorted(re.findall(r": ([\w/-]+\.md)$", nav, flags=re.MULTILINE)) == known


@needs_pages
def test_the_reference_has_a_page_of_every_public_name():
    index = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    pages = sorted((ROOT / "docs/reference").glob("*.md"))
    assert sorted(re.findall(r"^- \[.*\]\(reference/(\w+)\.md\): ", index, re.MULTILINE)) == sorted(
        page.stem for page in pages
    )
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    homes = dict(
        reversed(path.rsplit(".", 1))
        for path in re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE)
    )
    assert homes.pop("errors") == "synthdp.core"
    assert (
        homes.pop("Replicates") == "synthdp.release.uncertainty.replicates"
    )  # what `Synthesis.replicates` gives
    known = {name: synthdp._HOMES[name] for name in synthdp.__all__ if name in synthdp._HOMES}
    assert homes == known


@needs_pages
@pytest.mark.parametrize(
    "block", blocks("jsonc", pages=[page for page in PAGES if page != TUTORIAL])
)
def test_open_schemas_and_kinds_load(block):
    content = json.loads(block)
    schema = (
        synthdp.OpenSchema.from_dict(content)
        if "fields" in content
        else synthdp.OpenSchema.from_kinds(content)
    )
    assert schema.is_open
    assert synthdp.OpenSchema.from_dict(schema.to_dict()) == schema


@needs_pages
@pytest.mark.parametrize("block", blocks("python", pages=[SOURCES]))
def test_tables_elsewhere_are_taken_as_the_page_says(block):
    library = re.search(r"^import (dask|duckdb)", block, flags=re.MULTILINE)[1]
    pytest.importorskip(library)
    found = {}
    exec(compile(block, "sources.md", "exec"), found)
    assert found["synthesis"].schema.names == (
        ("smokes", "age") if library == "duckdb" else ("smokes",)
    )
