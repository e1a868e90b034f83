"""Processor time of `tcsmt identify` for catalogue units as boxes, each in a process of its own.

Prints for each its seconds (with solvers' processes), what was found, and digests of the questions with their
answers and of the hypotheses left: two versions with the same digests made the same search.
Usage: python benchmarks/identify_boxes.py [--timeout SECONDS] [UNIT...]
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
from hashlib import sha256
from multiprocessing.connection import Connection

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.kinds import hypotheses_of
from tcsmt.identification.units.search import Identification
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import spent

#: A sample of formats, K and architectures, among them the slowest.
BOXES = (
    "ada/mma.m16n8k16.f16.e4m3.e4m3.f16", "ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "ampere/mma.m16n8k16.f32.f16.f16.f32@valpey", "ampere/mma.m16n8k4.f32.tf32.tf32.f32",
    "ampere/mma.m16n8k16.f32.bf16.bf16.f32", "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e3m2.e3m2",
    "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f16.e4m3.e5m2",
    "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f16.e2m3.e2m1", "hopper/mma.m16n8k16.f16.f16.f16.f16",
    "hopper/mma.m16n8k16.f32.e5m2.e4m3.f32", "hopper/mma.m16n8k32.f16.e5m2.e5m2.f16",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3", "turing/mma.m16n8k8.f32.f16.f16.f32",
    "volta/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f16.f16.f16.f16",
)  # fmt: skip


def _digest(what: object) -> str:
    return sha256(repr(what).encode()).hexdigest()[:12]


def identified(name: str, timeout: float, end: Connection) -> None:
    """Send the seconds and a line."""
    gc.set_threshold(100_000, 20, 20)  # as the command does
    model = row_named(name).model
    kinds = hypotheses_of((*model.operand_formats.parts, model.d_format), model.k)
    found = Identification(kinds, model_box(model), options=SolvingOptions(timeout=timeout)).run()
    seconds = spent()
    asked = _digest([(one.a, one.b, one.c, one.d, one.why) for one in found.exchanges])
    left = _digest([(type(kind).__name__, table.tolist()) for kind, table in found.left.parts])
    many = f"{len(found.exchanges):3} questions {len(found.left):4} left {len(found.catalogue):2} named"
    end.send((seconds, f"{seconds:6.2f} s  {found.verdict:10} {many}  {asked} {left}  {name}"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("boxes", nargs="*", default=BOXES)
    parser.add_argument("--timeout", type=float, default=5.0)
    given = parser.parse_args()
    every = []
    for name in given.boxes:
        here, there = multiprocessing.Pipe()
        child = multiprocessing.Process(target=identified, args=(name, given.timeout, there))
        child.start()
        seconds, line = here.recv()
        child.join()
        every.append(seconds)
        print(line, flush=True)
    print(f"{sum(every) / len(every):6.2f} s on average, {max(every):.2f} s at most, of {len(every)}")


if __name__ == "__main__":
    main()
