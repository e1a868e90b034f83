"""The catalogue: which model describes which instruction of which architecture, and why we think so.

Rows are data. Every parameter that differs between architectures is in the tables below; nothing
else in the package knows an architecture's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from tcsmt.errors import TcsmtError, UnknownName, choose
from tcsmt.formats import FORMATS
from tcsmt.models import FusedDotAdd, IeeeDotAdd, Model

__all__ = ["ARCHITECTURES", "GPUS", "Row", "architecture_named", "row_named", "rows", "rows_of"]

FASI = "Fasi et al. 2020"
VALPEY = "Valpey et al. 2025"
KHATTAK = "Khattak and Mikaitis 2025"
MMASIM = "MMA-Sim (Xie et al. 2025)"
PACKAGE = "mmasim 2.1.1"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One catalogue row.

    architecture, instruction: as in ``--arch`` and ``--instruction``; a claim's instruction ends
        in ``@`` and its source. N in a shape stands for every N (and M) that PTX allows.
    source, date: where the parameters come from (year).
    evidence: ``measured`` (hardware outputs that we hold replay without a mismatch), ``published``
        or ``conjectured``.
    measured: the data sets that decide, named as in the manifest.
    status: ``accepted``, ``refuted`` (by data or proof) or ``disputed``.
    """

    architecture: str
    instruction: str
    model: Model
    source: str
    date: int
    evidence: str
    measured: tuple[str, ...] = ()
    status: str = "accepted"
    note: str = ""

    @property
    def name(self) -> str:
        """``architecture/instruction``."""
        return f"{self.architecture}/{self.instruction}"


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What the instructions of one architecture share.

    fraction_bits: F. block_bytes: bytes of A in one fused sum (N_FMA times the storage size).
    zero_f32, zero_f16: exponent of a zero term, for FP32 and FP16 output.
    """

    fraction_bits: int
    block_bytes: int
    zero_f32: int
    zero_f16: int
    source: str = f"{MMASIM}, III-C; {KHATTAK}, Table II; zero exponents: {PACKAGE}"


VOLTA = Unit(fraction_bits=23, block_bytes=8, zero_f32=-131, zero_f16=-19)
AMPERE = Unit(fraction_bits=24, block_bytes=16, zero_f32=-132, zero_f16=-20)
HOPPER = Unit(fraction_bits=25, block_bytes=32, zero_f32=-133, zero_f16=-21)
# FP8 with 13 fraction bits, results truncated there too
ADA_FP8 = replace(AMPERE, fraction_bits=13)
HOPPER_FP8 = replace(HOPPER, fraction_bits=13)

#: Storage bytes that the units count for an operand (sub-byte formats are held in bytes).
_BYTES = {"f16": 2, "bf16": 2, "tf32": 4}

ARCHITECTURES = (
    "volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell",
)  # fmt: skip
_ALIASES = {
    "ada lovelace": "ada", "ada-lovelace": "ada", "rtx blackwell": "rtx-blackwell",
    "sm_70": "volta", "sm_75": "turing", "sm_80": "ampere", "sm_86": "ampere", "sm_89": "ada",
    "sm_90": "hopper", "sm_90a": "hopper", "sm_100": "blackwell", "sm_100a": "blackwell",
    "sm_120": "rtx-blackwell", "sm_120a": "rtx-blackwell",
}  # fmt: skip
GPUS = {
    "titan v": "volta", "v100": "volta", "t4": "turing", "rtx 2080 ti": "turing",
    "a100": "ampere", "a2": "ampere", "a30": "ampere", "a10": "ampere", "rtx 3080": "ampere",
    "rtx a6000": "ampere", "l40s": "ada", "rtx 4090": "ada", "rtx 1000 ada": "ada",
    "h100": "hopper", "h200": "hopper", "gh200": "hopper", "b200": "blackwell",
    "rtx 5090": "rtx-blackwell", "rtx pro 6000": "rtx-blackwell",
}  # fmt: skip

FP8 = ("e4m3", "e5m2")
F8F6F4 = ("e5m2", "e4m3", "e3m2", "e2m3", "e2m1")


def _fused(unit: Unit, k: int, a: str, b: str, c: str, d: str, **changes: object) -> FusedDotAdd:
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
_MMA: list[tuple[tuple[str, ...], Unit, str, int, list[tuple[str, str, str, str]]]] = [
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


def _row(architecture: str, instruction: str, model: Model, source: str, **more: object) -> Row:
    measured = _MEASURED.get((architecture, instruction), ())
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
    source = f"{KHATTAK}, IV-A5, IV-A6 and Fig. 5c; intermediate rounding: the measured data"
    for architecture in ("hopper", "blackwell"):
        for k, evidence in ((32, None), (16, "conjectured")):
            for d in ("f32", "f16"):
                for a in FP8:
                    for b in FP8:
                        model = _fused(HOPPER, k, a, b, d, d, n_fma=k // 2, interleave=2, c_position="last")
                        more = {} if evidence is None else {"evidence": evidence}
                        name = f"mma.m16n8k{k}.{d}.{a}.{b}.{d}"
                        yield _row(architecture, name, model, source, **more)


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
        yield _row("hopper", name, _fused(unit, k, a, b, d, d), unit.source)


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


def _claims(accepted: dict[str, Row]) -> Iterator[Row]:
    """What the literature claimed and what was later refuted, or is still disputed."""

    def claim(base: str, tag: str, source: str, status: str, note: str, **changes: object) -> Row:
        row = accepted[base]
        return replace(
            row, instruction=f"{row.instruction}@{tag}", source=source, status=status, note=note,
            evidence="published", model=replace(row.model, **changes), measured=(),  # type: ignore[arg-type]
        )  # fmt: skip

    section = f"{VALPEY}, Algorithm 1"
    normalised: dict[str, object] = {"products": "normalised", "zero_exponent": -126}
    for d, status in (("f32", "refuted"), ("f16", "disputed")):
        yield claim(
            f"volta/mma.m8n8k4.{d}.f16.f16.{d}", "valpey", section, status,
            "normalises products before alignment", **normalised,
        )  # fmt: skip
    yield claim(
        "turing/mma.m8n8k4.f32.f16.f16.f32", "valpey", f"{VALPEY}, section 5", "refuted",
        "Turing equals Volta, with products normalised", **normalised,
    )  # fmt: skip
    yield claim(
        "turing/mma.m16n8k8.f32.f16.f16.f32", "valpey", f"{VALPEY}, section 5", "refuted",
        "Turing equals Volta (F = 23, 4 products), whatever the instruction; a T4 keeps 24 bits",
        n_fma=4, fraction_bits=23, **normalised,
    )  # fmt: skip
    yield claim(
        "turing/mma.m16n8k8.f32.f16.f16.f32", "fasi", f"{FASI}, section 3.2", "disputed",
        "a 5-operand adder with one extra bit: 4 products, where MMA-Sim has 8", n_fma=4,
    )  # fmt: skip
    yield claim(
        "ampere/mma.m16n8k16.f32.f16.f16.f32", "valpey", section, "refuted",
        "normalises products before alignment", **normalised,
    )  # fmt: skip
    # no input tells them apart where the operands are FP16 (proved); with BF16 two products do
    for architecture, shape, a in (
        ("volta", "mma.m8n8k4", "f16"), ("turing", "mma.m16n8k8", "f16"),
        *((name, "mma.m16n8k16", a) for name in ARCHITECTURES[2:] for a in ("f16", "bf16")),
    ):  # fmt: skip
        yield claim(
            f"{architecture}/{shape}.f32.{a}.{a}.f32", "zero-126", f"{MMASIM}, III-C as first published",
            "disputed", "zero terms enter the maximum with the smallest normal exponent",
            zero_exponent=-126,
        )  # fmt: skip
    for a in FP8:
        yield claim(
            f"hopper/wgmma.m64nNk32.f32.{a}.{a}", "deepseek", f"DeepSeek-V3 report, by {MMASIM}",
            "refuted", "14 fraction bits kept, where the unit keeps 13",
            fraction_bits=14, round_fraction_bits=14,
        )  # fmt: skip
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


@cache
def _all_rows() -> dict[str, Row]:
    table: dict[str, Row] = {}
    for source in (_mma_rows, _fp8_on_f16_rows, _wgmma_rows, _tcgen05_rows):
        for row in source():
            table[row.name] = row
    for row in list(_claims(table)):
        table[row.name] = row
    order = {name: place for place, name in enumerate(ARCHITECTURES)}
    return dict(sorted(table.items(), key=lambda item: order[item[1].architecture]))


def rows() -> list[Row]:
    """Every row, by architecture."""
    return list(_all_rows().values())


def architecture_named(name: str) -> str:
    """The architecture of that name, alias (``sm_90``) or GPU (``h200``)."""
    given = name.lower().replace("_", "-") if name.lower() not in _ALIASES else name.lower()
    known = {**{a: a for a in ARCHITECTURES}, **_ALIASES, **GPUS}
    known |= {alias.replace(" ", "-"): target for alias, target in known.items()}
    known |= {alias.replace(" ", ""): target for alias, target in known.items()}
    if given in known:
        return known[given]
    raise UnknownName("architecture", name, [*ARCHITECTURES, *GPUS])


def rows_of(architecture: str, *, claims: bool = False) -> list[Row]:
    """An architecture's rows, its most used instruction first."""
    name = architecture_named(architecture)
    return [r for r in rows() if r.architecture == name and (claims or "@" not in r.instruction)]


def instruction_named(architecture: str, instruction: str) -> Row:
    """The row of an instruction, given whole or by a part that only one row has."""
    name = architecture_named(architecture)
    table = {r.instruction: r for r in rows_of(name, claims=True)}
    given = re.sub(r"\bm(64|128)n\d+k", lambda m: f"m{m[1]}nNk", instruction)
    if given.startswith("tcgen05"):
        given = re.sub(r"m\d+nNk", "mMnNk", given)
    if given in table:
        return table[given]
    parts = [r for r in table.values() if given.lower() in r.instruction.lower()]
    plain = [r for r in parts if "@" in given or "@" not in r.instruction]
    if len(plain) == 1:
        return plain[0]
    if plain:
        names = ", ".join(r.instruction for r in plain[:8])
        raise TcsmtError(f"instruction {instruction!r} of {name} is one of several: {names}")
    raise UnknownName(f"instruction of {name}", instruction, table)


def row_named(name: str) -> Row:
    """The row ``ARCH`` (its first instruction) or ``ARCH/INSTRUCTION`` (whole, or a unique part)."""
    architecture, slash, instruction = name.partition("/")
    if slash:
        return instruction_named(architecture, instruction)
    return rows_of(choose("architecture", architecture_named(architecture), ARCHITECTURES))[0]
