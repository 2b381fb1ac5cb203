"""The studio as tests drive it: its application without a server, and a server with a browser."""

import json
import random
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

PORT = 8123
TOKEN = "token-of-a-test"
HOME = f"http://127.0.0.1:{PORT}"
PROGRAM = [sys.executable, "-m", "synthdp", "studio"]
SAME = {"origin": HOME}


def studio_client(place, *, project="people.studio", token=TOKEN):
    """A client that came by the printed address, and the studio that it speaks to."""
    from starlette.testclient import TestClient

    from synthdp.cli import Studio
    from synthdp.cli.studio.app import studio_app

    studio = Studio(Path(place, project), Path(place), token=token)
    client = TestClient(studio_app(studio, port=PORT), base_url=HOME, headers=SAME)
    assert client.get(f"/?token={token}", follow_redirects=False).status_code == 303
    return client, studio


class _Forms(HTMLParser):
    """What each form of a page would send."""

    def __init__(self, text):
        super().__init__()
        self.forms, self._select, self._area = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self.forms.append({})
        if not self.forms:
            return
        form, name = self.forms[-1], given.get("name")
        if tag == "input" and name and given.get("type") not in ("radio", "checkbox", "file"):
            form[name] = given.get("value") or ""
        elif tag == "input" and name and "checked" in given:
            form[name] = given.get("value") or "on"
        elif tag == "select":
            self._select = name
            form.setdefault(name, "")
        elif tag == "option" and self._select and "selected" in given:
            form[self._select] = given.get("value")
        elif tag == "textarea":
            self._area = name
            form[name] = ""

    def handle_endtag(self, tag):
        if tag == "select":
            self._select = None
        if tag == "textarea":
            self._area = None

    def handle_data(self, data):
        if self._area is not None:
            self.forms[-1][self._area] += data


def form_with(page, name):
    """What the form of a page that asks for something sends, if nothing is changed."""
    return next(form for form in _Forms(page).forms if name in form)


def key_and_version(page):
    found = form_with(page, "version")
    return {"key": found["key"], "version": re.search(r'name="version" value="(\d+)"', page)[1]}


def posted(client, path, **given):
    """The answer to a form of a page, with the key and version that it holds; see `sent`."""
    page = client.get(path.replace("/upload", "")).text
    return sent(client, path, data=key_and_version(page) | given)


def sent(client, path, **given):
    """The answer to a form; not followed, but to the page that says why it was refused."""
    answer = client.post(path, follow_redirects=False, **given)
    is_refused = "?refused=" in answer.headers.get("location", "")
    return client.get(answer.headers["location"]) if is_refused else answer


class Served:
    """A studio in a process of its own."""

    def __init__(self, *arguments, cwd, port=0):
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments, "--no-browser", "--port", str(port)],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, "the studio did not start"
        self.home = self.address.partition("/?")[0]

    def close(self, *, kills=False):
        (self.process.kill if kills else self.process.terminate)()
        self.process.wait(60)
        self.process.stdout.close()


class Person:
    """Somebody at a browser, who sees a page and uses what is on it."""

    def __init__(self, browser, served):
        self.browser, self.served = browser, served
        browser.go(served.address)

    def go(self, path):
        self.browser.go(f"{self.served.home}{path}")

    def until(self, expression, patience=240.0):
        from selenium.common import JavascriptException
        from selenium.webdriver.support.wait import WebDriverWait

        waiting = WebDriverWait(
            self.browser.driver, patience, 0.05, ignored_exceptions=[JavascriptException]
        )
        waiting.until(lambda driver: driver.execute_script(f"return !!({expression})"), expression)

    @property
    def path(self):
        return self.browser.run("location.pathname")

    def text(self):
        return self.browser.run("document.body.innerText")

    def _shown(self, selector):
        """The first element of a selector, with all opened that it is folded away in."""
        from selenium.webdriver.common.by import By

        # What comes with an answer of the server may be a moment away.
        self.until(f"document.querySelector({json.dumps(selector)})", 20)
        found = self.browser.driver.find_element(By.CSS_SELECTOR, selector)
        script = "for (let e = arguments[0]; e; e = e.parentElement) if (e.open === false) e.open = true;"
        script += "arguments[0].scrollIntoView({block: 'center'});"
        self.browser.driver.execute_script(script, found)
        return found

    def fill(self, name, value):
        """Type into an input, choose of a list, or tick."""
        from selenium.webdriver.support.select import Select

        found = self._shown(f'[name="{name}"]')
        if found.get_attribute("type") == "radio":
            found = self._shown(f'[name="{name}"][value="{value}"]')
        if found.tag_name == "select":
            options = {each.get_attribute("value"): each for each in Select(found).options}
            options[value].click()
        elif found.get_attribute("type") in ("checkbox", "radio"):
            if not found.is_selected():
                found.click()
        else:
            found.clear()
            found.send_keys(value)

    def press(self, name, value, *, leads=None):
        """Press a button, and wait for the page that it leads to."""
        from selenium.webdriver import Keys

        self.browser.run("window.before = true")
        # by the keyboard: where a page in a frame is just drawn, a click may miss
        self._shown(f'button[name="{name}"][value="{value}"]:not(.unseen)').send_keys(Keys.ENTER)
        self.until("window.before === undefined && document.readyState === 'complete'")
        if leads is not None:
            assert self.path == leads, (self.path, self.text()[:2500])


NAMES = (
    "Pat.-Nr.;Name;Geschlecht;Geburtsdatum;Größe (cm);Gewicht;Raucher;Bundesland;Staatsangehörigkeit;"
    "Aufnahme;Entlassung;Station;Diagnose;Kosten €;Zuzahlung;Kasse;Wiederkehrer;Bemerkung"
)
"""Of the columns of an export as a hospital's program writes it."""


def messy_export(path, n_rows):
    """A table with semicolons, umlauts, a byte-order mark, currencies and several words for nothing."""
    chance = random.Random(5)
    lines = [NAMES]
    for number in range(n_rows):
        day, month, stay = chance.randint(1, 24), chance.randint(1, 12), chance.randint(0, 4)
        weight = f"{chance.gauss(75, 14):.1f}".replace(".", ",")
        cost = f"{abs(chance.gauss(3200, 1500)):,.2f}".translate(str.maketrans(",.", ".,"))
        cells = [
            f"{number + 1:05d}",
            f"{chance.choice(['Müller', 'Weiß', 'Krüger'])}, {chance.choice(['Jörg', 'Änne'])}",
            chance.choice("mwwmd"),
            f"{chance.randint(1, 28):02d}.{chance.randint(1, 12):02d}.{chance.randint(1935, 2015)}",
            str(int(chance.gauss(170, 10))),
            chance.choice(["k.A.", *[weight] * 15]),
            chance.choice(["ja", "nein", "nein"]),
            chance.choice(["Baden-Württemberg", "Bayern", "Berlin", "Thüringen"]),
            chance.choice(["deutsch"] * 8 + ["türkisch", "französisch"]),
            f"{day:02d}.{month:02d}.2025",
            f"{day + stay:02d}.{month:02d}.2025",
            chance.choice(["Chirurgie", "Innere", "Gynäkologie", "HNO"]),
            chance.choice(["S72.0", "I10", "E11.9", "J18.9", "K35", "O80"]),
            f"{cost} €",
            chance.choice(["0", "10,00", "40,00"]),
            chance.choice(["AOK", "TK", "Barmer", "privat", ""]),
            chance.choice(["x", ""]),
            f'"siehe Akte; {number}"',
        ]
        lines.append(";".join(cells))
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8-sig", newline="")


EXPORT = {
    "ignore": (0, 1, 17), "categorical": (2, 7, 8, 11, 12, 15), "date": (3, 9, 10), "integer": (4,),
    "number": (5, 13, 14), "boolean": (6, 16),
}  # fmt: skip


def declare_export(person):
    """What somebody who knows the export says of its columns on the page."""
    for kind, places in EXPORT.items():
        for place in places:
            person.fill(f"c0-{place}.kind", kind)
    for place in EXPORT["date"]:
        person.fill(f"c0-{place}.format", "dd.mm.yyyy")
    typed = {"2.levels": "m\nw\nd", "6.words": "ja/nein", "16.words": "own", "16.true": "x"}
    typed |= {"16.false": "-", "5.missing": "k.A.", "13.bare": "on", "10.relative_to": "Aufnahme"}
    typed |= {"10.minimum": "0", "10.maximum": "60"}
    for name, value in typed.items():
        person.fill(f"c0-{name}", value)
