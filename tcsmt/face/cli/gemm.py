"""``tcsmt gemm``."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any, Self

import click
import numpy as np

from tcsmt.compose.kernels.batched import batched as multiply
from tcsmt.compose.kernels.batched import stack_of
from tcsmt.compose.kernels.epilogue import epilogue_named
from tcsmt.compose.kernels.reduction import reduction_named
from tcsmt.compose.kernels.schedule import Schedule
from tcsmt.face.api.taking import formats_of, rows_taking
from tcsmt.face.api.terminal import TcsmtError, shown
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, operand_words
from tcsmt.matrix_units.files.arrays import read_array
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.sources import digest_of_sources

#: The record of a checkpoint.
_FINISHED = "finished"


@click.command()
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option("--a", "a_path", type=click.Path(path_type=Path), required=True, help="A, (M, K), .npy.")
@click.option("--b", "b_path", type=click.Path(path_type=Path), required=True, help="B, (K, N), .npy.")
@click.option("--c", "c_path", type=click.Path(path_type=Path), help="C, (M, N), .npy.")
@click.option("--scale-a", "sa_path", type=click.Path(path_type=Path), help="A's scales, (M, K / block).")
@click.option("--scale-b", "sb_path", type=click.Path(path_type=Path), help="B's scales, (K / block, N).")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="D, (M, N), .npy.")
@click.option("--alpha", type=float, help="Instead of the epilogue's.  [default: 1]")
@click.option("--beta", type=float, help="Instead of the epilogue's.  [default: 1]")
@click.option("--bias", "bias_path", type=click.Path(path_type=Path), help="A bias, (N,), .npy.")
@click.option(
    "--random", "random_path", type=click.Path(path_type=Path),
    help="Random bits for stochastic rounding, (M, N), .npy.",
)  # fmt: skip
@click.option(
    "--reduction", "reduction_text", default="chained", show_default=True,
    help="How partial sums are added up: chained, split-k:PARTS, sliced:PARTS, promote:EVERY, cuts:K1-K2-...,"
    " stream-k:WORKERS,tile=MxNxK; with options such as pairs, parts=bf16.",
)  # fmt: skip
@click.option(
    "--epilogue", "epilogue_text", default="",
    help="What follows: alpha=2,beta=0.5,bias,out=bf16,saturate,stochastic=16.",
)  # fmt: skip
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
    alpha: float | None,
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

    UNIT without an instruction is the most used one that takes A and B in the formats of their dtypes. NumPy
    stores bfloat16 and 8-bit floats without their names: give --a-format and --b-format.

    Arrays have the dtype of their format, or hold unsigned words, or values of another floating-point dtype
    that the format can represent; --operands rounds values that it cannot. Stacks of matrices (A of shape
    (..., M, K)) are multiplied as NumPy's matmul does. An interrupted run leaves its partial output next to
    --output, and the next run continues from it.

    \b
    Examples:
      tcsmt gemm h200 --a A.npy --b B.npy --output D.npy --reduction split-k:2
      tcsmt gemm h200 --a A.npy --b B.npy --output D.npy --a-format bf16 --b-format bf16
      tcsmt gemm h100/wgmma.m64nNk8 --a A.npy --b B.npy --output D.npy --operands nearest-even
    """
    reduction = reduction_named(reduction_text)
    epilogue = epilogue_named(epilogue_text).with_numbers(alpha, beta)
    a, b = read_array(a_path), read_array(b_path)
    c, scale_a, scale_b, bias, random = (
        None if path is None else read_array(path)
        for path in (c_path, sa_path, sb_path, bias_path, random_path)
    )
    if output.suffix != ".npy":
        raise TcsmtError(f"--output {output}: the name must end in .npy")
    for array, name in ((a, "A"), (b, "B"), (c, "C"), (scale_b, "scale_b"), (random, "random")):
        if array is not None and array.ndim < 2:
            raise TcsmtError(f"{name} has shape {array.shape}: must be a matrix, or a stack of matrices")
    m, n = a.shape[-2], b.shape[-1]
    if c is not None and c.shape[-2:] != (m, n):
        raise TcsmtError(f"C has shape {c.shape}: must be {(m, n)}, the shape of A·B")
    named = formats_of({"a": a, "b": b}, {"a": a_format, "b": b_format})
    row, *_ = rows_taking(model, named, scaled=scale_a is not None, values=True)
    stack = stack_of(a=a, b=b, c=c, bias=bias, random=random, scale_a=scale_a, scale_b=scale_b)
    a = from_words(row.model.a_format, operand_words(row.model.a_format, a, "A", operands))
    portion = columns or max(16, (1 << 30) // max(1, a.size) // 16 * 16)
    if reduction.tiled:  # where K is cut depends on the columns before
        if columns is not None:
            raise TcsmtError(f"--columns {columns}: {reduction} needs all columns at once")
        portion = n
    job = [
        row.name,
        row.model.digest,
        digest_of_sources("language", "matrix_units/arithmetic", "simulate", "compose/kernels"),
        str(reduction),
        str(epilogue),
        portion,
        operands or "",
        *map(_identity, (a, b, c, scale_a, scale_b, bias, random)),
    ]
    started = time.perf_counter()
    fmt = Schedule(row.model, reduction, epilogue).d_format
    shape, dtype = (*stack, m, n), dtype_of(fmt)
    with _Partial(output, json.dumps(job), shape, dtype) as partial, shown(lines=False) as seen:
        done = partial.columns
        for first in range(done, n, portion):
            last = min(first + portion, n)

            def progress(part: int, whole: int, first: int = first, last: int = last) -> None:
                seen(first + (last - first) * part // whole, n, "columns")

            partial.add(
                last,
                multiply(
                    a, b[..., first:last], None if c is None else c[..., first:last], model=row.model,
                    reduction=reduction, epilogue=epilogue, progress=progress, operands=operands,
                    scale_a=scale_a, scale_b=None if scale_b is None else scale_b[..., first:last],
                    bias=None if bias is None else bias[..., first:last],
                    random=None if random is None else random[..., first:last],
                ),
            )  # fmt: skip
        seconds = time.perf_counter() - started
        digest = partial.finish()
    facts: dict[str, Any] = {
        "model": row.name, "shape": [m, a.shape[-1], n], "stack": list(stack), "reduction": str(reduction),
        "epilogue": str(epilogue), "format": fmt.name, "output": str(output),
        "sha256": digest, "seconds": round(seconds, 3), "resumed_at_column": done,
    }  # fmt: skip
    if as_json:
        echo_json(facts)
    else:
        k, many = a.shape[-1], f"{' x '.join(map(str, stack))} times " if stack else ""
        click.echo(f"{row.name}: {many}({m} x {k}) · ({k} x {n}), {reduction}, {seconds:.2f} s")
        click.echo(f"{output}: sha256 of the words {digest}")


class _Partial:
    """The output while it grows: an .npy beside it, and a checkpoint of how many columns are finished."""

    def __init__(self, output: Path, job: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.output, self.job = output, job
        self.path = output.with_name(f"{output.name}.partial")
        self.checkpoint = Checkpoint(output.with_name(f"{output.name}.partial.json"), Layout())
        known = self.checkpoint.records.get(_FINISHED, {})
        same = known.get("job") == job and self.path.exists()
        self.columns = int(known["columns"]) if same else 0
        stored = dtype if dtype.kind != "V" else np.dtype(f"uint{dtype.itemsize * 8}")
        mode = "r+" if self.columns else "w+"
        try:
            self.array = np.lib.format.open_memmap(self.path, mode, dtype=stored, shape=shape)
        except (OSError, ValueError) as error:
            self.checkpoint.close()
            raise TcsmtError(f"cannot write {self.path}: {error}") from None

    def add(self, last: int, block: Array) -> None:
        """Keep the columns up to ``last``."""
        self.array[..., self.columns : last] = block.view(self.array.dtype)
        self.array.flush()
        self.columns = last
        self.checkpoint.keep(_FINISHED, {"job": self.job, "columns": last})

    def finish(self) -> str:
        """The whole output under its own name; the SHA-256 of its words."""
        digest = hashlib.sha256(np.ascontiguousarray(self.array).tobytes()).hexdigest()
        self.path.replace(self.output)
        self.checkpoint.finish()
        return digest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.checkpoint.close()


Array = np.ndarray[Any, np.dtype[Any]]


def _identity(array: Array | None) -> str:
    """What tells this array from another one."""
    if array is None:
        return ""
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return f"{array.dtype}{array.shape}{digest}"
