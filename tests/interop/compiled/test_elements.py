"""Which elements a program stands for: one run for many blocks, against every block run on its own."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interop.compiled.elements import ElementClass, element_classes, kind_of
from tcsmt.interop.compiled.reading import KernelRun, run_kernel
from tcsmt.support.errors import TcsmtError
from tests.support.compiled import TEXTS, small_kernel

_F16 = (TEXTS / "f16_sm80.ptx").read_text()
_X, _Y = "mov.u32  %r37, %ctaid.x;", "mov.u32  %r39, %ctaid.y;"
#: The first of eight sums of a thread is converted by this one.
_CONVERTED = "cvt.rn.f16.f32  %rs17, %r151;"
_Three = tuple[int, int, int]


def _arguments(m: int, n: int, k: int) -> list[str]:
    return ["A", "B", "D", *map(str, (m, n, k, -(-k // 8) * 8, n, n))]


def _classes(text: str, arguments: list[str], grid: _Three) -> tuple[list[ElementClass], int]:
    runs = []

    def run(block: _Three, alike: _Three) -> KernelRun:
        runs.append(block)
        return run_kernel(text, arguments, block=block, grid=grid, alike=alike)

    return element_classes(run, grid), len(runs)


def _check(text: str, arguments: list[str], grid: _Three, *, each: int = 3) -> tuple[list[ElementClass], int]:
    """Compare some elements of every block, which runs alone, with the classes."""
    classes, runs = _classes(text, arguments, grid)
    kinds = {number: kind_of(one.element) for one in classes for number in one.numbers.tolist()}
    rng = np.random.default_rng(0)
    for block in np.ndindex(*grid):
        alone = run_kernel(text, arguments, block=block, grid=grid)
        if not alone.machine.stored:
            continue
        elements = alone.elements
        assert kinds.keys() >= set(elements)
        for number in {elements[0], elements[-1], *rng.choice(elements, each).tolist()}:
            assert kind_of(alone.read(number)) == kinds[number], (block, number)
    return classes, runs


def test_blocks_that_do_the_same_are_run_once() -> None:
    classes, runs = _classes(_F16, _arguments(1024, 512, 16), (64, 32, 1))
    assert runs == 1
    assert [one.count for one in classes] == [1024 * 512]
    assert classes[0].numbers.tolist() == list(range(1024 * 512))


@pytest.mark.slow
def test_edges_of_the_result_run_apart() -> None:
    classes, runs = _check(_F16, _arguments(40, 24, 16), (3, 2, 1))
    assert [one.count for one in classes] == [40 * 24]
    assert runs > 3


@pytest.mark.slow
def test_blocks_beyond_the_result_store_nothing() -> None:
    classes, _ = _check(_F16, _arguments(16, 16, 16), (2, 3, 1))
    assert [one.count for one in classes] == [256]


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("div.u32 %r37, %r37, 3;", id="rows"),
        pytest.param("rem.u32 %r37, %r37, 3;", id="twice"),
        pytest.param("sub.s32 %r37, 2, %r37;", id="backwards"),
        pytest.param("xor.b32 %r37, %r37, 1;", id="pairs"),
        pytest.param("shr.u32 %r37, %r37, 1;", id="halves"),
        pytest.param("mul.hi.u32 %r37, %r37, 1431655766;", id="magic"),
        pytest.param("min.s32 %r37, %r37, 1;", id="least"),
    ],
)
def test_other_orders_of_blocks_are_right_or_refused(lines: str) -> None:
    """The row of a block is not its number: elements stored twice are refused."""
    text = _F16.replace(_X, f"{_X}\n{lines}")
    several = lines.startswith(("div", "rem", "shr", "mul.hi", "min"))
    if several:
        with pytest.raises(TcsmtError, match=r"element \d+ is stored by several blocks"):
            _classes(text, _arguments(64, 16, 16), (4, 1, 1))
        return
    classes, _ = _check(text, _arguments(64, 16, 16), (3 if "sub" in lines else 4, 1, 1))
    assert len(classes) == 1


@pytest.mark.slow
def test_blocks_in_groups_are_followed() -> None:
    """As Triton's tutorial numbers them: along x alone, two rows of blocks at a time."""
    text = _F16.replace(_X, f"{_X}\nmov.u32 %r39, %r37;\nshr.u32 %r38, %r37, 3;\nand.b32 %r37, %r37, 1;\n"
        "shl.b32 %r38, %r38, 1;\nor.b32 %r37, %r37, %r38;").replace(
        _Y, "mov.u32 %r39, %ctaid.x;\nand.b32 %r39, %r39, 7;\nshr.u32 %r39, %r39, 1;")  # fmt: skip
    classes, _ = _check(text, _arguments(64, 64, 16), (16, 1, 1), each=1)
    assert [one.count for one in classes] == [64 * 64]


@pytest.mark.slow
@pytest.mark.parametrize("block", [0, 2])
def test_a_block_that_computes_otherwise_is_another_class(block: int) -> None:
    """One block along y scales its sums, and no other one."""
    scaled = f"mov.u32 %r41, %ctaid.y;\nsetp.eq.s32 %p15, %r41, {block};\n@%p15 mul.rn.f32 %r151, "
    scaled += "%r151, 0f40000000;"
    text = _F16.replace(_CONVERTED, f"{scaled}\n{_CONVERTED}")
    classes, runs = _check(text, _arguments(32, 48, 16), (2, 3, 1), each=6)
    assert [one.count for one in classes] == [32 * 48 - 64, 64]
    assert runs > 1
    assert any("0x40000000:f32" in line for line in classes[1].element.text.lines)


@pytest.mark.slow
def test_a_number_of_the_block_in_the_result_is_its_own_program() -> None:
    """A block that adds its own number to what it stores: as many programs as blocks."""
    added = f"mov.u32 %r41, %ctaid.x;\nadd.rn.f32 %r151, %r151, %r41;\n{_CONVERTED}"
    text = _F16.replace(_CONVERTED, added)
    classes, runs = _classes(text, _arguments(48, 16, 16), (3, 1, 1))
    assert runs == 5
    assert sum(one.count for one in classes) == 48 * 16
    assert len(classes) == 4


#: A number of A times one of B, for the element of D that the block and the thread say, 32 in a block.
_PRODUCT = """mov.u32 %r6, %ctaid.x;
shl.b32 %r7, %r6, 5;
mul.wide.u32 %rd6, %r7, 4;
add.s64 %rd7, %rd5, %rd6;
ld.global.b32 %r8, [%rd4];
ld.param.b64 %rd8, [small_param_3];
ld.global.b32 %r9, [%rd8];
mul.rn.f32 %r9, %r8, %r9;
"""
_FIRST = "setp.eq.u32 %p1, %r6, 0;\n@%p1 bra ONE;\n"
_STORED = "st.global.b32 [%rd7], %r9;"


def _small(lines: str, blocks: int) -> list[ElementClass]:
    more = "small_param_2, .param .u64 small_param_3, .param .u64 small_param_4)"
    text = small_kernel(_PRODUCT + lines).replace("small_param_2)", more)
    return _classes(text, ["A", "D", "7", "B", "E"], (blocks, 1, 1))[0]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("mul.lo.u64 %rd8, %rd8, 0xFFFFFFFF;\nadd.s64 %rd8, %rd8, 5;\n"
        f"cvt.{kind} %rd8, %rd8;\nsetp.ge.u64 %p2, %rd8, 5;", id=kind)
        for kind in ("u32.u64", "u32.s64", "s32.s64", "s32.u64")
    ] + [
        pytest.param("mul.lo.u32 %r10, %r6, 0xFFFF;\nadd.s32 %r10, %r10, 5;\n"
        f"cvt.{kind} %r10, %r10;\nsetp.ge.u32 %p2, %r10, 5;", id=kind)
        for kind in ("u16.u32", "s16.s32")
    ],
)  # fmt: skip
def test_what_leaves_a_conversion_in_a_wider_register_is_cut(lines: str) -> None:
    """The number falls by one from block to block, once it is converted."""
    lines = f"cvt.u64.u32 %rd8, %r6;\n{lines}\n@%p2 mul.rn.f32 %r9, %r9, 0f40800000;\n{_STORED}"
    assert [(one.numbers[0], one.count) for one in _small(lines, 4)] == [(32, 96), (0, 32)]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param(
            f"{_FIRST}cvt.rn.f16.f32 %rs1, %r9;\n"
            "mul.wide.u32 %rd6, %r2, 2;\nadd.s64 %rd7, %rd2, %rd6;\n"
            f"st.global.b16 [%rd7+64], %rs1;\nret;\nONE:\n{_STORED}",
            "blocks store elements of 4 and of 2 bytes to D", id="sizes",
        ),
        pytest.param(
            f"{_FIRST}ld.global.b32 %r10, [%rd2];\nadd.rn.f32 %r9, %r9, %r10;\n"
            "ld.param.b64 %rd8, [small_param_4];\nadd.s64 %rd7, %rd8, %rd6;\nadd.s64 %rd7, %rd7, %rd3;\n"
            f"{_STORED}\nret;\nONE:\n{_STORED}",
            "a block reads from D, to which another one stores", id="stored and read",
        ),
        pytest.param(
            f"{_FIRST}ld.global.b32 %r10, [%rd2];\nret;\nONE:\n{_STORED}",
            "a block reads from D, to which another one stores", id="read alone",
        ),
        pytest.param(
            "st.global.b32 [%rd7+-64], %r9;", "element -16 is stored: it is before the buffer",
            id="before",
        ),
    ],
)  # fmt: skip
def test_blocks_that_meet_in_a_buffer_are_refused(lines: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        _small(lines, 2)
