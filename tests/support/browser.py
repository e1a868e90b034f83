"""A headless Chromium for tests of the page.

``python -m tests.support.browser`` takes the pictures that the documentation shows.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

__all__ = ["Tab", "opened", "run_in_firefox", "why_no_firefox", "why_not"]

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars",
)  # fmt: skip
#: A busy machine is waited for.
_PATIENCE = 120
#: What the documentation shows.
_EXAMPLE = (
    "#v=1&a=ampere/mma.m16n8k16.f32.f16.f16.f32&b=hopper/mma.m16n8k16.f32.f16.f16.f32&w=dc00"
    + ",0" * 15 + ",4800" + ",0" * 15 + ",3ac80000"
)  # fmt: skip
#: Of each picture the link, the width in pixels, and whether it is dark.
PICTURES = {
    "page.png": (_EXAMPLE, 1280, False),
    "page-dark.png": (_EXAMPLE, 1280, True),
}


def why_not() -> str:
    """Why there is no browser to test with; "" where there is one."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return "" if importlib.util.find_spec("selenium") else "selenium is not installed (the extra `test`)"


class Tab:
    """A browser's tab with a page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a document as a file, and wait until it has computed."""
        self.driver.get("about:blank")
        self.driver.get(path.as_uri() + fragment)
        self.wait("document.body.dataset.ready")

    def run(self, script: str, *arguments: object) -> Any:
        """What a script returns, or what its promise comes to."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str) -> None:
        """Until a condition in JavaScript holds. Raises AssertionError."""
        end = time.monotonic() + _PATIENCE
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"{condition}: not within {_PATIENCE} s; {self.errors()}"
            time.sleep(0.02)

    def text(self, place: str) -> str:
        """The text of an element, by a CSS selector, as it is shown."""
        return str(self.run("return document.querySelector(arguments[0]).innerText", place))

    def click(self, place: str) -> None:
        """Click on an element."""
        self.run("document.querySelector(arguments[0]).click()", place)

    def type(self, name: str, text: str) -> None:
        """Type into an input's field, as its name has it, in place of what was there."""
        field = self.driver.find_element("css selector", f"#in-{name}")
        self.run("arguments[0].focus(); arguments[0].select()", field)
        field.send_keys(text)

    def errors(self) -> list[str]:
        """What the console has said since it was last asked, warnings too."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def picture(self, path: Path, width: int, *, dark: bool) -> None:
        """The whole page as a PNG."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._command("Emulation.setEmulatedMedia", {"features": [scheme]})
        for _ in range(2):  # what is wrapped at another width has another height
            height = self.run("return document.documentElement.scrollHeight")
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self._command("Emulation.setDeviceMetricsOverride", size)
        self.driver.save_screenshot(str(path))
        self._command("Emulation.clearDeviceMetricsOverride", {})
        self._command("Emulation.setEmulatedMedia", {"features": []})

    def _command(self, name: str, values: dict[str, Any]) -> None:
        self.driver.execute_cdp_cmd(name, values)


@contextmanager
def opened() -> Iterator[Tab]:
    """A browser, and no access to a network for it."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*_FLAGS, "--window-size=1280,1600"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(_PATIENCE)
        yield Tab(driver)
    finally:
        driver.quit()


def why_no_firefox() -> str:
    """Why there is no Firefox to test with; "" where there is one."""
    if _firefox() is None:
        return "firefox is not installed"
    return "" if importlib.util.find_spec("websocket") else "websocket-client is not installed (extra `test`)"


def _firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def run_in_firefox(url: str, script: str) -> object:
    """What the promise of a script comes to in a new Firefox at that address.

    Spoken to by WebDriver BiDi, as its driver for other protocols is not in Debian.
    """
    import websocket

    with tempfile.TemporaryDirectory() as profile:
        command = [
            str(_firefox()),
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            "--remote-debugging-port=0",
        ]
        process = subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "HOME": profile},
        )
        try:
            assert process.stderr is not None
            place = next(found[0] for line in process.stderr if (found := re.search(r"ws://\S+", line)))
            socket = websocket.create_connection(f"{place}/session", suppress_origin=True, timeout=_PATIENCE)

            def ask(number: int, method: str, **parameters: object) -> Any:
                socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
                while (answer := json.loads(socket.recv())).get("id") != number:
                    pass
                assert answer["type"] == "success", answer
                return answer["result"]

            ask(1, "session.new", capabilities={})
            context = ask(2, "browsingContext.getTree")["contexts"][0]["context"]
            ask(3, "browsingContext.navigate", context=context, url=url, wait="complete")
            target = {"context": context}
            result = ask(4, "script.evaluate", expression=script, target=target, awaitPromise=True)
            assert result["type"] == "success", result
            return result["result"]["value"]
        finally:
            process.terminate()
            process.wait()


def take_pictures(folder: Path) -> list[Path]:
    """The documentation's pictures, in a folder."""
    from tcsmt.interface.api.page import page

    units = [value.partition("=")[2] for value in _EXAMPLE.split("&") if value[:2] in ("a=", "b=")]
    paths = []
    with tempfile.TemporaryDirectory() as made, opened() as tab:
        document = page(made, units, results=ROOT / "results").path
        for name, (link, width, dark) in PICTURES.items():
            tab.open(document, link)
            tab.wait("!document.getElementById('known').hidden")
            tab.picture(folder / name, width, dark=dark)
            paths.append(folder / name)
    return paths


if __name__ == "__main__":
    print(*take_pictures(ROOT / "docs" / "_static"), sep="\n", file=sys.stdout)
