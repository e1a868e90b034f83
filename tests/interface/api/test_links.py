"""Links of every kind of result that has some; pages that are made on this machine."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request
import webbrowser
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.links import opened, served
from tests.support.browser import opened as opened_tab
from tests.support.browser import why_not
from tests.support.permalinks import asked_of_browsers, followed

BASE = "https://example.org/page/index.html"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    monkeypatch.delenv("TCSMT_PAGE", raising=False)


def test_a_page_is_made_with_the_units_that_are_shown(tmp_path: Path) -> None:
    (link,) = tcsmt.links(tcsmt.explain("volta", "a0=1.5 b0=1", against="ampere")).links
    page = Path(url2pathname(urlsplit(link.url).path))
    assert page == link.page and page.is_relative_to(tmp_path) and page.is_file()
    assert len(list((page.parent / "units").iterdir())) == 2
    assert followed(link.url).results == [0x3FC00000, 0x3FC00000]
    again = tcsmt.links(tcsmt.explain("volta", "a0=2 b0=1", against="ampere")).links[0]
    assert again.page == link.page and again.url != link.url


def test_a_model_of_one_s_own_has_a_page(tmp_path: Path) -> None:
    """Another one under the same name has another page."""
    pages = []
    for bits in (23, 22):
        path = tmp_path / "mine.toml"
        text = tcsmt.unit("volta").as_toml()
        path.write_text(text.replace("fraction_bits = 23", f"fraction_bits = {bits}"))
        (link,) = tcsmt.links(tcsmt.explain(path, "a0=1 b0=1")).links
        pages.append(link.page)
    assert pages[0] != pages[1]


@pytest.mark.slow
def test_check_shows_what_was_answered() -> None:
    def zeros(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return np.zeros_like(c)

    check = tcsmt.check("volta", zeros, rows=20_000)
    shown = followed(tcsmt.links(check, BASE).links[0].url)
    assert (shown.units, shown.answer) == (["volta/mma.m8n8k4.f32.f16.f16.f32"], 0)
    assert shown.results[0] == int(check.as_json()["first"]["unit"]["word"], 16) != 0


def test_kernels_that_differ() -> None:
    a, b = np.zeros((1, 16), np.float16), np.zeros((16, 1), np.float16)
    a[0, :3], b[:3, 0] = (1, -1, 2**-12), (1, 1, 2**-13)
    one, two = (tcsmt.gemm(a, b, unit=unit) for unit in ("h100", "a100"))
    difference = tcsmt.kernel_diff(a, b, one, two, left_kernel="h100", right_kernel="a100")
    assert not difference.equal
    shown = followed(tcsmt.links(difference, BASE).links[0].url)
    assert [name.partition("/")[0] for name in shown.units] == ["hopper", "ampere"]
    assert shown.results == [int(d.view(np.uint32)[0, 0]) for d in (one, two)]


def test_each_witness_of_a_property() -> None:
    report = tcsmt.find("carry-bits", "volta")
    links = tcsmt.links(report, BASE)
    witnesses = [one for one in report.as_json()["findings"] if one["verdict"] == "distinguished"]
    assert [link.title for link in links.links] == [one["question"] for one in witnesses]
    for link, one in zip(links.links, witnesses, strict=True):
        shown = followed(link.url)
        assert shown.units == [report.row.name]
        (supported,) = (r for r in one["results"] if r["side"] in one["supported"])
        assert shown.results == [int(supported["word"], 16)]


def test_nothing_to_show() -> None:
    links = tcsmt.links(tcsmt.compare("turing/m8n8k4.f32.f16.f16.f32", "volta"), BASE)
    assert (links.links, str(links), links.as_json()["links"]) == ((), "", [])
    assert "no input at which something differs" in links.reason in repr(links)
    with pytest.raises(tcsmt.TcsmtError, match="nothing to open: there is no input"):
        links.open()


def test_what_links_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCSMT_PAGE", BASE)
    links = tcsmt.links(tcsmt.find("carry-bits", "volta"))
    url = links.links[0].url
    assert url.startswith(f"{BASE}#v=1&a=volta/")
    assert str(links) == f"link: 2 against 3 carry bits: {url}"
    assert links.as_json()["links"] == [{"title": "2 against 3 carry bits", "url": url}]
    assert '">2 against 3 carry bits</a>' in links._repr_html_()


def test_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a browser; without one, a page of this machine is served, and another one's address is said."""
    picture = tcsmt.explain("volta", "a0=1 b0=1")
    asked = asked_of_browsers(monkeypatch)
    tcsmt.links(picture).open()
    tcsmt.links(picture, BASE).open()
    assert asked[0].startswith("file:") and asked[0].endswith("/open.html")
    assert asked[1].startswith(f"{BASE}#v=1")
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    monkeypatch.setattr(
        "tcsmt.interface.api.links.served", lambda page, fragment, say: say(f"{page}#{fragment}")
    )
    said: list[str] = []
    links = tcsmt.links(picture)
    links.open(said.append)
    assert said == [f"{links.links[0].page}#{links.links[0].url.partition('#')[2]}"]
    with pytest.raises(tcsmt.TcsmtError, match=f"no browser could be started: open {BASE}#v=1"):
        tcsmt.links(picture, BASE).open()


@pytest.mark.long
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("volta", "hopper/mma.m16n8k16.f32.f16.f16.f32"),  # chained to a kernel
        ("ampere/mma.m16n8k8.f32.bf16.bf16.f32", "ampere/mma.m16n8k8.f32.tf32.tf32.f32"),  # widened
        ("turing/mma.m8n8k16.s32.s8.s8.s32", "turing/mma.m8n8k16.satfinite.s32.s8.s8.s32"),
    ],
)
def test_a_browser_gets_to_what_the_command_found(
    left: str, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the file that it is given, with the fragment; the page shows both results, and no complaint."""
    comparison = tcsmt.compare(left, right)
    asked = asked_of_browsers(monkeypatch)
    tcsmt.links(comparison).open()
    with opened_tab() as tab:
        tab.driver.get(asked[0])
        tab.wait("document.body && document.body.dataset.ready")
        shown = [tab.text(f"#results .card.{side} .word") for side in "ab"]
        assert shown == [result["word"] for result in comparison.as_json()["results"]]
        assert (tab.text("#messages"), tab.errors()) == ("", [])


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
