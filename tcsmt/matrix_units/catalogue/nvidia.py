"""NVIDIA's tensor cores, from Volta to RTX Blackwell, and what was claimed of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS
from tcsmt.matrix_units.catalogue.row import FASI, KHATTAK, MMASIM, PACKAGE, VALPEY, Row, claim
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, IntegerDotAdd, Model

__all__ = ["claims", "units"]


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What the instructions of one architecture share.

    fraction_bits: F. block_bytes: bytes of A in one fused sum (N_FMA times the storage size).
    zero_f32, zero_f16: exponent of a zero term, for FP32 and FP16 output.
    """

    fraction_bits: int
    block_bytes: int
    zero_f32: int
    zero_f16: int
    source: str = f"{MMASIM}, III-C; {KHATTAK}, Table II; zero exponents: {PACKAGE}"


VOLTA = Generation(fraction_bits=23, block_bytes=8, zero_f32=-131, zero_f16=-19)
AMPERE = Generation(fraction_bits=24, block_bytes=16, zero_f32=-132, zero_f16=-20)
HOPPER = Generation(fraction_bits=25, block_bytes=32, zero_f32=-133, zero_f16=-21)
# FP8 with 13 fraction bits, results truncated there too
ADA_FP8 = replace(AMPERE, fraction_bits=13)
HOPPER_FP8 = replace(HOPPER, fraction_bits=13)

#: Storage bytes that the units count for an operand (sub-byte formats are held in bytes).
_BYTES = {"f16": 2, "bf16": 2, "tf32": 4}

FP8 = ("e4m3", "e5m2")
F8F6F4 = ("e5m2", "e4m3", "e3m2", "e2m3", "e2m1")
_WITH_BF16 = ("ampere", "ada", "hopper", "blackwell", "rtx-blackwell")


def _fused(unit: Generation, k: int, a: str, b: str, c: str, d: str, **changes: object) -> FusedDotAdd:
    lanes = unit.block_bytes // _BYTES.get(a, 1)
    narrow = unit.fraction_bits < FORMATS["f16"].precision + 3 and d == "f32"
    parameters: dict[str, object] = {
        "n_fma": min(k, lanes),
        "fraction_bits": unit.fraction_bits,
        "zero_exponent": unit.zero_f16 if d == "f16" else unit.zero_f32,
        "rounding": "RNE" if d == "f16" else "RTZ",
        "round_fraction_bits": unit.fraction_bits if narrow else None,
    }
    parameters.update(changes)
    return FusedDotAdd(a_format=a, b_format=b, c_format=c, d_format=d, k=k, **parameters)  # type: ignore[arg-type]


# types of (d, a, b, c)
_F16 = [("f32", "f16", "f16", "f32"), ("f16", "f16", "f16", "f16")]
_BF16 = ("f32", "bf16", "bf16", "f32")
_TF32 = ("f32", "tf32", "tf32", "f32")

#: (architectures, unit, shape, k, types)
_MMA: list[tuple[tuple[str, ...], Generation, str, int, list[tuple[str, str, str, str]]]] = [
    (("turing",), AMPERE, "mma.m16n8k8", 8, _F16),
    (
        ("volta", "turing"), VOLTA, "mma.m8n8k4", 4,
        [*_F16, ("f32", "f16", "f16", "f16")],
    ),
    *(
        (names, unit, shape, k, types)
        for names, unit in (
            (("ampere", "ada"), AMPERE),
            (("hopper", "blackwell", "rtx-blackwell"), HOPPER),
        )
        for shape, k, types in (
            ("mma.m16n8k16", 16, [*_F16, _BF16]),
            ("mma.m16n8k8", 8, [*_F16, _BF16, _TF32]),
            ("mma.m16n8k4", 4, [_TF32]),
        )
    ),
    *(
        (names, unit, f"mma.m16n8k{k}", k, [(d, a, b, d) for d in ("f32", "f16") for a in FP8 for b in FP8])
        for names, unit in ((("ada",), ADA_FP8), (("rtx-blackwell",), HOPPER))
        for k in (32, 16)
    ),
    (
        ("rtx-blackwell",), HOPPER, "mma.m16n8k32.kind::f8f6f4", 32,
        [(d, a, b, d) for d in ("f32", "f16") for a in F8F6F4 for b in F8F6F4],
    ),
]  # fmt: skip

#: Data sets by (architecture, instruction), each replayed without a mismatch by ``validate``.
_MEASURED = {
    ("volta", "mma.m8n8k4.f32.f16.f16.f32"): ("v100_f16_f32",),
    ("volta", "mma.m8n8k4.f16.f16.f16.f16"): ("v100_f16_f16",),
    ("ampere", "mma.m16n8k16.f32.f16.f16.f32"): ("a100_f16_f32", "rtx3080_f16_f32_directed"),
    ("ampere", "mma.m16n8k16.f16.f16.f16.f16"): ("a100_f16_f16",),
    ("ampere", "mma.m16n8k16.f32.bf16.bf16.f32"): ("a100_bf16_f32",),
    ("ampere", "mma.m16n8k8.f32.tf32.tf32.f32"): ("a100_tf32_f32",),
    ("ada", "mma.m16n8k16.f32.f16.f16.f32"): ("ada_f16_f32", "rtx4090_f16_f32_directed"),
    ("ada", "mma.m16n8k16.f16.f16.f16.f16"): ("ada_f16_f16",),
    ("ada", "mma.m16n8k16.f32.bf16.bf16.f32"): ("ada_bf16_f32",),
    ("ada", "mma.m16n8k8.f32.tf32.tf32.f32"): ("ada_tf32_f32",),
    **{("ada", f"mma.m16n8k32.{d}.{a}.{a}.{d}"): (f"ada_{a}_{d}",) for a in FP8 for d in ("f32", "f16")},
    **{
        (architecture, instruction): (f"{gpu}_{types}",)
        for architecture, gpu in (("hopper", "h200"), ("blackwell", "b200"))
        for instruction, types in (
            ("mma.m16n8k16.f32.f16.f16.f32", "f16_f32"),
            ("mma.m16n8k16.f16.f16.f16.f16", "f16_f16"),
            ("mma.m16n8k16.f32.bf16.bf16.f32", "bf16_f32"),
            # WMMA m16n16k8 runs as two m16n8k4 (Khattak and Mikaitis IV-A5)
            ("mma.m16n8k4.f32.tf32.tf32.f32", "tf32_f32"),
            *((f"mma.m16n8k32.f16.{a}.{a}.f16", f"{a}_f16") for a in FP8),
        )
    },
    **{("blackwell", f"mma.m16n8k32.f32.{a}.{a}.f32"): (f"b200_{a}_f32",) for a in FP8},
    **{("hopper", f"wgmma.m64nNk32.f32.{a}.{a}"): (f"h200_{a}_f32",) for a in FP8},
}

#: Architectures of which tcsmt asked every mma and wgmma instruction; the data sets are named as the rows.
_MEASURED_HERE = ("hopper",)
#: DMMA: of a NaN in b, in the sum so far, in a.
_F64_NAN = "b, c, a, 0xfff8000000000000"


def _row(architecture: str, instruction: str, model: Model, source: str, **more: object) -> Row:
    measured = _MEASURED.get((architecture, instruction), ())
    if architecture in _MEASURED_HERE:
        measured = (*measured, f"{architecture}_{instruction}")
        more["evidence"] = "measured here"
    more.setdefault("evidence", "measured" if measured else "published")
    return Row(
        architecture=architecture, instruction=instruction, model=model, source=source,
        date=2025, measured=measured, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _mma_rows() -> Iterator[Row]:
    for architectures, unit, shape, k, types in _MMA:
        for architecture in architectures:
            for d, a, b, c in types:
                name = f"{shape}.{d}.{a}.{b}.{c}"
                yield _row(architecture, name, _fused(unit, k, a, b, c, d), unit.source)


def _fp8_on_f16_rows() -> Iterator[Row]:
    """FP8 through mma.sync on Hopper and Blackwell: converted to FP16, pairs of lanes dealt to two sums."""
    source = f"{KHATTAK}, IV-A5, IV-A6 and Fig. 5c; intermediate rounding, conversion: the measured data"
    for architecture in ("hopper", "blackwell"):
        for k, evidence in ((32, None), (16, "conjectured")):
            for d in ("f32", "f16"):
                for a in FP8:
                    for b in FP8:
                        model = _fused(
                            HOPPER, k, a, b, d, d, n_fma=k // 2, interleave=2, c_position="last",
                            operand_format="f16",
                        )  # fmt: skip
                        more = {} if evidence is None else {"evidence": evidence}
                        name = f"mma.m16n8k{k}.{d}.{a}.{b}.{d}"
                        yield _row(architecture, name, model, source, **more)


_MMAEMU = (
    "mmaemu 0.1.0, whose preset is of an H100, gives the same words of whole products, fast and promoted "
    "(results/comparisons/against-mmaemu.json)"
)


def _wgmma_rows() -> Iterator[Row]:
    types = [
        (HOPPER, 8, "f32", "tf32", "tf32"),
        (HOPPER, 16, "f32", "f16", "f16"),
        (HOPPER, 16, "f16", "f16", "f16"),
        (HOPPER, 16, "f32", "bf16", "bf16"),
        *((HOPPER_FP8, 32, d, a, b) for d in ("f32", "f16") for a in FP8 for b in FP8),
    ]
    for unit, k, d, a, b in types:
        name = f"wgmma.m64nNk{k}.{d}.{a}.{b}"
        # cuBLAS has no product of e5m2 by e5m2
        emulated = unit is HOPPER_FP8 and d == "f32" and (a, b) != ("e5m2", "e5m2")
        more = {"note": _MMAEMU} if emulated else {}
        yield _row("hopper", name, _fused(unit, k, a, b, d, d), unit.source, **more)


def _tcgen05_rows() -> Iterator[Row]:
    types = [
        ("tf32", 8, "f32", "tf32", "tf32"),
        ("f16", 16, "f32", "f16", "f16"),
        ("f16", 16, "f32", "bf16", "bf16"),
        ("f16", 16, "f16", "f16", "f16"),
        *(("f8f6f4", 32, d, a, b) for d in ("f32", "f16") for a in F8F6F4 for b in F8F6F4),
    ]
    for kind, k, d, a, b in types:
        name = f"tcgen05.mMnNk{k}.kind::{kind}.{d}.{a}.{b}"
        yield _row("blackwell", name, _fused(HOPPER, k, a, b, d, d), f"{MMASIM}, III-C; {PACKAGE}")


#: (kind, k, block of lanes for one scale, scale format) of the block-scaled instructions
_SCALED = [
    ("mxf4", 64, 32, "ue8m0"),
    ("mxf4nvf4", 64, 32, "ue8m0"),
    ("mxf4nvf4", 64, 16, "ue8m0"),
    ("mxf4nvf4", 64, 16, "ue4m3"),
]


def _scaled_rows() -> Iterator[Row]:
    """MXFP8/6/4 on the fused unit (F = 25); MXFP4 and NVFP4 as exact sums of 16, then scaled (F = 35)."""
    shapes = (("rtx-blackwell", "mma.m16n8k", ".f32"), ("blackwell", "tcgen05.mMnNk", ""))
    for architecture, shape, c in shapes:
        for a in F8F6F4:
            for b in F8F6F4:
                model = _fused(HOPPER, 32, a, b, "f32", "f32", scale_format="ue8m0", scale_block=32)
                name = f"{shape}32.kind::mxf8f6f4.block32.f32.{a}.{b}{c}.ue8m0"
                yield _row(architecture, name, model, f"{MMASIM}, III-C (scale factors); {PACKAGE}")
        for kind, k, block, scale in _SCALED:
            model = _fused(
                HOPPER, k, "e2m1", "e2m1", "f32", "f32", n_fma=k, group=16, fraction_bits=35,
                zero_exponent=-139, scale_format=scale, scale_block=block,
            )  # fmt: skip
            name = f"{shape}{k}.kind::{kind}.block{block}.f32.e2m1.e2m1{c}.{scale}"
            note = (
                "a group enters the maximum with the exponent of its scales, also where its sum "
                "cancels to zero; only where all its products, or a scale, are zero with -139"
            )
            yield _row(architecture, name, model, f"{MMASIM}, III-E (GDFS); {PACKAGE}", note=note)


def _f64_rows() -> Iterator[Row]:
    """DMMA: a chain of IEEE fused multiply-adds, c first."""
    shapes = (
        (_WITH_BF16, ("m8n8k4",)),
        (("hopper",), ("m16n8k16", "m16n8k8", "m16n8k4")),
    )
    for architectures, names in shapes:
        for architecture in architectures:
            for shape in names:
                formats = dict.fromkeys(("a_format", "b_format", "c_format", "d_format", "sum_format"), "f64")
                k = int(shape.rpartition("k")[2])
                measured = architecture in _MEASURED_HERE
                nan = _F64_NAN if measured else None
                model = IeeeDotAdd(k=k, method="fma", nan=nan, **formats)  # type: ignore[arg-type]
                note = (
                    "the word of a NaN, which MMA-Sim IV-B does not know, was measured"
                    if measured
                    else "the word of a NaN is not known (MMA-Sim IV-B): the quiet NaN that IEEE 754 prefers"
                )
                yield _row(
                    architecture, f"mma.{shape}.f64.f64.f64.f64", model,
                    f"{FASI}, section 3; {MMASIM}, III-A (SFMA); {KHATTAK}, Table II", note=note,
                )  # fmt: skip


_INT8, _INT4 = ("s8", "u8"), ("s4", "u4")
#: (architectures, what comes before the types, what comes after them, k, operand formats) of IMMA
_INTEGER: list[tuple[tuple[str, ...], str, str, int, tuple[str, str]]] = [
    (("turing",), "mma.m8n8k16", ".s32", 16, _INT8),
    (("turing",), "mma.m8n8k32", ".s32", 32, _INT4),
    *((_WITH_BF16, f"mma.m16n8k{k}", ".s32", k, _INT8) for k in (32, 16)),
    *((_WITH_BF16, f"mma.m16n8k{k}", ".s32", k, _INT4) for k in (64, 32)),
    (("hopper",), "wgmma.m64nNk32", "", 32, _INT8),
]


def _integer_rows() -> Iterator[Row]:
    """IMMA: sums that wrap, and sums that saturate as rows of their own."""
    s32 = INTEGERS["s32"]
    for architectures, shape, c, k, formats in _INTEGER:
        chapter = "wgmma.mma_async" if shape.startswith("wgmma") else "mma"
        for architecture in architectures:
            for qualifier, overflow in (("", "wrap"), (".satfinite", "saturate")):
                measured = architecture in _MEASURED_HERE
                note = "" if measured else "no outputs of the hardware are held"
                if qualifier:
                    said = "PTX does not say whether a sum of some products can be limited, too"
                    note = f"{said}; on this GPU none is" if measured else f"{note}; {said}"
                for a in formats:
                    for b in formats:
                        one, two = INTEGERS[a], INTEGERS[b]
                        model = IntegerDotAdd(
                            a_format=one, b_format=two, c_format=s32, d_format=s32, k=k, overflow=overflow
                        )
                        name = f"{shape}{qualifier}.s32.{a}.{b}{c}"
                        source = f'PTX ISA 8.8, "{chapter}": integer operations'
                        yield _row(architecture, name, model, source, note=note)


_SF_TENSOR = "sf-tensor/tcgen05 8fce64d, MODEL.md"


def _sf_tensor(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """A newer model of tcgen05, of each instruction that it gives another function than MMA-Sim's.

    Zero terms do not take part in the maximum: as if with the least exponent that a term can have.
    """
    note = "zero terms do not enter the maximum"
    for name, row in accepted.items():
        m = row.model
        if not (name.startswith("blackwell/tcgen05") and isinstance(m, FusedDotAdd) and "@" not in name):
            continue
        scales = 2 * m.scale_format.e_min if m.scale_format is not None else 0
        least = min(m.a_format.e_min + m.b_format.e_min + scales, m.c_format.e_min)
        changes: dict[str, object] = {"zero_exponent": least}
        if m.group > 1:
            told = f"{note}; c does only where it is not below the largest product"
            if m.scale_format is FORMATS["ue4m3"]:
                changes |= {"c_enters": "leading", "inner_group": 4}
                told += f"; else exact sums of 4 products are truncated, not of {m.group}"
            else:
                changes |= {"c_enters": "leading_by_group", "group_dropped_below": -174}
                told += "; groups of lower scales are dropped where they are below 2^-174"
            yield claim(row, "sf-tensor", _SF_TENSOR, "disputed", told, **changes)
        elif m.zero_exponent is not None and least < m.zero_exponent:
            yield claim(row, "sf-tensor", _SF_TENSOR, "disputed", note, **changes)


def units() -> Iterator[Row]:
    """Every row that is no claim."""
    sources = (
        _mma_rows, _fp8_on_f16_rows, _wgmma_rows, _tcgen05_rows, _scaled_rows, _f64_rows, _integer_rows,
    )  # fmt: skip
    for source in sources:
        yield from source()


def claims(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """What the literature claimed and what was later refuted, or is still disputed."""

    def claimed(base: str, tag: str, source: str, status: str, note: str, **changes: object) -> Row:
        return claim(accepted[base], tag, source, status, note, **changes)

    section = f"{VALPEY}, Algorithm 1"
    normalised: dict[str, object] = {"products": "normalised", "zero_exponent": -126}
    for d, status in (("f32", "refuted"), ("f16", "disputed")):
        yield claimed(
            f"volta/mma.m8n8k4.{d}.f16.f16.{d}", "valpey", section, status,
            "normalises products before alignment", **normalised,
        )  # fmt: skip
    yield claimed(
        "turing/mma.m8n8k4.f32.f16.f16.f32", "valpey", f"{VALPEY}, section 5", "refuted",
        "Turing equals Volta, with products normalised", **normalised,
    )  # fmt: skip
    yield claimed(
        "turing/mma.m16n8k8.f32.f16.f16.f32", "valpey", f"{VALPEY}, section 5", "refuted",
        "Turing equals Volta (F = 23, 4 products), whatever the instruction; a T4 keeps 24 bits",
        n_fma=4, fraction_bits=23, **normalised,
    )  # fmt: skip
    yield claimed(
        "turing/mma.m16n8k8.f32.f16.f16.f32", "fasi", f"{FASI}, section 3.2", "disputed",
        "a 5-operand adder with one extra bit: 4 products, where MMA-Sim has 8", n_fma=4,
    )  # fmt: skip
    yield claimed(
        "ampere/mma.m16n8k16.f32.f16.f16.f32", "valpey", section, "refuted",
        "normalises products before alignment", **normalised,
    )  # fmt: skip
    # no input tells them apart where the operands are FP16 (proved); with BF16 two products do
    for architecture, shape, a in (
        ("volta", "mma.m8n8k4", "f16"), ("turing", "mma.m16n8k8", "f16"),
        *((name, "mma.m16n8k16", a) for name in _WITH_BF16 for a in ("f16", "bf16")),
    ):  # fmt: skip
        yield claimed(
            f"{architecture}/{shape}.f32.{a}.{a}.f32", "zero-126", f"{MMASIM}, III-C as first published",
            "disputed", "zero terms enter the maximum with the smallest normal exponent",
            zero_exponent=-126,
        )  # fmt: skip
    for a in FP8:
        yield claimed(
            f"hopper/wgmma.m64nNk32.f32.{a}.{a}", "deepseek", f"DeepSeek-V3 report, by {MMASIM}",
            "refuted", "14 fraction bits kept, where the unit keeps 13",
            fraction_bits=14, round_fraction_bits=14,
        )  # fmt: skip
    yield from _sf_tensor(accepted)
    volta = accepted["volta/mma.m8n8k4.f32.f16.f16.f32"]
    ieee = {
        "a_format": "f16", "b_format": "f16", "c_format": "f32", "d_format": "f32", "k": 4,
        "sum_format": "f32",
    }  # fmt: skip
    yield replace(
        volta, instruction=f"{volta.instruction}@fasi", source=f"{FASI}, section 4 (2)", date=2020,
        status="refuted", evidence="published", measured=(),
        note="IEEE binary32 additions rounding toward zero",
        model=IeeeDotAdd(**ieee, rounding="RTZ"),  # type: ignore[arg-type]
    )  # fmt: skip
    yield replace(
        volta, instruction=f"{volta.instruction}@raihan", source=f"Raihan et al. 2019, by {MMASIM}",
        date=2019, status="refuted", evidence="published", measured=(),
        note="a binary tree of IEEE binary32 multiplications and additions",
        model=IeeeDotAdd(**ieee, method="pairwise"),  # type: ignore[arg-type]
    )  # fmt: skip
