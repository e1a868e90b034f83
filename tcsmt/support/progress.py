"""Progress of long runs, always on standard error: on a terminal a bar, or a line that changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Takes what is done, of how many, and what was done last.
ProgressCallback = Callable[[int, int, str], None]


def no_progress(done: int, count: int, what: str) -> None:
    """Show nothing."""


def ignore(text: str) -> None:
    """Say nothing."""


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield something to call with how far a run is of which nobody knows how long it will be.

    Nothing is shown where standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console  # slow to import
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    line = Spinner("dots")
    with Live(line, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty()):
        yield lambda text: line.update(text=Text(text))


@contextmanager
def progress_bar(*, lines: bool = True) -> Iterator[ProgressCallback]:
    """Yield something to call with what is done, of how many, and what was done last.

    lines: whether there are lines where standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield _line if lines else no_progress
        return
    from rich.console import Console  # slow to import
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    # results that are printed on the way go above the bar where both are on the terminal, else to their file
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task("", total=None)

        def step(done: int, count: int, what: str) -> None:
            bar.update(task, completed=done, total=max(count, 1), description=what)

        yield step


def _line(done: int, count: int, what: str) -> None:
    print(f"{done}/{count} {what}", file=sys.stderr, flush=True)
