"""Whole instructions in C against the simulator: compiled, with modifiers, descriptors and shapes."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.interop.kits.instructions import KitFunction
from tcsmt.interop.kits.kit import Kit, kit
from tcsmt.matrix_units.catalogue import Row
from tcsmt.simulate.rows import Words, run_words
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.units.vectors import edges
from tests.oracles import fragments
from tests.oracles.ptx import matrix_place
from tests.support.kits import WARNINGS, built, called, drawn, words_of

Array = np.ndarray[Any, np.dtype[Any]]
#: Of each architecture, instructions of every kind of call and arithmetic.
SMALL = {
    "hopper": ("wgmma.m64nNk16.f16.f16.f16", "wgmma.m64nNk32.f32.e4m3.e5m2", "wgmma.m64nNk32.s32.s8.u8"),
    "cdna3": ("v_mfma_f32_4x4x4_16b_f16", "v_mfma_f64_4x4x4_4b_f64", "v_mfma_i32_32x32x4_2b_i8"),
    "rdna4": ("v_wmma_f32_16x16x16_f16_w32", "v_dot2_f32_f16", "v_dot2_bf16_bf16"),
    "x86": ("vdpbf16ps", "tdpbf16ps", "tdpbusd", "vpdpwssds"),
}


def telling(row: Row) -> Words:
    words = edges(row, 5, 16).inputs
    chosen = np.random.default_rng(5).permutation(len(words.c))[:24]
    return Words(words.a[chosen], words.b[chosen], words.c[chosen])


@cache
def small(architecture: str) -> Kit:
    return kit(architecture, telling, only=SMALL[architecture])


def function_of(architecture: str, instruction: str) -> KitFunction:
    return next(f for f in small(architecture).functions if f.row.instruction == instruction)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def library(architecture: str) -> Path:
        return built(small(architecture), tmp_path_factory.mktemp(architecture))

    return library


@pytest.mark.parametrize("architecture", SMALL)
def test_the_checking_program_accepts_the_kit(architecture: str, libraries: Any, tmp_path: Path) -> None:
    folder = libraries(architecture).parent
    program = tmp_path / "check"
    command = ["gcc", "-std=c11", *WARNINGS, "-I", str(folder), str(folder / "check.c"), "-o", str(program)]
    library = libraries(architecture)
    subprocess.run([*command, str(library), "-lm", f"-Wl,-rpath,{folder}"], check=True)
    ran = subprocess.run([program, folder / "vectors"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"{len(SMALL[architecture])} functions, 0 differ\n")
    # one bit of one expected word
    name = small(architecture).functions[0].name
    rows = folder / "vectors" / f"{name}.hex"
    text = rows.read_text()
    wrong = tmp_path / "vectors"
    wrong.mkdir()
    last = int(text.split()[-1], 16)
    (wrong / f"{name}.hex").write_text(f"{text.rstrip()[:-8]}{last ^ 1:08x}\n")
    ran = subprocess.run([program, wrong, name], capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and f"is 0x{last:08x}, expected 0x{last ^ 1:08x}" in ran.stdout
    assert subprocess.run([program, wrong, "none"], capture_output=True, check=False).returncode == 2


def products(function: KitFunction, a: Array, b: Array, c: Array) -> Array:
    """D by the simulator: a (q, m, k), b (q, n, k), c (q, m, n), words."""
    model, pairs = function.row.model, (*c.shape, a.shape[-1])
    formats = (model.a_format, model.b_format, model.c_format)
    dtypes = [np.dtype(f"u{size}") for size in function.word_sizes]
    assert len(formats) == 3
    words = Words(
        np.broadcast_to(a[:, :, None], pairs).reshape(-1, pairs[-1]).astype(dtypes[0]),
        np.broadcast_to(b[:, None], pairs).reshape(-1, pairs[-1]).astype(dtypes[1]),
        c.reshape(-1).astype(dtypes[2]),
    )
    return run_words(model, words).reshape(c.shape).astype(np.uint64)


def matrices(function: KitFunction, **registers: Array) -> list[Array]:
    """The matrices in fragments, by the oracle's layouts."""
    row, tile = function.row, function.tile
    places = fragments.places(row.architecture, row.instruction, row.model)
    shapes = {"a": (tile.m, tile.k), "b": (tile.n, tile.k), "c": (tile.m, tile.n), "d": (tile.m, tile.n)}
    return [
        words_of(own, places[side.upper()], tile.operands[side.upper()].bits, (tile.matrices, *shapes[side]))
        for side, own in registers.items()
    ]


def finite(rng: np.random.Generator, size: int) -> Array:
    """Registers of two halves each, which are numbers near 1."""
    return (drawn(rng, size) & 0x83FF83FF) | 0x38003800


def test_blocks_and_lanes_are_chosen(libraries: Any) -> None:
    """AMD's matrix instruction calculator, on CBSZ, ABID and BLGP."""
    function = function_of("cdna3", "v_mfma_f32_4x4x4_16b_f16")
    rng, library = np.random.default_rng(7), libraries("cdna3")
    a, b = (finite(rng, function.sizes[side]) for side in "ab")
    c = drawn(rng, function.sizes["c"]) & np.uint32(0xBFFFFFFF)
    lanes = np.arange(64)
    sources = {
        0: lanes, 1: lanes % 32, 2: lanes % 32 + 32, 3: (lanes + 16) % 64,
        **{4 + quarter: lanes % 16 + 16 * quarter for quarter in range(4)},
    }  # fmt: skip
    for cbsz, abid, blgp in [(0, 0, 0), (1, 1, 0), (2, 3, 0), (4, 13, 0), *((2, 1, n) for n in range(8))]:
        d = np.zeros(function.sizes["d"], np.uint32)
        called(library, function.name, d, a, b, c, cbsz, abid, blgp, registers=d.size)
        of_b = b.reshape(64, -1)[sources[blgp]].reshape(-1)
        (in_a, in_b, in_c, in_d) = matrices(function, a=a, b=of_b, c=c, d=d)
        blocks = [block - block % 2**cbsz + abid % 2**cbsz for block in range(16)]
        assert np.array_equal(in_d, products(function, in_a[blocks], in_b, in_c))


def test_negations(libraries: Any) -> None:
    """The same on NEG and NEG_HI: halves of a register apart, C's magnitude before its negation."""
    wide, packed = function_of("cdna3", "v_mfma_f64_4x4x4_4b_f64"), function_of("rdna4", SMALL["rdna4"][0])
    rng = np.random.default_rng(8)
    for neg in range(8):
        operands = [drawn(rng, wide.sizes[side]) & np.uint32(0xBFFFFFFF) for side in "abc"]
        d = np.zeros(wide.sizes["d"], np.uint32)
        called(libraries("cdna3"), wide.name, d, *operands, neg, registers=d.size)
        *given, found = matrices(wide, **dict(zip("abcd", [*operands, d], strict=True)))
        signs = [np.uint64((neg >> bit & 1) << 63) for bit in range(3)]
        assert np.array_equal(found, products(wide, *(x ^ s for x, s in zip(given, signs, strict=True))))
    for neg, high in [(0, 0), (1, 0), (0, 1), (2, 1), (0, 2), (4, 0), (0, 4), (4, 4), (7, 7)]:
        a, b = (finite(rng, packed.sizes[side]) for side in "ab")
        c = drawn(rng, packed.sizes["c"]) & np.uint32(0xBFFFFFFF)
        d = np.zeros(packed.sizes["d"], np.uint32)
        called(libraries("rdna4"), packed.name, d, a, b, c, neg, high, registers=d.size)
        in_a, in_b, in_c, in_d = matrices(packed, a=a, b=b, c=c, d=d)
        even = np.arange(packed.tile.k) % 2 == 0
        flips = [
            np.where(even, neg >> bit & 1, high >> bit & 1).astype(np.uint64) << np.uint64(15)
            for bit in (0, 1)
        ]
        in_c = in_c & np.uint64(0x7FFFFFFF) if high & 4 else in_c
        in_c ^= np.uint64((neg >> 2 & 1) << 31)
        assert np.array_equal(in_d, products(packed, in_a ^ flips[0], in_b ^ flips[1], in_c))


@pytest.mark.parametrize("pattern", range(4))
@pytest.mark.parametrize("transposed", [False, True])
def test_descriptors(pattern: int, transposed: bool, libraries: Any) -> None:
    """A and B in shared memory, as the oracle of compiled kernels reads it; n = 24 columns."""
    function, rng = function_of("hopper", SMALL["hopper"][0]), np.random.default_rng(pattern)
    shared = finite(rng, 1 << 14)
    swizzle = [16, 128, 64, 32][pattern]
    leading, stride = (256, 8 * swizzle) if pattern else (128, 256)
    if transposed:
        leading, stride = 4096, 1024
    descriptors = [
        start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | pattern << 62 for start in (1024, 20480)
    ]
    n, halves = 24, shared.view(np.uint16)
    d = finite(rng, 128 * n // 4)
    before, flags = d.copy(), 24 if transposed else 0
    arguments = (n, d, 0, *descriptors, shared, shared.nbytes, flags)
    code, _ = called(libraries("hopper"), function.name, *arguments, registers=d.size)
    assert code == 0
    a, b = (
        np.array([[halves[matrix_place(descriptor, row, k, 2, rows_inside=transposed) // 2]
                   for k in range(16)] for row in range(rows)], np.uint64)
        for descriptor, rows in zip(descriptors, (64, n), strict=True)
    )  # fmt: skip

    def sums(registers: Array) -> Array:
        """PTX ISA, "Register Fragments": two neighbours in a register, then 8 rows on, then 8 columns on."""
        found = np.zeros((64, n), np.uint64)
        for (thread, element), word in np.ndenumerate(registers.view(np.uint16).reshape(128, -1)):
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (element // 2 % 2)
            found[row, 8 * (element // 4) + 2 * (thread % 4) + element % 2] = word
        return found

    assert np.array_equal(sums(d), products(function, a[None], b[None], sums(before)[None])[0])


def test_a_warpgroup_s_refusals_flags_and_registers(libraries: Any) -> None:
    function, rng = function_of("hopper", SMALL["hopper"][0]), np.random.default_rng(1)
    library, descriptor = libraries("hopper"), 128 >> 4 << 16 | 256 >> 4 << 32
    shared, a = finite(rng, 128), finite(rng, function.sizes["a"])
    d = finite(rng, 128 * 6)
    for n, own_a, of_b, size, flags in [
        (4, a, descriptor, 512, 0), (264, a, descriptor, 512, 0), (8, a, descriptor | 1 << 49, 512, 0),
        (24, a, descriptor, 512, 0), (8, a, descriptor, 512, 8),
    ]:  # fmt: skip
        before = d.copy()
        code, _ = called(library, function.name, n, d, own_a, 0, of_b, shared, size, flags, registers=d.size)
        assert code == 1 and np.array_equal(d, before)
    row, tile = function.row, function.tile
    places = {
        (thread, i): (
            0,
            16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2),
            thread % 4 * 2 + i % 2 + 8 * (i // 4),
        )
        for thread in range(128)
        for i in range(8)
    }  # fmt: skip
    in_a = words_of(a, places, 16, (1, 64, 16))
    of_sums = fragments.places(row.architecture, row.instruction, row.model)["D"]
    in_b = np.array([[shared.view(np.uint16)[matrix_place(descriptor, j, k, 2, rows_inside=False) // 2]
                      for k in range(16)] for j in range(8)], np.uint64)[None]  # fmt: skip
    for flags in range(8):
        given = finite(rng, 128 * 2)
        in_c = words_of(given, of_sums, 16, (1, tile.m, 8)) * np.uint64(0 if flags & 1 else 1)
        called(library, function.name, 8, given, a, 0, descriptor, shared, 512, flags, registers=given.size)
        in_d = words_of(given, of_sums, 16, (1, tile.m, 8))
        signs = [np.uint64(0x8000 * (flags >> bit & 1)) for bit in (1, 2)]
        assert np.array_equal(in_d, products(function, in_a ^ signs[0], in_b ^ signs[1], in_c))


@pytest.mark.parametrize(("rows", "a_bytes", "c_bytes"), [(16, 64, 64), (1, 4, 4), (5, 28, 36), (16, 8, 64)])
@pytest.mark.parametrize("instruction", ["tdpbf16ps", "tdpbusd"])
def test_tiles_of_any_shape(instruction: str, rows: int, a_bytes: int, c_bytes: int, libraries: Any) -> None:
    """Fewer bytes of A are fewer products: the unit with a smaller k, not with zeros."""
    function, rng = function_of("x86", instruction), np.random.default_rng(rows)
    model = function.row.model
    each = 4 * 8 // model.a_format.width
    k, columns = a_bytes // 4 * each, c_bytes // 4
    # exponents far apart, so that sums are subnormal, and zeros of both signs
    a, b = (drawn(rng, 256) & np.uint32(0x9FFF9FFF) for _ in "ab")
    if instruction == "tdpbf16ps":
        a[::3] &= np.uint32(0x80008000)
    d = drawn(rng, 256) & np.uint32(0x80000001)
    before = d.copy().reshape(16, 16)
    code, _ = called(libraries("x86"), function.name, d, a, b, rows, a_bytes, c_bytes, registers=256)
    assert code == 0
    words = np.dtype(f"u{function.word_sizes[0]}")
    in_a = a.view(words).reshape(16, -1)[:rows, :k]
    in_b = b.view(words).reshape(16, 16, each)[: a_bytes // 4, :columns].swapaxes(0, 1).reshape(columns, k)
    small_model = model.replace(k=k)
    pairs = (rows, columns, k)
    flat = Words(
        np.broadcast_to(in_a[:, None], pairs).reshape(-1, k), np.broadcast_to(in_b, pairs).reshape(-1, k),
        before[:rows, :columns].reshape(-1),
    )  # fmt: skip
    expected = np.zeros((16, 16), np.uint32)
    expected[:rows, :columns] = run_words(small_model, flat).reshape(rows, columns)
    assert np.array_equal(d.reshape(16, 16), expected)
    for wrong in [(0, 64, 64), (17, 64, 64), (1, 66, 64), (1, 64, 68)]:
        assert called(libraries("x86"), function.name, d, a, b, *wrong, registers=256)[0] == 1


def test_integers_of_a_warpgroup_have_fewer_widths_and_are_not_negated(libraries: Any) -> None:
    """PTX ISA, wgmma.mma_async, "Matrix shape": of .s8 and .u8, N is a multiple of 16 above 32."""
    function = function_of("hopper", "wgmma.m64nNk32.s32.s8.u8")
    rng, descriptor = np.random.default_rng(2), 128 >> 4 << 16 | 256 >> 4 << 32
    shared, a = drawn(rng, 4096), drawn(rng, function.sizes["a"])
    allowed = []
    for n in range(8, 265, 8):
        d = np.zeros(128 * max(n, 8) // 2, np.uint32)
        arguments = (n, d, a, 0, descriptor, shared, shared.nbytes)
        code, _ = called(libraries("hopper"), function.name, *arguments, 0, registers=d.size)
        allowed += [n] if code == 0 else []
        assert called(libraries("hopper"), function.name, *arguments, 2, registers=d.size)[0] == 1
    assert allowed == [8, 16, 24, 32, *range(48, 257, 16)]


def test_lanes_that_are_masked_keep_their_registers(libraries: Any) -> None:
    function, rng = function_of("rdna4", "v_dot2_bf16_bf16"), np.random.default_rng(3)
    a, b, c = (finite(rng, 32) for _ in "abc")
    d = drawn(rng, 32)
    before, mask = d.copy(), 0x0F0F00FF
    called(libraries("rdna4"), function.name, 32, mask, d, a, b, c, 0, 0, registers=32)
    lanes = (np.uint32(mask) >> np.arange(32, dtype=np.uint32)) & 1 == 1
    words = Words(a.view(np.uint16).reshape(32, 2), b.view(np.uint16).reshape(32, 2), c.astype(np.uint16))
    results = run_words(function.row.model, words)
    expected = (before & np.uint32(0xFFFF0000)) | results
    assert np.array_equal(d, np.where(lanes, expected, before))


def test_the_header_says_what_is_conjectured_and_what_is_missing() -> None:
    made = kit("rtx-blackwell", telling, only=_some("rtx-blackwell"))
    texts = dict(made.files())
    header = texts["rtx_blackwell.h"]
    for function in made.functions:
        assert f" * {function.name} " in header and function.row.evidence in header
    assert made.left_out and all(name in str(made) for name in [*made.left_out][:1])
    with pytest.raises(TcsmtError, match="block scales"):
        kit("rtx-blackwell", telling, only=[*made.left_out][:1])
    with pytest.raises(TcsmtError, match="unknown instruction 'mma'"):
        kit("rtx-blackwell", telling, only=["mma"])


def _some(architecture: str) -> list[str]:
    from tcsmt.matrix_units.catalogue import rows

    scaled = [row.instruction for row in rows(architecture, claims=False) if row.model.scales]
    plain = [row.instruction for row in rows(architecture, claims=False) if not row.model.scales]
    return [*plain[:2], *scaled[:1]]
