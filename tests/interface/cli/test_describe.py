"""``tcsmt describe``: a unit's parameters in the papers' conventions."""

from __future__ import annotations

import json

import pytest

from tests.support.command_line import done, refused

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
#: F, n_eab, product alignment, bits kept, carry bits, accumulator, its integer.fraction, Fasi et al.'s.
CONVENTIONS: dict[str, tuple[object, ...]] = {
    "volta": (23, 0, "(2,23), 25", 24, "3 = ceil(log2(4 + 1))", 28, "{5.23}", "{4.23}"),
    "ampere": (24, 1, "(2,24), 26", 25, "4 = ceil(log2(8 + 1))", 30, "{6.24}", "{5.24}"),
    "hopper": (25, 2, "(2,25), 27", 26, "5 = ceil(log2(16 + 1))", 32, "{7.25}", "{6.25}"),
}


@pytest.mark.parametrize("arch", CONVENTIONS)
def test_describe(arch: str) -> None:
    text = done("describe", arch)
    f, extra, product, kept, carry, wide, integer, fasi = CONVENTIONS[arch]
    for part in (
        f"alignment fraction bits F: {f} ",
        f"extra alignment bits n_eab = F - 23: {extra} ",
        f"product alignment (integer, fraction bits): {product} bits wide\n",
        f"significand in [1, 2): {kept} ",
        f"carry bits above the two integer bits: {carry}\n",
        f"accumulator: {wide} bits and a sign; as {{integer.fraction}}: {integer}\n",
        f"Fasi et al. count from normalised terms: {fasi}\n",
        "final rounding: RTZ at fraction bit 23 of f32\n",
        f"    fraction_bits = {f}\n",
        "\nother instructions:\n",
    ):
        assert part in text, part


def test_describe_an_instruction() -> None:
    text = done("describe", "h200", "wgmma.m64n128k32.f32.e4m3.e4m3")
    assert text.startswith("hopper/wgmma.m64nNk32.f32.e4m3.e4m3\n")
    assert "n_eab = F - 23: -10 " in text
    assert "final rounding: RTZ at fraction bit 13 of f32" in text
    assert "other instructions" not in text
    dealt = done("describe", "b200", "mma.m16n8k32.f16.e5m2.e5m2.f16")
    assert "N_FMA: 16 of K = 32: 2 sums, lanes dealt in groups of 2" in dealt
    data = json.loads(done("describe", "volta", f"{VOLTA[6:]}@fasi", "--json"))
    assert (data["status"], data["model"]["kind"]) == ("refuted", "ieee-dot-add")


def test_sources_as_bibtex() -> None:
    """With --cite; a format has no sources."""
    text = done("describe", "volta", "--cite")
    assert text.startswith(f"% {VOLTA}: MMA-Sim") and "@misc{xie2025," in text and "2511.10909" in text
    data = json.loads(done("describe", "volta", "--cite", "--json"))
    assert [entry["key"] for entry in data["citations"]] == ["xie2025", "khattak2025", "mmasim"]
    assert "exclude each other" in refused("describe", "--format", "f16", "--cite")
