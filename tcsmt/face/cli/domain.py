"""The options that choose which inputs count; a command takes them as one argument, ``domain``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from tcsmt.face.api.asked import Domain
from tcsmt.face.api.terminal import TcsmtError, UnknownName
from tcsmt.face.cli import options

__all__ = ["domain_of_algorithm", "domain_of_models", "domain_of_operands"]

#: Ranges of exponents by name: Valpey et al.'s (Ootomo and Yokota's Type 1), and their other one.
RANGES = {"type1": (-15, 14), "small": (-35, -15)}

_Command = Callable[..., None]

_EXPONENTS = (
    f"a, b and c are zero, or normal with an exponent from LOW to HIGH (or a name: {', '.join(RANGES)})."
)
_bits = click.option(
    "--bits",
    nargs=2,
    type=int,
    metavar="A B",
    help="At most A significand bits in a and B in b, including the implicit bit.  [default: all]",
)


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


def domain_of_models(command: _Command) -> _Command:
    """Any domain; where no option is given, all words count."""

    @functools.wraps(command)
    def with_domain(
        *, finite: bool, positive: bool, exclude_subnormal: bool, c_zero: bool, exponents: str | None,
        c_free: bool, bits: tuple[int, int] | None, **others: Any,
    ) -> None:  # fmt: skip
        if c_free and exponents is None:
            raise TcsmtError("--c-free exempts c from --exponents, which is not given")
        domain = Domain(
            finite=finite, positive=positive, subnormals=not exclude_subnormal, c_zero=c_zero,
            exponents=None if exponents is None else exponents_of(exponents), c_free=c_free, bits=bits,
        )  # fmt: skip
        command(domain=domain, **others)

    return _with(
        with_domain,
        options.finite,
        options.positive,
        click.option("--exclude-subnormal", is_flag=True, help="Exclude subnormal inputs."),
        options.c_zero,
        click.option("--exponents", metavar="LOW:HIGH", help=_EXPONENTS),
        click.option("--c-free", is_flag=True, help="--exponents does not restrict c; needs --exponents."),
        _bits,
    )


def domain_of_algorithm(command: _Command) -> _Command:
    """A domain with restricted exponents: errors relative to inputs of any size have no bound."""
    return _restricted(
        command,
        click.option("--exponents", default="type1", show_default=True, metavar="LOW:HIGH", help=_EXPONENTS),
    )


def domain_of_operands(command: _Command) -> _Command:
    """Return the same, but exponents that are not given are left open: they are those of an operand
    format.
    """
    own = f"{_EXPONENTS}  [default: the normal numbers of a --format; type1 for an --algorithm]"
    return _restricted(command, click.option("--exponents", metavar="LOW:HIGH", help=own))


def _restricted(command: _Command, exponents_option: Callable[[Any], Any]) -> _Command:
    @functools.wraps(command)
    def with_domain(
        *, exponents: str | None, c_zero: bool, positive: bool, bits: tuple[int, int] | None, **others: Any
    ) -> None:
        given = None if exponents is None else exponents_of(exponents)
        command(domain=Domain(exponents=given, c_zero=c_zero, positive=positive, bits=bits), **others)

    return _with(
        with_domain,
        exponents_option,
        options.c_zero,
        options.positive,
        _bits,
    )


def _with(command: _Command, *choices: Callable[[Any], Any]) -> _Command:
    for option in reversed(choices):
        command = option(command)
    return command
