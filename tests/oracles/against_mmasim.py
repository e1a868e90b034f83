"""Every instruction of mmasim 2.1.1 against tcsmt, on random rows.

    python -m tests.oracles.against_mmasim --rows 1000000 --output results/comparisons/against-mmasim.json
    python -m tests.oracles.against_mmasim --freeze tests/data/mmasim.npz

Needs the extra ``oracle`` (mmasim, PyTorch) and a C++ compiler. A fifth of the rows each: uniform
bits; finite normal numbers; exponents packed within the alignment window; one or two products
whose low bits are a tie, or next to one, where c rounds; zeros, subnormals, extremes, infinities and
NaNs mixed in. A NaN must be the same word for NVIDIA below FP64, and any
NaN elsewhere. Exit code 1 where a row differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.rows import run_words

KINDS = ("uniform", "normal", "packed", "ties", "mixed")
CHUNK = 1 << 15
WITNESSES = 3
#: What mmasim calls the architectures that it has.
ARCHITECTURES = {
    "volta": "Volta", "turing": "Turing", "ampere": "Ampere", "ada": "Ada Lovelace", "hopper": "Hopper",
    "blackwell": "Blackwell", "rtx-blackwell": "RTX Blackwell",
    "cdna1": "CDNA1", "cdna2": "CDNA2", "cdna3": "CDNA3",
}  # fmt: skip
_OPERANDS = ("e5m2", "e4m3", "e3m2", "e2m3", "e2m1")


class Words(NamedTuple):
    """Inputs as words; scales are None where the unit has none."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    scale_a: np.ndarray | None
    scale_b: np.ndarray | None


def distinct() -> Iterator[tuple[Row, list[str], Any]]:
    """One row of each distinct arithmetic, the names of all its rows, and mmasim's unit."""
    owners: dict[Model, list[Row]] = {}
    for row in rows():
        if "@" not in row.instruction:
            owners.setdefault(row.model, []).append(row)
    for same in owners.values():
        units = [(row, unit) for row in same if (unit := unit_of(row)) is not None]
        if units:
            row, unit = units[0]
            yield row, [r.name for r, _ in units], unit


def unit_of(row: Row) -> Any:
    """mmasim's unit of a catalogue row; None where it has none."""
    from mmasim import amd, nv_ptx

    if row.architecture not in ARCHITECTURES:
        return None
    name, architecture = row.instruction, ARCHITECTURES[row.architecture]
    scaled = ".block" in name
    if name.startswith("v_mfma_"):
        kind, name = amd.MFMA, name.removeprefix("v_mfma_")
    elif name.startswith("wgmma."):
        kind, name = nv_ptx.WGMMA, name.removeprefix("wgmma.").replace("nNk", "n8k")
    elif name.startswith("tcgen05."):
        kind = nv_ptx.TCGen05MMABlockScale if scaled else nv_ptx.TCGen05MMA
        name = name.removeprefix("tcgen05.").replace("mMnNk", "m128n8k")
    else:
        kind = nv_ptx.MMABlockScale if scaled else nv_ptx.MMA
        name = name.removeprefix("mma.")
    try:
        return kind(architecture, name)
    except AssertionError:
        return None


def principal(row: Row) -> bool:
    """Whether the arithmetic is more than another one with other FP8, FP6 or FP4 operands."""
    model = row.model
    names = (model.a_format.name, model.b_format.name)
    plain = names in (("e4m3", "e4m3"), ("e5m2", "e5m2"))
    return not set(names) <= set(_OPERANDS) or plain or getattr(model, "group", 1) > 1


def draw(model: Model, count: int, kind: str, rng: np.random.Generator) -> Words:
    """Random inputs of one kind: words of shape (count, k), (count,), (count, scales)."""
    k, scales = model.k, model.scales
    a, b, c, d = map(float_format, (model.a_format, model.b_format, model.c_format, model.d_format))
    shapes = {"a": (a, (count, k)), "b": (b, (count, k)), "c": (c, (count, 1))}
    if model.scale_format is not None:
        shapes |= {f"scale_{side}": (float_format(model.scale_format), (count, scales)) for side in "ab"}
    words: dict[str, np.ndarray] = {}
    if kind in ("packed", "ties"):
        near = {side: rng.integers(*_fields(shapes[side][0]), (count, 1)) for side in "ab"}
        reach = {side: rng.integers(0, 5, (count, 1)) for side in "ab"}
        top = near["a"] - a.bias + near["b"] - b.bias
        reach_of_c = getattr(model.parameters, "fraction_bits", d.fraction_bits) + 11
        distance = rng.integers(-reach_of_c, 9, (count, 1))
        if kind == "ties":
            distance = d.fraction_bits - b.fraction_bits + rng.integers(-4, 6, (count, 1))
            reach |= {"a": 2 * reach["a"], "b": np.zeros((count, 1), int)}
        near["c"] = top + c.bias + distance
        reach["c"] = np.zeros((count, 1), int)
    for name, (fmt, shape) in shapes.items():
        match kind:
            case "uniform":
                words[name] = (
                    rng.integers(0, 1 << fmt.width, shape, np.uint64, endpoint=False)
                    if (fmt.width < 64)
                    else rng.integers(0, (1 << 64) - 1, shape, np.uint64, endpoint=True)
                )
            case "packed" | "ties" if name in near:
                field = near[name] + rng.integers(-reach[name], reach[name] + 1, shape)
                words[name] = _numbers(fmt, field, rng)
            case _ if name.startswith("scale"):
                words[name] = _numbers(fmt, rng.integers(fmt.bias - 6, fmt.bias + 7, shape), rng)
            case _:
                words[name] = _numbers(fmt, rng.integers(*_fields(fmt), shape), rng)
        if kind == "mixed":
            special = np.array(_special(fmt), np.uint64)
            chosen = special[rng.integers(0, len(special), shape)]
            rate = rng.choice([0.03, 0.2, 0.7], (count, 1))
            words[name] = np.where(rng.random(shape) < rate, chosen, words[name])
    if kind == "ties":
        words["a"], words["b"] = _tying(model, words["a"], words["b"], rng)
    typed = {name: array.astype(unsigned(shapes[name][0])) for name, array in words.items()}
    return Words(typed["a"], typed["b"], typed["c"][:, 0], typed.get("scale_a"), typed.get("scale_b"))


def _fields(fmt: Format) -> tuple[int, int]:
    """The exponent fields of normal numbers, as a half-open range."""
    return int(fmt.has_subnormals), fmt.largest_finite_field + 1


def _numbers(fmt: Format, field: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Words of random sign and fraction with these exponent fields, clipped to normal numbers."""
    low, high = _fields(fmt)
    shape = field.shape
    fraction = rng.integers(0, 1 << fmt.fraction_bits, shape, np.uint64)
    sparse = rng.random(shape) < 0.3  # few significand bits, so that sums cancel and tie
    fraction = np.where(sparse, fraction & rng.integers(0, 1 << fmt.fraction_bits, shape, np.uint64)
                        & rng.integers(0, 1 << fmt.fraction_bits, shape, np.uint64), fraction)  # fmt: skip
    word = np.clip(field, low, high - 1).astype(np.uint64) << np.uint64(fmt.fraction_bits) | fraction
    if fmt.specials.name == "NAN_ONLY" and fmt.has_subnormals:
        word = np.minimum(word, np.uint64(fmt.largest_finite_word >> fmt.ignored_low_bits))
    word = word << np.uint64(fmt.ignored_low_bits)
    if fmt.signed:
        word |= rng.integers(0, 2, shape, np.uint64) << np.uint64(fmt.sign_bit)
    return word


def _tying(
    model: Model, a: np.ndarray, b: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The words of a and b, changed so that the low bits of each product are ``10...0`` or next to it.

    As many bits as b's fraction has; a becomes odd, and b the wanted bits over a modulo 2^bits. All
    lanes but one or two become zero.
    """
    a_format, b_format = float_format(model.a_format), float_format(model.b_format)
    bits, one = np.uint64(b_format.fraction_bits), np.uint64(1)
    mask = (one << bits) - one
    low = {"a": np.uint64(a_format.ignored_low_bits), "b": np.uint64(b_format.ignored_low_bits)}
    a = a | one << low["a"]
    odd = a >> low["a"] & (one << np.uint64(a_format.fraction_bits)) - one
    odd |= one << np.uint64(a_format.fraction_bits)
    inverse: np.ndarray = odd.copy()
    for _ in range(6):  # Newton: twice as many correct bits each time
        inverse = inverse * (np.uint64(2) - odd * inverse)
    place = np.minimum(rng.integers(0, 4, a.shape).astype(np.uint64) + one, bits)
    power = one << bits - place
    wanted: np.ndarray = np.where(rng.random(a.shape) < 0.5, power + one, power - one) | one
    b = b & ~(mask << low["b"]) | (wanted * inverse & mask) << low["b"]
    kept = rng.permuted(np.arange(a.shape[1]) < rng.integers(1, 3, (len(a), 1)), axis=1)
    return np.where(kept, a, 0), np.where(kept, b, 0)


def _special(fmt: Format) -> list[int]:
    """Zeros, subnormals, the smallest and largest numbers, infinities and NaNs, of both signs."""
    low, one = fmt.ignored_low_bits, 1 << fmt.fraction_bits
    found = [0, 0, 1, one - 1, one, one + 1, fmt.largest_finite_word >> low, fmt.infinity_word >> low]
    found += [1 << i for i in range(fmt.fraction_bits)]
    words = [word << low for word in found]
    if low:
        words += [fmt.infinity_word | 1, 1]
    if fmt.nan_word is not None:
        words += [fmt.nan_word, fmt.nan_word]
    if fmt.has_infinity:
        words += [fmt.infinity_word | 1 << low, fmt.infinity_word, fmt.infinity_word]
    if fmt.signed:
        words += [word | 1 << fmt.sign_bit for word in words]
    if fmt.ignored_high_bits:
        words += [word | 1 << (fmt.width - 1) for word in words]
    return [word & ((1 << fmt.width) - 1) for word in words]


def answer(unit: Any, model: Model, words: Words) -> np.ndarray:
    """mmasim's results, as words."""
    import torch

    def tensor(fmt: AnyFormat, array: np.ndarray, dtype: Any) -> Any:
        if dtype is torch.uint8 and fmt.width == 4:
            packed = getattr(unit, "packing", 1) == 2  # mmasim's order of a pair; both are in one exact sum
            array = array[:, ::2] << 4 | array[:, 1::2] if packed else array << 2
        return torch.from_numpy(np.ascontiguousarray(array)).view(dtype)

    given = [tensor(model.a_format, words.a, unit.a_type), tensor(model.b_format, words.b, unit.b_type)]
    given.append(tensor(model.c_format, words.c, unit.c_type))
    if model.scale_format is not None:
        assert words.scale_a is not None and words.scale_b is not None
        given += [tensor(model.scale_format, s, unit.s_type) for s in (words.scale_a, words.scale_b)]
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[unit.d_type.itemsize]
    return unit.dpa(*given).view(kind).numpy().view(unsigned(model.d_format))


def is_nan(fmt: Format, words: np.ndarray) -> np.ndarray:
    """Which words of an IEEE format are NaNs."""
    magnitude = words & words.dtype.type((1 << fmt.sign_bit) - 1)
    return magnitude > words.dtype.type(fmt.infinity_word)


def differing(row: Row, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Where two results differ, by the rule for NaNs that the row's vendor follows."""
    fmt = row.model.d_format
    ours = ours.astype(theirs.dtype)
    different = ours != theirs
    if row.architecture.startswith("cdna") or fmt == FORMATS["f64"]:
        different &= ~(is_nan(float_format(fmt), ours) & is_nan(float_format(fmt), theirs))
    return different


#: Why differences that are listed here are not ours to mend.
DROPPED_C = (
    "mmasim 2.1.1 gives an infinity or NaN the exponent -1, so that its rule for small c (dropped "
    "where its exponent is more than 25 below the largest) loses an infinite or NaN c, given or from "
    "the block before, next to products of 2^25 or more; the paper looks at special values first"
)


ROUNDED_TWICE = (
    "mmasim 2.1.1 takes the decision to overflow from a float64 sum, rounded again to FP32: an exact "
    "sum just below 2^128 - 2^103 becomes that tie and then an infinity; rounded once it is the largest "
    "finite number"
)


def known(row: Row, ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, str]:
    """Which differences are of the one kind that is known of the row's arithmetic, and the reason."""
    fmt, one = row.model.d_format, ours.astype(theirs.dtype)
    if getattr(row.model.parameters, "c_reach", None) is not None:  # CDNA3's FP8 units
        special = [
            words & words.dtype.type(fmt.infinity_word) == fmt.infinity_word for words in (one, theirs)
        ]
        return special[0] & ~special[1], DROPPED_C
    if getattr(row.model.parameters, "method", "") == "exact":  # CDNA1: the next word up is infinity
        largest = one & one.dtype.type((1 << fmt.sign_bit) - 1) == fmt.largest_finite_word
        return largest & (theirs == one + 1), ROUNDED_TWICE
    return np.zeros(len(ours), bool), ""


def compare(row: Row, unit: Any, count: int) -> dict[str, Any]:
    """Rows compared, differences by kind, and some of them."""
    model = row.model
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    wrong, witnesses, explained, done = dict.fromkeys(KINDS, 0), [], 0, 0
    seconds = [0.0, 0.0]
    for kind in KINDS:
        left = -(-count // len(KINDS))
        while left:
            size = min(left, CHUNK)
            words = draw(model, size, kind, rng)
            start = time.perf_counter()
            theirs = answer(unit, model, words)
            middle = time.perf_counter()
            ours = run_words(model, Operands(*words))
            seconds[0] += middle - start
            seconds[1] += time.perf_counter() - middle
            all_different = differing(row, ours, theirs)
            like_known, why = known(row, ours, theirs)
            is_known = all_different & like_known
            if is_known.any() and not explained:
                witnesses.append(_shown(words, np.flatnonzero(is_known)[0], ours, theirs, why))
            explained += int(is_known.sum())
            different = np.flatnonzero(all_different & ~is_known)
            wrong[kind] += len(different)
            for i in different[: max(0, WITNESSES - len(witnesses))]:
                witnesses.append(_shown(words, i, ours, theirs))
            left -= size
            done += size
    return {"rows": done, "differences": wrong, "known": explained, "witnesses": witnesses,
            "seconds": {"mmasim": round(seconds[0], 1), "tcsmt": round(seconds[1], 1)}}  # fmt: skip


def _shown(words: Words, i: int, ours: np.ndarray, theirs: np.ndarray, why: str = "") -> dict[str, Any]:
    inputs = {
        n: [hex(int(x)) for x in np.atleast_1d(w[i])] for n, w in words._asdict().items() if w is not None
    }
    shown: dict[str, Any] = {**inputs, "tcsmt": hex(int(ours[i])), "mmasim": hex(int(theirs[i]))}
    return {**shown, "why": why} if why else shown


def freeze(path: Path, most: int, variants: int) -> None:
    """Inputs and mmasim's results for a test that needs no mmasim; rows that differ are left out."""
    import mmasim
    import torch

    arrays: dict[str, np.ndarray] = {}
    for row, _, unit in distinct():
        rng = np.random.default_rng(zlib.crc32(row.name.encode()))
        each = -(-(most if principal(row) else variants) // len(KINDS))
        parts = [draw(row.model, each, kind, rng) for kind in KINDS]
        columns: list[Any] = [None if p[0] is None else np.concatenate(p) for p in zip(*parts, strict=True)]
        words = Words(*columns)
        theirs = answer(unit, row.model, words)
        kept = ~differing(row, run_words(row.model, Operands(*words)), theirs)
        arrays |= {f"{row.name}/{n}": w[kept] for n, w in words._asdict().items() if w is not None}
        arrays[f"{row.name}/d"] = theirs[kept]
    version = getattr(mmasim, "__version__", "2.1.1")
    arrays["provenance"] = np.array(
        f"results of mmasim {version} (PyTorch {torch.__version__}), not of hardware; "
        "written by tests/oracles/against_mmasim.py --freeze"
    )
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def main() -> int:
    """Compare, or freeze."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000, help="for each distinct arithmetic")
    parser.add_argument("--variant-rows", type=int, help="where only FP8, FP6 or FP4 operands differ")
    parser.add_argument("--exact-rows", type=int, help="for CDNA1's exact sums, slow without a compiler")
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--output", type=Path, help="write JSON")
    parser.add_argument("--freeze", type=Path, help="write frozen vectors instead")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    if options.freeze:
        freeze(options.freeze, 160, 20)
        return 0
    found = []
    for row, names, unit in distinct():
        if options.only not in row.name:
            continue
        count = options.rows
        if options.variant_rows and not principal(row):
            count = options.variant_rows
        if options.exact_rows and getattr(row.model.parameters, "method", "") == "exact":
            count = options.exact_rows
        result = {"unit": row.name, "same": names[1:], **compare(row, unit, count)}
        found.append(result)
        wrong = sum(result["differences"].values())
        if not found[1:]:
            print(f"{'unit':<75} all     rows wrong known  seconds")
        counts = f"{len(names):>3} {result['rows']:>8} {wrong:>5} {result['known']:>5}"
        print(f"{row.name:<75} {counts}  {result['seconds']}", flush=True)
        if wrong:
            print(f"    {result['differences']}", flush=True)
        for witness in result["witnesses"]:
            print(f"    {witness}", flush=True)
        if options.output:
            about = {
                "against": "mmasim 2.1.1", "PyTorch": torch.__version__, "rows": options.rows,
                "kinds of rows": KINDS, "simulator": "compiled" if jit.available() else "NumPy",
                "models": models_named(found), "units": found,
            }  # fmt: skip
            options.output.write_text(json.dumps(about, indent=1) + "\n")
    total = sum(sum(r["differences"].values()) for r in found)
    explained = sum(r["known"] for r in found)
    print(
        f"{len(found)} arithmetics, {sum(r['rows'] for r in found)} rows, {total} differences, "
        f"{explained} of a known kind"
    )
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
