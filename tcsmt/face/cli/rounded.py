"""Decimal numbers on the command line: the nearest value of the format, and said on standard error."""

from __future__ import annotations

import click

from tcsmt.face.api.terminal import TcsmtError, counted
from tcsmt.matrix_units.files.vectors import vector_of
from tcsmt.matrix_units.models import Model

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


def vector_option(text: str, model: Model) -> dict[str, int]:
    """``--vector``: the words of a model's inputs by name; what was rounded is said."""
    rounded = RoundedInputs()
    try:
        values = vector_of(text, model, lambda said: rounded(f"--vector: {said}"))
    except TcsmtError as error:
        raise TcsmtError(f"--vector: {error}") from None
    rounded.finish()
    return values
