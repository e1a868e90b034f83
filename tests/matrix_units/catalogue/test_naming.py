"""Names that people type, of GPUs and processors: brands, forms, spaces; what is refused, and why."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tcsmt.matrix_units.catalogue import (
    ARCHITECTURES,
    architecture_named,
    processors,
    row_named,
    rows,
    stands_for,
)
from tcsmt.matrix_units.catalogue.naming import aliases, gpus, named, vendors
from tcsmt.support.errors import TcsmtError, UnknownName

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
    "cdna4": ["MI350X", "MI355X", "gfx950"],
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
    assert rows(NAMED[architecture][0], claims=False)


def test_every_name_leads_to_an_architecture_with_rows() -> None:
    assert set(aliases().values()) | set(gpus().values()) <= set(ARCHITECTURES)
    assert {row.architecture for row in rows()} == set(ARCHITECTURES)
    assert not (set(aliases()) & set(gpus()) or set(ARCHITECTURES) & {*aliases(), *gpus()})
    for name, target in {**aliases(), **gpus()}.items():
        assert architecture_named(name) == architecture_named(name.upper()) == target


def test_vendors_are_in_the_order_of_the_architectures() -> None:
    assert list(vendors()) == list(ARCHITECTURES)
    assert [vendors()[architecture_named(gpu)] for gpu in ("h100", "mi300x", "gfx1201", "n150")] == [
        "NVIDIA", "AMD", "AMD", "Tenstorrent",
    ]  # fmt: skip


@pytest.mark.parametrize(("given", "meant"), [
    ("h100/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
    ("sm_90a/wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "hopper/wgmma.m64nNk16.f32.f16.f16"),
    ("wgmma.m64n8k32.f32.e4m3.e4m3", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"),
    ("volta/mma.sync.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32"),
    (
        "b200/tcgen05.mma.cta_group::1.kind::f16.bf16",
        "blackwell/tcgen05.mMnNk16.kind::f16.f32.bf16.bf16",
    ),
    ("mi300x/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x8_f16"),
    ("mi300x/V_MFMA_F32_32X32X8_F16", "cdna3/v_mfma_f32_32x32x8_f16"),
    ("mi100/__builtin_amdgcn_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_32x32x8f16"),
])  # fmt: skip
def test_as_manuals_write_them(given: str, meant: str) -> None:
    assert row_named(given).name == meant


def test_every_name_means_its_row() -> None:
    assert all(row_named(row.name) is row for row in rows())


@pytest.mark.parametrize(("given", "said"), [
    ("a100/mma.sync.m16n8k16", "matches several instructions of ampere: mma.m16n8k16.f32.f16.f16.f32, mma"),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", r"architectures \(ampere, ada.*give ARCH/mma"),
    ("volta/mma.m16n8k16.f32.f16.f16.f32", "unknown instruction of volta"),
    ("mma", "is an instruction of several architectures"),
    ("nothing", "unknown architecture 'nothing'"),
])  # fmt: skip
def test_nothing_is_chosen_silently(given: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        row_named(given)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("ampere/mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", "mma.m16n8k32.s32.s8.u8.s32"),
        ("ampere/mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
         "mma.m16n8k32.satfinite.s32.s8.u8.s32"),
        ("hopper/wgmma.mma_async.sync.aligned.m64n96k32.s32.s8.s8", "wgmma.m64nNk32.s32.s8.s8"),
        ("mi300x/__builtin_amdgcn_mfma_i32_32x32x16_i8", "v_mfma_i32_32x32x16_i8"),
        ("mi355x/__builtin_amdgcn_mfma_f32_32x32x16_f16", "v_mfma_f32_32x32x16_f16"),
        ("mi355x/v_mfma_scale_f32_16x16x128_f8f6f4.e2m1.e2m1", "v_mfma_scale_f32_16x16x128_f8f6f4.e2m1.e2m1"),
        ("mi355x/__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4.e2m3.e2m3",
         "v_mfma_scale_f32_32x32x64_f8f6f4.e2m3.e2m3"),
        ("rdna3/__builtin_amdgcn_wmma_i32_16x16x16_iu4_w64.u4.s4", "v_wmma_i32_16x16x16_iu4_w64.u4.s4"),
        ("rdna3/v_wmma_i32_16x16x16_iu8_w32.s8.u8.clamp", "v_wmma_i32_16x16x16_iu8_w32.s8.u8.clamp"),
    ],
)  # fmt: skip
def test_names_as_manuals_write_them(given: str, name: str) -> None:
    assert row_named(given).instruction == name


@pytest.mark.parametrize(
    ("given", "listed"),
    [
        ("mi355x/__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4", "f8f6f4.e4m3.e4m3"),
        ("rdna3/__builtin_amdgcn_wmma_i32_16x16x16_iu8_w32", "iu8_w32.s8.s8, v_wmma"),
    ],
)
def test_builtins_whose_operands_say_the_formats_list_them(given: str, listed: str) -> None:
    with pytest.raises(TcsmtError, match="matches several instructions") as refused:
        row_named(given)
    assert listed in str(refused.value) and "clamp" not in str(refused.value)


@pytest.mark.parametrize(("name", "architecture"), [
    ("rtx 3090", "ampere"), ("NVIDIA GeForce RTX 3090", "ampere"), ("3090", "ampere"),
    ("geforce-rtx-4090-laptop-gpu", "ada"), ("NVIDIA RTX 6000 Ada Generation", "ada"),
    ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-blackwell"), ("quadro rtx 6000", "turing"),
    ("RTX A6000", "ampere"), ("A6000", "ampere"), ("Tesla T4", "turing"), ("Tesla V100-SXM2-16GB", "volta"),
    ("NVIDIA A100-SXM4-80GB", "ampere"), ("NVIDIA H100 80GB HBM3", "hopper"), ("H100 PCIe", "hopper"),
    ("H20", "hopper"), ("h800", "hopper"), ("NVIDIA GH200 480GB", "hopper"), ("L4", "ada"), ("l40s", "ada"),
    ("A10G", "ampere"), ("B100", "blackwell"), ("GB200", "blackwell"), ("rtx5090", "rtx-blackwell"),
    ("mi325x", "cdna3"), ("AMD Instinct MI300X OAM", "cdna3"), ("instinct-mi250x", "cdna2"),
    ("AMD Radeon RX 7900 XTX", "rdna3"), ("7900xtx", "rdna3"), ("W7900", "rdna3"), ("r9700", "rdna4"),
    ("SM90", "hopper"), ("x86_64", "x86"), ("AArch64", "arm"), ("Tenstorrent p100", "blackhole"),
])  # fmt: skip
def test_gpus_as_people_and_drivers_write_them(name: str, architecture: str) -> None:
    assert named(name).architecture == architecture
    assert named(name).processor is None


def test_a_brand_is_not_thrown_away() -> None:
    """Tenstorrent's p100 is not NVIDIA's P100."""
    assert named("p100").architecture == "blackhole"
    for name in ("Tesla P100", "NVIDIA Tesla P100-PCIE-16GB", "nvidia p100"):
        with pytest.raises(TcsmtError, match="older than Volta"):
            named(name)
    with pytest.raises(UnknownName):
        named("AMD H100")


def test_no_spelling_of_one_gpu_is_that_of_another() -> None:
    for name, architecture in {**{one: one for one in ARCHITECTURES}, **aliases(), **gpus()}.items():
        for spelled in (name, name.upper(), name.replace(" ", ""), name.replace(" ", "-")):
            assert named(spelled).architecture == architecture


@pytest.mark.parametrize(("name", "first", "about"), [
    ("epyc", "vdpbf16ps", "an AMD EPYC from Zen 4 on"), ("EPYC 9654", "vdpbf16ps", "Zen 4"),
    ("AMD EPYC 9654 96-Core Processor", "vdpbf16ps", "Zen 4"), ("epyc 9755", "vdpbf16ps", "Zen 5"),
    ("Turin", "vdpbf16ps", "Zen 5"), ("znver4", "vdpbf16ps", "Zen 4"),
    ("Ryzen 9 7950X3D", "vdpbf16ps", "Zen 4"),
    ("sapphire-rapids", "tdpbf16ps", "Sapphire Rapids"), ("xeon", "tdpbf16ps", "Intel Xeon from Sapphire"),
    ("Intel(R) Xeon(R) Platinum 8480+", "tdpbf16ps", "Sapphire Rapids"),
    ("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", "vpdpbusd", "Cascade Lake"),
    ("graviton4", "bfmmla.ebf0", "Neoverse V2"), ("AWS Graviton 3", "bfmmla.ebf0", "Neoverse V1"),
    ("NVIDIA Grace", "bfmmla.ebf0", "Neoverse V2"),
])  # fmt: skip
def test_processors_stand_for_their_own_dot_products(name: str, first: str, about: str) -> None:
    found = rows(name, claims=False)
    assert found[0].instruction == first
    assert about in str(named(name).processor)
    assert f"{name} is " in stands_for(name) and f"and has {first}" in stands_for(name)


def test_a_processor_has_its_own_instructions_alone() -> None:
    assert {row.instruction for row in rows("genoa", claims=False)} == {
        "vdpbf16ps", "vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds",
    }  # fmt: skip
    assert "tdpfp16ps" in {row.instruction for row in rows("granite rapids", claims=False)}
    assert "tdpfp16ps" not in {row.instruction for row in rows("emerald rapids")}
    assert row_named("emerald rapids/tdpbf16ps@guide").status == "refuted"
    with pytest.raises(UnknownName, match="AMD Zen 4 'tdpbf16ps'"):
        row_named("genoa/tdpbf16ps")


@pytest.mark.parametrize(("name", "why"), [
    ("milan", "AMD Zen 3 has none of the dot products .* one of: .*avx512_bf16"),
    ("AMD EPYC 7763 64-Core Processor", "AMD Zen 3 has none"),
    ("graviton2", "Arm Neoverse N1 has none of the dot products .* one of: bf16, asimdfhm"),
    ("NVIDIA GeForce GTX 1080 Ti", "no tensor cores"),
    ("Radeon RX 6800 XT", "older than RDNA3"), ("mi50", "older than CDNA1"),
    ("rtx 6000", "did you mean quadro rtx 6000 or rtx 6000 ada or rtx pro 6000"),
    ("hoper", "did you mean hopper"), ("rtx 3095", "rtx 3090"),
    ("zzzz", "none of \\d+ is like it"),
])  # fmt: skip
def test_names_without_rows_are_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(TcsmtError, match=why):
        rows(name, claims=False)


def test_cpu_is_the_processor_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(processors, "CPUINFO", path)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    path.write_text("cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: Some CPU\nflags\t: avx2 avx512_bf16\n\n")
    assert [row.instruction for row in rows("CPU", claims=False)] == ["vdpbf16ps"]
    assert stands_for("cpu") == (
        "cpu is this processor, Some CPU (family 26, model 2), and has vdpbf16ps: "
        "the first that fits is meant"
    )
    assert stands_for("cpu/vdpbf16ps") == "cpu is this processor, Some CPU (family 26, model 2)"
    path.write_text("model name\t: Some CPU\nflags\t: avx2\n")
    with pytest.raises(TcsmtError, match="this processor, Some CPU has none of the dot products"):
        rows("cpu", claims=False)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    path.write_text("Features\t: fp asimd asimdfhm bf16 ebf16\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n")
    found = [row.instruction for row in rows("cpu", claims=False)]
    assert found[0] == "bfmmla.ebf0" and {"bfmmla.ebf1", "fmlal"} <= {*found} and "bfmopa.ebf0" not in found
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    with pytest.raises(TcsmtError, match="this machine is s390x"):
        rows("cpu", claims=False)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    path.unlink()
    with pytest.raises(TcsmtError, match="cannot tell what this CPU has"):
        rows("cpu", claims=False)


def test_gpus_need_no_words() -> None:
    assert stands_for("h100") == stands_for("x86/vdpbf16ps") == ""
    assert stands_for("x86").startswith("x86 has vdpbf16ps, tdpbf16ps")
