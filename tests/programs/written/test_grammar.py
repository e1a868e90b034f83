"""Texts of programs: what they write, what they refuse, and that what is printed reads back."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.programs.kernels.kernel import kernel_named
from tcsmt.programs.recipes import algorithm_named
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.steps.digest import digest
from tcsmt.programs.steps.program import UnitProgram
from tcsmt.programs.steps.text import text_of
from tcsmt.programs.written.grammar import program_of
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT
from tests.support.program_texts import H100, unit, written

TF32 = "ampere/mma.m16n8k8.f32.tf32.tf32.f32"
BF16 = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"


def kernel(text: str, k: int = 64) -> UnitProgram:
    return kernel_named(f"{H100}+{text}", lambda name: side_of(name).row).schedule.program(k, c=True)


def same(left: UnitProgram, right: UnitProgram) -> bool:
    """Whether two programs do the same to A, B and c."""
    return digest(left) == digest(right)


def test_a_chain_and_its_kernels() -> None:
    """Kernels that have a name are the programs of the same steps."""
    assert same(written(f"d = chain({H100}, A·B over K, c)"), kernel("chained"))
    assert same(written(f"d = chain({H100}, A*B over K[0:64], c)"), kernel("chained"))
    parts = f"""
for P in split(K, 4, step=16):
    s[P] = convert(chain({H100}, A·B over P), bf16)  # through memory
d = convert(sum(s, pairs, f32), bf16)
"""
    assert same(written(parts), kernel("split-k:4,pairs,parts=bf16+out=bf16,beta=0"))
    promoted = f"""
acc = +0:f32
for P in blocks(K, 24):
    acc = add(acc, chain({H100}, A·B over P, +0), f32)
d = acc
"""
    assert same(written(promoted), kernel("promote:24,from-zero+beta=0"))
    dealt = f"""
for P in deal(K, 3, step=8):
    s[P] = chain({H100}, A·B over P)
d = sum(s, 2-0-1, f32)
"""
    assert same(written(dealt), kernel("sliced:3,step=8,order=2-0-1+beta=0"))
    cut = f"for P in cuts(K, 0, 40):\n  s[P] = chain({H100}, A·B over P)\nd = sum(s, reversed)"
    assert same(written(cut), kernel("cuts:40,reversed+beta=0"))


def test_splits_and_compensated_sums_are_those_of_algorithms() -> None:
    text = f"""
A0, A1 = split(A, tf32, 2, RTZ, residual=RNA)
B0, B1 = split(B, tf32, 2, RTZ, residual=RNA)
for P in blocks(K, 32):
    s[P] = chain({TF32}, A1·B0, A0·B1, A0·B0 over P, +0)
d = add(c, sum(s, order), f32)
"""
    wanted = algorithm_named("cutlass-3xtf32,c=last", TF32, 64)[0].program(64)
    assert same(written(text, operands="f32"), wanted)
    text = f"""
A0, A1 = split(A, bf16, 2, scale=8)
B0, B1 = split(B, bf16, 2, scale=8)
t, e = chain({BF16}, A0·B0 over K[:16]), +0:f32
for P in blocks(K[16:], 16):
    t, e = KIND(t, e, chain({BF16}, A0·B0 over P), f32)
for X·Y in A1·B0, A0·B1:
    for P in blocks(K, 16):
        t, e = KIND(t, e, chain({BF16}, X·Y over P), f32, shift=8)
t, e = KIND(t, e, c, f32)
d = END
"""
    sums = "0.0@instruction/1.0@instruction/0.1@instruction"
    for kind, end in (("kahan", "t"), ("two_sum", "add(e, t, f32)")):
        own = text.replace("KIND", kind.replace("_", "-")).replace("END", end)
        name = f"single-bf16,words=2,scale=8,sums={sums},c=last,compensated={kind.replace('_', '-')}"
        assert same(written(own, operands="f32"), algorithm_named(name, BF16, 64)[0].program(64)), kind


def test_freedoms_are_chosen() -> None:
    text = f"""
p = chain({H100}, A·B over K)
q = multiply(p, 0.25:f32, f32)
d = any_of("contraction", multiply_add(p, 2^-2:f32, c, f32), add(q, c, f32))
"""
    first, second = (written(text, contraction=n) for n in (0, 1))
    assert [program.result.kind for program in (first, second)] == ["multiply_add", "add"]
    with pytest.raises(TcsmtError, match="'contraction' is open: choose one of contraction=0, contraction=1"):
        written(text)
    with pytest.raises(TcsmtError, match="contraction=2: there are 2 alternatives"):
        written(text, contraction=2)
    with pytest.raises(TcsmtError, match="freedom 'order': the program has contraction"):
        written(text, contraction=1, order=0)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("d = chan(UNIT, A·B over K)", 1, "did you mean chain"),
        ("d = chain(nothing/x, A·B over K)", 1, "nothing"),
        ("d = chain(UNIT, A·B over K, 1.1)", 1, "1.1 is not a number of f32"),
        ("x = 1:f32\nd = add(x, y, f32)", 2, "'y' has no value yet"),
        ("x = 1:f32\nd = add(x, 1:f16, f32)", 2, "f16 and f32: convert first"),
        ("x = 1:f32\nd = add(x, x)", 2, "one format is needed"),
        ("d, e = 1:f32", 1, "1 values for 2 names"),
        ("for P in blocks(K, 4):\nd = 1:f32", 1, "further in"),
        ("d = 1:f32\n  e = 1:f32", 2, "further in than the line before it"),
        ("for P in blocks(K, 0):\n  d = 1:f32", 1, "must be 1 or more"),
        ("for P in permuted(K, 0 0 1):\n  d = 1:f32", 1, "each number from 0 on once"),
        ("for P in deal(K):\n  d = 1:f32", 1, "needs a number"),
        ("K = 1:f32", 1, "K is a part of K"),
        ("x = 1:f32\nx[P] = 2:f32", 2, "x is one value, not a list"),
        ("d = sum(c, order, f32)", 1, "a list s[P] is summed"),
        ("d = add(c, c, f32) c", 1, "'c' is not expected here"),
        ("d ? c", 1, "expected NAME"),
        ("d = ?", 1, "'?' is not understood"),
        ("x = 1:f32", 1, "no line gives d"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(TcsmtError, match=re.escape(why)) as error:
        written(text.replace("UNIT", H100))
    assert str(error.value).startswith(f"line {line}:"), error.value


@pytest.mark.slow
def test_a_program_has_an_end() -> None:
    loops = (
        "for P in blocks(K, 1):\n  for Q in blocks(K, 1):\n    for R in blocks(K, 1):\n      d = negate(c)"
    )
    with pytest.raises(TcsmtError, match="line 3: more than 131072 steps"):
        written(loops)


MX = "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
S8 = "ampere/mma.m16n8k32.s32.s8.s8.s32"
#: Examples of the page of the language: the unit, the operands' format, other inputs, and choices.
EXAMPLES: dict[int, tuple[str, str, dict[str, str], dict[str, str]]] = {
    1: (H100, "f16", {}, {}), 2: (H100, "f16", {}, {}),
    3: (H100, "f16", {"sa": "f32 A/128", "sb": "f32 B/128"}, {"contraction": "0"}),
    4: (H100, "e4m3", {}, {}), 5: (TF32, "f32", {}, {}), 6: (H100, "f16", {}, {}), 7: (H100, "f16", {}, {}),
    8: (MX, "e4m3", {"sa": "ue8m0 A/32", "sb": "ue8m0 B/32"}, {}),
    9: (S8, "s8", {"za": "s32 a", "zb": "s32 b", "sa": "f32 a", "sb": "f32 b"}, {}),
    10: (H100, "f16", {"bias": "f32 b"}, {}), 11: (BF16, "f32", {}, {}), 13: (H100, "f32", {}, {}),
    12: (S8, "f64", {"c": "f64"}, {}),
    14: (H100, "f32", {}, {"ex2.approx.f32": "nearest", "div.full.f32": "nearest"}),
    15: (H100, "f16", {"keys": "f16 tK", "V": "f16 tB", "m": "f32 a", "l": "f32 a", "o": "f32"},
         {"ex2.approx.f32": "nearest"}),
}  # fmt: skip
#: K of an example, where it is not 200; and the names of results that are not d.
LENGTHS, RESULTS = {7: 9000, 13: 1024, 15: 32}, {3: "acc", 5: "acc", 14: "y", 15: "o2"}


def example(number: int, result: str = "", block: int = 1) -> UnitProgram:
    """Return an example of the page as it is read. result: the name of another value than the last one."""
    page = (ROOT / "docs/explanation/programs.md").read_text("utf-8")
    text = page.split(f"**{number}. ")[1].split("```text\n")[block].split("```")[0].rstrip()
    name, operands, others, choices = EXAMPLES[number]
    last = result or RESULTS.get(number, "d")
    lines = text if last == "d" else f"{text}\nd = {last}"
    formats = {name: format_named(given.split()[0]) for name, given in others.items()}
    axes = {name: (given.split() + [""])[1] for name, given in others.items()}
    inputs = {"A": format_named(operands), "B": format_named(operands), "c": format_named("f32")}
    return program_of(
        re.sub(r"\bUNIT\b", name, lines), LENGTHS.get(number, 200), inputs | formats, unit, choices,
        axes=axes, tile=40 if number == 15 else 0,
    )  # fmt: skip


@pytest.mark.parametrize("number", EXAMPLES)
def test_examples_of_the_page_are_read_and_printed(number: int) -> None:
    """What is printed of them reads back as the same program."""
    program = example(number)
    kinds = {step.kind for step in program.steps}
    assert program.chains or kinds & {"sum", "maximum"}
    printed = text_of(program, lambda model: EXAMPLES[number][0])
    inputs = {name: step.format for name, step in program.inputs.items()}
    axes = {name: step.axes for name, step in program.inputs.items()}
    again = program_of(
        printed, LENGTHS.get(number, 200), inputs, unit, axes=axes, tile=40 if number == 15 else 0
    )
    assert same(again, program), printed


@pytest.mark.parametrize(
    "name",
    [
        "ozaki1-int8,slices=3", "ozaki1-e4m3,slices=2", "ozaki1-f16,slices=2,every=64",
        "ozaki2-int8,moduli=3,bits=7", "ozaki2-e4m3,moduli=2",
    ],
)  # fmt: skip
def test_texts_of_emulations_read_back(name: str) -> None:
    """Two of them are those of the page."""
    emulation, row = emulation_named(name, "ampere" if "int8" in name else "hopper")
    program = emulation.program(200)
    page = {"ozaki1-int8,slices=3": 1, "ozaki2-int8,moduli=3,bits=7": 2}
    if name in page:
        assert same(example(12, block=page[name]), program)
    printed = text_of(program, lambda model: row.name)
    inputs = {name: format_named("f64") for name in ("A", "B", "c")}
    assert same(program_of(printed, 200, inputs, unit), program), printed


KERNELS = (
    "chained", "split-k:3,pairs,parts=bf16+alpha=2,beta=0.5,out=f16:bf16,RTZ,saturate",
    "sliced:3,step=5,from-zero",
    "promote:7,total=bf16+c=epilogue,bias,out=e4m3,stochastic=8,saturate", "split-k:2/cuts:9-20,folded",
)  # fmt: skip
ALGORITHMS = (
    "markidis", "ootomo-halfhalf", "bf16x3-two-sum", "bf16x3-double-word,c=first", "cutlass-3xtf32",
    "ootomo-halfhalf,outside=RTZ", "single-f16,every=24,first=8", "fp32-fma",
)  # fmt: skip


@pytest.mark.parametrize("text", KERNELS)
def test_texts_of_kernels_read_back(text: str) -> None:
    own = kernel_named(f"{H100}+{text}", lambda name: side_of(name).row)
    program = own.schedule.program(37, c=True, bias=own.epilogue.bias, random=bool(own.epilogue.stochastic))
    inputs = {step.how["name"]: step.format for step in program.steps if step.kind == "input"}
    printed = text_of(program, lambda model: H100)
    assert same(program_of(printed, 37, inputs, unit), program), printed


@pytest.mark.parametrize("name", ALGORITHMS)
def test_texts_of_algorithms_read_back(name: str) -> None:
    algorithm, row = algorithm_named(name, "hopper", 20)
    program = algorithm.program(20)
    printed = text_of(program, lambda model: row.name if model == row.model else "ieee/fma.f32")
    assert same(written(printed, 20, "f32"), program), printed


PIECES = st.sampled_from(
    [
        *[
            "d",
            "x",
            "A",
            "B",
            "c",
            "K",
            "A0",
            "=",
            "(",
            ")",
            ",",
            ":",
            "·",
            "*",
            "over",
            "for",
            "in",
            "+0",
            "-",
            "[",
            "]",
            "16",
            "2^-3",
            "f32",
            "f16",
            "0x3f800000",
            "RTZ",
            "shift=3",
        ],
        *[
            "chain",
            "add",
            "convert",
            "split",
            "multiply_add",
            "any_of",
            '"free"',
            "sum",
            "order",
            "blocks",
            "permuted",
            "kahan",
            "#",
        ],
        H100,
        "\n",
        "\n  ",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=24))
def test_no_text_raises_anything_else(pieces: list[str]) -> None:
    """Whatever is written: a program, or an error with its line."""
    try:
        program: Any = written(" ".join(pieces), 8)
    except TcsmtError as error:
        program = str(error)
        assert program.startswith("line ")
    else:
        assert isinstance(program, UnitProgram)


def test_a_freedom_that_is_called_like_an_input_is_a_freedom() -> None:
    """A choice of it does not make the input a number; an input that no freedom is called like is one."""
    text = f'p = chain({H100}, A·B over K)\nd = any_of("c", add(p, c, f32), multiply_add(p, 0.5:f32, c, f32))'
    plain = f"p = chain({H100}, A·B over K)\nd = add(p, c, f32)"
    assert same(written(text, c=0), written(plain))
    assert same(written(plain, c=2), written(plain.replace("c, f32", "2:f32, f32")))
    with pytest.raises(TcsmtError, match="freedom 'c': the program has none"):
        written(plain + '  # any_of("c", 1:f32, 2:f32)', c=0)
