"""Headless Chromium, driven over a pipe by its DevTools protocol: what tests of pages need of it.

Nothing is needed but the browser: Debian's ``chromium``, or the path in ``FASTTREE_CHROMIUM``.
"""

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # as root, as in containers, there is none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
PATIENCE = 60  # seconds for any answer: the machine may be busy


def find_chromium():
    """Return the path of the browser, or None."""
    chosen = os.environ.get("FASTTREE_CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, NAMES)), None)


def _pipe():
    """A pipe with descriptors from 10 up."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high


class Browser:
    """A browser with one page.

    Attributes
    ----------
    requests : list of str
        Addresses that pages asked for, but for the files that were opened.
    complaints : list of str
        Errors and warnings of the console, and exceptions.
    """

    def __init__(self, path, profile):
        # The protocol is spoken on the browser's descriptors 3 and 4: none of ours may be these.
        read, self._out = _pipe()
        self._in, write = _pipe()
        # A sanitizer that is loaded into this process is not for the browser.
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        self._process = os.posix_spawn(
            path,
            [path, *FLAGS, f"--user-data-dir={profile}"],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, read, 3),
                (os.POSIX_SPAWN_DUP2, write, 4),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        os.close(read)
        os.close(write)
        self._numbers = itertools.count(1)
        self._rest, self._session = b"", None
        self.requests, self.complaints, self._opened = [], [], ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._out)
        os.close(self._in)

    # ---- the protocol

    def call(self, method, **params):
        """Call a method and return its result; note what happens in the meantime."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._read(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _read(self, deadline):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self._in, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("the browser does not answer")
            self._rest += data
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url != self._opened and not url.startswith(("data:", "about:")):
                self.requests.append(url)
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(params["args"]))

    # ---- what tests do

    def open(self, path, size=(1280, 800), scheme="light"):
        """Open a file in a window of a size, in light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)
        self._opened = Path(path).resolve().as_uri()
        self.call("Page.navigate", url=self._opened)
        deadline = time.monotonic() + PATIENCE
        while self.run("document.readyState") != "complete":
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} does not load")
            time.sleep(0.01)

    def run(self, script):
        """Return the value of an expression of the page."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def click(self, selector):
        """Click in the middle of an element, as a mouse does."""
        x, y = self.run(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, start, end):
        """Drag the mouse from one point of the window to another."""
        points = [("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)]
        for kind, (x, y) in points:
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                buttons=1,
                clickCount=1,
            )

    def press(self, key):
        """Press a key that has a name."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)

    def type(self, selector, text):
        """Replace the text of a field."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.call("Input.insertText", text=text)

    def screenshot(self):
        """Return the window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
