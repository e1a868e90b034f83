"""The page of compiled kernels is made from what was read; one of its kernels is read anew."""

from __future__ import annotations

import json

from compiled_kernels import PAGE, cell, page, reason

from tests.support.results import RESULTS


def test_the_page_is_that_of_the_measurements() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python results/make/compiled_kernels.py"


def test_every_kernel_has_a_program_or_a_reason_for_each_target() -> None:
    kernels = json.loads((RESULTS / "compiled" / "kernels.json").read_text(encoding="utf-8"))["kernels"]
    for by_target in kernels.values():
        assert len(by_target) == 5
        for one in by_target.values():
            assert bool(one.get("program")) != bool(one.get("reason"))


def test_cells_say_what_was_read_and_why_not() -> None:
    read = {"compiled": True, "units": ["hopper/wgmma.x"], "program": ["d"], "freedoms": ["contraction"]}
    reasons: dict[str, int] = {}
    assert cell(read, reasons) == "`wgmma.x`; 1 step, `contraction` open"
    refused = {
        "compiled": True,
        "reason": "line 5 (k.py:3): atom.add: unknown instruction 'atom.add': nearest",
    }
    assert (cell(refused, reasons), cell(refused, reasons)) == ("1", "1")
    assert reason(refused) == "`atom.add`: not read yet"
    assert reason({"compiled": True, "reason": "line 5: a is declared twice"}) == "a is declared twice"
    assert reason({"compiled": False, "reason": 'ValueError("no")'}) == "Triton does not compile it: no"
