"""Options of a hardware design that stands for a unit: files, ports, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.designs import DesignFiles, named_values

__all__ = ["of_design"]

_PATH = click.Path(path_type=Path)
#: In the order in which ``--help`` has them.
_OPTIONS = (
    click.option("--top", default="", metavar="NAME", help="The design's module.  [default: the only one]"),
    click.option(
        "--function", default="", metavar="NAME", help="The function of a file of C.  [default: the only one]"
    ),
    click.option(
        "--port", "ports", multiple=True, metavar="OPERAND=NAME",
        help="Port of a, b, c, d, scale_a or scale_b, or of a lane such as a0: NAME, NAME[HIGH:LOW],"
        " NAME.MEMBER[INDEX].  [default: of its name]",
    ),
    click.option(
        "--const", "constants", multiple=True, metavar="NAME=VALUE", help="An input that has one value."
    ),
    click.option(
        "--cycles", default=0, show_default=True, metavar="N", help="Clock edges from inputs to the result."
    ),
    click.option(
        "--cut", multiple=True, metavar="NAME",
        help="A register that is a port of its own: what it holds is an input, what it takes is an output.",
    ),
    click.option("--hold", is_flag=True, help="The inputs stay for all cycles."),
    click.option(
        "--format", "formats", multiple=True, metavar="OPERAND=FORMAT",
        help="Format of a, b, c, d or scale (block scales).",
    ),
    click.option(
        "--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the module."
    ),
    click.option("--source", "sources", type=_PATH, multiple=True, help="A file that is compiled first."),
    click.option("--include", type=_PATH, multiple=True, help="A folder of included files."),
    click.option("--define", multiple=True, metavar="NAME[=VALUE]", help="A macro."),
    click.option(
        "--read-timeout", default=300.0, show_default=True, metavar="SECONDS",
        help="Time limit for reading the design, in all.",
    ),
)  # fmt: skip


def of_design(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command gets them as ``design``, a function of the design's files."""

    @wraps(command)
    def run(
        *args: Any,
        top: str,
        function: str,
        ports: Sequence[str],
        constants: Sequence[str],
        cycles: int,
        cut: Sequence[str],
        hold: bool,
        formats: Sequence[str],
        parameters: Sequence[str],
        sources: Sequence[Path],
        include: Sequence[Path],
        define: Sequence[str],
        read_timeout: float,
        **kwargs: Any,
    ) -> Any:
        files = DesignFiles(
            files=sources, top=top, function=function, ports=ports, constants=constants, cycles=cycles,
            cut=cut, hold=hold, formats=named_values("--format", formats),
            parameters=named_values("--param", parameters),
            include=include, define=define, timeout=read_timeout,
        )  # fmt: skip
        return command(*args, design=files, **kwargs)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run
