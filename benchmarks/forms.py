"""What a form in floating-point operations could gain of units that have none.

    python benchmarks/forms.py [--only TEXT] [--output FILE]

Of a unit whose products are aligned to a largest exponent: millions of rows a second as they are, and where
the words on the grid, the sums of groups and the largest exponents cost nothing (bits of operands stand in
their places). No form of the products can gain more.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["TCSMT_THREADS"] = "1"

# isort: off
from simulator import numbers, rate
from unit_lines import measure

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run import jit
from tcsmt.language.terms import Term, substitute
from tcsmt.language.write.llvm import native
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Kind, Model, Operands
from tcsmt.simulate.compiled import RowCode
from tcsmt.simulate.integer_kernels import IntegerSource
from tcsmt.simulate.kernel_source import without_specials

#: One unit of each kind.
UNITS = (
    "rdna3/v_wmma_f32_16x16x16_f16_w32", "rdna3/v_wmma_f32_16x16x16_bf16_w32",
    "rdna4/v_wmma_f32_16x16x16_f16_w64", "rdna4/v_dot4_f32_fp8_fp8",
    "riscv/rvbna.n2.f32.bf16.bf16", "riscv/rvbna.n8.f32.bf16.bf16", "riscv/rvbna.n32.f32.bf16.bf16",
    "riscv/rvbna.n32.f32.e4m3.e4m3", "wormhole/mvmul.f32.bf16.phase0", "wormhole/mvmul.f16.f16.phase0",
    "cdna3/v_mfma_f32_32x32x8_f16", "cdna3/v_mfma_f32_32x32x16_fp8_fp8",
)  # fmt: skip
#: Rows of a measurement.
COUNT = 1 << 17


def bits(word: Term, width: int) -> Term:
    """Some bits of an operand, in as few operations as there are."""
    return word.zext(max(width, word.width))[width - 1 : 0]


def without_products(model: Model) -> Term | None:
    """The result where words on grids, sums of groups and largest exponents are bits of operands; None of a
    model without a grid.
    """
    trace, free = model.trace, dict[Term, Term]()
    for number, stage in enumerate(trace.of(Kind.ALIGNED_PRODUCT, Kind.SUM_OF_PRODUCTS)):
        free[stage.term] = bits(trace.a[number % model.k], stage.term.width)
    for number, stage in enumerate(trace.of(Kind.LARGEST_EXPONENT)):
        free[stage.term] = bits(trace.b[number % model.k], stage.term.width)
    return substitute([trace.output], free)[0] if free else None


def rows(model: Model, output: Term) -> float:
    """Millions of rows a second, by integers, of an output instead of the model's."""
    source = IntegerSource(model, jit.vector_bits())
    ((source._root,),) = fitted([output], native)
    (source._plain,) = without_specials([source._root], source.inputs)
    code = RowCode(source, source.rows(), model)
    words = Operands(*(array for array in numbers(model, COUNT) if array is not None))
    return rate(lambda: code.run(words.parts), COUNT)


def line(name: str) -> dict[str, Any]:
    """The figures of one unit."""
    model = row_named(name).model
    free = without_products(model)
    today, bound = rows(model, model.trace.output), 0.0 if free is None else rows(model, free)
    return {"unit": name, "rows": today, "rows_without_products": bound}


def shown(figures: dict[str, Any]) -> str:
    """A line of the table."""
    (_, before), (what, after) = [*figures.items()][1:]
    return f"{figures['unit']:<40} {before:>7.1f}  {what}: {after:.1f} ({after / before:.1f} times)"


def main() -> None:
    """Measure the units, and write what was found."""
    measure(__doc__, UNITS, line, shown)


if __name__ == "__main__":
    main()
