"""The studio in a real browser: whole walks, what people do wrong, and what hinders readers."""

import itertools
import json
import random
import shutil
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.browser import CHROMIUM, NO_BROWSER, Browser
from helpers.paths import ROOT
from helpers.studio import Person, Served, declare_export, messy_export

from synthdp.linked import Package

pytest.importorskip("uvicorn")
pytest.importorskip("python_multipart")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)

AXE = """axe.run(document, {resultTypes: ["violations"], iframes: false}).then((found) =>
    found.violations.map((each) => `${each.id}: ${each.nodes[0].html.slice(0, 200)}`))"""


COVERED = """(() => {
    const found = [], inputs = "input:not([type=hidden]), select, textarea, summary, button:not(.unseen)";
    const isSeen = (each) => {
        const box = each.getBoundingClientRect(), middle = box.left + box.width / 2;
        const seen = [box.top + 2, box.bottom - 2].map((y) => document.elementFromPoint(middle, y));
        return seen.every((at) => each.contains(at));
    };
    for (const each of document.querySelectorAll(`main :is(${inputs})`)) {
        if (!each.checkVisibility()) continue;
        document.activeElement?.blur();
        each.focus();
        if (document.activeElement === each && !isSeen(each))
            found.push(`covered: ${each.name || each.textContent}`);
    }
    const bar = document.querySelector(".sticky")?.offsetHeight ?? 0;
    if (bar > (parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom) || 0))
        found.push(`the bar of ${bar} pixels is higher than what is kept free for it`);
    scrollTo(0, 0);
    return found; })()"""
"""What has the focus, and is hidden by a bar of buttons or lies outside of the window."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture
def started(tmp_path):
    """Starts studios, and ends them."""
    studios = []

    def start(*arguments, port=0):
        studios.append(Served(*arguments, cwd=tmp_path, port=port))
        return studios[-1]

    yield start
    for each in studios:
        each.close()


@pytest.fixture
def export(tmp_path):
    messy_export(tmp_path / "Export 2025.csv", 1500)
    return "Export 2025.csv"


def unread(browser):
    """What a screen reader cannot tell of a page: controls without a name, headings out of order,
    and in which step one is.
    """
    browser.ask("Accessibility.enable")
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    told = [
        (each["role"]["value"], each.get("name", {}).get("value", ""), each.get("properties", ()))
        for each in nodes
        if not each["ignored"]
    ]
    controls = [
        "button",
        "link",
        "textbox",
        "combobox",
        "checkbox",
        "radio",
        "slider",
        "DisclosureTriangle",
        "region",
    ]
    found = [f"{role} without a name" for role, name, _ in told if role in controls and not name]
    levels = [
        facts["value"]["value"]
        for role, _, properties in told
        for facts in properties
        if role == "heading" and facts["name"] == "level"
    ]
    if levels[:1] != [1] or any(b - a > 1 for a, b in itertools.pairwise(levels)):
        found.append(f"headings of the levels {levels}")
    if browser.run("document.querySelectorAll('nav [aria-current=step]').length") != 1:
        found.append("the step is not told")
    return found


def faults(person):
    """What axe finds on a page, in light and in dark, on a screen and on a phone."""
    spec = find_spec("axe_core_python")
    if spec is None:
        pytest.skip("no axe")
    script = next(Path(spec.origin).parent.rglob("axe.min.js")).read_text("utf-8")
    browser, found = person.browser, []
    for width, scheme in ((1280, "light"), (390, "dark")):
        browser.resize(width, 900)
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.ask("Emulation.setEmulatedMedia", features=media)
        browser.run(script + ";1")
        found += [f"{width} {scheme}: {fault}" for fault in browser.run(AXE)]
        wide = browser.run("document.documentElement.scrollWidth - innerWidth")
        found += [f"{width}: {wide} pixels too wide"] if wide > 1 else []
        found += browser.run(COVERED)
    found += unread(browser)
    browser.resize(1280, 900)
    browser.ask("Emulation.setEmulatedMedia", features=[])
    return found


def runs(person):
    person.press("action", "start", leads="/run")
    person.until("document.querySelector('.state-done, .state-failed')", 240)


def test_a_messy_export_becomes_a_publication_and_no_page_hinders_anybody(
    browser, started, export, tmp_path
):
    person = Person(browser, started(export))
    found = {"table": faults(person)}
    person.fill("mark", ",")
    person.press("then", "go_on", leads="/columns")
    person.fill("book", "of another table;1")
    person.press("action", "book", leads="/columns")
    person.until("document.activeElement.getAttribute('role') === 'alert'")  # so it is read aloud
    assert ["422" in each for each in browser.complaints()] == [True]
    person.go("/columns?language=de")  # whose buttons are longer
    found["columns in German"] = faults(person)
    person.go("/columns?language=en")
    declare_export(person)
    person.until("!document.querySelector('.said .bad')")
    found["columns"] = faults(person)
    person.press("action", "go_on", leads="/people")
    found["people"] = faults(person)
    person.go("/people?rule=allow&column=Geschlecht&column=Raucher&column=Gewicht&column=Station")
    found["rule"] = faults(person)
    person.fill("several", "no")
    person.press("action", "go_on", leads="/budget")
    person.fill("rows", "1500")
    person.fill("epsilon", "3")
    person.until("document.querySelector('tr.here')?.textContent.trim().startsWith('3')")
    found["budget"] = faults(person)
    learnt = "document.querySelector('.expected a[href=\"#c0-12.levels\"]')"
    browser.run(f"{learnt}.click()")  # what the budget would not learn is said here
    person.until("document.activeElement.id === 'c0-12.levels'")
    person.fill("c0-12.levels", "S72.0\nI10\nE11.9\nJ18.9\nK35\nO80")
    person.until(f"!{learnt}")
    browser.run("document.querySelector('.walk [href=\"/people\"]').click()")
    person.until("location.pathname === '/people'")  # and saved by leaving for another step
    person.go("/budget")
    assert browser.run("document.getElementById('rows').value") == "1500"
    person.press("action", "go_on", leads="/run")
    runs(person)
    found["run"] = faults(person)
    person.press("action", "go_on", leads="/look")
    person.press("action", "make")
    person.until("document.querySelector('iframe')")
    found["look"] = faults(person)
    person.go("/look?tab=not-private")
    assert "NOT PRIVATE" in person.text()
    found["not private"] = faults(person)
    person.press("action", "go_on", leads="/take")
    found["take"] = faults(person)
    assert {page: all_ for page, all_ in found.items() if all_} == {}
    shell = browser.run("document.querySelector('#shell code').textContent")
    assert "--kinds run-1/kinds.json" in shell
    published = tmp_path / "Export 2025.csv.studio" / "run-1" / "publish"
    names = {path.name for path in published.iterdir()}
    assert {
        "synthetic.csv",
        "synthetic.csv.privacy.json",
        "release.html",
        "certificate.html",
    } <= names
    first = (published / "synthetic.csv").read_text("utf-8-sig").splitlines()
    assert first[0].startswith("Geschlecht;Geburtsdatum;Größe (cm)")
    assert browser.complaints() == []


def test_the_sample_from_its_kinds(browser, started, tmp_path):
    shutil.copy(ROOT / "data/census.csv", tmp_path)
    person = Person(browser, started("census.csv"))
    person.fill("encoding", "utf-8")
    person.press("then", "go_on", leads="/columns")
    person.press("action", "rest", leads="/columns")
    for place in (3, 5, 11, 12):
        person.fill(f"c0-{place}.kind", "integer" if place != 12 else "number")
    person.fill("c0-13.kind", "date")
    person.fill("c0-9.levels", "child")  # of a code book that is too old: most are none of these
    person.fill("c0-9.other", "other")
    person.press("action", "go_on", leads="/people")
    person.press("action", "go_on", leads="/budget")
    person.fill("rows", "30000")
    person.press("action", "go_on", leads="/run")
    runs(person)
    assert "(1, 0.0000001)-differential privacy" in person.text()
    mend = "document.querySelector('.cards a[href=\"/columns#c0-9.levels\"]')"
    assert person.browser.run(f"!!{mend}")
    person.browser.run(f"{mend}.click()")
    person.until("document.activeElement.id === 'c0-9.levels'")


def test_linked_tables(browser, started, tmp_path):
    shutil.copytree(ROOT / "data/families", tmp_path / "families")
    person = Person(browser, started("families"))
    person.press("then", "go_on", leads="/columns")
    person.press("action", "go_on", leads="/people")
    assert person.browser.run("document.querySelectorAll('.links span').length") == 5
    assert faults(person) == []
    described = tmp_path / "families" / "datapackage.studio.json"
    before = [(each.name, each.key, each.parent) for each in Package.load(described).tables]
    person.press("action", "links", leads="/people")
    after = Package.load(described)
    assert [(each.name, each.key, each.parent) for each in after.tables] == before
    assert [*after.lookups] == ["regions"]
    person.fill("t3.max_children", "2")  # what was typed is saved by going on as well
    person.press("action", "go_on", leads="/budget")
    most = {each.name: each.max_children for each in Package.load(described).tables}
    assert most["vehicles"] == 2
    person.fill("epsilon", "10")
    person.press("action", "go_on", leads="/run")
    runs(person)
    assert "Done" in person.text()


def ready(person):
    """A person who has come to the run of a small table."""
    person.fill("encoding", "utf-8")
    person.press("then", "go_on", leads="/columns")
    person.press("action", "rest", leads="/columns")
    person.press("action", "go_on", leads="/people")
    person.press("action", "go_on", leads="/budget")
    person.fill("rows", "2000")
    person.press("action", "go_on", leads="/run")


@pytest.fixture
def small(tmp_path):
    chance = random.Random(3)
    lines = (",".join(chance.choice("abcdef") for _ in range(8)) for _ in range(2000))
    (tmp_path / "small.csv").write_text("a,b,c,d,e,f,g,h\n" + "\n".join(lines) + "\n")
    return "small.csv"


def test_back_reload_two_pages_a_kill_and_a_restart(browser, started, small, tmp_path):
    served = started(small)
    person = Person(browser, served)
    ready(person)
    browser.run("history.back()")  # a page that was sent already is shown as it is saved now
    person.until("document.querySelector('[name=rows]')?.value === '2000'")
    assert person.path == "/budget"
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    person.go("/budget")
    person.fill("epsilon", "2")
    person.press("action", "save", leads="/budget")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    person.press(
        "action", "save", leads="/budget"
    )  # of what the second page saved it knows nothing
    assert "saved in another page" in person.text()
    asked = "document.querySelector('[name=epsilon]').value"
    assert browser.run(asked) == "1"  # what was typed here stays, unsaved
    person.go("/budget")
    assert browser.run(asked) == "2"
    person.go("/run")
    person.press("action", "start", leads="/run")
    browser.driver.refresh()  # while it runs: nothing is sent again
    assert person.path == "/run"
    assert len(list((tmp_path / "small.csv.studio").glob("run-*"))) == 1
    port = int(served.home.rpartition(":")[2])
    served.close(kills=True)
    lost = "!document.getElementById('lost').hidden"
    person.until(lost, 30)  # the page that is open says that its server is gone
    assert "Connection lost" in person.text()
    again = started("small.csv.studio", port=port)
    person = Person(browser, again)
    assert person.path == "/run"
    person.until("document.querySelector('.state-done, .state-paused')", 120)
    if "Paused" in person.text():  # it was killed with the studio before its journal was there
        person.press("action", "resume", leads="/run")
        person.until("document.querySelector('.state-done')", 120)
    assert len(list((tmp_path / "small.csv.studio").glob("run-*"))) == 1


def test_a_full_disk_is_said_and_nothing_is_lost(browser, started, small, tmp_path):
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("only Linux can take the room away from a process that runs")
    served = started(small)
    person = Person(browser, served)
    ready(person)

    def leave_room(n_bytes):
        most = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (n_bytes, most))

    leave_room(0)  # no file can grow: the system refuses as on a disk that is full
    person.press("action", "start", leads="/run")
    assert "it cannot be written: file too large; make room" in person.text()
    person.go("/budget")
    person.fill("epsilon", "7")
    person.press("action", "save", leads="/budget")
    assert "make room" in person.text()
    leave_room(resource.RLIM_INFINITY)
    assert json.loads((tmp_path / "small.csv.studio/project.json").read_text())["epsilon"] == 1
    person.press("action", "go_on", leads="/run")
    person.press("action", "start", leads="/run")
    person.until("document.querySelector('.state-done')", 240)
    assert "7" in person.text()


def test_a_pause_is_gone_on_with_and_pays_nothing_twice(browser, started, small, tmp_path):
    person = Person(browser, started(small))
    ready(person)
    person.press("action", "start", leads="/run")
    time.sleep(1.5)
    if browser.run("!!document.querySelector('button[value=pause]')"):
        person.press("action", "pause", leads="/run")
    if browser.run("!!document.querySelector('button[value=resume]')"):
        person.press("action", "resume", leads="/run")
    person.until("document.querySelector('.state-done')", 120)
    assert len(list((tmp_path / "small.csv.studio").glob("run-*"))) == 1


def test_without_scripts_it_works_as_well(browser, started, small):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        person = Person(browser, started(small))
        ready(person)
        assert "Start" in person.text()
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)


def test_the_slider_is_another_way_to_type_epsilon(browser, started, small):
    person = Person(browser, started(small))
    ready(person)
    person.go("/budget")
    cells = "document.querySelector('tr.here')?.textContent.trim()"
    person.until(f"{cells}?.startsWith('1')")
    browser.run("document.getElementById('slide').focus()")
    browser.press("Arrow_Right")
    person.until("parseFloat(document.getElementById('epsilon').value) > 1", 20)
    typed = browser.run("document.getElementById('epsilon').value")
    person.until(f"{cells}?.startsWith('{typed}')")  # what is to be expected follows


def test_the_keyboard_reaches_the_content_first(browser, started, small):
    person = Person(browser, started(small))
    browser.press("Tab")
    assert browser.run("document.activeElement.getAttribute('href')") == "#main"
    browser.press("Enter")
    person.until("document.activeElement.id === 'main' || location.hash === '#main'")
