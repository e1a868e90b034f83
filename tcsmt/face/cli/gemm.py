"""``tcsmt gemm``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.array_files import read_array
from tcsmt.face.api.kernels import epilogue as epilogue_named
from tcsmt.face.api.kernels import reduction as reduction_named
from tcsmt.face.api.stored_products import stored_product
from tcsmt.face.api.terminal import TcsmtError, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer


@click.command()
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option(
    "--a",
    "a_path",
    type=click.Path(path_type=Path),
    required=True,
    help="A, (M, K): .npy, or .safetensors:NAME, .pt:NAME.",
)
@click.option("--b", "b_path", type=click.Path(path_type=Path), required=True, help="B, (K, N), .npy.")
@click.option("--c", "c_path", type=click.Path(path_type=Path), help="C, (M, N), .npy.")
@click.option("--scale-a", "sa_path", type=click.Path(path_type=Path), help="A's scales, (M, K / block).")
@click.option("--scale-b", "sb_path", type=click.Path(path_type=Path), help="B's scales, (K / block, N).")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="D, (M, N), .npy.")
@click.option(
    "--alpha",
    metavar="NUMBER|FILE",
    help="Instead of the epilogue's; a file: one for each row, (M,), .npy.  [default: 1]",
)
@click.option("--beta", type=float, help="Instead of the epilogue's.  [default: 1]")
@click.option("--bias", "bias_path", type=click.Path(path_type=Path), help="A bias, (N,), .npy.")
@click.option(
    "--random",
    "random_path",
    type=click.Path(path_type=Path),
    help="Random bits for stochastic rounding, (M, N), .npy.",
)
@click.option(
    "--reduction",
    "reduction_text",
    default="chained",
    show_default=True,
    help="How partial sums are added up: chained, split-k:PARTS, sliced:PARTS, promote:EVERY, cuts:K1-K2-...,"
    " stream-k:WORKERS,tile=MxNxK; with options such as pairs, parts=bf16.",
)
@click.option(
    "--epilogue",
    "epilogue_text",
    default="",
    help="What follows: alpha=2,beta=0.5,bias,out=bf16,saturate,stochastic=16.",
)
@click.option("--a-format", metavar="FORMAT", help="Format of A's words.  [default: by the dtype]")
@click.option("--b-format", metavar="FORMAT", help="Format of B's words.  [default: by the dtype]")
@options.operands
@click.option("--columns", type=click.IntRange(min=1), help="Number of columns computed at a time.")
@options.as_json
def gemm(
    model: str,
    a_path: Path,
    b_path: Path,
    c_path: Path | None,
    sa_path: Path | None,
    sb_path: Path | None,
    output: Path,
    alpha: str | None,
    beta: float | None,
    bias_path: Path | None,
    random_path: Path | None,
    reduction_text: str,
    epilogue_text: str,
    a_format: str | None,
    b_format: str | None,
    operands: str | None,
    columns: int | None,
    as_json: bool,
) -> None:
    """Multiply matrices as a kernel on UNIT would: D = alpha·A·B + beta·C.

    UNIT without an instruction is the most used one that takes A and B in the formats of their dtypes; with
    --operands, one whose formats have the range of the dtypes, such as TF32 for float32. np.save
    writes bfloat16 and 8-bit floats without their names: give --a-format and --b-format. Files of tcsmt, and
    tensors in .safetensors and PyTorch's .pt files, by name after a colon, keep them.

    Arrays have the dtype of their format, or hold unsigned words, or values of another floating-point dtype
    that the format can represent; --operands rounds values that it cannot. Stacks of matrices (A of shape
    (..., M, K)) are multiplied as NumPy's matmul does. An interrupted run leaves its partial output next to
    --output, and the next run continues from it.

    \b
    Examples:
      tcsmt gemm h200 --a A.npy --b B.npy --output D.npy --reduction split-k:2
      tcsmt gemm h200 --a A.npy --b B.npy --output D.npy --a-format bf16 --b-format bf16
      tcsmt gemm h100/wgmma.m64nNk8 --a A.npy --b B.npy --output D.npy --operands nearest-even
      tcsmt gemm h100 --a layer.safetensors:x --b layer.safetensors:w --output D.npy
      tcsmt gemm h100 --a A.npy --b B.npy --alpha rows.npy --output D.npy
    """
    reduction = reduction_named(reduction_text)
    factor, by_row = _factor(alpha)
    epilogue = epilogue_named(epilogue_text).with_numbers(factor, beta)
    a, b = read_array(a_path), read_array(b_path)
    c, scale_a, scale_b, bias, random = (
        None if path is None else read_array(path)
        for path in (c_path, sa_path, sb_path, bias_path, random_path)
    )
    if output.suffix != ".npy":
        raise TcsmtError(f"--output {output}: the name must end in .npy")
    with progress_bar(lines=False) as progress:
        product = stored_product(
            output, a, b, c, unit=model, alpha=by_row, bias=bias, random=random, scale_a=scale_a,
            scale_b=scale_b, a_format=a_format, b_format=b_format, operands=operands, reduction=reduction,
            epilogue=epilogue, columns=columns, progress=progress,
        )  # fmt: skip
    answer(product, as_json=as_json)


def _factor(text: str | None) -> tuple[float | None, Any]:
    """Alpha as one number, or one for each row."""
    try:
        return None if text is None else float(text), None
    except ValueError:
        return None, read_array(Path(str(text)))
