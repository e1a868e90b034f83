"""C as units, held against what compilers make of it; what C leaves undefined is refused."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.c_reader import c_source
from tcsmt.interop.c_reader.c_source import ReadingTime, available, refute
from tcsmt.interop.c_reader.llvm_execution import Fault
from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.support.c_functions import HELPERS, compiled, read, same_as_compiled
from tests.support.c_programs import program
from tests.support.paths import ROOT
from tests.support.sampling import mostly_long

needs_clang = pytest.mark.skipif(not available(), reason="clang is not installed")

EMULATOR = ROOT / "tests" / "support" / "fused_dot_add.c"

#: What compilers like to treat in their own ways: branches, loops, switches, structs, bytes, tables, calls.
PROGRAM = """
struct pair { uint8_t small; uint32_t large; int16_t number; };
static const int8_t table[8] = {3, -1, 4, 1, -5, 9, 2, 6};
static int leading(uint32_t x) { int n = 0; while (!(x & 0x80000000u)) { x <<= 1; n++; } return n; }
static struct pair made(uint32_t x) {
  struct pair p;
  memset(&p, 0, sizeof p);
  p.large = x * 2654435761u;
  if (x & 1) { p.small = x >> 3; return p; }
  p.number = (int16_t)(x >> 5);
  return p;
}
static void spread(uint32_t x, uint8_t *bytes) { memcpy(bytes, &x, sizeof x); bytes[x & 3] ^= 0x5a; }
uint32_t mixed(uint32_t a, uint32_t b, uint32_t c) {
  uint8_t bytes[4];
  int64_t sums[3] = {1, 2};
  struct pair p = made(a), q = p;
  spread(b, bytes);
  for (int i = 0; i < 4; i++) {
    if (bytes[i] == 7) continue;
    if (bytes[i] > 250) break;
    sums[i % 2] += bytes[i] * table[(c >> i) & 7];
    if ((c & 15) == 3 && (a & 1 || b & 2)) sums[2]--;
  }
  switch (c & 7) {
    case 0: q.large += 17; break;
    case 1: q.small = 9; /* falls through */
    case 2: q.number = -3; break;
    case 5: return leading(a | 1) + (b < c ? 100 : 200);
    default: sums[1] ^= q.large;
  }
  uint32_t result;
  unsigned char *to = (unsigned char *)&result, *from = (unsigned char *)&q.large;
  for (int i = 0; i < 4; i++) to[i] = from[3 - i];
  result += (uint32_t)(sums[0] * 3 + sums[1] - sums[2]) ^ (uint32_t)q.number;
  result ^= (q.small / 4) ^ (uint32_t)(-(int)p.small / 8) ^ (uint32_t)(q.number % 4);
  return (c & 31) ? result >> (c & 31) | result << (32 - (c & 31)) : result;
}
"""


@needs_clang
@pytest.mark.long
def test_as_compilers_have_it(tmp_path: Path) -> None:
    model = read(PROGRAM, tmp_path, function="mixed")
    rng = np.random.default_rng(5)
    a, b, c = (rng.integers(0, 1 << 32, 6000, np.uint32) for _ in "abc")
    a[:2000] >>= rng.integers(0, 32, 2000, np.uint32)
    b[1000:3000] |= np.uint32(0xFB00)
    c[2000:4000] &= np.uint32(31)
    c[4000:5000] = 3
    found = run_words(model, Operands(a=a[:, None], b=b[:, None], c=c)).tolist()
    for library in compiled(tmp_path / "f.c", tmp_path):
        function = library.mixed
        function.restype = ctypes.c_uint32
        rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        assert [function(*map(ctypes.c_uint32, row)) for row in rows] == found, library


@needs_clang
@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_long(range(60), [2]))
def test_random_functions(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As compilers have them; nothing in them is undefined, so that solvers are not asked."""
    monkeypatch.setattr(c_source, "refute", lambda *given: None)
    same_as_compiled(program(seed), tmp_path)


@needs_clang
def test_arrays_and_a_result_by_pointer(tmp_path: Path) -> None:
    text = """void dot(int n, const uint32_t *x, const uint32_t y[3], uint32_t c, uint32_t *sum, int *flags) {
      *flags = 1; *sum = c; for (int i = 0; i < n; i++) *sum += x[i] * y[i]; }"""
    ports = ["a=x", "b=y", "d=sum"]
    model = read(text, tmp_path, k=3, ports=ports, constants=["n=3"])
    found = run_words(model, Operands(a=np.array([[1, 2, 3]]), b=np.array([[5, 7, 11]]), c=np.array([100])))
    assert found.tolist() == [152]
    with pytest.raises(TcsmtError, match=r"f\.c:4: beyond the 12 bytes of [xy]"):
        read(text, tmp_path, k=3, ports=ports, constants=["n=4"])


@needs_clang
def test_words_that_are_narrower(tmp_path: Path) -> None:
    """A signed integer keeps its value in a wider one of C, and a result its low bits."""
    file = tmp_path / "f.c"
    file.write_text("int f(int a, const int *b, int c) { return a * *b + c; }")
    formats = {"a": "s8", "b": "s8", "c": "s16", "d": "s16"}
    model = read_design(DesignFiles(files=[file], formats=formats, k=1)).model
    found = run_words(model, Operands(a=np.array([[0x80]]), b=np.array([[0x80]]), c=np.array([0xFFFF])))
    assert found.tolist() == [0x3FFF]


LONG = pytest.mark.long
F = "uint32_t f(uint32_t a, uint32_t b, uint32_t c) { %s }"


@needs_clang
@pytest.mark.slow_cases("for (;;) {} return a;-more than 200,000 instructions:")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        # an optimiser makes the first one 1
        ("return (int)a + 1 > (int)a;", "f.c:3: signed overflow at a = 0x7fffffff"),
        ("return (uint16_t)a * (uint16_t)b;", "f.c:3: signed overflow at "),
        ("return a << b;", "f.c:3: a shift by the width of the word, or more at b = "),
        ("uint32_t x; if (a) x = b; return x;", "f.c:3: x is read before it is written at a = 0x00000000"),
        ("if (a != 5) return b;", "f.c:3: retval is read before it is written at a = 0x00000005"),
        ("uint8_t t[3] = {0}; return t[a & 3];", "f.c:3: beyond the 3 bytes of t at a = "),
        ("return __builtin_clz(a);", "f.c:3: the leading zeros of 0 at a = 0x00000000"),
        ("if (a == 9) __builtin_unreachable(); return 1;", "f.c:3: a place that the compiler takes to be"),
        ("static uint32_t n; return n++;", "f.n, a variable that is not const, is read before it is written"),
        ("return a / b;", "f.c:3: udiv: a division by anything but a power of two is not supported"),
        ("float x = a; return x;", "f.c:3: uitofp is not supported: only integer code is"),
        ("uint32_t g(uint32_t); return g(a);", "f.c:3: g is not defined in this file"),
        pytest.param("while (a != b) a += c; return a;", "a loop of more than 128 rounds", marks=LONG),
        pytest.param("for (;;) a++; return a;", "more than 200,000 instructions:", marks=LONG),
        ("for (;;) {} return a;", "more than 200,000 instructions:"),
        ("uint32_t x[a]; return x[0];", "is not supported"),
        ("volatile uint32_t x = a; return x;", "f.c:3: store: volatile is not supported"),
        ('__asm__ volatile(""); return a;', "f.c:3: call: inline assembly is not supported"),
        ("return *(uint32_t *)0;", "f.c:3: the null pointer is used"),
        ("return y;", "error: use of undeclared identifier 'y'"),
    ],
)  # fmt: skip
def test_refused(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(TcsmtError) as refused:
        read(F % body, tmp_path)
    assert said in str(refused.value)


@needs_clang
@pytest.mark.parametrize(
    "body",
    [
        "return b < 32 ? a << b : 0;",
        "int x = a >> 1, y = b >> 2; return x - y;",
        "return a ? 31 - __builtin_clz(a) : 0;",
        "uint8_t t[3] = {0}; uint32_t i = a & 3; return i < 3 ? t[i] : 0;",
    ],
)
def test_faults_that_cannot_happen_are_refuted(tmp_path: Path, body: str) -> None:
    assert read(F % body, tmp_path).k == 1


FP8 = ROOT / "tests" / "support" / "fp8_dot.c"


@needs_clang
@pytest.mark.slow
def test_reading_ends_in_time() -> None:
    """A model whose overflows solvers take long to refute: it is said what was asked, and where."""
    unit = row_named("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32").model
    told: list[str] = []
    given = DesignFiles(
        files=[FP8], function="dot", k=4, timeout=6, progress=lambda done, count, what: told.append(what)
    )
    start = time.monotonic()
    with pytest.raises(TcsmtError, match=r"fp8_dot\.c: not read in 6 s; it was at: .*fp8_dot\.c:\d+"):
        read_design(given.like(unit))
    assert time.monotonic() - start < 60
    assert len(told) > 10


@needs_clang
def test_floating_point_arithmetic_is_refused_at_once(tmp_path: Path) -> None:
    text = FP8.read_text().replace("product(a[i], b[i])", "(uint32_t)(decode(a[i]) * decode(b[i]))")
    file = tmp_path / "f.c"
    file.write_text(text)
    with pytest.raises(TcsmtError, match=r"f\.c:\d+: fmul.*integer"):
        read_design(
            DesignFiles(
                files=[file], function="dot", formats={"a": "u8", "b": "u8", "c": "u32", "d": "u32"}, k=4
            )
        )


@needs_clang
def test_how_a_function_is_given(tmp_path: Path) -> None:
    two = "uint32_t f(uint32_t a, uint32_t b, uint32_t c) { return a; }\nint g(void) { return 1; }"
    for function, said in {"": "Give --function NAME; there are: f, g", "h": "unknown function 'h'"}.items():
        with pytest.raises(TcsmtError, match=said):
            read(two, tmp_path, function=function)
    with pytest.raises(TcsmtError, match="C is one file, without --source"):
        read(two, tmp_path, function="f", top="m")
    with pytest.raises(TcsmtError, match="how many products"):
        read("uint32_t f(uint32_t *a, uint32_t *b, uint32_t c) { return *a; }", tmp_path)
    with pytest.raises(TcsmtError, match="returns no number: give --port d=NAME"):
        read("void f(uint32_t a, uint32_t b, uint32_t c, uint32_t *r) { *r = a; }", tmp_path)


@needs_clang
@pytest.mark.long
def test_an_emulator_in_c_is_what_compilers_build_and_the_unit(tmp_path: Path) -> None:
    """Branches, structs and loops at full width: as compilers have it, and as the unit."""
    from tcsmt.prove.engine.boundary_inputs import rows

    volta = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    model = read_design(DesignFiles(files=[EMULATOR], function="dot").like(volta)).model
    drawn = rows(volta.input_formats, 20_000, np.random.default_rng(3))
    a, b = (np.stack([drawn[f"{x}{i}"] for i in range(4)], 1).astype(np.uint16) for x in "ab")
    c = np.asarray(drawn["c"]).astype(np.uint32)
    found = run_words(model, Operands(a=a, b=b, c=c))
    half = ctypes.POINTER(ctypes.c_uint16)
    for library in compiled(EMULATOR, tmp_path):
        function = library.dot
        function.restype = ctypes.c_uint32
        expected = [
            function(x.ctypes.data_as(half), y.ctypes.data_as(half), ctypes.c_uint32(z))
            for x, y, z in zip(a, b, c.tolist(), strict=True)
        ]
        assert found.tolist() == expected, library
    assert np.array_equal(found, run_words(volta, Operands(a=a, b=b, c=c)))


SIGNED = "int32_t x = (int32_t)(a & 0xffff) - 30000;"
#: Bodies of functions of a, b and c: constructs that are read, each with the standard's own meaning (C17).
CONSTRUCTS = {
    "promoted": "uint8_t x = a; uint16_t y = b; return x * y - x;",  # 6.3.1.1: to int, which holds both
    "mixed": "int32_t x = (int32_t)(a & 0xffff); return x - 7 < b;",  # 6.3.1.8: compared as unsigned
    "narrowed": "return (uint8_t)(a + b) | (uint32_t)(uint16_t)c << 8;",
    "wider": "return (uint32_t)((uint64_t)a * b >> 32) ^ c;",
    "divided": SIGNED + "return (uint32_t)(x / 8);",
    "left": SIGNED + "return (uint32_t)(x % 8) + b / 4;",
    "shifted": "return a << (b & 31) | c >> (a & 31);",
    "logical": "return (a && b) + 2 * (b || c) + 4 * !a;",  # 6.5.13 f.: the second only where it decides
    "chosen": "return a < b ? b - a : c ? a % 8 : 5;",
    "switched": "switch (a & 3) { case 0: b++; case 1: return b; case 2: b = c; break; default: b ^= a; }"
    " return b;",
    "counted": "uint32_t n = 0; for (int i = 0; i < 32; i++) { if (!(a >> i & 1)) continue; n++; }"
    " return n + b;",
    "until": "int n = 0; do { a >>= 1; n++; } while (a && n < 40); return (uint32_t)n + c;",
    "structure": "struct { uint16_t x; uint8_t y[3]; } s = {a, {b, c}}, t = s; t.y[2]++;"
    " return t.x + t.y[1] + t.y[2];",
    "punned": "union { float f; uint32_t u; } v; v.u = a; uint32_t sign = v.u >> 31;"
    " return sign ? b : v.u;",
    "bytes": "uint8_t t[4]; memcpy(t, &a, 4); uint32_t n = 0; for (int i = 0; i < 4; i++) n += t[i];"
    " return n;",
    "jumped": "if (a > b) goto end; b += c; end: return b;",
    "enumerated": "enum { ONE = 1, SEVEN = 7 }; return (a & SEVEN) == ONE ? b : c;",
    "called": "return pure(a) + pure(pure(b));",
}  # fmt: skip


@needs_clang
@pytest.mark.slow
def test_constructs_are_as_compiled(tmp_path: Path) -> None:
    """By gcc and clang, without optimisation and with all of it."""
    text = "".join(
        f"uint32_t {name}(uint32_t a, uint32_t b, uint32_t c) {{ {body} }}\n"
        for name, body in CONSTRUCTS.items()
    )
    same_as_compiled(HELPERS + text, tmp_path, tuple(CONSTRUCTS))


def test_parts_are_told_and_named() -> None:
    told: list[tuple[int, int, str]] = []
    clock = ReadingTime("f.c", 0.2, lambda *seen: told.append(seen))
    clock.at("the first part")
    clock.at("the second part", 3, 7)
    assert 0 < clock.remaining() < 0.2
    time.sleep(0.25)
    with pytest.raises(
        TcsmtError, match=r"f.c: not read in 0.2 s; it was at: the second part \(3 of 7 done\)"
    ):
        clock.at("the third part")
    assert told == [(0, 0, "the first part"), (3, 7, "the second part")]


A, B = var("a", 8), var("b", 8)
#: Never: a + b is odd where one of them is, and a square is no 3 modulo 8.
NEVER = [
    ((A & 1) ^ (B & 1)).ne((A + B) & 1),
    *(((A + n) * (A + n) & 7).eq(3) for n in range(20)),
]


def faults(terms: list[Term]) -> list[Fault]:
    return [Fault(f"fault {number}", f"f.c:{number}", term) for number, term in enumerate(terms)]


def test_none_happens() -> None:
    told: list[tuple[int, int]] = []
    clock = ReadingTime("f.c", 60, lambda done, count, what: told.append((done, count)))
    refute(faults(NEVER), SolvingOptions(), clock)
    assert told[-1] == (len(NEVER), len(NEVER))
    refute([], SolvingOptions(), clock)


@pytest.mark.parametrize("place", [0, 7, 20])
def test_one_of_them_happens(place: int) -> None:
    terms = list(NEVER)
    terms[place] = A.eq(0x5A) & B.eq(1)
    with pytest.raises(TcsmtError, match=f"f.c:{place}: fault {place} at .*a = 0x5a"):
        refute(faults(terms), SolvingOptions(), ReadingTime("f.c", 60))


@pytest.mark.slow
def test_undecided_faults_are_refused() -> None:
    """The product of two numbers of 30 bits that is a prime of 58."""
    x, y = var("x", 64), var("y", 64)
    small = x.ult(1 << 30) & y.ult(1 << 30) & ~x.ult(2) & ~y.ult(2)
    hard = small & (x * y).eq((1 << 58) - 27)
    with pytest.raises(TcsmtError, match=r"f.c:0: fault 0: not decided whether it can happen: "):
        refute(faults([hard]), SolvingOptions(steps=100_000), ReadingTime("f.c", 60))
    with pytest.raises(TcsmtError, match=r"f.c: not read in 1 s; it was at: whether it can happen: f.c:\d+"):
        refute(faults([*NEVER, hard]), SolvingOptions(), ReadingTime("f.c", 1))
