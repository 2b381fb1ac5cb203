"""A headless Chromium, driven through a pipe by its DevTools protocol: no further package is
needed.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
"""Where the browser is; None where there is none."""

PATIENCE = 300.0
"""Seconds to wait for an answer: looking at a page for all that may hinder readers takes long."""


class Browser:
    """One page of a browser; `events` holds all that it told unasked."""

    def __init__(self, folder: Path) -> None:
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()

        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
        ]
        options += [
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-background-networking",
            "--remote-debugging-pipe",
        ]
        # the protocol is spoken on file descriptors 3 and 4
        start = ["bash", "-c", f'exec "$0" "$@" 3<&{to_child} 4>&{from_child}', CHROMIUM]
        self._process = subprocess.Popen(
            [*start, *options, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._rest, self._number, self._session = b"", 0, None
        self.events = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        """The answer to one request."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            request["sessionId"] = self._session
        os.write(self._out, json.dumps(request).encode() + b"\0")
        answer = self._until(lambda message: message.get("id") == self._number)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _until(self, wanted):
        deadline = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self._rest:
                text, _, self._rest = self._rest.partition(b"\0")
                message = json.loads(text)
                if wanted(message):
                    return message
                self.events.append(message)
            ready, _, _ = select.select([self._in], [], [], max(deadline - time.monotonic(), 0))
            assert ready, "the browser does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "the browser went away"
            self._rest += part

    def open(self, path, *, width=1280, height=900):
        """Open a file in a window of that size, and wait until it is there."""
        self.resize(width, height)
        self.events.clear()
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        if not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(
                self._until(lambda message: message.get("method") == "Page.loadEventFired")
            )

    def resize(self, width, height):
        """Give the window a size in pixels of CSS."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def run(self, script):
        """The value of an expression on the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key, code):
        """Press a key of the keyboard and let it go."""
        text = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
        for kind in ("keyDown", "keyUp"):
            pressed = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}
            self.ask("Input.dispatchKeyEvent", **pressed, **(text if kind == "keyDown" else {}))

    def screenshot(self, path):
        """Write the whole page as a picture."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def told(self, *methods):
        """What the browser told of some kinds."""
        return [event["params"] for event in self.events if event.get("method") in methods]

    def close(self):
        """End the browser."""
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._out)
        os.close(self._in)
