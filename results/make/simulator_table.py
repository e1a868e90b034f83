"""Each unit of NVIDIA beside mmasim, as a table: results/benchmarks/simulator.md.

    python results/make/simulator_table.py

It is made from the two runs of benchmarks/simulator.py in results/benchmarks, with AVX2 and with AVX-512.
A unit that is not as fast as we want has the reason beside it, by its parameters.
"""

from __future__ import annotations

import argparse
import json
import sys
from math import floor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from acl2_table import RESULTS, markdown

from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.naming import vendors
from tcsmt.simulate.forms.proved_forms import proved_block, simulation
from tcsmt.support.files import replace_text
from tcsmt.support.invariants import not_none

__all__ = ["PAGE", "page"]

PAGE = RESULTS / "benchmarks" / "simulator.md"
#: The runs, and how many times as fast as mmasim a unit should be: of both kinds of rows, and at mmasim's
#: best batch, where that is asked.
RUNS = {"simulator": ("AVX2", 200, 0), "simulator-avx512": ("AVX-512", 150, 80)}
#: Of normally distributed numbers, of any exponents, and of these at mmasim's best batch.
RATIOS = ("ratio_numbers", "ratio", "ratio_small_batch")
#: What holds a unit back that has no reason of its own.
_THEIRS = "mmasim's own rate, which is higher for some units"
#: So many products in a sum, or fewer, are few.
FEW = 8


def page() -> str:
    """The text."""
    columns = {run: units(run) for run in RUNS}
    head = ["unit"]
    for features, *_ in RUNS.values():
        head += [f"{features}: numbers", "any exponents", "best batch"]
    rows = [(*head, "why not more")]
    for name in columns["simulator"]:
        cells, missed = [f"`{name}`"], set[str]()
        for run, (_, goal, best) in RUNS.items():
            for ratio, least in zip(RATIOS, (goal, goal, best), strict=True):
                value = columns[run][name][ratio]
                short = value < least
                cells.append(f"**{floor(value)}**" if short else f"{floor(value)}")
                missed |= {ratio} if short else set()
        rows.append((*cells, "; ".join(reasons(name, missed))))
    return "\n".join([
        "# NVIDIA's units beside mmasim", "",
        "How many times as many dot-adds per second as mmasim 2.1.1 on the same 262,144 rows, on one core: "
        "of normally distributed numbers, of words with any exponents, and of these where mmasim computes "
        "4,096 rows at a time. Numbers are rounded down. Bold is what falls short of the goal: 200 times "
        "with AVX2; with AVX-512 150 times, and 80 times at the smaller batch (with AVX2 none is asked of "
        "that). `results/make/simulator_table.py` makes this table of `simulator.json` (a Zen 3) and "
        "`simulator-avx512.json` (a Zen 4); the reasons follow from parameters of the units.",
        "", *markdown(rows), "",
    ])  # fmt: skip


def units(run: str) -> dict[str, dict[str, Any]]:
    """The units of NVIDIA below FP64 that mmasim has, too, by their names."""
    found = json.loads((RESULTS / "benchmarks" / f"{run}.json").read_text(encoding="utf-8"))["units"]
    beside = {one["unit"]: one for one in found if "ratio" in one and ".f64." not in one["unit"]}
    return {name: one for name, one in beside.items() if vendors()[name.partition("/")[0]] == "NVIDIA"}


def reasons(name: str, missed: set[str]) -> list[str]:
    """What holds a unit back, of what benchmarks.md names. missed: the ratios that fall short."""
    model = row_named(name).model
    formats = [float_format(fmt) for fmt in (model.a_format, model.b_format)]
    block, found = not_none(proved_block(model)), []
    if simulation(model)["form"] == "groups":
        found.append("only the products are short integers; their sums are aligned by 32-bit integers")
    if len(block.sums[0]) <= FEW:
        found.append(f"{len(block.sums[0])} products in a sum")
    if float_format(model.d_format).width == 16:
        found.append("results rounded to nearest")
    if RATIOS[0] in missed and not found:
        found.append(_THEIRS)
    if missed <= {RATIOS[0]}:
        return found if missed else []
    if any(fmt.exponent_bits == 8 for fmt in formats):
        found.append("with any exponents, most rows are beyond binary32")
    elif formats[0].name == "f16" and float_format(model.c_format).width == 32:
        found.append("with any exponents, some c are too large for the form")
    return found or [_THEIRS]


def main() -> None:
    """Write it."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    replace_text(PAGE, page())


if __name__ == "__main__":
    main()
