"""AMD's matrix cores, CDNA1 to CDNA3. No hardware outputs of them are held: every row is published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS
from tcsmt.matrix_units.catalogue.row import MMASIM, PACKAGE, Row, claim
from tcsmt.matrix_units.models import DotThenAdd, IeeeDotAdd, IntegerDotAdd, Model

__all__ = ["claims", "units"]

#: (shape, k) of the instructions that CDNA1 brought, and which CDNA2 has too
_CDNA1 = {
    "f16": ("32x32x8", "32x32x4", "16x16x16", "16x16x4", "4x4x4"),
    "bf16": ("32x32x4", "32x32x2", "16x16x8", "16x16x2", "4x4x2"),
    "f32": ("32x32x2", "32x32x1", "16x16x4", "16x16x1", "4x4x1"),
}
_CDNA2 = {
    "bf16_1k": ("32x32x8", "32x32x4", "16x16x16", "16x16x4", "4x4x4"),
    "f64": ("16x16x4", "4x4x4"),
}
#: shapes of CDNA3, with the number of matrices that one instruction multiplies
_CDNA3_16 = ("32x32x8", "32x32x4_2b", "16x16x16", "16x16x4_4b", "4x4x4_16b")
_CDNA3 = {
    "f16": _CDNA3_16,
    "bf16": _CDNA3_16,
    "xf32": ("32x32x4", "16x16x8"),
    **{f"{a}_{b}": ("32x32x16", "16x16x32") for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
    "f32": ("32x32x2", "16x16x4", "32x32x1_2b", "16x16x1_4b", "4x4x1_16b"),
    "f64": ("16x16x4", "4x4x4_4b"),
}
_FORMAT = {"xf32": "tf32", "fp8": "e4m3fnuz", "bf8": "e5m2fnuz", "bf16_1k": "bf16"}
_NAN = "the word of a NaN is not known (MMA-Sim IV-B): the quiet NaN that IEEE 754 prefers"


def _row(architecture: str, instruction: str, model: Model, source: str, note: str) -> Row:
    return Row(
        architecture=architecture, instruction=instruction, model=model, source=source, date=2025,
        evidence="published", note=f"{note}; {_NAN}" if note else _NAN,
    )  # fmt: skip


def _k(shape: str) -> int:
    return int(shape.partition("_")[0].rpartition("x")[2])


def _ieee(types: str, k: int, **changes: object) -> IeeeDotAdd:
    """A model of IEEE operations; FP32 unless the operands are FP64."""
    operand = _FORMAT.get(types, types)
    d = "f64" if operand == "f64" else "f32"
    formats = {"a_format": operand, "b_format": operand, "c_format": d, "d_format": d, "sum_format": d}
    return IeeeDotAdd(k=k, **(formats | changes))  # type: ignore[arg-type]


def _chain(types: str, k: int) -> tuple[Model, str, str]:
    return _ieee(types, k, method="fma"), f"{MMASIM}, III-A (SFMA); {PACKAGE}", ""


def _cdna1(types: str, k: int) -> tuple[Model, str, str]:
    if types == "f32":
        return _chain(types, k)
    block = min(k, 4 if types == "f16" else 2)
    model = _ieee(types, k, method="exact", n_fma=block, negative_zero=False)
    note = "an exact zero sum is +0; a negative sum that rounds to zero is -0; subnormals are kept"
    return model, f"{PACKAGE} (MMA_E_FDPA); FTTN (Li et al. 2024), by {MMASIM}", note


def _cdna2(types: str, k: int) -> tuple[Model, str, str]:
    if types in ("f32", "f64"):
        return _chain(types, k)
    group = 2 if types == "bf16" else 4
    flushed = {"flush_inputs": True, "flush_outputs": True, "flush_to_positive": True}
    model = _ieee(types, k, method="pairwise", n_fma=group, product_format="f32", **flushed)
    note = "subnormal inputs (c too) are read as +0; subnormal products and sums become zeros of their sign"
    return model, f"{MMASIM}, III-B (GPS); {PACKAGE}", note


def _cdna3(types: str, k: int) -> tuple[Model, str, str]:
    if types in ("f32", "f64"):
        return _chain(types, k)
    a, _, b = types.partition("_")
    formats = {
        "a_format": _FORMAT.get(a, a), "b_format": _FORMAT.get(b or a, b or a),
        "c_format": "f32", "d_format": "f32",
    }  # fmt: skip
    common = {"k": k, "fraction_bits": 24, "dot_fraction_bits": 32, "normalised_fraction_bits": 31}
    fp8 = a in ("fp8", "bf8")
    most = 16 if fp8 else 4 if a == "xf32" else 8
    more = {"lane_groups": 2, "c_reach": 25} if fp8 else {"product_limit": 128}
    model = DotThenAdd(**formats, **common, **more, n_fma=min(k, most))  # type: ignore[arg-type]
    section = "III-H and III-I (GFDRDA)" if fp8 else "III-F and III-G (FDRDA)"
    note = "a negative sum that rounds to zero is -0, an exact zero sum +0"
    if a == "xf32":
        note += "; the low 13 bits of an operand are ignored, so that such a NaN reads as infinity"
    return model, f"{MMASIM}, {section}; {PACKAGE}", note


#: names of the instructions for bytes after ``v_mfma_i32_``
_INTEGER = {
    **dict.fromkeys(
        ("cdna1", "cdna2"), ("32x32x8i8", "32x32x4i8", "16x16x16i8", "16x16x4i8", "4x4x4i8")
    ),
    "cdna3": ("32x32x16_i8", "16x16x32_i8", "32x32x4_2b_i8", "16x16x4_4b_i8", "4x4x4_16b_i8"),
}  # fmt: skip


def _integer_rows() -> Iterator[Row]:
    s8, s32 = INTEGERS["s8"], INTEGERS["s32"]
    for architecture, names in _INTEGER.items():
        for name in names:
            k = _k(name.replace("i8", "_"))
            model = IntegerDotAdd(a_format=s8, b_format=s8, c_format=s32, d_format=s32, k=k)
            yield Row(
                architecture=architecture, instruction=f"v_mfma_i32_{name}", model=model, date=2025,
                source="AMD's manual of CDNA3, dense MFMA; AMD's emulator (rocjitsu)", evidence="published",
                note="bits carried out are dropped; the manual speaks of clamping, too, but the instruction "
                "has no bit that asks for it, and the emulator does not clamp",
            )  # fmt: skip


def units() -> Iterator[Row]:
    """Every row that is no claim."""
    yield from _float_rows()
    yield from _integer_rows()


def _float_rows() -> Iterator[Row]:
    older = (("cdna1", _CDNA1, _cdna1), ("cdna2", {**_CDNA1, **_CDNA2}, _cdna2))
    for architecture, table, model_of in older:
        for types, shapes in table.items():
            for shape in shapes:
                d = "f64" if types == "f64" else "f32"
                yield _row(architecture, f"v_mfma_{d}_{shape}{types}", *model_of(types, _k(shape)))
    for types, shapes in _CDNA3.items():
        for shape in shapes:
            d = "f64" if types == "f64" else "f32"
            yield _row("cdna3", f"v_mfma_{d}_{shape}_{types}", *_cdna3(types, _k(shape)))


def _first(shapes: Sequence[str], types: str) -> str:
    return f"cdna3/v_mfma_f32_{shapes[0]}_{types}"


def claims(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """Where the paper and the package read CDNA3 differently."""
    for types, shapes in _CDNA3.items():
        if types in ("f32", "f64"):
            continue
        yield claim(
            accepted[_first(shapes, types)], "paper", f"{MMASIM}, III-F, as first published", "disputed",
            "31 fraction bits at the second alignment, where mmasim keeps 32 and rounds the normalised sum "
            "down to 31; inputs that decide: tests/data/deciding.json",
            dot_fraction_bits=31, normalised_fraction_bits=None,
        )  # fmt: skip
