"""Names are completed by shells: those that begin so, else those that have it anywhere."""

from __future__ import annotations

import shlex

from click.testing import CliRunner

from tcsmt.interface.cli import main


def completed(*words: str) -> list[str]:
    environment = {
        "_TCSMT_COMPLETE": "bash_complete",
        "COMP_WORDS": shlex.join(["tcsmt", *words]),
        "COMP_CWORD": str(len(words)),
    }
    result = CliRunner().invoke(main, [], env=environment, prog_name="tcsmt")
    return [line.partition(",")[2] for line in result.output.splitlines() if line.startswith("plain")]


def test_names_are_completed() -> None:
    assert completed("compare", "h") == ["hopper", "h100", "h200", "h800", "h20", "haswell"]
    assert completed("explain", "hopper/wgmma.m64nNk8") == ["hopper/wgmma.m64nNk8.f32.tf32.tf32"]
    assert completed("find", "--property", "carry") == ["carry-bits"]
    assert completed("find", "--solver", "cvc") == ["cvc5"]
    assert "ootomo-halfhalf" in completed("accuracy", "bound", "oo")
    assert completed("explain", "nowhere/x") == []


def test_a_part_anywhere_counts_where_no_name_begins_so() -> None:
    assert completed("compare", "blackwell") == ["blackwell"]  # and not rtx-blackwell, which has it later
    assert completed("compare", "orin") == []
    assert "rtx-2080-ti" in completed("describe", "2080")
    found = completed("explain", "ampere/F16.F16")
    assert found and all(name.startswith("ampere/") and "f16.f16" in name for name in found)


def test_the_instruction_that_a_processor_stands_for_is_printed_first() -> None:
    """AMX's and AVX-512's dot products differ: neither is taken without a word."""
    output = CliRunner().invoke(main, ["describe", "x86"]).output
    first, second = output.splitlines()[:2]
    assert first.startswith("x86 has vdpbf16ps, tdpbf16ps") and second == "x86/vdpbf16ps"
    assert CliRunner().invoke(main, ["describe", "x86/tdpbf16ps"]).output.startswith("x86/tdpbf16ps\n")
    assert "emerald rapids" in completed("describe", "emerald")[0].replace("-", " ")
    first, second = CliRunner().invoke(main, ["describe", "emerald-rapids"]).output.splitlines()[:2]
    assert first.startswith("emerald-rapids is Intel Emerald Rapids, and has tdpbf16ps")
    assert second == "x86/tdpbf16ps"
