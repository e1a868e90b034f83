"""Options that several commands take: each is written once. A function makes one whose default differs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.asked import OPERAND_RULES, SOLVERS, SolvingOptions
from tcsmt.face.cli.names import SOLVER

__all__ = [
    "SolvingCommand",
    "as_json",
    "c_zero",
    "finite",
    "folders",
    "operands",
    "positive",
    "resumed",
    "solving",
]

_Option = Callable[[Any], Any]

#: A file or folder; what is wrong with it is said where it is used.
_PATH = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

operands = click.option(
    "--operands",
    type=click.Choice([*OPERAND_RULES]),
    metavar="RULE",
    help="How operands that a format of the unit does not hold become its words: "
    f"{', '.join(OPERAND_RULES)}.  [default: they are refused]",
)
finite = click.option(
    "--finite/--all-words", default=False, help="Exclude NaN and infinity.  [default: all words]"
)
positive = click.option("--positive", is_flag=True, help="Only inputs without a sign bit.")
c_zero = click.option("--c-zero", is_flag=True, help="Only c = +0.")

folders = click.option(
    "--properties",
    "folders",
    type=_PATH,
    multiple=True,
    help="A folder with property modules of your own (may be repeated).",
)


class SolvingCommand(click.Command):
    """A command whose help has a section of its own for the options of :func:`solving`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, then those of solving."""
        for title, of_solving in (("Options", False), ("Solvers and processes", True)):
            options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
            own = (option for option in options if isinstance(option, _SolvingOption) is of_solving)
            records = [record for option in own if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class _SolvingOption(click.Option):
    """One field of :class:`tcsmt.SolvingOptions`."""


#: How the command line takes each field of :class:`tcsmt.SolvingOptions`.
_FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "solver": ("--solver", {"type": SOLVER, "show_default": True, "help": f"One of {', '.join(SOLVERS)}."}),
    "timeout": ("--timeout", {
        "show_default": True, "help": "Limit of each query, in seconds of processor time.",
    }),
    "steps": ("--steps", {
        "type": int, "metavar": "COUNT",
        "help": "Limit of each query in the solver's own count: the same verdict on every machine.",
    }),
    "memory": ("--memory", {"show_default": True, "help": "Memory limit of each solver process, in MiB."}),
    "confirm": ("--confirm/--no-confirm", {
        "show_default": True,
        "help": "A proof counts only if another solver confirms it, which takes up to twice as long.",
    }),
    "reuse": ("--kept/--again", {
        "help": "Use the proofs that an earlier run has kept, or prove everything again."
        "  [default: again with --confirm, else kept]",
    }),
    "jobs": ("--jobs", {
        "type": click.IntRange(1, 256), "show_default": True,
        "help": "Number of parallel processes or threads on this machine.",
    }),
    "scheduler": ("--scheduler", {
        "metavar": "ADDRESS",
        "help": "Use the workers of this Dask scheduler, e.g. tcp://host:8786 (needs the extra dask).",
    }),
    "store": ("--store", {
        "type": _PATH, "help": "Keep verdicts in this JSON file; a run continues where it stopped.",
    }),
    "certificate": ("--certificate", {
        "type": _PATH, "metavar": "DIR",
        "help": "Leave a certificate of each proof here; see `tcsmt certificate`.",
    }),
    "dump_smt": ("--dump-smt", {"type": _PATH, "help": "Write the SMT-LIB scripts here."}),
}  # fmt: skip


def solving(*names: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """These fields of :class:`tcsmt.SolvingOptions` as options; the command takes them as one, ``solving``.

    defaults: of fields whose default is another one than the class's; a proof is not confirmed by default.
    """
    usual = {name: getattr(SolvingOptions(confirm=False), name) for name in names} | defaults

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_options(**values: Any) -> None:
            chosen = {name: values.pop(name) for name in names}
            command(solving=SolvingOptions(**chosen), **values)

        for name in reversed(names):
            flag, facts = _FIELDS[name]
            click.option(flag, name, cls=_SolvingOption, default=usual[name], **facts)(with_options)
        return with_options

    return decorate


def resumed(*, required: bool = False) -> _Option:
    """``--output``, of a command that goes on from what its file has."""
    return click.option(
        "--output", type=_PATH, required=required, help="JSON file; a run continues where it stopped."
    )
