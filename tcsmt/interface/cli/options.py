"""Options of which a call takes one object: of solvers and processes, of a domain, of a design."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcsmt.interface.api.asked import Domain, SolvingOptions
from tcsmt.interface.api.terminal import TcsmtError, UnknownName
from tcsmt.interface.cli.names import SOLVER
from tcsmt.interface.cli.parameters import PATH, Form, option_of, sentences

if TYPE_CHECKING:
    from tcsmt.interface.api.designs import DesignFiles

#: Options of one parameter of a call, and what makes its value of theirs.
Made = tuple[list[click.Parameter], Callable[..., Any]]


def json_option() -> click.Option:
    """Return ``--json``, which every command takes as ``as_json``."""
    return click.Option(["--json", "as_json"], is_flag=True, help="Print JSON.")


class SolvingCommand(click.Command):
    """A command whose help has a section of its own for the options of :func:`solving_options`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, then those of solving."""
        for title, of_solving in (("Options", False), ("Solvers and processes", True)):
            options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
            chosen = (option for option in options if isinstance(option, _SolvingOption) is of_solving)
            records = [record for option in chosen if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class _SolvingOption(click.Option):
    """One field of :class:`tcsmt.SolvingOptions`."""


#: How the terminal writes each field of :class:`tcsmt.SolvingOptions`.
FIELDS: dict[str, Form] = {
    "solver": SOLVER, "timeout": "", "steps": "COUNT", "memory": "", "confirm": "--confirm/--no-confirm",
    "reuse": "--kept/--again", "jobs": click.IntRange(1, 256), "scheduler": "ADDRESS", "store": "",
    "certificate": "DIR", "dump_smt": "",
}  # fmt: skip


def solving_option(name: str, default: Any) -> click.Parameter:
    """Return the option of one field of :class:`tcsmt.SolvingOptions`."""
    parameter = inspect.signature(SolvingOptions).parameters[name].replace(default=default)
    return option_of(parameter, FIELDS[name], sentences(SolvingOptions)[name], {}, _SolvingOption)


def solving_options(fields: str, default: SolvingOptions | None, text: str) -> Made:
    """Return the options of some fields, and what makes an object of their values.

    default: the call's; a proof is not confirmed where it leaves that open. fields: with a value where the
    call has no default ("timeout=20.0").
    """
    usual = default or SolvingOptions()
    defaults = dict(field.partition("=")[::2] for field in fields.split())
    for name, value in defaults.items():
        usual = replace(usual, **{name: type(getattr(usual, name))(value)}) if value else usual
    if "confirm" in defaults:
        usual = replace(usual, confirm=bool(usual.confirm))
    return [solving_option(name, getattr(usual, name)) for name in defaults], partial(replace, usual)


#: Ranges of exponents by name: Valpey et al.'s (Ootomo and Yokota's Type 1), and their other one.
RANGES = {"type1": (-15, 14), "small": (-35, -15)}

#: The option of each field of a domain.
_DOMAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "finite": ("--finite/--all-words", {
        "default": False, "help": "Exclude NaN and infinity.  [default: all words]",
    }),
    "positive": ("--positive", {"is_flag": True, "help": "Only inputs without a sign bit."}),
    "exclude_subnormal": ("--exclude-subnormal", {"is_flag": True, "help": "Exclude subnormal inputs."}),
    "c_zero": ("--c-zero", {"is_flag": True, "help": "Only c = +0."}),
    "exponents": ("--exponents", {
        "metavar": "LOW:HIGH",
        "help": "a, b and c are zero, or normal with an exponent from LOW to HIGH (or a name: "
        f"{', '.join(RANGES)}).",
    }),
    "c_free": ("--c-free", {
        "is_flag": True, "help": "--exponents does not restrict c; needs --exponents.",
    }),
    "bits": ("--bits", {
        "nargs": 2, "type": int, "metavar": "A B",
        "help": "At most A significand bits in a and B in b, including the implicit bit.  [default: all]",
    }),
}  # fmt: skip


def domain_options(fields: str, default: Domain | None, text: str) -> Made:
    """Return the options of some fields, and what makes a domain of their values.

    fields: without them, all where the call's default is no domain, which means all words; else those by
    which the domain of an algorithm is restricted. text: what the call says of exponents that are not given.
    """
    few = fields.split() or (_DOMAIN if default is None else ("exponents", "c_zero", "positive", "bits"))
    usual = default or Domain(finite=False)
    made: list[click.Parameter] = []
    for name in few:
        flag, facts = _DOMAIN[name]
        if name == "exponents" and default is not None:
            named = next((key for key, range_ in RANGES.items() if range_ == default.exponents), None)
            facts = facts | {"default": named, "show_default": named is not None}
            facts["help"] += f"  {text[text.find('[') :]}" if "[default:" in text else ""
        made.append(click.Option([flag, name], **facts))
    return made, partial(_domain, usual)


def _domain(
    usual: Domain, *, exponents: str | None = None, c_free: bool = False, exclude_subnormal: bool = False,
    **values: Any,
) -> Domain:  # fmt: skip
    if c_free and exponents is None:
        raise TcsmtError("--c-free exempts c from --exponents, which is not given")
    given = usual.exponents if exponents is None else exponents_of(exponents)
    return replace(usual, exponents=given, c_free=c_free, subnormals=not exclude_subnormal, **values)


def exponents_of(text: str) -> tuple[int, int]:
    """Return the range that is meant by ``LOW:HIGH`` or a name. Raises :class:`.TcsmtError`."""
    if text in RANGES:
        return RANGES[text]
    low, colon, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        if colon:
            raise TcsmtError(f"exponents {text!r}: expected LOW:HIGH, two integers, such as -15:14") from None
        raise UnknownName("exponents", text, [*RANGES, "LOW:HIGH"]) from None


#: The parameters of :func:`tcsmt.design`, in the order in which ``--help`` has them.
_DESIGN: dict[str, Form] = {
    "top": "NAME", "function": "NAME", "ports": "--port OPERAND=NAME", "constants": "--const NAME=VALUE",
    "cycles": "N", "cut": "NAME", "hold": "", "formats": "--format OPERAND=FORMAT",
    "parameters": "--param NAME=VALUE", "include": "", "define": "NAME[=VALUE]",
    "timeout": "--read-timeout SECONDS",
}  # fmt: skip


def design_options(words: str, default: DesignFiles | None, text: str) -> Made:
    """Return the options of a design, and what makes its files of their values."""
    from tcsmt.interface.api import designs  # only what reads a design needs it

    parameters, said = inspect.signature(designs.design).parameters, sentences(designs.design)
    names = {"timeout": "read_timeout"}  # a solver's is another one
    made: list[click.Parameter] = [
        option_of(parameters[name].replace(name=names.get(name, name)), form, said[name], vars(designs))
        for name, form in _DESIGN.items()
    ]
    source = click.Option(["--source"], type=PATH, multiple=True, help="A file to compile first.")
    made.insert([one.name for one in made].index("include"), source)

    def fold(
        *, source: Sequence[Path], formats: Sequence[str], parameters: Sequence[str], read_timeout: float,
        **values: Any,
    ) -> DesignFiles:  # fmt: skip
        return designs.DesignFiles(
            files=source, formats=designs.named_values("--format", formats),
            parameters=designs.named_values("--param", parameters), timeout=read_timeout, **values,
        )  # fmt: skip

    return made, fold
