"""Links that show a result in a browser, to a page elsewhere or to one that is made on this machine."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tcsmt.interface.api.views import Viewed, WitnessView, address, page_named
from tcsmt.interface.page.site import site
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.support import cache
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import store_bytes
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result
from tcsmt.surveys.properties.investigation import Report, on_instruction

__all__ = ["Links", "PageLink", "Report", "Viewed", "links", "opened", "served"]

_NOTHING = "there is no input at which something differs, or none that a unit with a name takes as it is"


@dataclass(frozen=True)
class PageLink:
    """A link, and what it shows, where there are several; page: the page's file, where it is made here."""

    url: str
    title: str = ""
    page: Path | None = None

    def __str__(self) -> str:
        return f"{self.title}: {self.url}" if self.title else self.url


@dataclass(frozen=True, repr=False)
class Links(Result):
    """Links to what a result shows; reason: why there are none.

    They print, and are links in notebooks.
    """

    links: tuple[PageLink, ...]
    reason: str = ""

    def open(self, say: Callable[[str], object] = print) -> None:
        """Open the first link in a browser.

        Where none can be started, a page that was made on this machine is served on 127.0.0.1, until the
        process is interrupted. say: is told the address then.
        Raises :class:`tcsmt.TcsmtError` where there is no link, or no browser for a page elsewhere.
        """
        if not self.links:
            raise TcsmtError(f"there is nothing to open: {self.reason}")
        link = self.links[0]
        fragment = link.url.partition("#")[2]
        if opened(link.url, link.page, fragment):
            return
        if link.page is None:
            raise TcsmtError(f"no browser could be started: open {link.url}")
        served(link.page, fragment, say)

    def _lines(self) -> list[str]:
        return [f"link: {link}" for link in self.links]

    def _facts(self) -> dict[str, Any]:
        return {"links": [{"title": link.title, "url": link.url} for link in self.links]}

    @property
    def _title(self) -> str:
        return ", ".join(link.url for link in self.links) or f"none: {self.reason}"

    def _repr_html_(self) -> str:
        texts = [f'<a href="{escape(link.url)}">{escape(link.title or link.url)}</a>' for link in self.links]
        return "<br>".join(texts) or escape(self.reason)


@ieee_floats
def links(result: Viewed | Report, base: str | None = None) -> Links:
    """Links that show the input of a result in a browser: its units bit by bit, all of it to be changed.

    result: of :func:`tcsmt.explain`, :func:`tcsmt.compare`, :func:`tcsmt.check`, :func:`tcsmt.kernel_diff`,
    or of :func:`tcsmt.find`, which has a link for each witness. base: the address of a page; None:
    ``$TCSMT_PAGE``, else a page with these units, which is made in the cache's folder.
    Raises :class:`tcsmt.TcsmtError` where that cannot be written.

    >>> import tcsmt
    >>> picture = tcsmt.explain("volta", "a0=1.5 b0=1 c=0x1p-30")
    >>> print(tcsmt.links(picture, "https://example.org/page.html"))
    link: https://example.org/page.html#v=1&a=volta/mma.m8n8k4.f32.f16.f16.f32&w=3e00,0,0,0,3c00,0,0,0,30800000
    """
    if isinstance(result, Report):
        views = list(_views(result))
    else:
        views = [] if result.view is None else [result.view]
    return Links(tuple(_link(view, base) for view in views), "" if views else _NOTHING)


def _views(report: Report) -> Iterator[WitnessView]:
    """Yield the unit on each witness, as far as its instruction takes that."""
    for finding in report.findings:
        if isinstance(finding.verdict, Distinguished):
            question = finding.question
            words = on_instruction(report.row.model, question.formats, finding.verdict.values)
            if words is not None:
                yield WitnessView((report.row,), (words,), title=question.title)


def _link(view: WitnessView, base: str | None) -> PageLink:
    named = page_named(base)
    return _local(view) if named is None else PageLink(address(named, view), view.title)


def _local(view: WitnessView) -> PageLink:
    """To a page that has the units of the view, made anew, as models may have changed."""
    key = " ".join(f"{row.name} {row.model.digest}" for row in view.units)
    place = f"pages/{blake2b(key.encode(), digest_size=8).hexdigest()}"

    def write(name: str, text: str) -> None:
        cache.write(f"{place}/{name}", text.encode())

    site(view.units, write, first=view.fragment)
    page = cache.folder() / place / "index.html"
    return PageLink(address(page.absolute().as_uri(), view), view.title, page)


#: What starts a browser (xdg-open, for one) may drop what comes after # in a file's address: the file that it
#: opens goes on to the page with it.
_GOES_ON = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>tcsmt</title>
<meta http-equiv="refresh" content="0; url={address}">
<a href="{address}">the page</a>
</html>
"""


def opened(url: str, page: Path | None, fragment: str) -> bool:
    """Return whether a browser could be started on an address.

    page: the page's file, where it is one of this machine; then the browser gets it with the fragment.
    """
    if page is not None:
        start = page.with_name("open.html")
        store_bytes(start, _GOES_ON.format(address=escape(f"{page.name}#{fragment}")).encode())
        url = start.absolute().as_uri()
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False


def served(page: Path, fragment: str, say: Callable[[str], object]) -> None:
    """Serve the folder of a page on 127.0.0.1 until the process is interrupted. say: is told the address."""
    handler = partial(_Quiet, directory=str(page.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        port = server.server_address[1]
        say(f"no browser could be started; until Ctrl-C: http://127.0.0.1:{port}/{page.name}#{fragment}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


class _Quiet(SimpleHTTPRequestHandler):
    """Requests are not logged."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
