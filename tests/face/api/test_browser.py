"""A page in a browser: a file that goes on to it with the fragment; or served, on this machine alone."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request
import webbrowser
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tcsmt.face.api.browser import opened, served
from tests.support.permalinks import asked_of_browsers


def test_a_file_goes_on_to_the_page_with_the_fragment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asked_of_browsers(monkeypatch)
    page = tmp_path / "in dex.html"
    assert opened("file:///elsewhere", page, 'v=1&a="><script>')
    assert asked == [(tmp_path / "open.html").as_uri()]
    text = (tmp_path / "open.html").read_text()
    assert 'content="0; url=in dex.html#v=1&amp;a=&quot;&gt;&lt;script&gt;"' in text
    assert opened("https://example.org/#v=1", None, "v=1") and asked[1] == "https://example.org/#v=1"


def test_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(url: str) -> bool:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "open", fails)
    assert not opened("https://example.org/", None, "")


def test_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the page, on 127.0.0.1, until the process is interrupted."""
    (tmp_path / "index.html").write_text("the page")
    said: list[str] = []
    real = ThreadingHTTPServer.serve_forever

    def interrupted(server: ThreadingHTTPServer, poll_interval: float = 0.5) -> None:
        thread = threading.Thread(target=real, args=(server, 0.01))
        thread.start()
        found = re.search(r"http://127\.0\.0\.1:\d+/index\.html", said[0])
        assert found is not None and server.server_address[0] == "127.0.0.1"
        with urllib.request.urlopen(found[0]) as answer:
            assert answer.read() == b"the page"
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(found[0].replace("index", "other"))
        server.shutdown()
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", interrupted)
    served(tmp_path / "index.html", "v=1", said.append)
    assert said[0].endswith("/index.html#v=1")
