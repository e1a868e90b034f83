"""Decimal numbers on the command line: the nearest value of the format, and said on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from tcsmt.face.api.pictures import VectorError
from tcsmt.face.api.terminal import TcsmtError, counted

__all__ = ["RoundedInputs", "vector_option"]

_MOST = 5


class RoundedInputs:
    """Called with what became of each number that its format does not hold; the first few are shown."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, said: str) -> None:
        """What became of one number."""
        self.said.append(said)
        if len(self.said) <= _MOST:
            click.echo(said, err=True)

    def finish(self) -> None:
        """Say how many more there were."""
        if len(self.said) > _MOST:
            more = len(self.said) - _MOST
            click.echo(f"and {counted(more, 'more value')} rounded to nearest", err=True)


@contextmanager
def vector_option() -> Iterator[Callable[[str], None]]:
    """What a call is given that takes ``--vector``: it is told what was rounded; errors name the option."""
    rounded = RoundedInputs()
    try:
        yield lambda text: rounded(f"--vector: {text}")
    except VectorError as error:
        raise TcsmtError(f"--vector: {error}") from None
    except TcsmtError:
        rounded.finish()
        raise
    rounded.finish()
