"""Dot-adds per second on one core, beside mmasim 2.1.1 in the same process, and a whole GEMM.

    python benchmarks/simulator.py [--rows N] [--only TEXT] [--large] [--output FILE]

The peer needs the extra ``oracle`` (mmasim, PyTorch); without it the table has no ratios. Process
and peer are pinned to one processor. ``ops`` counts the term graph's operations in one dot-add
without NaNs and infinities (words beyond 32 bits twice); ``of peak`` is their rate as a share of
what this processor does in a loop of independent vector additions and exclusive ors. The peer is
measured on the same rows, and once more on a batch so small that it stays in the caches. The rows have any
exponents; ``numbers`` is the rate, and the ratio, for rows of normally distributed numbers. ``gemm`` is the
rate of a matrix product, and ``by integers`` that of the same product without floating-point instructions; of
units that have no form in those, both are the same code. ``of float peak`` is a product's rate, in
multiplications of operands, as a share of the multiply-adds of binary32 that this processor does in a loop of
independent ones.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TCSMT_THREADS"] = "1"
ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

# isort: off
import numpy as np
from machine import machine

from tests.oracles import against_mmasim as oracle
import tcsmt
from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import operand_words, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.forms.proved_forms import with_canonical_nan
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.write.llvm import container, native
from tcsmt.simulate import compiled, matmul
from tcsmt.simulate import rows as simulator
from tcsmt.simulate.compiled import kernel
from tcsmt.language.terms import FALSE, operands_first, substitute

#: Sizes of large products, and numbers of threads.
LARGE = ((4096, 1), (4096, 2), (8192, 1))
#: Rows of a batch that stays in the caches, where the peer is at its best.
SMALL = 1 << 14
COLD = """
import time; start = time.process_time()
import numpy as np, tcsmt
from tcsmt.matrix_units.catalogue.digests import models_named
a = np.ones((100_000, 16), np.float16)
tcsmt.unit("hopper")(a, a)
print(time.process_time() - start)
"""


def rate(run: Callable[[], object], count: int, least: float = 0.25) -> float:
    """Best of several runs, in millions a second of processor time, of which others take nothing."""
    run()
    best, spent = float("inf"), 0.0
    while spent < least:
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
        spent += best
    return count / best / 1e6


def operations(row: Row) -> int:
    """Operations in one dot-add on numbers."""
    trace = (with_canonical_nan(row.model) or row.model).trace
    ((root,),) = fitted([trace.output], native)
    formats = row.model.input_formats.values()
    flags = [
        flag
        for term, fmt in zip(trace.inputs, formats, strict=True)
        for x in [decode(fmt, term)]
        for flag in (x.infinite, x.nan)
    ]
    (plain,) = substitute([root], dict.fromkeys(flags, FALSE))
    nodes = [node for node in operands_first([plain]) if node.args]
    count = sum(
        max(1, len(node.args) - 1) if node.op in ("add", "and", "or", "umax") else 1 for node in nodes
    )
    return count + sum(1 for node in nodes if container(node.width) > 32)


#: Chains of operations in a loop that measures a peak, enough to hide their latency, and few enough for the
#: sixteen registers of a processor with short vectors.
CHAINS, ROUNDS = 12, 1 << 20


def peak(element: str, *steps: str) -> float:
    """Operations of a loop of independent chains in a second, in millions of elements of 32 bits.

    steps: of a chain, one after the other, of a vector {x}, with another one, %s. One operation each.
    """
    size = jit.vector_bits() // 32
    kind, names = f"<{size} x {element}>", range(CHAINS)
    starts, phis, body, stores = [], [], [], []
    for i in names:
        starts += [
            f"  %p{i} = getelementptr {kind}, ptr %p, i64 {i}",
            f"  %s{i} = load {kind}, ptr %p{i}, align 4",
        ]
        phis.append(f"  %x{i}.0 = phi {kind} [%s{i}, %entry], [%x{i}.{len(steps)}, %loop]")
        stores.append(f"  store {kind} %x{i}.{len(steps)}, ptr %p{i}, align 4")
    for number, step in enumerate(steps):
        body += [
            f"  %x{i}.{number + 1} = {step.format(kind=kind, x=f'%x{i}.{number}', size=size)}" for i in names
        ]
    text = "\n".join([
        f"declare <{size} x float> @llvm.fmuladd.v{size}f32({', '.join([f'<{size} x float>'] * 3)})",
        "define void @loop(ptr %p) {", "entry:", f"  %s = load {kind}, ptr %p, align 4", *starts,
        "  br label %loop", "loop:", "  %n = phi i64 [0, %entry], [%m, %loop]", *phis, *body,
        "  %m = add i64 %n, 1", f"  %c = icmp ult i64 %m, {ROUNDS}", "  br i1 %c, label %loop, label %exit",
        "exit:", *stores, "  ret void", "}",
    ])  # fmt: skip
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(jit.functions(text, ["loop"])["loop"])
    data = np.empty((CHAINS, size), dtype=np.float32)

    def run() -> None:
        data[:] = 0.5
        call(data.ctypes.data)

    return rate(run, CHAINS * size * len(steps) * ROUNDS)


#: Additions and exclusive ors of integers; multiply-adds of binary32.
INTEGERS = ("i32", "add {kind} {x}, %s", "xor {kind} {x}, %s")
FLOATS = ("float", "call {kind} @llvm.fmuladd.v{size}f32({kind} {x}, {kind} %s, {kind} %s)")


def target(row: Row) -> float:
    """How many times mmasim's rate the project wants."""
    model = row.model
    if model.a_format.name in ("f64", "f32") or row.architecture == "cdna2":
        return 3
    if row.architecture == "cdna1":
        return 10
    return 30 if row.architecture == "cdna3" else 100


def chosen(only: str) -> list[Row]:
    """One row of each distinct arithmetic; of those that differ in narrow operands alone, one kind."""
    seen, found = set(), []
    for row in rows():
        if (
            "@" not in row.instruction
            and row.model not in seen
            and only in row.name
            and isinstance(row.model.a_format, Format)  # the peer's integers are PyTorch's
            and oracle.principal(row)
        ):
            seen.add(row.model)
            found.append(row)
    return found


def products(model: Model, chains: int = 256, steps: int = 64) -> dict[str, float]:
    """Dot-adds of a square product in a second, in millions: as it is computed, and by integers alone."""
    if model.c_format != model.d_format or model.scale_format is not None:
        return {}
    rng = np.random.default_rng(0)

    def matrix(fmt: Format, shape: tuple[int, int]) -> Any:
        numbers = rng.standard_normal(shape)
        return operand_words(fmt, numbers, "numbers", "nearest-even")

    length = steps * model.k
    a, b = matrix(model.a_format, (chains, length)), matrix(model.b_format, (length, chains))
    words = Operands(a, b, np.zeros((chains, chains), unsigned(model.d_format)))
    run = lambda: matmul.chain_words(model, words, matmul.Progress(1, None))  # noqa: E731
    count, rates, usual = chains * chains * steps, {}, compiled.usual_floats
    for name, floats in (("gemm", usual), ("gemm_by_integers", lambda: False)):
        compiled.usual_floats = floats
        rates[name] = rate(run, count)
    compiled.usual_floats = usual
    return rates


def numbers(model: Model, count: int) -> oracle.Words:
    """Rows of normally distributed numbers; scales of 1."""
    rng = np.random.default_rng(0)

    def words(fmt: Any, *shape: int) -> Any:
        return operand_words(fmt, rng.standard_normal(shape), "numbers", "nearest-even")

    scales: list[Any] = [None, None]
    if model.scale_format is not None:
        one = np.ones((count, model.scales))
        scales = [operand_words(model.scale_format, one, "scales", "nearest-even") for _ in "ab"]
    return oracle.Words(
        words(model.a_format, count, model.k), words(model.b_format, count, model.k),
        words(model.c_format, count), *scales,
    )  # fmt: skip


def throughput(row: Row, count: int, most: float, most_floats: float) -> dict[str, Any]:
    """One line of the table."""
    model = row.model
    words = oracle.draw(model, count, "normal", np.random.default_rng(0))
    arrays = [array for array in words if array is not None]
    small = oracle.Words(*(None if array is None else array[:SMALL] for array in words))
    kernel(with_canonical_nan(model) or model)  # what is timed is compiled
    operands = Operands(*arrays)
    columns = [
        column for array in small if array is not None for column in (array.T if array.ndim > 1 else [array])
    ]
    program = simulator._program(model)
    values = dict(zip(model.input_names, columns, strict=True))
    line: dict[str, Any] = {"unit": row.name, "K": model.k, "rows": count}
    line["tcsmt"] = rate(lambda: simulator.run_words(model, operands), count)
    line["numpy"] = rate(lambda: program.run(values), SMALL)
    usual = numbers(model, count)
    usual_operands = Operands(*(array for array in usual if array is not None))
    line["tcsmt_numbers"] = rate(lambda: simulator.run_words(model, usual_operands), count)
    line |= products(model)
    if "gemm" in line:
        line["of_float_peak"] = line["gemm"] * model.k / most_floats
    line["operations"] = operations(row)
    line["of_peak"] = line["tcsmt"] * line["operations"] / most
    try:
        import torch

        torch.set_num_threads(1)
        unit = oracle.unit_of(row)
    except ImportError:
        unit = None
    if unit is not None:
        theirs = oracle.answer(unit, model, words)
        ours = simulator.run_words(model, operands)
        line["differences"] = int(np.count_nonzero(oracle.differing(row, ours, theirs)))
        line["mmasim"] = rate(lambda: oracle.answer(unit, model, words), count)
        line["mmasim_numbers"] = rate(lambda: oracle.answer(unit, model, usual), count)
        line["ratio_numbers"] = line["tcsmt_numbers"] / line["mmasim_numbers"]
        line["mmasim_small_batch"] = rate(lambda: oracle.answer(unit, model, small), SMALL)
        line["ratio"], line["target"] = line["tcsmt"] / line["mmasim"], target(row)
        line["ratio_small_batch"] = line["tcsmt"] / line["mmasim_small_batch"]
    return line


def whole_gemm(size: int, threads: int = 1) -> dict[str, Any]:
    """A square Hopper GEMM: seconds of processor time and of the clock, the process's largest memory, and how
    much of that is beside A, B and D.
    """
    code = (
        f"import os, resource, time; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{threads}])\n"
        "import numpy as np, tcsmt\n"
        "rng = np.random.default_rng(0)\n"
        f"draw = lambda: rng.standard_normal(({size}, {size}), np.float32).astype(np.float16)\n"
        "a, b = draw(), draw()\n"
        "start, spent = time.perf_counter(), time.process_time(); d = tcsmt.gemm(a, b, unit='hopper')\n"
        "print(time.process_time() - spent, time.perf_counter() - start,\n"
        "      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, a.nbytes + b.nbytes + d.nbytes)"
    )
    environment = {**os.environ, "TCSMT_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    seconds, elapsed, kib, held = map(float, done.stdout.split())
    return {
        "size": size, "threads": threads, "dot_adds": size**3 // 16, "seconds": round(seconds, 2),
        "elapsed": round(elapsed, 2), "MiB": round(kib / 1024),
        "MiB_beside": round(kib / 1024 - held / 2**20),
    }  # fmt: skip


def first_calls() -> dict[str, float]:
    """A cold process's first 100,000 dot-adds: with an empty cache, and with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TCSMT_CACHE": folder}
        times = [
            subprocess.run(
                [sys.executable, "-c", COLD],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for _ in range(2)
        ]
    return {name: round(float(text), 2) for name, text in zip(("compiled", "cached"), times, strict=True)}


def main() -> None:
    """Print the table; write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1 << 18)
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--large", action="store_true", help="whole products up to 8192 × 8192 × 8192, too")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    calls = first_calls()
    large = [whole_gemm(*size) for size in LARGE] if options.large else []
    product = whole_gemm(1024)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    most, most_floats = peak(*INTEGERS), peak(*FLOATS)
    found: dict[str, Any] = {
        "machine": machine(), "tcsmt": tcsmt.__version__, "peak": round(most),
        "float_peak": round(most_floats),
        "without_features": os.environ.get("TCSMT_DISABLE_CPU_FEATURES", ""),
        "first_call_seconds": calls, "gemm": product, "large": large, "units": [],
    }  # fmt: skip
    print(f"first call: {calls['compiled']} s, cached {calls['cached']} s")
    print(f"Hopper f16 GEMM of 1024^3 ({product['dot_adds'] / 1e6:.0f} M dot-adds): {product['seconds']} s, "
          f"{product['MiB']} MiB")  # fmt: skip
    for one in large:
        speed = one["dot_adds"] / one["elapsed"] / 1e6
        print(f"{one['size']}^3, threads: {one['threads']}: {speed:.0f} M dot-adds/s, "
              f"{one['MiB_beside']} MiB beside A, B and D")  # fmt: skip
    print(f"peak: {most / 1e3:.0f} G element operations/s; {most_floats / 1e3:.0f} G multiply-adds/s\n")
    head = f"{'unit (millions of dot-adds a second)':<66} {'tcsmt':>7} {'mmasim':>7} {'ratio':>6} {'want':>5}"
    head = f"{head} {'small':>7} {'ratio':>6} {'NumPy':>6} {'ops':>5} {'of peak':>7}"
    print(f"{head} {'numbers':>7} {'ratio':>6} {'gemm':>7} {'by integers':>11} {'of float peak':>13}")
    for row in chosen(options.only):
        line = throughput(row, options.rows, most, most_floats)
        found["units"].append({k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()})
        peer = " " * 35
        if "ratio" in line:
            peer = f"{line['mmasim']:>7.2f} {line['ratio']:>6.0f} {line['target']:>5.0f}"
            peer += f" {line['mmasim_small_batch']:>7.2f} {line['ratio_small_batch']:>6.0f}"
        wrong = f"  {line['differences']} DIFFER" if line.get("differences") else ""
        own = f"{line['numpy']:>6.2f} {line['operations']:>5} {line['of_peak']:>7.0%}"
        own += f" {line['tcsmt_numbers']:>7.1f} {line.get('ratio_numbers', 0):>6.0f}"
        if "gemm" in line:
            own += f" {line['gemm']:>7.1f} {line['gemm_by_integers']:>11.1f} {line['of_float_peak']:>13.0%}"
        own += wrong
        print(f"{row.name:<66} {line['tcsmt']:>7.1f} {peer} {own}", flush=True)
        if options.output:
            found["models"] = models_named(found["units"])
            options.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
