"""A headless Chromium, driven by Selenium: both are the system's, and nothing is downloaded."""

import base64
import json
import shutil
import time
from importlib.util import find_spec
from pathlib import Path

_FOUND = [*map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))]
DRIVER = shutil.which("chromedriver")
CHROMIUM = next(filter(None, _FOUND), None) if DRIVER and find_spec("selenium") else None
"""Where the browser is; None where there is none, or nothing to drive it with."""

NO_BROWSER = "no Chromium, or no chromedriver and Selenium to drive it with"
"""Why tests are left out."""

OPTIONS = "headless=new no-sandbox disable-gpu disable-dev-shm-usage disable-extensions"
OPTIONS += " hide-scrollbars no-first-run disable-background-networking"

PATIENCE = 300
"""Seconds to wait for an answer: looking at a page for all that may hinder readers takes long."""


class Browser:
    """One page of a browser."""

    def __init__(self, folder: Path) -> None:
        from selenium.webdriver import Chrome, ChromeOptions, ChromeService

        options = ChromeOptions()
        options.binary_location = CHROMIUM
        for each in (*OPTIONS.split(), f"user-data-dir={folder}"):
            options.add_argument(f"--{each}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = Chrome(options, ChromeService(DRIVER))
        self.driver.set_script_timeout(PATIENCE)

    def ask(self, method, **parameters):
        """The answer to one request of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(method, parameters)

    def open(self, path, *, width=1280, height=900):
        """Open a file in a window of that size, and wait until it is there."""
        self.resize(width, height)
        self.go(Path(path).resolve().as_uri())

    def go(self, address):
        """Open an address; what was told before is forgotten."""
        self.told("")
        self.driver.get(address)
        # A browser that has just started may answer before the page's scripts have run.
        while self.run("document.readyState") != "complete":
            time.sleep(0.01)

    def resize(self, width, height):
        """Give the window a size in pixels of CSS."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script):
        """The value of an expression on the page."""
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self.ask("Runtime.evaluate", expression=script, **options)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key):
        """Press a key of the keyboard and let it go."""
        from selenium.webdriver import ActionChains, Keys

        ActionChains(self.driver).send_keys(getattr(Keys, key.upper(), key)).perform()

    def screenshot(self, path):
        """Write the whole page as a picture."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def told(self, method):
        """What the browser told of a kind of event since it was asked last."""
        events = [json.loads(each["message"]) for each in self.driver.get_log("performance")]
        messages = [event["message"] for event in events]
        return [message["params"] for message in messages if message["method"] == method]

    def complaints(self):
        """Errors and lines on the console since they were asked for last."""
        return [each["message"] for each in self.driver.get_log("browser")]

    def close(self):
        """End the browser."""
        self.driver.quit()
