"""Which units are surveyed: the lists behind ``tcsmt accuracy`` and :mod:`tcsmt.study.survey.theorems`."""

from __future__ import annotations

__all__ = [
    "ANY_UNIT",
    "AS_PUBLISHED",
    "BOUNDED",
    "BOUNDED_ALONE",
    "DISTINCT_FP16_UNITS",
    "FP8_ON_FP16",
    "FP16_UNITS",
    "HALF_OF_THE_LANES",
    "MMA_AND_WGMMA",
    "NEIGHBOURED",
    "PAPERS",
    "RESIDUAL_UNITS",
    "SAME_UNITS",
    "SUMS",
    "SURVEYED",
    "SWEPT",
    "TF32_UNITS",
    "TRUNCATED",
    "ZERO_EXPONENTS",
]

# --- algorithms ------------------------------------------------------------------------------------

#: The unit of Volta as Valpey et al. publish it; measurements refute that reading.
AS_PUBLISHED = "volta/mma.m8n8k4.f32.f16.f16.f32@valpey"
#: The generations whose units for FP16 are compared.
FP16_UNITS = ("volta", "turing", "ampere", "hopper", "blackwell", "cdna3")
#: Those of them that differ most; Blackwell's unit for FP16 is Hopper's.
DISTINCT_FP16_UNITS = ("volta", "ampere", "hopper", "cdna3")
#: Where the product of both residuals is asked about: NVIDIA's first unit, a later one, and AMD's.
RESIDUAL_UNITS = ("volta", "hopper", "cdna3")
#: The generations whose units for TF32 are compared.
TF32_UNITS = ("ampere", "hopper", "blackwell", "cdna3")
#: Stands for all where only binary32 multiply-adds are used: they are the same everywhere.
ANY_UNIT = "hopper"
#: Algorithms whose error is bounded beside those that are compared, and their units.
BOUNDED = (
    ("fp32-fma", ANY_UNIT), ("ootomo-tf32tf32", "ampere"), ("cutlass-3xtf32", "ampere"),
    ("bf16x9", "hopper"), ("fasi-f16x2", "volta"), ("fasi-f16x2", "blackwell"), ("markidis", "cdna1"),
)  # fmt: skip
#: Sequences of instructions that multiply parts of significands, for each format of the operands.
_IN_PARTS = {
    name: tuple(
        f"{architecture}/mvmul.f32.{name}.{fidelity}"
        for architecture in ("wormhole", "blackhole") for fidelity in ("hifi4", "hifi2", "lofi")
    )
    for name in ("f16", "bf16")
}  # fmt: skip
#: Units of CPUs, Radeon cards and Tenstorrent, whose own error is bounded, over one instruction (or sequence
#: of them) and a chain of two.
BOUNDED_ALONE = {
    "single-f16": (
        "rdna3/v_dot2_f32_f16", "rdna3/v_wmma_f32_16x16x16_f16_w32", "rdna4/v_dot2_f32_f16",
        "rdna4/v_wmma_f32_16x16x16_f16_w32", "x86/tdpfp16ps", "arm/fmlal", "arm/fmopa.f32.f16.f16",
        *_IN_PARTS["f16"],
    ),
    "single-bf16": (
        "rdna3/v_dot2_f32_bf16", "rdna3/v_wmma_f32_16x16x16_bf16_w32", "rdna4/v_dot2_f32_bf16",
        "rdna4/v_wmma_f32_16x16x16_bf16_w32",
        "x86/vdpbf16ps", "x86/tdpbf16ps", "arm/bfdot.ebf0", "arm/bfdot.ebf1", "arm/bfmmla.ebf0",
        "arm/bfmmla.ebf1", "arm/bfmlalb",
        *(f"riscv/rvbna.n{n}.f32.bf16.bf16" for n in (2, 4, 8, 16, 32)), *_IN_PARTS["bf16"],
    ),
    "fp8": (
        "rdna4/v_dot4_f32_fp8_fp8", "arm/fdot.f32.e4m3.e4m3",
        *(f"riscv/rvbna.n{n}.f32.e4m3.e4m3" for n in (2, 4, 8, 16, 32)),
    ),
}  # fmt: skip
#: The generations that the papers on algorithms are about.
SURVEYED = (
    "volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell", "cdna1", "cdna2", "cdna3",
)  # fmt: skip
#: The units of a sweep: each one's most used instruction, and Hopper's other one for FP8.
SWEPT = (*SURVEYED, "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32")

# --- theorems --------------------------------------------------------------------------------------

#: One fused unit for each number of products.
SUMS = {
    4: "volta/mma.m8n8k4.f32.f16.f16.f32",
    8: "ampere/mma.m16n8k8.f32.f16.f16.f32",
    16: "hopper/mma.m16n8k16.f32.f16.f16.f32",
    32: "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
}
#: Pairs that are the same unit.
SAME_UNITS = (
    *(
        (f"a100/mma.{shape}", f"{gpu}/mma.{shape}")
        for shape in ("m16n8k16.f32.f16.f16.f32", "m16n8k16.f32.bf16.bf16.f32", "m16n8k8.f32.tf32.tf32.f32")
        for gpu in ("a2", "a30", "l40s")
    ),
    *(
        (f"h100/mma.{shape}", f"{gpu}/mma.{shape}")
        for shape in ("m16n8k16.f32.f16.f16.f32", "m16n8k8.f32.f16.f16.f32", "m16n8k16.f16.f16.f16.f16")
        for gpu in ("b200", "rtx 5090")
    ),
    *(
        (f"turing/mma.m8n8k4.{types}", f"volta/mma.m8n8k4.{types}")
        for types in ("f32.f16.f16.f32", "f16.f16.f16.f16", "f32.f16.f16.f16")
    ),
)
#: Two instructions of one architecture for the same products.
MMA_AND_WGMMA = (
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/wgmma.m64nNk16.f32.f16.f16"),
    ("hopper/mma.m16n8k16.f16.f16.f16.f16", "hopper/wgmma.m64nNk16.f16.f16.f16"),
    ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/wgmma.m64nNk16.f32.bf16.bf16"),
    ("hopper/mma.m16n8k8.f32.tf32.tf32.f32", "hopper/wgmma.m64nNk8.f32.tf32.tf32"),
)
#: An instruction for FP8, and the one for FP16 that it runs on.
FP8_ON_FP16 = tuple(
    (f"hopper/mma.m16n8k32.{d}.{a}.{a}.{d}", f"hopper/mma.m16n8k16.{d}.f16.f16.{d}")
    for a in ("e5m2", "e4m3")
    for d in ("f16", "f32")
)
#: Two instructions of one unit, the second with twice as many products.
HALF_OF_THE_LANES = tuple(
    (f"hopper/mma.m16n8k8.{types}", f"hopper/mma.m16n8k16.{types}")
    for types in ("f32.f16.f16.f32", "f32.bf16.bf16.f32", "f16.f16.f16.f16")
)
#: A unit, another exponent for its zero terms, and whether it is the same unit with that.
ZERO_EXPONENTS = (
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", -132, True),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", -126, True),
    ("ampere/mma.m16n8k16.f32.f16.f16.f32", -133, True),
    ("hopper/wgmma.m64nNk32.f32.e4m3.e4m3", -132, True),
    ("hopper/wgmma.m64nNk32.f32.e5m2.e5m2", -132, True),
    ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", -132, False),
    ("hopper/mma.m16n8k8.f32.tf32.tf32.f32", -132, False),
    ("hopper/mma.m16n8k16.f16.f16.f16.f16", -20, False),
    ("hopper/wgmma.m64nNk32.f16.e4m3.e4m3", -20, True),
    ("hopper/wgmma.m64nNk32.f16.e5m2.e5m2", -20, True),
)
#: Units of which truncation is compared with rounding toward zero.
TRUNCATED = ("volta/mma.m8n8k4.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32")
#: Units that are told apart from each model that differs in one parameter.
NEIGHBOURED = ("volta", "ampere/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32")
#: Pairs that papers say something about, and whether they are the same.
PAPERS = (
    *(
        (f"hopper/wgmma.m64nNk32.f32.{a}.{a}", f"hopper/mma.m16n8k32.f32.{a}.{a}.f32", False)
        for a in ("e4m3", "e5m2")
    ),
    *(
        ("turing/mma.m16n8k8.f32.f16.f16.f32", f"turing/mma.m16n8k8.f32.f16.f16.f32@{claim}", False)
        for claim in ("valpey", "fasi")
    ),
    *(
        ("volta/mma.m8n8k4.f32.f16.f16.f32", f"volta/mma.m8n8k4.f32.f16.f16.f32@{claim}", False)
        for claim in ("valpey", "fasi", "raihan")
    ),
    ("volta/mma.m8n8k4.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32@zero-126", True),
    ("ampere/mma.m16n8k8.f32.bf16.bf16.f32", "hopper/mma.m16n8k8.f32.bf16.bf16.f32", False),
    *(
        (f"hopper/wgmma.m64nNk32.f32.{a}.{a}", f"hopper/wgmma.m64nNk32.f32.{a}.{a}@deepseek", False)
        for a in ("e4m3", "e5m2")
    ),
)
