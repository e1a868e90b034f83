"""Reports of partial results when a run is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["on_stop"]


@contextmanager
def on_stop(say: Callable[[], object]) -> Iterator[None]:
    """Call ``say`` where the block is stopped, by Ctrl-C or another signal; the stop then goes on.

    An error is not a stop, nor is the end of the program.

    >>> with on_stop(lambda: print("two of three")):
    ...     print("one, two")
    one, two
    """
    try:
        yield
    except (Exception, SystemExit, GeneratorExit):
        raise
    except BaseException:
        say()
        raise
