"""``tcsmt quantise``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.array_files import read_array
from tcsmt.face.api.quantise import RECIPES, ROLES, SIDES, Role, Side
from tcsmt.face.api.quantise import quantise as quantised_of
from tcsmt.face.api.terminal import TcsmtError
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import answer


@click.command()
@click.argument("recipe", type=click.Choice(list(RECIPES)), metavar="RECIPE")
@click.argument("matrix", type=click.Path(path_type=Path))
@click.option(
    "--side", type=click.Choice(SIDES), default="a", show_default=True, help="a: (M, K); b: (K, N)."
)
@click.option("--role", type=click.Choice(ROLES), default="activation", show_default=True, help="What it is.")
@click.option("--format", "form", metavar="FORMAT", help="Another of the recipe's formats: e4m3fnuz.")
@click.option("--output", type=click.Path(path_type=Path), help="The values, .npy.")
@click.option("--scales", type=click.Path(path_type=Path), help="The scales, .npy.")
@options.as_json
def quantise(
    recipe: str,
    matrix: Path,
    side: Side,
    role: Role,
    form: str | None,
    output: Path | None,
    scales: Path | None,
    as_json: bool,
) -> None:
    """Round MATRIX to narrow numbers by RECIPE, with the scales of its blocks, as libraries do.

    RECIPE is one of bf16, fp16, tf32, fp8-tensor, fp8-row, fp8-block, fp8-block-torchao, mxfp8, mxfp8-up,
    mxfp4, nvfp4. MATRIX is .npy, or a tensor .safetensors:NAME or .pt:NAME, of float32 or narrower.
    Blocks lie along K: `tcsmt gemm` takes the values, and block scales as they are.
    The files say their formats.

    \b
    Examples:
      tcsmt quantise mxfp8 A.npy --output qA.npy --scales sA.npy
      tcsmt quantise nvfp4 B.npy --side b --output qB.npy --scales sB.npy --json
    """
    result = quantised_of(read_array(matrix), recipe, role, format=form, side=side)
    if output is not None:
        result.save(output, scales)
    elif scales is not None:
        raise TcsmtError(f"--scales {scales}: name a file for the values, too (--output)")
    answer(result, as_json=as_json)
