"""What a form in floating-point operations could gain of units that have none.

    python benchmarks/forms.py [--only TEXT] [--output FILE]

Of a unit whose products are aligned to a largest exponent: millions of rows a second as they are, and where
the words on the grid, the sums of groups and the largest exponents cost nothing (bits of operands stand in
their places). No form of the products can gain more. Of exact sums, rounded once: products of matrices as
they are, and a loop that sums in binary64 and looks whether each addition was exact. The loop is no form:
nothing is proved about it, and NaNs, signs of zeros and rows that it cannot compute are left out.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
from pathlib import Path
from typing import Any

os.environ["TCSMT_THREADS"] = "1"

# isort: off
import numpy as np
from machine import machine
from simulator import numbers, products, rate

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run import jit
from tcsmt.language.terms import Term, substitute
from tcsmt.language.write.llvm import native
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.models import IeeeDotAdd, Kind, Model, Operands
from tcsmt.matrix_units.models.ieee_parts import ExactSums
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
    "cdna1/v_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_32x32x4bf16", "arm/bfdot.ebf1",
    "arm/fdot.f32.e4m3.e4m3",
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


def in_binary64(products_of_a_sum: int) -> float:
    """Millions of sums a second: of so many products and c, in binary64, and rounded to binary32."""
    size, steps, count = 8, 64, 256
    doubles, floats, words = (f"<{size} x {kind}>" for kind in ("double", "float", "i64"))
    body, total, unsure, first = [], "%wide", "%unsure", f"<{size} x i32> zeroinitializer"
    for lane in range(products_of_a_sum):
        new = {name: f"%{name}{lane}" for name in "pqabxystuvwef"}
        body += [
            f"  {new['p']} = getelementptr double, ptr %left, i64 {lane}",
            f"  {new['a']} = load double, ptr {new['p']}, align 8",
            f"  {new['q']} = getelementptr {doubles}, ptr %right, i64 {lane}",
            f"  {new['b']} = load {doubles}, ptr {new['q']}, align 8",
            f"  {new['e']} = insertelement {doubles} poison, double {new['a']}, i64 0",
            f"  {new['f']} = shufflevector {doubles} {new['e']}, {doubles} poison, {first}",
            f"  {new['x']} = fmul {doubles} {new['f']}, {new['b']}",
            f"  {new['s']} = fadd {doubles} {total}, {new['x']}",
            f"  {new['t']} = fsub {doubles} {new['s']}, {total}",
            f"  {new['u']} = fsub {doubles} {new['s']}, {new['t']}",
            f"  {new['v']} = fsub {doubles} {total}, {new['u']}",
            f"  {new['w']} = fsub {doubles} {new['x']}, {new['t']}",
            f"  {new['y']} = fadd {doubles} {new['v']}, {new['w']}",
            f"  %i{lane} = bitcast {doubles} {new['y']} to {words}",
            f"  %unsure{lane} = or {words} {unsure}, %i{lane}",
        ]
        total, unsure = new["s"], f"%unsure{lane}"
    text = "\n".join([
        "define void @loop(ptr %a, ptr %b, ptr %d, i64 %rows) {", "entry:", "  br label %row", "row:",
        "  %m = phi i64 [0, %entry], [%m.next, %end]", f"  %base = mul i64 %m, {steps * products_of_a_sum}",
        "  br label %step", "step:", "  %n = phi i64 [0, %row], [%n.next, %step]",
        f"  %c = phi {floats} [zeroinitializer, %row], [%d.next, %step]",
        f"  %unsure = phi {words} [zeroinitializer, %row], [{unsure}, %step]",
        f"  %moved = mul i64 %n, {products_of_a_sum}", "  %place = add i64 %base, %moved",
        "  %left = getelementptr double, ptr %a, i64 %place",
        f"  %right = getelementptr {doubles}, ptr %b, i64 %moved",
        f"  %wide = fpext {floats} %c to {doubles}", *body,
        f"  %d.next = fptrunc {doubles} {total} to {floats}", "  %n.next = add i64 %n, 1",
        f"  %more = icmp ult i64 %n.next, {steps}", "  br i1 %more, label %step, label %end", "end:",
        f"  %to = getelementptr {words}, ptr %d, i64 %m", f"  store {words} {unsure}, ptr %to, align 8",
        "  %m.next = add i64 %m, 1", "  %again = icmp ult i64 %m.next, %rows",
        "  br i1 %again, label %row, label %done", "done:", "  ret void", "}",
    ])  # fmt: skip
    pointer = ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_int64)
    call = kind(jit.functions(text, ["loop"])["loop"])
    rng = np.random.default_rng(0)
    a = rng.standard_normal((count, steps * products_of_a_sum)).astype(np.float16).astype(np.float64)
    b = rng.standard_normal((steps * products_of_a_sum, size)).astype(np.float16).astype(np.float64)
    flags = np.empty((count, size), np.uint64)
    arrays = [array.ctypes.data for array in (a, b, flags)]
    result = rate(lambda: call(*arrays, count), count * steps * size)
    assert not (flags << 1).any(), "a sum of numbers was not exact"
    return result


def line(name: str) -> dict[str, Any]:
    """The figures of one unit."""
    model = row_named(name).model
    if isinstance(model, IeeeDotAdd) and isinstance(model.sum, ExactSums):
        loop = in_binary64(model.block) / len(model.trace.of(Kind.EXACT_SUM))
        return {"unit": name, "products_by_integers": products(model)["gemm_by_integers"], "loop": loop}
    free = without_products(model)
    today, bound = rows(model, model.trace.output), 0.0 if free is None else rows(model, free)
    return {"unit": name, "rows": today, "rows_without_products": bound}


def main() -> None:
    """Print the table; write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for name in UNITS:
        if options.only in name:
            figures = line(name)
            lines.append({k: round(v, 1) if isinstance(v, float) else v for k, v in figures.items()})
            (_, before), (what, after) = list(lines[-1].items())[1:]
            print(f"{name:<40} {before:>7.1f}  {what}: {after:.1f} ({after / before:.1f} times)", flush=True)
            if options.output:
                found = {"machine": machine(), "units": lines, "models": models_named(lines)}
                options.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
