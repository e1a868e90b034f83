"""Exact sums of products, and sums rounded to odd, in binary64, beside the same by integers, in one process.

    python benchmarks/exact_sums.py [--only TEXT] [--output FILE]

Of normally distributed numbers, in millions of dot-adds of one instruction a second of processor time, on one
thread: rows, and square products of matrices whose c begins with zero. Only units whose forms are proved run
on them.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["TCSMT_THREADS"] = "1"

# isort: off
from simulator import numbers, products, rate
from unit_lines import measure

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.forms.proved_forms import simulation
from tcsmt.simulate import compiled

#: One unit of each shape: c added last, or in the sum; results of binary16; sums rounded to odd.
UNITS = (
    "arm/bfdot.ebf1", "arm/bfmmla.ebf1", "arm/fmopa.f32.f16.f16", "arm/fdot.f32.e4m3.e4m3",
    "arm/fdot.f32.e5m2.e5m2", "cdna1/v_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_16x16x16f16",
    "cdna1/v_mfma_f32_32x32x4bf16", "arm/fdot.f16.e4m3.e4m3", "arm/fdot.f16.e5m2.e5m2", "arm/bfdot.ebf0",
    "arm/bfmmla.ebf0",
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


def shown(figures: dict[str, Any]) -> str:
    """A line of the table."""
    return " ".join(map(str, figures.values()))


def main() -> None:
    """Measure the units, and write what was found."""
    measure(__doc__, UNITS, line, shown)


if __name__ == "__main__":
    main()
