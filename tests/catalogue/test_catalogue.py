"""The catalogue: every instruction that is published, every GPU by name."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import pytest
from click.testing import CliRunner

from tcsmt.arithmetic.formats import FORMATS
from tcsmt.catalogue import ARCHITECTURES, architecture_named, instruction_named, row_named, rows, rows_of
from tcsmt.catalogue.row import EVIDENCE
from tcsmt.cli import main
from tcsmt.interpret.exact import evaluate
from tcsmt.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, IntegerDotAdd

#: Khattak and Mikaitis, Table II; MMA-Sim, section IV; and relatives of the same architecture.
NAMED = {
    "volta": ["V100", "Titan V"],
    "turing": ["T4", "RTX 2080 Ti"],
    "ampere": ["A100", "A2", "A30", "A10", "A40", "RTX 3080", "RTX A6000"],
    "ada": ["L40S", "RTX 4090", "RTX 1000 Ada"],
    "hopper": ["H100", "H200", "GH200"],
    "blackwell": ["B200"],
    "rtx-blackwell": ["RTX 5090", "RTX PRO 6000"],
    "cdna1": ["MI100", "gfx908"],
    "cdna2": ["MI210", "MI250", "MI250X", "gfx90a"],
    "cdna3": ["MI300A", "MI300X", "gfx942"],
    "rdna3": ["Radeon Pro W7900", "gfx1100"],
    "rdna4": ["Radeon AI Pro R9700", "gfx1201"],
    "riscv": ["RISC-V", "Spike"],
    "wormhole": ["n150", "n300"],
    "blackhole": ["p100", "p150", "p300"],
}


@pytest.mark.parametrize("architecture", NAMED)
def test_gpus_by_name(architecture: str) -> None:
    assert architecture in ARCHITECTURES
    for name in NAMED[architecture]:
        for spelled in (name, name.lower(), name.replace(" ", "-"), name.replace(" ", "")):
            assert architecture_named(spelled) == architecture
    assert rows_of(NAMED[architecture][0])


def test_how_many_instructions() -> None:
    """As many as mmasim 2.1.1 has (one for all m and n), FP8 through mma.sync, and what it does not have."""
    floating = (row for row in rows(claims=False) if not isinstance(row.model, IntegerDotAdd))
    count = Counter(row.architecture for row in floating)
    fp8 = 16
    assert count == {
        "volta": 3, "turing": 5, "ampere": 9, "ada": 9 + 16, "hopper": 12 + 12 + fp8,
        "blackwell": 9 + 54 + 29 + fp8, "rtx-blackwell": 9 + 16 + 50 + 29,
        "cdna1": 15, "cdna2": 22, "cdna3": 27, "rdna3": 4 * 3, "rdna4": 4 * 3 + 4, "x86": 3, "arm": 10 + 16,
        "riscv": 5 * 5, "wormhole": 24, "blackhole": 24,
    }  # fmt: skip


def test_names_and_models_agree() -> None:
    """Types, k and scales are as the instruction's name says."""
    amd = {"xf32": "tf32", "fp8": "e4m3fnuz", "bf8": "e5m2fnuz"}
    for row in rows():
        model, name = row.model, row.instruction.partition("@")[0]
        if isinstance(model, IntegerDotAdd):
            continue  # tests/catalogue/test_integer_rows.py
        if row.architecture.startswith("cdna"):
            found = re.fullmatch(
                r"v_mfma_(f\d\d)_\d+x\d+x(\d+)(?:_\d+b)?_?(bf16|x?f\d\d|[fb]p?[f8]?8)(?:_([fb]p?[f8]?8))?(_1k)?",
                name,
            )
            assert found, name
            d, k, a, b, _ = found.groups()
            assert (model.d_format.name, model.k) == (d, int(k)), name
            assert model.a_format.name == amd.get(a, a), name
            assert model.b_format.name == amd.get(b or a, b or a), name
        elif name.startswith("mvmul"):
            registers = {"f32": "e8m23fn", "tf32": "e8m10fn", "bf16": "e8m7fn", "f16": "e5m10fn"}
            _, d, source, _ = name.split(".")
            assert (model.d_format.name, model.c_format.name) == (registers[d], registers[d]), name
            assert (model.a_format.name, model.b_format.name) == (registers[source],) * 2, name
            assert model.k == 16
        elif row.architecture.startswith("rdna"):
            found = re.fullmatch(
                r"v_(dot2|dot4|wmma)_(b?f\d\d)(?:_\d+x\d+x16)?_(bf16|f16|[fb][pf]8)(_[fb][pf]8)?(_w\d\d)?",
                name,
            )
            assert found, name
            kind, d, a, b, _ = found.groups()
            fp8 = {"fp8": "e4m3", "bf8": "e5m2"}
            lengths = {"dot2": 2, "dot4": 4, "wmma": 16}
            assert (model.d_format.name, model.c_format.name, model.k) == (d, d, lengths[kind]), name
            b = (b or a).removeprefix("_")
            assert (model.a_format.name, model.b_format.name) == (fp8.get(a, a), fp8.get(b, b)), name
        elif row.architecture == "riscv":
            assert (
                name == f"rvbna.n{model.k}.{model.d_format.name}.{model.a_format.name}.{model.b_format.name}"
            )
        elif row.architecture in ("x86", "arm"):
            parts = [part for part in name.split(".") if part in FORMATS]
            formats = [f.name for f in (model.d_format, model.a_format, model.b_format)]
            assert parts in ([], formats), name
            factor = "bf16" if "bf" in name else "f16"
            assert parts or set(formats) == {"f32", factor}, name
        else:
            types = [t for t in name.split(".") if not re.match("mma|wgmma|tcgen05|m|kind|block", t)]
            formats = [model.d_format, model.a_format, model.b_format, model.c_format]
            expected = [f.name for f in formats[: 4 if name.startswith("mma") else 3]]
            scale = [] if model.scale_format is None else [model.scale_format.name]
            assert types == expected + scale, name
            assert re.search(rf"k{model.k}\b", name), name
            block = re.search(r"block(\d+)", name)
            assert model.scales == (model.k // int(block[1]) if block else 0), name


def test_every_row_says_where_it_comes_from() -> None:
    for row in rows():
        assert row.source and row.evidence in EVIDENCE, row.name
        if row.architecture.startswith("cdna"):
            assert row.evidence == "published" and row.note, row.name
        if row.status != "accepted":
            assert row.note, row.name
            # what its own maker contradicts has a claim beside it
            assert "@" in row.instruction or any(c.name.startswith(f"{row.name}@") for c in rows()), row.name


def result(name: str, a: list[float], b: list[float], c: float) -> Fraction:
    """A unit's result on values; the other lanes are zero."""
    model = row_named(name).model
    zeros = [0.0] * (model.k - len(a))
    values = [*a, *zeros, *b, *zeros, c]
    formats = model.input_formats.values()
    words = [fmt.word(Fraction(value)) for fmt, value in zip(formats, values, strict=True)]
    names = dict(zip(model.input_names, words, strict=True))
    return model.d_format.value(evaluate([model.trace.output], names)[0])


def test_the_paper_s_example_of_rounding_down() -> None:
    """2048·2048 - 2048·2048 - 10^-6 on CDNA3 gives -0.25 (MMA-Sim, V-C); the others give c."""
    small = -(2.0**-20)
    a, b = [2048.0, 2048.0], [2048.0, -2048.0]
    for types in ("f16", "bf16", "xf32"):
        assert result(
            f"cdna3/v_mfma_f32_{'32x32x4' if types == 'xf32' else '32x32x8'}_{types}", a, b, small
        ) == (Fraction(-1, 4))
    for exact in ("cdna1/v_mfma_f32_32x32x8f16", "cdna2/v_mfma_f32_32x32x8f16"):
        assert result(exact, a, b, small) == Fraction(small)


def test_cdna2_flushes_subnormal_numbers() -> None:
    """MMA-Sim, V-B: a subnormal FP16 operand is zero on CDNA2, and counts on CDNA1 and CDNA3."""
    tiny = 2.0**-20
    assert result("cdna2/v_mfma_f32_32x32x8f16", [tiny], [1.0], 0.0) == 0
    assert result("cdna1/v_mfma_f32_32x32x8f16", [tiny], [1.0], 0.0) == Fraction(tiny)
    assert result("cdna3/v_mfma_f32_32x32x8_f16", [tiny], [1.0], 0.0) == Fraction(tiny)


def test_kinds() -> None:
    """Which arithmetic belongs to which instruction."""
    assert isinstance(row_named("mi300x").model, DotThenAdd)
    assert isinstance(row_named("mi250x").model, IeeeDotAdd)
    assert isinstance(instruction_named("h100", "m16n8k16.f64").model, IeeeDotAdd)
    nvfp4 = instruction_named("rtx 5090", "mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model
    assert isinstance(nvfp4, FusedDotAdd)
    assert (nvfp4.group, nvfp4.scales, nvfp4.enough_carry_bits) == (16, 4, 3)


def test_a_table_for_documents() -> None:
    """``tcsmt models --markdown``: the units, then the claims."""
    done = CliRunner().invoke(main, ["models", "--markdown"])
    assert done.exit_code == 0
    units, claims = done.stdout.split("\n\n")
    assert (
        "| volta | `mma.m8n8k4` | f16 → f32 | 4 | 4 | 23 | -131 | fused | measured: v100_f16_f32 |" in units
    )
    assert claims.count("\n| `") == sum("@" in row.instruction for row in rows())
