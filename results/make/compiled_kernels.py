"""Triton's kernels as they are read, as a table: docs/reference/compiled-kernels.md.

    python results/make/compiled_kernels.py

It is made from results/compiled/kernels.json: of each kernel and target, the units and the program of the
first element of block (0, 0, 0), or why there is none.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from acl2_table import RESULTS, markdown

from tcsmt.support.files import replace_text

__all__ = ["PAGE", "page"]

PAGE = RESULTS.parent / "docs" / "reference" / "compiled-kernels.md"
_TARGETS = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")
#: Of an error that names an instruction: line, source, and the instruction.
_AT = re.compile(r"line \d+(?: \([^)]*\))?: ([a-z][\w.:]*): (.*)")


def page() -> str:
    """The text."""
    kernels = json.loads((RESULTS / "compiled" / "kernels.json").read_text(encoding="utf-8"))
    rows = [("kernel", *(f"`{target}`" for target in _TARGETS))]
    reasons: dict[str, int] = {}
    for name, by_target in kernels["kernels"].items():
        rows.append((name, *(cell(by_target[target], reasons) for target in _TARGETS)))
    read = [one for by_target in kernels["kernels"].values() for one in by_target.values()]
    count = sum("program" in one for one in read)
    return "\n".join([
        "# Kernels that are read", "",
        f"What [`tcsmt kernel read`](../howto/compiled.md) makes of the PTX of {len(kernels['kernels'])} "
        f"kernels that {kernels['compiler']} compiles for five targets: {count} of {len(read)} are read. A "
        "cell has the unit that multiplies (after the architecture's name) and how many steps the program of "
        "one element has; a number is the reason why there is none.", "",
        *markdown(rows), "",
        *(f"{number}. {reason}" for reason, number in reasons.items()), "",
        "The kernels' sources are `results/compiled/triton_kernels.txt`; "
        "`python results/make/compiled_kernels.py` makes this page.", "",
    ])  # fmt: skip


def cell(one: dict[str, Any], reasons: dict[str, int]) -> str:
    """What was read, or the number of the reason why nothing was."""
    if "program" not in one:
        return str(reasons.setdefault(reason(one), len(reasons) + 1))
    units = ", ".join(f"`{unit.partition('/')[2]}`" for unit in one["units"]) or "`fma.rn.f32`"
    steps = f"{len(one['program'])} step{'s' * (len(one['program']) > 1)}"
    freedoms = "".join(f", `{name}` open" for name in one["freedoms"])
    return f"{units}; {steps}{freedoms}"


def reason(one: dict[str, Any]) -> str:
    """Why a kernel is not read, without its lines."""
    text = str(one["reason"])
    if not one["compiled"]:
        return "Triton does not compile it: " + text.removeprefix('ValueError("').removesuffix('")')
    found = _AT.match(text)
    if found is None:
        return re.sub(r"^line \d+: ", "", text)
    why = found[2]
    return f"`{found[1]}`: " + ("not read yet" if why.startswith("unknown instruction") else why)


def main() -> None:
    """Write the page."""
    ArgumentParser(description=__doc__).parse_args()
    replace_text(PAGE, page())


if __name__ == "__main__":
    main()
