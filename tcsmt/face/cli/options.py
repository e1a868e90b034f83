"""Options that several commands take: each is written once. A function makes one whose default differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tcsmt.face.cli.names import SOLVER
from tcsmt.matrix_units.arithmetic.conversion import OPERAND_RULES
from tcsmt.prove.engine.solvers.run import CHOICES

__all__ = [
    "as_json",
    "c_zero",
    "certificate",
    "confirm",
    "confirmed",
    "dump_smt",
    "finite",
    "folders",
    "jobs",
    "kept",
    "memory",
    "operands",
    "positive",
    "resumed",
    "scheduler",
    "solver",
    "store",
    "timeout",
]

_Option = Callable[[Any], Any]

#: A file or folder; what is wrong with it is said where it is used.
_PATH = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

operands = click.option(
    "--operands", type=click.Choice([*OPERAND_RULES]), metavar="RULE",
    help="How operands that a format of the unit does not hold become its words: "
    f"{', '.join(OPERAND_RULES)}.  [default: they are refused]",
)  # fmt: skip
solver = click.option(
    "--solver", type=SOLVER, default="auto", help=f"One of {', '.join(CHOICES)}.", show_default=True
)
memory = click.option(
    "--memory", default=8192, help="Memory limit of each solver process, in MiB.", show_default=True
)
dump_smt = click.option("--dump-smt", type=_PATH, help="Write the SMT-LIB scripts here.")
certificate = click.option(
    "--certificate", type=_PATH, metavar="DIR",
    help="Leave a certificate of each proof here; see `tcsmt certificate`."
)  # fmt: skip

_CONFIRM = "A proof counts only if another solver confirms it."
#: For commands that ask many questions: to confirm takes up to twice as long, and leaves more questions open.
confirm = click.option(
    "--confirm/--no-confirm", default=False,
    help=f"{_CONFIRM}  [default: no-confirm, because confirming takes up to twice as long]",
)  # fmt: skip
#: For commands that confirm where nothing is said.
confirmed = click.option("--confirm/--no-confirm", default=True, help=f"{_CONFIRM}  [default: confirm]")
#: See :class:`.Trust`.
kept = click.option(
    "--kept/--again", default=None,
    help="Use the proofs that an earlier run has kept, or prove everything again."
    "  [default: again with --confirm, else kept]",
)  # fmt: skip

finite = click.option(
    "--finite/--all-words", default=False, help="Exclude NaN and infinity.  [default: all words]"
)
positive = click.option("--positive", is_flag=True, help="Only inputs without a sign bit.")
c_zero = click.option("--c-zero", is_flag=True, help="Only c = +0.")

scheduler = click.option(
    "--scheduler", default="", metavar="ADDRESS",
    help="Use the workers of this Dask scheduler, e.g. tcp://host:8786 (needs the extra dask).",
)  # fmt: skip

folders = click.option(
    "--properties", "folders", type=_PATH, multiple=True,
    help="A folder with property modules of your own (may be repeated).",
)  # fmt: skip
#: See :func:`.verdicts_in`.
store = click.option(
    "--store", type=_PATH,
    help="Keep verdicts in this JSON file; a run continues where it stopped (see --kept).",
)  # fmt: skip


def jobs(number: int) -> _Option:
    """``--jobs``, with its default."""
    return click.option(
        "--jobs", type=click.IntRange(1, 256), default=number, show_default=True,
        help="Number of parallel processes on this machine.",
    )  # fmt: skip


def timeout(seconds: float = 60.0) -> _Option:
    """``--timeout``, with its default."""
    return click.option(
        "--timeout", default=seconds, help="Time limit of each query, in seconds.", show_default=True
    )


def resumed(*, required: bool = False) -> _Option:
    """``--output``, of a command that goes on from what its file has."""
    return click.option(
        "--output", type=_PATH, required=required, help="JSON file; a run continues where it stopped."
    )
