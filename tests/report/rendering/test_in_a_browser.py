"""Pages in a real browser: no errors, all is drawn, tables sort by the keyboard, and nothing is
fetched.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.browser import CHROMIUM, NO_BROWSER, Browser
from helpers.evaluations import SCHEMA, people
from helpers.families import package, random_tables
from helpers.homes import home
from helpers.seldom import often
from helpers.stated import release_of

from synthdp import evaluate
from synthdp.report import PageView, certificate_page, curve_section, release_page

marginals = home(curve_section)
view = home(PageView)

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

WIDTHS = {"desk": 1280, "phone": 390}
AXE = find_spec("axe_core_python")
SERIOUS = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes[0].html.slice(0, 200)}`))"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    stated = {
        name: {"events": [], "epsilon": epsilon} for name, epsilon in (("a", 1.0), ("b", 2.0))
    }
    tables = {"a": people(200, 1), "b": people(200, 2)}
    found = evaluate(people(300), tables, SCHEMA, targets="job", by="town", certificate=stated)
    with pytest.MonkeyPatch.context() as patched:  # fewer pictures of a kind are as good a test
        patched.setattr(marginals, "N_PAIRS", 1)
        patched.setattr(view, "N_OPEN", 1)
        found.to_html(folder / "evaluation.html")
        evaluate(people(300), people(200, 1), SCHEMA, targets=[]).to_html(folder / "single.html")
    page = certificate_page(release_of().certificate)
    (folder / "certificate.html").write_text(page, encoding="utf-8")
    linked = evaluate(random_tables(80), random_tables(60, seed=1), package())
    linked.to_html(folder / "linked.html")
    release_page(release_of(), folder / "release.html")
    return folder


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", ["evaluation", "linked", "release"])
def test_a_page_is_whole_and_fetches_nothing(browser, pages, name, width):
    path = pages / f"{name}.html"
    browser.open(path, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("[...document.querySelectorAll('.chart')].length") >= 6
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= width
    boxes = "[...document.querySelectorAll('.chart')].map((each) => each.getBoundingClientRect())"
    assert browser.run(f"Math.min(...{boxes}.map((box) => Math.min(box.width, box.height)))") > 30
    marks = "[...document.querySelectorAll('.chart')].map((each) => each.querySelectorAll('path, use, image').length)"
    assert browser.run(f"Math.min(...{marks})") >= 2
    urls = {event["request"]["url"] for event in browser.told("Network.requestWillBeSent")}
    assert {url for url in urls if not url.startswith("data:image/png")} == {
        path.resolve().as_uri()
    }
    assert browser.complaints() == []


def test_tables_sort_by_the_keyboard(browser, pages):
    browser.open(pages / "evaluation.html")
    column = (
        "[...document.querySelectorAll('#summary tbody tr')].map((row) => row.cells[1].textContent)"
    )
    before = [float(text) for text in browser.run(column)]
    wanted = "document.activeElement.closest('#summary th')?.cellIndex"
    for _ in range(60):
        browser.press("Tab")
        if browser.run(wanted) == 1:
            break
    assert browser.run(wanted) == 1
    state = "document.activeElement.closest('th').getAttribute('aria-sort')"
    for key, said, is_falling in (
        ("Enter", "descending", True),
        (" ", "ascending", False),
    ):
        browser.press(key)
        assert browser.run(state) == said
        assert [float(text) for text in browser.run(column)] == sorted(before, reverse=is_falling)
    assert before != sorted(before)
    assert browser.run("document.querySelectorAll('#summary [aria-sort]').length") == 1


def test_what_is_empty_stays_last_and_texts_sort_from_a(browser, pages):
    browser.open(pages / "evaluation.html")
    column = "[...document.querySelectorAll('#summary tbody tr')].map((row) => row.cells[{}].textContent.trim())"
    for place in (3, 0, 0):
        browser.run(f"document.querySelectorAll('#summary th button')[{place}].click()")
        found = browser.run(column.format(place))
        texts = [text for text in found if text]
        assert found[: len(texts)] == texts
        if place == 3:
            assert len(texts) < len(found)
            assert [float(text) for text in texts] == sorted(map(float, texts), reverse=True)
    names = browser.run(column.format(0))
    assert names[0][0].lower() > names[-1][0].lower()  # pressed twice


def test_pages_are_dark_where_the_system_is_and_so_are_their_pictures(browser, pages):
    """Texts, lines and the background follow; a picture keeps no colour of a light page."""
    colours = {}
    for scheme in ("light", "dark"):
        browser.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        browser.open(pages / "single.html")
        colours[scheme] = [
            browser.run(f"getComputedStyle(document.querySelector({what!r})).{key}")
            for what, key in (
                ("body", "backgroundColor"),
                ("body", "color"),
                (".chart text", "fill"),
                (".chart [style*='--bar']", "fill"),
                (".chart [style*='--c0']", "stroke"),
                (".mark", "backgroundColor"),
                ("a", "color"),
            )
        ]
    browser.ask("Emulation.setEmulatedMedia", features=[])
    assert colours["light"][0] == "rgb(255, 255, 255)"
    assert all(one != other for one, other in zip(*colours.values(), strict=True))


def test_the_verdict_is_on_the_first_screen_of_a_phone(browser, pages):
    browser.open(pages / "single.html", width=390, height=844)
    bottom = "document.querySelector('.marks').getBoundingClientRect().bottom"
    assert browser.run(bottom) <= 844
    table = "document.querySelector('#summary .wide')"
    assert browser.run(f"{table}.scrollWidth") <= browser.run(f"{table}.clientWidth")


def test_what_scrolls_can_be_focused(browser, pages):
    browser.open(pages / "evaluation.html", width=390)
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    scrolls = "[...document.querySelectorAll('*')].filter((each) => each.scrollWidth > each.clientWidth + 1"
    scrolls += " && ['auto', 'scroll'].includes(getComputedStyle(each).overflowX))"
    assert browser.run(f"{scrolls}.length") > 0
    assert browser.run(f"{scrolls}.filter((each) => each.tabIndex < 0).length") == 0


@pytest.mark.skipif(AXE is None, reason="axe-core-python is not installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", often("release", "single", seldom=("evaluation", "linked", "certificate"))
)
def test_axe_finds_nothing_serious(browser, pages, name, scheme):
    browser.ask(
        "Emulation.setEmulatedMedia",
        features=[{"name": "prefers-color-scheme", "value": scheme}],
    )
    browser.open(pages / f"{name}.html")
    script = Path(AXE.submodule_search_locations[0], "axe.min.js").read_text(encoding="utf-8")
    browser.run(f"{script}; 0")
    assert browser.run(SERIOUS) == []
    if browser.run("document.querySelector('.chart') !== null"):
        browser.run("document.querySelector('.chart').removeAttribute('aria-label')")
        browser.run(
            "document.querySelectorAll('.chart title, .chart desc').forEach((each) => each.remove())"
        )
        assert [each.split(":")[0] for each in browser.run(SERIOUS)] == ["svg-img-alt"]
    browser.ask("Emulation.setEmulatedMedia", features=[])
