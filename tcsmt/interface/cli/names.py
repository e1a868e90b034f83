"""Arguments that are names: shells complete them, and commands say what they are in the same words."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


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
        """Return the names that begin so; then those that have it anywhere."""
        text = incomplete.lower()
        names = [name for name in self.known() if text in name.lower()]
        first = [name for name in names if name.lower().startswith(text)]
        return [CompletionItem(name) for name in first or names]


class _Architecture(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.interface.api.names import architectures

        return architectures()

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text as it is; what a processor's name stands for is said first."""
        from tcsmt.interface.api.names import meaning

        if text := meaning(value):
            click.echo(text, err=True)
        return value


class _Unit(_Architecture):
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Architectures and GPUs; after a slash the instructions; model files too."""
        from tcsmt.interface.api.names import instructions

        architecture, slash, part = incomplete.partition("/")
        names = instructions(architecture) if slash else []
        if names:
            return [CompletionItem(f"{architecture}/{n}") for n in names if part.lower() in n.lower()]
        items = [] if slash else super().shell_complete(ctx, param, incomplete)
        return [*items, CompletionItem(incomplete, type="file")]


class _Property(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.interface.api.find import property_list

        return [entry.name for entry in property_list().properties]


class _Algorithm(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.interface.api.recipes import recipes

        return recipes()


class _Solver(_Name):
    def known(self) -> Iterable[str]:
        from tcsmt.interface.api.asked import SOLVERS

        return SOLVERS


#: An architecture, an alias such as ``sm_90``, or a GPU.
ARCHITECTURE = _Architecture("arch")
#: Whatever means a unit: an architecture, a GPU, ARCH/INSTRUCTION, or a model file.
UNIT = _Unit("unit")
PROPERTY = _Property("property")
ALGORITHM = _Algorithm("algorithm")
SOLVER = _Solver("solver")
