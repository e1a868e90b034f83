"""Two units on the same dot product: chains, and operands in the narrower of two formats."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.words import from_words, unsigned
from tcsmt.catalogue import row_named, rows
from tcsmt.interpret.exact import evaluate
from tcsmt.models import IeeeDotAdd, Model
from tcsmt.simulator.rows import simulate
from tcsmt.statements.shared_inputs import SharedInputs, chain, shared, words_given_to
from tcsmt.support.errors import TcsmtError

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
FP8 = "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"
HALF = "hopper/mma.m16n8k16.f32.f16.f16.f32"


@cache
def both(left: str, right: str) -> SharedInputs:
    return shared(named(left), named(right))


def named(name: str) -> tuple[str, Model]:
    return name, row_named(name).model


def random_words(model: Model, k: int, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    shapes = ((model.a_format, (count, k)), (model.b_format, (count, k)), (model.c_format, (count,)))
    return [
        rng.integers(0, 1 << fmt.width, shape, dtype=np.uint64).astype(unsigned(fmt)) for fmt, shape in shapes
    ]


def number(fmt: Format, word: int) -> float:
    return float("nan") if fmt.is_nan(word) else float(fmt.value(word))


@pytest.mark.parametrize(
    "name",
    [
        VOLTA,
        "ampere/mma.m16n8k8.f32.f16.f16.f32",
        "cdna3/v_mfma_f32_32x32x8_f16",
        "cdna1/v_mfma_f32_32x32x8f16",
        "cdna2/v_mfma_f32_32x32x8f16",
        "cdna3/v_mfma_f32_32x32x2_f32",
        FP8,
    ],
)
def test_a_chain_is_instruction_after_instruction(name: str) -> None:
    """Against the simulator called in a loop, each result the next c; so is its model, if there is one."""
    short = row_named(name).model
    whole = chain(name, short, 3 * short.k)
    a, b, c = random_words(short, whole.k, 30)
    step = from_words(short.c_format, c)
    for start in range(0, whole.k, short.k):
        lanes = slice(start, start + short.k)
        step = simulate(short, a[:, lanes], b[:, lanes], step)
    expected = step.view(unsigned(short.d_format)).tolist()
    side = shared((name, short), (name, short), whole.k).sides[0]
    for number, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        words = {f"a{i}": w for i, w in enumerate(x)} | {f"b{i}": w for i, w in enumerate(y)} | {"c": z}
        assert evaluate([side.trace.output], words) == [expected[number]]
    if whole.exact:
        together = simulate(whole.model, a, b, from_words(short.c_format, c))
        assert together.view(unsigned(short.d_format)).tolist() == expected


def test_a_model_of_a_chain_is_found_by_its_graph_alone() -> None:
    """A longer model that is another function is not taken for the chain."""
    assert chain("volta", row_named(VOLTA).model, 16).exact
    last = replace(row_named(VOLTA).model, c_position="last")  # type: ignore[arg-type]
    assert not chain("mine", last, 8).exact
    formats = {
        "a_format": "f16",
        "b_format": "f16",
        "c_format": "f32",
        "d_format": "f32",
        "sum_format": "f32",
    }
    exact = IeeeDotAdd(**formats, k=4, method="exact")  # type: ignore[arg-type]
    assert chain("mine", exact, 8).model.n_fma == 4  # type: ignore[attr-defined]
    ordered = IeeeDotAdd(**formats, k=2, method="sequential", order=(1, 0))  # type: ignore[arg-type]
    assert chain("mine", ordered, 4).model is ordered
    assert not chain("mine", ordered, 4).exact


def test_what_cannot_be_chained() -> None:
    """Other lengths, and results that are no c."""
    with pytest.raises(TcsmtError, match="k = 6: allowed for volta are multiples of 4 up to 1024"):
        chain("volta", row_named(VOLTA).model, 6)
    with pytest.raises(TcsmtError, match="cannot be chained to k = 8: its c is f32, its result f16"):
        chain("mine", replace(row_named(VOLTA).model, d_format="f16"), 8)  # type: ignore[arg-type]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_wide_operands_are_the_narrow_ones_converted(seed: int) -> None:
    """FP8 words on the FP16 unit, in both orders: what the simulator gives on the values of the words."""
    random = np.random.default_rng(seed)
    for left, right in ((FP8, HALF), (HALF, FP8)):
        found = both(left, right)
        formats = found.input_formats
        words = {name: int(random.integers(0, 1 << fmt.width)) for name, fmt in formats.items()}
        side = found.sides[0 if left == HALF else 1]
        (got,) = evaluate([side.trace.output], words)
        narrow = formats["a0"]
        assert narrow.name == "e4m3"
        a, b = ([number(narrow, words[f"{side}{lane}"]) for lane in range(32)] for side in "ab")
        c = np.array([words["c"]], np.uint32).view(np.float32)
        expected = simulate(side.model, np.array([a]), np.array([b]), c)
        assert got == int(expected.view(np.uint32)[0])
        own = words_given_to(side, formats, words)
        assert own is not None
        assert evaluate([side.model.trace.output], own) == [got]


def test_what_has_nothing_in_common() -> None:
    """Formats of which neither holds the other, results, and scales."""
    with pytest.raises(TcsmtError, match="a_format is bf16 and f16, and neither holds the other's values"):
        shared(named("hopper/mma.m16n8k16.f32.bf16.bf16.f32"), named(HALF))
    with pytest.raises(TcsmtError, match="d_format is f16 and f32"):
        shared(named("volta/mma.m8n8k4.f16.f16.f16.f16"), named(VOLTA))
    blocks = next(r for r in rows() if r.model.scale_format is not None)
    with pytest.raises(TcsmtError, match="block scales are none and"):
        shared(named(HALF), (blocks.name, blocks.model))
