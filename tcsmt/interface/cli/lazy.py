"""Groups of commands whose modules are imported when they are used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from tcsmt.interface.api.terminal import IeeeFloats, TcsmtError, UnknownName


class Lazy(click.Group):
    """Imports a command's module when the command is named; turns our errors into their exit codes.

    package: where the modules are. groups: by title, the commands with their summaries. modules: by a
    module's name, the names of its commands; others are in modules of their own names. A name may be two
    words, ``quantise compare``, beside a command of the first word alone: quantise_compare among the names.
    """

    def __init__(
        self,
        *args: Any,
        package: str,
        groups: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.package, self.groups = package, groups
        self.modules = {
            name.replace("_", " "): module
            for module, names in (modules or {}).items()
            for name in names.split()
        }

    @property
    def summaries(self) -> dict[str, str]:
        """Return what ``--help`` says of each command."""
        return {name: text for group in self.groups.values() for name, text in group.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, none imported."""
        return list(self.summaries)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The groups, none of their commands imported."""
        width = max(map(len, self.summaries))
        for title, commands in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, its module imported."""
        if cmd_name not in self.summaries:
            return None
        module = importlib.import_module(f"{self.package}.{self.modules.get(cmd_name, cmd_name)}")
        command = getattr(module, cmd_name.rsplit(maxsplit=1)[-1].replace("-", "_"))
        made: click.Command = command if isinstance(command, click.Command) else command()
        return made

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest commands where there is none of the name. What there is runs in IEEE's state."""
        if (both := " ".join(args[:2])) in self.summaries and len(args) > 1:
            args = [both, *args[2:]]
        if args and args[0] not in self.summaries and not args[0].startswith("-"):
            raise click.UsageError(str(UnknownName("command", args[0], self.summaries, "tcsmt --help")), ctx)
        ctx.with_resource(IeeeFloats())  # until the command has ended
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command named."""
        try:
            return super().invoke(ctx)
        except TcsmtError as error:
            failure = click.ClickException(str(error))
            failure.exit_code = error.exit_code  # type: ignore[misc]
            raise failure from None
        except KeyboardInterrupt:  # called from Python; tcsmt.__main__ has handlers of its own
            raise click.exceptions.Exit(130) from None
