"""Arguments that are names: shells complete them, and commands say what they are in the same words."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

__all__ = ["ALGORITHM", "ARCHITECTURE", "PROPERTY", "SOLVER", "UNIT"]


class _Name(click.ParamType[str]):
    """Any text; what it can be is looked up when a shell asks, and checked where it is used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def known(self) -> Iterable[str]:
        """Every name, imported only for completion."""
        raise NotImplementedError

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so; then those that have it anywhere."""
        text = incomplete.lower()
        names = [name for name in self.known() if text in name.lower()]
        first = [name for name in names if name.lower().startswith(text)]
        return [CompletionItem(name) for name in first or names]


class _Architecture(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.matrix_units.catalogue.gpus import ARCHITECTURES, aliases, gpus
        from tcsmt.matrix_units.catalogue.naming import THIS_PROCESSOR
        from tcsmt.matrix_units.catalogue.processors import PROCESSORS

        names = (*ARCHITECTURES, *gpus(), *aliases(), *PROCESSORS, THIS_PROCESSOR)
        return [name.replace(" ", "-") for name in names]

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it is; what a processor's name stands for is said first."""
        from tcsmt.matrix_units.catalogue import stands_for
        from tcsmt.support.errors import TcsmtError

        with suppress(TcsmtError):  # said where the name is used
            meant = stands_for(value.partition("+")[0])
            if meant:
                click.echo(meant, err=True)
        return value


class _Unit(_Architecture):
    def known(self) -> Iterable[str]:
        from tcsmt.matrix_units.catalogue import rows

        return [*ARCHITECTURE.known(), *(row.name for row in rows())]

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Architectures and GPUs; after a slash the instructions; model files too."""
        if "/" not in incomplete:
            items = ARCHITECTURE.shell_complete(ctx, param, incomplete)
            return [*items, CompletionItem(incomplete, type="file")]
        from tcsmt.matrix_units.catalogue import rows
        from tcsmt.support.errors import TcsmtError

        architecture, _, part = incomplete.partition("/")
        try:
            instructions = [row.instruction for row in rows(architecture)]
        except TcsmtError:
            return [CompletionItem(incomplete, type="file")]
        names = [name for name in instructions if part.lower() in name.lower()]
        return [CompletionItem(f"{architecture}/{name}") for name in names]


class _Property(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.study.properties.discovery import properties

        return properties()


class _Algorithm(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.compose.recipes.emulation.named import EMULATIONS
        from tcsmt.compose.recipes.named import RECIPES

        return [*RECIPES, *EMULATIONS]


class _Solver(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.prove.engine.options import CHOICES

        return CHOICES


#: An architecture, an alias such as ``sm_90``, or a GPU.
ARCHITECTURE = _Architecture("arch")
#: Whatever means a unit: an architecture, a GPU, ARCH/INSTRUCTION, or a model file.
UNIT = _Unit("unit")
PROPERTY = _Property("property")
ALGORITHM = _Algorithm("algorithm")
SOLVER = _Solver("solver")
