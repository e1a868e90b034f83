"""Exact sums of products in binary64, beside the same sums by integers, in one process.

    python benchmarks/exact_sums.py [--only TEXT] [--output FILE]

Of normally distributed numbers, in millions of dot-adds of one instruction a second of processor time, on one
thread: rows, and square products of matrices whose c begins with zero. Only units whose forms are proved run
on them.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

os.environ["TCSMT_THREADS"] = "1"

# isort: off
from machine import machine
from simulator import numbers, products, rate

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.models import Operands
from tcsmt.matrix_units.models.proved_forms import simulation
from tcsmt.simulate import compiled

#: One unit of each shape: c in the sum, or added last.
UNITS = (
    "arm/bfdot.ebf1", "arm/bfmmla.ebf1", "arm/fmopa.f32.f16.f16", "arm/fdot.f32.e4m3.e4m3",
    "arm/fdot.f32.e5m2.e5m2", "cdna1/v_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_16x16x16f16",
    "cdna1/v_mfma_f32_32x32x4bf16",
)  # fmt: skip
#: Rows of a measurement.
COUNT = 1 << 17


def line(name: str) -> dict[str, Any]:
    """The figures of one unit."""
    model = row_named(name).model
    words = Operands(*(array for array in numbers(model, COUNT) if array is not None))
    code = compiled.kernel(model)
    figures: dict[str, Any] = {"unit": name, "form": simulation(model)["form"]}
    figures["rows"] = rate(lambda: code.rows(words.parts), COUNT)
    figures["rows_by_integers"] = rate(lambda: code._rows_by_integers.run(words.parts), COUNT)
    return figures | products(model)


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
            print(*lines[-1].values(), flush=True)
    if options.output:
        found = {"machine": machine(), "units": lines, "models": models_named(lines)}
        options.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
