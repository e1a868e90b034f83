"""Links to results: their options, and what is printed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tcsmt.face.api.links import Links, Report, Viewed


def link_options(command: Any) -> Any:
    """Return whether a link is printed, and to which page: ``link`` and ``page`` for :func:`links_wanted`."""
    for option in (
        click.option(
            "--page",
            metavar="URL",
            help="Print a link to this page.  [default: $TCSMT_PAGE, else one that is made on this machine]",
        ),
        click.option("--link", is_flag=True, help="Print a link that shows the input in a browser."),
    ):
        command = option(command)
    return command


def links_wanted(result: Viewed | Report, link: bool, page: str | None) -> Links | None:
    """Return the links of a result; None: none are asked for."""
    if not link and page is None:
        return None
    from tcsmt.face.api.links import links  # a page is needed for nothing else

    made = links(result, page)
    if made.reason:
        click.echo(f"no link: {made.reason}", err=True)
    return made
