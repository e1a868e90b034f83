"""What the commands about an algorithm share: its unit, its inputs, and how long to search."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from tcsmt.algorithms.error import Inputs
from tcsmt.cli import options
from tcsmt.support.errors import TcsmtError, UnknownName

#: Domains by name: Valpey et al.'s exponents (Ootomo and Yokota's Type 1), and their other range.
DOMAINS = {"type1": (-15, 14), "small": (-35, -15)}


def exponents_of(text: str) -> tuple[int, int]:
    """``type1``, ``small`` or ``LOW:HIGH``."""
    if text in DOMAINS:
        return DOMAINS[text]
    low, colon, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        if colon:
            raise TcsmtError(f"domain {text!r}: allowed is LOW:HIGH, two whole numbers, as -15:14") from None
        raise UnknownName("domain", text, [*DOMAINS, "LOW:HIGH"]) from None


def inputs_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that choose inputs; the command takes them as one argument, ``inputs``."""

    @functools.wraps(command)
    def with_inputs(
        *, domain: str, c_zero: bool, positive: bool, bits: tuple[int, int], **others: Any
    ) -> None:
        low, high = exponents_of(domain)
        inputs = Inputs(low=low, high=high, c_zero=c_zero, positive=positive, bits=bits)
        command(inputs=inputs, **others)

    for option in (
        click.option("--bits", nargs=2, type=int, default=(24, 24), metavar="A B", show_default=True,
                     help="Significand bits of a and of b."),
        options.positive,
        options.c_zero,
        click.option("--domain", default="type1", show_default=True,
                     help=f"Exponents of a, b and c: {', '.join(DOMAINS)} or LOW:HIGH. Zeros count, too."),
    ):  # fmt: skip
        with_inputs = option(with_inputs)
    return with_inputs


arch_option = click.option(
    "--arch", required=True, help="Architecture, GPU, ARCH/INSTRUCTION or a model file."
)
k_option = click.option("--k", type=int, default=1, help="Products in the dot product.", show_default=True)


def search_option(seconds: float) -> Callable[[Any], Any]:
    """``--search``, with its default."""
    return click.option("--search", default=seconds, help="Seconds for the simulator.", show_default=True)


def check_length(k: int | None, search: float, most: int = 64) -> None:
    """Refuse lengths and times that nothing can be done with. most: products that terms are made for."""
    if k is not None and not 1 <= k <= most:
        raise TcsmtError(f"k = {k}: allowed is 1 to {most}")
    if not 0 < search <= 1e6:
        raise TcsmtError(f"search = {search:g}: allowed is over 0 and up to 1000000 seconds")
