"""A row in words: where it comes from, and its parameters in every convention."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.catalogue.description import description, row_as_json
from tcsmt.simulate.forms.proved_forms import simulation


def described(name: str) -> str:
    row = row_named(name)
    return description(row, simulation(row.model))


def test_conventions_of_a_fused_unit_by_hand() -> None:
    """Volta: F = 23, N_FMA = 4 and c: three carry bits, ceil(log2(5)); two integer bits."""
    text = described("volta/mma.m8n8k4.f32.f16.f16.f32")
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "volta/mma.m8n8k4.f32.f16.f16.f32"
    assert "evidence: measured on v100_f16_f32" in lines
    assert "alignment fraction bits F: 23   (MMA-Sim)" in lines
    assert "extra alignment bits n_eab = F - 23: 0   (Khattak and Mikaitis)" in lines
    assert "product alignment (integer, fraction bits): (2,23), 25 bits wide" in lines
    assert "carry bits above the two integer bits: 3 = ceil(log2(4 + 1))" in lines
    assert "accumulator: 28 bits and a sign; as {integer.fraction}: {5.23}" in lines
    assert "block FMA size N_FMA: 4 of K = 4: one fused sum" in lines
    assert "final rounding: RTZ at fraction bit 23 of f32" in lines
    assert "fraction_bits = 23" in lines


@pytest.mark.parametrize(("name", "said"), [
    ("ampere/mma.m16n8k16.f32.f16.f16.f32", "block FMA size N_FMA: 8 of K = 16: 2 chained sums of contig"),
    ("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", "sums, lanes dealt in groups of"),
    ("ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "final rounding: RTZ at fraction bit 13 of f32"),
    ("cdna2", "arithmetic: "), ("x86/tdpbf16ps@guide", "status: refuted"),
])  # fmt: skip
def test_descriptions_state_order_rounding_and_status(name: str, said: str) -> None:
    assert said in described(name)


def test_conventions_are_those_of_one_fused_sum_alone() -> None:
    assert "conventions:" not in described("cdna3")
    assert "conventions:" in described("hopper")


def test_an_accepted_row_says_that_it_is_disputed() -> None:
    """Not where outputs of the hardware support it; a disputed model says it of itself."""
    name = "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
    text = described(name)
    assert "\n  status: accepted, disputed\n" in text
    assert f"\n  disputed by: {name}@sf-tensor: zero terms do not enter the maximum; c does only" in text
    assert "\n  status: disputed\n" in described(f"{name}@sf-tensor")
    measured = row_named("volta/mma.m8n8k4.f16.f16.f16.f16")
    assert row_as_json(measured)["disputed_by"] == []
    assert "\n  status: accepted\n" in described(measured.name)


def test_a_unit_with_a_form_in_floating_point_operations_says_so() -> None:
    """Another unit says why it has none."""
    own = "the processor's IEEE operations:"
    for name, text in {
        "hopper": "floating-point instructions: proved to give the same words",
        "ampere/mma.m8n8k4.f64.f64.f64.f64": f"{own} each operation is one of IEEE 754",
        "hopper/mma.m8n8k4.f64.f64.f64.f64": f"{own} proved to give the same words but",
        "riscv/rvbna.n2.f32.bf16.bf16": "integer instructions: negative_zero = True",
        "volta/mma.m8n8k4.f32.f16.f16.f32@valpey": "integer instructions: products = normalised",
        "hopper/wgmma.m64nNk32.s32.s8.s8": "integer instructions: an exact sum of integer products and c",
    }.items():
        assert f"\n  simulator: {text}" in described(name)


def test_the_markdown_table_lists_units_and_claims() -> None:
    """``tcsmt models --markdown``: the units, then the claims."""
    done = CliRunner().invoke(main, ["models", "--markdown"])
    assert done.exit_code == 0
    units, claims = done.stdout.split("\n\n")
    assert (
        "| volta | `mma.m8n8k4` | f16 → f32 | 4 | 4 | 23 | -131 | fused | measured: v100_f16_f32 |" in units
    )
    assert claims.count("\n| `") == sum("@" in row.instruction for row in rows())
