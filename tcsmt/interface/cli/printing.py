"""Results and JSON on standard output, and what is said of them on standard error.

Every JSON document is an object that says which version wrote it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tcsmt.interface.api.terminal import Result, counted, json_text

if TYPE_CHECKING:
    from tcsmt.interface.api.asked import SolvingOptions
    from tcsmt.interface.api.links import Links, Report, Viewed

__all__ = [
    "answer",
    "echo_json",
    "json_text",
    "link_options",
    "links_wanted",
    "say_certified",
    "say_dumped",
    "show",
]


def echo_json(data: dict[str, Any]) -> None:
    """Print the object as JSON, its version first."""
    click.echo(json_text(data))


def show(result: Result, *, as_json: bool, text: str | None = None, links: Result | None = None) -> None:
    """Print a result: its JSON, or its text where it has any. text: in place of what ``str`` gives.

    links: to it, which come last.
    """
    if as_json:
        echo_json(result.as_json() | ({} if links is None else links.as_json()))
        return
    for part in (str(result) if text is None else text, "" if links is None else str(links)):
        if part:
            click.echo(part)


def answer(
    result: Result, *, as_json: bool, text: str | None = None, links: Result | None = None
) -> NoReturn:
    """Print a result, and exit with what it answers; links: to it."""
    show(result, as_json=as_json, text=text, links=links)
    sys.exit(result.exit_code)


def say_dumped(options: SolvingOptions, paths: Sequence[Path]) -> None:
    """Say how many scripts were written and where, or that there was nothing to write."""
    if options.dump_smt is None:
        return
    if not paths:
        click.echo("--dump-smt: nothing to write: every question was answered without a solver", err=True)
        return
    last = f" to {paths[-1].name}" if len(paths) > 1 else ""
    scripts = counted(len(paths), "script")
    click.echo(f"--dump-smt: {scripts}: {paths[0]}{last}", err=True)


def say_certified(options: SolvingOptions, records: Iterable[Mapping[str, Any]]) -> None:
    """Say it of records of verdicts, and why the others have none, once for each reason."""
    if options.certificate is None:
        return
    proofs = [record.get("certificate") or {} for record in records if record["verdict"] == "equivalent"]
    certified = sum(bool(proof.get("certified")) for proof in proofs)
    click.echo(
        f"--certificate: {certified} of {counted(len(proofs), 'proof')} in {options.certificate}", err=True
    )
    for why in dict.fromkeys(str(proof["reason"]) for proof in proofs if "reason" in proof):
        click.echo(f"  no certificate: {why}", err=True)


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
    from tcsmt.interface.api.links import links  # a page is needed for nothing else

    made = links(result, page)
    if made.reason:
        click.echo(f"no link: {made.reason}", err=True)
    return made
