"""A page of this machine in a browser: as a file, or served on 127.0.0.1."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tcsmt.support.files import store_bytes

__all__ = ["opened", "served"]

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
