"""The studio as tests drive it: its application without a server, and a server with a browser."""

import re
import subprocess
import sys
import time
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

    from synthdp.cli import ProjectFolder, Studio
    from synthdp.cli.studio.app import studio_app

    studio = Studio(ProjectFolder(Path(place, project), Path(place)), token=token)
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
    """The answer to a form of a page, with the key and version that it holds; not followed."""
    page = client.get(path.replace("/upload", "")).text
    return client.post(path, data=key_and_version(page) | given, follow_redirects=False)


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


class Person:
    """Somebody at a browser, who sees a page and uses what is on it."""

    def __init__(self, browser, served):
        self.browser, self.served = browser, served
        self.go(served.address)

    def go(self, address):
        browser = self.browser
        browser.events.clear()
        browser.ask("Page.navigate", url=address)
        self.loaded()

    def loaded(self):
        self.until("document.readyState === 'complete'")

    def until(self, expression, patience=90.0):
        deadline = time.monotonic() + patience
        while True:
            try:
                if self.browser.run(f"!!({expression})"):
                    return
            except AssertionError:  # the page changes just now
                pass
            assert time.monotonic() < deadline, (expression, self.text()[:2000])
            time.sleep(0.05)

    @property
    def path(self):
        return self.browser.run("location.pathname")

    def text(self):
        return self.browser.run("document.body.innerText")

    def fill(self, name, value):
        """Type into an input, choose of a list, or tick."""
        found = self.browser.run(
            f"""(() => {{ const all = [...document.querySelectorAll('[name="{name}"]')];
            const one = all.find((each) => each.type === "radio" ? each.value === {value!r} : true);
            if (!one) return false;
            if (one.type === "radio" || one.type === "checkbox") one.checked = true;
            else one.value = {value!r};
            one.dispatchEvent(new Event("input", {{bubbles: true}}));
            one.dispatchEvent(new Event("change", {{bubbles: true}})); return true; }})()"""
        )
        assert found, name

    def press(self, name, value, *, leads=None):
        """Press a button, and wait for the page that it leads to."""
        self.browser.run("window.before = true")
        pressed = self.browser.run(
            f"""(() => {{ const one = document.querySelector('button[name="{name}"][value="{value}"]');
            if (!one) return false;
            for (let each = one; each; each = each.parentElement) if (each.open === false) each.open = true;
            one.click(); return true; }})()"""
        )
        assert pressed, (name, value, self.text()[:1500])
        self.until("window.before === undefined && document.readyState === 'complete'")
        if leads is not None:
            assert self.path == leads, (self.path, self.text()[:2500])
