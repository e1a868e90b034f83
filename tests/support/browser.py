"""Opens a page in a real browser without a screen (Qt WebEngine), clicks, and prints what is seen as JSON.

``python browser.py PAGE SELECTOR [PICTURE]``: clicks the first element of a selector with the mouse. A
program of its own: Qt wants the main thread, and a crash in it must be no crash of the tests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = "--no-sandbox --disable-gpu"

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWebEngineCore import QWebEnginePage
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QApplication

#: Seconds for anything to happen.
PATIENCE = 20


class Page(QWebEnginePage):
    """Keeps what the page writes to its console: errors of its script."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def javaScriptConsoleMessage(self, level: Any, message: str, line: int, source: str) -> None:  # noqa: N802
        self.said.append(f"{line}: {message}")


def main(path: str, selector: str, picture: str = "") -> None:
    app = QApplication(sys.argv[:1])
    view, page = QWebEngineView(), Page()
    view.setPage(page)
    view.resize(1300, 1000)
    view.show()

    def until(holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "the page does not answer"
            app.processEvents()
            time.sleep(0.01)

    def ask(script: str) -> Any:
        answers: list[str] = []
        page.runJavaScript(f"JSON.stringify({script})", answers.append)
        until(lambda: answers)
        return json.loads(answers[0]) if answers[0] else None

    loaded: list[bool] = []
    view.loadFinished.connect(loaded.append)
    view.load(QUrl.fromLocalFile(path))
    until(lambda: loaded)
    element = f"document.querySelector({json.dumps(selector)})"
    state = (
        "({shown: document.getElementById('shown').innerText,"
        " drawings: document.querySelectorAll('#shown svg').length,"
        " height: document.querySelector('#shown svg')?.getBoundingClientRect().height || 0,"
        " closable: !document.querySelector('#panel > button').hidden})"
    )
    seen = [ask(state)]
    for target in (element, "document.querySelector('#panel > button')"):
        place = ask(f"(e => [e.left + e.width / 2, e.top + e.height / 2])({target}.getBoundingClientRect())")
        QTest.mouseClick(view.focusProxy(), Qt.MouseButton.LeftButton, pos=QPoint(*map(int, place)))
        until(lambda: ask(state) != seen[-1])
        if picture and len(seen) == 1:
            QTest.qWait(500)
            view.grab().save(picture)
        seen.append(ask(state))
    print(json.dumps({"title": ask("document.title"), "seen": seen, "said": page.said}))


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # Qt does not always survive the end of Python
