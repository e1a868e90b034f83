"""Matrix products in files: columns are written as they are computed, and a stopped run goes on."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from tcsmt.interface.api.kernels import as_epilogue, as_reduction
from tcsmt.interface.api.matching import BlockScales, formats_of, rows_for_operands
from tcsmt.interface.api.units import UnitLike
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words, operand_words
from tcsmt.matrix_units.files.arrays import stored_dtype
from tcsmt.programs.kernels.batched import batched, stack_of
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.errors import TcsmtError
from tcsmt.support.fingerprints import digest_of_sources
from tcsmt.support.interrupts import stops_waiting
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result

Array = np.ndarray[Any, np.dtype[Any]]
#: The record of a checkpoint.
_FINISHED = "finished"
#: What computes the words of a product; the unit is in the record by its graph.
_SOURCES = ("language", "matrix_units/arithmetic", "matrix_units/models", "simulate", "programs")


@dataclass(frozen=True, repr=False)
class StoredProduct(Result):
    """A matrix product in a file.

    kernel: what computes it. stack: the dimensions before those of the matrices. shape: M, K and N. path: of
    the file. digest: SHA-256 of its words. seconds: of this run, which began at a column.
    """

    kernel: Kernel
    stack: tuple[int, ...]
    shape: tuple[int, int, int]
    path: Path
    digest: str
    seconds: float
    resumed_at_column: int

    def _facts(self) -> dict[str, Any]:
        kernel = self.kernel
        return {
            "model": kernel.unit.name, "shape": list(self.shape), "stack": list(self.stack),
            "reduction": str(kernel.reduction), "epilogue": str(kernel.epilogue),
            "format": kernel.schedule.d_format.name, "output": str(self.path), "sha256": self.digest,
            "seconds": round(self.seconds, 3), "resumed_at_column": self.resumed_at_column,
        }  # fmt: skip

    def _lines(self) -> list[str]:
        (m, k, n), kernel = self.shape, self.kernel
        many = f"{' x '.join(map(str, self.stack))} times " if self.stack else ""
        return [
            f"{kernel.unit.name}: {many}({m} x {k}) · ({k} x {n}), {kernel.reduction}, {self.seconds:.2f} s",
            f"{self.path}: sha256 of the words {self.digest}",
        ]

    @property
    def _title(self) -> str:
        return f"of {self.kernel.name} in {self.path}"


def stored_product(
    output: str | os.PathLike[str],
    a: Array,
    b: Array,
    c: Array | None = None,
    *,
    unit: UnitLike,
    alpha: Any = None,
    beta: float | None = None,
    bias: Array | None = None,
    random: Array | None = None,
    scale_a: Array | None = None,
    scale_b: Array | None = None,
    a_format: str | None = None,
    b_format: str | None = None,
    operands: str | None = None,
    reduction: Reduction | str = CHAINED,
    epilogue: Epilogue | str = PLAIN,
    columns: int | None = None,
    progress: ProgressCallback = no_progress,
) -> StoredProduct:
    """Return what :func:`tcsmt.gemm` gives, written to an .npy file; a run that is stopped goes on from
    there.

    Dtypes are those of :func:`tcsmt.gemm`, and there may be a stack of matrices. Beside the file, until it is
    whole, are its columns so far and a note of how many there are.

    Args:
        output: D, (M, N), .npy.
        a: A, (M, K).
        b: B, (K, N).
        c: C, (M, N).
        unit: The unit.
        alpha: alpha, in place of the epilogue's; a file (.npy) has one for each row, (M,). [default: 1]
        beta: beta, in place of the epilogue's. [default: 1]
        bias: A bias, (N,).
        random: Random bits for stochastic rounding, (M, N).
        scale_a: A's scales, (M, K / block).
        scale_b: B's scales, (K / block, N).
        a_format: Format of A's words. [default: by the dtype]
        b_format: Format of B's words. [default: by the dtype]
        operands: As for :class:`tcsmt.Unit`.
        reduction: How partial sums are added up: chained, split-k:PARTS, sliced:PARTS, promote:EVERY,
            cuts:K1-K2-..., stream-k:WORKERS,tile=MxNxK; with options such as pairs, parts=bf16.
        epilogue: What follows the product: alpha=2,beta=0.5,bias,out=bf16,saturate,stochastic=16.
        columns: Number of columns computed at a time. [default: some gigabytes' worth]
        progress: Called with columns done, and of how many.

    Raises :class:`tcsmt.TcsmtError` for arrays that do not fit, and where another run has the file.
    """
    for array, name in ((a, "A"), (b, "B"), (c, "C"), (scale_b, "scale_b"), (random, "random")):
        if array is not None and array.ndim < 2:
            raise TcsmtError(f"{name} has shape {array.shape}: must be a matrix, or a stack of matrices")
    m, n = a.shape[-2], b.shape[-1]
    if c is not None and c.shape[-2:] != (m, n):
        raise TcsmtError(f"C has shape {c.shape}: must be {(m, n)}, the shape of A·B")
    reduction, epilogue = as_reduction(reduction), as_epilogue(epilogue, alpha, beta)
    alpha = alpha if np.ndim(alpha) else None
    formats = formats_of({"a": a, "b": b}, {"a": a_format, "b": b_format})
    scales = BlockScales.of({"a": a, "scale_a": scale_a, "scale_b": scale_b})
    row = rows_for_operands(
        unit, formats, scaled=scale_a is not None, scales=scales, values=True, operands=operands
    )[0]
    kernel = Kernel(row, reduction, epilogue)
    stack = stack_of(a=a, b=b, c=c, alpha=alpha, bias=bias, random=random, scale_a=scale_a, scale_b=scale_b)
    a = from_words(row.model.a_format, operand_words(row.model.a_format, a, "A", operands))
    portion = columns or max(16, (1 << 30) // max(1, a.size) // 16 * 16)
    if reduction.tiled:  # where K is cut depends on the columns before
        if columns is not None:
            raise TcsmtError(f"--columns {columns}: {reduction} needs all columns at once")
        portion = n
    job = [
        row.name,
        row.model.digest,
        digest_of_sources(*_SOURCES),
        str(reduction),
        str(epilogue),
        str(kernel.schedule.nans),
        portion,
        operands or "",
        *map(_identity, (a, b, c, alpha, scale_a, scale_b, bias, random)),
    ]
    started = time.perf_counter()
    dtype = dtype_of(kernel.schedule.d_format)
    with _PartialFile(Path(output), json.dumps(job), (*stack, m, n), dtype, portion) as partial:
        resumed = partial.columns
        for first in range(resumed, n, portion):
            last = min(first + portion, n)

            def report(part: int, whole: int, first: int = first, last: int = last) -> None:
                progress(first + (last - first) * part // whole, n, "columns")

            named = {"b": b, "c": c, "scale_b": scale_b, "bias": bias, "random": random}
            product = batched(
                a, **{name: None if x is None else x[..., first:last] for name, x in named.items()},
                model=row.model, reduction=reduction, epilogue=kernel.schedule.epilogue, alpha=alpha,
                scale_a=scale_a, operands=operands, progress=report,
            )  # fmt: skip
            partial.add(last, product)
        seconds = time.perf_counter() - started
        digest = partial.finish()
    return StoredProduct(kernel, stack, (m, a.shape[-1], n), Path(output), digest, seconds, resumed)


class _PartialFile:
    """The output while it grows: an .npy beside it, and a checkpoint of the columns that are finished.

    The record names the job, the number of columns, and the digest of these columns' words. It counts only
    where the file holds the same words: a record of one job never stands for what another has written.
    """

    def __init__(
        self, output: Path, job: str, shape: tuple[int, ...], dtype: np.dtype[Any], portion: int
    ) -> None:
        self.output, self.job, self.portion, self.shape = output, job, portion, shape
        self.path = output.with_name(f"{output.name}.partial")
        self.dtype = stored_dtype(dtype)
        self.checkpoint = Checkpoint(output.with_name(f"{output.name}.partial.json"), Layout())
        self.columns, self._digest = 0, hashlib.sha256()
        try:
            before = self._of_before()
            self.array = self._emptied() if before is None else before
        except (OSError, ValueError) as error:
            self.checkpoint.close()
            raise TcsmtError(f"cannot write {self.path}: {error}") from None

    def _of_before(self) -> np.memmap[Any, Any] | None:
        """Return the file of an earlier run of this job, where it holds the columns that the record
        describes.
        """
        record = self.checkpoint.records.get(_FINISHED, {})
        columns = record.get("columns")
        if record.get("job") != self.job or not isinstance(columns, int) or not self.path.exists():
            return None
        try:
            array = np.lib.format.open_memmap(self.path, "r+")
        except ValueError:  # another file has its name
            return None
        if (array.shape, array.dtype) != (self.shape, self.dtype) or not 0 < columns <= self.shape[-1]:
            return None
        digest = hashlib.sha256()
        for first in range(0, columns, self.portion):
            digest.update(_words(array[..., first : min(first + self.portion, columns)]))
        if digest.hexdigest() != record.get("digest"):
            return None
        self.columns, self._digest = columns, digest
        return array

    def _emptied(self) -> np.memmap[Any, Any]:
        """A file of zeros. The record goes first: a run that is killed in between leaves none of zeros."""
        if self.checkpoint.records:
            self.checkpoint.arrange([])
        return np.lib.format.open_memmap(self.path, "w+", dtype=self.dtype, shape=self.shape)

    def add(self, last: int, block: Array) -> None:
        """Keep the columns up to ``last``."""
        self.array[..., self.columns : last] = block.view(self.dtype)
        self.array.flush()
        self._digest.update(_words(self.array[..., self.columns : last]))
        self.columns = last
        record = {"job": self.job, "columns": last, "digest": self._digest.hexdigest()}
        self.checkpoint.keep(_FINISHED, record)

    def finish(self) -> str:
        """Return the whole output under its own name; the SHA-256 of its words."""
        digest = hashlib.sha256(_words(self.array)).hexdigest()
        with stops_waiting():
            self.path.replace(self.output)
            self.checkpoint.finish()
        return digest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.checkpoint.close()


def _identity(array: Array | None) -> str:
    """Return what tells this array from another one."""
    if array is None:
        return ""
    return f"{array.dtype}{array.shape}{hashlib.sha256(_words(array)).hexdigest()}"


def _words(array: Array) -> bytes:
    """Return the elements, one row after the other."""
    return np.ascontiguousarray(array).tobytes()
