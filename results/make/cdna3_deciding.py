"""Vectors that decide what published results of an MI300 leave open, and one script that asks an MI300.

    python results/make/cdna3_deciding.py --output results/comparisons

Writes cdna3-deciding-TYPE.json for FP16, BF16, XF32 and BF8, and cdna3-deciding.sh. Each vector tells the
accepted model from changes of one parameter (:func:`.neighbours`): those that its ``asks`` names. What some
vector of :func:`tcsmt.vectors` (kind ``deciding``) or of :func:`drawn` tells apart, one that is kept does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tcsmt.interop.hardware.source import program
from tcsmt.interop.hardware.vectors import Vector, as_json
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.rows import Words, run_words, words_of_row
from tcsmt.surveys.units.neighbours import neighbours
from tcsmt.surveys.units.vectors import vectors_of

UNITS = {
    "f16": "cdna3/v_mfma_f32_32x32x8_f16",
    "bf16": "cdna3/v_mfma_f32_32x32x8_bf16",
    "xf32": "cdna3/v_mfma_f32_32x32x4_xf32",
    "bf8": "cdna3/v_mfma_f32_32x32x16_bf8_bf8",
}
#: Rows that are drawn for each unit.
ROWS = 1 << 15
#: Who reads a NaN whose payload lies in the 13 bits that XF32 ignores as NaN; the accepted row: as infinity.
NAN_FIRST = "TC-EFT 6df1d362"
#: XF32: such a NaN times 1; and an independent row on which the two readings were found to differ.
CUT_NANS = (
    {"a0": 0x7F800001, "b0": 0x3F800000},
    {"a0": 0xFF8012D2, "a1": 0x86E64ED4, "a2": 0xAAA9B5B6, "a3": 0x664E919F, "b0": 0xB49792C3,
     "b1": 0x35C82AD4, "b2": 0x4779AD0F, "b3": 0x1DA82283, "c": 0x816DDBB3},
)  # fmt: skip


def drawn(model: Model, count: int, rng: np.random.Generator) -> Words:
    """Return rows of c near 1 and up to four smaller products, of which later alignments cut bits."""
    fmt = float_format(model.a_format)
    fraction, sign = 1 << fmt.fraction_bits, fmt.exponent_bits + fmt.fraction_bits

    def words(exponent: np.ndarray) -> np.ndarray:
        field = np.clip(exponent + fmt.bias, 1, fmt.largest_finite_field)
        bits = rng.integers(0, 2, count) << sign | rng.integers(0, fraction, count)
        word: np.ndarray = (field << fmt.fraction_bits | bits) << fmt.ignored_low_bits
        return word.astype(unsigned(fmt))

    a, b = (np.zeros((count, model.k), unsigned(fmt)) for _ in "ab")
    top = -rng.integers(1, 34, count)
    exponent = top
    for lane in range(4):
        half = np.maximum(exponent // 2, fmt.e_min)
        a[:, lane], b[:, lane] = words(half), words(exponent - half)
        exponent = top - rng.integers(0, 26, count)
        if lane:
            a[rng.random(count) < 0.4, lane] = 0
    c = (rng.integers(0, 2, count) << 31 | 127 << 23 | rng.integers(0, 4, count)).astype(np.uint32)
    return Operands(a, b, c)


def deciding(row: Row) -> list[Vector]:
    """Return vectors that tell apart what any candidate tells apart, those that exclude most first."""
    rng = np.random.default_rng(20261129)
    sets = [vectors_of(row, "deciding").vectors.inputs, drawn(row.model, ROWS, rng)]
    inputs = Operands(*(np.concatenate([getattr(one, side) for one in sets]) for side in "abc"))
    ours = run_words(row.model, inputs)
    others = {one.name: run_words(one.model, inputs) for one in neighbours(row.model)}
    differ = {name: words != ours for name, words in others.items()}
    left = {name for name, told in differ.items() if told.any()}
    vectors = []
    while left:
        number = int(np.argmax(np.sum([differ[name] for name in left], axis=0)))
        new = [name for name in differ if name in left and differ[name][number]]
        left -= set(new)
        words = {name: int(others[name][number]) for name in new}
        vectors.append(_vector(row, f"not {'; '.join(new)}", words_of_row(inputs, number), words))
    return vectors


def _vector(row: Row, asks: str, words: Sequence[int], others: dict[str, int]) -> Vector:
    readings = {
        reading.name: int(run_words(reading.model, _one(row.model, words))[0])
        for reading in rows(row.architecture)
        if reading.instruction.partition("@")[0] == row.instruction
    }
    return Vector(asks=asks, words=tuple(words), predictions=readings | others)


def _one(model: Model, words: Sequence[int]) -> Words:
    split = model.operands([np.array([word], np.uint64) for word in words])
    return split.map(lambda part: part if isinstance(part, np.ndarray) else np.stack(part, axis=1))


def cut_nans(row: Row) -> Iterator[Vector]:
    """Yield the rows on which two sources read a NaN differently."""
    nan = row.model.d_format.nan_word
    assert nan is not None
    for given in CUT_NANS:
        words = [given.get(name, 0) for name in row.model.input_names]
        yield _vector(row, "a NaN whose payload lies in the bits that XF32 ignores", words, {NAN_FIRST: nan})


def script(programs: dict[str, str]) -> str:
    """Return one file that compiles and runs all programs, and leaves the answers in the folder."""
    lines = [
        "#!/bin/sh",
        "# What published results of an MI300 leave open: sh cdna3-deciding.sh, where there are an MI300A or",
        "# MI300X and hipcc. It writes answers-TYPE.json here, which `tcsmt validate answers-*.json` reads.",
        "set -e",
        "folder=$(mktemp -d)",
    ]
    for name, text in programs.items():
        lines += [f"cat > \"$folder/{name}.hip\" <<'END_OF_PROGRAM'", text.rstrip("\n"), "END_OF_PROGRAM"]
        lines += [f'hipcc -std=c++17 --offload-arch=gfx942 -o "$folder/{name}" "$folder/{name}.hip"']
        lines += [f'"$folder/{name}" > answers-{name}.json || echo "{name}: see above" >&2']
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="the folder of the files")
    folder, programs = parser.parse_args().output, {}
    for name, unit in UNITS.items():
        row = row_named(unit)
        vectors = [*deciding(row), *(cut_nans(row) if name == "xf32" else ())]
        (folder / f"cdna3-deciding-{name}.json").write_text(as_json(row, vectors))
        programs[name] = program(row, vectors, "hip", "results/make/cdna3_deciding.py")
        print(f"{name}: {len(vectors)} vectors")
    (folder / "cdna3-deciding.sh").write_text(script(programs))


if __name__ == "__main__":
    main()
